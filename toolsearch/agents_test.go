// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Several agents, and several runs of one agent.

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func TestAgents_SubAgentsSearchSeparately(t *testing.T) {
	adktest.Both(t, testAgentsSubAgentsSearchSeparately[*schema.Message], testAgentsSubAgentsSearchSeparately[*schema.AgenticMessage])
}

// testAgentsSubAgentsSearchSeparately runs an agent with an agent as its tool. Both search: with an instance each, or
// with the same one. What one loads, the other does not see.
func testAgentsSubAgentsSearchSeparately[M adk.MessageType](t *testing.T, streaming bool) {
	ctx, s := context.Background(), ourSide[M](streaming)
	for _, shared := range []bool{false, true} {
		outer := s.mustBuild(t, simpleTools("a1", "a2")...)
		inner := outer
		if !shared {
			inner = s.mustBuild(t, simpleTools("a1", "b1")...)
		}
		inside := adktest.Script[M](adktest.Do(searchCall("i1", "a1")), adktest.Do(toolCall("i2", "a1")), adktest.Say("inner done"))
		sub, err := adk.NewTypedChatModelAgent[M](ctx, &adk.TypedChatModelAgentConfig[M]{Name: "sub", Description: "a sub agent", Model: inside, Handlers: adktest.Handlers(inner)})
		require.NoError(t, err)
		own := []tool.BaseTool{adk.NewTypedAgentTool[M](ctx, sub)}
		ask2 := adktest.ToolCall{ID: "2", Name: "sub", Args: `{"request":"do it"}`}
		tr := s.run(userRequest[M](), own, []adktest.Turn{adktest.Do(searchCall("1", "a2")), adktest.Do(ask2, toolCall("3", "a2")), adktest.Do(toolCall("4", "a1"))}, outer)
		require.NoError(t, tr.Err)
		require.Equal(t, "inner done", tr.result("2"))
		require.Equal(t, `echo {"value":"x"}`, tr.result("3"))
		require.Contains(t, tr.result("4"), "did not run", "the sub agent loaded it, not this one")
		require.Equal(t, "0:sub,tool_search 1:sub,tool_search,a2 2:sub,tool_search,a2 3:sub,tool_search,a2,a1", tr.tools())
		require.Equal(t, "0:tool_search 1:tool_search,a1 2:tool_search,a1", runResult[M]{wires: inside.Wires()}.tools())
	}
}

func TestAgents_AgentAsHiddenTool(t *testing.T) {
	bothSides(t, func(t *testing.T, eino, ours implementation[*schema.Message]) {
		hiddenAgent(t, eino, einoSide[*schema.Message](eino.streaming))
		hiddenAgent(t, ours, ours)
		hiddenAgent(t, ours, ourSide[*schema.AgenticMessage](ours.streaming))
	}, func(t *testing.T, eino, ours implementation[*schema.AgenticMessage]) {
		hiddenAgent(t, eino, einoSide[*schema.AgenticMessage](eino.streaming))
		hiddenAgent(t, ours, ours)
		hiddenAgent(t, ours, ourSide[*schema.Message](ours.streaming))
	})
}

// hiddenAgent hides an agent, of the same message type or the other one, which is
// interrupted within a hidden tool of its own.
func hiddenAgent[M, I adk.MessageType](t *testing.T, s implementation[M], inner implementation[I]) {
	agent := func(turns ...adktest.Turn) adktest.Agent[M] {
		sub, err := adk.NewTypedChatModelAgent[I](context.Background(), &adk.TypedChatModelAgentConfig[I]{Name: "sub", Description: "a sub agent", Model: adktest.Script[I](turns...),
			Handlers: adktest.Handlers(inner.mustBuild(t, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, interruptOnce)))})
		require.NoError(t, err)
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, adk.NewTypedAgentTool[I](context.Background(), sub)))}
	}
	tr, _, resume := s.interrupts(t, agent(adktest.Do(searchCall("i1", "waits")), adktest.Do(toolCall("i2", "waits"))),
		adktest.Do(searchCall("1", "sub")), adktest.Do(adktest.ToolCall{ID: "2", Name: "sub", Args: `{"request":"do it"}`}))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted, s.name)
	after := resume(agent(adktest.Say("inner done")))
	require.NoError(t, after.Err)
	require.Equal(t, "inner done", after.result("2"), s.name)
}

func TestAgents_DeepAgentSharesInstance(t *testing.T) {
	bothSides(t, testAgentsDeepAgentSharesInstance[*schema.Message], testAgentsDeepAgentSharesInstance[*schema.AgenticMessage])
}

// testAgentsDeepAgentSharesInstance runs Eino's prebuilt agent, which gives its handlers to a general sub-agent as
// well. Two tasks run at once, each of which loads a tool of its own.
func testAgentsDeepAgentSharesInstance[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for _, s := range []implementation[M]{eino, ours} {
		patch, err := patchtoolcalls.NewTyped[M](context.Background(), nil)
		require.NoError(t, err)
		m := &adktest.Model[M]{Respond: func(_ int, w adktest.Wire[M]) adktest.Turn { return deepTurn(w) }}
		a, err := deep.NewTyped(context.Background(), &deep.TypedConfig[M]{Name: "deep", Description: "a deep agent", ChatModel: m,
			Handlers: adktest.Handlers(patch, s.mustBuild(t, simpleTools("a1", "a2", "a3")...))})
		require.NoError(t, err)
		out := adktest.Collect(adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: a, EnableStreaming: s.streaming}).Run(context.Background(), userRequest[M]()))
		require.NoError(t, out.Err)
		require.Equal(t, "done", out.Answer(), s.name)
		wires := m.Wires()
		require.Len(t, wires, 9)
		last := wires[len(wires)-1]
		require.Contains(t, strings.Join(last.MessagesDump, "\n"), "task a1 done")
		require.Contains(t, strings.Join(last.MessagesDump, "\n"), "task a2 done")
		for _, w := range wires {
			task, step := deepTask(w)
			found := strings.Join(w.ToolNames, ",")
			for _, name := range []string{"a1", "a2", "a3"} {
				require.Equal(t, step > 0 && name == task, strings.Contains(found, name), "%s: request %d of %s shows %s", s.name, step, task, found)
			}
		}
	}
}

// deepTask is the tool that an agent is after, by what it was asked, and how far it is.
func deepTask[M adk.MessageType](w adktest.Wire[M]) (name string, step int) {
	name = "a3"
	for _, m := range w.Messages {
		switch {
		case adktest.Role(m) == "assistant":
			step++
		case strings.HasPrefix(adktest.Text(m), "use "):
			name = strings.TrimPrefix(adktest.Text(m), "use ")
		}
	}
	return name, step
}

func deepTurn[M adk.MessageType](w adktest.Wire[M]) adktest.Turn {
	name, step := deepTask(w)
	task := func(id, tool string) adktest.ToolCall {
		return adktest.ToolCall{ID: id, Name: "task", Args: fmt.Sprintf(`{"subagent_type":"general-purpose","description":"use %s"}`, tool)}
	}
	switch {
	case step == 0:
		return adktest.Do(searchCall(name+"-0", "select:"+name))
	case step == 1 && name == "a3":
		return adktest.Do(task("t1", "a1"), task("t2", "a2"), toolCall("t3", "a3"))
	case step == 1:
		return adktest.Do(toolCall(name+"-1", name))
	case name == "a3":
		return adktest.Say("done")
	}
	return adktest.Say("task " + name + " done")
}

func TestAgents_ConcurrentRunsShareInstance(t *testing.T) {
	adktest.Both(t, testAgentsConcurrentRunsShareInstance[*schema.Message], testAgentsConcurrentRunsShareInstance[*schema.AgenticMessage])
}

// testAgentsConcurrentRunsShareInstance runs agents with and without own tools on one instance and one shared
// history. Each run loads other tools, several at once.
func testAgentsConcurrentRunsShareInstance[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	h := s.mustBuild(t, simpleTools(numberedNames(40)...)...)
	history := append(userRequest[M](), adktest.Assistant[M]("", searchCall("h", "select:tool_039")), adktest.Result[M]("h", "tool_search", `{"matches":["tool_039"]}`), adktest.Assistant[M]("done"), adktest.User[M]("go on"))
	var wait sync.WaitGroup
	for i := range 24 {
		wait.Go(func() {
			a, b := fmt.Sprintf("tool_%03d", i), fmt.Sprintf("tool_%03d", i+1)
			var own []tool.BaseTool
			want := []string{"tool_search", "tool_039", a, b}
			if i%2 == 0 {
				own, want = simpleTools("own"), append([]string{"own"}, want...)
			}
			tr := s.run(history, own, []adktest.Turn{adktest.Do(searchCall("1", "select:"+a), searchCall("2", "select:"+b)), adktest.Do(toolCall("3", a), toolCall("4", b), toolCall("5", "tool_039"))}, h)
			if tr.Err != nil || len(tr.wires) != 3 || !slices.Equal(want, tr.wires[2].ToolNames) || strings.Count(tr.result("3")+tr.result("4")+tr.result("5"), "echo") != 3 {
				t.Error(tr.text())
			}
		})
	}
	wait.Wait()
	require.Len(t, history, 5)
	require.Equal(t, "please", adktest.Text(history[0]))
}

func TestAgents_ParallelCallsOfBatch(t *testing.T) {
	bothSides(t, testAgentsParallelCallsOfBatch[*schema.Message], testAgentsParallelCallsOfBatch[*schema.AgenticMessage])
}

// testAgentsParallelCallsOfBatch searches five times in one turn, and calls all that was found in the next.
func testAgentsParallelCallsOfBatch[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	var searches, calls []adktest.ToolCall
	for i, name := range numberedNames(5) {
		searches = append(searches, searchCall(fmt.Sprint("s", i), "select:"+name))
		calls = append(calls, toolCall(fmt.Sprint("c", i), name))
	}
	for _, s := range []implementation[M]{eino, ours} {
		tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(searches...), adktest.Do(calls...)}, s.mustBuild(t, simpleTools(numberedNames(9)...)...))
		require.NoError(t, tr.Err)
		require.Equal(t, append([]string{"tool_search"}, numberedNames(5)...), tr.wires[1].ToolNames, s.name)
		for i := range calls {
			require.Contains(t, tr.result(fmt.Sprint("c", i)), "echo", s.name)
		}
	}
}

// A tool of a run that is over can be collected, whatever the instance remembers.
func TestAgents_ToolsOfEndedRunAreCollected(t *testing.T) {
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DeferMarkedTools: true, NewIndex: index.BM25})
	require.NoError(t, err)
	type held struct{ text string }
	run := func() weak.Pointer[held] {
		x := &held{"something large"}
		mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "reset", Desc: "Resets everything", Extra: map[string]any{"defer_loading": true}},
			func(context.Context, string) (string, error) { return x.text, nil })
		out := adktest.Agent[*schema.Message]{
			Model: adktest.Script[*schema.Message](oneCall("a", "tool_search", `{"query":"resets"}`), oneCall("b", "reset", `{}`)),
			Tools: []tool.BaseTool{mine}, Handlers: adktest.Handlers(h),
		}.Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
		require.NoError(t, out.Err)
		return weak.Make(x)
	}
	first := run()
	run()
	require.Eventually(t, func() bool { runtime.GC(); return first.Value() == nil }, finalizing, finalizing/6000, "a run that is over holds on")
}
