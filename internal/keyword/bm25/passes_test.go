// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// endsAt is a context that ends when it is asked for the nth time whether it has.
type endsAt struct {
	context.Context
	left int
}

func (c *endsAt) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A search checks its context before each term of the query and of each clause. Wherever the context ends,
// only its error is returned, and the next search is not affected.
func TestSearch_StopsAtEveryContextCheck(t *testing.T) {
	for text, looks := range map[string]int{
		"":                                  1,
		"mail":                              1 + 1,
		"mail weather":                      2 + 1,
		"send mail. then the weather":       3 + 1 + 2 + 1, // the whole, its end, and two clauses
		"send mail. weather. delete a file": 5 + 1 + 2 + 1 + 2,
	} {
		x := New(allWords(), toolbox)
		want := answers(t, x, text, 0)
		counting := &endsAt{Context: t.Context(), left: 1 << 30}
		_, err := x.Search(counting, text, 0)
		require.NoError(t, err)
		require.Equal(t, looks, 1<<30-counting.left, "%q", text)
		for n := range looks {
			hits, err := x.Search(&endsAt{Context: t.Context(), left: n}, text, 0)
			require.ErrorIs(t, err, context.Canceled, "%q, after %d", text, n)
			require.Empty(t, hits)
			require.Equal(t, want, answers(t, x, text, 0), "%q, after %d", text, n)
		}
	}
}

// A query of stop words alone is parsed a second time, without state of the first pass.
func TestParse_SecondPassStartsAfresh(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "of", Description: "of"}, {Name: "the", Description: "the"}, {Name: "then", Description: "of the then"}})
	parse := func(text string) parsedQuery { return parsed(x, text) }
	describe := func(q parsedQuery) string {
		var b strings.Builder
		for _, w := range q.terms {
			fmt.Fprintf(&b, "%s %v; ", w.text, w.required)
		}
		return b.String() + fmt.Sprint(q.clauses, len(q.required))
	}
	for text, want := range map[string]string{
		"the of":             "the false; of false; [] 0",
		"of the. the of the": "of false; the false; [[0 1] [1 0]] 0",
		"the of +" + strings.Repeat("z", analysis.MaxWordBytes+1): "the false; of false; [] 0",
		"+的": "的 true; [] 1",
	} {
		require.Equal(t, want, describe(parse(text)), "%q", text)
	}
	// The same words, once read at the first pass and once at the second.
	first := parse("zebra of the. the of then")
	require.Len(t, first.terms, 1)
	require.Nil(t, parse("zebra mail. the of then").clauses, "a clause without terms is none")
	require.Equal(t, "+the", "+"+parse("+the").terms[0].text)
	require.True(t, parse("+the").terms[0].required)
}

// The explanation of a document that does not match has the terms of the query alone.
func TestExplain_DocumentsThatDoNotMatch(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "mail"}, {Name: "weather"}})
	for text, want := range map[string]keyword.Explanation{
		"":        {Name: "mail"},
		"zebra":   {Name: "mail", Terms: []keyword.TermExplanation{{Term: "zebra"}}},
		"weather": {Name: "mail", Terms: []keyword.TermExplanation{{Term: "weather"}}},
		"+zebra +weather": {Name: "mail", Terms: []keyword.TermExplanation{
			{Term: "zebra", Required: true}, {Term: "weather", Required: true}}},
	} {
		require.Equal(t, want, x.Explain(text, 0), "%q", text)
	}
	e := x.Explain("mail +weather", 0)
	require.Zero(t, e.Score)
	require.Equal(t, keyword.Factor{Name: "lacks what is required"}, e.Factors[len(e.Factors)-1])
	require.Len(t, e.Factors, 3)
	e = x.Explain("mail weather", 0)
	require.Len(t, e.Factors, 2, "one clause, and not named")
	require.Equal(t, 1+nameBonus, e.Factors[0].Value)
	a, b := rarity(x, "mail"), rarity(x, "weather")
	require.InDelta(t, math.Sqrt(a/(a+b)), e.Factors[1].Value, 1e-12)
}

// Each limit of clauses and addresses has a text on either side of it.
func TestAppendClauseEnds_Limits(t *testing.T) {
	for text, want := range map[string]int{"abcdef. bcdef; x": 3, "abcdef. cdef; x": 2, "abcdef.\nbcdef; x": 2, "abcde. x": 1, "abcdef.": 2, "abcdef.b; x": 2} {
		require.Len(t, appendClauseEnds(nil, text), want, "%q", text)
	}
	for text, want := range map[string]int{". x": 1, ".": 1, ".x": 0, ".\"": 1, ".)": 1, ".'": 1, "! ": 1, ", and x": 6, ", andx": 0, "然后": 6, "x": 0} {
		require.Equal(t, want, breakAt(text, 0), "%q", text)
	}
	for field, want := range map[string]bool{"http://x": true, "a://b": true, "a@b.c": true, "@b.c": false, "a@bc": false, "a.b@c": false, "a@": false} {
		require.Equal(t, want, isAddress(field), field)
	}
}

// The importance of a term is its rarity, half of the greatest rarity if no document has it,
// and that of its meaning for a phrase.
func TestParse_ImportanceOfTerms(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "create"}, {Name: "schedule"}, {Name: "weather", Description: "create"}, {Name: "set"}, {Name: "明日"}})
	rarity := func(token string) float64 { return rarity(x, token) }
	unknown := float64(float32(postings.IDF(0, x.Len()))) / 2
	for text, want := range map[string]map[string]float64{
		"set up":   {"set up": max(rarity("creat")*weightMeaning, rarity("schedul")*weightOtherMeaning), "set": rarity("set")},
		"zebra":    {"zebra": unknown},
		"create":   {"creat": rarity("creat")},
		"天气":       {"天": unknown * .1, "气": unknown * .1, "天气": unknown * .1, "天气/weather": rarity("weather")},
		"schedule": {"schedul": rarity("schedul")},
	} {
		got := make(map[string]float64)
		for _, w := range parsed(x, text).terms {
			got[w.text] = w.importance
		}
		require.Len(t, got, len(want), "%q: %v", text, got)
		for word, importance := range want {
			require.InDelta(t, importance, got[word], 1e-9, "%q in %q", word, text)
		}
	}
}

// Two words are also read as one if exactly one character separates them.
func TestParse_JoinsOnlyAdjacentWords(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Description: "xyzqv"}})
	for text, want := range map[string]bool{"xy zqv": true, "xy-zqv": true, "xy  zqv": false, "xy, zqv": false, "xy the zqv": false, "xy 天 zqv": false} {
		joined := 0
		for _, w := range parsed(x, text).terms {
			for _, e := range w.expansions {
				if e.relation == joinedIn {
					joined++
				}
			}
		}
		require.Equal(t, map[bool]int{true: 2}[want], joined, "%q", text)
	}
}

// A required word of a script without spaces matches by its pairs of characters and its
// meaning, and by single characters if there is nothing else.
func TestAppendTokensOf_RequiredUnspacedWord(t *testing.T) {
	for _, c := range []struct{ description, word, want string }{
		{"天气", "天气", "天气"},
		{"天 气", "天气", "天 气"},
		{"天 weather", "天气", "weather"},
		{"天气 weather", "天气", "天气 weather"},
		{"climate weather", "天气", "weather"}, // the first meaning that is known
		{"气温", "天气", "气"},
		{"𠮷野 𠮷", "𠮷野", "𠮷野"}, // a single character of four bytes is not a pair
		{"zebra", "天气", ""},
	} {
		x := New(allWords(), []keyword.Doc{{Description: c.description}})
		q := newQueryParser(&postings.Finder{})
		q.x, q.l = x.View, allWords()
		q.Finder.Reset(x.View)
		var got []string
		for _, token := range q.appendTokensOf(nil, c.word) {
			got = append(got, x.Text(token))
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%q in %q", c.word, c.description)
	}
}
