// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// allWords are those of all lists.
var allWords = sync.OnceValue(func() *analysis.Lexicon { return analysis.ReadLexicon(analysis.Lists()) })

// parsed is what an index makes of a text.
func parsed(x *Index, text string) parsedQuery { return *x.accumulator().parser.parse(text) }

// rarity is the inverse document frequency of a word that a document uses.
func rarity(x *Index, word string) float64 {
	token, ok := x.Find(word)
	if !ok {
		panic(word)
	}
	return float64(x.IDF(token))
}

// weightOf is what a word scores in a document; ok is false where it does not use it.
func weightOf(x *Index, word string, doc int) (weight float64, c postings.Counts, ok bool) {
	token, _ := x.Find(word)
	lengths, p, ok := x.Posting(token, x.Ordinal(doc))
	if !ok {
		return 0, 0, false
	}
	return x.accumulator().weight(lengths, p.Counts, rarity(x, word)), p.Counts, true
}

func search(t *testing.T, x *Index, text string, limit int) []keyword.Hit {
	hits, err := x.Search(context.Background(), text, limit)
	require.NoError(t, err)
	return hits
}
