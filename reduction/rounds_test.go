// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pairedSlowly is the rule for pairs, written down without regard to cost: every
// round is looked at for every result.
func pairedSlowly(vs []view) []round {
	rounds := []round{}
	for i, v := range vs {
		for _, r := range v.results {
			for n := len(rounds) - 1; n >= 0; n-- {
				to := rounds[n].waiting(r, true)
				if to == nil && r.id == "" {
					to = rounds[n].waiting(r, false)
				}
				if to != nil {
					to.found, to.at, to.result = true, i, r
				}
				if to != nil || r.id == "" {
					break
				}
			}
		}
		if len(v.calls) > 0 {
			p := pairer{rounds: rounds}
			p.begin(i, v)
			rounds = p.rounds
		}
	}
	return rounds
}

func TestPairsAreThoseOfTheRuleOverRandomHistories(t *testing.T) {
	for seed := range uint64(2000) {
		g := rand.New(rand.NewPCG(seed, 3))
		id := func() string { return []string{"", "a", "b", "c", fmt.Sprint(g.IntN(20))}[g.IntN(5)] }
		name := func() string { return []string{"", "x", "y"}[g.IntN(3)] }
		var vs []view
		for range 1 + g.IntN(30) {
			var v view
			for i := range g.IntN(4) {
				if g.IntN(2) == 0 {
					v.calls = append(v.calls, call{index: i, id: id(), name: name()})
				}
			}
			for i := range g.IntN(4) * (1 - min(1, len(v.calls))) {
				v.results = append(v.results, result{index: i, id: id(), name: name()})
			}
			vs = append(vs, v)
		}
		require.Equal(t, pairedSlowly(vs), roundsOf(vs), "seed %d", seed)
	}
}

// Results that came twice and results of no call must not cost a look at every
// round each.
func TestPairingIsLinearInTheHistory(t *testing.T) {
	const rounds = 100_000
	history := func(n int) []view {
		vs := make([]view, 0, 3*n)
		for i := range n {
			id := fmt.Sprintf("call_%d", i)
			vs = append(vs,
				view{calls: []call{{id: id, name: "shell"}}},
				view{results: []result{{id: id, name: "shell"}, {index: 1, id: id, name: "shell"}}},
				view{results: []result{{id: "orphan_" + id, name: "shell"}, {index: 1, id: fmt.Sprintf("call_%d", i/2), name: "shell"}}})
		}
		return vs
	}
	vs := history(rounds)
	start := time.Now()
	got := roundsOf(vs)
	took := time.Since(start)
	require.Len(t, got, rounds)
	for i, r := range got {
		require.True(t, r.pairs[0].found)
		require.Equal(t, 3*i+1, r.pairs[0].at)
	}
	t.Logf("%d rounds: %v", rounds, took)
	require.Less(t, took, 10*time.Second, "a look at every round for each of these results takes minutes")
}
