// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/compare"
	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
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

// scored is what an arm did.
type scored struct {
	name         string
	right, asked int
	calls        int
	tokens       int64
	bill         replay.Bill
	took         map[string]compare.Took // by task
	wrong        []string                // "task: what was wrong", for those that it did not do right
}

// score is what passed the gauge.
func (g *gauge) score(name string) scored {
	return scored{name: name, calls: g.calls, tokens: int64(g.all / 4), bill: replay.Bill{Calls: g.calls, Written: int64(g.all-g.cached) / 4, Cached: int64(g.cached) / 4}}
}

// tasksOf has an agent of an arm do every task.
func tasksOf(ctx context.Context, a compare.Arm) (s scored, err error) {
	g := &gauge{BaseModel: offline.New[*schema.Message]()}
	bench, err := a.Start(ctx, g)
	if err != nil {
		return s, err
	}
	defer bench.Close()
	tasks, err := compare.Tasks()
	if err != nil {
		return s, err
	}
	var wrong []string
	took := map[string]compare.Took{}
	for _, t := range tasks {
		before := *g
		says, err := bench.Do(ctx, t)
		if err != nil {
			return s, err
		}
		if says != "" {
			wrong = append(wrong, t.ID+": "+says)
		}
		took[t.ID] = compare.Took{Calls: g.calls - before.calls, Tokens: int64(g.all-before.all) / 4, Cached: int64(g.cached-before.cached) / 4}
	}
	s = g.score(a.Name)
	s.asked, s.right, s.wrong, s.took = len(tasks), len(tasks)-len(wrong), wrong, took
	return s, nil
}

// work has an agent of an arm answer questions of one conversation.
func work(ctx context.Context, a compare.Arm, questions []lab.Question) (s scored, err error) {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := lab.WriteFiles(dir); err != nil {
		return s, err
	}
	all, err := library.Tools(dir)
	if err != nil {
		return s, err
	}
	own, h, err := a.Set(ctx, all)
	if err != nil {
		return s, err
	}
	g := &gauge{BaseModel: offline.New[*schema.Message]()}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers with tools", Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model: g, Handlers: h, MaxIterations: 60, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: own}},
	})
	if err != nil {
		return s, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	right := 0
	var history []*schema.Message
	for _, q := range questions {
		history = append(history, schema.UserMessage(q.Text))
		said, err := lab.Collect(runner.Run(ctx, history))
		history = append(history, said...)
		// A run that ends with an error has not answered.
		if err == nil && len(said) > 0 && q.Holds(said[len(said)-1].Content) {
			right++
		}
	}
	s = g.score(a.Name)
	s.asked, s.right = len(questions), right
	return s, nil
}

type tools = []tool.BaseTool

type handlers = []adk.ChatModelAgentMiddleware

// toolArms are settings of tools, ours with and without package reduction, and policies of others.
func toolArms() (all []compare.Arm) {
	all = compare.All()
	peer := func(c toolsearch.Config) func(tools) *toolsearch.Config {
		return func(all tools) *toolsearch.Config {
			own := c
			own.DynamicTools = all
			return &own
		}
	}
	return append(all,
		picks("policy of RAG-MCP: the 5 best for the question", 5),
		picks("the same with 20", 20),
		compare.Hides("policy of Pydantic AI: shared words, 10 results", peer(toolsearch.Config{NewIndex: overlapIndex(1, 1), MaxResults: 10})),
		compare.Hides("policy of Vercel AI SDK: names twice, for one step", peer(toolsearch.Config{NewIndex: overlapIndex(2, 1), UnloadAfter: 1})),
		compare.Arm{Name: "policy of hosts with a limit: the first 128", Set: func(_ context.Context, all tools) (tools, handlers, error) {
			return all, handlers{&firstTools{most: 128}}, nil
		}},
	)
}

func picks(name string, most int) compare.Arm {
	return compare.Arm{Name: name, Set: func(ctx context.Context, all tools) (tools, handlers, error) {
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
func reduces(name string, with func(ctx context.Context, files *store.Memory) (adk.ChatModelAgentMiddleware, error)) compare.Arm {
	return compare.Arm{Name: name, Set: func(ctx context.Context, all tools) (own tools, h handlers, err error) {
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
		files := store.NewMemory(1 << 30)
		reduce, err := with(ctx, files)
		if err != nil {
			return nil, nil, err
		}
		read, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: files})
		return append(own, read), handlers{reduce}, err
	}}
}

// replayed is the policy of a name in package replay, which other projects have.
func replayed(name string) func(context.Context, *store.Memory) (adk.ChatModelAgentMiddleware, error) {
	return func(ctx context.Context, files *store.Memory) (adk.ChatModelAgentMiddleware, error) {
		for _, p := range replay.Policies() {
			if p.Name == name {
				h, err := p.New(ctx, files, trigger)
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
var resultArms = []compare.Arm{
	reduces("no reduction", nil),
	reduces("einolean, truncate at 20,000 bytes, clear from 10,000 tokens", func(ctx context.Context, files *store.Memory) (adk.ChatModelAgentMiddleware, error) {
		return reduction.New(ctx, &reduction.Config{Backend: files, MaxLengthForTrunc: 20_000, MaxTokensForClear: trigger})
	}),
	reduces("einolean `Recommended`", func(ctx context.Context, files *store.Memory) (adk.ChatModelAgentMiddleware, error) {
		c := reduction.Recommended(files)
		c.ProvideReadTool = false // the agent has one
		return reduction.New(ctx, c)
	}),
	reduces("Eino v0.9.21 `reduction`, the same limits", func(ctx context.Context, files *store.Memory) (adk.ChatModelAgentMiddleware, error) {
		return einoreduction.New(ctx, &einoreduction.Config{Backend: files, MaxLengthForTrunc: 20_000, MaxTokensForClear: trigger, TruncExcludeTools: []string{"read_file"}})
	}),
	reduces("policy of Codex: drop the middle above 10,000 bytes", func(context.Context, *store.Memory) (adk.ChatModelAgentMiddleware, error) {
		return &middleOut{most: 10_000}, nil
	}),
	reduces("policy of Anthropic's context editing: keep 3, at least a quarter", replayed("context editing, keep 3, at least a quarter")),
	reduces("policy of agents with a low mark: keep 5", replayed("low mark, keep 5")),
	reduces("policy of observation masking: keep 10", replayed("mask all but the last 10")),
}

// scores runs every arm.
func scores(ctx context.Context, arms []compare.Arm, run func(context.Context, compare.Arm) (scored, error)) (all []scored, err error) {
	for _, a := range arms {
		s, err := run(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// lost is the page of every task that an arm did not do right.
func lost(all []scored) string {
	var b strings.Builder
	b.WriteString("# Tasks that were not done right\n\nOf the [60 tasks over 449 tools](../../docs/benchmarks.md#449-tools-60-tasks). `make report` writes this page.\n\n| policy | task | what was wrong |\n|---|---|---|\n")
	for _, s := range all {
		for _, wrong := range s.wrong {
			task, why, _ := strings.Cut(wrong, ": ")
			fmt.Fprintf(&b, "| %s | %s | %s |\n", s.name, task, strings.ReplaceAll(why, "|", "\\|"))
		}
	}
	return b.String()
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

// pages are the tables of each document, by the name of their place.
func pages(tools, results []scored) map[string]map[string]string {
	return map[string]map[string]string{
		benchmarks:  {"tools": markdown(selected(tools)), "results": markdown(results)},
		resultsPage: {"tools": markdown(tools)},
	}
}

// benchmarkArms are the settings of tools that docs/benchmarks.md shows; internal/dev/RESULTS.md has all.
var benchmarkArms = []string{
	"every tool is listed", "Eino v0.9.21 `toolsearch`", "`Keyword`", "`SearchCall`", "`Recommended`", "`Recommended`, reduced",
	"Eino v0.9.21 `toolsearch` and `reduction`, at the limits of `Recommended`",
	"policy of RAG-MCP: the 5 best for the question", "policy of hosts with a limit: the first 128",
}

func selected(all []scored) (some []scored) {
	for _, s := range all {
		if slices.Contains(benchmarkArms, s.name) {
			some = append(some, s)
		}
	}
	return some
}

// measured is what the arms did.
func measured(ctx context.Context) (tools, results []scored, err error) {
	if tools, err = scores(ctx, toolArms(), tasksOf); err != nil {
		return nil, nil, err
	}
	results, err = scores(ctx, resultArms, func(ctx context.Context, a compare.Arm) (scored, error) { return work(ctx, a, lab.FileQuestions) })
	return tools, results, err
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

// benchmarks is the users' page, resultsPage has every row.
var (
	benchmarks  = filepath.Join("..", "..", "..", "..", "docs", "benchmarks.md")
	resultsPage = filepath.Join("..", "..", "RESULTS.md")
)

// figuresFile is the one file with the figures of the tasks, from which documents and the command
// have theirs.
var figuresFile = filepath.Join("..", "..", "..", "..", "demo", "compare", "measured.json")

// lostFile lists what was not done right.
var lostFile = filepath.Join(filepath.Dir(figuresFile), "lost.md")

// figuresOf is what each task took with each setting of the command.
func figuresOf(all []scored) ([]byte, error) {
	figures := map[string]map[string]compare.Took{}
	for _, a := range compare.All() {
		for _, s := range all {
			if s.name == a.Name {
				figures[s.name] = s.took
			}
		}
	}
	text, err := json.Marshal(figures)
	if err != nil {
		return nil, err
	}
	return append(bytes.ReplaceAll(text, []byte(`},"`), []byte("},\n\"")), '\n'), nil
}
