// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package found

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
)

// textsOf returns the texts under the first key that holds any, or else those of arguments that
// are not an object.
func textsOf(a lenient.Arguments, keys ...string) []string {
	if texts := a.Texts(keys...); len(texts) > 0 {
		return texts
	}
	return a.Bare()
}

// queriesOf are the searches that a call asks for, under the right key or one that models use by
// mistake.
func queriesOf(a lenient.Arguments) []string {
	return textsOf(a, "query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text")
}

// limitOf returns the number of results that a search asks for, or zero. A negative one becomes -1.
func limitOf(a lenient.Arguments) int {
	return int(max(-1, min(a.Number("max_results", "limit", "top_k", "n"), math.MaxInt32)))
}

// patternOf is the pattern that a call asks for.
func patternOf(a lenient.Arguments) string {
	if patterns := textsOf(a, "regex_pattern", "pattern", "regex", "query"); len(patterns) > 0 {
		return patterns[0]
	}
	return ""
}

// namesToLoad are the names that a call of load_tool asks for.
func namesToLoad(a lenient.Arguments, known func(string) bool) (names []string) {
	for _, text := range append(textsOf(a, "tool_name", "name"), textsOf(a, "tool_names", "names", "tools")...) {
		for _, name := range splitNames(text, known) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Asked are the tools that a call of load_tool in a history asked for.
func Asked(t Tools, a lenient.Arguments) (names []string) {
	anyone := func(*hidden.Tool) bool { return true }
	for _, name := range namesToLoad(a, func(name string) bool { return t.Lookup(name) != nil }) {
		if e := t.Resolve(name, anyone); e != nil && len(names) < maxNames {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

const selectPrefix = "select:"

// parseSearch reads a query: the names that it selects, or, if they are nil, words. "select:" may be
// in any case, and its names may be quoted, separated by commas or white space, and repeated. A known
// name stays whole, whatever characters it has.
func parseSearch(text string, known func(string) bool) (names []string, words string) {
	text = strings.TrimSpace(text)
	if len(text) < len(selectPrefix) || !strings.EqualFold(text[:len(selectPrefix)], selectPrefix) {
		return nil, text
	}
	return splitNames(text[len(selectPrefix):], known), ""
}

// splitNames splits a list of names. The result is not nil, and holds each name once.
func splitNames(list string, known func(string) bool) []string {
	if name := strings.TrimSpace(list); known(name) {
		return []string{name}
	}
	names := []string{}
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); known(part) {
			add(part)
			continue
		}
		for _, word := range strings.FieldsFunc(part, isListSeparator) {
			add(strings.TrimFunc(word, isQuote))
		}
	}
	return names
}

func isListSeparator(r rune) bool {
	return r == ',' || r == ';' || r == '，' || r == '、' || unicode.IsSpace(r)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`“”‘’「」[]()", r) }

// firstWords cuts text after n words.
func firstWords(text string, n int) string {
	if len(text) < 2*n {
		return text
	}
	inWord := false
	for i, c := range text {
		if space := unicode.IsSpace(c); space == inWord {
			inWord = !space
			if inWord {
				n--
			}
			if n < 0 {
				return text[:i]
			}
		}
	}
	return text
}
