// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

// What to set next, by what a conversation shows. Unlike einolean replay it repeats nothing: it names
// the largest share of the tokens that a setting is known to reduce.

import (
	"slices"

	known "github.com/einolean/einolean/internal/advice"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/internal/parts"
)

// advice says what to set. The page and the terminal have a text for each kind.
type advice struct {
	Kind    string `json:"kind"`
	Setting string `json:"setting,omitempty"`
	Tokens  int    `json:"tokens,omitempty"` // that the setting concerns
	Of      int    `json:"of"`               // tokens of all calls that are kept

	saving int // at most, in tokens
}

// The limits from which the presets save anything: see toolsearch.Recommended and
// reduction.Recommended. A test compares them.
const (
	minTokensToHide   = 3_000  // tokens of tool definitions
	maxLengthForTrunc = 10_000 // bytes of a result
	previewBytesLeft  = 3_300  // of a truncated result
	maxTokensForClear = 32_000 // tokens of a request
)

// adviceFor returns what to set next; nil if no call is kept.
func adviceFor(c *window.Conversation) *advice {
	if len(c.Calls) == 0 {
		return nil
	}
	sent := 0
	for _, call := range c.Calls {
		sent += call.Tokens.Estimated
	}
	best := advice{Kind: "nothing"}
	for _, candidate := range candidates(c) {
		if candidate.saving > best.saving && known.IsWorthwhile(1-float64(candidate.saving)/float64(max(1, sent))) {
			best = candidate
		}
	}
	if t := c.Totals(); best.Kind == "nothing" && t.Sent > t.Without && t.Unknown == 0 {
		best.Kind = "leave_out"
	}
	best.Of = sent
	return &best
}

func candidates(c *window.Conversation) []advice {
	all := []advice{searchCost(c), readBacks(c)}
	if !hidesTools(c) {
		all = append(all, definitions(c))
	}
	if c.Totals().Omissions == 0 {
		all = append(all, results(c))
	}
	return all
}

// hidesTools reports whether tools were hidden or loaded in any call.
func hidesTools(c *window.Conversation) bool {
	return slices.ContainsFunc(c.Calls,
		func(call *window.ModelCall) bool { return call.Hidden.Tools > 0 || call.By[window.LoadedTools] > 0 })
}

// definitions are those of the agent's tools, of which the preset hides most.
func definitions(c *window.Conversation) advice {
	a := advice{Kind: "tools", Setting: known.RecommendedTools}
	for _, call := range c.Calls {
		a.Tokens += call.By[window.OwnTools]
		a.saving += max(0, call.By[window.OwnTools]-minTokensToHide)
	}
	return a
}

// results are those that the preset would truncate, or clear.
func results(c *window.Conversation) advice {
	a := advice{Kind: "results", Setting: known.RecommendedResults}
	for _, call := range c.Calls {
		for _, p := range call.Parts() {
			switch {
			case p.Category != window.Result:
			case p.State != "new" && call.Tokens.Estimated > maxTokensForClear:
				a.Tokens += p.Tokens
				a.saving += p.Tokens
			case p.Bytes > maxLengthForTrunc:
				a.Tokens += p.Tokens
				a.saving += p.Tokens - p.Tokens*previewBytesLeft/p.Bytes
			}
		}
	}
	return a
}

// searchCost is what hiding tools cost, where that is more than it saved.
func searchCost(c *window.Conversation) advice {
	a, hidden := advice{Kind: "hide_above", Setting: known.MinTokensToHide}, 0
	for _, call := range c.Calls {
		searches := func(use window.ToolUse) bool { return parts.Searches(use.Tool) }
		if call.Without == nil && slices.ContainsFunc(call.Did, searches) {
			a.Tokens += call.Tokens.Estimated
			continue
		}
		a.Tokens += call.By[window.HelpTools] + call.By[window.Reminder] + call.By[window.Found]
		hidden += call.Hidden.Tokens
	}
	if hidesTools(c) {
		a.saving = a.Tokens - hidden
	}
	return a
}

// readBacks is what reading results back cost.
func readBacks(c *window.Conversation) advice {
	a, truncated, cleared := advice{Kind: "read_back", Setting: known.MaxTokensForClear}, 0, 0
	for _, call := range c.Calls {
		a.Tokens += call.By[window.Page]
		truncated += call.OmittedTokens.Cut
		cleared += call.OmittedTokens.Cleared
	}
	if truncated > cleared {
		a.Setting = known.MaxLengthForTrunc
	}
	a.saving = a.Tokens
	return a
}
