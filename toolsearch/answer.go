// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file words what the search tools answer.

import (
	"strings"
	"unicode/utf8"

	"github.com/bytedance/sonic"
)

// matchesAnswer is what tool_search answers. The key "matches" is Eino's; the others are
// left out where there is nothing to say.
type matchesAnswer struct {
	Matches       []string `json:"matches"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

// plainJSON writes < and > as they are: answers are read by models, not by browsers.
var plainJSON = sonic.Config{SortMapKeys: true, ValidateString: true, CopyString: true}.Froze()

// encode never fails: the answers hold only texts and numbers.
func encode(answer any) string {
	text, err := plainJSON.MarshalToString(answer)
	if err != nil {
		return "{}"
	}
	return text
}

// matches words a finding for the model.
func (r *run) matches(f *finding) string {
	a := matchesAnswer{Matches: f.names(), AlreadyLoaded: f.loaded, Hint: f.hint()}
	if a.Matches == nil {
		a.Matches = []string{}
	}
	return encode(a)
}

// hint says what the model should know beyond the matches: "" in the usual case.
func (f *finding) hint() string {
	var parts []string
	for _, u := range f.unknown {
		parts = append(parts, say("unknown-name", hint{Name: u.name, Near: u.near}))
	}
	for _, name := range f.denied {
		parts = append(parts, say("not-allowed", hint{Name: name}))
	}
	if f.unlisted > 0 {
		parts = append(parts, say("more-unknown", hint{Total: f.unlisted}))
	}
	if f.asked == 0 {
		parts = append(parts, say("empty-query", hint{}))
	} else if len(f.found) == 0 && len(f.unknown)+len(f.denied)+f.leftOut == 0 {
		parts = append(parts, say("no-match", hint{Words: f.unmatched, Near: f.near, Listed: f.listed}))
	}
	return strings.Join(append(parts, f.cuts...), " ")
}

// shown makes text of a model or a tool fit to be quoted in an answer.
func shown(s string) string {
	const most = 80 // runes
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
