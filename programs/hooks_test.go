// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// three is a program of three batches.
var three = programtest.Programs{"three": func(r *programtest.Program) {
	for i := range 3 {
		for _, x := range r.Call(fmt.Sprintf(`form%d {"n":%d}`, i, i), fmt.Sprintf(`form3 {"n":%d}`, i)) {
			r.Print(x.Text)
		}
	}
}}

// forms are tools of the four forms, and tell when they run.
func forms(ran func(name string)) (tools []tool.BaseTool) {
	for i := range 4 {
		name := fmt.Sprint("form", i)
		tools = append(tools, adktest.Tool(adktest.Form(i), &schema.ToolInfo{Name: name, Desc: "A tool"}, func(_ context.Context, args string) (string, error) {
			ran(name + args)
			return name + args, nil
		}))
	}
	return tools
}

// recordingHandler notes in which hooks it saw which calls, before they ran.
type recordingHandler[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	mu   sync.Mutex
	seen map[string][]string // by hook
	ran  []string
}

func (g *recordingHandler[M]) note(hook, call string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.ran, call) {
		call += " too late"
	}
	g.seen[hook] = append(g.seen[hook], call)
}

func (g *recordingHandler[M]) run(call string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ran = append(g.ran, call)
}

func (g *recordingHandler[M]) AfterModelRewriteState(ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	for _, c := range adktest.Calls(s.Messages[len(s.Messages)-1]) {
		g.note("AfterModelRewriteState", c.Name+c.Args)
	}
	return ctx, s, nil
}

func (g *recordingHandler[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, call *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		g.note("WrapInvokableToolCall", call.Name+args)
		return next(ctx, args, opts...)
	}, nil
}

func (g *recordingHandler[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, call *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		g.note("WrapStreamableToolCall", call.Name+args)
		return next(ctx, args, opts...)
	}, nil
}

func (g *recordingHandler[M]) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, call *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		g.note("WrapEnhancedInvokableToolCall", call.Name+args.Text)
		return next(ctx, args, opts...)
	}, nil
}

func (g *recordingHandler[M]) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, call *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		g.note("WrapEnhancedStreamableToolCall", call.Name+args.Text)
		return next(ctx, args, opts...)
	}, nil
}

// elsewhere puts the recordingHandler where agents have hooks besides their handlers.
func (g *recordingHandler[M]) elsewhere(cfg *adk.TypedChatModelAgentConfig[M]) {
	cfg.ToolsConfig.ToolCallMiddlewares = []compose.ToolMiddleware{g.around("ToolCallMiddlewares")}
	//lint:ignore SA1019 agents may still have them
	cfg.Middlewares = []adk.AgentMiddleware{{
		WrapToolCall: g.around("Middlewares.WrapToolCall"),
		AfterChatModel: func(_ context.Context, s *adk.ChatModelAgentState) error {
			for _, c := range adktest.Calls(s.Messages[len(s.Messages)-1]) {
				g.note("Middlewares.AfterChatModel", c.Name+c.Args)
			}
			return nil
		},
	}}
}

func (g *recordingHandler[M]) around(hook string) compose.ToolMiddleware {
	return compose.ToolMiddleware{
		Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
				g.note(hook, in.Name+in.Arguments)
				return next(ctx, in)
			}
		},
		Streamable: func(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.StreamToolOutput, error) {
				g.note(hook, in.Name+in.Arguments)
				return next(ctx, in)
			}
		},
		EnhancedInvokable: func(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedInvokableToolOutput, error) {
				g.note(hook, in.Name+in.Arguments)
				return next(ctx, in)
			}
		},
		EnhancedStreamable: func(next compose.EnhancedStreamableToolEndpoint) compose.EnhancedStreamableToolEndpoint {
			return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedStreamableToolOutput, error) {
				g.note(hook, in.Name+in.Arguments)
				return next(ctx, in)
			}
		},
	}
}

// Every hook of every handler sees run_code once, and each call of each batch before it runs: the
// first, the second and the last, wherever the handler stands, with toolsearch and without.
//
//claim:handlers-10 security-34
func TestHandlers_SeeEveryCallBeforeItRuns(t *testing.T) {
	adktest.Both(t, testHandlersSeeEveryCall[*schema.Message], testHandlersSeeEveryCall[*schema.AgenticMessage])
}

func testHandlersSeeEveryCall[M adk.MessageType](t *testing.T, streaming bool) {
	for place := range 3 {
		for _, hides := range []bool{false, true} {
			if place == 2 && !hides {
				continue
			}
			g := &recordingHandler[M]{seen: map[string][]string{}}
			tools := forms(g.run)
			handlers := []adk.TypedChatModelAgentMiddleware[M]{first[M](t, three)}
			if hides {
				search, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{DynamicTools: tools})
				require.NoError(t, err)
				handlers, tools = append(handlers, search), nil
			}
			handlers = slices.Insert(handlers, place, adk.TypedChatModelAgentMiddleware[M](g))
			m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}), adktest.Say("done"))
			agent := adktest.Agent[M]{Model: m, Tools: tools, Handlers: handlers, Streaming: streaming, Configure: g.elsewhere}
			out := agent.Run(t.Context(), []M{adktest.User[M]("go")})
			require.NoError(t, out.Err)
			first, second, last := []string{`form0{"n":0}`, `form3{"n":0}`}, []string{`form1{"n":1}`, `form3{"n":1}`}, []string{`form2{"n":2}`, `form3{"n":2}`}
			all := slices.Concat([]string{`run_code{"code":"three"}`}, first, second, last, []string{`program_output{}`})
			table := map[string][]string{
				"AfterModelRewriteState":         all,
				"WrapInvokableToolCall":          {all[0], first[0], all[7]},
				"WrapStreamableToolCall":         {second[0]},
				"WrapEnhancedInvokableToolCall":  {last[0]},
				"WrapEnhancedStreamableToolCall": {first[1], second[1], last[1]},
				"ToolCallMiddlewares":            all,
				"Middlewares.WrapToolCall":       all,
			}
			if _, classic := any(m).(*adktest.Model[*schema.Message]); classic {
				table["Middlewares.AfterChatModel"] = all
			}
			for hook, want := range table {
				require.ElementsMatch(t, want, g.seen[hook], "%s, place %d, toolsearch %v", hook, place, hides)
			}
			require.Len(t, g.seen, len(table))
			require.Len(t, g.ran, 6)
			require.Contains(t, m.Wires()[1].MessagesDump[len(m.Wires()[1].MessagesDump)-1], `form2{"n":2}`)
		}
	}
}

// first is the handler of programs.
func first[M adk.MessageType](t *testing.T, in programs.Interpreter) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: in})
	require.NoError(t, err)
	return h
}

// reminder adds a message before each model call, and counts the calls of the model that it wraps.
type reminder[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	before, wrapped int
}

func (r *reminder[M]) BeforeModelRewriteState(ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r.before++
	next := *s
	next.Messages = append(slices.Clone(s.Messages), adktest.User[M](fmt.Sprint("reminder ", r.before)))
	return ctx, &next, nil
}

type counted[M adk.MessageType] struct {
	model.BaseModel[M]
	by *reminder[M]
}

func (c counted[M]) Generate(ctx context.Context, in []M, o ...model.Option) (M, error) {
	c.by.wrapped++
	return c.BaseModel.Generate(ctx, in, o...)
}

func (c counted[M]) Stream(ctx context.Context, in []M, o ...model.Option) (*schema.StreamReader[M], error) {
	c.by.wrapped++
	return c.BaseModel.Stream(ctx, in, o...)
}

func (r *reminder[M]) WrapModel(_ context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	return counted[M]{m, r}, nil
}

// What other handlers add in program turns does not outlive the program, and their WrapModel sees
// models only.
func TestProgramTurn_DropsMessagesOfOtherHandlers(t *testing.T) {
	adktest.Both(t, testProgramTurnDropsMessages[*schema.Message], testProgramTurnDropsMessages[*schema.AgenticMessage])
}

func testProgramTurnDropsMessages[M adk.MessageType](t *testing.T, streaming bool) {
	r := &reminder[M]{}
	m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}), adktest.Say("done"))
	out := adktest.Agent[M]{Model: m, Tools: forms(func(string) {}), Handlers: adktest.Handlers[M](first[M](t, three), r), Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("go")})
	require.NoError(t, out.Err)
	require.Equal(t, 6, r.before)
	require.Equal(t, 2, r.wrapped, "no model is asked in a program turn")
	all := strings.Join(m.Wires()[1].MessagesDump, "\n")
	require.Equal(t, 2, strings.Count(all, "reminder "), all)
}

// denying refuses run_code the first time.
type denying struct {
	*adk.BaseChatModelAgentMiddleware
	denied bool
}

func (d *denying) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, call *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		if call.Name == "run_code" && !d.denied {
			d.denied = true
			return "denied", nil
		}
		return next(ctx, args, opts...)
	}, nil
}

// A program that was refused never began, and the next one under its id is another one.
func TestRunCode_DeniedCallLeavesNoState(t *testing.T) {
	var began []string
	in := programtest.Programs{
		"one": func(r *programtest.Program) { began = append(began, "one"); r.Print("of one") },
		"two": func(r *programtest.Program) { began = append(began, "two"); r.Print("of two") },
	}
	turn := func(code string) adktest.Turn {
		return adktest.Do(adktest.ToolCall{ID: "call_0", Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, code)})
	}
	m := adktest.Script[*schema.Message](turn("one"), turn("two"), adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers[*schema.Message](first[*schema.Message](t, in), &denying{})}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	require.Equal(t, []string{"two"}, began)
	all := strings.Join(m.Wires()[2].MessagesDump, "\n")
	require.Contains(t, all, "of two")
	require.NotContains(t, all, "of one")
}

// Ids of a model that look like those of a program's calls mix nothing up.
func TestCallIDs_SurviveCollisions(t *testing.T) {
	adktest.Both(t, testCallIDCollisions[*schema.Message], testCallIDCollisions[*schema.AgenticMessage])
}

func testCallIDCollisions[M adk.MessageType](t *testing.T, streaming bool) {
	in := programtest.Programs{"p": func(r *programtest.Program) { r.Print("program", r.Call(`echo {"n":1}`)[0].Text) }}
	turn := adktest.Do(
		adktest.ToolCall{ID: "a", Name: "run_code", Args: `{"code":"p"}`}, adktest.ToolCall{ID: "a.1", Name: "echo", Args: `{"n":2}`},
		adktest.ToolCall{ID: "a-end", Name: "echo", Args: `{"n":3}`}, adktest.ToolCall{ID: "a.1.1", Name: "echo", Args: `{"n":4}`})
	m := adktest.Script[M](turn, adktest.Say("done"), adktest.Say("again"))
	a := adktest.Agent[M]{Model: m, Tools: programTools(&adktest.Ran{}), Handlers: adktest.Handlers[M](first[M](t, in)), Streaming: streaming}
	out := a.Run(t.Context(), []M{adktest.User[M]("go")})
	require.NoError(t, out.Err)
	require.NoError(t, a.Run(t.Context(), append(append([]M{adktest.User[M]("go")}, out.Messages...), adktest.User[M]("and?"))).Err)
	for _, w := range m.Wires()[1:] {
		results := map[string]string{}
		for _, msg := range w.Messages {
			for _, x := range adktest.Results(msg) {
				results[x.ID] = x.Args
			}
		}
		require.Len(t, results, 4)
		require.Contains(t, results["a"], `program {"n":1}`)
		require.Equal(t, []string{`{"n":2}`, `{"n":3}`, `{"n":4}`}, []string{results["a.1"], results["a-end"], results["a.1.1"]})
	}
}

// The answer of a program is a result like any other: reduction cuts it.
func TestReduction_TruncatesProgramOutput(t *testing.T) {
	in := programtest.Programs{"p": func(r *programtest.Program) { r.Call(`echo {"n":1}`); r.Print(strings.Repeat("long ", 4000)) }}
	reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: store.NewMemory(0), MaxLengthForTrunc: 2000})
	require.NoError(t, err)
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"p"}`}), adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Tools: programTools(&adktest.Ran{}), Handlers: adktest.Handlers[*schema.Message](first[*schema.Message](t, in), reduce)}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	last := m.Wires()[1].Messages
	require.Less(t, len(last[len(last)-1].Content), 4000)
	require.Equal(t, "c", last[len(last)-1].ToolCallID)
}

// The events of a run are well formed for every provider: each result stands behind its call, and
// each call has one, in an agent that knows nothing of programs as well.
func TestEvents_PairCallsWithResults(t *testing.T) {
	adktest.Both(t, testEventsPairCalls[*schema.Message], testEventsPairCalls[*schema.AgenticMessage])
}

func testEventsPairCalls[M adk.MessageType](t *testing.T, streaming bool) {
	for _, most := range []int{0, 5} { // no turn is left for the end
		h, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: three, MaxIterations: most})
		require.NoError(t, err)
		m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}), adktest.Say("done"))
		out := adktest.Agent[M]{Model: m, Tools: forms(func(string) {}), Handlers: adktest.Handlers[M](h), Streaming: streaming, Max: most}.Run(t.Context(), []M{adktest.User[M]("go")})
		require.NoError(t, out.Err)
		require.Equal(t, "done", out.Answer())
		open := map[string]bool{}
		for _, msg := range out.Messages {
			calls := adktest.Calls(msg)
			if len(calls) > 0 {
				require.Empty(t, open, "a result is missing")
			}
			for _, c := range calls {
				open[c.ID] = true
			}
			for _, x := range adktest.Results(msg) {
				require.True(t, open[x.ID], x.ID)
				delete(open, x.ID)
			}
		}
		require.Empty(t, open)
		require.Len(t, m.Wires(), 2)
		require.Contains(t, strings.Join(m.Wires()[1].MessagesDump, "\n"), `form2{"n":2}`)
	}
}

// The Filter is asked again for each batch of a program.
func TestFilter_AppliesToEachBatch(t *testing.T) {
	var ran atomic.Int32
	search, err := toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: forms(func(name string) {
		if strings.HasPrefix(name, "form3") {
			ran.Add(1)
		}
	}), Filter: func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return !req.InProgram || req.Tool.Name != "form3" || ran.Load() == 0, nil
	}})
	require.NoError(t, err)
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}), adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers[*schema.Message](first[*schema.Message](t, three), search)}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	last := m.Wires()[1].Messages
	require.Contains(t, last[len(last)-1].Content, `form3{"n":0}`)
	require.Equal(t, 2, strings.Count(last[len(last)-1].Content, "here is no tool named"))
	require.EqualValues(t, 1, ran.Load())
}

// A call of a program that the Filter denies only to programs emits one event: whether the tool is hidden, visible, or
// denied later. Nothing is asked that the call does not need.
func TestFilter_DenialInProgramEmitsOneEvent(t *testing.T) {
	for name, c := range map[string]struct {
		visible []string
		ran     int32 // calls of the tool
		denied  int   // further ones
	}{
		"hidden":             {denied: 3},
		"visible":            {visible: []string{"form3"}, denied: 3},
		"denied after a run": {ran: 1, denied: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int32
			var mu sync.Mutex
			var denials []einolean.Event
			asked := map[toolsearch.FilterRequest]bool{}
			search, err := toolsearch.New(t.Context(), &toolsearch.Config{
				AlwaysVisible: c.visible,
				DynamicTools: forms(func(name string) {
					if strings.HasPrefix(name, "form3") {
						ran.Add(1)
					}
				}),
				Filter: func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
					mu.Lock()
					defer mu.Unlock()
					if req.Tool.Name == "form3" {
						asked[toolsearch.FilterRequest{Phase: req.Phase, InProgram: req.InProgram}] = true
					}
					return !req.InProgram || req.Tool.Name != "form3" || ran.Load() < c.ran, nil
				},
				OnEvent: func(_ context.Context, e einolean.Event) {
					mu.Lock()
					defer mu.Unlock()
					if e.Kind == einolean.KindToolsDenied {
						denials = append(denials, e)
					}
				},
			})
			require.NoError(t, err)
			program := adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}
			m := adktest.Script[*schema.Message](adktest.Do(program), adktest.Say("done"))
			agent := adktest.Agent[*schema.Message]{
				Model: m, Handlers: adktest.Handlers[*schema.Message](first[*schema.Message](t, three), search),
			}
			require.NoError(t, agent.Run(t.Context(), []*schema.Message{schema.UserMessage("go")}).Err)
			last := m.Wires()[1].Messages
			require.Equal(t, c.denied, strings.Count(last[len(last)-1].Content, "here is no tool named"), last[len(last)-1].Content)
			require.EqualValues(t, c.ran, ran.Load())
			require.Len(t, denials, c.denied)
			for _, e := range denials {
				require.Equal(t, "form3", e.Tool)
				require.Equal(t, "load", e.Tools.Phase)
				require.NotEmpty(t, e.CallID)
			}
			require.NotContains(t, asked, toolsearch.FilterRequest{Phase: toolsearch.PhaseCall})
		})
	}
}

// remover takes a call out of a program turn.
type remover struct {
	*adk.BaseChatModelAgentMiddleware
}

func (remover) AfterModelRewriteState(ctx context.Context, s *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	last := *s.Messages[len(s.Messages)-1]
	last.ToolCalls = slices.DeleteFunc(slices.Clone(last.ToolCalls), func(c schema.ToolCall) bool { return c.ID == "c.2" })
	next := *s
	next.Messages = append(slices.Clone(s.Messages[:len(s.Messages)-1]), &last)
	return ctx, &next, nil
}

// A program reads the truth of a call that a handler took out.
func TestProgramCall_RemovedByHandlerDoesNotRun(t *testing.T) {
	var ran atomic.Int32
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}), adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Tools: forms(func(string) { ran.Add(1) }), Handlers: adktest.Handlers[*schema.Message](first[*schema.Message](t, three), remover{})}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	require.EqualValues(t, 5, ran.Load())
	last := m.Wires()[1].Messages
	require.Contains(t, last[len(last)-1].Content, "a handler removed this call; it did not run")
}

// What is wrong with the agent ends its run at the start, and says what to do.
//
//claim:handlers-09
func TestNew_RejectsInvalidAgent(t *testing.T) {
	type handlers = []adk.ChatModelAgentMiddleware
	h := first[*schema.Message](t, three)
	search, err := toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("hidden", "d")}})
	require.NoError(t, err)
	reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: store.NewMemory(0)})
	require.NoError(t, err)
	for want, a := range map[string]adktest.Agent[*schema.Message]{
		"put programs.New before toolsearch.New":          {Handlers: handlers{search, h}},
		"put programs.New before reduction.New":           {Handlers: handlers{reduce, h}},
		"two handlers of programs":                        {Handlers: handlers{h, h}},
		"another tool of the agent is named run_code":     {Handlers: handlers{h}, Tools: []tool.BaseTool{adktest.Simple("run_code", "d")}},
		"another tool of the agent is named program_outp": {Handlers: handlers{h}, Tools: []tool.BaseTool{adktest.Simple("program_output", "d")}},
		"run_code is in ReturnDirectly": {Handlers: handlers{h}, Configure: func(c *adk.ChatModelAgentConfig) {
			c.ToolsConfig.ReturnDirectly = map[string]bool{"run_code": true}
		}},
	} {
		a.Model = adktest.Script[*schema.Message](adktest.Say("done"))
		out := a.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
		require.ErrorContains(t, out.Err, want)
		require.Empty(t, a.Model.Wires())
	}
	_, err = programs.New(t.Context(), &programs.Config{MaxIterations: -1})
	require.ErrorContains(t, err, "programs: Interpreter: it is nil")
	require.ErrorContains(t, err, "programs: MaxIterations: -1 is negative")
	_, err = programs.New(t.Context(), nil)
	require.ErrorContains(t, err, "the configuration is nil")
}

// Without toolsearch the agent's own tools are checked and named as its hidden ones are with it.
func TestCallGate_ChecksVisibleTools(t *testing.T) {
	params := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"id": {Type: schema.Integer, Required: true}})
	zip := &schema.ToolInfo{Name: "zip_code", Desc: "The zip code of an order", ParamsOneOf: params, Extra: map[string]any{toolset.OutputSchemaKey: `{"type":"string"}`}}
	own := adktest.Tool(adktest.Invokable, zip, func(_ context.Context, args string) (string, error) { return "10115", nil })
	var read []programs.Result
	in := programtest.Programs{"p": func(r *programtest.Program) {
		read = r.Call(`zip_code {"id":1}`, `zip_code {"id":"x"}`, `zip_code {"id":9.007199254740992e+15}`, `zip_code [1]`, `zip_cod {"id":1}`, `zipCode {"id":1}`, `run_code {}`, `transfer_to_agent {}`)
	}}
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"p"}`}), adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{own}, Handlers: adktest.Handlers[*schema.Message](first[*schema.Message](t, in))}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	for i, want := range []string{`"10115"`, "did not run", "may have been rounded", "takes one object", "Nearest: tools.zip_code({id: number}): Promise<string>", `"10115"`, "call it directly", "call it directly"} {
		require.Contains(t, read[i].Text, want)
		require.Equal(t, want != `"10115"`, read[i].Failed, read[i].Text)
	}
	require.NotContains(t, read[4].Text, "search")
	about := m.Wires()[0].ToolNames
	require.Equal(t, []string{"zip_code", "run_code"}, about, "program_output is not shown")
}
