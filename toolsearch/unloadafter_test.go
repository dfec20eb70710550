// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field UnloadAfter.

import (
	"context"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

func TestUnloadAfter_HidesUnusedTools_TS19(t *testing.T) {
	adktest.Both(t, testUnloadAfterHidesUnusedTools[*schema.Message], testUnloadAfterHidesUnusedTools[*schema.AgenticMessage])
}

func testUnloadAfterHidesUnusedTools[M adk.MessageType](t *testing.T, streaming bool) {
	var mu sync.Mutex
	var gone []string
	h := newHandler[M](t, &toolsearch.Config{DynamicTools: simpleTools("a1", "a2", "a3"), UnloadAfter: 2, OnEvent: func(_ context.Context, e einolean.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == einolean.KindToolsUnloaded {
			gone = append(gone, e.Tools.Removed...)
		}
	}})
	tr := ourSide[M](streaming).run(userRequest[M](), nil, []adktest.Turn{
		adktest.Do(searchCall("1", "select:a1,a2,a3")), // 1: all three
		adktest.Do(toolCall("2", "a2")),                // 2: a1 and a3 have not been used for one call
		adktest.Do(toolCall("3", "a2")),                // 3: ... for two: hidden
		adktest.Do(searchCall("4", "select:a1")),       // 4: found again, after a2
		adktest.Do(toolCall("5", "a3")),                // 5: gated, and loaded
		adktest.Do(toolCall("6", "a3")),                // 6: a2 is hidden
	}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, "0:tool_search 1:tool_search,a1,a2,a3 2:tool_search,a1,a2,a3 3:tool_search,a2 4:tool_search,a2,a1 5:tool_search,a1,a3 6:tool_search,a3", tr.tools())
	require.Contains(t, tr.result("5"), "did not run")
	require.Contains(t, tr.result("6"), "echo")
	require.Equal(t, []string{"a1", "a3", "a2", "a1"}, gone)
}

func TestUnloadAfter_StaysHiddenAfterResume_TS19(t *testing.T) {
	adktest.Both(t, testUnloadAfterStaysHiddenAfterResume[*schema.Message], testUnloadAfterStaysHiddenAfterResume[*schema.AgenticMessage])
}

// testUnloadAfterStaysHiddenAfterResume counts on after a resume, also where no message speaks of a tool any
// more: a handler cuts the history down to the last three messages.
func testUnloadAfterStaysHiddenAfterResume[M adk.MessageType](t *testing.T, streaming bool) {
	agent := func() adktest.Agent[M] {
		tools := append(simpleTools("a1", "a2"), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, interruptOnce))
		cut := stateRewriter[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			if n := len(state.Messages); n > 3 {
				state.Messages = state.Messages[n-3:]
			}
		}}
		return adktest.Agent[M]{Handlers: adktest.Handlers(cut, newHandler[M](t, &toolsearch.Config{DynamicTools: tools, UnloadAfter: 4}))}
	}
	s := ourSide[M](streaming)
	tr, store, _ := s.interrupts(t, agent(), adktest.Do(searchCall("1", "select:a1,waits")), adktest.Do(toolCall("2", "waits")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	next := agent()
	next.Store, next.Streaming = store, streaming
	next.Model = adktest.Script[M](adktest.Do(searchCall("3", "a2")), adktest.Do(toolCall("4", "a2")), adktest.Do(toolCall("5", "a2")))
	r, err := next.Runner(context.Background())
	require.NoError(t, err)
	it, err := r.Resume(context.Background(), "c")
	require.NoError(t, err)
	require.NoError(t, adktest.Collect(it).Err)
	require.Equal(t, "0:tool_search,a1,waits 1:tool_search,a1,waits,a2 2:tool_search,a1,waits,a2 3:tool_search,waits,a2", runResult[M]{wires: next.Model.Wires()}.tools())
}
