// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a model call shows, decided on random records and conversations, without an agent.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/race"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// had is a source of tools that are gone.
type had turn.Names

func (h had) isGone(name string) bool { return h[name] }

// randomTurn is the input of a model call: some of the tools t0 to t39 are hidden, and any of
// them may be in the record, in the conversation and in the lists.
func randomTurn(t *testing.T, r *rand.Rand) toolLists {
	some := func(prefix string, n, of int) (names []string) {
		for _, i := range r.Perm(of)[:r.IntN(n+1)] {
			names = append(names, fmt.Sprint(prefix, i))
		}
		return names
	}
	cfg := Config{Protocol: Protocol(r.IntN(4)), AlwaysVisible: some("t", 3, 40), HideAbove: r.IntN(2) * r.IntN(400), MaxTools: r.IntN(2) * r.IntN(20)}
	if cfg.Protocol != SearchCall {
		cfg.UnloadAfter = r.IntN(2) * (1 + r.IntN(5))
	}
	var tools []tool.BaseTool
	for _, name := range some("t", 30, 38) {
		tools = append(tools, withInfo(name, nil))
	}
	cfg.DynamicTools = append(tools, withInfo("always", nil))
	set, err := newSettings(context.Background(), &cfg, false)
	require.NoError(t, err)
	c, err := catalogOf(context.Background(), parts{settings: set})
	require.NoError(t, err)
	said := &turn.Facts{ModelCalls: r.IntN(20)}
	for _, name := range some("t", 20, 40) {
		said.Use(name, newRun(c).heard())
	}
	denied := turn.Names{}
	for _, name := range some("t", 5*r.IntN(2), 40) {
		denied.Add(name)
	}
	in := toolLists{
		catalog: c, own: map[string]*schema.ToolInfo{"own0": {}, "own1": {}, "own2": {}}, said: said,
		may:     func(e *hidden.Tool, _ ...Phase) bool { return !denied[e.Info.Name] },
		sources: had{"t38": true, "t39": true}, follows: r.IntN(2) == 0,
	}
	if in.record.Began = in.follows || r.IntN(2) == 0; in.record.Began {
		in.record.Visible = some("t", 10, 40)
		in.record.All = r.IntN(3) == 0
	}
	for _, name := range slices.Concat(some("own", 3, 3), some("t", 8, 40), some("__einolean_slot_", 3, 9)) {
		in.infos = append(in.infos, &schema.ToolInfo{Name: name})
	}
	return in
}

// The lists are a function of their input, which they do not change. They show what the conversation
// loaded, the user pinned or an earlier call showed, as far as it exists and the Filter allows;
// the agent's own tools stay as they were; nothing is there twice, and no slot. There are no more
// tools than the provider takes, unless the agent or the user insists.
func TestTheListsOfAModelCallAreAFunctionOfTheirInput(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range race.Cases(3000) {
		in := randomTurn(t, r)
		given, infos := in.record, slices.Clone(in.infos)
		text, err := json.Marshal(given)
		require.NoError(t, err)

		out := turn.Decide(in.input())
		lists, _ := in.lists(out.Record.Visible)
		same, _ := in.lists(out.Record.Visible)
		require.Equal(t, namesIn(lists), namesIn(same))
		require.Equal(t, infos, in.infos)
		after, _ := json.Marshal(in.record)
		require.Equal(t, string(text), string(after))

		requireShown(t, in, out, lists)
	}
}

// requireShown checks the list of a turn.
func requireShown(t *testing.T, in toolLists, out turn.Turn, infos []*schema.ToolInfo) {
	require.NotNil(t, infos)
	names := namesIn(infos)
	var own, hidden []string
	for i, name := range names {
		require.False(t, slots.IsName(name))
		require.NotContains(t, names[:i], name, "nothing is there twice")
		switch e := in.catalog.Lookup(name); {
		case e != nil:
			hidden = append(hidden, name)
			require.True(t, in.may(e))
		case strings.HasPrefix(name, "own"):
			own = append(own, name)
		default:
			require.False(t, in.sources.isGone(name))
		}
	}
	require.Equal(t, namesIn(slices.DeleteFunc(slices.Clone(in.infos), func(i *schema.ToolInfo) bool { return !strings.HasPrefix(i.Name, "own") })), own)
	if !in.record.All {
		require.ElementsMatch(t, out.Record.Visible, hidden)
		if most := in.catalog.settings.cfg.MaxTools; most > 0 && len(names) > most {
			for _, name := range hidden {
				require.Contains(t, in.catalog.pins, name)
			}
		}
	}
	for _, name := range out.Record.Visible {
		if !in.record.All && !slices.Contains(in.catalog.pins, name) {
			require.True(t, slices.Contains(in.said.Order, name) || slices.Contains(in.record.Visible, name), name)
		}
	}
	for _, name := range in.said.Order {
		e := in.catalog.Lookup(name)
		if in.may(e) && !in.catalog.settings.cfg.Protocol.neverLoads() && !slices.Contains(out.Unused, name) {
			require.Contains(t, out.Record.Visible, name)
		}
	}
}

func namesIn(infos []*schema.ToolInfo) (names []string) {
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return names
}

// A run that showed all tools before a checkpoint still does after it, whatever the configuration
// says now: the record decides, in the list, in the reminder and for the model.
func TestARunThatShowsAllToolsStaysSoWithoutHideAbove(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{withInfo("a", nil), withInfo("b", nil)}}, false)
	require.NoError(t, err)
	c, err := catalogOf(ctx, parts{settings: set})
	require.NoError(t, err)
	h := newHooks[*schema.Message](newRun(c))
	h.run.record = turn.Record{Began: true, All: true, Visible: []string{"a", "b"}}
	call := adk.ChatModelAgentState{Messages: []*schema.Message{schema.UserMessage("please")}, ToolInfos: []*schema.ToolInfo{{Name: "own"}}}
	require.NoError(t, h.prepare(ctx, &call))
	require.Equal(t, []string{"own", "a", "b"}, namesIn(call.ToolInfos))
	require.Len(t, call.Messages, 1, "nothing is hidden, so there is no list")
	require.True(t, h.all)
}
