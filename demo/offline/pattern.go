// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"regexp"
	"slices"
	"strings"
)

const patternKey = "regex_pattern"

// asQueries returns the queries for a step. If only names are searched, queries for the announced names come
// first, and the kinds of data add more.
func (s *situation) asQueries(p *progress) []string {
	out := s.queries(p)
	if s.way.key != patternKey {
		return out
	}
	var names []string
	for _, h := range s.rankHidden(p) {
		if h.name >= 0.7*p.hidden[0].name && len(names) < 5 {
			names = append(names, h.tool.name)
		}
	}
	words := unique(slices.Concat(p.words, p.soft, p.hints))
	words = words[:min(len(words), 6)]
	first := []string{strings.Join(words, " "), strings.ReplaceAll(otherWords(words), " ", "|")}
	if len(names) > 0 {
		first = append([]string{selectPrefix + strings.Join(names, ",")}, first...)
	}
	return append(first, out...)
}

// patternOfQuery returns a pattern for names that contain one word or any two of several. A query a|b matches
// any one.
func patternOfQuery(query string) string {
	if names, ok := strings.CutPrefix(query, selectPrefix); ok {
		return "^(" + strings.Join(quoteAll(strings.Split(names, ",")), "|") + ")$"
	}
	if !strings.Contains(query, " ") {
		return "(?i)" + strings.Join(quoteAll(strings.Split(query, "|")), "|")
	}
	words := unique(quoteAll(strings.Fields(query)))
	var pairs []string
	for i, a := range words {
		for _, b := range words[i+1:] {
			pairs = append(pairs, a+".*"+b, b+".*"+a)
		}
	}
	return "(?i)" + strings.Join(pairs, "|")
}

func quoteAll(words []string) (out []string) {
	for _, w := range words {
		out = append(out, regexp.QuoteMeta(w))
	}
	return out
}

// queryOfPattern reverses patternOfQuery.
func queryOfPattern(pattern string) string {
	plain := strings.NewReplacer(`\`, "")
	if names, ok := strings.CutPrefix(pattern, "^("); ok {
		return plain.Replace(selectPrefix + strings.ReplaceAll(strings.TrimSuffix(names, ")$"), "|", ","))
	}
	pattern = strings.TrimPrefix(pattern, "(?i)")
	if !strings.Contains(pattern, ".*") {
		return plain.Replace(pattern)
	}
	var words []string
	for _, pair := range strings.Split(pattern, "|") {
		words = append(words, strings.Split(pair, ".*")...)
	}
	return plain.Replace(strings.Join(unique(words), " "))
}
