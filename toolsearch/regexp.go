// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The Regexp protocol: tool_search with a pattern on names.

import (
	"context"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
)

// maxPatternBytes bounds a pattern. RE2 matches in linear time, but compiling a long
// pattern takes time and memory of its own.
const maxPatternBytes = 1000

// selectedAnswer is what tool_search answers in the Regexp protocol.
type selectedAnswer struct {
	Selected      []string `json:"selectedTools"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

func (g *group) regexpTools() []*metaTool {
	return []*metaTool{{
		group: g, name: toolnames.Search, text: "tool_search_regexp",
		params: func() map[string]*schema.ParameterInfo {
			return map[string]*schema.ParameterInfo{"regex_pattern": {Type: schema.String, Required: true}}
		},
		answer: func(ctx context.Context, r *run, a arguments) (string, error) {
			pattern := first(a.texts("regex_pattern", "pattern", "regex", "query"))
			f, note := r.searcher(r.turn().loadable).matchNames(ctx, pattern)
			answer := selectedAnswer{Selected: f.names(), AlreadyLoaded: f.loaded, Hint: note}
			if answer.Selected == nil {
				answer.Selected = []string{}
			}
			return encode(answer), ctx.Err()
		},
	}}
}

// matchNames finds the tools whose names match, in the order of the catalogue, and says what
// the model should know.
func (s searcher) matchNames(ctx context.Context, pattern string) (f searchResult, note string) {
	_, report := s.group.reporting(ctx)
	if pattern == "" {
		return f, render("empty-pattern", promptData{})
	}
	if len(pattern) > maxPatternBytes {
		return f, render("long-pattern", promptData{Limit: maxPatternBytes})
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return f, render("bad-pattern", promptData{Reason: clipped(err.Error())})
	}
	f.seen = s.seenSet(ctx)
	most := s.group.mostResults()
	kept := ranking{seen: f.seen, limit: most}
	for e := range s.group.cat.all() {
		if !re.MatchString(e.info.Name) || !s.may(ctx, e) {
			continue
		}
		if kept.isFull() && kept.isFresh(e) {
			f.cut("cut-results", most)
			break
		}
		kept.add(found{entry: e})
	}
	f.found = kept.found
	f.bound(nameSize)
	f.markLoaded()
	if note = strings.Join(f.cuts, " "); len(f.found)+f.leftOut == 0 {
		note = render("no-name-matches", promptData{Near: s.suggest(ctx, wordsOf(pattern))})
	}
	if report != nil {
		s.group.emitSearched(ctx, report, pattern, f.hits())
	}
	return f, note
}

var patternMarks = regexp.MustCompile(`\\.|[^\pL\pN_]+`)

// wordsOf is what a pattern holds of words, for suggestions.
func wordsOf(pattern string) string { return patternMarks.ReplaceAllString(pattern, " ") }
