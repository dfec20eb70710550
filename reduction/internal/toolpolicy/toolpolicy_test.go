// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolpolicy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/reduction/internal/offload"
)

// chances makes tables up.
type chances struct{ *rand.Rand }

func (c chances) yes() bool { return c.IntN(3) == 0 }

// table is one for the tool "shell", and for one that is called through another.
func (c chances) table() Table {
	stores := []*offload.Store{nil, {}, {}}
	phase := func() PhaseConfig {
		p := PhaseConfig{Skip: c.yes(), Tools: map[string]Tool{}}
		if c.yes() {
			p.Exclude = []string{[]string{"shell", "sh*", "other", "*"}[c.IntN(4)]}
		}
		if c.yes() {
			p.Tools["shell"] = Tool{Skip: c.yes(), HasHandler: c.yes()}
		}
		return p
	}
	t := Table{Store: stores[c.IntN(2)], Limit: 1 + c.IntN(9), Compact: c.yes(), Stores: map[string]*offload.Store{}, Limits: map[string]int{}, Truncation: phase(), Clearing: phase()}
	if c.yes() {
		t.Stores["shell"] = stores[2]
	}
	if c.yes() {
		t.Limits["shell"] = 10 + c.IntN(9)
	}
	return t
}

// The order of precedence is the one that is documented: the lists, what the tool's own configuration skips,
// its handler, its limit, what the general one skips.
func TestTable_OrderOfPrecedence(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, seen := chances{rand.New(rand.NewPCG(seed, 1))}, map[Reason]int{}
	for range 5_000 {
		table, reads := c.table(), c.yes()
		for _, phase := range []*PhaseConfig{&table.Truncation, &table.Clearing} {
			returned := phase == &table.Truncation
			r := table.ForClearing("shell", "", reads)
			if returned {
				r = table.ForTruncation("shell", "", reads)
			}
			own, listed := phase.Tools["shell"], len(phase.Exclude) > 0 && phase.Exclude[0] != "other"
			store := table.Store
			if table.Stores["shell"] != nil {
				store = table.Stores["shell"]
			}
			want, handled := Reason(""), false
			switch {
			case listed:
				want = Excluded
			case own.Skip:
				want = Skipped
			case own.HasHandler:
				handled = true
			case returned && reads:
				want = Exempt
			case returned && (phase.Skip && table.Limits["shell"] == 0 || store == nil), !returned && phase.Skip:
				want = Skipped
			}
			require.Equal(t, want, r.SkipReason, "seed %d: %+v", seed, table)
			require.Equal(t, handled, r.HasHandler, "seed %d: %+v", seed, table)
			require.Same(t, store, r.Store)
			require.Equal(t, want == "" && !handled && store != nil, r.MayReplaceParts())
			if returned {
				require.Equal(t, table.Compact && !listed && !reads, r.Compact)
			}
			seen[want]++
			// Without its handler, a tool is as one that never had any.
			phase.Tools["shell"] = Tool{Skip: own.Skip}
			plain := table.ForClearing("shell", "", reads)
			if returned {
				plain = table.ForTruncation("shell", "", reads)
			}
			if handled {
				require.Equal(t, plain, r.ByDefault(), "seed %d: %+v", seed, table)
			}
		}
	}
	require.Len(t, seen, 4, "%v", seen)
}

// A tool that runs through call_tool has its own rules.
func TestTable_AppliesToolsBehindCallTool(t *testing.T) {
	own, general := &offload.Store{}, &offload.Store{}
	table := Table{
		Store: general, Stores: map[string]*offload.Store{"shell": own}, Limit: 9, Limits: map[string]int{"shell": 7},
		Truncation: PhaseConfig{Tools: map[string]Tool{"shell": {HasHandler: true}}},
		Clearing:   PhaseConfig{Tools: map[string]Tool{"shell": {Skip: true}}},
	}
	for _, name := range []string{"shell", "other", "tool_search"} {
		args := `{"arguments":{},"name":"` + name + `"}`
		require.Equal(t, table.ForTruncation(name, "{}", false), table.ForTruncation(toolnames.Call, args, false), name)
		require.Equal(t, table.ForClearing(name, "{}", false), table.ForClearing(toolnames.Call, args, false), name)
	}
}

// A list also means a tool that runs through call_tool, and answers that load tools always stay.
func TestTable_ExcludesToolsBehindCallTool(t *testing.T) {
	table := Table{Store: &offload.Store{}, Limit: 9, Truncation: PhaseConfig{Exclude: []string{"shell"}}, Clearing: PhaseConfig{Exclude: []string{"she*"}}}
	for args, want := range map[string]Reason{`{"name":"shell","arguments":{}}`: Excluded, `{"name":"other"}`: "", "": "", "no JSON": ""} {
		require.Equal(t, want, table.ForTruncation(toolnames.Call, args, false).SkipReason, args)
		require.Equal(t, want, table.ForClearing(toolnames.Call, args, false).SkipReason, args)
		require.Empty(t, table.ForTruncation("other", args, false).SkipReason, "only call_tool runs others")
	}
	for _, name := range []string{"tool_search", "shell"} {
		require.Equal(t, toolnames.Loads(name), table.ForTruncation(name, "", false).SkipReason == Exempt, name)
		require.Equal(t, toolnames.Loads(name), table.ForClearing(name, "", false).SkipReason == Exempt, name)
	}
}

func TestTable_ProtectsByConfiguration(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, seen := chances{rand.New(rand.NewPCG(seed, 1))}, map[bool]int{}
	for range 5_000 {
		table := c.table()
		truncation, clearing := table.Truncation.Tools["shell"], table.Clearing.Tools["shell"]
		lists := func(p PhaseConfig) bool { return len(p.Exclude) > 0 && p.Exclude[0] != "other" }
		want := table.Store == nil && table.Stores["shell"] == nil ||
			lists(table.Truncation) || lists(table.Clearing) ||
			clearing.Skip || !clearing.HasHandler && table.Clearing.Skip ||
			truncation.Skip && !table.Truncation.Skip
		got := table.Protects("shell", "", c.yes())
		require.Equal(t, want, got, "%+v", table)
		seen[got]++
	}
	require.Greater(t, min(seen[true], seen[false]), 300, "%v", seen)
	require.True(t, (&Table{Store: &offload.Store{}}).Protects("tool_search", "", false), "its answers load tools")
}
