// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/lexicon"
	"github.com/einolean/einolean/internal/keyword/bm25/lists"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/keyword/wordlist"
)

// allWords are those of all lists.
var allWords = sync.OnceValue(func() *lexicon.Words { return lexicon.Read(lists.Files) })

// parsed is what an index makes of a text.
func parsed(x *Index, text string) parsedQuery { return *x.accumulator().parser.parse(text) }

// rarity is the inverse document frequency of a word that a document uses.
func rarity(x *Index, word string) float64 {
	token, ok := x.find(word)
	if !ok {
		panic(word)
	}
	return float64(x.idf(token))
}

// weightOf is what a word scores in a document; ok is false where it does not use it.
func weightOf(x *Index, word string, doc int) (weight float64, c counts, ok bool) {
	token, _ := x.find(word)
	lengths, p, ok := x.posting(token, x.Ordinal(doc))
	if !ok {
		return 0, 0, false
	}
	return x.accumulator().weight(lengths, p.counts, rarity(x, word)), p.counts, true
}

// affixesOf are the words of an index's names that begin or end like a word.
func affixesOf(x *Index, word string) []expansion { return finderOf(x).affixesOf(word) }

// correctionsOf are the tokens that a word may be meant to be. shared is the accumulator's.
func correctionsOf(x *Index, word string, shared []uint8) []correction {
	f := finderOf(x)
	f.shared = shared
	return f.correctionsOf(word)
}

func finderOf(x *Index) *finder { return &finder{x: x.view} }

// textsOf are those of the tokens of an index of one segment.
func textsOf(x *Index) (tokens []string) {
	for id := range uint32(x.tokens) {
		tokens = append(tokens, x.text(id))
	}
	return tokens
}

// indexOf is an index that has these tokens, all of them in names.
func indexOf(texts ...string) *Index {
	s := &Segment{List: names.NewList(nil), tokens: wordlist.New(texts), words: wordlist.New(nil), nameWords: names.AllOf(len(texts))}
	s.forward, s.backward = newAffixes(s.tokens, s.nameWords)
	s.pairs = newPairs(texts)
	return Join(allWords(), Part{Segment: s})
}

func search(t *testing.T, x *Index, text string, limit int) []keyword.Hit {
	hits, err := x.Search(context.Background(), text, limit)
	require.NoError(t, err)
	return hits
}
