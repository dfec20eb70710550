// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// randomFigures are of a pass with everything counted.
func randomFigures(r *rand.Rand) CostEstimate {
	f := CostEstimate{Threshold: 1 + r.Int64N(1000), TokensBefore: r.Int64N(2000), MustFit: r.IntN(8) == 0, UserDecided: r.IntN(4) == 0, tokenSaving: r.Int64N(300), roughSaving: r.Int64N(300), rewrittenTokens: r.Int64N(3000)}
	if r.IntN(2) == 0 {
		f.Target = 1 + r.Int64N(f.Threshold)
	}
	if r.IntN(2) == 0 {
		f.MinSaving = 1 + r.Int64N(200)
	}
	f.TokensAfter = f.TokensBefore - r.Int64N(f.TokensBefore+1)
	return f
}

func TestCostEstimate_VerdictIsMonotonic(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	seen := map[Verdict]int{}
	for range 20_000 {
		f := randomFigures(r)
		said := f.Verdict()
		seen[said]++
		require.NotEqual(t, NeedsCount, said, "seed %d: %+v: everything was counted", seed, f)

		// What was not counted is asked for, or does not matter.
		for _, less := range []CostEstimate{f, f, f} {
			if r.IntN(2) == 0 {
				less.TokensBefore = -1
			}
			if r.IntN(2) == 0 {
				less.TokensAfter = -1
			}
			if got := less.Verdict(); got != NeedsCount {
				require.Equal(t, said, got, "seed %d: %+v", seed, less)
			}
		}
		// Who saves more, breaks less, or must, does not wait where this one pays.
		better := f
		better.tokenSaving, better.roughSaving, better.rewrittenTokens = f.tokenSaving+r.Int64N(100), f.roughSaving+r.Int64N(100), f.rewrittenTokens-r.Int64N(f.rewrittenTokens+1)
		better.TokensAfter = max(0, f.TokensAfter-r.Int64N(100))
		better.MustFit = f.MustFit || r.IntN(4) == 0
		if said == Apply {
			require.Equal(t, Apply, better.Verdict(), "seed %d: %+v", seed, better)
		}
		// Nothing saves less than was asked, unless the window requires it.
		if said == Apply && !f.MustFit {
			require.GreaterOrEqual(t, f.TokensBefore-f.TokensAfter, f.MinSaving, "seed %d: %+v", seed, f)
		}
	}
	require.Greater(t, min(seen[Apply], seen[Defer]), 300)
}

func TestCostEstimate_EachRuleDecides(t *testing.T) {
	plain := CostEstimate{Threshold: 800, TokensBefore: 1000, TokensAfter: 500, tokenSaving: 500, roughSaving: 500, rewrittenTokens: 100}
	for name, c := range map[string]struct {
		change func(f *CostEstimate)
		want   Verdict
	}{
		"nothing speaks against it":               {func(*CostEstimate) {}, Apply},
		"a drop":                                  {func(f *CostEstimate) { f.tokenSaving = 99 }, Defer},
		"a little more than a drop":               {func(f *CostEstimate) { f.tokenSaving = 100 }, Apply},
		"a drop that gets below the threshold":    {func(f *CostEstimate) { f.tokenSaving, f.TokensBefore = 99, 890 }, Apply},
		"much is rewritten, and there is room":    {func(f *CostEstimate) { f.rewrittenTokens, f.TokensBefore = 3001, 899 }, Defer},
		"much is rewritten, and there is none":    {func(f *CostEstimate) { f.rewrittenTokens, f.TokensBefore = 3001, 900 }, Apply},
		"a sixth is fair":                         {func(f *CostEstimate) { f.rewrittenTokens, f.TokensBefore = 3000, 899 }, Apply},
		"much is rewritten, but a target says so": {func(f *CostEstimate) { f.rewrittenTokens, f.TokensBefore, f.Target = 3001, 899, 1 }, Apply},
		"the user's code has decided": {func(f *CostEstimate) {
			f.tokenSaving, f.rewrittenTokens, f.TokensBefore, f.UserDecided = 99, 3001, 899, true
		}, Apply},
		"less than asked":                          {func(f *CostEstimate) { f.MinSaving = 501 }, Defer},
		"as much as asked":                         {func(f *CostEstimate) { f.MinSaving = 500 }, Apply},
		"less than asked, also of the user's":      {func(f *CostEstimate) { f.MinSaving, f.UserDecided = 501, true }, Defer},
		"less than asked, but the window requires": {func(f *CostEstimate) { f.MinSaving, f.MustFit = 501, true }, Apply},
		"a drop of a request that was not counted": {func(f *CostEstimate) { f.tokenSaving, f.TokensBefore = 99, -1 }, NeedsCount},
		"asked, of what was not counted":           {func(f *CostEstimate) { f.MinSaving, f.TokensAfter = 1, -1 }, NeedsCount},
		"not counted, and it does not matter":      {func(f *CostEstimate) { f.TokensBefore, f.TokensAfter = -1, -1 }, Apply},
	} {
		f := plain
		c.change(&f)
		require.Equal(t, c.want, f.Verdict(), name)
	}
}

func TestCostEstimate_HandlerCountsAsUserDecision(t *testing.T) {
	change := func(hasHandler bool) (c Change) {
		c.Plan.Candidate = &Candidate{Policy: toolpolicy.ToolPolicy{HasHandler: hasHandler}}
		return c
	}
	estimate := func(e CostEstimate, changes ...Change) bool {
		return e.WithChanges(changes, []int64{1 << 20, 1 << 20}, tokencount.Size{Factor: 1}).UserDecided
	}
	require.True(t, estimate(CostEstimate{}, change(true)))
	require.True(t, estimate(CostEstimate{}, change(true), change(false)))
	require.True(t, estimate(CostEstimate{}, change(false), change(true)))
	require.False(t, estimate(CostEstimate{}, change(false)))
	require.False(t, estimate(CostEstimate{}))
	require.True(t, estimate(CostEstimate{UserDecided: true}, change(false)), "a rewriter has decided")
}
