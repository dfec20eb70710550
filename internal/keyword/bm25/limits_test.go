// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// Each limit on what is read of a query has a query just inside it and one just beyond.
func TestParse_Limits(t *testing.T) {
	x := New(allWords(), toolbox)
	parse := func(text string) parsedQuery { return parsed(x, text) }
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	has := func(text, word string) bool {
		return slices.ContainsFunc(parse(text).terms, func(found term) bool { return found.text == word })
	}
	require.True(t, has(strings.Repeat(" ", maxQueryBytes-4)+"mail", "mail"))
	require.False(t, has(strings.Repeat(" ", maxQueryBytes-3)+"mail", "mail"))

	require.Len(t, parse(repeat(maxTerms-1, "q%d ")).terms, maxTerms-1)
	require.Len(t, parse(repeat(maxTerms+1, "q%d ")).terms, maxTerms)

	typos := func(n int) (corrected int) {
		for _, t := range parse(misspelled(n)).terms {
			if slices.ContainsFunc(t.expansions, func(e expansion) bool { return e.relation == "looks like" }) {
				corrected++
			}
		}
		return corrected
	}
	require.Equal(t, maxTypos, typos(maxTypos))
	require.Equal(t, maxTypos, typos(maxTypos+1))

	require.Len(t, parse(strings.Repeat("+mail ", maxRequired)).required, maxRequired)
	require.Len(t, parse(strings.Repeat("+mail ", maxRequired+1)).required, maxRequired)

	require.Len(t, parse(strings.Repeat("x ", maxNamed-1)+"files__delete_file").named, 1)
	require.Empty(t, parse(strings.Repeat("x ", maxNamed)+"files__delete_file").named)

	require.Len(t, appendClauseEnds(nil, strings.Repeat("send mail. ", maxClauses-1)), maxClauses)
	require.Len(t, appendClauseEnds(nil, strings.Repeat("send mail. ", maxClauses+1)), maxClauses)
	require.Len(t, appendClauseEnds(nil, "abcdef; b"), 2)
	require.Len(t, appendClauseEnds(nil, "abcde; b"), 1)

	quoted := func(n int) string { return `a "` + strings.Repeat("x", n) + `"` }
	require.Len(t, appendValueSpans(nil, quoted(maxQuoted-1)), 1)
	require.Empty(t, appendValueSpans(nil, quoted(maxQuoted)))

	require.True(t, has(strings.Repeat("z", analysis.MaxWordBytes), strings.Repeat("z", analysis.MaxWordBytes)))
	require.Empty(t, parse(strings.Repeat("z", analysis.MaxWordBytes+1)).terms)
}

// ending returns the i-th of 64 endings that stemming leaves alone.
func ending(i int) string { return "bcfghjkm"[i/8:i/8+1] + "bcfghjkm"[i%8:i%8+1] }

// misspelled returns n different misspellings of "temperature".
func misspelled(n int) string {
	var words []string
	for i := range n {
		words = append(words, "temperatur"+ending(i))
	}
	return strings.Join(words, " ")
}

// The score of a term is that of the BM25F formula.
func TestSearch_TermScoreFollowsFormula(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "alpha beta", Description: "beta gamma gamma", Params: []keyword.Param{{Name: "beta", Description: "beta delta", Enum: []string{"beta", "x"}}}, Server: "beta"},
		{Name: "beta", Description: "one two three four five"},
		{Name: "gamma"},
	})
	// The weights of the fields, their slopes, the lengths of the first document's and their
	// averages, in tokens.
	weights, slopes := [...]float64{2.5, 1, .8, .35, .35, 1}, [...]float64{.4, .75, .5, .5, .5, 0}
	lengths := [...]float64{2, 3, 1, 2, 2, 1}
	averages := [...]float64{4 / 3.0, 8 / 3.0, 1 / 3.0, 2 / 3.0, 2 / 3.0, 1 / 3.0}
	rare := math.Log(1 + (3-2+.5)/(2+.5)) // two of three documents
	require.InDelta(t, rare, rarity(x, "beta"), 1e-6)
	sum := 0.0
	for f, weight := range weights {
		sum += weight / (1 - slopes[f] + slopes[f]*lengths[f]/averages[f])
	}
	weight, _, ok := weightOf(x, "beta", 0)
	require.True(t, ok)
	require.InDelta(t, rare*2.2*sum/(sum+1.2), weight, 1e-6)
	_, _, ok = weightOf(x, "beta", 2)
	require.False(t, ok)
	require.InDelta(t, math.Log(1+4.5/.5), postings.IDF(0, 4), 1e-12)
	require.InDelta(t, math.Log(1+.5/4.5), postings.IDF(4, 4), 1e-12)
	require.InDelta(t, 10*1.3*.5, finalScore(10, 1.3, .25), 1e-12)

	_, joined, ok := weightOf(x, "alphabeta", 0)
	require.True(t, ok, "neighbours in a name are also one word")
	require.Equal(t, "name", joined.Fields())
}

// The factors of a score: the share of the name that is mentioned, and the share of the
// query that is answered.
func TestSearch_DocumentScoreFollowsFormula(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "zorb quix"}, {Name: "x", Description: "zorb"}, {Name: "y", Description: "quix"}, {Name: "z", Description: "vlim"}})
	score := func(text string, doc int) float64 {
		hits, err := x.Search(context.Background(), text, 0)
		require.NoError(t, err)
		for _, h := range hits {
			if h.Doc == doc {
				return h.Score
			}
		}
		return 0
	}
	weight := func(token string, doc int) float64 {
		w, _, _ := weightOf(x, token, doc)
		return w
	}
	zorb, quix, vlim := rarity(x, "zorb"), rarity(x, "quix"), rarity(x, "vlim")
	require.InDelta(t, weight("zorb", 1), score("zorb", 1), 1e-6)
	require.InDelta(t, weight("zorb", 0)*(1+.6*zorb/(zorb+quix)), score("zorb", 0), 1e-6)
	require.InDelta(t, weight("zorb", 1)*math.Sqrt(zorb/(zorb+vlim)), score("zorb vlim", 1), 1e-6)
	require.InDelta(t, weight("zorb", 1)*.4*math.Sqrt(.4*zorb/(.4*zorb+vlim)), score(`"zorb" vlim`, 1), 1e-6)
}

// Candidates of one server give way to nearly equal ones of other servers, and those
// for an answered clause to those for an open one.
func TestPlaces_SpreadOverServersAndClauses(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "a__1"}, {Name: "a__2"}, {Name: "b__1"}, {Name: "c1"}, {Name: "c2"}})
	order := func(clauses []clause, limit int, scores ...float64) (names []string) {
		candidates := x.accumulator().newBest(len(scores))
		for i, s := range scores {
			candidates.Add(scored{doc: uint32(i), score: s})
		}
		places := newPlaces(x.View, clauses, nil, slices.Max(scores))
		for _, c := range places.fill(candidates.Sorted(), limit) {
			names = append(names, x.NameAt(c.doc))
		}
		return names
	}
	require.Equal(t, []string{"a__1", "b__1", "a__2"}, order(nil, 3, 10, 10, 9.8), "nearly equal")
	require.Equal(t, []string{"a__1", "a__2", "b__1"}, order(nil, 3, 10, 10, 9.7), "clearly worse")
	require.Equal(t, []string{"c1", "c2"}, order(nil, 5, 0, 0, 0, 10, 10)[:2], "no server")
	require.Equal(t, []string{"a__1"}, order(nil, 1, 10, 10, 9.8))
	clauses := []clause{{weight: 1, fit: map[uint32]float64{0: 1, 3: 1}}, {weight: .5, fit: map[uint32]float64{4: 1}}}
	require.Equal(t, []string{"a__1", "c2", "c1"}, order(clauses, 5, 10, 0, 0, 9, 8.1)[:3], "8.1 + .4*10*.5 is above 9")
	require.Equal(t, []string{"a__1", "c1", "c2"}, order(clauses, 5, 10, 0, 0, 9, 6)[:3])
	require.InDelta(t, .7, bonus(clauses, 0), 1e-12)
	require.InDelta(t, .35, bonus(clauses, 4), 1e-12)
	require.Zero(t, bonus(clauses, 1))
}

// The limits that are documented for users.
func TestLimits_AreAsDocumented(t *testing.T) {
	require.Equal(t, []int{32 << 10, 256, 32, 32, 64}, []int{maxQueryBytes, maxTerms, maxTypos, maxRequired, maxNamed})
	require.Equal(t, []int{6, 16, 200, 4}, []int{minClause, maxClauses, maxQuoted, maxPhraseGap})
	require.Equal(t, []int{64, 64, 32}, []int{clauseHits, spare, maxDiversified})
}
