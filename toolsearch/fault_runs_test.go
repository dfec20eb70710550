// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file interrupts and resumes runs, nests them, repeats model calls, and runs many at once.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

func TestTS16_AnInterruptedToolIsResumedByAnotherProcess(t *testing.T) {
	bothSides(t, resumedElsewhere[*schema.Message], resumedElsewhere[*schema.AgenticMessage])
}

// resumedElsewhere resumes with another instance, as a restart does. Tools of all forms
// run, and what was loaded is loaded.
func resumedElsewhere[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		for name, form := range adktest.Forms {
			agent := func() adktest.Agent[M] {
				tools := append(simples("other"), adktest.Tool(form, &schema.ToolInfo{Name: "waits"}, waits))
				return adktest.Agent[M]{Tools: simples("own"), Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
			}
			tr, _, resume := s.interrupts(t, agent(), adktest.Do(searchFor("1", "select:other,waits")), adktest.Do(callOf("2", "waits"), callOf("3", "other")))
			require.NoError(t, tr.Err)
			require.NotNil(t, tr.Interrupted, "%s, %s", s.name, name)
			after := resume(agent())
			require.NoError(t, after.Err)
			require.Equal(t, `resumed with {"value":"x"}`, after.result("2"), "%s, %s", s.name, name)
			require.Equal(t, `echo {"value":"x"}`, after.result("3"))
			require.Equal(t, "0:own,tool_search,other,waits", after.tools())
		}
	}
}

func TestTS16_TheGateHoldsAfterAResume(t *testing.T) {
	adktest.Both(t, gateAfterResume[*schema.Message], gateAfterResume[*schema.AgenticMessage])
}

// gateAfterResume calls a tool that is not loaded beside one that interrupts, and after it.
func gateAfterResume[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	agent := func() adktest.Agent[M] {
		tools := append(simples("secret", "other"), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, waits))
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
	}
	tr, store, _ := s.interrupts(t, agent(), adktest.Do(searchFor("1", "waits")), adktest.Do(callOf("2", "waits"), callOf("3", "secret")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	next := agent()
	next.Store, next.Streaming, next.Model = store, streaming, adktest.Script[M](adktest.Do(callOf("4", "other"), callOf("5", "waits")), adktest.Do(callOf("6", "other")))
	runner, err := next.Runner(context.Background())
	require.NoError(t, err)
	it, err := runner.Resume(context.Background(), "c")
	require.NoError(t, err)
	out := adktest.Collect(it)
	require.NoError(t, out.Err)
	after := trial[M]{out, next.Model.Wires()}
	require.NotNil(t, after.Interrupted, "the second call of waits interrupts again")
	require.Len(t, after.wires, 1)
	require.Contains(t, after.result("3"), "did not run")
	require.Equal(t, []string{"tool_search", "waits", "secret"}, after.wires[0].ToolNames)
	answers := map[string]string{}
	for _, m := range out.Messages {
		for _, res := range adktest.Results(m) {
			answers[res.ID] = res.Args
		}
	}
	require.Contains(t, answers["4"], "did not run")
}

func TestTS31_ARunThatEinosPackageBeganIsResumed(t *testing.T) {
	bothSides(t, resumesTheirs[*schema.Message], resumesTheirs[*schema.AgenticMessage])
}

func resumesTheirs[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	agent := func(s side[M]) adktest.Agent[M] {
		tools := append(simples("other"), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, waits))
		return adktest.Agent[M]{Tools: simples("own"), Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
	}
	for _, way := range [][2]side[M]{{eino, ours}, {ours, eino}} {
		tr, _, resume := way[0].interrupts(t, agent(way[0]), adktest.Do(searchFor("1", "waits")), adktest.Do(callOf("2", "waits")))
		require.NoError(t, tr.Err)
		after := resume(agent(way[1]))
		require.NoError(t, after.Err)
		require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
		require.Equal(t, "0:own,tool_search,waits", after.tools())
	}
}

func TestSubAgentsSearchForThemselves(t *testing.T) {
	adktest.Both(t, subAgents[*schema.Message], subAgents[*schema.AgenticMessage])
}

// subAgents runs an agent with an agent as its tool. Both search: with an instance each, or
// with the same one. What one loads, the other does not see.
func subAgents[M adk.MessageType](t *testing.T, streaming bool) {
	ctx, s := context.Background(), ourSide[M](streaming)
	for _, shared := range []bool{false, true} {
		outer := s.mustBuild(t, simples("a1", "a2")...)
		inner := outer
		if !shared {
			inner = s.mustBuild(t, simples("a1", "b1")...)
		}
		inside := adktest.Script[M](adktest.Do(searchFor("i1", "a1")), adktest.Do(callOf("i2", "a1")), adktest.Say("inner done"))
		sub, err := adk.NewTypedChatModelAgent[M](ctx, &adk.TypedChatModelAgentConfig[M]{Name: "sub", Description: "a sub agent", Model: inside, Handlers: adktest.Handlers(inner)})
		require.NoError(t, err)
		own := []tool.BaseTool{adk.NewTypedAgentTool[M](ctx, sub)}
		ask2 := adktest.ToolCall{ID: "2", Name: "sub", Args: `{"request":"do it"}`}
		tr := s.run(ask[M](), own, []adktest.Turn{adktest.Do(searchFor("1", "a2")), adktest.Do(ask2, callOf("3", "a2")), adktest.Do(callOf("4", "a1"))}, outer)
		require.NoError(t, tr.Err)
		require.Equal(t, "inner done", tr.result("2"))
		require.Equal(t, `echo {"value":"x"}`, tr.result("3"))
		require.Contains(t, tr.result("4"), "did not run", "the sub agent loaded it, not this one")
		require.Equal(t, "0:sub,tool_search 1:sub,tool_search,a2 2:sub,tool_search,a2 3:sub,tool_search,a2,a1", tr.tools())
		require.Equal(t, "0:tool_search 1:tool_search,a1 2:tool_search,a1", trial[M]{wires: inside.Wires()}.tools())
	}
}

func TestAnAgentCanBeAHiddenTool(t *testing.T) {
	bothSides(t, func(t *testing.T, eino, ours side[*schema.Message]) {
		hiddenAgent(t, eino, einoSide[*schema.Message](eino.streaming))
		hiddenAgent(t, ours, ours)
		hiddenAgent(t, ours, ourSide[*schema.AgenticMessage](ours.streaming))
	}, func(t *testing.T, eino, ours side[*schema.AgenticMessage]) {
		hiddenAgent(t, eino, einoSide[*schema.AgenticMessage](eino.streaming))
		hiddenAgent(t, ours, ours)
		hiddenAgent(t, ours, ourSide[*schema.Message](ours.streaming))
	})
}

// hiddenAgent hides an agent, of the same message type or the other one, which is
// interrupted within a hidden tool of its own.
func hiddenAgent[M, I adk.MessageType](t *testing.T, s side[M], inner side[I]) {
	agent := func(turns ...adktest.Turn) adktest.Agent[M] {
		sub, err := adk.NewTypedChatModelAgent[I](context.Background(), &adk.TypedChatModelAgentConfig[I]{Name: "sub", Description: "a sub agent", Model: adktest.Script[I](turns...),
			Handlers: adktest.Handlers(inner.mustBuild(t, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, waits)))})
		require.NoError(t, err)
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, adk.NewTypedAgentTool[I](context.Background(), sub)))}
	}
	tr, _, resume := s.interrupts(t, agent(adktest.Do(searchFor("i1", "waits")), adktest.Do(callOf("i2", "waits"))),
		adktest.Do(searchFor("1", "sub")), adktest.Do(adktest.ToolCall{ID: "2", Name: "sub", Args: `{"request":"do it"}`}))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted, s.name)
	after := resume(agent(adktest.Say("inner done")))
	require.NoError(t, after.Err)
	require.Equal(t, "inner done", after.result("2"), s.name)
}

func TestModelCallsThatAreRepeatedShowTheSame(t *testing.T) {
	bothSides(t, repeatedCalls[*schema.Message], repeatedCalls[*schema.AgenticMessage])
}

// repeatedCalls lets model calls fail: with a retry, and with another model instead.
func repeatedCalls[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	failed := errors.New("overloaded")
	turns := []adktest.Turn{{Err: failed}, adktest.Do(searchFor("1", "a1")), {Err: failed}, adktest.Do(callOf("2", "a1")), adktest.Say("done")}
	for _, s := range []side[M]{eino, ours} {
		retry := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, simples("a1", "a2")...)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ModelRetryConfig = &adk.TypedModelRetryConfig[M]{MaxRetries: 2, BackoffFunc: func(context.Context, int) time.Duration { return 0 }}
		}}
		tr := s.runAgent(retry, ask[M](), turns...)
		const all = "0:tool_search 1:tool_search 2:tool_search,a1 3:tool_search,a1 4:tool_search,a1"
		require.Equal(t, all, tr.tools(), s.name)
		require.Equal(t, "done", tr.Answer())

		spare := adktest.Script[M](turns[1], turns[3], turns[4])
		over := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, simples("a1", "a2")...)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ModelFailoverConfig = &adk.ModelFailoverConfig[M]{MaxRetries: 1, ShouldFailover: func(context.Context, M, error) bool { return true },
				GetFailoverModel: func(context.Context, *adk.FailoverContext[M]) (model.BaseModel[M], []M, error) {
					return spare, nil, nil
				}}
		}}
		tr = s.runAgent(over, ask[M](), turns[0])
		require.Equal(t, "done", tr.Answer(), s.name)
		require.Equal(t, "0:tool_search 1:tool_search,a1 2:tool_search,a1", trial[M]{wires: spare.Wires()}.tools())
	}
}

func TestOneInstanceServesConcurrentRuns(t *testing.T) {
	adktest.Both(t, concurrentRuns[*schema.Message], concurrentRuns[*schema.AgenticMessage])
}

// concurrentRuns runs agents with and without own tools on one instance and one shared
// history. Each run loads other tools, several at once.
func concurrentRuns[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	h := s.mustBuild(t, simples(numbered(40)...)...)
	history := append(ask[M](), adktest.Assistant[M]("", searchFor("h", "select:tool_039")), adktest.Result[M]("h", "tool_search", `{"matches":["tool_039"]}`), adktest.Assistant[M]("done"), adktest.User[M]("go on"))
	var wait sync.WaitGroup
	for i := range 24 {
		wait.Go(func() {
			a, b := fmt.Sprintf("tool_%03d", i), fmt.Sprintf("tool_%03d", i+1)
			var own []tool.BaseTool
			want := []string{"tool_search", "tool_039", a, b}
			if i%2 == 0 {
				own, want = simples("own"), append([]string{"own"}, want...)
			}
			tr := s.run(history, own, []adktest.Turn{adktest.Do(searchFor("1", "select:"+a), searchFor("2", "select:"+b)), adktest.Do(callOf("3", a), callOf("4", b), callOf("5", "tool_039"))}, h)
			if tr.Err != nil || len(tr.wires) != 3 || !slices.Equal(want, tr.wires[2].ToolNames) || strings.Count(tr.result("3")+tr.result("4")+tr.result("5"), "echo") != 3 {
				t.Error(tr.text())
			}
		})
	}
	wait.Wait()
	require.Len(t, history, 5)
	require.Equal(t, "please", adktest.Text(history[0]))
}

func TestParallelCallsOfOneTurn(t *testing.T) {
	bothSides(t, parallelCalls[*schema.Message], parallelCalls[*schema.AgenticMessage])
}

// parallelCalls searches five times in one turn, and calls all that was found in the next.
func parallelCalls[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	var searches, calls []adktest.ToolCall
	for i, name := range numbered(5) {
		searches = append(searches, searchFor(fmt.Sprint("s", i), "select:"+name))
		calls = append(calls, callOf(fmt.Sprint("c", i), name))
	}
	for _, s := range []side[M]{eino, ours} {
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searches...), adktest.Do(calls...)}, s.mustBuild(t, simples(numbered(9)...)...))
		require.NoError(t, tr.Err)
		require.Equal(t, append([]string{"tool_search"}, numbered(5)...), tr.wires[1].ToolNames, s.name)
		for i := range calls {
			require.Contains(t, tr.result(fmt.Sprint("c", i)), "echo", s.name)
		}
	}
}

// A model that calls a hidden tool twice in one turn has seen its schema for neither.
func TestTS10_BothOfTwoCallsInOneTurnAreGated(t *testing.T) {
	adktest.Both(t, gatedTwice[*schema.Message], gatedTwice[*schema.AgenticMessage])
}

func gatedTwice[M adk.MessageType](t *testing.T, streaming bool) {
	var events []leanctx.Event
	var mu sync.Mutex
	h := with[M](t, &toolsearch.Config{DynamicTools: simples("a1"), OnEvent: func(_ context.Context, e leanctx.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	tr := ourSide[M](streaming).run(ask[M](), nil, []adktest.Turn{adktest.Do(callOf("1", "a1"), callOf("2", "a1")), adktest.Do(callOf("3", "a1"))}, h)
	require.NoError(t, tr.Err)
	require.Contains(t, tr.result("1"), "did not run")
	require.Contains(t, tr.result("2"), "did not run")
	require.Contains(t, tr.result("3"), "echo")
	kinds := map[leanctx.Kind]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	require.Equal(t, map[leanctx.Kind]int{leanctx.KindCatalogChanged: 1, leanctx.KindCallGated: 2, leanctx.KindToolsLoaded: 1}, kinds)
}
