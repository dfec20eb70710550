// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

func TestMeasures_InvariantsHold(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("tool_%02d", i))
	}
	some := func(n int) []string {
		picked := slices.Clone(names)
		rnd.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
		return picked[:n]
	}
	answers := fixed{}
	var cases []toolsearcheval.Case
	for i := range 500 {
		c := toolsearcheval.Case{ID: fmt.Sprint(i), Query: fmt.Sprintf("query %d", i), Relevant: some(rnd.IntN(13)), Equivalent: map[string][]string{}}
		for _, name := range c.Relevant {
			if rnd.IntN(2) == 0 {
				c.Equivalent[name] = some(rnd.IntN(4))
			}
		}
		answers[c.Query] = some(rnd.IntN(20))
		cases = append(cases, c)
	}
	r, err := toolsearcheval.Evaluate(context.Background(), answers.index, catalogue(names...), cases)
	require.NoError(t, err)
	for _, c := range r.Cases {
		alone, err := toolsearcheval.Evaluate(context.Background(), answers.index, catalogue(names...), []toolsearcheval.Case{c.Case})
		require.NoError(t, err)
		requireLaws(t, c, alone.Measures)
	}
	requireBounds(t, r.Measures)
}

// depth is how many results of a query are evaluated.
const depth = 10

// requireLaws holds the outcome of a query, and the measures of this query alone, to what is true for all.
func requireLaws(t *testing.T, c toolsearcheval.CaseResult, m toolsearcheval.Measures) {
	requireBounds(t, m)
	require.LessOrEqual(t, len(c.Results), depth)
	require.Equal(t, c.Rank > 0, m.Recall10 > 0)
	require.Equal(t, c.Rank == 1, m.Recall1 > 0)
	require.Equal(t, len(c.Missing) == 0, len(c.Case.Relevant) == 0 || m.Recall5 > 1-1e-9)
	if c.Rank > 0 {
		require.InDelta(t, 1/float64(c.Rank), m.MRR, 1e-9)
	}
	allFirst := len(c.Case.Relevant) > 0
	for i, result := range c.Results[:min(len(c.Results), len(c.Case.Relevant))] {
		allFirst = allFirst && slices.Contains(c.Case.Relevant, result.Name) && i < depth
	}
	if allFirst && len(c.Results) >= min(len(c.Case.Relevant), depth) {
		require.InDelta(t, 1, m.NDCG10, 1e-9, "the ideal order is worth 1: %v", c.Case)
	}
}

func requireBounds(t *testing.T, m toolsearcheval.Measures) {
	const most = 1 + 1e-9
	for _, v := range []float64{m.Recall1, m.Recall5, m.Recall10, m.NDCG10, m.MRR, m.NoMatch} {
		require.GreaterOrEqual(t, v, 0.0)
		require.LessOrEqual(t, v, most)
	}
	require.LessOrEqual(t, m.Recall1, m.Recall5+1e-9)
	require.LessOrEqual(t, m.Recall5, m.Recall10+1e-9)
}

func TestSplit_GivesEachCaseFixedHalf(t *testing.T) {
	var cases []toolsearcheval.Case
	for i := range 200 {
		cases = append(cases, toolsearcheval.Case{ID: fmt.Sprintf("case-%d", i)}, toolsearcheval.Case{Query: fmt.Sprintf("query %d", i)})
	}
	dev, heldout := toolsearcheval.Split(cases)
	require.InDelta(t, len(cases)/2, len(dev), 60, "the halves are about equal")
	require.ElementsMatch(t, cases, slices.Concat(dev, heldout))
	isHeldOut := func(c toolsearcheval.Case) bool {
		_, heldout := toolsearcheval.Split([]toolsearcheval.Case{c})
		return len(heldout) == 1
	}
	require.Equal(t, heldout, slices.DeleteFunc(slices.Clone(cases), func(c toolsearcheval.Case) bool { return !isHeldOut(c) }), "in their order")
	fewer, _ := toolsearcheval.Split(cases[:100])
	require.Equal(t, fewer, dev[:len(fewer)], "a case's half does not depend on the others")
	renamed := cases[0]
	renamed.Query, renamed.Relevant = "another", []string{"x"}
	require.Equal(t, isHeldOut(cases[0]), isHeldOut(renamed), "the ID decides where there is one")
}
