// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einonext_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/agentsmd"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/cloudwego/eino/adk/session"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

var engine = javascript.New(javascript.Limits{})

// plan is a conversation: what the model answers in each turn, and which handlers the agent has.
type plan struct {
	seed      uint64
	turns     [][]adktest.Turn // the last answer of each ends the turn
	rollback  int              // after this turn the session goes back to the one before; 0: never
	handlers  []string
	search    toolsearch.Config
	reduction reduction.Config
	instruct  string
	streaming bool
	programs  bool
}

func planOf(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 4))
	p := plan{seed: seed, streaming: r.IntN(2) == 0}
	if r.IntN(3) > 0 {
		p.instruct = "You are an agent."
	}
	p.handlers = []string{"toolsearch", "reduction"}
	for _, other := range []string{"patchtoolcalls", "agentsmd", "summarization", "window", "second reduction"} {
		if r.IntN(3) == 0 {
			p.handlers = append(p.handlers, other)
		}
	}
	r.Shuffle(len(p.handlers), func(i, j int) { p.handlers[i], p.handlers[j] = p.handlers[j], p.handlers[i] })
	if p.programs = r.IntN(3) == 0; p.programs {
		p.handlers = append([]string{"programs"}, p.handlers...)
	}
	p.search = toolsearch.Config{
		Protocol:     []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchLoad, toolsearch.SearchCall}[r.IntN(3)],
		UnloadAfter:  []int{0, 0, 3}[r.IntN(3)],
		CatalogLimit: []int{0, 4}[r.IntN(2)],
		Prefetch:     []int{0, 0, 2}[r.IntN(3)],
	}
	if p.search.Protocol == toolsearch.SearchCall {
		p.search.UnloadAfter = 0
	}
	p.reduction = reduction.Config{
		MaxLengthForTrunc: []int{500, 3000}[r.IntN(2)], MaxTokensForClear: []int64{1, 600, 2000}[r.IntN(3)],
		ClearRetentionSuffixLimit: []int{0, 1, 2}[r.IntN(3)], ProvideReadTool: r.IntN(2) == 0, CompactJSON: r.IntN(3) == 0,
	}
	n := 0
	for range 2 + r.IntN(4) {
		var turn []adktest.Turn
		for range r.IntN(4) {
			var calls []adktest.ToolCall
			for range 1 + r.IntN(2)*r.IntN(3) {
				n++
				calls = append(calls, callOf(r, n, p.search.Protocol, p.programs))
			}
			turn = append(turn, adktest.Do(calls...))
		}
		p.turns = append(p.turns, append(turn, adktest.Say(fmt.Sprintf("answer %d", len(p.turns)))))
	}
	if r.IntN(4) == 0 {
		p.rollback = 1 + r.IntN(len(p.turns)-1)
	}
	return p
}

func callOf(r *rand.Rand, n int, protocol toolsearch.Protocol, runs bool) adktest.ToolCall {
	c := adktest.ToolCall{ID: "c" + strconv.Itoa(n), Args: "{}"}
	hidden := fmt.Sprintf("hidden_%d", r.IntN(9))
	switch r.IntN(6) {
	case 0:
		c.Name, c.Args = "tool_search", `{"query":"`+hidden+`"}`
	case 1:
		c.Name, c.Args = "tool_search", `{"query":"select:`+hidden+`"}`
	case 2:
		c.Name = hidden
	case 3:
		c.Name = "asks"
	default:
		c.Name, c.Args = "big", fmt.Sprintf(`{"size":%d}`, 100+r.IntN(6000))
	}
	switch {
	case protocol == toolsearch.SearchLoad && strings.Contains(c.Args, "select:"):
		c.Name, c.Args = "load_tool", `{"tool_name":"`+hidden+`"}`
	case protocol == toolsearch.SearchLoad && c.Name == "tool_search":
		c.Name = "search_tools"
	case runs && r.IntN(2) == 0 && (c.Name == hidden || c.Name == "asks" || c.Name == "big"):
		c.Name, c.Args = "run_code", programOf(r, c.Name, c.Args)
	case protocol == toolsearch.SearchCall && c.Name == hidden:
		c.Name, c.Args = "call_tool", `{"name":"`+hidden+`","arguments":{"value":"x"}}`
	}
	return c
}

// programOf is a call to run_code with a program that calls a tool, alone or beside another.
func programOf(r *rand.Rand, name, args string) string {
	call := fmt.Sprintf("tools.%s(%s)", name, args)
	if r.IntN(2) == 0 {
		call = fmt.Sprintf(`Promise.all([%s, tools.hidden_%d({value: "y"})])`, call, r.IntN(9))
	}
	code, _ := json.Marshal(map[string]string{"code": "print(await " + call + ")"})
	return string(code)
}

// arm runs a plan: in a session, or with the history in memory.
type arm[M adk.MessageType] struct {
	plan   plan
	model  *adktest.Model[M]
	answer func() adktest.Turn
	state  []M // the messages at the end of the last run
	agent  *adk.TypedChatModelAgent[M]
	store  *session.InMemoryStore[M]
	points *adktest.Store
	starts []int // the first request of each turn
}

// keeper notes the messages at the end of a run.
type keeper[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	arm *arm[M]
}

func (k keeper[M]) AfterAgent(ctx context.Context, s *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	k.arm.state = slices.Clone(s.Messages)
	return ctx, nil
}

type guide struct{}

func (guide) Read(context.Context, *agentsmd.ReadRequest) (*agentsmd.FileContent, error) {
	return &agentsmd.FileContent{Content: "Be kind."}, nil
}

type summarizer[M adk.MessageType] struct{}

func (summarizer[M]) Generate(context.Context, []M, ...model.Option) (M, error) {
	return adktest.Assistant[M]("a summary"), nil
}

func (s summarizer[M]) Stream(ctx context.Context, in []M, _ ...model.Option) (*schema.StreamReader[M], error) {
	m, err := s.Generate(ctx, in)
	return schema.StreamReaderFromArray([]M{m}), err
}

func (a *arm[M]) handler(t testing.TB, name string, second reduction.Backend) adk.TypedChatModelAgentMiddleware[M] {
	ctx := context.Background()
	var h adk.TypedChatModelAgentMiddleware[M]
	var err error
	switch name {
	case "programs":
		h, err = programs.NewTyped[M](ctx, &programs.Config{Interpreter: engine})
	case "toolsearch":
		cfg := a.plan.search
		for i := range 9 {
			cfg.DynamicTools = append(cfg.DynamicTools, adktest.Simple(fmt.Sprintf("hidden_%d", i), "Hides things."))
		}
		if cfg.CatalogLimit > 0 {
			cfg.Backend = second
		}
		h, err = toolsearch.NewTyped[M](ctx, &cfg)
	case "reduction", "second reduction":
		c := a.plan.reduction
		if name == "second reduction" {
			c.ProvideReadTool, c.RootDir, c.MaxTokensForClear = false, "/second", 2500
		}
		h, err = reduction.NewTyped(ctx, &reduction.TypedConfig[M]{
			Backend: second, MaxLengthForTrunc: c.MaxLengthForTrunc, MaxTokensForClear: c.MaxTokensForClear, RootDir: c.RootDir,
			ClearRetentionSuffixLimit: c.ClearRetentionSuffixLimit, ProvideReadTool: c.ProvideReadTool, CompactJSON: c.CompactJSON,
		})
	case "patchtoolcalls":
		h, err = patchtoolcalls.NewTyped[M](ctx, nil)
	case "agentsmd":
		h, err = agentsmd.NewTyped[M](ctx, &agentsmd.Config{Backend: guide{}, AgentsMDFiles: []string{"/agents.md"}})
	case "summarization":
		h, err = summarization.NewTyped(ctx, &summarization.TypedConfig[M]{Model: summarizer[M]{}, Trigger: &summarization.TriggerCondition{ContextMessages: 14}})
	case "window":
		h = window.HandlerFor[M](window.New(window.Config{}))
	}
	require.NoError(t, err)
	return h
}

func newArm[M adk.MessageType](t testing.TB, p plan) *arm[M] {
	a := &arm[M]{plan: p, store: session.NewInMemoryStore[M](nil), points: &adktest.Store{}}
	a.model = &adktest.Model[M]{Respond: func(int, adktest.Wire[M]) adktest.Turn { return a.answer() }}
	backend := store.NewMemory(0)
	var handlers []adk.TypedChatModelAgentMiddleware[M]
	for _, name := range p.handlers {
		handlers = append(handlers, a.handler(t, name, backend))
	}
	handlers = append(handlers, keeper[M]{arm: a})
	big := adktest.Simple("big", "Returns much.")
	big = adktest.Tool(adktest.Form(p.seed%4), infoOf(t, big), func(_ context.Context, args string) (string, error) {
		n, _ := strconv.Atoi(strings.Trim(args, `{}"size:`))
		return fmt.Sprintf(`{"rows":[%s0]}`, strings.Repeat("1234567, ", n/9)), nil
	})
	asks := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "asks", Desc: "Asks a person."}, func(ctx context.Context, _ string) (string, error) {
		if was, _, _ := tool.GetInterruptState[string](ctx); !was {
			return "", tool.StatefulInterrupt(ctx, "may I?", "asked")
		}
		if _, has, data := tool.GetResumeContext[string](ctx); has {
			return "they say " + data, nil
		}
		return "", tool.StatefulInterrupt(ctx, "may I?", "asked")
	})
	cfg := &adk.TypedChatModelAgentConfig[M]{Name: "agent", Description: "an agent", Instruction: p.instruct, Model: a.model, Handlers: handlers, MaxIterations: 50}
	cfg.ToolsConfig.Tools = []tool.BaseTool{big, asks}
	var err error
	a.agent, err = adk.NewTypedChatModelAgent(context.Background(), cfg)
	require.NoError(t, err)
	return a
}

func infoOf(t testing.TB, x tool.BaseTool) *schema.ToolInfo {
	info, err := x.Info(context.Background())
	require.NoError(t, err)
	return info
}

// run runs all turns. In a session each one has a new Runner, which knows nothing but the log.
func (a *arm[M]) run(inSession bool) error {
	ctx := context.Background()
	var history [][]M
	var heads []string
	a.state = nil
	for i := 0; i < len(a.plan.turns); i++ {
		step := 0
		a.answer = func() adktest.Turn {
			step++
			return a.plan.turns[i][min(step, len(a.plan.turns[i]))-1]
		}
		a.starts = append(a.starts, len(a.model.Wires()))
		conf := adk.TypedRunnerConfig[M]{Agent: a.agent, EnableStreaming: a.plan.streaming, CheckPointStore: a.points}
		input, point := []M{adktest.User[M](fmt.Sprintf("request %d", i))}, fmt.Sprint("point ", i)
		opts := []adk.AgentRunOption{adk.WithCheckPointID(point)}
		if inSession {
			conf.SessionID, conf.SessionStore, opts, point = "s", a.store, nil, ""
		} else {
			input = append(slices.DeleteFunc(slices.Clone(a.state), isInstruction), input...)
		}
		runner := adk.NewTypedRunner(conf)
		out := adktest.Collect(runner.Run(ctx, input, opts...))
		for out.Interrupted != nil && out.Err == nil {
			answers := map[string]any{}
			for _, c := range out.Interrupted.InterruptContexts {
				if c.IsRootCause {
					answers[c.ID] = "yes"
				}
			}
			it, err := adk.NewTypedRunner(conf).ResumeWithParams(ctx, point, &adk.ResumeParams{Targets: answers})
			if err != nil {
				return fmt.Errorf("turn %d: resume: %w", i, err)
			}
			out = adktest.Collect(it)
		}
		if out.Err != nil {
			return fmt.Errorf("turn %d: %w", i, out.Err)
		}
		history = append(history, a.state)
		if inSession {
			heads = append(heads, a.head())
		}
		if i > 0 && i == a.plan.rollback {
			a.state = history[i-1]
			if inSession {
				if err := adk.RollbackSession(ctx, a.store, "s", heads[i-1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// head is the id of the event that ended the last turn.
func (a *arm[M]) head() string {
	got, err := a.store.LoadEvents(context.Background(), "s", &adk.LoadSessionEventsRequest{
		Reverse: true, Limit: 1, Kinds: []adk.SessionEventKind{adk.SessionEventSessionStatusIdle},
	})
	if err != nil || len(got.Events) == 0 {
		return ""
	}
	return got.Events[0].EventID
}

func isInstruction[M adk.MessageType](m M) bool { return adktest.Role(m) == "system" }

// requests are all requests as text.
func (a *arm[M]) requests() (out []string) {
	for _, w := range a.model.Wires() {
		out = append(out, fmt.Sprintf("tools %v\n%s", w.ToolNames, strings.Join(w.MessagesDump, "\n")))
	}
	return out
}

// broken counts the turns whose first request does not begin with the last one before.
func (a *arm[M]) broken() (broken int) {
	wires := a.model.Wires()
	for i, at := range a.starts {
		if i == 0 || i-1 == a.plan.rollback && a.plan.rollback > 0 {
			continue
		}
		last, first := wires[at-1], wires[at]
		if len(first.MessagesDump) < len(last.MessagesDump) || !slices.Equal(first.MessagesDump[:len(last.MessagesDump)], last.MessagesDump) {
			broken++
		}
	}
	return broken
}

type counts struct{ sessions, turns, broken, inMemory int }

func compare[M adk.MessageType](t testing.TB, p plan, c *counts) {
	memory, inSession := newArm[M](t, p), newArm[M](t, p)
	require.NoError(t, memory.run(false), "seed %d %v", p.seed, p.handlers)
	require.NoError(t, inSession.run(true), "seed %d %v", p.seed, p.handlers)
	want, got := memory.requests(), inSession.requests()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i], "seed %d, request %d of %d, turns %v, handlers %v", p.seed, i, len(want), memory.starts, p.handlers)
		}
	}
	require.Equal(t, len(want), len(got))
	c.sessions++
	c.turns += len(p.turns) - 1
	c.broken += inSession.broken()
	c.inMemory += memory.broken()
}

// A resumed session continues as if its history had stayed in memory, with any other handlers.
func TestSessions_ResumeAsIfKeptInMemory(t *testing.T) {
	n, seed := 60, uint64(time.Now().UnixNano())
	if s := os.Getenv("EINOLEAN_SESSIONS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("EINOLEAN_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	var c counts
	for i := range n {
		p := planOf(seed + uint64(i))
		if i%2 == 0 {
			compare[*schema.Message](t, p, &c)
		} else {
			compare[*schema.AgenticMessage](t, p, &c)
		}
	}
	require.LessOrEqual(t, c.broken, c.inMemory, "seed %d", seed)
	t.Logf("seed %d: %d sessions, %d turns begun with a history, cached prefix broken at %d, in memory at %d", seed, c.sessions, c.turns, c.broken, c.inMemory)
}
