// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package visibility_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/visibility"
)

// What a model call shows, on random data and without an agent.

// has reports whether a name is that of a hidden tool: t0 to t29 are.
func has(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "t%d", &n)
	return err == nil && n < 30
}

// testTools are hidden tools, of which some are denied.
type testTools struct{ denied []string }

func (testTools) HasHiddenTool(name string) bool { return has(name) }

func (t testTools) MayShow(_ context.Context, name string) bool {
	return !slices.Contains(t.denied, name)
}

func random(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// some are a few names of which 30 of 40 are those of tools.
func some(r *rand.Rand, most int) (names []string) {
	for _, i := range r.Perm(40)[:r.IntN(most+1)] {
		names = append(names, fmt.Sprint("t", i))
	}
	return names
}

// anyUsage is the usage of random messages.
func anyUsage(r *rand.Rand) *history.Usage {
	u := &history.Usage{ModelCalls: r.IntN(12), LastUse: map[string]int{}}
	for _, name := range some(r, 20) {
		if has(name) {
			u.Order = append(u.Order, name)
			u.LastUse[name] = r.IntN(u.ModelCalls + 1)
		}
	}
	return u
}

// A selection is a function of its input, which does not change. It has what is always visible, what an earlier call
// showed and what the history loaded, in that order, as far as it exists and is allowed; nothing twice; and no more
// than the provider takes, unless more is always visible. A checkpoint holds its state.
func TestSelect_IsAFunctionOfItsInput(t *testing.T) {
	r := random(t)
	for range race.Cases(5000) {
		tools := testTools{denied: some(r, 5)}
		in := visibility.Input{
			Usage: anyUsage(r), CanLoad: r.IntN(4) > 0, OtherTools: r.IntN(4),
			Limits: visibility.Limits{UnloadAfter: r.IntN(2) * r.IntN(6), MaxToolsPerRequest: r.IntN(2) * r.IntN(12)},
		}
		in.AlwaysVisible = slices.DeleteFunc(some(r, 3), func(name string) bool { return !has(name) })
		if r.IntN(2) == 0 {
			in.State = runstate.State{HadModelCall: true, Visible: some(r, 8), ShowsAll: r.IntN(4) == 0}
			for range in.State.Visible {
				in.State.IdleCalls = append(in.State.IdleCalls, r.IntN(6))
			}
		}
		if in.State.ShowsAll {
			in.AllowedNames = []string{"t1", "t2", "t3"}
		}
		given, err := json.Marshal([]any{in.State, in.Usage})
		require.NoError(t, err)
		ctx := context.Background()
		out, again := visibility.Select(ctx, in, tools), visibility.Select(ctx, in, tools)
		require.Equal(t, out, again)
		after, err := json.Marshal([]any{in.State, in.Usage})
		require.NoError(t, err)
		require.Equal(t, string(given), string(after))
		text, err := json.Marshal(out.State)
		require.NoError(t, err)
		var kept runstate.State
		require.NoError(t, json.Unmarshal(text, &kept))
		back, err := json.Marshal(kept)
		require.NoError(t, err)
		require.Equal(t, string(text), string(back))
		requireShown(t, in, tools, out)
	}
}

func requireShown(t *testing.T, in visibility.Input, tools testTools, out visibility.Selection) {
	shown := out.State.Visible
	if in.State.ShowsAll {
		require.Equal(t, in.AllowedNames, shown)
		return
	}
	known := slices.Concat(in.AlwaysVisible, in.State.Visible, in.Usage.Order)
	last := -1
	for i, name := range shown {
		require.True(t, has(name) && tools.MayShow(context.Background(), name))
		require.NotContains(t, shown[:i], name)
		at := slices.Index(known, name)
		require.Greater(t, at, last, "always visible tools, then those shown before, then new ones")
		last = at
	}
	for _, name := range in.AlwaysVisible {
		require.Equal(t, tools.MayShow(context.Background(), name), slices.Contains(shown, name))
	}
	if in.Limits.MaxToolsPerRequest > 0 && in.OtherTools+len(shown) > in.Limits.MaxToolsPerRequest {
		require.Subset(t, in.AlwaysVisible, shown, "only tools that are always visible exceed the limit")
	}
	if !in.CanLoad {
		require.Subset(t, in.AlwaysVisible, shown)
		return
	}
	for _, name := range in.Usage.Order {
		require.Equal(t, tools.MayShow(context.Background(), name), slices.Contains(shown, name) || slices.Contains(out.Unused, name) && tools.MayShow(context.Background(), name), name)
	}
	if in.Limits.UnloadAfter > 0 {
		require.Len(t, out.State.IdleCalls, len(shown))
	}
	requireLeastUsedDropped(t, in, out)
}

// requireLeastUsedDropped checks which tools a full request leaves out: none that was used later than one that stays.
// Of tools that were used at the same time, the first ones stay, as a search returns the best first.
func requireLeastUsedDropped(t *testing.T, in visibility.Input, out visibility.Selection) {
	lastUse := func(name string) int {
		if n, ok := in.Usage.LastUse[name]; ok {
			return n
		}
		return in.Usage.ModelCalls - 1 - in.State.IdleCalls[slices.Index(in.State.Visible, name)]
	}
	known := slices.Concat(in.State.Visible, in.Usage.Order)
	for _, dropped := range out.Unused {
		if in.Limits.UnloadAfter > 0 && in.Usage.ModelCalls-lastUse(dropped) >= in.Limits.UnloadAfter {
			continue
		}
		for _, name := range out.State.Visible {
			if slices.Contains(in.AlwaysVisible, name) {
				continue
			}
			require.GreaterOrEqual(t, lastUse(name), lastUse(dropped), "%s stays, %s is dropped", name, dropped)
			if lastUse(name) == lastUse(dropped) {
				require.Less(t, slices.Index(known, name), slices.Index(known, dropped), "%s stays, %s is dropped", name, dropped)
			}
		}
	}
}

// A tool is hidden after UnloadAfter model calls without use, whether the history has its last use or only the state counts.
func TestSelect_HidesToolAfterIdleCalls(t *testing.T) {
	for idleCalls, isVisible := range map[int]bool{1: true, 2: false, 3: false} {
		unused := []string{"t1", "t2"}
		if isVisible {
			unused = nil
		}
		out := visibility.Select(context.Background(), visibility.Input{
			State:   runstate.State{HadModelCall: true, Visible: []string{"t1", "t2"}, IdleCalls: []int{0, idleCalls - 1}},
			Usage:   &history.Usage{ModelCalls: 5, Order: []string{"t1"}, LastUse: map[string]int{"t1": 5 - idleCalls}},
			CanLoad: true, Limits: visibility.Limits{UnloadAfter: 2},
		}, testTools{})
		require.Equal(t, unused, out.Unused, "%d calls", idleCalls)
		require.Len(t, out.State.Visible, 2-len(unused))
	}
}
