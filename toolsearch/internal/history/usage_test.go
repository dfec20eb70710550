// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

// Which tools random messages have used.

// has reports whether a name is that of a hidden tool: t0 to t29 are.
func has(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "t%d", &n)
	return err == nil && n < 30
}

// testAgent has the hidden tools t0 to t29.
type testAgent struct{}

func (testAgent) HasHiddenTool(name string) bool             { return has(name) }
func (testAgent) HasOwnTool(name string) bool                { return name == "own" }
func (testAgent) RequestedTools(jsontext.Arguments) []string { return []string{"t1"} }
func (testAgent) RecordsCalls() bool                         { return true }

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

// anyContents are those of random messages, with searches in text and in a provider's form.
func anyContents(r *rand.Rand) (all []Content) {
	for i := range r.IntN(12) {
		id, name := fmt.Sprint("c", i), []string{"tool_search", "search_tools", "load_tool", "call_tool", "own", fmt.Sprint("t", r.IntN(40))}[r.IntN(6)]
		args := fmt.Sprintf(`{"name":"t%d"}`, r.IntN(40))
		all = append(all, Content{IsAnswer: true, Calls: []Call{{ID: id, Name: name, Args: args}}, HasProviderSearch: r.IntN(9) == 0})
		res := Result{ID: id, Name: name, IsNative: r.IntN(4) == 0, Tools: some(r, 3)}
		if text, err := json.Marshal(map[string]any{"matches": some(r, 4)}); err == nil && !res.IsNative {
			res.Text, res.Tools = string(text), nil
		}
		all = append(all, Content{Results: []Result{res}})
	}
	return all
}

// Usage is of tools that exist, and grows in order, message by message.
func TestUsage_IsOfToolsThatExist(t *testing.T) {
	r := random(t)
	for range race.Cases(2000) {
		var u Usage
		calls := 0
		for _, c := range anyContents(r) {
			before, version := slices.Clone(u.Order), u.Version
			u.Add(c, nil, testAgent{})
			if c.IsAnswer {
				calls++
			}
			require.True(t, slices.Equal(before, u.Order[:len(before)]), "the order only grows at its end")
			require.Equal(t, len(u.Order)-len(before), u.Version-version)
		}
		require.Equal(t, calls, u.ModelCalls)
		require.Len(t, u.LastUse, len(u.Order))
		for i, name := range u.Order {
			require.True(t, has(name))
			require.NotContains(t, u.Order[:i], name)
			require.LessOrEqual(t, u.LastUse[name], calls)
		}
		for name := range u.MissingNames {
			require.False(t, has(name))
		}
	}
}

// A history that is read again in the same run has the same usage, but for results of this run that are not those of
// search tools.
func TestUsage_RestartReadsTheSame(t *testing.T) {
	r := random(t)
	for range race.Cases(1000) {
		all := anyContents(r)
		var u Usage
		for _, c := range all {
			u.Add(c, nil, testAgent{})
		}
		u.isSent = true
		again := u.restart()
		require.Greater(t, again.Version, u.Version)
		for _, c := range all {
			again.Add(c, nil, testAgent{})
		}
		require.Equal(t, u.Order, again.Order)
		require.Equal(t, u.LastUse, again.LastUse)
		require.Equal(t, u.LoadedNatively, again.LoadedNatively)
		require.Equal(t, u.LoadedByText, again.LoadedByText)
	}
}

// A result from before the run loads tools by the name of its call. One of this run does not, unless a search tool of
// the middleware gave it; also when the history is read again.
func TestUsage_RestartTellsResultsOfThisRun(t *testing.T) {
	search := func(id, found string) []Content {
		return []Content{
			{IsAnswer: true, Calls: []Call{{ID: id, Name: "tool_search"}}},
			{Results: []Result{{ID: id, Name: "tool_search", Text: `{"matches":["` + found + `"]}`}}},
		}
	}
	var u Usage
	add := func(all []Content) {
		for _, c := range all {
			u.Add(c, nil, testAgent{})
		}
	}
	add(search("1", "t1"))
	u.isSent = true
	add(search("2", "t2"))
	require.Equal(t, []string{"t1"}, u.Order)
	u = u.restart()
	add(slices.Concat(search("1", "t1"), search("2", "t2")))
	require.Equal(t, []string{"t1"}, u.Order)
}

func TestUsage_OnlySearchesLoadInRun(t *testing.T) {
	outcomes := map[string]runstate.CallOutcome{"search": {IsSearch: true, Loaded: []string{"t2"}}, "denied": {IsRejected: true}, "alias": {Tool: "t3"}}
	u := Usage{isSent: true}
	for _, id := range []string{"other", "search"} {
		u.Add(Content{IsAnswer: true, Calls: []Call{{ID: id, Name: "tool_search"}}}, outcomes, testAgent{})
		u.Add(Content{Results: []Result{{ID: id, Name: "tool_search", Text: `{"matches":["t1"]}`}}}, outcomes, testAgent{})
	}
	require.Equal(t, []string{"t2"}, u.Order)
	u.Add(Content{IsAnswer: true, Calls: []Call{{ID: "denied", Name: "t5"}, {ID: "alias", Name: "three"}}}, outcomes, testAgent{})
	require.Equal(t, []string{"t2", "t3"}, u.Order, "a rejected call loads nothing, and an alias its tool")
}

func TestUsage_ReadsNameInCallTool(t *testing.T) {
	for _, args := range []string{`{"name":"t1"}`, `{"tool_name":"t1","arguments":{}}`, `{"tool":"t1"}`} {
		var u Usage
		u.Add(Content{IsAnswer: true, Calls: []Call{{ID: "1", Name: "call_tool", Args: args}}}, nil, testAgent{})
		require.Equal(t, []string{"t1"}, u.Order, args)
	}
}
