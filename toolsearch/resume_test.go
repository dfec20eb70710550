// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Checkpoints, interrupts and resumes.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

//claim:security-21
func TestResume_CheckpointIsSmall_TS16(t *testing.T) {
	playAll(t, scenariosTS16())
}

func scenariosTS16() []scenario {
	return []scenario{
		{"TS-16", "a checkpoint of native search over 300 tools", checkpointSize[*schema.Message], checkpointSize[*schema.AgenticMessage], "holds the definitions", "holds no definition"},
		{"TS-16", "a loaded tool with nested annotations", nestedExtra[*schema.Message], nestedExtra[*schema.AgenticMessage], "cannot be saved", "saved, and the run goes on"},
	}
}

func checkpointSize[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tools := append(simpleTools(numberedNames(300)...), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, interruptOnce))
	a := adktest.Agent[M]{Tools: simpleTools("own"), Handlers: adktest.Handlers(s.mustBuildNative(t, tools...))}
	tr, store, resume := s.interrupts(t, a, adktest.Do(searchCall("1", "waits")), adktest.Do(toolCall("2", "waits")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	saved, _, _ := store.Get(context.Background(), "c")
	after := resume(a)
	require.NoError(t, after.Err)
	require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
	require.Len(t, after.wires[0].Deferred, 301)
	if strings.Count(string(saved), "any value") >= 300 {
		return "holds the definitions"
	}
	return "holds no definition"
}

func nestedExtra[M adk.MessageType](t *testing.T, s implementation[M]) string {
	info := &schema.ToolInfo{Name: "waits", Extra: map[string]any{"annotations": map[string]any{"title": map[string]any{"en": "Waits"}}, "plain": "kept"}}
	a := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, adktest.Tool(adktest.Invokable, info, interruptOnce)))}
	tr, _, resume := s.interrupts(t, a, adktest.Do(searchCall("1", "waits")), adktest.Do(toolCall("2", "waits")))
	require.Contains(t, info.Extra, "annotations", "the tool's own info is not touched")
	if tr.Err != nil {
		require.ErrorContains(t, tr.Err, "gob")
		return "cannot be saved"
	}
	require.NotNil(t, tr.Interrupted)
	after := resume(a)
	require.NoError(t, after.Err)
	require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
	require.Equal(t, map[string]any{"plain": "kept"}, after.wires[0].Tools[1].Extra)
	return "saved, and the run goes on"
}

func TestResume_InAnotherProcess_TS16(t *testing.T) {
	bothSides(t, testResumeInAnotherProcess[*schema.Message], testResumeInAnotherProcess[*schema.AgenticMessage])
}

// testResumeInAnotherProcess resumes with another instance, as a restart does. Tools of all forms
// run, and what was loaded is loaded.
func testResumeInAnotherProcess[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for _, s := range []implementation[M]{eino, ours} {
		for name, form := range adktest.Forms {
			agent := func() adktest.Agent[M] {
				tools := append(simpleTools("other"), adktest.Tool(form, &schema.ToolInfo{Name: "waits"}, interruptOnce))
				return adktest.Agent[M]{Tools: simpleTools("own"), Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
			}
			tr, _, resume := s.interrupts(t, agent(), adktest.Do(searchCall("1", "select:other,waits")), adktest.Do(toolCall("2", "waits"), toolCall("3", "other")))
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

func TestResume_GateHolds_TS16(t *testing.T) {
	adktest.Both(t, testResumeGateHolds[*schema.Message], testResumeGateHolds[*schema.AgenticMessage])
}

// testResumeGateHolds calls a tool that is not loaded beside one that interrupts, and after it.
func testResumeGateHolds[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	agent := func() adktest.Agent[M] {
		tools := append(simpleTools("secret", "other"), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, interruptOnce))
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
	}
	tr, store, _ := s.interrupts(t, agent(), adktest.Do(searchCall("1", "waits")), adktest.Do(toolCall("2", "waits"), toolCall("3", "secret")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	next := agent()
	next.Store, next.Streaming, next.Model = store, streaming, adktest.Script[M](adktest.Do(toolCall("4", "other"), toolCall("5", "waits")), adktest.Do(toolCall("6", "other")))
	runner, err := next.Runner(context.Background())
	require.NoError(t, err)
	it, err := runner.Resume(context.Background(), "c")
	require.NoError(t, err)
	out := adktest.Collect(it)
	require.NoError(t, out.Err)
	after := runResult[M]{out, next.Model.Wires()}
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

func TestResume_StateKey_TS31(t *testing.T) {
	playAll(t, scenariosTS31())
}

func scenariosTS31() []scenario {
	return []scenario{
		{"TS-31", "what is kept in the run", keepsInRun[*schema.Message], keepsInRun[*schema.AgenticMessage], "__toolsearch_initialized__", "__einolean_toolsearch__"},
	}
}

func keepsInRun[M adk.MessageType](t *testing.T, s implementation[M]) string {
	var kept []string
	look := stateRewriter[M]{rewrite: func(ctx context.Context, _ *adk.TypedChatModelAgentState[M]) {
		for _, key := range []string{"__toolsearch_initialized__", "__einolean_toolsearch__"} {
			if _, ok, err := adk.GetRunLocalValue(ctx, key); err == nil && ok {
				kept = append(kept, key)
			}
		}
	}}
	require.NoError(t, s.run(userRequest[M](), nil, nil, s.mustBuild(t, simpleTools("a1")...), look).Err)
	return strings.Join(kept, ",")
}

func TestResume_RunOfEinosPackage_TS31(t *testing.T) {
	bothSides(t, testResumeRunOfEinosPackage[*schema.Message], testResumeRunOfEinosPackage[*schema.AgenticMessage])
}

func testResumeRunOfEinosPackage[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	agent := func(s implementation[M]) adktest.Agent[M] {
		tools := append(simpleTools("other"), simpleTools(numberedNames(200)...)...)
		tools = append(tools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, interruptOnce))
		return adktest.Agent[M]{Tools: simpleTools("own"), Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
	}
	for _, way := range [][2]implementation[M]{{eino, ours}, {ours, eino}} {
		tr, _, resume := way[0].interrupts(t, agent(way[0]), adktest.Do(searchCall("1", "waits")), adktest.Do(toolCall("2", "waits")))
		require.NoError(t, tr.Err)
		after := resume(agent(way[1]))
		require.NoError(t, after.Err)
		require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
		require.Equal(t, "0:own,tool_search,waits", after.tools())
	}
}

func TestResume_ShowsChangedTools_M02(t *testing.T) {
	playAll(t, scenariosM02())
}

func scenariosM02() []scenario {
	return []scenario{
		{"M-02", "a resume with other tools", resumesWithOthers[*schema.Message], resumesWithOthers[*schema.AgenticMessage],
			"1 reminder: a1,gone shows tool_search,a1,gone", "1 reminder: a1,new shows tool_search,a1"},
		{"M-02", "a resume with another description", resumesWithWords[*schema.Message], resumesWithWords[*schema.AgenticMessage], "old words", "new words"},
	}
}

func resumesWithOthers[M adk.MessageType](t *testing.T, s implementation[M]) string {
	agent := func(names ...string) adktest.Agent[M] {
		tools := append([]tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "a1"}, interruptOnce)}, simpleTools(names...)...)
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
	}
	tr, _, resume := s.interrupts(t, agent("gone"), adktest.Do(searchCall("1", "select:a1,gone")), adktest.Do(toolCall("2", "a1")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	after := resume(agent("new"))
	require.NoError(t, after.Err)
	require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
	return fmt.Sprintf("%s shows %s", announcedTools(after.wires[0]), strings.Join(after.wires[0].ToolNames, ","))
}

func resumesWithWords[M adk.MessageType](t *testing.T, s implementation[M]) string {
	agent := func(words string) adktest.Agent[M] {
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "a1", Desc: words}, interruptOnce)))}
	}
	tr, _, resume := s.interrupts(t, agent("old words"), adktest.Do(searchCall("1", "a1")), adktest.Do(toolCall("2", "a1")))
	require.NoError(t, tr.Err)
	after := resume(agent("new words"))
	require.NoError(t, after.Err)
	return after.wires[0].Tools[1].Desc
}

func TestResume_InterruptInsideHiddenTool(t *testing.T) {
	adktest.Both(t, testResumeInterruptInsideHiddenTool[*schema.Message], testResumeInterruptInsideHiddenTool[*schema.AgenticMessage])
}

func testResumeInterruptInsideHiddenTool[M adk.MessageType](t *testing.T, streaming bool) {
	const args = `{"what":"it"}`
	for _, c := range []struct {
		protocol toolsearch.Protocol
		find     adktest.Turn
		call     adktest.Turn
		after    string // tools of the model call after the resume
	}{
		{toolsearch.Keyword, oneCall("a", "tool_search", `{"query":"payment"}`), oneCall("b", "bank__make_payment", args), "own tool_search bank__make_payment"},
		{toolsearch.Regexp, oneCall("a", "tool_search", `{"regex_pattern":"payment"}`), oneCall("b", "bank__make_payment", args), "own tool_search bank__make_payment"},
		{toolsearch.SearchLoad, oneCall("a", "load_tool", `{"tool_name":"bank__make_payment"}`), oneCall("b", "bank__make_payment", args), "own search_tools load_tool bank__make_payment"},
		{toolsearch.SearchCall, oneCall("a", "tool_search", `{"query":"payment"}`), oneCall("b", "call_tool", `{"name":"bank__make_payment","arguments":`+args+`}`), "own tool_search call_tool"},
	} {
		for form, f := range adktest.Forms {
			t.Run(c.protocol.String()+"/"+form, func(t *testing.T) {
				s := newScene[M](t, streaming, c.protocol)
				s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Tool(f, &schema.ToolInfo{Name: "bank__make_payment", Desc: "Makes a payment"}, askApproval))
				s.store = &adktest.Store{}

				ctx := context.Background()
				agent, _ := s.agent(c.find, c.call)
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				// A second agent takes over, as in another process.
				agent, model := s.agent()
				second := resumeApproved(t, agent, first)
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
func TestResume_KeepsToolOfLaterHandler(t *testing.T) {
	adktest.Both(t, testResumeKeepsToolOfLaterHandler[*schema.Message], testResumeKeepsToolOfLaterHandler[*schema.AgenticMessage])
}

func testResumeKeepsToolOfLaterHandler[M adk.MessageType](t *testing.T, streaming bool) {
	kept := &adktest.Store{}
	process := func(turns ...adktest.Turn) (adktest.Agent[M], *adktest.Model[M]) {
		s, source := liveScene[M](t, streaming)
		s.cfg.OnEvent = func(context.Context, einolean.Event) {}
		s.store, s.mine = kept, []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "pay", Desc: "pays"}, askApproval)}
		s.behind = adktest.Handlers[M](einorun.New(toolAdder[M]{tools: simpleTools("read_file")}))
		source.have(simpleTools("read_file", "found")...)
		return s.agent(turns...)
	}
	agent, _ := process(oneCall("1", "tool_search", `{"query":"select:found"}`), oneCall("2", "pay", "{}"))
	first := agent.Run(t.Context(), []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)
	agent, m := process(oneCall("3", "read_file", "{}"))
	resumeApproved(t, agent, first)
	for i, w := range m.Wires() {
		require.ElementsMatch(t, []string{"own", "pay", "tool_search", "read_file", "found"}, w.ToolNames, "request %d", i)
	}
}

// A run that stops before a model call has its loaded tools after the resume, and nothing
// more: what was shown is part of the checkpoint.
func TestResume_KeepsLoadedTools(t *testing.T) {
	adktest.Both(t, testResumeKeepsLoadedTools[*schema.Message], testResumeKeepsLoadedTools[*schema.AgenticMessage])
}

func testResumeKeepsLoadedTools[M adk.MessageType](t *testing.T, streaming bool) {
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "Asks a person"}, askApproval)
	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.store, s.mine = &adktest.Store{}, []tool.BaseTool{ask}
	ctx := context.Background()
	agent, _ := s.agent(oneCall("a", "tool_search", `{"query":"forecast"}`), oneCall("b", "ask", `{}`))
	first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)

	agent, model := s.agent(oneCall("c", "weather__get_forecast", `{"city":"Oslo"}`), oneCall("d", "slack__send_message", `{"channel":"x"}`))
	second := resumeApproved(t, agent, first)

	p := sceneResult[M]{second, model.Wires(), nil}
	require.Equal(t, "own ask tool_search weather__get_forecast", strings.Split(p.tools(), "\n")[0])
	require.Contains(t, p.answer(t, "c"), `got {"city":"Oslo"}`)
	require.Contains(t, p.answer(t, "d"), "did not run", "it was never loaded")
}

//claim:eino-04
func TestResume_WaitingCallOfChangedTool(t *testing.T) {
	adktest.Both(t, testResumeWaitingCallOfChangedTool[*schema.Message], testResumeWaitingCallOfChangedTool[*schema.AgenticMessage])
}

func testResumeWaitingCallOfChangedTool[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	for name, form := range adktest.Forms {
		for _, gone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gone %v", name, gone), func(t *testing.T) {
				s, source := liveScene[M](t, streaming)
				s.store = &adktest.Store{}
				ran := 0
				counted := adktest.Tool(form, &schema.ToolInfo{Name: "counted", Desc: "Counts"}, func(context.Context, string) (string, error) {
					ran++
					return "counted", nil
				})
				payment := adktest.Tool(form, &schema.ToolInfo{Name: "bank__make_payment", Desc: "Makes a payment"}, askApproval)
				source.have(payment, counted)
				agent, _ := s.agent(
					oneCall("a", "tool_search", `{"query":"select:bank__make_payment,counted"}`),
					adktest.Do(adktest.ToolCall{ID: "b", Name: "bank__make_payment", Args: "{}"}, adktest.ToolCall{ID: "c", Name: "counted", Args: "{}"}))
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				// A second agent takes over, as in another process.
				s2, elsewhere := liveScene[M](t, streaming)
				s2.store = s.store
				if gone {
					elsewhere.have(echoTool(form, "bank__take_payment"))
				} else {
					elsewhere.have(echoTool(form, "new"), counted, payment)
				}
				agent, m := s2.agent()
				second := resumeApproved(t, agent, first)
				require.Equal(t, "done", second.Answer())
				p := sceneResult[M]{second, m.Wires(), nil}
				sent := strings.Join(p.wires[0].MessagesDump, "\n")
				if gone {
					require.Contains(t, sent, `There is no tool named "bank__make_payment". Nearest names: bank__take_payment`)
					require.Equal(t, "own tool_search", p.tools())
				} else {
					require.Contains(t, sent, "person said yes to {} and {}")
					require.Equal(t, "own tool_search bank__make_payment counted", p.tools())
				}
				require.Contains(t, sent, "counted")
				require.Equal(t, 1, ran, "no call runs twice")
				requireNoSlots(t, p)
			})
		}
	}
}

func TestResume_CanceledAfterModelAnswer(t *testing.T) {
	adktest.Both(t, testResumeCanceledAfterModelAnswer[*schema.Message], testResumeCanceledAfterModelAnswer[*schema.AgenticMessage])
}

func testResumeCanceledAfterModelAnswer[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	s, source := liveScene[M](t, streaming)
	s.store = &adktest.Store{}
	s.cfg.AllowUnloadedCalls = true
	source.have(echoTool(0, "a"))
	option, cancel := adk.WithCancel()
	agent, m := s.agent()
	m.Respond = func(int, adktest.Wire[M]) adktest.Turn {
		cancel(adk.WithAgentCancelMode(adk.CancelAfterChatModel))
		return oneCall("1", "a", "{}")
	}
	out := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"), option)
	require.Error(t, out.Err)
	require.NotContains(t, fmt.Sprint(out.Messages), "a got {}")

	agent, m = s.agent()
	runner, err := agent.Runner(ctx)
	require.NoError(t, err)
	events, err := runner.Resume(ctx, "one")
	require.NoError(t, err)
	second := adktest.Collect(events)
	require.NoError(t, second.Err)
	require.Equal(t, "done", second.Answer())
	require.Contains(t, strings.Join(m.Wires()[0].MessagesDump, "\n"), "a got {}")
}
