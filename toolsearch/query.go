// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file reads what a model wrote into a search.

import (
	"strings"
	"unicode"
)

// search is one parsed search: the names of a select:, or words.
type search struct {
	names []string // of select:; nil for a search by words
	words string   // words, +required ones included
}

// String prints a search in the form that parseSearch reads.
func (s search) String() string {
	if s.names != nil {
		return selectPrefix + strings.Join(s.names, ",")
	}
	return s.words
}

const selectPrefix = "select:"

// parseSearch reads a query. "select:" may be in any case, and its names may be quoted,
// separated by commas or white space, and repeated. A name that is known stays whole,
// whatever stands in it.
func parseSearch(text string, known func(string) bool) search {
	text = strings.TrimSpace(text)
	if len(text) < len(selectPrefix) || !strings.EqualFold(text[:len(selectPrefix)], selectPrefix) {
		return search{words: text}
	}
	return search{names: splitNames(text[len(selectPrefix):], known)}
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
