// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Runs that are interrupted and resumed, nested, repeated, at once, and whose streams fail.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/proctest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
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
		tools := append(simples("other"), simples(numbered(200)...)...)
		tools = append(tools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, waits))
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

// An instance that hides nothing of an agent has nothing to do in it, although it hides tools of the
// agent that runs it.
func TestAnAgentInsideWithNothingToHideIsLeftAlone(t *testing.T) {
	adktest.Both(t, nothingToHideInside[*schema.Message], nothingToHideInside[*schema.AgenticMessage])
}

func nothingToHideInside[M adk.MessageType](t *testing.T, streaming bool) {
	ctx, s := context.Background(), ourSide[M](streaming)
	events := &diary{}
	h, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DeferMarkedTools: true, OnEvent: events.write})
	require.NoError(t, err)
	marked := func(name string) tool.BaseTool {
		return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "does " + name, Extra: map[string]any{"defer_loading": true}}, adktest.Echo)
	}
	inside := adktest.Script[M](adktest.Do(callOf("i1", "a1")), adktest.Do(callOf("i2", "plain")), adktest.Say("inner done"))
	late := einorun.New(adding[M]{&adk.TypedBaseChatModelAgentMiddleware[M]{}, []tool.BaseTool{marked("a1")}, 0})
	sub, err := adk.NewTypedChatModelAgent[M](ctx, &adk.TypedChatModelAgentConfig[M]{Name: "sub", Description: "a sub agent", Model: inside, Handlers: adktest.Handlers(h, late),
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: simples("plain")}}})
	require.NoError(t, err)
	own := []tool.BaseTool{adk.NewTypedAgentTool[M](ctx, sub), marked("a1"), marked("a2")}
	ask2 := adktest.ToolCall{ID: "2", Name: "sub", Args: `{"request":"do it"}`}
	tr := s.run(ask[M](), own, []adktest.Turn{adktest.Do(searchFor("1", "a2")), adktest.Do(ask2, callOf("3", "a2"))}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, "inner done", tr.result("2"))
	require.Equal(t, "0:sub,tool_search 1:sub,tool_search,a2 2:sub,tool_search,a2", tr.tools())
	require.Equal(t, "0:plain,a1 1:plain,a1 2:plain,a1", trial[M]{wires: inside.Wires()}.tools())
	notHidden := slices.DeleteFunc(events.events, func(e einolean.Event) bool { return e.Kind != einolean.KindToolsNotHidden })
	require.Len(t, notHidden, 1)
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
//
//claim:security-02
func TestTS10_BothOfTwoCallsInOneTurnAreGated(t *testing.T) {
	adktest.Both(t, gatedTwice[*schema.Message], gatedTwice[*schema.AgenticMessage])
}

func gatedTwice[M adk.MessageType](t *testing.T, streaming bool) {
	var events []einolean.Event
	var mu sync.Mutex
	h := with[M](t, &toolsearch.Config{DynamicTools: simples("a1"), OnEvent: func(_ context.Context, e einolean.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	tr := ourSide[M](streaming).run(ask[M](), nil, []adktest.Turn{adktest.Do(callOf("1", "a1"), callOf("2", "a1")), adktest.Do(callOf("3", "a1"))}, h)
	require.NoError(t, tr.Err)
	require.Contains(t, tr.result("1"), "did not run")
	require.Contains(t, tr.result("2"), "did not run")
	require.Contains(t, tr.result("3"), "echo")
	kinds := map[einolean.Kind]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	require.Equal(t, map[einolean.Kind]int{einolean.KindCatalogChanged: 1, einolean.KindCallGated: 2, einolean.KindToolsLoaded: 1}, kinds)
}

// approval asks a person before it does anything.
func approval(ctx context.Context, args string) (string, error) {
	if was, _, _ := tool.GetInterruptState[string](ctx); !was {
		return "", tool.StatefulInterrupt(ctx, "may I?", args)
	}
	_, _, state := tool.GetInterruptState[string](ctx)
	is, has, answer := tool.GetResumeContext[string](ctx)
	if !is || !has {
		return "", tool.StatefulInterrupt(ctx, "may I, again?", state)
	}
	return "person said " + answer + " to " + state + " and " + args, nil
}

func TestInterruptsInsideHiddenToolsResume(t *testing.T) {
	everywhere(t, interruptsResume[*schema.Message], interruptsResume[*schema.AgenticMessage])
}

func interruptsResume[M adk.MessageType](t *testing.T, streaming bool) {
	const args = `{"what":"it"}`
	for _, c := range []struct {
		protocol toolsearch.Protocol
		find     adktest.Turn
		call     adktest.Turn
		after    string // tools of the model call after the resume
	}{
		{toolsearch.Keyword, do("a", "tool_search", `{"query":"payment"}`), do("b", "bank__make_payment", args), "own tool_search bank__make_payment"},
		{toolsearch.Regexp, do("a", "tool_search", `{"regex_pattern":"payment"}`), do("b", "bank__make_payment", args), "own tool_search bank__make_payment"},
		{toolsearch.SearchLoad, do("a", "load_tool", `{"tool_name":"bank__make_payment"}`), do("b", "bank__make_payment", args), "own search_tools load_tool bank__make_payment"},
		{toolsearch.SearchCall, do("a", "tool_search", `{"query":"payment"}`), do("b", "call_tool", `{"name":"bank__make_payment","arguments":`+args+`}`), "own tool_search call_tool"},
	} {
		for form, f := range adktest.Forms {
			t.Run(c.protocol.String()+"/"+form, func(t *testing.T) {
				s := on[M](t, streaming, c.protocol)
				s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Tool(f, &schema.ToolInfo{Name: "bank__make_payment", Desc: "Makes a payment"}, approval))
				s.store = &adktest.Store{}

				ctx := context.Background()
				agent, _ := s.agent(c.find, c.call)
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				// A second agent takes over, as in another process.
				agent, model := s.agent()
				runner, err := agent.Runner(ctx)
				require.NoError(t, err)
				id := rootCause(first.Interrupted)
				events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{id: "yes"}})
				require.NoError(t, err)
				second := adktest.Collect(events)
				require.NoError(t, second.Err)
				require.Equal(t, "done", second.Answer())

				wires := model.Wires()
				require.Len(t, wires, 1)
				require.Equal(t, c.after, strings.Join(wires[0].ToolNames, " "))
				require.Contains(t, strings.Join(wires[0].MessagesDump, "\n"), "person said yes to "+args+" and "+args)
			})
		}
	}
}

// A tool that a later handler adds keeps its name, and stays, where another process goes on with a run, also if a
// Source has one of that name.
func TestAToolOfALaterHandlerStaysAfterAResume(t *testing.T) {
	everywhere(t, laterStays[*schema.Message], laterStays[*schema.AgenticMessage])
}

func laterStays[M adk.MessageType](t *testing.T, streaming bool) {
	kept := &adktest.Store{}
	process := func(turns ...adktest.Turn) (adktest.Agent[M], *adktest.Model[M]) {
		s, source := liveScene[M](t, streaming)
		s.cfg.OnEvent = func(context.Context, einolean.Event) {}
		s.store, s.mine = kept, []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "pay", Desc: "pays"}, approval)}
		s.behind = adktest.Handlers[M](einorun.New(adding[M]{tools: simples("read_file")}))
		source.have(simples("read_file", "found")...)
		return s.agent(turns...)
	}
	agent, _ := process(do("1", "tool_search", `{"query":"select:found"}`), do("2", "pay", "{}"))
	first := agent.Run(t.Context(), []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)
	agent, m := process(do("3", "read_file", "{}"))
	runner, err := agent.Runner(t.Context())
	require.NoError(t, err)
	events, err := runner.ResumeWithParams(t.Context(), "one", &adk.ResumeParams{Targets: map[string]any{rootCause(first.Interrupted): "yes"}})
	require.NoError(t, err)
	require.NoError(t, adktest.Collect(events).Err)
	for i, w := range m.Wires() {
		require.ElementsMatch(t, []string{"own", "pay", "tool_search", "read_file", "found"}, w.ToolNames, "request %d", i)
	}
}

func rootCause(i *adk.InterruptInfo) string {
	for _, c := range i.InterruptContexts {
		if c.IsRootCause {
			return c.ID
		}
	}
	return ""
}

// A run that stops before a model call has its loaded tools after the resume, and nothing
// more: what was shown is part of the checkpoint.
func TestLoadedToolsSurviveACheckpoint(t *testing.T) {
	everywhere(t, loadedSurvives[*schema.Message], loadedSurvives[*schema.AgenticMessage])
}

func loadedSurvives[M adk.MessageType](t *testing.T, streaming bool) {
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "Asks a person"}, approval)
	s := on[M](t, streaming, toolsearch.Keyword)
	s.store, s.mine = &adktest.Store{}, []tool.BaseTool{ask}
	ctx := context.Background()
	agent, _ := s.agent(do("a", "tool_search", `{"query":"forecast"}`), do("b", "ask", `{}`))
	first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)

	agent, model := s.agent(do("c", "weather__get_forecast", `{"city":"Oslo"}`), do("d", "slack__send_message", `{"channel":"x"}`))
	runner, err := agent.Runner(ctx)
	require.NoError(t, err)
	events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{rootCause(first.Interrupted): "yes"}})
	require.NoError(t, err)
	second := adktest.Collect(events)
	require.NoError(t, second.Err)

	p := played[M]{second, model.Wires(), nil}
	require.Equal(t, "own ask tool_search weather__get_forecast", strings.Split(p.tools(), "\n")[0])
	require.Contains(t, p.answer(t, "c"), `got {"city":"Oslo"}`)
	require.Contains(t, p.answer(t, "d"), "did not run", "it was never loaded")
}

// streams is a tool that streams text, and enhancedStreams one that streams parts.
type streams struct {
	name string
	open func() *schema.StreamReader[string]
}

func (s streams) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "Streams"}, nil
}

func (s streams) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return s.open(), nil
}

type enhancedStreams struct{ streams }

func (s enhancedStreams) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderWithConvert(s.open(), func(text string) (*schema.ToolResult, error) {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
	}), nil
}

// merged is a stream of two named ones.
func merged() *schema.StreamReader[string] {
	return schema.MergeNamedStreamReaders(map[string]*schema.StreamReader[string]{
		"one": schema.StreamReaderFromArray([]string{"first "}), "two": schema.StreamReaderFromArray([]string{"second "}),
	})
}

func TestTheEndOfOneSourceIsNotTheEnd(t *testing.T) {
	everywhere(t, endsInParts[*schema.Message], endsInParts[*schema.AgenticMessage])
}

// endsInParts reads what call_tool makes of the stream. Where the agent streams, it passes
// the ends of the sources on, as a tool of the agent's own does.
func endsInParts[M adk.MessageType](t *testing.T, streaming bool) {
	if streaming && race.Enabled {
		t.Skip("Eino sets a merged stream that it sends as an event while its reader reads it: a race of its own")
	}
	for name, mine := range map[string]tool.BaseTool{"text": streams{"two_parts", merged}, "parts": enhancedStreams{streams{"two_parts", merged}}} {
		t.Run(name, func(t *testing.T) {
			s := on[M](t, streaming, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{mine}
			agent, m := s.agent(do("a", "call_tool", `{"name":"two_parts","arguments":{}}`))
			r, err := agent.Runner(context.Background())
			require.NoError(t, err)
			it := r.Run(context.Background(), []M{adktest.User[M]("please")})
			for {
				ev, ok := it.Next()
				if !ok {
					break
				}
				require.NoError(t, ev.Err)
			}
			wires := m.Wires()
			require.Len(t, wires, 2)
			got := strings.Join(wires[1].MessagesDump, "\n")
			require.Contains(t, got, "first")
			require.Contains(t, got, "second")
		})
	}
}

// given are copies of streams that a tool gave away, as the events of an agent within it.
var given []*schema.StreamReader[string]

// fails is a stream that ends with an error and has a copy elsewhere; closed says that the
// copy was closed before.
func fails(closed bool) func() *schema.StreamReader[string] {
	return func() *schema.StreamReader[string] {
		r, w := schema.Pipe[string](3)
		w.Send("a part", nil)
		w.Send("", errors.New("the connection is gone"))
		w.Close()
		copies := r.Copy(2)
		if closed {
			copies[1].Close()
		}
		given = append(given, copies[1])
		return copies[0]
	}
}

// A stream that is closed twice ends the process in a finalizer, where no test can catch it:
// so the agents run in another process.
func TestFailedStreamsThatNobodyReadsEndNoProcess(t *testing.T) {
	if proctest.Alone(t) {
		everywhere(t, dropsEvents[*schema.Message], dropsEvents[*schema.AgenticMessage])
	}
}

func dropsEvents[M adk.MessageType](t *testing.T, streaming bool) {
	for _, closed := range []bool{false, true} {
		for _, mine := range []tool.BaseTool{streams{"breaks", fails(closed)}, enhancedStreams{streams{"breaks", fails(closed)}}} {
			for protocol, turns := range map[toolsearch.Protocol][]adktest.Turn{
				toolsearch.SearchCall: {do("a", "call_tool", `{"name":"breaks","arguments":{}}`)},
				toolsearch.Keyword:    {do("s", "tool_search", `{"query":"select:breaks"}`), do("a", "breaks", `{}`)},
			} {
				s := on[M](t, streaming, protocol)
				s.cfg.DynamicTools = []tool.BaseTool{mine}
				agent, _ := s.agent(turns...)
				r, err := agent.Runner(context.Background())
				require.NoError(t, err)
				it := r.Run(context.Background(), []M{adktest.User[M]("please")})
				for {
					if _, ok := it.Next(); !ok { // no event is looked at
						break
					}
				}
			}
		}
	}
	for _, c := range given {
		c.SetAutomaticClose() // as Eino does with the streams of events
	}
	given = nil
	collect(t)
}

// collect waits until finalizers that were due have run.
func collect(t testing.TB) {
	for range 3 {
		done := make(chan struct{})
		x := &struct{ text string }{strings.Repeat("x", 64)}
		runtime.SetFinalizer(x, func(*struct{ text string }) { close(done) })
		require.Eventually(t, func() bool {
			runtime.GC()
			select {
			case <-done:
				return true
			default:
				return false
			}
		}, finalizing, time.Millisecond)
	}
}

// A tool that closes the stream that it returns, or returns none, ends no process either.
func TestToolsThatCloseTheirStreamAreRead(t *testing.T) {
	for name, open := range map[string]func() *schema.StreamReader[string]{
		"closed": func() *schema.StreamReader[string] {
			r, w := schema.Pipe[string](1)
			w.Send("whole", nil)
			w.Close()
			r.Close()
			return r
		},
		"none": func() *schema.StreamReader[string] { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := on[*schema.Message](t, false, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{streams{"odd", open}}
			p := s.try([]*schema.Message{schema.UserMessage("please")}, do("a", "call_tool", `{"name":"odd","arguments":{}}`))
			if name == "none" {
				require.ErrorContains(t, p.Err, "returned no stream")
				return
			}
			require.NoError(t, p.Err)
			require.Equal(t, "whole", p.answer(t, "a"))
		})
	}
}
