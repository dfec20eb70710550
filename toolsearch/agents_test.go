// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Agents in which something else has a hand in the tools, and tools that look the same in two
// runs and are not.

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

// with makes our middleware of a Config.
func with[M adk.MessageType](t testing.TB, c *toolsearch.Config) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := toolsearch.NewTyped[M](context.Background(), c)
	require.NoError(t, err)
	return h
}

//claim:security-02
func TestX05_AnAliasOfADynamicToolDoesNotPassTheGate(t *testing.T) {
	bothSides(t, aliasAtGate[*schema.Message], aliasAtGate[*schema.AgenticMessage])
}

func aliasAtGate[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	play := func(s side[M]) trial[M] {
		tr := s.runAgent(aliased(s.mustBuild(t, simples("get_weather")...), "get_weather", "wx"), ask[M](), adktest.Do(callOf("1", "wx")), adktest.Do(callOf("2", "wx")))
		require.NoError(t, tr.Err)
		return tr
	}
	require.Contains(t, play(eino).result("1"), "echo")
	o := play(ours)
	require.Contains(t, o.result("1"), `Call "get_weather" again`)
	require.Equal(t, []string{"own", "tool_search", "get_weather"}, o.wires[1].ToolNames, "it is loaded, as the model was told")
	require.Contains(t, o.result("2"), "echo")
}

// A run that the model calls a tool of under an alias only keeps it in use.
func TestX05_ACallUnderAnAliasIsAUse(t *testing.T) {
	adktest.Both(t, aliasIsUse[*schema.Message], aliasIsUse[*schema.AgenticMessage])
}

func aliasIsUse[M adk.MessageType](t *testing.T, streaming bool) {
	h := with[M](t, &toolsearch.Config{DynamicTools: append(simples(numbered(200)...), simples("get_weather", "send_mail")...), UnloadAfter: 2})
	turns := []adktest.Turn{adktest.Do(searchFor("0", "select:get_weather,send_mail"))}
	for _, id := range []string{"1", "2", "3", "4"} {
		turns = append(turns, adktest.Do(callOf(id, "wx")))
	}
	tr := ourSide[M](streaming).runAgent(aliased(h, "get_weather", "wx"), ask[M](), turns...)
	require.NoError(t, tr.Err)
	require.Equal(t, []string{"own", "tool_search", "get_weather"}, tr.wires[5].ToolNames)
	require.Contains(t, tr.result("4"), "echo")
}

func TestOwnToolsMayBearTheNamesOfOtherProtocols(t *testing.T) {
	bothSides(t, ownProtocolNames[*schema.Message], ownProtocolNames[*schema.AgenticMessage])
}

func ownProtocolNames[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	answer := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "load_tool"}, func(context.Context, string) (string, error) { return `{"loaded":["a1"]}`, nil })
	turns := []adktest.Turn{adktest.Do(callOf("1", "load_tool"), adktest.ToolCall{ID: "2", Name: "call_tool", Args: `{"name":"a1"}`})}
	for _, s := range []side[M]{eino, ours} {
		tr := s.run(ask[M](), append(simples("call_tool"), answer), turns, s.mustBuild(t, simples("a1")...))
		require.NoError(t, tr.Err)
		require.Equal(t, "0:call_tool,load_tool,tool_search 1:call_tool,load_tool,tool_search", tr.tools(), s.name)
		native := s.run(ask[M](), append(simples("call_tool"), answer), turns, s.mustBuildNative(t, simples("a1")...))
		require.NoError(t, native.Err)
		require.Equal(t, "0:call_tool,load_tool deferred:a1 1:call_tool,load_tool deferred:a1", native.tools(), s.name)
	}
}

func TestAToolThatAnotherHandlerShowsCanBeCalled(t *testing.T) {
	bothSides(t, shownByAnother[*schema.Message], shownByAnother[*schema.AgenticMessage])
}

func shownByAnother[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		first := true
		show := rewriting[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			if first {
				state.ToolInfos = append(state.ToolInfos, &schema.ToolInfo{Name: "a1", Desc: "shown by another"})
			}
			first = false
		}}
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(callOf("1", "a1")), adktest.Do(callOf("2", "a1"))}, s.mustBuild(t, simples("a1", "a2")...), show)
		require.NoError(t, tr.Err)
		require.Equal(t, "0:tool_search,a1 1:tool_search,a1 2:tool_search,a1", tr.tools(), s.name)
		require.Contains(t, tr.result("1"), "echo", s.name)
		require.Equal(t, "shown by another", tr.wires[2].Tools[1].Desc, s.name)
	}
}

// The gate's answer to a tool that returns directly would be the answer of the agent.
func TestAToolThatReturnsDirectlyIsNotGated(t *testing.T) {
	bothSides(t, returnsDirectly[*schema.Message], returnsDirectly[*schema.AgenticMessage])
}

func returnsDirectly[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		a := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, simples("a1")...)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ToolsConfig.ReturnDirectly = map[string]bool{"a1": true}
		}}
		tr := s.runAgent(a, ask[M](), adktest.Do(callOf("1", "a1")))
		require.NoError(t, tr.Err)
		require.Equal(t, `echo {"value":"x"}`, tr.Answer(), s.name)
	}
}

func TestAnInstanceWithNothingToHideTouchesNothing(t *testing.T) {
	adktest.Both(t, nothingToHide[*schema.Message], nothingToHide[*schema.AgenticMessage])
}

func nothingToHide[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	idle := with[M](t, &toolsearch.Config{DeferMarkedTools: true})
	require.Equal(t, "0:own", s.run(ask[M](), simples("own"), nil, idle).tools())
	_, text := reminders(s.run(ask[M](), nil, nil, s.mustBuild(t, simples("a1")...)).wires[0])
	history := []M{adktest.User[M](text), adktest.User[M]("please")}
	require.Equal(t, 2, len(s.run(history, simples("own"), nil, idle).wires[0].Messages), "what looks like a reminder is not its own")
	for _, handlers := range [][]adk.TypedChatModelAgentMiddleware[M]{{idle, s.mustBuild(t, simples("a1")...)}, {s.mustBuild(t, simples("a1")...), idle}} {
		tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, handlers...)
		require.NoError(t, tr.Err)
		require.Equal(t, "0:own,tool_search 1:own,tool_search,a1", tr.tools())
		require.Equal(t, "1 reminder: a1", announced(tr.wires[1]))
	}
}

func TestX09_OneInstanceTwiceAsksItsFilterOnce(t *testing.T) {
	adktest.Both(t, twiceFiltered[*schema.Message], twiceFiltered[*schema.AgenticMessage])
}

func twiceFiltered[M adk.MessageType](t *testing.T, streaming bool) {
	var mu sync.Mutex
	asked := map[string]int{}
	h := with[M](t, &toolsearch.Config{DynamicTools: simples("a1"), Filter: func(_ context.Context, q toolsearch.FilterRequest) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[q.Tool.Name+" "+string(q.Phase)]++
		return true, nil
	}})
	require.NoError(t, ourSide[M](streaming).run(ask[M](), nil, nil, h, h).Err)
	require.Equal(t, map[string]int{"a1 list": 1}, asked)
}

// adding is a handler that adds tools to a run.
type adding[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	tools []tool.BaseTool
	drops int // how many of the first tools it takes away
}

func (a adding[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	rc.Tools = append(append([]tool.BaseTool(nil), rc.Tools[a.drops:]...), a.tools...)
	return ctx, nil
}

func TestTS07_AClashWithAToolOfALaterHandlerIsAnErrorToo(t *testing.T) {
	bothSides(t, laterClash[*schema.Message], laterClash[*schema.AgenticMessage])
}

func laterClash[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, name := range []string{"a1", "tool_search"} {
		e := eino.run(ask[M](), nil, nil, eino.mustBuild(t, simples("a1")...), einorun.New(adding[M]{tools: simples(name)}))
		require.NoError(t, e.Err)
		o := ours.run(ask[M](), nil, nil, ours.mustBuild(t, simples("a1")...), einorun.New(adding[M]{tools: simples(name)}))
		require.ErrorContains(t, o.Err, `"`+name+`"`)
		require.Empty(t, o.wires)
	}
	o := ours.run(ask[M](), nil, nil, ours.mustBuild(t, simples("a1")...), einorun.New(adding[M]{tools: simples("a1"), drops: 1}))
	require.ErrorContains(t, o.Err, `"a1"`, "also where the list is no longer than before")
	// What does not clash is as good as an own tool.
	for _, s := range []side[M]{eino, ours} {
		load := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "load_tool"}, func(context.Context, string) (string, error) { return `{"loaded":["a1"],"matches":["a1"]}`, nil })
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(callOf("1", "load_tool"))}, s.mustBuild(t, simples("a1")...), einorun.New(adding[M]{tools: []tool.BaseTool{load}}))
		require.NoError(t, tr.Err)
		require.Equal(t, "0:tool_search,load_tool 1:tool_search,load_tool", tr.tools(), s.name)
	}
}

// Only what a search found is loaded, not what looks like it.
func TestX05_AResultOfAToolThatIsGoneIsNoSearch(t *testing.T) {
	adktest.Both(t, noSearch[*schema.Message], noSearch[*schema.AgenticMessage])
}

func noSearch[M adk.MessageType](t *testing.T, streaming bool) {
	for args, want := range map[string]string{`{"pattern":"a1","path":"/"}`: "0:tool_search", `{"query":"a1"}`: "0:tool_search", `{"regex_pattern":"a1"}`: "0:tool_search", ``: "0:tool_search"} {
		history := append(ask[M](), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "grep", Args: args}), adktest.Result[M]("1", "grep", `{"matches":["a1"]}`),
			adktest.Result[M]("2", "grep", `{"matches":["a2"]}`), adktest.User[M]("go on"))
		tr := ourSide[M](streaming).run(history, nil, nil, ourSide[M](streaming).mustBuild(t, simples("a1", "a2")...))
		require.NoError(t, tr.Err)
		require.Equal(t, want, tr.tools(), args)
	}
}

// Who calls the hooks by hand may use one state all along.
func TestHooksTakeOneStateForManyModelCalls(t *testing.T) {
	adktest.Both(t, oneState[*schema.Message], oneState[*schema.AgenticMessage])
}

func oneState[M adk.MessageType](t *testing.T, streaming bool) {
	h := with[M](t, &toolsearch.Config{DynamicTools: simples("a1")})
	rc := &einorun.RunContext{}
	ctx, err := einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	state := &adk.TypedChatModelAgentState[M]{Messages: ask[M]()}
	for _, tl := range rc.Tools {
		info, err := tl.Info(ctx)
		require.NoError(t, err)
		state.ToolInfos = append(state.ToolInfos, info)
	}
	_, state, err = h.BeforeModelRewriteState(ctx, state, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"tool_search"}, adktest.Names(state.ToolInfos))
	state.Messages = append(state.Messages, adktest.Assistant[M]("", searchFor("1", "a1")), adktest.Result[M]("1", "tool_search", `{"matches":["a1"]}`))
	_, state, err = h.BeforeModelRewriteState(ctx, state, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"tool_search", "a1"}, adktest.Names(state.ToolInfos))
}

func TestTS11_ToolsStayWhereEinosReductionClearsTheSearch(t *testing.T) {
	bothSides(t, besideReduction[*schema.Message], besideReduction[*schema.AgenticMessage])
}

// besideReduction clears every result but the last, in the agent's own messages. Within the
// run that costs nobody a tool; in the next one only Eino's package loses it.
func besideReduction[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for s, want := range map[*side[M]]string{&eino: "0:tool_search", &ours: "0:tool_search,a1"} {
		clearing, err := einoreduction.NewTyped[M](context.Background(), &einoreduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1})
		require.NoError(t, err)
		h := s.mustBuild(t, simples("a1", "a2")...)
		turns := []adktest.Turn{adktest.Do(searchFor("1", "select:a1")), adktest.Do(callOf("2", "a1")), adktest.Do(callOf("3", "a1"))}
		for _, order := range [][]adk.TypedChatModelAgentMiddleware[M]{{clearing, h}, {h, clearing}} {
			tr := s.run(ask[M](), nil, turns, order...)
			require.NoError(t, tr.Err)
			require.Contains(t, tr.result("1"), "cleared")
			require.Equal(t, "0:tool_search 1:tool_search,a1 2:tool_search,a1 3:tool_search,a1", tr.tools(), s.name)
			require.Contains(t, tr.result("3"), "echo")
			then := s.run(kept(tr), nil, nil, h)
			require.NoError(t, then.Err)
			require.Equal(t, want, then.tools(), s.name)
		}
	}
}

func TestOneInstanceServesEveryAgentOfADeepAgent(t *testing.T) {
	bothSides(t, deepAgent[*schema.Message], deepAgent[*schema.AgenticMessage])
}

// deepAgent runs Eino's prebuilt agent, which gives its handlers to a general sub-agent as
// well. Two tasks run at once, each of which loads a tool of its own.
func deepAgent[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		patch, err := patchtoolcalls.NewTyped[M](context.Background(), nil)
		require.NoError(t, err)
		m := &adktest.Model[M]{Respond: func(_ int, w adktest.Wire[M]) adktest.Turn { return deepTurn(w) }}
		a, err := deep.NewTyped(context.Background(), &deep.TypedConfig[M]{Name: "deep", Description: "a deep agent", ChatModel: m,
			Handlers: adktest.Handlers(patch, s.mustBuild(t, simples("a1", "a2", "a3")...))})
		require.NoError(t, err)
		out := adktest.Collect(adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: a, EnableStreaming: s.streaming}).Run(context.Background(), ask[M]()))
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
		return adktest.Do(searchFor(name+"-0", "select:"+name))
	case step == 1 && name == "a3":
		return adktest.Do(task("t1", "a1"), task("t2", "a2"), callOf("t3", "a3"))
	case step == 1:
		return adktest.Do(callOf(name+"-1", name))
	case name == "a3":
		return adktest.Say("done")
	}
	return adktest.Say("task " + name + " done")
}

// brings is a handler that brings tools of its own into each run.
type brings[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	tools func(context.Context) []tool.BaseTool
}

func (b brings[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	rc.Tools = append(append([]tool.BaseTool(nil), rc.Tools...), b.tools(ctx)...)
	return ctx, nil
}

type ownerKey struct{}

func owner(ctx context.Context) string { s, _ := ctx.Value(ownerKey{}).(string); return s }

// ofOwner is a tool that differs from another owner's in Extra alone.
func ofOwner(name string) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "reset", Desc: "Resets everything", Extra: map[string]any{
		"owner": name, "defer_loading": true, "nested": map[string]any{"list": []any{name}},
	}}, func(context.Context, string) (string, error) { return "reset by " + name, nil })
}

//claim:security-09
func TestEachRunIsAskedAboutItsOwnTools(t *testing.T) {
	everywhere(t, asksAboutOwn[*schema.Message], asksAboutOwn[*schema.AgenticMessage])
}

func asksAboutOwn[M adk.MessageType](t *testing.T, streaming bool) {
	for name, hide := range map[string]func(*toolsearch.Config){
		"SearchableTools":  func(c *toolsearch.Config) { c.SearchableTools = []string{"reset"} },
		"DeferMarkedTools": func(c *toolsearch.Config) { c.DeferMarkedTools = true },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := toolsearch.Config{Filter: func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
				return r.Tool.Extra["owner"] != "guest", nil
			}}
			hide(&cfg)
			h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
			require.NoError(t, err)
			for i, user := range []string{"root", "guest", "staff", "root"} {
				ctx := context.WithValue(context.Background(), ownerKey{}, user)
				m := adktest.Script[M](do("a", "tool_search", `{"query":"select:reset"}`), do("b", "reset", `{}`))
				out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers[M](
					einorun.New(brings[M]{tools: func(ctx context.Context) []tool.BaseTool { return []tool.BaseTool{ofOwner(owner(ctx))} }}), h,
				)}.Run(ctx, []M{adktest.User[M]("please")})
				p := played[M]{Outcome: out}
				require.NoError(t, out.Err)
				if user == "guest" {
					require.Contains(t, p.answer(t, "b"), `There is no tool named "reset".`, "run %d", i)
					require.Equal(t, []string{"tool_search"}, m.Wires()[1].ToolNames)
					continue
				}
				require.Equal(t, "reset by "+user, p.answer(t, "b"), "run %d", i)
				tools := m.Wires()[1].Tools
				require.Equal(t, user, tools[len(tools)-1].Extra["owner"], "run %d", i)
			}
		})
	}
}

// A tool of a run that is over can be collected, whatever the instance remembers.
func TestToolsOfAnEarlierRunAreLetGo(t *testing.T) {
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DeferMarkedTools: true, NewIndex: index.BM25})
	require.NoError(t, err)
	type held struct{ text string }
	run := func() weak.Pointer[held] {
		x := &held{"something large"}
		mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "reset", Desc: "Resets everything", Extra: map[string]any{"defer_loading": true}},
			func(context.Context, string) (string, error) { return x.text, nil })
		out := adktest.Agent[*schema.Message]{
			Model: adktest.Script[*schema.Message](do("a", "tool_search", `{"query":"resets"}`), do("b", "reset", `{}`)),
			Tools: []tool.BaseTool{mine}, Handlers: adktest.Handlers(h),
		}.Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
		require.NoError(t, out.Err)
		return weak.Make(x)
	}
	first := run()
	run()
	require.Eventually(t, func() bool { runtime.GC(); return first.Value() == nil }, finalizing, finalizing/6000, "a run that is over holds on")
}

// scribbles is a handler that writes into everything which the tool lists reach.
type scribbles[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (s scribbles[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	for _, t := range rc.Tools {
		if info, err := t.Info(ctx); err == nil && info.Extra != nil {
			info.Extra["seen"] = true
			info.Extra["nested"].(map[string]any)["seen"] = true
			info.Extra["nested"].(map[string]any)["list"].([]any)[0] = "seen"
			info.Desc += "!"
		}
	}
	return ctx, nil
}

func (s scribbles[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	for _, info := range state.ToolInfos {
		scribble(info)
	}
	return ctx, state, nil
}

func scribble(info *schema.ToolInfo) {
	if info.Extra == nil {
		return
	}
	info.Extra["written"] = true
	if nested, ok := info.Extra["nested"].(map[string]any); ok {
		nested["written"] = true
		if list, ok := nested["list"].([]any); ok {
			list[0] = "written"
		}
	}
	js, err := info.ToJSONSchema()
	if err != nil || js == nil || js.Properties == nil {
		return
	}
	for p := js.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value.Description = "written"
	}
	js.Properties.Delete("value")
	if js.Extras != nil {
		js.Extras["x-written"] = true
	}
}

func TestHandlersMayWriteIntoWhatTheyAreShown(t *testing.T) {
	everywhere(t, handlersWrite[*schema.Message], handlersWrite[*schema.AgenticMessage])
}

// handlersWrite runs agents of one instance at once whose handlers write into infos: the
// race detector, or the runtime itself, would tell of a map that two of them share.
func handlersWrite[M adk.MessageType](t *testing.T, streaming bool) {
	js, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"value": {Type: schema.String, Desc: "any"}, "other": {Type: schema.Integer, Desc: "another"},
	}).ToJSONSchema()
	require.NoError(t, err)
	js.Extras = map[string]any{"x-order": 1}
	extra := map[string]any{"a": 1, "nested": map[string]any{"list": []any{"x"}}}
	mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shared", Desc: "A shared tool", Extra: extra, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(js)}, nil)
	before := fmt.Sprint(extra) + onWire(must(mine.Info(context.Background())))
	h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: []tool.BaseTool{mine}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			m := adktest.Script[M](do("a", "tool_search", `{"query":"shared"}`), do("b", "shared", `{"value":"x"}`), do("c", "tool_search", `{"query":"shared"}`))
			out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers[M](h, einorun.New(scribbles[M]{}))}.Run(context.Background(), []M{adktest.User[M]("please")})
			if out.Err != nil {
				t.Error(out.Err)
				return
			}
			for _, w := range m.Wires()[1:] {
				if text := onWire(w.Tools...); !strings.Contains(text, `"written":true`) {
					t.Errorf("the run's own handler is not heard: %s", text)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, before, fmt.Sprint(extra)+onWire(must(mine.Info(context.Background()))), "the user's own info")
	p := adktest.Script[M](do("a", "tool_search", `{"query":"shared"}`))
	require.NoError(t, adktest.Agent[M]{Model: p, Streaming: streaming, Handlers: adktest.Handlers(h)}.Run(context.Background(), []M{adktest.User[M]("please")}).Err)
	later := p.Wires()[1].Tools
	require.NotContains(t, onWire(later...), "written")
	require.Equal(t, must(mine.Info(context.Background())).Desc, later[len(later)-1].Desc)
}
