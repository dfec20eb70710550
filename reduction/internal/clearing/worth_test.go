// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction/internal/rounds"
)

// randomFigures are of a pass with everything counted.
func randomFigures(r *rand.Rand) CostEstimate {
	f := CostEstimate{Threshold: 1 + r.Int64N(1000), Before: r.Int64N(2000), Forced: r.IntN(8) == 0, Chosen: r.IntN(4) == 0, saves: r.Int64N(300), shrinks: r.Int64N(300), breaks: r.Int64N(3000)}
	if r.IntN(2) == 0 {
		f.Target = 1 + r.Int64N(f.Threshold)
	}
	if r.IntN(2) == 0 {
		f.Least = 1 + r.Int64N(200)
	}
	f.After = f.Before - r.Int64N(f.Before+1)
	return f
}

func TestWhetherAPassIsWorthItFollowsItsFigures(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	seen := map[Verdict]int{}
	for range 20_000 {
		f := randomFigures(r)
		said := f.Worth()
		seen[said]++
		require.NotEqual(t, Unknown, said, "seed %d: %+v: everything was counted", seed, f)

		// What was not counted is asked for, or does not matter.
		for _, less := range []CostEstimate{f, f, f} {
			if r.IntN(2) == 0 {
				less.Before = -1
			}
			if r.IntN(2) == 0 {
				less.After = -1
			}
			if got := less.Worth(); got != Unknown {
				require.Equal(t, said, got, "seed %d: %+v", seed, less)
			}
		}
		// Who saves more, breaks less, or must, does not wait where this one pays.
		better := f
		better.saves, better.shrinks, better.breaks = f.saves+r.Int64N(100), f.shrinks+r.Int64N(100), f.breaks-r.Int64N(f.breaks+1)
		better.After = max(0, f.After-r.Int64N(100))
		better.Forced = f.Forced || r.IntN(4) == 0
		if said == Apply {
			require.Equal(t, Apply, better.Worth(), "seed %d: %+v", seed, better)
		}
		// Nothing saves less than was asked, unless the window requires it.
		if said == Apply && !f.Forced {
			require.GreaterOrEqual(t, f.Before-f.After, f.Least, "seed %d: %+v", seed, f)
		}
	}
	require.Greater(t, min(seen[Apply], seen[Waits]), 300)
}

func TestEachRuleOfWorthDecides(t *testing.T) {
	plain := CostEstimate{Threshold: 800, Before: 1000, After: 500, saves: 500, shrinks: 500, breaks: 100}
	for name, c := range map[string]struct {
		change func(f *CostEstimate)
		want   Verdict
	}{
		"nothing speaks against it":                {func(*CostEstimate) {}, Apply},
		"a drop":                                   {func(f *CostEstimate) { f.saves = 99 }, Waits},
		"a little more than a drop":                {func(f *CostEstimate) { f.saves = 100 }, Apply},
		"a drop that gets below the threshold":     {func(f *CostEstimate) { f.saves, f.Before = 99, 890 }, Apply},
		"much is rewritten, and there is room":     {func(f *CostEstimate) { f.breaks, f.Before = 3001, 899 }, Waits},
		"much is rewritten, and there is none":     {func(f *CostEstimate) { f.breaks, f.Before = 3001, 900 }, Apply},
		"a sixth is fair":                          {func(f *CostEstimate) { f.breaks, f.Before = 3000, 899 }, Apply},
		"much is rewritten, but a target says so":  {func(f *CostEstimate) { f.breaks, f.Before, f.Target = 3001, 899, 1 }, Apply},
		"the user's code has decided":              {func(f *CostEstimate) { f.saves, f.breaks, f.Before, f.Chosen = 99, 3001, 899, true }, Apply},
		"less than asked":                          {func(f *CostEstimate) { f.Least = 501 }, Waits},
		"as much as asked":                         {func(f *CostEstimate) { f.Least = 500 }, Apply},
		"less than asked, also of the user's":      {func(f *CostEstimate) { f.Least, f.Chosen = 501, true }, Waits},
		"less than asked, but the window requires": {func(f *CostEstimate) { f.Least, f.Forced = 501, true }, Apply},
		"a drop of a request that was not counted": {func(f *CostEstimate) { f.saves, f.Before = 99, -1 }, Unknown},
		"asked, of what was not counted":           {func(f *CostEstimate) { f.Least, f.After = 1, -1 }, Unknown},
		"not counted, and it does not matter":      {func(f *CostEstimate) { f.Before, f.After = -1, -1 }, Apply},
	} {
		f := plain
		c.change(&f)
		require.Equal(t, c.want, f.Worth(), name)
	}
}

// TestFiguresOf_ChosenByAHandler: a handler has decided on such a result, so it waits for nothing.
func TestFiguresOf_ChosenByAHandler(t *testing.T) {
	prompt := RequestStats{
		Messages: 2, Roughly: func(int, int) int64 { return 1 << 20 }, Corrected: func(n int64) int64 { return n },
	}
	edit := func(handled bool) (e Change) {
		e.Candidate = &Candidate{Pair: &rounds.Pair{}}
		e.Rule.Handled = handled
		return e
	}
	for _, edits := range [][]Change{{edit(true)}, {edit(true), edit(false)}, {edit(false), edit(true)}} {
		require.True(t, CostEstimate{}.Of(edits, prompt).Chosen)
	}
	require.False(t, CostEstimate{}.Of([]Change{edit(false)}, prompt).Chosen)
	require.False(t, CostEstimate{}.Of(nil, prompt).Chosen)
	require.True(t, CostEstimate{Chosen: true}.Of([]Change{edit(false)}, prompt).Chosen, "chosen before")
}
