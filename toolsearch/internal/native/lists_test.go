// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package native_test

// The tool lists of random model calls, as plain data.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/native"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/visibility"
)

func random(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// some are at most n of the names with a prefix and a number below of.
func some(r *rand.Rand, prefix string, n, of int) (names []string) {
	for _, i := range r.Perm(of)[:r.IntN(n+1)] {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

func setOf(names ...string) *catalog.Set {
	tools := make([]*catalog.Tool, len(names))
	for i, name := range names {
		info := &schema.ToolInfo{Name: name, Desc: "does " + name, Extra: map[string]any{"_eino_claude_breakpoint": true}}
		tools[i] = &catalog.Tool{Info: info, CheckpointInfo: info}
	}
	return catalog.New(tools)
}

func among(names []string) toolnames.Set {
	in := toolnames.Set{}
	for _, name := range names {
		in.Add(name)
	}
	return in
}

// adapters are all of them, with their message type; "" fits both.
var adapters = map[string]bool{
	native.ClaudeHosted: false, native.ClaudeClient: false,
	native.OpenAIHosted: true, native.OpenAIClient: true, native.AgenticClaudeClient: true,
}

// anyRules are those of an adapter, of Eino, or of none.
func anyRules(t *testing.T, r *rand.Rand) native.Rules {
	all := []string{native.ClaudeHosted, native.ClaudeClient, native.OpenAIHosted, native.OpenAIClient, native.AgenticClaudeClient, ""}
	if r.IntN(2) == 0 {
		return native.NoNative
	}
	name := all[r.IntN(len(all))]
	rules, err := native.Choose(name, nil, adapters[name])
	require.NoError(t, err)
	return rules
}

// someCall is a model call over the tools t0 to t39: any of them may be hidden, gone, in the
// state, in the history and in the lists.
type someCall struct {
	native.ListInput
	denied toolnames.Set
	input  visibility.Input
}

// listAgent has the tools own0 to own2, and t38 and t39 are gone.
type listAgent struct{}

func (listAgent) HasOwnTool(name string) bool { return strings.HasPrefix(name, "own") }
func (listAgent) IsGone(name string) bool     { return name == "t38" || name == "t39" }

// The methods of history.Agent and visibility.Tools.

func (c someCall) HasHiddenTool(name string) bool              { return c.Tools.Lookup(name) != nil }
func (c someCall) HasOwnTool(string) bool                      { return false }
func (c someCall) RequestedTools(jsontext.Arguments) []string  { return nil }
func (c someCall) RecordsCalls() bool                          { return true }
func (c someCall) MayShow(_ context.Context, name string) bool { return !c.denied[name] }

func anyCall(t *testing.T, r *rand.Rand) (c someCall) {
	c.Rules, c.Tools = anyRules(t, r), setOf(append(some(r, "t", 30, 38), "always")...)
	c.AlwaysVisible = slices.DeleteFunc(some(r, "t", 3, 40), func(name string) bool { return c.Tools.Lookup(name) == nil })
	c.SearchToolNames = [][]string{{"tool_search"}, {"search_tools", "load_tool"}, {"tool_search", "call_tool"}}[r.IntN(3)]
	c.Usage = &history.Usage{ModelCalls: r.IntN(20)}
	for _, name := range some(r, "t", 20, 40) {
		c.Usage.MarkUsed(name, c)
	}
	c.Usage.LoadedNatively, c.Usage.LoadedByText = among(some(r, "t", 5, 40)), among(some(r, "t", 5, 40))
	c.PrefetchedNames = among(some(r, "t", 3, 40))
	c.denied = among(some(r, "t", 5*r.IntN(2), 40))
	c.Agent = listAgent{}
	c.MayDefer = func(e *catalog.Tool) bool { return !c.denied[e.Info.Name] }
	c.IsSameProcess = r.IntN(2) == 0
	if c.State.HadModelCall = c.IsSameProcess || r.IntN(2) == 0; c.State.HadModelCall {
		c.State.Visible, c.State.ShowsAll = some(r, "t", 10, 40), r.IntN(3) == 0
	}
	for _, name := range slices.Concat(some(r, "own", 3, 3), some(r, "t", 8, 40), some(r, "__einolean_slot_", 3, 9), c.SearchToolNames) {
		c.Infos = append(c.Infos, &schema.ToolInfo{Name: name})
	}
	for _, name := range slices.Concat(some(r, "other", 2, 2), some(r, "t", 4, 40)) {
		c.DeferredInfos = append(c.DeferredInfos, &schema.ToolInfo{Name: name})
	}
	c.input = visibility.Input{
		State: c.State, Usage: c.Usage, AlwaysVisible: c.AlwaysVisible, CanLoad: r.IntN(4) > 0, Limits: visibility.Limits{UnloadAfter: r.IntN(2) * r.IntN(5)},
	}
	if !c.Rules.Native {
		c.input.Limits.MaxToolsPerRequest, c.input.OtherTools = r.IntN(2)*r.IntN(20), len(c.OwnTools())
	}
	for e := range c.Tools.All() {
		if c.MayDefer(e) {
			c.input.AllowedNames = append(c.input.AllowedNames, e.Info.Name)
		}
	}
	return c
}

// The lists are a function of their input, which they do not change. They have the agent's own tools as they were, and the
// tools that were loaded or always visible, if these exist and the Filter allows them. Nothing is there twice, and no slot.
// There are no more tools than the provider accepts, unless the agent's own and the always visible ones are more.
func TestLists_AreAFunctionOfTheirInput(t *testing.T) {
	r := random(t)
	for range race.Cases(5000) {
		in := anyCall(t, r)
		infos, deferred := slices.Clone(in.Infos), slices.Clone(in.DeferredInfos)
		before, err := json.Marshal(in.State)
		require.NoError(t, err)

		out := visibility.Select(context.Background(), in.input, in)
		list, later := native.Lists(in.ListInput, out.State.Visible)
		again, laterAgain := native.Lists(in.ListInput, out.State.Visible)
		require.Equal(t, namesIn(list), namesIn(again))
		require.Equal(t, namesIn(later), namesIn(laterAgain))
		require.Equal(t, infos, in.Infos)
		require.Equal(t, deferred, in.DeferredInfos)
		after, _ := json.Marshal(in.State)
		require.Equal(t, string(before), string(after))

		requireShown(t, in, out, list)
		requireDeferred(t, in, list, later)
	}
}

// requireShown checks the list of a model call.
func requireShown(t *testing.T, in someCall, out visibility.Selection, infos []*schema.ToolInfo) {
	require.NotNil(t, infos)
	names := namesIn(infos)
	var own, shown []string
	for i, name := range names {
		require.False(t, slots.IsUnusedName(name))
		require.NotContains(t, names[:i], name, "no tool is there twice")
		switch e := in.Tools.Lookup(name); {
		case e != nil:
			shown = append(shown, name)
			require.NotContains(t, in.denied, name)
			require.NotSame(t, e.Info, infos[i], "a handler may change it")
		case strings.HasPrefix(name, "own"):
			own = append(own, name)
		case slices.Contains(in.SearchToolNames, name):
			require.False(t, in.State.ShowsAll || in.Rules.Native && name == "tool_search")
		default:
			require.False(t, in.Agent.IsGone(name))
		}
	}
	require.Equal(t, namesIn(slices.DeleteFunc(slices.Clone(in.Infos), func(i *schema.ToolInfo) bool { return !strings.HasPrefix(i.Name, "own") })), own)
	if in.State.ShowsAll {
		return
	}
	if !in.Rules.Native {
		require.Equal(t, out.State.Visible, append([]string{}, shown...), "at the end, in the order of loading")
		if most := in.input.Limits.MaxToolsPerRequest; most > 0 && len(names) > most {
			for _, name := range shown {
				require.Contains(t, in.AlwaysVisible, name)
			}
		}
	}
	for _, name := range out.State.Visible {
		if !slices.Contains(in.AlwaysVisible, name) {
			require.True(t, slices.Contains(in.Usage.Order, name) || slices.Contains(in.State.Visible, name), name)
		}
	}
	for _, name := range in.Usage.Order {
		if !in.denied[name] && in.input.CanLoad && !slices.Contains(out.Unused, name) {
			require.Contains(t, out.State.Visible, name)
		}
	}
}

// requireDeferred checks the deferred list: where all hidden tools are deferred, each that the Filter
// allows is in exactly one of the lists.
func requireDeferred(t *testing.T, in someCall, infos, deferred []*schema.ToolInfo) {
	shown, later := namesIn(infos), namesIn(deferred)
	for i, name := range later {
		require.NotContains(t, later[:i], name)
	}
	if in.State.ShowsAll || !in.Rules.DeferAll {
		return
	}
	for e := range in.Tools.All() {
		name := e.Info.Name
		switch {
		case !in.denied[name]:
			require.NotEqual(t, slices.Contains(shown, name), slices.Contains(later, name), name)
		case !in.Usage.LoadedNatively[name]: // the history refers to it
			require.NotContains(t, later, name)
		}
	}
	for _, info := range deferred {
		if in.Tools.Lookup(info.Name) != nil && in.Rules.Adapter != "" {
			require.Empty(t, info.Extra, "no provider defers a tool that is a place to cache up to")
			require.NotNil(t, info.ParamsOneOf)
		}
	}
}

// A list that already shows what it should is the same slice; one more tool goes to its end.
func TestLists_GrowOnlyAtTheEnd(t *testing.T) {
	r := random(t)
	for range race.Cases(3000) {
		in := anyCall(t, r)
		in.Rules, in.State.ShowsAll = native.NoNative, false
		var show, more []string
		for e := range in.Tools.All() {
			if more = append(more, e.Info.Name); len(more)%2 == 0 {
				show = append(show, e.Info.Name)
			}
		}
		first, _ := native.Lists(in.ListInput, show)
		in.Infos, in.IsSameProcess = first, true
		same, _ := native.Lists(in.ListInput, show)
		require.True(t, len(first) == 0 || &first[0] == &same[0], "no copy")
		next := slices.DeleteFunc(more, func(name string) bool { return slices.Contains(show, name) })[:1]
		grown, _ := native.Lists(in.ListInput, append(slices.Clip(show), next...))
		require.Len(t, grown, len(first)+1)
		for i, info := range first {
			require.Same(t, info, grown[i], "and keeps what handlers wrote into it")
		}
		require.Equal(t, next[0], grown[len(first)].Name)
	}
}

func namesIn(infos []*schema.ToolInfo) (names []string) {
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return names
}
