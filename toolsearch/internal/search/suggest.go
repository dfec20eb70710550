// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

// What may help a model whose search found nothing.

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	keynames "github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/toolsearch/index"
)

// unmatched returns the words of a query that are in no name and no description of a tool that the caller may find.
func (s Searcher) unmatched(ctx context.Context, words string) (unmatched []string) {
	for _, w := range firstTerms(words) {
		results, err := s.Tools.keyword.Search(ctx, index.Query{Text: w})
		if err == nil && !slices.ContainsFunc(results, func(x index.Result) bool { return s.mayFindName(x.Name) }) {
			unmatched = append(unmatched, w)
		}
	}
	return unmatched
}

// suggest returns names similar to the words of a query.
func (s Searcher) suggest(words string) (names []string) {
	for _, w := range firstTerms(words) {
		for _, n := range s.Tools.Near(w, MaxNear, s.Access.MayHint) {
			if len(names) == MaxNear {
				return names
			}
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// maxTermLookups is how many words of a query are looked up one by one.
const maxTermLookups = 8

// firstTerms returns the first different words of a query.
func firstTerms(words string) (terms []string) {
	for _, t := range keyword.Parse(firstWords(words, maxTermLookups)).Terms {
		if !slices.Contains(terms, t.Text) {
			terms = append(terms, t.Text)
		}
	}
	return terms
}

// The language of the tools is that of a sample of their descriptions.
const (
	sampleTools = 64
	sampleBytes = 512 // of each description
)

// languages returns the language of the tools that the caller may know of, and that of a query. It is empty if they are
// the same or not known.
func (s Searcher) languages(words string) Languages {
	names := s.Access.ListedNames()
	counts, known := map[analysis.Language]int{}, 0
	for i := range min(sampleTools, len(names)) {
		t := s.Tools.Lookup(names[i*len(names)/min(sampleTools, len(names))])
		if l := analysis.LanguageOf(keynames.Clip(t.Info.Desc, sampleBytes)); l != "" {
			counts[l]++
			known++
		}
	}
	ofQuery := analysis.LanguageOf(words)
	for l, n := range counts {
		if 3*n > 2*known && l != ofQuery && (ofQuery != "" || l.HasOwnLetters()) {
			return Languages{Tools: l, Query: ofQuery}
		}
	}
	return Languages{}
}

// missingServers returns the servers whose tools are unavailable now: all of them if nothing was found, otherwise those
// that a text of the query names.
func (s Searcher) missingServers(r *Result, texts []string) (servers []string) {
	foundNothing := r.Requests > 0 && !r.HasFound()
	for _, name := range s.Missing {
		isNamed := func(text string) bool { return strings.Contains(normalizedWords(text), normalizedWords(name)) }
		if foundNothing || slices.ContainsFunc(texts, isNamed) {
			servers = append(servers, name)
		}
	}
	return servers
}

// normalizedWords returns the words of a text in lower case, with a space on each side.
func normalizedWords(text string) string {
	isSeparator := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), isSeparator), " ") + " "
}
