// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

// Programs in agents as strangers build them.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/skills"
	"github.com/einolean/einolean/toolsearch/toolset"
	"github.com/einolean/einolean/window"
)

// Some providers give no ids to calls, or the same ones in each answer.
func TestCallIDs_MissingOrDuplicate(t *testing.T) {
	for _, ids := range [][2]string{{"", ""}, {"call_0", "call_0"}} {
		s := &shop{}
		h := handlers[*schema.Message](t, config(s))
		turn := func(id, code string) adktest.Turn {
			return adktest.Turn{Calls: []adktest.ToolCall{{ID: id, Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, code)}}}
		}
		m := adktest.Script[*schema.Message](turn(ids[0], `print(1, (await tools.list_orders({customer: 1})).length)`), turn(ids[1], `print(2, (await tools.measure({text: "x"})).bytes)`), adktest.Say("done"))
		out := adktest.Agent[*schema.Message]{Model: m, Handlers: h}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
		require.NoError(t, out.Err)
		require.Len(t, m.Wires(), 3)
		all := strings.Join(m.Wires()[2].MessagesDump, "\n")
		require.Contains(t, all, "1 100")
		require.Contains(t, all, "2 12")
	}
}

// Nor do calls of one answer need ids that tell them apart: each has its own result, also in a history
// that a caller rebuilds from the events.
func TestCallIDs_MissingOrDuplicateBesideOthers(t *testing.T) {
	adktest.Both(t, sideBySide[*schema.Message], sideBySide[*schema.AgenticMessage])
}

func sideBySide[M adk.MessageType](t *testing.T, streaming bool) {
	for _, id := range []string{"", "call_0"} {
		s := &shop{}
		h := handlers[M](t, config(s))
		code := func(text string) adktest.ToolCall {
			return adktest.ToolCall{ID: id, Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, text)}
		}
		turn := adktest.Turn{Calls: []adktest.ToolCall{
			code(`print(1, (await tools.list_orders({customer: 1})).length)`), code(`print(2)`),
			{ID: id, Name: "call_tool", Args: `{"name":"measure","arguments":{"text":"xyz"}}`}, code(`print(4, (await tools.list_orders({customer: 2})).length)`),
		}}
		m := adktest.Script[M](turn, adktest.Say("done"), adktest.Turn{Calls: []adktest.ToolCall{code(`print(5)`), code(`print(6)`)}}, adktest.Say("done"))
		a := adktest.Agent[M]{Model: m, Handlers: h, Streaming: streaming}
		history := []M{adktest.User[M]("go")}
		for range 2 {
			out := a.Run(t.Context(), history)
			require.NoError(t, out.Err)
			history = append(append(history, out.Messages...), adktest.User[M]("and now?"))
		}
		require.Len(t, m.Wires(), 4)
		require.Equal(t, []string{"1 100", "2", `{"bytes":14}`, "4 100"}, resultsByCall(t, m.Wires()[1].Messages), id)
		require.Equal(t, []string{"1 100", "2", `{"bytes":14}`, "4 100", "5", "6"}, resultsByCall(t, m.Wires()[3].Messages), id)
	}
}

// resultsByCall are the results in the order of their calls, of which each has one.
func resultsByCall[M adk.MessageType](t *testing.T, msgs []M) (texts []string) {
	var calls []adktest.ToolCall
	results, count := map[string]string{}, 0
	for _, msg := range append(msgs, adktest.User[M]("end")) {
		answers := adktest.Results(msg)
		for _, r := range answers {
			results[r.ID] = r.Args
			count++
		}
		if len(answers) > 0 {
			continue
		}
		for _, c := range calls {
			require.Contains(t, results, c.ID)
			texts = append(texts, results[c.ID])
		}
		calls = adktest.Calls(msg)
		clear(results)
	}
	require.Len(t, texts, count)
	return texts
}

// A tool whose result ends the run may end it in the middle of a program. The next run tells the
// model so, and no call is without a result.
func TestRun_EndingInProgramKeepsHistoryReadable(t *testing.T) {
	adktest.Both(t, endsInAProgram[*schema.Message], endsInAProgram[*schema.AgenticMessage])
}

func endsInAProgram[M adk.MessageType](t *testing.T, streaming bool) {
	s := &shop{}
	h := handlers[M](t, config(s))
	final := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "final", Desc: "Ends"}, adktest.Echo)
	turn := program(`const a = await tools.list_orders({customer: 1}); print((await tools.measure({text: "x"})).bytes)`)
	turn.Calls = append(turn.Calls, adktest.ToolCall{ID: "f", Name: "final", Args: `{}`})
	m := adktest.Script[M](turn, adktest.Say("done"))
	agent, err := adk.NewTypedChatModelAgent(t.Context(), &adk.TypedChatModelAgentConfig[M]{
		Name: "a", Description: "d", Model: m, Handlers: h,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{final}}, ReturnDirectly: map[string]bool{"final": true}},
	})
	require.NoError(t, err)
	run := func(history []M) adktest.Outcome[M] {
		return adktest.Collect(adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming}).Run(t.Context(), history))
	}
	out := run([]M{adktest.User[M]("go")})
	require.NoError(t, out.Err)
	out = run(append(append([]M{adktest.User[M]("go")}, out.Messages...), adktest.User[M]("and now?")))
	require.NoError(t, out.Err)
	calls, results := map[string]bool{}, map[string]string{}
	for _, msg := range m.Wires()[len(m.Wires())-1].Messages {
		for _, c := range adktest.Calls(msg) {
			calls[c.ID] = true
		}
		for _, r := range adktest.Results(msg) {
			results[r.ID] = r.Args
		}
	}
	require.Contains(t, results["c0"], "the run ended before the program made a call")
	for id := range calls {
		require.Contains(t, results, id)
	}
	require.Len(t, results, len(calls))
}

// A run may be cancelled while a program waits for its calls, in every way that Eino has. Resumed in
// another process, the program goes on; no call whose result it has runs again.
func TestCancel_ProgramResumes(t *testing.T) {
	adktest.Both(t, cancelledProgram[*schema.Message], cancelledProgram[*schema.AgenticMessage])
}

func cancelledProgram[M adk.MessageType](t *testing.T, streaming bool) {
	for name, mode := range map[string]adk.CancelMode{"at once": adk.CancelImmediate, "after a model call": adk.CancelAfterChatModel, "after tool calls": adk.CancelAfterToolCalls} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex // a call that was cancelled at once goes on beside the resumed run
			ran := map[string]int{}
			var cancel adk.AgentCancelFunc
			step := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "step", Desc: "A step", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"n": {Type: schema.Integer}})},
				func(_ context.Context, args string) (string, error) {
					mu.Lock()
					ran[args]++
					stop := cancel
					if strings.Contains(args, "2") {
						cancel = nil
					}
					mu.Unlock()
					if stop != nil && strings.Contains(args, "2") {
						stop(adk.WithAgentCancelMode(mode))
					}
					return "did " + args, nil
				})
			files := &adktest.Store{}
			runner := func(turns ...adktest.Turn) (*adk.TypedRunner[M], *adktest.Model[M]) {
				h := handlers[M](t, &setup{&toolsearch.Config{DynamicTools: []tool.BaseTool{step}, Protocol: toolsearch.SearchCall}, programs.Config{Interpreter: shared}})
				m := adktest.Script[M](turns...)
				r, err := adktest.Agent[M]{Model: m, Handlers: h, Store: files, Streaming: streaming}.Runner(t.Context())
				require.NoError(t, err)
				return r, m
			}
			r, _ := runner(program(`const out = []; for (const n of [1, 2, 3]) { out.push(await tools.step({n})) } print(out.join("; "))`))
			var option adk.AgentRunOption
			option, cancel = adk.WithCancel()
			out := adktest.Collect(r.Run(t.Context(), []M{adktest.User[M]("go")}, adk.WithCheckPointID("x"), option))
			var cancelled *adk.CancelError
			require.ErrorAs(t, out.Err, &cancelled, "%v", out.Err)

			r, m := runner(adktest.Say("done"))
			events, err := r.Resume(t.Context(), "x")
			require.NoError(t, err)
			out = adktest.Collect(events)
			require.NoError(t, out.Err)
			require.Equal(t, "done", out.Answer())
			all := strings.Join(m.Wires()[0].MessagesDump, "\n")
			require.Contains(t, all, `did {"n":1}; did {"n":2}; did {"n":3}`)
			require.Equal(t, 1, ran[`{"n":1}`])
			require.Equal(t, 1, ran[`{"n":3}`])
			if mode != adk.CancelImmediate { // which takes no result of the call under way
				require.Equal(t, 1, ran[`{"n":2}`])
			}
		})
	}
}

// An agent within a program has messages of its own: the program's turns are none of its.
func TestAgentTool_DoesNotShareProgram(t *testing.T) {
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "Asks"}, func(ctx context.Context, _ string) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "may I?")
		}
		return strings.Repeat("long ", 4000), nil
	})
	inner := [2]*adktest.Model[*schema.Message]{}
	for i := range inner {
		inner[i] = adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "i", Name: "ask", Args: `{}`}), adktest.Say("inner says 7"))
	}
	build := func(m *adktest.Model[*schema.Message], files *adktest.Store, c *window.Collector) *adk.Runner {
		reduce, err := reduction.New(t.Context(), reduction.Recommended(store.NewMemory(1<<30)))
		require.NoError(t, err)
		s := &shop{}
		cfg := config(s)
		for i, name := range []string{"researcher", "reader"} { // runs of one agent would write to what Eino shares
			agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
				Name: name, Description: "Finds things out", Model: inner[i], Handlers: []adk.ChatModelAgentMiddleware{reduce, window.HandlerFor[*schema.Message](c)},
				ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{ask}}},
			})
			require.NoError(t, err)
			cfg.DynamicTools = append(cfg.DynamicTools, adk.NewAgentTool(t.Context(), agent))
		}
		h := handlers[*schema.Message](t, cfg)
		r, err := adktest.Agent[*schema.Message]{Model: m, Handlers: h, Store: files}.Runner(t.Context())
		require.NoError(t, err)
		return r
	}
	m, files, c := adktest.Script[*schema.Message](program(`const all = await Promise.all([tools.researcher({request: "a"}), tools.reader({request: "b"})]); print(all.join("; "), (await tools.measure({text: "x"})).bytes)`), adktest.Say("done")), &adktest.Store{}, window.New(window.Config{})
	out := adktest.Collect(build(m, files, c).Run(t.Context(), []*schema.Message{schema.UserMessage("go")}, adk.WithCheckPointID("x")))
	for range 3 {
		if out.Interrupted == nil {
			break
		}
		targets := map[string]any{}
		for _, x := range out.Interrupted.InterruptContexts {
			targets[x.ID] = "yes"
		}
		it, err := build(m, files, c).ResumeWithParams(t.Context(), "x", &adk.ResumeParams{Targets: targets})
		require.NoError(t, err)
		out = adktest.Collect(it)
	}
	require.NoError(t, out.Err)
	last := m.Wires()[1].Messages
	require.Contains(t, last[len(last)-1].Content, "inner says 7; inner says 7 12")
	var recorded int
	for conversation := range c.Conversations() {
		recorded += len(conversation.Calls)
	}
	require.Equal(t, 4, recorded, "each model call of the inner agents is one")
}

// Eino tells the agents of a workflow, and those that a supervisor hands over to, what the others did
// by its events, and so what the calls of a program returned. A HistoryRewriter can leave them out.
//
//claim:handlers-13
func TestTransfer_OtherAgentsReadProgramCalls(t *testing.T) {
	search := handlers[*schema.Message](t, config(&shop{}))
	withoutCalls := adk.WithHistoryRewriter(func(_ context.Context, entries []*adk.HistoryEntry) (msgs []adk.Message, err error) {
		for _, e := range entries {
			if !strings.HasPrefix(e.Message.ToolCallID, "c0.") && len(e.Message.ToolCalls) == 0 {
				msgs = append(msgs, schema.UserMessage(e.Message.Content))
			}
		}
		return msgs, nil
	})
	for _, options := range [][]adk.AgentOption{nil, {withoutCalls}} {
		agent := func(name string, turns ...adktest.Turn) (adk.Agent, *adktest.Model[*schema.Message]) {
			m := adktest.Script[*schema.Message](turns...)
			a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{Name: name, Description: name, Model: m, Handlers: search})
			require.NoError(t, err)
			return adk.AgentWithOptions(t.Context(), a, options...), m
		}
		first, own := agent("first", program(`print((await tools.long({customer: 1})).length)`), adktest.Say("counted"))
		second, other := agent("second", adktest.Say("done"))
		all, err := adk.NewSequentialAgent(t.Context(), &adk.SequentialAgentConfig{Name: "all", Description: "all", SubAgents: []adk.Agent{first, second}})
		require.NoError(t, err)
		require.NoError(t, adktest.Collect(adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: all}).Run(t.Context(), []adk.Message{schema.UserMessage("go")})).Err)
		require.NotContains(t, strings.Join(own.Wires()[1].MessagesDump, ""), "0123456789END")
		read := strings.Join(other.Wires()[0].MessagesDump, "\n")
		require.Contains(t, read, "340003")
		require.Equal(t, options == nil, strings.Contains(read, "0123456789END"))
	}
}

// Tools that come and go stand behind slots, of which there are fewer than a program may call.
func TestProgram_CallsManyToolsOfSource(t *testing.T) {
	s := &shop{}
	var many []tool.BaseTool
	var calls []string
	for i := range 150 {
		name := fmt.Sprintf("tool-%d.x", i)
		many = append(many, adktest.Tool(adktest.Form(i%4), &schema.ToolInfo{Name: name, Desc: "A tool"}, func(ctx context.Context, args string) (string, error) { return name, s.Add(ctx) }))
		calls = append(calls, fmt.Sprintf("tools[%q]({})", name))
	}
	cfg := config(s)
	cfg.DynamicTools, cfg.Source = nil, toolset.NewSource(func(context.Context) ([]tool.BaseTool, error) { return many, nil }, nil)
	got := answerTo(t, cfg, fmt.Sprintf(`const all = await Promise.all([%s]); print(all.length, all[0], all[149])`, strings.Join(calls, ",")))
	require.Contains(t, got, "150 tool-0.x tool-149.x")
	for id, n := range s.Times() {
		require.Equal(t, 1, n, id)
	}
	require.Len(t, s.Times(), 150)
}

// What models write of call_tool is the call of the tool.
func TestProgram_CallToolRunsTheTool(t *testing.T) {
	s := &shop{}
	got := answerTo(t, config(s), `print((await tools.call_tool({name: "list_orders", arguments: {customer: 1}})).length, await tools.call_tool({name: "nothing", arguments: {}}).catch(e => e.message))`)
	require.Contains(t, got, "100 there is no tool named nothing")
	require.Contains(t, got, "(1 call of list_orders, none failed; 1 call of nothing, 1 failed; a failed call throws)")
}

// failing is an interpreter that cannot be used.
type failing struct{ panics bool }

func (f failing) Start(context.Context, programs.Program) (programs.Run, error) {
	if f.panics {
		panic("no interpreter")
	}
	return nil, errors.New("no interpreter")
}

func TestInterpreter_FailureDoesNotEndRun(t *testing.T) {
	for _, panics := range []bool{false, true} {
		cfg := config(&shop{})
		cfg.programs.Interpreter = failing{panics}
		require.Contains(t, answerTo(t, cfg, `print(1)`), "no interpreter")
	}
}

// A program reads text: what else a result holds, it is told.
func TestProgram_DescribesMediaResults(t *testing.T) {
	s := &shop{}
	cfg := config(s)
	data := "aGVsbG8="
	image := schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}}}
	cfg.DynamicTools = append(cfg.DynamicTools, picture{image})
	require.Contains(t, answerTo(t, cfg, `print(await tools.picture({}))`), "image/png")
}

type picture struct{ part schema.ToolOutputPart }

func (picture) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "picture", Desc: "A picture"}, nil
}

func (p picture) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{p.part}}, nil
}

// A skill is a tool of a program as well: its text is what the program prints of it.
func TestProgram_ReadsSkill(t *testing.T) {
	library := shelf{{Name: "pdf", Description: "Fill in forms of PDF files"}, {Name: "web", Description: "Build a page"}}
	cfg := config(&shop{})
	cfg.Source, cfg.NewIndex = skills.NewSource(library, skills.Options{}), skills.Index(index.BM25)
	require.Contains(t, answerTo(t, cfg, `print(await tools.skill__pdf({}))`), "Open the pdf first.")
	h := handlers[*schema.Message](t, cfg)
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "s", Name: "tool_search", Args: `{"query":"fill in this PDF form"}`}), adktest.Say("done"))
	require.NoError(t, adktest.Agent[*schema.Message]{Model: m, Handlers: h}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")}).Err)
	require.Contains(t, m.Wires()[1].Messages[len(m.Wires()[1].Messages)-1].Content, "skill__pdf")
}

// shelf is a backend of skills.
type shelf []skill.FrontMatter

func (s shelf) List(context.Context) ([]skill.FrontMatter, error) { return s, nil }

func (s shelf) Get(_ context.Context, name string) (skill.Skill, error) {
	return skill.Skill{FrontMatter: skill.FrontMatter{Name: name}, Content: "Open the " + name + " first."}, nil
}
