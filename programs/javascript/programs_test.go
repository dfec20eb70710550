// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolerror"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// shop has the tools of these tests, and counts which calls ran.
type shop struct{ adktest.Ran }

// orders is a result of about 9 KB.
func orders() string {
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"total":%d,"note":"no special note here, move along, nothing to see"}`, i, (i*37)%500))
	}
	return "[" + strings.Join(rows, ",") + "]"
}

func (s *shop) tools() []tool.BaseTool {
	customer := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"customer": {Type: schema.Integer, Required: true}})
	text := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"text": {Type: schema.String, Required: true}})
	return []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "list_orders", Desc: "Orders of a customer", ParamsOneOf: customer,
			Extra: map[string]any{toolset.OutputSchemaKey: `{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"total":{"type":"integer"}},"required":["id","total"]}}`}},
			func(ctx context.Context, _ string) (string, error) { return orders(), s.Add(ctx) }),
		adktest.Tool(adktest.EnhancedStreamable, &schema.ToolInfo{Name: "refund", Desc: "Refunds a customer", ParamsOneOf: customer},
			func(ctx context.Context, args string) (string, error) {
				was, _, _ := tool.GetInterruptState[any](ctx)
				if target, _, _ := tool.GetResumeContext[any](ctx); !was || !target {
					return "", tool.Interrupt(ctx, "refund "+args+"?")
				}
				return "refunded " + args, s.Add(ctx)
			}),
		adktest.Tool(adktest.Streamable, &schema.ToolInfo{Name: "long", Desc: "A long text", ParamsOneOf: customer},
			func(ctx context.Context, _ string) (string, error) {
				return strings.Repeat("0123456789", 34_000) + "END", s.Add(ctx)
			}),
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "measure", Desc: "The length of a text", ParamsOneOf: text},
			func(ctx context.Context, args string) (string, error) {
				return fmt.Sprintf(`{"bytes":%d}`, len(args)), s.Add(ctx)
			}),
		adktest.Tool(adktest.Enhanced, &schema.ToolInfo{Name: "broken", Desc: "Is out of order"},
			func(ctx context.Context, _ string) (string, error) {
				return "", errors.Join(s.Add(ctx), errors.New("out of order"))
			}),
	}
}

// program is a turn of the model that runs programs.
func program(codes ...string) (t adktest.Turn) {
	for i, code := range codes {
		t.Calls = append(t.Calls, adktest.ToolCall{ID: fmt.Sprintf("c%d", i), Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, code)})
	}
	return t
}

// shared is one interpreter for all tests: making one takes longer than most of them.
var shared = javascript.New(javascript.Limits{})

// setup is the configuration of an agent with programs and hidden tools.
type setup struct {
	*toolsearch.Config
	programs programs.Config
}

func config(s *shop) *setup {
	return &setup{&toolsearch.Config{DynamicTools: s.tools(), Protocol: toolsearch.SearchCall}, programs.Config{Interpreter: shared}}
}

// handlers are those of the setup, in their order.
func handlers[M adk.MessageType](t require.TestingT, cfg *setup) []adk.TypedChatModelAgentMiddleware[M] {
	own := cfg.programs
	own.OnEvent = cfg.OnEvent
	first, err := programs.NewTyped[M](context.Background(), &own)
	require.NoError(t, err)
	second, err := toolsearch.NewTyped[M](context.Background(), cfg.Config)
	require.NoError(t, err)
	return []adk.TypedChatModelAgentMiddleware[M]{first, second}
}

// answerTo runs one program in an agent, and returns what the model read of it.
func answerTo(t *testing.T, cfg *setup, code string, more ...adk.ChatModelAgentMiddleware) string {
	t.Helper()
	h := handlers[*schema.Message](t, cfg)
	m := adktest.Script[*schema.Message](program(code), adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: append(h, more...)}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	require.Len(t, m.Wires(), 2)
	return m.Wires()[1].Messages[len(m.Wires()[1].Messages)-1].Content
}

func TestProgram_FiftyCallsInOneModelCall(t *testing.T) {
	adktest.Both(t, fiftyCalls[*schema.Message], fiftyCalls[*schema.AgenticMessage])
}

func fiftyCalls[M adk.MessageType](t *testing.T, streaming bool) {
	s, c := &shop{}, window.New(window.Config{})
	cfg := config(s)
	cfg.OnEvent = c.Event
	h := handlers[M](t, cfg)
	m := adktest.Script[M](
		adktest.Turn{Calls: []adktest.ToolCall{{ID: "s", Name: "tool_search", Args: `{"query":"orders customer"}`}}},
		program(`const pages = await Promise.all(Array.from({length: 50}, (_, c) => tools.list_orders({customer: c}))); print(pages.flat().filter(o => o.total > 490).length)`),
		adktest.Say("done"))
	out := adktest.Agent[M]{Model: m, Handlers: append(h, window.HandlerFor[M](c)), Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("how many orders exceed 490?")})
	require.NoError(t, out.Err)
	require.Len(t, s.Times(), 50)
	require.Len(t, m.Wires(), 3)
	last := m.Wires()[2].MessagesDump
	require.Contains(t, last[3], "tools.list_orders({customer: number}): Promise<{id: number, total: number}[]>  // Orders of a customer")
	require.Equal(t, "tool: result(c0 run_code) 150", last[len(last)-1])

	var calls []*window.ModelCall
	for conversation := range c.Conversations() {
		calls = append(calls, conversation.Calls...)
	}
	require.Len(t, calls, 3, "a virtual turn is no model call")
	require.Greater(t, calls[2].OmittedTokens.Program, 90_000, "what the program read did not enter the window")
	require.Equal(t, einolean.KindProgramEnded, calls[2].Events[len(calls[2].Events)-1].Kind)
	require.Equal(t, []einolean.ProgramCalls{{Tool: "list_orders", Calls: 50, Bytes: 50 * len(orders())}}, calls[2].Events[len(calls[2].Events)-1].Program.Calls)
}

// The window of a program says what it read and called, and the saving, whether or not the collector
// hears the events.
func TestWindow_SameWithoutEvents(t *testing.T) {
	adktest.Both(t, sameWithoutEvents[*schema.Message], sameWithoutEvents[*schema.AgenticMessage])
}

func sameWithoutEvents[M adk.MessageType](t *testing.T, streaming bool) {
	code := `const pages = await Promise.all(Array.from({length: 50}, (_, c) => tools.list_orders({customer: c}))); print(pages.length)`
	conversation := func(heard bool) *window.Conversation {
		c := window.New(window.Config{})
		cfg := config(&shop{})
		if heard {
			cfg.OnEvent = c.Event
		}
		m := adktest.Script[M](adktest.Turn{Calls: []adktest.ToolCall{{ID: "s", Name: "tool_search", Args: `{"query":"orders customer"}`}}}, program(code), adktest.Say("done"))
		out := adktest.Agent[M]{Model: m, Handlers: append(handlers[M](t, cfg), window.HandlerFor[M](c)), Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("go")})
		require.NoError(t, out.Err)
		for one := range c.Conversations() {
			return one
		}
		return nil
	}
	heard, unheard := conversation(true), conversation(false)
	require.Equal(t, heard.Totals(), unheard.Totals())
	for i, c := range heard.Calls {
		require.Equal(t, c.OmittedTokens, unheard.Calls[i].OmittedTokens)
		require.Equal(t, c.Without, unheard.Calls[i].Without)
		require.Equal(t, c.By, unheard.Calls[i].By)
	}
	last := unheard.Calls[len(unheard.Calls)-1]
	require.Positive(t, last.By[window.Program])
	require.Zero(t, last.OmittedTokens.Results, "nothing was taken out of a result")
	for _, p := range last.Parts() {
		if p.Label == toolnames.Run && p.CallID == "" {
			require.Equal(t, window.HelpTools, p.Category, "run_code is no tool of the agent's own")
		}
	}
	left := last.Omissions()
	require.Len(t, left, 1)
	require.Equal(t, "program", left[0].Rule)
	require.Equal(t, []einolean.ProgramCalls{{Tool: "list_orders", Calls: 50, Bytes: 50 * len(orders())}}, left[0].Calls)
	require.InDelta(t, 50*tokens.Of(orders()), left[0].Before, 0)
	totals := unheard.Totals()
	require.Equal(t, []int{1, 0, left[0].Before, 0, 0}, []int{totals.Programs, totals.Unknown, totals.ProgramsRead,
		totals.Omissions, totals.Unreadable})
}

// What a program of an earlier process read is not known, and the record says so.
func TestWindow_UnknownReadsOfOtherProcess(t *testing.T) {
	adktest.Both(t, notKnown[*schema.Message], notKnown[*schema.AgenticMessage])
}

func notKnown[M adk.MessageType](t *testing.T, streaming bool) {
	run := func(history []M, m *adktest.Model[M]) *window.Conversation {
		c := window.New(window.Config{})
		out := adktest.Agent[M]{Model: m, Handlers: append(handlers[M](t, config(&shop{})), window.HandlerFor[M](c)), Streaming: streaming}.Run(t.Context(), history)
		require.NoError(t, out.Err)
		for one := range c.Conversations() {
			return one
		}
		return nil
	}
	first := adktest.Script[M](program(`print((await tools.list_orders({customer: 1})).length)`), adktest.Say("done"))
	run([]M{adktest.User[M]("go")}, first)
	history := first.Wires()[len(first.Wires())-1].Messages
	conversation := run(append(slices.Clone(history), adktest.User[M]("and now?")), adktest.Script[M](adktest.Say("done")))
	left := conversation.Calls[0].Omissions()
	require.Len(t, left, 1)
	require.True(t, left[0].Unknown)
	require.Equal(t, left[0].After, left[0].Before)
	require.Equal(t, 1, conversation.Totals().Unknown)
	var text strings.Builder
	require.NoError(t, inspect.WriteText(&text, conversation, inspect.TextOptions{Width: 200}))
	require.Contains(t, text.String(), "what 1 of 1 program read is not known")
}

//claim:security-33
func TestAnswers_NameForbiddenCalls(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a failure, of which call", `await tools.list_orders({customer: 1}); await tools.broken({why: "no"})`, `error: tools.broken({"why":"no"}) failed: The tool broken failed: out of order`},
		{"a failure before any tool ran", `await tools.list_orders({})`, "(1 call of list_orders, 1 failed; a failed call throws)"},
		{"arguments by position", `await tools.list_orders(1)`, "list_orders takes one object, and did not run: tools.list_orders({customer: number})"},
		{"a failure of which nothing is told", `await tools.broken({}).catch(() => {})`, "broken failed: The tool broken failed: out of order"},
		{"a wrong name", `await tools.list_order({})`, "there is no tool named list_order. Nearest: tools.list_orders({customer: number})"},
		{"wrong arguments", `await tools.list_orders({customer: "x"})`, "the arguments do not fit, and the tool did not run"},
		{"a search tool", `await tools.tool_search({query: "x"})`, "call it directly"},
		{"a program", `await tools.run_code({code: "1"})`, "call it directly"},
		{"nothing stored", `await stored("/tmp/trunc/x")`, "nothing is stored under /tmp/trunc/x"},
		{"a failure that is caught", `try { await tools.broken({}) } catch (e) { print("caught:", e.message) }`, "caught: "},
		{"a failure that is not", "print(1);\nawait tools.broken({})",
			"(near line 2: await tools.broken({}))\n(1 call of broken, 1 failed; a failed call throws)"},
		{"nothing printed", `const r = await tools.list_orders({customer: 1}); null`, "Its last call returned {id: number, note: string, total: number}[]"},
		{"no code", ``, "run_code needs the \"code\""},
		{"no calls", `print(1 + 1)`, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			errors, err := toolerror.New(t.Context(), nil)
			require.NoError(t, err)
			require.Contains(t, answerTo(t, config(&shop{}), c.code, errors), c.want)
		})
	}
}

//claim:security-36
func TestAllow_DeniesPrograms(t *testing.T) {
	s := &shop{}
	cfg := config(s)
	cfg.programs.Allow = func(info *schema.ToolInfo) bool { return info.Name != "long" }
	require.Contains(t, answerTo(t, cfg, `print(await tools.long({customer: 1}))`), "long may not be called by programs")
	require.Empty(t, s.Times())
}

// Allow decides over the agent's own tools too, by all that they say of themselves.
func TestAllow_GetsOwnTools(t *testing.T) {
	s := &shop{}
	cfg := config(s)
	cfg.programs.Allow = func(info *schema.ToolInfo) bool { return info.Extra["writes"] == nil }
	h := handlers[*schema.Message](t, cfg)
	m := adktest.Script[*schema.Message](program(`print(await tools.look({})); print(await tools.write({}))`), adktest.Say("done"))
	own := func(name string, extra map[string]any) tool.BaseTool {
		return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "A tool", Extra: extra}, func(ctx context.Context, _ string) (string, error) { return name, s.Add(ctx) })
	}
	out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{own("look", nil), own("write", map[string]any{"writes": true})}, Handlers: h}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	got := m.Wires()[1].Messages[len(m.Wires()[1].Messages)-1].Content
	require.Contains(t, got, "look\n")
	require.Contains(t, got, "write may not be called by programs")
	require.Len(t, s.Times(), 1)
}

//claim:security-33
func TestFilter_AppliesToProgramCalls(t *testing.T) {
	s := &shop{}
	cfg := config(s)
	var mu sync.Mutex
	asked := map[string]bool{}
	cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[fmt.Sprint(req.Tool.Name, " ", req.Phase, " ", req.InProgram)] = true
		return !req.InProgram || req.Tool.Name != "long", nil
	}
	got := answerTo(t, cfg, `print((await tools.list_orders({customer: 1})).length); print(await tools.long({customer: 1}))`)
	require.Contains(t, got, "100\n")
	require.Contains(t, got, "there is no tool named long")
	require.Len(t, s.Times(), 1)
	for _, want := range []string{"list_orders load true", "list_orders call true", "long load true"} {
		require.True(t, asked[want], want)
	}
}

// namesSeen records the tools that a handler sees, by the names that it sees.
type namesSeen struct {
	*adk.BaseChatModelAgentMiddleware
	mu    sync.Mutex
	names map[string]int
}

func (n *namesSeen) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, call *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names[call.Name]++
	return next, nil
}

func TestHandlers_SeeProgramAndEachCall(t *testing.T) {
	seen := &namesSeen{names: map[string]int{}}
	answerTo(t, config(&shop{}), `await Promise.all([1, 2, 3].map(customer => tools.list_orders({customer}))); await tools.measure({text: "x"})`, seen)
	require.Equal(t, map[string]int{"run_code": 1, "list_orders": 3, "measure": 1, "program_output": 1}, seen.names)
}

func TestMaxIterations_EndsProgramEarly(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		s := &shop{}
		cfg := config(s)
		cfg.programs.MaxIterations = 6
		cfg.programs.Interpreter = javascript.New(javascript.Limits{MaxBatches: 100})
		h := handlers[*schema.Message](t, cfg)
		m := adktest.Script[*schema.Message](program(`for (let i = 0; i < 30; i++) { await tools.measure({text: "x"}); print("so far", i) }`), adktest.Say("done"))
		out := adktest.Agent[*schema.Message]{Model: m, Handlers: h, Streaming: streaming, Max: 6}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
		require.NoError(t, out.Err)
		got := m.Wires()[1].Messages[len(m.Wires()[1].Messages)-1].Content
		require.Contains(t, got, "so far 2\n")
		require.Contains(t, got, "one of the 6 model calls that the agent's MaxIterations allows")
		require.Len(t, s.Times(), 4)
	}
}

// 340 KB go from one tool to another, and none of it into a prompt.
func TestProgram_PassesLargeResultsBetweenTools(t *testing.T) {
	files := store.NewMemory(1 << 30)
	reduce, err := reduction.New(t.Context(), reduction.Recommended(files))
	require.NoError(t, err)
	got := answerTo(t, config(&shop{}), `const text = await tools.long({customer: 1}); print(text.length, text.slice(-3), await tools.measure({text}))`, reduce)
	require.Equal(t, "340003 END {\"bytes\":340014}", got)
}

func TestStored_ReturnsContent(t *testing.T) {
	reduce, err := reduction.New(t.Context(), reduction.Recommended(store.NewMemory(1<<30)))
	require.NoError(t, err)
	h := handlers[*schema.Message](t, config(&shop{}))
	m := adktest.Script[*schema.Message](
		adktest.Turn{Calls: []adktest.ToolCall{{ID: "l", Name: "call_tool", Args: `{"name":"long","arguments":{"customer":1}}`}}},
		program(`const text = await stored("/tmp/trunc/l"); print(text.length, text.slice(-3))`),
		adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: append(h, reduce)}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	last := m.Wires()[2].Messages
	require.Contains(t, last[len(last)-1].Content, "340003 END")
}

// A caller who rebuilds the history from the events of a run finds the calls of programs in it, and
// Eino's patchtoolcalls, which may come first, does not see that they have been answered.
func TestHistory_FromEventsIsRepaired(t *testing.T) {
	adktest.Both(t, historyFromEvents[*schema.Message], historyFromEvents[*schema.AgenticMessage])
}

func historyFromEvents[M adk.MessageType](t *testing.T, streaming bool) {
	s := &shop{}
	h := handlers[M](t, config(s))
	patch, err := patchtoolcalls.NewTyped[M](t.Context(), nil)
	require.NoError(t, err)
	later, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{DynamicTools: s.tools()})
	require.NoError(t, err)
	for _, handlers := range [][]adk.TypedChatModelAgentMiddleware[M]{{h[0], h[1]}, {h[0], h[1], patch}, {h[0], patch, h[1]}} {
		m := adktest.Script[M](program(`const a = await tools.list_orders({customer: 1}); const b = await tools.measure({text: "x"}); print(a.length, b.bytes)`, `print(await tools.measure({text: "y"}))`), adktest.Say("done"))
		agent := adktest.Agent[M]{Model: m, Handlers: handlers, Streaming: streaming}
		out := agent.Run(t.Context(), []M{adktest.User[M]("go")})
		require.NoError(t, out.Err)
		require.Greater(t, len(out.Messages), 5, "the events tell of the calls of the programs")
		whole := m.Wires()[1].MessagesDump
		m.Reset()
		history := append(append([]M{adktest.User[M]("go")}, out.Messages...), adktest.User[M]("again"))
		require.NoError(t, agent.Run(t.Context(), history).Err)
		whole = append(whole[:5:5], "assistant: done", "user: again")
		require.Equal(t, whole, m.Wires()[0].MessagesDump)
		agent.Model = adktest.Script[M](adktest.Say("done"))
		agent.Handlers[slices.Index(handlers, h[1])] = later
		require.NoError(t, agent.Run(t.Context(), history).Err)
		require.Equal(t, whole, agent.Model.Wires()[0].MessagesDump, "after a change of protocol")
	}
}

// Chance differs from run to run, also where calls have the same ids, and a run that goes on in
// another process keeps its own.
func TestRandom_FollowsRun(t *testing.T) {
	said := map[string]bool{}
	for range 3 {
		s, store := &shop{}, &adktest.Store{}
		agent := func(m *adktest.Model[*schema.Message]) *adk.Runner {
			r, err := adktest.Agent[*schema.Message]{Model: m, Handlers: handlers[*schema.Message](t, config(s)), Store: store}.Runner(t.Context())
			require.NoError(t, err)
			return r
		}
		m := adktest.Script[*schema.Message](program(`const customer = Math.floor(Math.random() * 1e9); const did = await tools.refund({customer}); print(did.includes(customer), customer)`), adktest.Say("done"))
		out := adktest.Collect(agent(m).Run(t.Context(), []*schema.Message{schema.UserMessage("go")}, adk.WithCheckPointID("x")))
		require.NotNil(t, out.Interrupted)
		it, err := agent(m).ResumeWithParams(t.Context(), "x", &adk.ResumeParams{Targets: map[string]any{out.Interrupted.InterruptContexts[0].ID: "yes"}})
		require.NoError(t, err)
		require.NoError(t, adktest.Collect(it).Err)
		last := m.Wires()[1].Messages
		require.Contains(t, last[len(last)-1].Content, "true ")
		said[last[len(last)-1].Content] = true
	}
	require.Len(t, said, 3)
}

// randomCode is a program with some rounds of calls, of which some ask a person.
func randomCode(g *rand.Rand) string {
	var b strings.Builder
	b.WriteString("let n = 0;\n")
	for range 1 + g.IntN(3) {
		var calls []string
		for range 1 + g.IntN(3) {
			calls = append(calls, []string{`tools.list_orders({customer: 1})`, `tools.refund({customer: 2})`, `tools.long({customer: 3})`, `tools.nothing({}).catch(e => "no")`}[g.IntN(4)])
		}
		fmt.Fprintf(&b, "for (const r of await Promise.all([%s])) { n += r.length; print(typeof r, n, Math.random() < 1, Date.now() > 0) }\n", strings.Join(calls, ", "))
	}
	return b.String()
}

// A run that is interrupted or killed and goes on in another process makes no call twice and gives
// the model what a run without interruptions gives; with reduction, window and toolerror around
// it, in any order. EINOLEAN_PROGRAMS asks for more programs, EINOLEAN_SEED for those of another time.
//
//claim:security-35
func TestResume_InOtherProcesses(t *testing.T) {
	programs, seed := max(4, race.Cases(48)), rand.Uint64()
	if n, err := strconv.Atoi(os.Getenv("EINOLEAN_PROGRAMS")); err == nil {
		programs = n
	}
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("EINOLEAN_SEED=%d EINOLEAN_PROGRAMS=%d", seed, programs)
	interrupts, kills := 0, 0
	// Two in each run, of both message types; and more where nothing was interrupted or killed in those.
	for i := uint64(0); i < uint64(programs+3)/4 || i < 100 && (interrupts == 0 || kills == 0); i++ {
		a, b := law[*schema.Message]{T: t, Rand: rand.New(rand.NewPCG(seed, i))}, law[*schema.AgenticMessage]{T: t, Rand: rand.New(rand.NewPCG(seed, i))}
		a.holds(i%2 == 0)
		b.holds(i%2 == 0)
		interrupts, kills = interrupts+a.interrupts+b.interrupts, kills+a.kills+b.kills
	}
	t.Logf("%d interrupts, %d kills", interrupts, kills)
	require.Positive(t, interrupts)
	require.Positive(t, kills)
}

// law is one run of two programs, once without and once with interruptions.
type law[M adk.MessageType] struct {
	*testing.T
	*rand.Rand
	interrupts, kills int
}

func (l *law[M]) holds(streaming bool) {
	codes := []string{randomCode(l.Rand), randomCode(l.Rand)}
	plain, one := l.run(codes, streaming, false)
	again, two := l.run(codes, streaming, true)
	require.Equal(l, plain, again)
	require.Equal(l, len(one), len(two))
}

// runner is an agent with the handlers of a process, in any order.
func (l *law[M]) runner(s *shop, m *adktest.Model[M], streaming bool, checkpoints *adktest.Store, files *store.Memory) *adk.TypedRunner[M] {
	search := handlers[M](l, config(s))
	reduce, err := reduction.NewTyped(l.Context(), &reduction.TypedConfig[M]{Backend: files, ProvideReadTool: true, MaxLengthForTrunc: 5000})
	require.NoError(l, err)
	errors, err := toolerror.NewTyped[M](l.Context(), nil)
	require.NoError(l, err)
	all := append(search, reduce, errors, window.HandlerFor[M](window.New(window.Config{})))
	l.Shuffle(len(all)-1, func(i, j int) { all[i+1], all[j+1] = all[j+1], all[i+1] })
	r, err := adktest.Agent[M]{Model: m, Handlers: all, Streaming: streaming, Store: checkpoints, Max: 60}.Runner(l.Context())
	require.NoError(l, err)
	return r
}

// run runs programs, and returns what the model read of them, and which calls ran.
func (l *law[M]) run(codes []string, streaming, interrupted bool) (answers []string, ran map[string]int) {
	s, m := &shop{}, adktest.Script[M](program(codes...), adktest.Say("done"))
	checkpoints, files := &adktest.Store{}, store.NewMemory(1<<30)
	var asked *adk.InterruptInfo // by the last checkpoint
	r := l.runner(s, m, streaming, checkpoints, files)
	next := func(ctx context.Context) adktest.Outcome[M] {
		if asked == nil {
			m.Reset() // killed before the first checkpoint: all begins again
			return adktest.Collect(r.Run(ctx, []M{adktest.User[M]("go")}, adk.WithCheckPointID("x")))
		}
		targets := map[string]any{}
		for _, x := range asked.InterruptContexts {
			if !interrupted || len(targets) == 0 || l.IntN(2) == 0 {
				targets[x.ID] = "yes"
			}
		}
		it, err := r.ResumeWithParams(ctx, "x", &adk.ResumeParams{Targets: targets})
		require.NoError(l, err)
		return adktest.Collect(it)
	}
	for end := false; !end; {
		ctx, wasKilled := l.Context(), func(error) bool { return false }
		if interrupted {
			ctx, wasKilled = s.Process(ctx, l.Rand)
		}
		out := next(ctx)
		switch {
		case wasKilled(out.Err):
			l.kills++
		case out.Interrupted != nil:
			l.interrupts++
			asked = out.Interrupted
		default:
			require.NoError(l, out.Err)
			end = true
		}
		if interrupted && !end {
			r = l.runner(s, m, streaming, checkpoints, files)
		}
	}
	for id, n := range s.Times() {
		require.Equal(l, 1, n, id)
	}
	require.Len(l, m.Wires(), 2)
	for _, line := range m.Wires()[1].MessagesDump {
		if strings.HasPrefix(line, "tool: ") {
			answers = append(answers, line)
		}
		require.NotContains(l, line, "(c0.1", "no call of a program reaches a model")
	}
	return answers, s.Times()
}

// With Prefetch, a model reads the tools that a question needs in the form in which programs call
// them, and writes its program without a search.
func TestPrefetch_OffersSignatures(t *testing.T) {
	cfg := config(&shop{})
	cfg.Prefetch, cfg.NewIndex = 2, index.BM25
	h := handlers[*schema.Message](t, cfg)
	m := adktest.Script[*schema.Message](adktest.Say("done"))
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: h}.Run(t.Context(), []*schema.Message{schema.UserMessage("List the orders of customer 7")})
	require.NoError(t, out.Err)
	all := strings.Join(m.Wires()[0].MessagesDump, "\n")
	require.Contains(t, all, "tools.list_orders({customer: number}): Promise<")
	require.Contains(t, all, "run_code")
	require.NotContains(t, all, `\"parameters\"`)
}
