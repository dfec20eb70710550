// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomFigures are of a pass with everything counted.
func randomFigures(r *rand.Rand) figures {
	f := figures{threshold: 1 + r.Int64N(1000), before: r.Int64N(2000), forced: r.IntN(8) == 0, chosen: r.IntN(4) == 0, saves: r.Int64N(300), shrinks: r.Int64N(300), breaks: r.Int64N(3000)}
	if r.IntN(2) == 0 {
		f.target = 1 + r.Int64N(f.threshold)
	}
	if r.IntN(2) == 0 {
		f.least = 1 + r.Int64N(200)
	}
	f.after = f.before - r.Int64N(f.before+1)
	return f
}

func TestWhetherAPassIsWorthItFollowsItsFigures(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	seen := map[answer]int{}
	for range 100_000 {
		f := randomFigures(r)
		said := worth(f)
		seen[said]++
		require.NotEqual(t, unknown, said, "seed %d: %+v: everything was counted", seed, f)

		// What was not counted is asked for, or does not matter.
		for _, less := range []figures{f, f, f} {
			if r.IntN(2) == 0 {
				less.before = -1
			}
			if r.IntN(2) == 0 {
				less.after = -1
			}
			if got := worth(less); got != unknown {
				require.Equal(t, said, got, "seed %d: %+v", seed, less)
			}
		}
		// Who saves more, breaks less, or must, does not wait where this one pays.
		better := f
		better.saves, better.shrinks, better.breaks = f.saves+r.Int64N(100), f.shrinks+r.Int64N(100), f.breaks-r.Int64N(f.breaks+1)
		better.after = max(0, f.after-r.Int64N(100))
		better.forced = f.forced || r.IntN(4) == 0
		if said == pays {
			require.Equal(t, pays, worth(better), "seed %d: %+v", seed, better)
		}
		// Nothing saves less than was asked, unless the window requires it.
		if said == pays && !f.forced {
			require.GreaterOrEqual(t, f.before-f.after, f.least, "seed %d: %+v", seed, f)
		}
	}
	require.Greater(t, min(seen[pays], seen[waits]), 1000)
}

func TestEachRuleOfWorthDecides(t *testing.T) {
	plain := figures{threshold: 800, before: 1000, after: 500, saves: 500, shrinks: 500, breaks: 100}
	for name, c := range map[string]struct {
		change func(f *figures)
		want   answer
	}{
		"nothing speaks against it":                {func(*figures) {}, pays},
		"a drop":                                   {func(f *figures) { f.saves = 99 }, waits},
		"a little more than a drop":                {func(f *figures) { f.saves = 100 }, pays},
		"a drop that gets below the threshold":     {func(f *figures) { f.saves, f.before = 99, 890 }, pays},
		"much is rewritten, and there is room":     {func(f *figures) { f.breaks, f.before = 3001, 899 }, waits},
		"much is rewritten, and there is none":     {func(f *figures) { f.breaks, f.before = 3001, 900 }, pays},
		"a sixth is fair":                          {func(f *figures) { f.breaks, f.before = 3000, 899 }, pays},
		"much is rewritten, but a target says so":  {func(f *figures) { f.breaks, f.before, f.target = 3001, 899, 1 }, pays},
		"the user's code has decided":              {func(f *figures) { f.saves, f.breaks, f.before, f.chosen = 99, 3001, 899, true }, pays},
		"less than asked":                          {func(f *figures) { f.least = 501 }, waits},
		"as much as asked":                         {func(f *figures) { f.least = 500 }, pays},
		"less than asked, also of the user's":      {func(f *figures) { f.least, f.chosen = 501, true }, waits},
		"less than asked, but the window requires": {func(f *figures) { f.least, f.forced = 501, true }, pays},
		"a drop of a request that was not counted": {func(f *figures) { f.saves, f.before = 99, -1 }, unknown},
		"asked, of what was not counted":           {func(f *figures) { f.least, f.after = 1, -1 }, unknown},
		"not counted, and it does not matter":      {func(f *figures) { f.before, f.after = -1, -1 }, pays},
	} {
		f := plain
		c.change(&f)
		require.Equal(t, c.want, worth(f), name)
	}
}
