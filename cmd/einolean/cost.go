// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Cost of a comparison: the estimate before it starts, and the usage that providers do not report.

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

// announce prints an estimate of the remaining cost before the first request. The estimate is the cost of the
// same tasks with the rule-based model, which writes hardly any answer text.
func (c *comparison) announce(
	s streams, arms []compare.Arm, tasks []compare.Task, done map[string]trial, priceTables []replay.Card,
) error {
	all, err := compare.Measured()
	if err != nil {
		return err
	}
	var sum compare.Took
	todo := 0
	for run := 1; run <= c.repetitions; run++ {
		for _, task := range tasks {
			for _, arm := range arms {
				if _, ok := done[trial{Model: c.model, Arm: arm.Name, Task: task.ID, Run: run}.key()]; !ok {
					todo++
					sum.Add(all[arm.Name][task.ID])
				}
			}
		}
	}
	if todo == 0 {
		return nil
	}
	line := fmt.Sprintf("%s left to do: about %s and %s of prompts", plural(todo, "task"),
		plural(sum.Calls, "request"), plural(int(sum.Tokens), "token"))
	bill := replay.Bill{Written: sum.Tokens - sum.Cached, Cached: sum.Cached}
	for _, card := range priceTables {
		if card.Million > 0 {
			line += fmt.Sprintf(", $%.2f to $%.2f at the prices of %s, with and without its cache",
				card.Cost(bill)*card.Million/1e6, float64(sum.Tokens)*card.Million/1e6, card.Name)
			break
		}
	}
	c.common.note(s, "%s. A model that needs more requests, or thinks, costs more: at most %s requests a task and %s tokens in all (--max-calls, --max-tokens)",
		line, display.Grouped(c.calls), display.Grouped(c.budget))
	return nil
}

// shared records a request. It returns its size and the length of the longest prefix that it has in common with
// an earlier request of the setting, both in bytes.
func (m *meter) shared(in []*schema.Message, opts []model.Option) (common, size int, text string) {
	text, _ = offline.Request(in, model.GetCommonOptions(&model.Options{}, opts...).Tools)
	if m.requests == nil {
		m.requests = map[string][]string{}
	}
	for _, earlier := range m.requests[m.current.Arm] {
		common = max(common, offline.Common(earlier, text))
	}
	m.requests[m.current.Arm] = append(m.requests[m.current.Arm], text)
	return common, len(text), text
}

// count adds the usage of an answer to the trial. It estimates tokens that the provider does not report.
func (m *meter) count(common, size int, text string, answer *schema.Message) (spent int64) {
	var u schema.TokenUsage
	if answer.ResponseMeta != nil && answer.ResponseMeta.Usage != nil {
		u = *answer.ResponseMeta.Usage
	}
	in, out := int64(u.PromptTokens), int64(u.CompletionTokens)
	if spent = in + out; in <= 0 {
		m.current.Counted = true
		in, out = int64(tokens.Estimate(text)), cmp.Or(out, int64(tokens.Estimate(answerText(answer))))
	}
	m.current.In += in
	m.current.Out += out
	m.current.Cached += int64(u.PromptTokenDetails.CachedTokens)
	m.current.Prefix += in * int64(common) / int64(max(1, size))
	return spent
}

// answerText returns the text of an answer and its calls.
func answerText(answer *schema.Message) string {
	var b strings.Builder
	b.WriteString(answer.ReasoningContent + answer.Content)
	for _, c := range answer.ToolCalls {
		b.WriteString(c.Function.Name + c.Function.Arguments)
	}
	return b.String()
}

// noCache reports whether the provider never reported cached tokens. The common prefix of requests then
// replaces the missing figure.
func noCache(done map[string]trial) bool {
	for _, t := range done {
		if t.Cached > 0 {
			return false
		}
	}
	return true
}

// marks returns the lines that explain which figures are estimates.
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
