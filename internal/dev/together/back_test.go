// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

// The way back to Eino's own packages.

import (
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
)

// A conversation made with einolean continues with Eino's own packages, over the same store and with every
// protocol: tools that tool_search loaded are there, others are found again.
//
//claim:migration-01
func TestConversation_ContinuesWithEinosPackages(t *testing.T) {
	adktest.Both(t, goesBack[message], goesBack[agenticMessage])
}

func goesBack[M adk.MessageType](t *testing.T, streaming bool) {
	want := names()[7]
	for protocol, turns := range map[toolsearch.Protocol][]adktest.Turn{
		toolsearch.Keyword:    {call("s", "tool_search", map[string]any{"query": "select:" + want}), call("u", want, nil)},
		toolsearch.SearchLoad: {call("l", "load_tool", map[string]any{"names": []string{want}}), call("u", want, nil)},
		toolsearch.SearchCall: {call("c", "call_tool", map[string]any{"name": want, "arguments": map[string]any{}})},
	} {
		store := filesystem.NewInMemoryBackend()
		turns = append(turns, call("b1", "big", nil), call("b2", "big", nil), adktest.Say("done"))
		out, _ := run(streaming, tools(big()).Tools, user[M](), turns,
			searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools(), Protocol: protocol}),
			reductionOf(t, reduction.TypedConfig[M]{Backend: store, ProvideReadTool: true, MaxLengthForTrunc: 600}))
		require.NoError(t, out.Err, protocol)

		search, err := einosearch.NewTyped[M](t.Context(), &einosearch.Config{DynamicTools: dynamicTools()})
		require.NoError(t, err)
		reduce, err := einoreduction.NewTyped(t.Context(), &einoreduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 600, MaxTokensForClear: 300})
		require.NoError(t, err)
		history := append(append(user[M](), out.Messages...), user[M]()...)
		back, wires := run(streaming, tools(big()).Tools, history,
			[]adktest.Turn{call("s2", "tool_search", map[string]any{"query": "select:" + want}), call("u2", want, nil), call("b3", "big", nil), adktest.Say("done again")}, search, reduce)
		require.NoError(t, back.Err, protocol)
		require.Equal(t, "done again", back.Answer(), protocol)
		require.Len(t, wires, 4, protocol)
		require.Equal(t, protocol == toolsearch.Keyword, slices.Contains(wires[0].ToolNames, want), "%v: what tool_search loaded is loaded at once", protocol)
		require.Contains(t, wires[1].ToolNames, want, "%v: and found again", protocol)
		require.NotEmpty(t, resultIn(wires[2].Messages, "u2"), protocol)
		require.Contains(t, resultIn(wires[3].Messages, "b3"), "persisted-output", "%v: its reduction cuts as before", protocol)
	}
}
