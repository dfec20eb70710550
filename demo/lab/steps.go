// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/demo/offline"
)

const searchTool = "tool_search"

// Steps are the model calls of a run, beside those of the same run without the
// middleware. happened, which may be nil, is what became of results before each call.
func Steps[M adk.MessageType](with, without Outcome[M], happened []Happened) []Step {
	var steps []Step
	for _, t := range with.Turns {
		if len(t.Results) > 0 {
			last := &steps[len(steps)-1]
			for _, r := range t.Results {
				last.Results = append(last.Results, with.became(r, happened, len(steps)))
			}
			continue
		}
		step := Step{Did: Did(t)}
		if n := len(steps); n < len(happened) && len(happened[n].Cleared) > 0 {
			step.Cleared = TakenOut(happened[n].Cleared)
		}
		steps = append(steps, step)
	}
	for len(steps) < len(without.Requests) {
		steps = append(steps, Step{})
	}
	for i := range steps {
		steps[i].With, steps[i].Without = costOf(with.Requests, i), costOf(without.Requests, i)
	}
	return steps
}

func costOf[M adk.MessageType](requests []Request[M], call int) Cost {
	if call >= len(requests) {
		return Cost{}
	}
	return Cost{len(requests[call].Tools), requests[call].Tokens()}
}

// became describes the result of a call, as the next model call shows it.
func (o Outcome[M]) became(r offline.Result, happened []Happened, call int) string {
	var found struct{ Matches []string }
	if r.Name == searchTool && json.Unmarshal([]byte(r.Text), &found) == nil {
		return o.foundWords(found.Matches)
	}
	if call < len(happened) {
		if event := happened[call].Tools[r.ID]; event.Output != nil && event.Kind != einolean.KindResultKept {
			return Became(event)
		}
	}
	if strings.HasPrefix(r.Text, "error") {
		return r.Text
	}
	if strings.Contains(r.Text, "\n") || Cells(r.Text) > 60 {
		return Thousands(len(r.Text)) + " bytes"
	}
	return r.Text
}

// foundWords names the found tools that the model then calls.
func (o Outcome[M]) foundWords(found []string) string {
	var used []string
	for _, t := range o.Turns {
		for _, c := range t.Calls {
			if slices.Contains(found, c.Name) && !slices.Contains(used, c.Name) {
				used = append(used, c.Name)
			}
		}
	}
	switch {
	case len(found) == 0:
		return "finds nothing"
	case len(used) == 0:
		return fmt.Sprintf("finds %d tools, none that helps", len(found))
	case len(used) == len(found):
		return "finds " + strings.Join(used, ", ")
	}
	return fmt.Sprintf("finds %s and %d more", strings.Join(used, ", "), len(found)-len(used))
}

// Tokens are what all model calls of a run were sent.
func (o Outcome[M]) Tokens() (n int) {
	for _, r := range o.Requests {
		n += r.Tokens()
	}
	return n
}
