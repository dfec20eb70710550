// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Reduction counts each request as the model gets it, with all that toolsearch adds to it, in either order of the two.
// That costs nobody a question: the source and the filter are asked once in a model call.
func TestTokenCounter_CountsTheRequestInEitherOrder(t *testing.T) {
	adktest.Both(t, testCountsRequest[message], testCountsRequest[agenticMessage])
}

func testCountsRequest[M adk.MessageType](t *testing.T, streaming bool) {
	for _, p := range protocols() {
		for _, limit := range []int{0, 100_000} {
			asked := map[bool]askedTools{}
			for _, isReduceFirst := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/limit %d/reduction first %v", p.name, limit, isReduceFirst), func(t *testing.T) {
					asked[isReduceFirst] = countsRequest[M](t, streaming, p, limit, isReduceFirst)
				})
			}
			require.Equal(t, asked[false], asked[true])
		}
	}
}

// askedTools is how often an agent's source and filter were asked.
type askedTools struct{ source, filter int64 }

// countingSource is a source that counts how often it is asked.
type countingSource struct {
	*toolset.Set
	asked atomic.Int64
}

func (s *countingSource) Tools(context.Context) (*toolset.Set, error) {
	s.asked.Add(1)
	return s.Set, nil
}

func countsRequest[M adk.MessageType](
	t *testing.T, streaming bool, p protocol, limit int, isReduceFirst bool,
) askedTools {
	search := toolsearch.Config{Protocol: p.set, MinTokensToHide: limit}
	all, err := toolset.New(context.Background(), dynamicTools()...)
	require.NoError(t, err)
	var filtered atomic.Int64
	source := &countingSource{Set: all}
	search.Source = source
	search.Filter = func(context.Context, toolsearch.FilterRequest) (bool, error) {
		filtered.Add(1)
		return true, nil
	}
	if p.set != toolsearch.Regexp {
		search.Prefetch = 2
	}
	var counted []string // messages and tools of the first count in a model call
	isNew := true
	reduce := reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxTokensForClear: 1000}
	reduce.TokenCounter = func(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
		if isNew {
			counted = append(dumps(msgs), adktest.Names(tools)...)
		}
		isNew = false
		return 10, nil
	}
	handlers := adktest.Handlers(searchOf[M](t, search), reductionOf(t, reduce))
	if isReduceFirst {
		slices.Reverse(handlers)
	}
	m := &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		isNew = true
		require.Equal(t, append(slices.Clone(w.MessagesDump), w.ToolNames...), counted, "request %d", n)
		switch {
		case n < len(p.load) && limit == 0:
			return adktest.Do(p.load[n])
		case n < 4:
			return call(fmt.Sprint("big", n), "big", nil)
		}
		return adktest.Say("done")
	}}
	agent := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{big()}, Handlers: handlers, Streaming: streaming}
	require.NoError(t, agent.Run(context.Background(), user[M]()).Err)
	return askedTools{source.asked.Load(), filtered.Load()}
}

// An agent that is a tool of another one has its own requests: reduction adds nothing to them that the toolsearch of the
// agent around it shows.
func TestSubAgent_HasNoToolsOfTheAgentAroundIt(t *testing.T) {
	adktest.Both(t, testSubAgentRequests[message], testSubAgentRequests[agenticMessage])
}

func testSubAgentRequests[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	for _, isReduceFirst := range []bool{false, true} {
		reduce := func() handler[M] {
			return reductionOf(t, reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxTokensForClear: 1})
		}
		inner := adktest.Script[M](call("a", "big", nil), call("b", "big", nil))
		sub, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
			Name: "sub", Description: "does a part", Model: inner, ToolsConfig: tools(big()),
			Handlers: []handler[M]{reduce()},
		})
		require.NoError(t, err)
		handlers := adktest.Handlers(searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools(), Prefetch: 1}), reduce())
		if isReduceFirst {
			slices.Reverse(handlers)
		}
		turns := []adktest.Turn{
			find(names()[7]), call("sub", "sub", map[string]any{"request": "update item 7"}), call("use", names()[7], nil),
		}
		out, wires := run(streaming, []tool.BaseTool{adk.NewTypedAgentTool(ctx, adk.TypedAgent[M](sub))}, user[M](), turns, handlers...)
		require.NoError(t, out.Err)
		require.Len(t, inner.Wires(), 3)
		for _, w := range inner.Wires() {
			require.Equal(t, []string{"big"}, w.ToolNames)
			require.False(t, lists(w))
		}
		require.Contains(t, resultIn(inner.Wires()[2].Messages, "a"), "persisted-output")
		require.Contains(t, resultIn(wires[3].Messages, "use"), "echo")
	}
}
