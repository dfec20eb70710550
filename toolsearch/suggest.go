// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says what could have been meant by a search that found nothing.

import (
	"context"
	"unicode"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	// maxSuggestions is how many near names an answer holds.
	maxSuggestions = 5
	// maxLookups is how many words of a search are looked up one by one.
	maxLookups = 8
)

// suggest returns names near the words of a search that found nothing.
func (r *run) suggest(ctx context.Context, words string, ok usable) []string {
	var names []string
	for _, w := range lookups(words) {
		for _, n := range r.group.cat.near(w, maxSuggestions, func(e *entry) bool { return ok(ctx, e) && r.nameable(ctx, e) }) {
			if len(names) == maxSuggestions {
				return names
			}
			if !contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// unmatched are words of a search that stand in no name and no description of a tool
// which the caller may find.
func (r *run) unmatched(ctx context.Context, words string, ok usable) []string {
	var out []string
	for _, w := range lookups(words) {
		results, err := keywordIndex{r.group.cat.words}.Search(ctx, Query{Text: w})
		if err == nil && !r.anyOf(ctx, results, ok) {
			out = append(out, shown(w))
		}
	}
	return out
}

func (r *run) anyOf(ctx context.Context, results []Result, ok usable) bool {
	for _, x := range results {
		if e := r.group.cat.byName[x.Name]; e != nil && ok(ctx, e) {
			return true
		}
	}
	return false
}

// lookups are the first words of a search, each once.
func lookups(words string) []string {
	var out []string
	for _, t := range keyword.Parse(firstWords(words, maxLookups)).Terms {
		if !contains(out, t.Text) {
			out = append(out, t.Text)
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

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
