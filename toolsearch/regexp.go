// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the Regexp protocol: tool_search with a pattern on names.

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// maxPatternBytes bounds a pattern. RE2 matches in linear time, but compiling a long
// pattern takes time and memory of its own.
const maxPatternBytes = 1000

// selectedAnswer is what tool_search answers in the Regexp protocol.
type selectedAnswer struct {
	Selected []string `json:"selectedTools"`
	Hint     string   `json:"hint,omitempty"`
}

func (g *group) regexpTools() []*metaTool {
	return []*metaTool{{
		group: g, name: searchToolName, text: "tool_search_regexp",
		params: func() map[string]*schema.ParameterInfo {
			return map[string]*schema.ParameterInfo{"regex_pattern": {Type: schema.String, Required: true}}
		},
		answer: func(ctx context.Context, r *run, a arguments) (string, error) {
			pattern := first(a.texts("regex_pattern", "pattern", "regex", "query"))
			names, note := r.matchNames(ctx, pattern)
			if names == nil {
				names = []string{}
			}
			return encode(selectedAnswer{names, note}), ctx.Err()
		},
	}}
}

// matchNames returns the tools whose names match, in the order of the catalogue, and what
// the model should know.
func (r *run) matchNames(ctx context.Context, pattern string) (names []string, note string) {
	start := time.Now()
	if pattern == "" {
		return nil, say("empty-pattern", hint{})
	}
	if len(pattern) > maxPatternBytes {
		return nil, say("long-pattern", hint{Limit: maxPatternBytes})
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, say("bad-pattern", hint{Reason: shown(err.Error())})
	}
	for _, e := range r.group.cat.entries {
		if !re.MatchString(e.info.Name) || !r.loadable(ctx, e) {
			continue
		}
		if most := r.group.mostResults(); len(names) == most {
			note = say("cut-results", hint{Limit: most})
			break
		}
		names = append(names, e.info.Name)
	}
	if len(names) == 0 {
		note = say("no-name-matches", hint{Near: r.suggest(ctx, wordsOf(pattern), r.loadable)})
	}
	r.group.emit(ctx, Event{
		Kind: EventSearch, Query: pattern, Tools: slices.Clone(names), Results: unranked(names),
		Duration: time.Since(start), CallID: compose.GetToolCallID(ctx),
	})
	return names, note
}

// unranked are results without scores.
func unranked(names []string) []Result {
	out := make([]Result, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}

var patternMarks = regexp.MustCompile(`\\.|[^\pL\pN_]+`)

// wordsOf is what a pattern holds of words, for suggestions.
func wordsOf(pattern string) string { return patternMarks.ReplaceAllString(pattern, " ") }
