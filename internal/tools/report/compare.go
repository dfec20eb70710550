// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file gives agents with different policies the same tasks, and writes down what
// each cost: the tables of docs/benchmarks.md.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/examples/lab"
	"github.com/leanctx/leanctx/examples/library"
	"github.com/leanctx/leanctx/examples/offline"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/replay"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

// gauge measures each request that passes, and how much of it a provider's prompt cache
// can hold: the longest beginning that an earlier request has as well, in the order
// tools, system message, other messages.
type gauge struct {
	model.BaseModel[*schema.Message]
	before      []string
	calls       int
	all, cached int // bytes
}

// Generate measures and passes on.
func (g *gauge) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	now, _ := offline.Request(in, model.GetCommonOptions(&model.Options{}, opts...).Tools)
	longest := 0
	for _, earlier := range g.before {
		longest = max(longest, offline.Common(earlier, now))
	}
	g.before = append(g.before, now)
	g.calls, g.all, g.cached = g.calls+1, g.all+len(now), g.cached+longest
	return g.BaseModel.Generate(ctx, in, opts...)
}

// arm is an agent with one policy.
type arm struct {
	name string
	// set makes the handlers, and the tools that stand beside them.
	set func(ctx context.Context, tools []tool.BaseTool) ([]tool.BaseTool, []adk.ChatModelAgentMiddleware, error)
}

// scored is what an arm did.
type scored struct {
	name         string
	right, asked int
	calls        int
	tokens       int64
	bill         replay.Bill
}

// work gives an agent the tasks.
func (a arm) work(ctx context.Context, tasks [][]lab.Question) (s scored, err error) {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := lab.WriteFiles(dir); err != nil {
		return s, err
	}
	tools, err := library.Tools(dir)
	if err != nil {
		return s, err
	}
	own, handlers, err := a.set(ctx, tools)
	if err != nil {
		return s, err
	}
	g := &gauge{BaseModel: offline.New[*schema.Message]()}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers with tools", Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model: g, Handlers: handlers, MaxIterations: 60, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: own}},
	})
	if err != nil {
		return s, err
	}
	s.name = a.name
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	for _, task := range tasks {
		var history []*schema.Message
		for _, q := range task {
			history = append(history, schema.UserMessage(q.Text))
			out := adktest.Collect(runner.Run(ctx, history))
			history = append(history, inOrder(out.Messages)...)
			// A run that ends with an error has not answered.
			if s.asked++; out.Err == nil && q.Holds(out.Answer()) {
				s.right++
			}
		}
	}
	s.calls, s.tokens = g.calls, int64(g.all/4)
	s.bill = replay.Bill{Calls: g.calls, Written: int64(g.all-g.cached) / 4, Cached: int64(g.cached) / 4}
	return s, nil
}

// inOrder puts results into the order of their calls: those of one step come as they
// are ready.
func inOrder(messages []*schema.Message) []*schema.Message {
	place := map[string]int{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			place[c.ID] = len(place)
		}
	}
	for from := 0; from < len(messages); from++ {
		to := from
		for to < len(messages) && messages[to].Role == schema.Tool {
			to++
		}
		if to > from {
			slices.SortStableFunc(messages[from:to], func(a, b *schema.Message) int { return place[a.ToolCallID] - place[b.ToolCallID] })
			from = to
		}
	}
	return messages
}

type tools = []tool.BaseTool

type handlers = []adk.ChatModelAgentMiddleware

// hides is an arm that hides all tools behind our middleware.
func hides(name string, c toolsearch.Config) arm {
	return arm{name, func(ctx context.Context, all tools) (tools, handlers, error) {
		own := c
		own.DynamicTools = all
		h, err := toolsearch.New(ctx, &own)
		return nil, handlers{h}, err
	}}
}

// toolArms are policies on tools. The first lists them all.
var toolArms = []arm{
	{"direct: every tool is listed", func(_ context.Context, all tools) (tools, handlers, error) { return all, nil, nil }},
	hides("leanctx `Keyword`", toolsearch.Config{}),
	hides("leanctx `Regexp`", toolsearch.Config{Protocol: toolsearch.Regexp}),
	hides("leanctx `SearchLoad`", toolsearch.Config{Protocol: toolsearch.SearchLoad}),
	hides("leanctx `SearchCall`", toolsearch.Config{Protocol: toolsearch.SearchCall}),
	{"leanctx `Recommended`", func(ctx context.Context, all tools) (tools, handlers, error) {
		h, err := toolsearch.New(ctx, toolsearch.Recommended(all))
		return nil, handlers{h}, err
	}},
	{"leanctx `Recommended`, `SearchCall`", func(ctx context.Context, all tools) (tools, handlers, error) {
		c := toolsearch.Recommended(all)
		c.Protocol = toolsearch.SearchCall
		h, err := toolsearch.New(ctx, c)
		return nil, handlers{h}, err
	}},
	{"Eino v0.9.21 `toolsearch`", func(ctx context.Context, all tools) (tools, handlers, error) {
		h, err := einosearch.New(ctx, &einosearch.Config{DynamicTools: all})
		return nil, handlers{h}, err
	}},
	picks("policy of RAG-MCP: the 5 best for the question", 5),
	picks("the same with 20", 20),
	hides("policy of Pydantic AI: shared words, 10 results", toolsearch.Config{NewIndex: overlapIndex(1, 1), MaxResults: 10}),
	hides("policy of Vercel AI SDK: names twice, for one step", toolsearch.Config{NewIndex: overlapIndex(2, 1), UnloadAfter: 1}),
	{"policy of hosts with a limit: the first 128", func(_ context.Context, all tools) (tools, handlers, error) {
		return all, handlers{&firstTools{most: 128}}, nil
	}},
}

func picks(name string, most int) arm {
	return arm{name, func(ctx context.Context, all tools) (tools, handlers, error) {
		h, err := newChosen(ctx, all, most)
		return all, handlers{h}, err
	}}
}

// trigger is from how many tokens on policies clear.
const trigger = 10_000

// atHand are the servers whose tools the agents with long results have: few enough to
// list them all, in every row.
var atHand = []string{"files__", "hash__", "units__", "text__"}

// reduces is an arm whose results a policy reduces.
func reduces(name string, with func(ctx context.Context, store *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error)) arm {
	return arm{name, func(ctx context.Context, all tools) (own tools, h handlers, err error) {
		for _, t := range all {
			info, err := t.Info(ctx)
			if err != nil {
				return nil, nil, err
			}
			if slices.ContainsFunc(atHand, func(server string) bool { return strings.HasPrefix(info.Name, server) }) {
				own = append(own, t)
			}
		}
		if with == nil {
			return own, nil, nil
		}
		store := reduction.NewMemoryBackend(1 << 30)
		reduce, err := with(ctx, store)
		if err != nil {
			return nil, nil, err
		}
		read, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: store})
		return append(own, read), handlers{reduce}, err
	}}
}

// replayed is the policy of a name in package replay, which other projects have.
func replayed(name string) func(context.Context, *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error) {
	return func(ctx context.Context, store *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error) {
		for _, p := range replay.Policies() {
			if p.Name == name {
				h, err := p.New(ctx, store, trigger)
				return &keepsTools{h}, err
			}
		}
		return nil, fmt.Errorf("no policy is called %q", name)
	}
}

// keepsTools hands the tools on that a policy of a replay, which has none, forgets.
type keepsTools struct {
	adk.ChatModelAgentMiddleware
}

// BeforeModelRewriteState reduces the messages.
func (k *keepsTools) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, m *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	ctx, out, err := k.ChatModelAgentMiddleware.BeforeModelRewriteState(ctx, state, m)
	if err != nil || out == state {
		return ctx, out, err
	}
	with := *state
	with.Messages = out.Messages
	return ctx, &with, nil
}

// resultArms are policies on results. The first changes nothing.
var resultArms = []arm{
	reduces("no reduction", nil),
	reduces("leanctx, cut at 20,000 bytes, clear from 10,000 tokens", func(ctx context.Context, store *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error) {
		return reduction.New(ctx, &reduction.Config{Backend: store, MaxLengthForTrunc: 20_000, MaxTokensForClear: trigger})
	}),
	reduces("leanctx `Recommended`", func(ctx context.Context, store *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error) {
		c := reduction.Recommended(store)
		c.ProvideReadTool = false // the agent has one
		return reduction.New(ctx, c)
	}),
	reduces("Eino v0.9.21 `reduction`, the same limits", func(ctx context.Context, store *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error) {
		return einoreduction.New(ctx, &einoreduction.Config{Backend: store, MaxLengthForTrunc: 20_000, MaxTokensForClear: trigger, TruncExcludeTools: []string{"read_file"}})
	}),
	reduces("policy of Codex: the middle of 10,000 bytes and more is left out", func(context.Context, *reduction.MemoryBackend) (adk.ChatModelAgentMiddleware, error) {
		return &middleOut{most: 10_000}, nil
	}),
	reduces("policy of Anthropic's context editing: keep 3, at least a quarter", replayed("context editing, keep 3, at least a quarter")),
	reduces("policy of agents with a low mark: keep 5", replayed("low mark, keep 5")),
	reduces("policy of observation masking: keep 10", replayed("mask all but the last 10")),
}

// scores runs every arm.
func scores(ctx context.Context, arms []arm, tasks [][]lab.Question) (all []scored, err error) {
	for _, a := range arms {
		s, err := a.work(ctx, tasks)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// markdown is the table of what the arms did: prices are in thousands of tokens at the
// full price, by card; the lowest of those that answer as well as any is bold.
func markdown(all []scored) string {
	var b strings.Builder
	b.WriteString("| policy | right | calls | tokens | cached |")
	for _, c := range replay.Cards {
		fmt.Fprintf(&b, " %s |", c.Name)
	}
	b.WriteString("\n|---|---|---|---|---|" + strings.Repeat("---|", len(replay.Cards)) + "\n")
	best := 0
	for _, s := range all {
		best = max(best, s.right)
	}
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %d of %d | %d | %s | %.0f %% |", s.name, s.right, s.asked, s.calls, display.Grouped(s.tokens), 100*float64(s.bill.Cached)/float64(max(1, s.tokens)))
		for _, c := range replay.Cards {
			lowest := s.right == best
			for _, other := range all {
				lowest = lowest && (other.right < best || c.Cost(other.bill) >= c.Cost(s.bill))
			}
			price := fmt.Sprintf("%.1f", c.Cost(s.bill)/1000)
			if lowest {
				price = "**" + price + "**"
			}
			fmt.Fprintf(&b, " %s |", price)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tables are those of docs/benchmarks.md, by the name of their place.
func tables(ctx context.Context) (map[string]string, error) {
	tools, err := scores(ctx, toolArms, toolTasks())
	if err != nil {
		return nil, err
	}
	results, err := scores(ctx, resultArms, [][]lab.Question{lab.FileQuestions})
	if err != nil {
		return nil, err
	}
	return map[string]string{"tools": markdown(tools), "results": markdown(results)}, nil
}

// publish puts tables into the places of a document that have their names.
func publish(file string, tables map[string]string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page := string(text)
	for name, table := range tables {
		begin, end := "<!-- made by make report: "+name+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return fmt.Errorf("%s has no place for %q", file, name)
		}
		page = before + begin + "\n" + table + "\n" + end + after
	}
	return os.WriteFile(file, []byte(page), 0o644)
}

// benchmarks is the document with the tables.
var benchmarks = filepath.Join("..", "..", "..", "docs", "benchmarks.md")
