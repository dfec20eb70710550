// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// What a comparison will cost, and what providers leave uncounted.

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/compare"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/tokens"
)

// announce says before the first request what the rest will cost: as much as it took the model that
// follows rules, which wrote no answer to speak of.
func (c *comparison) announce(s streams, arms []compare.Arm, tasks []compare.Task, done map[string]trial, known []replay.Card) error {
	all, err := compare.Measured()
	if err != nil {
		return err
	}
	var sum compare.Took
	todo := 0
	for run := 1; run <= c.runs; run++ {
		for _, task := range tasks {
			for _, arm := range arms {
				if _, is := done[trial{Model: c.model, Arm: arm.Name, Task: task.ID, Run: run}.key()]; !is {
					todo++
					sum.Add(all[arm.Name][task.ID])
				}
			}
		}
	}
	if todo == 0 {
		return nil
	}
	says := fmt.Sprintf("%s left to do: about %s and %s of prompts", plural(todo, "task"), plural(sum.Calls, "request"), plural(int(sum.Tokens), "token"))
	bill := replay.Bill{Written: sum.Tokens - sum.Cached, Cached: sum.Cached}
	for _, card := range known {
		if card.Million > 0 {
			says += fmt.Sprintf(", $%.2f to $%.2f at the prices of %s, with and without its cache", card.Cost(bill)*card.Million/1e6, float64(sum.Tokens)*card.Million/1e6, card.Name)
			break
		}
	}
	c.common.note(s, "%s. A model that needs more requests, or thinks, costs more: at most %s requests a task and %s tokens in all (--max-calls, --max-tokens)",
		says, display.Grouped(c.calls), display.Grouped(c.budget))
	return nil
}

// shared notes a request, and returns how many of its bytes are the beginning of an earlier one of the
// setting, and how many it has.
func (m *meter) shared(in []*schema.Message, opts []model.Option) (common, size int, text string) {
	text, _ = offline.Request(in, model.GetCommonOptions(&model.Options{}, opts...).Tools)
	if m.sent == nil {
		m.sent = map[string][]string{}
	}
	for _, earlier := range m.sent[m.now.Arm] {
		common = max(common, offline.Common(earlier, text))
	}
	m.sent[m.now.Arm] = append(m.sent[m.now.Arm], text)
	return common, len(text), text
}

// count adds what an answer took to the task: as the provider counts, and where it does not, as we
// estimate tokens.
func (m *meter) count(common, size int, text string, answer *schema.Message) (spent int64) {
	var u schema.TokenUsage
	if answer.ResponseMeta != nil && answer.ResponseMeta.Usage != nil {
		u = *answer.ResponseMeta.Usage
	}
	in, out := int64(u.PromptTokens), int64(u.CompletionTokens)
	if spent = in + out; in <= 0 {
		m.now.Counted = true
		in, out = int64(tokens.Estimate(text)), cmp.Or(out, int64(tokens.Estimate(said(answer))))
	}
	m.now.In, m.now.Out, m.now.Cached = m.now.In+in, m.now.Out+out, m.now.Cached+int64(u.PromptTokenDetails.CachedTokens)
	m.now.Prefix += in * int64(common) / int64(max(1, size))
	return spent
}

// said is the text of an answer with its calls.
func said(answer *schema.Message) string {
	var b strings.Builder
	b.WriteString(answer.ReasoningContent + answer.Content)
	for _, c := range answer.ToolCalls {
		b.WriteString(c.Function.Name + c.Function.Arguments)
	}
	return b.String()
}

// noCache reports whether the provider never said that something came from its cache. Then what
// requests have in common with earlier ones stands for it: nothing is not what it was.
func noCache(done map[string]trial) bool {
	for _, t := range done {
		if t.Cached > 0 {
			return false
		}
	}
	return true
}

// marks are the lines that say what is estimated.
func (r benchJSON) marks() (lines []string) {
	counted, estimated := false, false
	for _, a := range r.Arms {
		counted, estimated = counted || a.Counted, estimated || a.Estimated
	}
	if counted {
		lines = append(lines, "~ The provider reported no usage for these: tokens are counted here, about as o200k does.")
	}
	if estimated {
		lines = append(lines, "estimated: the provider reported no cached tokens. What a request has in common with the beginning of an earlier one counts as cached, so $ is what a cache that keeps it would charge.")
	}
	return lines
}
