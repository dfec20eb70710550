// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package turn_test

// What a conversation says and what a model call shows, on random data and without an agent.

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/race"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// has reports whether a name is that of a hidden tool: t0 to t29 are.
func has(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "t%d", &n)
	return err == nil && n < 30
}

// inRun is a run in which something is known of some calls. It notes tools that are missed.
func inRun(notes map[string]turn.Note, missed *[]string) turn.Run {
	return turn.Run{
		Called: func(string) {},
		Has:    has, Owns: func(name string) bool { return name == "own" }, Note: func(id string) turn.Note { return notes[id] },
		ByHand: func() bool { return false }, Asked: func(lenient.Arguments) []string { return []string{"t1"} },
		Miss: func(name string) { *missed = append(*missed, name) },
	}
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

// conversation is a random one, with searches in words and in a provider's form.
func conversation(r *rand.Rand) (all []wire.View) {
	for i := range r.IntN(12) {
		id, name := fmt.Sprint("c", i), []string{"tool_search", "search_tools", "load_tool", "call_tool", "own", fmt.Sprint("t", r.IntN(40))}[r.IntN(6)]
		args := fmt.Sprintf(`{"name":"t%d"}`, r.IntN(40))
		all = append(all, wire.View{Assistant: true, Calls: []wire.Call{{ID: id, Name: name, Args: args}}, Hosted: r.IntN(9) == 0})
		res := wire.Result{ID: id, Name: name, Native: r.IntN(4) == 0, Tools: some(r, 3)}
		if text, err := json.Marshal(map[string]any{"matches": some(r, 4)}); err == nil && !res.Native {
			res.Text, res.Tools = string(text), nil
		}
		all = append(all, wire.View{Results: []wire.Result{res}})
	}
	return all
}

// Facts are read one message after another, and no tool that does not exist is among them.
func TestFactsAreOfToolsThatExistAndGrowInOrder(t *testing.T) {
	r := random(t)
	for range race.Cases(2000) {
		var facts turn.Facts
		var missed []string
		run, calls := inRun(nil, &missed), 0
		for _, msg := range conversation(r) {
			before, version := slices.Clone(facts.Order), facts.Version
			facts.Add(msg, run)
			if msg.Assistant {
				calls++
			}
			require.True(t, slices.Equal(before, facts.Order[:len(before)]), "the order only grows at its end")
			require.Equal(t, len(facts.Order)-len(before), facts.Version-version)
		}
		require.Equal(t, calls, facts.ModelCalls)
		require.Len(t, facts.Last, len(facts.Order))
		for i, name := range facts.Order {
			require.True(t, has(name))
			require.NotContains(t, facts.Order[:i], name)
			require.LessOrEqual(t, facts.Last[name], calls)
		}
		for _, name := range missed {
			require.False(t, has(name))
		}
	}
}

// Reading again in the same run says the same, but for results of this run that are none of ours.
func TestAConversationThatIsReadAnewSaysTheSame(t *testing.T) {
	r := random(t)
	for range race.Cases(1000) {
		all := conversation(r)
		var facts turn.Facts
		for _, msg := range all {
			facts.Add(msg, inRun(nil, new([]string)))
		}
		facts.Started = true
		again := facts.Anew()
		require.Greater(t, again.Version, facts.Version)
		for _, msg := range all {
			again.Add(msg, inRun(nil, new([]string)))
		}
		require.Equal(t, facts.Order, again.Order)
		require.Equal(t, facts.Last, again.Last)
		require.Equal(t, facts.Natively, again.Natively)
		require.Equal(t, facts.Textually, again.Textually)
	}
}

func TestOnlyAnswersOfOurSearchesLoadToolsInARun(t *testing.T) {
	run := inRun(map[string]turn.Note{"ours": {IsOurs: true, Loaded: []string{"t2"}}, "denied": {Refused: true}, "alias": {Tool: "t3"}}, new([]string))
	var facts turn.Facts
	facts.Started = true
	for _, id := range []string{"other", "ours"} {
		facts.Add(wire.View{Assistant: true, Calls: []wire.Call{{ID: id, Name: "tool_search"}}}, run)
		facts.Add(wire.View{Results: []wire.Result{{ID: id, Name: "tool_search", Text: `{"matches":["t1"]}`}}}, run)
	}
	require.Equal(t, []string{"t2"}, facts.Order)
	facts.Add(wire.View{Assistant: true, Calls: []wire.Call{{ID: "denied", Name: "t5"}, {ID: "alias", Name: "three"}}}, run)
	require.Equal(t, []string{"t2", "t3"}, facts.Order, "a refused call loads nothing, and an alias its tool")
}

func TestAHistoryReadsTheNameAsCallToolDoes(t *testing.T) {
	for _, args := range []string{`{"name":"t1"}`, `{"tool_name":"t1","arguments":{}}`, `{"tool":"t1"}`} {
		var facts turn.Facts
		facts.Add(wire.View{Assistant: true, Calls: []wire.Call{{ID: "1", Name: "call_tool", Args: args}}}, inRun(nil, new([]string)))
		require.Equal(t, []string{"t1"}, facts.Order, args)
	}
}

// A turn is a function of its input, which it does not change. It shows what the conversation loaded,
// the user pinned or an earlier call showed, as far as it exists and is allowed, in that order; nothing
// twice, and no more than the provider takes, unless pins are more. A checkpoint holds its record.
func TestATurnIsAFunctionOfItsInput(t *testing.T) {
	r := random(t)
	for range race.Cases(5000) {
		var facts turn.Facts
		for _, msg := range conversation(r) {
			facts.Add(msg, inRun(nil, new([]string)))
		}
		denied := some(r, 5)
		in := turn.Input{
			Facts: &facts, Loads: r.IntN(4) > 0, Limits: turn.Limits{UnloadAfter: r.IntN(2) * r.IntN(6), MaxTools: r.IntN(2) * r.IntN(12)}, Own: r.IntN(4),
			Has: has, May: func(name string) bool { return !slices.Contains(denied, name) },
		}
		in.Pins = slices.DeleteFunc(some(r, 3), func(name string) bool { return !in.Has(name) })
		if r.IntN(2) == 0 {
			in.Record = turn.Record{Began: true, Visible: some(r, 8), All: r.IntN(4) == 0}
			for range in.Record.Visible {
				in.Record.Idle = append(in.Record.Idle, r.IntN(6))
			}
		}
		if in.Record.All {
			in.All = []string{"t1", "t2", "t3"}
		}
		given, err := json.Marshal([]any{in.Record, facts})
		require.NoError(t, err)
		out, again := turn.Decide(in), turn.Decide(in)
		require.Equal(t, out, again)
		after, err := json.Marshal([]any{in.Record, facts})
		require.NoError(t, err)
		require.Equal(t, string(given), string(after))
		text, err := json.Marshal(out.Record)
		require.NoError(t, err)
		var kept turn.Record
		require.NoError(t, json.Unmarshal(text, &kept))
		back, err := json.Marshal(kept)
		require.NoError(t, err)
		require.Equal(t, string(text), string(back))
		requireShown(t, in, out)
	}
}

func requireShown(t *testing.T, in turn.Input, out turn.Turn) {
	shown := out.Record.Visible
	if in.Record.All {
		require.Equal(t, in.All, shown)
		return
	}
	known := slices.Concat(in.Pins, in.Record.Visible, in.Facts.Order)
	last := -1
	for i, name := range shown {
		require.True(t, in.Has(name) && in.May(name))
		require.NotContains(t, shown[:i], name)
		at := slices.Index(known, name)
		require.Greater(t, at, last, "pins, then those shown before, then new ones")
		last = at
	}
	for _, name := range in.Pins {
		require.Equal(t, in.May(name), slices.Contains(shown, name))
	}
	if in.MaxTools > 0 && in.Own+len(shown) > in.MaxTools {
		require.Subset(t, in.Pins, shown, "only pins are more")
	}
	if !in.Loads {
		require.Subset(t, in.Pins, shown)
		return
	}
	for _, name := range in.Facts.Order {
		require.Equal(t, in.May(name), slices.Contains(shown, name) || slices.Contains(out.Unused, name) && in.May(name), name)
	}
	if in.UnloadAfter > 0 {
		require.Len(t, out.Record.Idle, len(shown))
	}
	requireTheBest(t, in, out)
}

// requireTheBest checks which tools a full request leaves out: none that was used later than one that stays,
// or that came first of those used at the same time, as the best result of a search does.
func requireTheBest(t *testing.T, in turn.Input, out turn.Turn) {
	last := func(name string) int {
		if at, said := in.Facts.Last[name]; said {
			return at
		}
		return in.Facts.ModelCalls - 1 - in.Record.Idle[slices.Index(in.Record.Visible, name)]
	}
	known := slices.Concat(in.Record.Visible, in.Facts.Order)
	for _, gone := range out.Unused {
		if in.UnloadAfter > 0 && in.Facts.ModelCalls-last(gone) >= in.UnloadAfter {
			continue
		}
		for _, name := range out.Record.Visible {
			if slices.Contains(in.Pins, name) {
				continue
			}
			require.GreaterOrEqual(t, last(name), last(gone), "%s stays, %s goes", name, gone)
			if last(name) == last(gone) {
				require.Less(t, slices.Index(known, name), slices.Index(known, gone), "%s stays, %s goes", name, gone)
			}
		}
	}
}
