// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

func TestSplit_PairsCallsWithResults(t *testing.T) {
	assistant := func(calls ...string) View {
		v := View{}
		for i, c := range calls {
			id, name, _ := strings.Cut(c, "/")
			v.Calls = append(v.Calls, Call{Index: i, ID: id, Name: name})
		}
		return v
	}
	tool := func(results ...string) View {
		v := View{}
		for i, r := range results {
			id, name, _ := strings.Cut(r, "/")
			v.Results = append(v.Results, Result{Index: i, ID: id, name: name})
		}
		return v
	}
	user := View{}
	for name, c := range map[string]struct {
		history []View
		want    string
	}{
		"in order":                       {[]View{assistant("1", "2"), tool("1"), tool("2")}, "1@1 2@2"},
		"swapped":                        {[]View{assistant("1", "2"), tool("2"), tool("1")}, "1@2 2@1"},
		"missing":                        {[]View{assistant("1", "2"), tool("2")}, "1- 2@1"},
		"an orphan":                      {[]View{tool("0"), assistant("1"), tool("x"), tool("1")}, "1@3"},
		"a user in between":              {[]View{assistant("1"), user, tool("1")}, "1@2"},
		"late":                           {[]View{assistant("1"), assistant("2"), tool("1"), tool("2")}, "1@2 | 2@3"},
		"an id again in another round":   {[]View{assistant("1"), tool("1"), assistant("1"), tool("1")}, "1@1 | 1@3"},
		"an id again, the first missing": {[]View{assistant("1"), assistant("1"), tool("1")}, "1- | 1@2"},
		"an id twice in one round":       {[]View{assistant("1/a", "1/b"), tool("1/b"), tool("1/a")}, "1@2 1@1"},
		"an id twice, without names":     {[]View{assistant("1/a", "1/b"), tool("1/"), tool("1/")}, "1@1 1@2"},
		"no ids":                         {[]View{assistant("/a", "/b", "/a"), tool("/b"), tool("/a"), tool("/a")}, "@2 @1 @3"},
		"ids that were lost":             {[]View{assistant("1/a", "2/b"), tool("/b"), tool("/")}, "1@2 2@1"},
		"lost, of another name":          {[]View{assistant("1/a"), tool("/z")}, "1-"},
		"no ids belong to the newest":    {[]View{assistant("/a"), assistant("/b"), tool("/a")}, "- | -"},
		"several in one message":         {[]View{assistant("1", "2"), tool("2", "1", "3")}, "1@1 2@1"},
		"twice the same result":          {[]View{assistant("1"), tool("1"), tool("1")}, "1@1"},
	} {
		var got []string
		for _, r := range roundsIn(c.history) {
			var pairs []string
			for _, p := range r.Pairs {
				s := p.Call.ID + "-"
				if p.HasResult {
					s = fmt.Sprint(p.Call.ID, "@", p.MessageIndex)
				}
				pairs = append(pairs, s)
			}
			got = append(got, strings.Join(pairs, " "))
		}
		require.Equal(t, c.want, strings.Join(got, " | "), name)
	}
}

func roundsIn(vs []View) []Round {
	p := pairer{rounds: []Round{}}
	for i, v := range vs {
		p.addMessage(i, v)
	}
	return p.rounds
}

// pairedSlowly is the rule for pairs, written down without regard to cost: every
// round is looked at for every result.
func pairedSlowly(vs []View) []Round {
	rounds := []Round{}
	for i, v := range vs {
		for _, r := range v.Results {
			for n := len(rounds) - 1; n >= 0; n-- {
				to := rounds[n].unansweredCall(r, true)
				if to == nil && r.ID == "" {
					to = rounds[n].unansweredCall(r, false)
				}
				if to != nil {
					to.HasResult, to.MessageIndex, to.Result = true, i, r
				}
				if to != nil || r.ID == "" {
					break
				}
			}
		}
		if len(v.Calls) > 0 {
			p := pairer{rounds: rounds}
			p.addMessage(i, View{Calls: v.Calls})
			rounds = p.rounds
		}
	}
	return rounds
}

func TestSplit_EqualsSlowPairing(t *testing.T) {
	for seed := range uint64(race.Cases(2000)) {
		g := rand.New(rand.NewPCG(seed, 3))
		id := func() string { return []string{"", "a", "b", "c", fmt.Sprint(g.IntN(20))}[g.IntN(5)] }
		name := func() string { return []string{"", "x", "y"}[g.IntN(3)] }
		var vs []View
		for range 1 + g.IntN(30) {
			var v View
			for i := range g.IntN(4) {
				if g.IntN(2) == 0 {
					v.Calls = append(v.Calls, Call{Index: i, ID: id(), Name: name()})
				}
			}
			for i := range g.IntN(4) * (1 - min(1, len(v.Calls))) {
				v.Results = append(v.Results, Result{Index: i, ID: id(), name: name()})
			}
			vs = append(vs, v)
		}
		require.Equal(t, pairedSlowly(vs), roundsIn(vs), "seed %d", seed)
	}
}

// A result that came twice, or that belongs to no call, does not make pairing look
// through all rounds.
func TestSplit_IsLinearInHistory(t *testing.T) {
	race.Skip(t, "pairs 300,000 messages")
	const rounds = 100_000
	history := func(n int) []View {
		vs := make([]View, 0, 3*n)
		for i := range n {
			id := fmt.Sprintf("call_%d", i)
			vs = append(vs,
				View{Calls: []Call{{ID: id, Name: "shell"}}},
				View{Results: []Result{{ID: id, name: "shell"}, {Index: 1, ID: id, name: "shell"}}},
				View{Results: []Result{{ID: "orphan_" + id, name: "shell"}, {Index: 1, ID: fmt.Sprintf("call_%d", i/2), name: "shell"}}})
		}
		return vs
	}
	vs := history(rounds)
	start := time.Now()
	got := roundsIn(vs)
	took := time.Since(start)
	require.Len(t, got, rounds)
	for i, r := range got {
		require.True(t, r.Pairs[0].HasResult)
		require.Equal(t, 3*i+1, r.Pairs[0].MessageIndex)
	}
	t.Logf("%d rounds: %v", rounds, took)
	require.Less(t, took, 30*time.Second, "a look at every round for each of these results takes minutes")
}
