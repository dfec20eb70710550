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
	limit int      // most results; 0: the default
}

// String prints a search in the form that parseSearch reads.
func (s search) String() string {
	if s.names != nil {
		return "select:" + strings.Join(s.names, ",")
	}
	return s.words
}

const selectPrefix = "select:"

// maxNames is the most names that one select: may hold; a model has no use for more, and
// each becomes part of every later request.
const maxNames = 100

// parseSearch reads a query. "select:" may be in any case, and its names may be quoted,
// separated by commas or white space, and repeated.
func parseSearch(text string) search {
	if list, ok := selectList(text); ok {
		return search{names: splitNames(list)}
	}
	return search{words: strings.TrimSpace(text)}
}

// selectList is what a query has behind "select:".
func selectList(text string) (list string, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) < len(selectPrefix) || !strings.EqualFold(text[:len(selectPrefix)], selectPrefix) {
		return "", false
	}
	return text[len(selectPrefix):], true
}

// splitNames splits a list of names. The result is not nil.
func splitNames(list string) []string {
	names := []string{}
	seen := map[string]bool{}
	for _, part := range strings.FieldsFunc(list, isListSeparator) {
		name := strings.TrimFunc(part, isQuote)
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func isListSeparator(r rune) bool {
	return r == ',' || r == ';' || r == '，' || r == '、' || unicode.IsSpace(r)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`“”‘’「」[]()", r) }
