// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The benchmarks, and limits on allocations and memory.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkRun is a whole run of an agent with one tool of its own and 10,000 hidden ones.
// Rounds are rounds of tool calls; in the first ones the model searches, and in the others it
// calls the agent's own tool. Eino's core prepares all tools of an agent again for each round,
// and that is most of what is left on both sides.
func BenchmarkRun(b *testing.B) {
	for _, kind := range toolKinds {
		for _, n := range []int{10_000, 1_000, 500} {
			tools := kind.make(n)
			for _, c := range []struct{ rounds, searches int }{{0, 0}, {10, 1}, {10, 5}} {
				if n < 10_000 && (kind.kind != "plain" || c.searches != 1) {
					continue
				}
				for _, m := range makers {
					b.Run(fmt.Sprintf("tools=%d/%s/rounds=%d,searches=%d/%s", n, kind.kind, c.rounds, c.searches, m.side), func(b *testing.B) {
						benchRun(b, must(m.make(context.Background(), tools)), c.rounds, c.searches)
					})
				}
			}
		}
	}
}

// maker is a side of a comparison.
type maker struct {
	side string
	make func(context.Context, []tool.BaseTool) (adk.ChatModelAgentMiddleware, error)
}

// makers are the two packages' constructors on the same tools.
var makers = []maker{
	{"eino", func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
		return theirs.New(ctx, &theirs.Config{DynamicTools: tools})
	}},
	{"einolean", func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
		return toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools})
	}},
}

// toolKinds are the ways in which tools come: made by hand with an info that is kept, made
// by utils.InferTool, and rebuilt on every call of Info, as adapters of remote tools do.
var toolKinds = []struct {
	kind string
	make func(n int) []tool.BaseTool
}{
	{"plain", benchTools},
	{"infer", inferredTools},
	{"rebuilt", rebuiltTools},
}

func benchNames(n int) (names, descs []string) {
	verbs := strings.Fields("get list create update delete search send read write convert parse compare export import merge split")
	things := strings.Fields("weather issue message file invoice calendar event contact image report order payment customer table record page folder branch commit ticket")
	places := strings.Fields("github slack linear jira notion gmail drive stripe shopify salesforce zoom asana figma sentry datadog postgres")
	for i := range n {
		verb, thing := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		place := places[i/(len(verbs)*len(things))%len(places)]
		names = append(names, fmt.Sprintf("%s__%s_%s_%d", place, verb, thing, i))
		descs = append(descs, fmt.Sprintf("%s%ss the %s of an account in %s, by identifier or name, with optional filters and paging", strings.ToUpper(verb[:1]), verb[1:], thing, place))
	}
	return names, descs
}

func benchInfo(name, desc string) *schema.ToolInfo {
	return &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"id":     {Type: schema.String, Desc: "The identifier", Required: true},
		"filter": {Type: schema.String, Desc: "Which ones to return"},
		"limit":  {Type: schema.Integer, Desc: "The most results to return"},
	})}
}

func benchTools(n int) []tool.BaseTool {
	names, descs := benchNames(n)
	tools := make([]tool.BaseTool, n)
	for i := range tools {
		tools[i] = adktest.Tool(adktest.Invokable, benchInfo(names[i], descs[i]), nil)
	}
	return tools
}

type benchArgs struct {
	ID     string `json:"id" jsonschema:"required" jsonschema_description:"The identifier"`
	Filter string `json:"filter" jsonschema_description:"Which ones to return"`
	Limit  int    `json:"limit" jsonschema_description:"The most results to return"`
}

func inferredTools(n int) []tool.BaseTool {
	names, descs := benchNames(n)
	tools := make([]tool.BaseTool, n)
	for i := range tools {
		t, err := utils.InferTool(names[i], descs[i], func(_ context.Context, a benchArgs) (string, error) { return "echo " + a.ID, nil })
		if err != nil {
			panic(err)
		}
		tools[i] = t
	}
	return tools
}

// rebuilt makes its info on every call.
type rebuilt struct{ name, desc string }

func (r rebuilt) Info(context.Context) (*schema.ToolInfo, error) {
	return benchInfo(r.name, r.desc), nil
}

func (r rebuilt) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return "echo " + args, nil
}

func rebuiltTools(n int) []tool.BaseTool {
	names, descs := benchNames(n)
	tools := make([]tool.BaseTool, n)
	for i := range tools {
		tools[i] = rebuilt{names[i], descs[i]}
	}
	return tools
}

// answering is a model that takes its turns, and spends no time on what it is sent.
type answering struct {
	turns []adktest.Turn
	said  int
}

func (m *answering) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	turn := adktest.Say("done")
	if m.said < len(m.turns) {
		turn = m.turns[m.said]
	}
	m.said++
	return adktest.Whole[*schema.Message](turn)
}

func (m *answering) Stream(ctx context.Context, input []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	message, err := m.Generate(ctx, input, o...)
	return schema.StreamReaderFromArray([]*schema.Message{message}), err
}

func benchRun(b *testing.B, h adk.ChatModelAgentMiddleware, rounds, searches int) {
	turns := make([]adktest.Turn, rounds)
	for i := range turns {
		call := adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "own", Args: `{"value":"x"}`}
		if i < searches {
			call = adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "tool_search", Args: `{"query":"weather slack"}`}
		}
		turns[i] = adktest.Do(call)
	}
	m := &answering{turns: turns}
	agent := adktest.Agent[*schema.Message]{Configure: func(c *adk.ChatModelAgentConfig) { c.Model = m }, Tools: []tool.BaseTool{adktest.Simple("own", "A tool that is always there")}, Handlers: adktest.Handlers(h), Max: rounds + 2}
	ctx := context.Background()
	runner, err := agent.Runner(ctx)
	require.NoError(b, err)
	input := []*schema.Message{schema.UserMessage("hello")}
	b.ReportAllocs()
	for b.Loop() {
		m.said = 0
		out := adktest.Collect(runner.Run(ctx, input))
		if out.Err != nil || out.Answer() != "done" {
			b.Fatal(out.Err, out.Answer())
		}
	}
}

// BenchmarkRunWithSource is BenchmarkRun with the tools behind a Source.
func BenchmarkRunWithSource(b *testing.B) {
	tools := benchTools(10_000)
	set := must(toolset.New(context.Background(), tools...))
	for _, searches := range []int{0, 1} {
		for _, m := range []maker{makers[0], {"einolean", func(ctx context.Context, _ []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
			return toolsearch.New(ctx, &toolsearch.Config{Source: set})
		}}} {
			b.Run(fmt.Sprintf("tools=10000/rounds=10,searches=%d/%s", searches, m.side), func(b *testing.B) {
				benchRun(b, must(m.make(context.Background(), tools)), 10, searches)
			})
		}
	}
}

func BenchmarkToolSearch(b *testing.B) {
	for _, s := range searches {
		for _, n := range []int{100, 1_000, 10_000} {
			tools := benchTools(n)
			for _, m := range makers {
				b.Run(fmt.Sprintf("%s/tools=%d/%s", s.name, n, m.side), func(b *testing.B) {
					ctx, search := benchSearchTool(b, must(m.make(context.Background(), tools)))
					b.ReportAllocs()
					for b.Loop() {
						if _, err := search.InvokableRun(ctx, s.args); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// benchSearchTool is the search tool that a middleware gave an agent, with the context of its run.
func benchSearchTool(b testing.TB, h adk.ChatModelAgentMiddleware) (context.Context, tool.InvokableTool) {
	rc := &einorun.RunContext{}
	ctx, err := einorun.Begin(context.Background(), h, rc)
	require.NoError(b, err)
	for _, t := range rc.Tools {
		info, err := t.Info(ctx)
		require.NoError(b, err)
		if info.Name == "tool_search" {
			return ctx, t.(tool.InvokableTool)
		}
	}
	b.Fatal("there is no tool_search")
	return nil, nil
}

// searches are the arguments of the calls that are measured, by name.
var searches = []struct{ name, args string }{
	{"2words", `{"query":"weather slack"}`},
	{"6words", `{"query":"+create invoice stripe customer payment paging"}`},
	{"select", `{"query":"select:github__get_weather_0,github__list_weather_1"}`},
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		tools := benchTools(n)
		for _, m := range makers {
			b.Run(fmt.Sprintf("tools=%d/%s", n, m.side), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must(m.make(context.Background(), tools))
				}
			})
		}
	}
}

func BenchmarkBeforeAgent(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		tools := benchTools(n)
		own := []tool.BaseTool{adktest.Simple("own", "A tool that is always there")}
		for _, m := range makers {
			b.Run(fmt.Sprintf("tools=%d/%s", n, m.side), func(b *testing.B) {
				h := must(m.make(context.Background(), tools))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := einorun.Begin(context.Background(), h, &einorun.RunContext{Tools: own}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkHook is what the middleware adds to a model call in the middle of a run.
func BenchmarkHook(b *testing.B) {
	tools := benchTools(1_000)
	names, _ := benchNames(1_000)
	for _, n := range []int{10, 100, 1_000, 10_000} {
		history := benchConversation(n, names)
		for _, m := range makers {
			b.Run(fmt.Sprintf("messages=%d/%s", n, m.side), func(b *testing.B) {
				h := must(m.make(context.Background(), tools))
				inRun(b, h, history, func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
					b.ReportAllocs()
					for b.Loop() {
						var err error
						next := *state // Eino makes a state for each model call
						if _, state, err = h.BeforeModelRewriteState(ctx, &next, mc); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// BenchmarkModelCall is what the middleware adds to a model call after its hook: it reads all messages, as a handler may
// have edited an old one. Eino's does nothing there.
func BenchmarkModelCall(b *testing.B) {
	names, _ := benchNames(1_000)
	for _, n := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			h := must(makers[1].make(context.Background(), benchTools(1_000)))
			inRun(b, h, benchConversation(n, names), func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
				call := wrappedCall(ctx, h, state, mc)
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		})
	}
}

// wrappedCall returns a function that calls a model through the wrapper of a middleware.
func wrappedCall(
	ctx context.Context, h adk.ChatModelAgentMiddleware, state *adk.ChatModelAgentState, mc *adk.ModelContext,
) func() {
	m := &constantModel{answer: schema.AssistantMessage("done", nil)}
	return func() {
		wrapped, err := h.WrapModel(ctx, m, mc)
		if err == nil {
			_, err = wrapped.Generate(ctx, state.Messages)
		}
		if err != nil {
			panic(err)
		}
	}
}

// constantModel gives the same answer each time, and allocates nothing.
type constantModel struct {
	model.BaseChatModel
	answer *schema.Message
}

func (m *constantModel) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return m.answer, nil
}

// inRun runs an agent on a history and calls do inside the run, where a handler after h
// is asked before the first model call.
func inRun(b testing.TB, h adk.ChatModelAgentMiddleware, history []*schema.Message, do func(context.Context, *adk.ChatModelAgentState, *adk.ModelContext)) {
	agent := adktest.Agent[*schema.Message]{
		Model: adktest.Script[*schema.Message](), Tools: []tool.BaseTool{adktest.Simple("own", "A tool that is always there")},
		Handlers: adktest.Handlers[*schema.Message](h, &insider{do: do}),
	}
	require.NoError(b, agent.Run(context.Background(), history).Err)
}

type insider struct {
	adk.BaseChatModelAgentMiddleware
	do func(context.Context, *adk.ChatModelAgentState, *adk.ModelContext)
}

func (i *insider) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	i.do(ctx, state, mc)
	return ctx, state, nil
}

// benchConversation has n messages, of which every ninth is the result of a search.
func benchConversation(n int, names []string) []*schema.Message {
	msgs := []*schema.Message{schema.UserMessage("hello")}
	for i := 1; len(msgs) < n; i++ {
		id := fmt.Sprint("call", i)
		switch i % 9 {
		case 1:
			msgs = append(msgs, adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: id, Name: "tool_search", Args: `{"query":"weather"}`}))
		case 2:
			found := fmt.Sprintf(`{"matches":[%q,%q]}`, names[i%len(names)], names[(i+1)%len(names)])
			msgs = append(msgs, adktest.Result[*schema.Message](fmt.Sprint("call", i-1), "tool_search", found))
		case 3, 5, 7:
			msgs = append(msgs, adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: id, Name: "own", Args: `{"value":"x"}`}))
		default:
			msgs = append(msgs, adktest.Result[*schema.Message](fmt.Sprint("call", i-1), "own", "a result of some length, as tools return it"))
		}
	}
	return msgs
}

func BenchmarkBM25Search(b *testing.B) {
	bm25 := maker{side: "einolean", make: func(ctx context.Context, tools []tool.BaseTool) (adk.ChatModelAgentMiddleware, error) {
		return toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools, NewIndex: index.BM25})
	}}
	for _, q := range []struct{ name, args string }{
		{"2words", searches[0].args}, {"40words", longRequest},
	} {
		tools := benchTools(10_000)
		for _, m := range []maker{makers[0], bm25} {
			b.Run(fmt.Sprintf("%s/tools=10000/%s", q.name, m.side), func(b *testing.B) {
				ctx, search := benchSearchTool(b, must(m.make(context.Background(), tools)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := search.InvokableRun(ctx, q.args); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// longRequest is a request of 40 words, as people write them.
const longRequest = `{"query":"I would like you to look through all of the tickets which my colleagues have opened since last Monday, ` +
	`find the ones that nobody has answered yet, and then send a short summary of them to the channel of our team"}`

// BenchmarkFirstSearch is the start of a run and its first search when one tool of a Source has
// another description than in the run before.
func BenchmarkFirstSearch(b *testing.B) {
	for _, x := range []struct {
		name string
		make index.Func
	}{{"keyword", index.Keyword}, {"bm25", index.BM25}} {
		for _, n := range []int{1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/tools=%d", x.name, n), func(b *testing.B) {
				ctx, tools, from := context.Background(), benchTools(n), &changingSource{}
				h := must(toolsearch.New(ctx, &toolsearch.Config{Source: from, NewIndex: x.make}))
				for changes := 0; b.Loop(); changes++ {
					b.StopTimer()
					tools[0] = adktest.Tool(adktest.Invokable, benchInfo("changing", fmt.Sprint("Changes for the time ", changes)), nil)
					from.have(tools...)
					b.StartTimer()
					inside, search := benchSearchTool(b, h)
					if _, err := search.InvokableRun(inside, searches[1].args); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestSearch_RepeatedQueryBoundsAllocations(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	for _, n := range []int{100, 10_000} {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: benchTools(n)})
		require.NoError(t, err)
		ctx, search := benchSearchTool(t, h)
		for _, s := range searches {
			allocations := race.Allocations(100, func() {
				if _, err := search.InvokableRun(ctx, s.args); err != nil {
					t.Error(err)
				}
			})
			require.LessOrEqual(t, allocations, float64(searchBudget), "%s of %d", s.name, n)
		}
	}
}

const (
	searchBudget = 20 // allocations of a call of tool_search, at any number of tools
	hookBudget   = 3  // allocations of a model call that brings nothing new, with the state that Eino makes
	modelBudget  = 7  // allocations of a model call after the hook, at any number of messages
	joinBudget   = 30 // allocations at the start of a run, at any number of tools
)

// What nobody has asked for before costs no more than the rest.
func TestSearch_NewWordsBoundAllocations(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // so does the collector
	names, descs := benchNames(1000)
	infos := make([]*schema.ToolInfo, len(names))
	for i := range infos {
		infos[i] = benchInfo(names[i], descs[i])
	}
	x, err := index.BM25(t.Context(), infos)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 1))
	for _, text := range []string{
		strings.Repeat("_ ", 20), "Could you create an invoice for _ at _, and then send the weather in _ to _s?", "帮我创建一个_的发票，然后发送给_",
	} {
		texts := make([]string, 22) // the first one warms up
		for i := range texts {
			for c := range strings.SplitSeq(text, "") {
				if c == "_" {
					c = strings.Map(func(rune) rune { return 'a' + rune(random.IntN(26)) }, "quoth")
				}
				texts[i] += c
			}
		}
		next := 0
		allocations := testing.AllocsPerRun(20, func() {
			if _, err := x.Search(t.Context(), index.Query{Text: texts[next], Limit: 5}); err != nil {
				t.Error(err)
			}
			next++
		})
		require.LessOrEqual(t, allocations, float64(searchBudget), text)
	}
}

func TestBeforeModelRewriteState_BoundsAllocations(t *testing.T) {
	race.Skip(t, "it allocates")
	names, _ := benchNames(1000)
	for _, n := range []int{10, 1000} {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: benchTools(1000)})
		require.NoError(t, err)
		inRun(t, h, benchConversation(n, names), func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
			allocations := race.Allocations(100, func() {
				own := *state // Eino makes a state for each model call
				_, next, err := h.BeforeModelRewriteState(ctx, &own, mc)
				if err != nil {
					t.Error(err)
				}
				state = next
			})
			require.LessOrEqual(t, allocations, float64(hookBudget), "%d messages", n)
		})
	}
}

func TestWrapModel_BoundsAllocations(t *testing.T) {
	race.Skip(t, "it allocates")
	names, _ := benchNames(1000)
	for _, n := range []int{10, 1000} {
		h := must(toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: benchTools(1000)}))
		inRun(t, h, benchConversation(n, names), func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
			allocations := race.Allocations(100, wrappedCall(ctx, h, state, mc))
			require.LessOrEqual(t, allocations, float64(modelBudget), "%d messages", n)
		})
	}
}

func TestBeforeAgent_BoundsAllocations(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: benchTools(n)})
		require.NoError(t, err)
		waitForIndex(t, h)
		own := simpleTools("own")
		allocations := race.Allocations(20, func() {
			if _, err := einorun.Begin(context.Background(), h, &einorun.RunContext{Tools: own}); err != nil {
				t.Error(err)
			}
		})
		require.LessOrEqual(t, allocations, float64(joinBudget), "%d tools", n)
	}
}

// waitForIndex searches once: a search waits for what is built in the background, and nothing
// of it is measured afterwards.
func waitForIndex(t *testing.T, h adk.ChatModelAgentMiddleware) {
	t.Helper()
	search := adktest.Agent[*schema.Message]{Model: adktest.Script[*schema.Message](adktest.Do(searchCall("s", "issue"))), Handlers: adktest.Handlers(h)}
	require.NoError(t, search.Run(t.Context(), []*schema.Message{schema.UserMessage("please")}).Err)
}

// New builds no index: one that no run searches costs nothing. It allocates no more than
// Eino's does.
func TestNew_AllocatesNoMoreThanEino(t *testing.T) {
	race.Skip(t, "it allocates")
	for _, kind := range toolKinds {
		tools := kind.make(1000)
		var allocations [2]float64
		for i, m := range makers {
			allocations[i] = race.Allocations(3, func() { must(m.make(context.Background(), tools)) })
		}
		require.LessOrEqual(t, allocations[1], allocations[0], kind.kind)
	}
	tools := benchTools(1000)
	plain := race.Allocations(3, func() { must(makers[1].make(context.Background(), tools)) })
	for name, x := range map[string]index.Func{"keyword": index.Keyword, "bm25": index.BM25, "fused": index.Fuse(index.BM25, index.Keyword)} {
		cfg := &toolsearch.Config{DynamicTools: tools, NewIndex: x}
		allocations := race.Allocations(3, func() { must(toolsearch.New(context.Background(), cfg)) })
		require.LessOrEqual(t, allocations, plain+50, name)
	}
}

// Eino asks all tools of an agent for their info before every round of calls: that costs
// nothing, however much a tool does for its own, and who writes into it is heard in this run alone.
func TestInfo_HiddenToolsCostNothing(t *testing.T) {
	for _, kind := range toolKinds {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: kind.make(10)})
		require.NoError(t, err)
		rc := &einorun.RunContext{}
		ctx, err := einorun.Begin(context.Background(), h, rc)
		require.NoError(t, err)
		_, _, err = h.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{}, nil)
		require.NoError(t, err)
		for _, x := range rc.Tools[1:] {
			info, err := x.Info(ctx)
			require.NoError(t, err)
			require.Nil(t, info.Extra)
			require.Nil(t, info.ParamsOneOf)
			info.Desc = "written"
			require.LessOrEqual(t, race.Allocations(10, func() {
				if _, err := x.Info(ctx); err != nil {
					t.Error(err)
				}
				_ = x.(interface{ GetType() string }).GetType()
			}), 1.0, kind.kind)
		}
		other := &einorun.RunContext{}
		ctx, err = einorun.Begin(context.Background(), h, other)
		require.NoError(t, err)
		for _, x := range other.Tools {
			require.NotEqual(t, "written", must(x.Info(ctx)).Desc)
		}
	}
}

// What docs/operations.md says of very many tools: a run, and each round of tool calls in it,
// costs the same with a thousand hidden tools and with ten thousand. What other goroutines of
// the process allocate meanwhile counts as well, so each run is measured several times, and
// the least of them is what it takes.
//
//claim:store-14
func TestMemory_DoesNotGrowWithTools(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // so does the collector
	const few, many, rounds = 1000, 10_000, 4
	grown := func(m maker) (start, round float64) {
		small, large := bytesOfARun(t, m, few), bytesOfARun(t, m, many)
		start = (large(0) - small(0)) / (many - few)
		round = (large(rounds)-small(rounds))/(many-few) - start
		t.Logf("%s: %.1f bytes a tool when a run starts, %.1f in each round", m.side, start, round/rounds)
		return start, round / rounds
	}
	_, theirs := grown(makers[0])
	require.Greater(t, theirs, 100.0, "Eino's grow, so this measures something")
	start, round := grown(makers[1])
	require.Less(t, start, 10.0)
	require.Less(t, round, 10.0)
}

// bytesOfARun returns a function that tells how many bytes a run of some rounds of tool calls
// allocates beside so many hidden tools.
func bytesOfARun(t *testing.T, m maker, tools int) func(rounds int) float64 {
	h := must(m.make(t.Context(), benchTools(tools)))
	waitForIndex(t, h)
	return func(rounds int) float64 {
		turns := make([]adktest.Turn, rounds)
		for i := range turns {
			turns[i] = oneCall(fmt.Sprint(i), "own", `{}`)
		}
		least := math.Inf(1)
		for range 8 { // the first ones fill pools
			agent := adktest.Agent[*schema.Message]{
				Configure: func(c *adk.ChatModelAgentConfig) { c.Model = &answering{turns: turns} },
				Tools:     simpleTools("own"), Handlers: adktest.Handlers(h), Max: rounds + 2,
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out := agent.Run(t.Context(), []*schema.Message{schema.UserMessage("hello")})
			runtime.ReadMemStats(&after)
			require.NoError(t, out.Err)
			least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
		}
		return least
	}
}

// With a Source whose set stays the same, a model call costs what it costs without, and a
// round of calls costs the same with ten tools and with ten thousand.
//
//claim:mcp-57
func TestSource_UnchangedSetCostsNothing(t *testing.T) {
	race.Skip(t, "it allocates")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector makes pools forget
	ctx := context.Background()
	for _, n := range []int{10, 10_000} {
		set := must(toolset.New(ctx, benchTools(n)...))
		h := must(toolsearch.New(ctx, &toolsearch.Config{Source: set}))
		waitForIndex(t, h)
		names, _ := benchNames(10)
		inRun(t, h, benchConversation(100, names), func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
			allocations := race.Allocations(100, func() {
				own := *state
				_, next, err := h.BeforeModelRewriteState(ctx, &own, mc)
				if err != nil {
					t.Error(err)
				}
				state = next
			})
			require.LessOrEqual(t, allocations, float64(hookBudget), "%d tools", n)
		})
	}
	var rounds [2]float64
	for i, n := range []int{10, 10_000} {
		h := must(toolsearch.New(ctx, &toolsearch.Config{Source: must(toolset.New(ctx, benchTools(n)...))}))
		waitForIndex(t, h)
		run := func(rounds int) float64 {
			turns := make([]adktest.Turn, rounds)
			for i := range turns {
				turns[i] = oneCall(fmt.Sprint(i), "own", `{}`)
			}
			agent := adktest.Agent[*schema.Message]{Tools: simpleTools("own"), Handlers: adktest.Handlers(h), Max: rounds + 2}
			return race.Allocations(5, func() {
				agent.Model = adktest.Script[*schema.Message](turns...)
				if out := agent.Run(ctx, []*schema.Message{schema.UserMessage("please")}); out.Err != nil {
					t.Error(out.Err)
				}
			})
		}
		rounds[i] = run(12) - run(2)
	}
	require.InEpsilon(t, rounds[0], rounds[1], 0.1)
}
