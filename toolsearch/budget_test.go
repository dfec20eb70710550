// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What may be allocated, so that a search and a model call stay cheap.

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/toolsearch"
)

const (
	searchBudget = 20 // allocations of a call of tool_search, at any number of tools
	hookBudget   = 3  // allocations of a model call that brings nothing new, with the state that Eino makes
	joinBudget   = 30 // allocations at the start of a run, at any number of tools
)

func TestSearchesStayWithinTheirBudget(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	for _, n := range []int{100, 10_000} {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: benchTools(n)})
		require.NoError(t, err)
		ctx, search := benchSearchTool(t, h)
		for _, s := range searches {
			allocations := testing.AllocsPerRun(100, func() {
				if _, err := search.InvokableRun(ctx, s.args); err != nil {
					t.Error(err)
				}
			})
			require.LessOrEqual(t, allocations, float64(searchBudget), "%s of %d", s.name, n)
		}
	}
}

func TestModelCallsStayWithinTheirBudget(t *testing.T) {
	race.Skip(t, "it allocates")
	names, _ := benchNames(1000)
	for _, n := range []int{10, 1000} {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: benchTools(1000)})
		require.NoError(t, err)
		inRun(t, h, benchConversation(n, names), func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
			allocations := testing.AllocsPerRun(100, func() {
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

func TestTheStartOfARunStaysWithinItsBudget(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: benchTools(n)})
		require.NoError(t, err)
		own := simples("own")
		allocations := testing.AllocsPerRun(20, func() {
			if _, _, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{Tools: own}); err != nil {
				t.Error(err)
			}
		})
		require.LessOrEqual(t, allocations, float64(joinBudget), "%d tools", n)
	}
}

// New builds no index: one that no run searches costs nothing. It allocates no more than
// Eino's does.
func TestMakingAMiddlewareAllocatesNoMoreThanEinos(t *testing.T) {
	race.Skip(t, "it allocates")
	for _, kind := range toolKinds {
		tools := kind.make(5000)
		var allocations [2]float64
		for i, m := range makers {
			allocations[i] = testing.AllocsPerRun(3, func() { must(m.make(context.Background(), tools)) })
		}
		require.LessOrEqual(t, allocations[1], allocations[0], kind.kind)
	}
	tools := benchTools(5000)
	plain := testing.AllocsPerRun(3, func() { must(makers[1].make(context.Background(), tools)) })
	for name, index := range map[string]toolsearch.IndexFunc{"keyword": toolsearch.KeywordIndex, "bm25": toolsearch.BM25Index, "fused": toolsearch.Fuse(toolsearch.BM25Index, toolsearch.KeywordIndex)} {
		cfg := &toolsearch.Config{DynamicTools: tools, NewIndex: index}
		allocations := testing.AllocsPerRun(3, func() { must(toolsearch.New(context.Background(), cfg)) })
		require.LessOrEqual(t, allocations, plain+50, name)
	}
}

// Eino asks all tools of an agent for their info before every round of calls: that costs
// a copy, which the caller may write into, however much a tool does for its own.
func TestInfoOfHiddenToolsCostsACopy(t *testing.T) {
	for _, kind := range toolKinds {
		h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: kind.make(10)})
		require.NoError(t, err)
		ctx, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
		require.NoError(t, err)
		_, _, err = h.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{}, nil)
		require.NoError(t, err)
		for _, x := range rc.Tools[1:] {
			info, err := x.Info(ctx)
			require.NoError(t, err)
			info.Name, info.Desc = "written", "into"
			again, err := x.Info(ctx)
			require.NoError(t, err)
			require.NotContains(t, []string{again.Name, again.Desc}, "written")
			require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
				if _, err := x.Info(ctx); err != nil {
					t.Error(err)
				}
				_ = x.(interface{ GetType() string }).GetType()
			}), 1.0, kind.kind)
		}
	}
}

// What docs/scaling.md says of very many tools: bytes that a run allocates for each of
// them when it starts, and in each round of tool calls.
func TestMemoryForVeryManyTools(t *testing.T) {
	const n, rounds = 5_000, 4
	tools := benchTools(n)
	run := func(h adk.ChatModelAgentMiddleware, rounds int) float64 {
		turns := make([]adktest.Turn, rounds)
		for i := range turns {
			turns[i] = adktest.Do(adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "tool_search", Args: `{"query":"select:none"}`})
		}
		a := adktest.Agent[*schema.Message]{Model: adktest.Script[*schema.Message](append(turns, adktest.Say("done"))...), Handlers: adktest.Handlers[*schema.Message](h)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out := a.Run(context.Background(), []*schema.Message{schema.UserMessage("hello")})
		runtime.ReadMemStats(&after)
		require.NoError(t, out.Err)
		return float64(after.TotalAlloc-before.TotalAlloc) / n
	}
	var start, round [2]float64
	for i, m := range makers {
		h := must(m.make(context.Background(), tools))
		run(h, 1) // builds what is built once
		one := run(h, 1)
		round[i] = (run(h, 1+rounds) - one) / rounds
		start[i] = one - round[i]
		t.Logf("%s: %.0f bytes a tool when a run starts, %.0f in each round", m.side, start[i], round[i])
	}
	require.Less(t, start[1], 600.0)
	require.Less(t, round[1], 500.0)
	require.Less(t, round[1], 1.1*round[0], "more than Eino's")
}

// With a Source whose set stays the same, a model call costs what it costs without, and a
// round of calls costs the same with ten tools and with ten thousand.
func TestAnUnchangedSetCostsNothing(t *testing.T) {
	race.Skip(t, "it allocates")
	ctx := context.Background()
	for _, n := range []int{10, 10_000} {
		set := must(toolsearch.NewToolSet(ctx, benchTools(n)...))
		h := must(toolsearch.New(ctx, &toolsearch.Config{Source: set}))
		names, _ := benchNames(10)
		inRun(t, h, benchConversation(100, names), func(ctx context.Context, state *adk.ChatModelAgentState, mc *adk.ModelContext) {
			allocations := testing.AllocsPerRun(100, func() {
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
		h := must(toolsearch.New(ctx, &toolsearch.Config{Source: must(toolsearch.NewToolSet(ctx, benchTools(n)...))}))
		run := func(rounds int) float64 {
			turns := make([]adktest.Turn, rounds)
			for i := range turns {
				turns[i] = do(fmt.Sprint(i), "own", `{}`)
			}
			agent := adktest.Agent[*schema.Message]{Tools: simples("own"), Handlers: adktest.Handlers(h), Max: rounds + 2}
			return testing.AllocsPerRun(5, func() {
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
