// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

const (
	many  = 30  // tools that are loaded at once
	limit = 500 // bytes: less than the answer that loads them
)

// names are those of hidden tools, as MCP servers make them.
func names() (out []string) {
	for i := range many {
		out = append(out, fmt.Sprintf("mcp__issue_tracker__update_item_%02d", i))
	}
	return out
}

func dynamicTools() (out []tool.BaseTool) {
	for _, n := range names() {
		out = append(out, adktest.Simple(n, "updates an item of the issue tracker: "+n))
	}
	return out
}

// big returns more than the limit, and enough to be cleared.
func big() tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schemaInfo{Name: "big", Desc: "returns much"}, func(context.Context, string) (string, error) {
		return strings.Repeat("a long line of output\n", 200), nil
	})
}

func arguments(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// protocol is one way to load tools.
type protocol struct {
	name  string
	set   toolsearch.Protocol
	load  []adktest.ToolCall // in turns of their own; the last one loads
	shows bool               // loaded tools are in the list of tools
}

func protocols() []protocol {
	all := "select:" + strings.Join(names(), ",")
	return []protocol{
		{"Keyword", toolsearch.Keyword, []adktest.ToolCall{{ID: "load", Name: "tool_search", Args: arguments(map[string]any{"query": all, "max_results": many})}}, true},
		{"Regexp", toolsearch.Regexp, []adktest.ToolCall{{ID: "load", Name: "tool_search", Args: arguments(map[string]any{"regex_pattern": "update_item"})}}, true},
		{"SearchLoad", toolsearch.SearchLoad, []adktest.ToolCall{
			{ID: "find", Name: "search_tools", Args: arguments(map[string]any{"query": "update item", "max_results": many})},
			{ID: "load", Name: "load_tool", Args: arguments(map[string]any{"tool_names": names()})}}, true},
		{"SearchCall", toolsearch.SearchCall, []adktest.ToolCall{{ID: "load", Name: "tool_search", Args: arguments(map[string]any{"query": all, "max_results": many})}}, false},
	}
}

// Loaded tools stay loaded, in this run and the next, although results are truncated
// when they return and cleared when they are old.
//
//claim:handlers-02
func TestLoadedTools_StayLoadedWithReduction(t *testing.T) {
	for _, p := range protocols() {
		for _, reduceFirst := range []bool{false, true} {
			for _, streaming := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/reduction first %v/streaming %v", p.name, reduceFirst, streaming), func(t *testing.T) {
					t.Run("Message", func(t *testing.T) { staysLoaded[message](t, p, reduceFirst, streaming) })
					t.Run("AgenticMessage", func(t *testing.T) { staysLoaded[agenticMessage](t, p, reduceFirst, streaming) })
				})
			}
		}
	}
}

func staysLoaded[M adk.MessageType](t *testing.T, p protocol, reduceFirst, streaming bool) {
	ctx := context.Background()
	agent := func(turns ...adktest.Turn) adktest.Agent[M] {
		search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: dynamicTools(), Protocol: p.set, MaxResults: many})
		require.NoError(t, err)
		reduce, err := reduction.NewTyped(ctx, &reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxLengthForTrunc: limit, MaxTokensForClear: 1})
		require.NoError(t, err)
		h := adktest.Handlers(search, reduce)
		if reduceFirst {
			slices.Reverse(h)
		}
		return adktest.Agent[M]{Model: adktest.Script[M](turns...), Tools: []tool.BaseTool{big()}, Handlers: h, Streaming: streaming}
	}
	var turns []adktest.Turn
	for _, c := range p.load {
		turns = append(turns, adktest.Do(c))
	}
	for i := range 3 {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("big", i), Name: "big", Args: "{}"}))
	}
	first := agent(turns...)
	require.NoError(t, first.Run(ctx, []M{adktest.User[M]("update the items")}).Err)
	wires := first.Model.Wires()
	require.Len(t, wires, len(turns)+1)
	for i := len(p.load); i < len(wires); i++ {
		visible(t, p, wires[i], fmt.Sprint("model call ", i))
	}
	last := wires[len(wires)-1]
	require.Contains(t, resultIn(last.Messages, "big0"), "persisted-output", "what loads nothing is cut and cleared")
	if p.set == toolsearch.SearchLoad {
		require.Contains(t, resultIn(last.Messages, "find"), "persisted-output", "candidates load nothing")
	}

	second := agent(adktest.Do(adktest.ToolCall{ID: "again", Name: "big", Args: "{}"}), adktest.Do(useOf(p)))
	history := append(slices.Clone(last.Messages), adktest.Assistant[M]("done"), adktest.User[M]("and now?"))
	out := second.Run(ctx, history)
	require.NoError(t, out.Err)
	wires = second.Model.Wires()
	require.Len(t, wires, 3)
	for i, w := range wires {
		visible(t, p, w, fmt.Sprint("model call ", i, " of the next run"))
	}
	require.Contains(t, resultIn(wires[2].Messages, "use"), "echo", "the tool runs")
}

// useOf calls one of the tools.
func useOf(p protocol) adktest.ToolCall {
	if p.shows {
		return adktest.ToolCall{ID: "use", Name: names()[7], Args: "{}"}
	}
	return adktest.ToolCall{ID: "use", Name: "call_tool", Args: arguments(map[string]any{"name": names()[7], "arguments": map[string]any{}})}
}

// visible fails unless a request shows what was loaded: as tools, or in the answer.
func visible[M adk.MessageType](t *testing.T, p protocol, w adktest.Wire[M], where string) {
	t.Helper()
	answer := resultIn(w.Messages, "load")
	for _, n := range names() {
		require.Contains(t, answer, n, where)
		if p.shows {
			require.Contains(t, w.ToolNames, n, where)
		}
	}
}

func resultIn[M adk.MessageType](msgs []M, id string) string {
	for _, m := range msgs {
		for _, r := range adktest.Results(m) {
			if r.ID == id {
				return r.Args
			}
		}
	}
	return ""
}
