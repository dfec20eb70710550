// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Random agents with toolsearch, reduction or both.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
)

func searchRun(ctx context.Context, g *rand.Rand, out, errs io.Writer) {
	eitherType(ctx, g, out, errs, true, false)
}

func reductionRun(ctx context.Context, g *rand.Rand, out, errs io.Writer) {
	eitherType(ctx, g, out, errs, false, true)
}

func combinedRun(ctx context.Context, g *rand.Rand, out, errs io.Writer) {
	eitherType(ctx, g, out, errs, true, true)
}

func eitherType(ctx context.Context, g *rand.Rand, out, errs io.Writer, search, reduce bool) {
	if g.IntN(2) == 0 {
		newConversation[*schema.Message](g, out, errs, search, reduce).talk(ctx)
	} else {
		newConversation[*schema.AgenticMessage](g, out, errs, search, reduce).talk(ctx)
	}
}

// conversation is a few turns with an agent, whose process may end between them.
type conversation[M adk.MessageType] struct {
	g              *rand.Rand
	behavior, errs io.Writer
	search, reduce bool
	streaming      bool
	interrupts     bool
	keepsEdited    bool // the application stores the edited messages, not those of the events
	tools          []tool.BaseTool
	names          []string
	store          *store.Memory
	searchConfig   toolsearch.Config
	reduceConfig   reduction.TypedConfig[M]

	mu     sync.Mutex
	events []string
	edited []M
	calls  int
	turn   int
}

func newConversation[M adk.MessageType](g *rand.Rand, out, errs io.Writer, search, reduce bool) *conversation[M] {
	c := &conversation[M]{
		g: g, behavior: out, errs: errs, search: search, reduce: reduce, store: store.NewMemory(64 << 20),
		streaming: g.IntN(2) == 0, interrupts: g.IntN(4) == 0, keepsEdited: g.IntN(2) == 0,
	}
	c.tools, c.names = randomTools(g)
	c.searchConfig = c.randomSearchConfig()
	c.reduceConfig = c.randomReduceConfig()
	return c
}

var (
	verbs    = strings.Fields("get list create delete update search send read write book convert check")
	subjects = strings.Fields("weather file issue message flight invoice user calendar repository picture table query")
	chinese  = strings.Fields("查询 创建 删除 更新 天气 文件 航班 发票 日历 用户 消息 图片")
)

// randomTools makes tools of all forms, of several servers, with definitions in English and Chinese.
func randomTools(g *rand.Rand) (tools []tool.BaseTool, names []string) {
	for i := range 3 + g.IntN(40) {
		verb, subject := verbs[g.IntN(len(verbs))], subjects[g.IntN(len(subjects))]
		name := fmt.Sprintf("server%d__%s_%s_%d", g.IntN(4), verb, subject, i)
		desc := fmt.Sprintf("%s a %s by its name. Use it for %s.", verb, subject, subjects[g.IntN(len(subjects))])
		if g.IntN(4) == 0 {
			desc = chinese[g.IntN(len(chinese))] + chinese[g.IntN(len(chinese))] + "的工具"
		}
		info := &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"size": {Type: schema.Integer, Desc: "bytes"}, subject: {Type: schema.String, Desc: "the " + subject},
		})}
		tools = append(tools, adktest.Tool(adktest.Form(g.IntN(4)), info, produce(name)))
		names = append(names, name)
	}
	return tools, names
}

// order is what the model asks a tool for.
type order struct {
	Size int  `json:"size"`
	Kind int  `json:"kind"`
	Key  int  `json:"key"`
	Wait bool `json:"wait,omitempty"` // interrupts the run once
	Fail bool `json:"fail,omitempty"`
}

// produce returns content that depends on the arguments alone.
func produce(name string) adktest.Func {
	return func(ctx context.Context, args string) (string, error) {
		var o order
		if err := json.Unmarshal([]byte(args), &o); err != nil {
			return "no arguments", nil
		}
		if o.Wait {
			if was, _, _ := tool.GetInterruptState[any](ctx); !was {
				return "", tool.Interrupt(ctx, "wait")
			}
		}
		if o.Fail {
			return "", errors.New("the tool failed")
		}
		return content(name, o), nil
	}
}

func content(name string, o order) string {
	g := rand.New(rand.NewPCG(uint64(o.Key), uint64(o.Kind)))
	var b strings.Builder
	switch o.Kind {
	case 0:
		for line := 0; b.Len() < o.Size; line++ {
			fmt.Fprintf(&b, "%s line %d: %x — 行\n", name, line, g.Uint64())
		}
	case 1:
		b.WriteString("[")
		for i := 0; b.Len() < o.Size; i++ {
			fmt.Fprintf(&b, `%s{"id": %d, "value": "%x"}`, strings.Repeat(", ", min(i, 1)), i, g.Uint32())
		}
		b.WriteString("]")
	case 2:
		b.WriteString(strings.Repeat("x", o.Size))
	default:
		for b.Len() < o.Size {
			b.WriteString(chinese[g.IntN(len(chinese))])
		}
	}
	return b.String()
}

func (c *conversation[M]) randomSearchConfig() toolsearch.Config {
	g := c.g
	cfg := toolsearch.Config{
		DynamicTools: c.tools, Protocol: toolsearch.Protocol(g.IntN(4)), OnEvent: c.record, Prefetch: g.IntN(2) * g.IntN(4),
		AllowUnloadedCalls: g.IntN(3) == 0, UnloadAfter: g.IntN(3) * g.IntN(4), CatalogLimit: g.IntN(3) * 7,
		MinTokensToHide: g.IntN(3) * 600, MaxToolsPerRequest: g.IntN(3) * 5, MaxResults: g.IntN(3) * 2,
	}
	if cfg.Protocol == toolsearch.SearchCall {
		cfg.UnloadAfter = 0
	}
	if cfg.Protocol != toolsearch.Regexp && g.IntN(2) == 0 {
		cfg.NewIndex, cfg.MinConfidence = index.BM25, float64(g.IntN(3))*0.05
	}
	if g.IntN(4) == 0 {
		cfg.AlwaysVisible = []string{c.names[g.IntN(len(c.names))]}
	}
	if g.IntN(4) == 0 {
		cfg.Source, cfg.DynamicTools = toolset.NewSource(func(context.Context) ([]tool.BaseTool, error) {
			return c.tools[:len(c.tools)-min(c.turn, 2)], nil
		}, nil), nil
	}
	if g.IntN(4) == 0 {
		phases := []toolsearch.Phase{
			toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad, toolsearch.PhaseActive, toolsearch.PhaseCall,
		}
		denied, phase := c.names[g.IntN(len(c.names))], phases[g.IntN(len(phases))]
		cfg.Filter = func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
			return r.Tool.Name != denied || r.Phase != phase, nil
		}
	}
	return cfg
}

func (c *conversation[M]) randomReduceConfig() reduction.TypedConfig[M] {
	g := c.g
	cfg := reduction.TypedConfig[M]{
		Backend: c.store, OnEvent: c.record, MaxLengthForTrunc: 1500 + g.IntN(8000), MaxTokensForClear: int64(1000 + g.IntN(9000)),
		ProvideReadTool: g.IntN(2) == 0, ClearRetentionSuffixLimit: g.IntN(3), ClearAtLeastTokens: int64(g.IntN(2) * g.IntN(2000)),
	}
	if g.IntN(2) == 0 {
		cfg.ClearTargetTokens, cfg.MinSavingBytes = int64(g.IntN(3000)), g.IntN(600)
		cfg.DedupeResults, cfg.MaxArgumentBytes, cfg.CompactJSON = g.IntN(2) == 0, g.IntN(2)*200, g.IntN(2) == 0
		cfg.Preview = reduction.PreviewByKind
	}
	if g.IntN(4) == 0 {
		cfg.WindowTokens = int64(4000 + g.IntN(20000))
	}
	if g.IntN(4) == 0 {
		cfg.TruncExcludeTools = []string{c.names[g.IntN(len(c.names))], "server1__*"}
	}
	if g.IntN(4) == 0 {
		cfg.ToolConfig = map[string]*reduction.ToolReductionConfig{
			c.names[g.IntN(len(c.names))]: {Backend: c.store, MaxLengthForTrunc: 700 + g.IntN(2000), SkipClear: g.IntN(2) == 0},
		}
	}
	return cfg
}

func (c *conversation[M]) record(_ context.Context, e einolean.Event) {
	e.Time = time.Time{}
	data, err := json.Marshal(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, fmt.Sprintln(string(data), err))
}

// editor keeps the messages that a run ends with.
type editor[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	c *conversation[M]
}

// AfterAgent is called when a run has ended well.
func (e *editor[M]) AfterAgent(ctx context.Context, s *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	e.c.edited = s.Messages
	return ctx, nil
}

// talk holds the conversation, and writes what was observed.
func (c *conversation[M]) talk(ctx context.Context) {
	var history []M
	checkpoints := &adktest.Store{}
	for c.turn = range 1 + c.g.IntN(3) {
		agent, ok := c.newAgent(ctx)
		if !ok {
			return
		}
		agent.Store = checkpoints
		history = append(history, adktest.User[M](fmt.Sprintf("Please %s the %s, %s", verbs[c.g.IntN(len(verbs))],
			subjects[c.g.IntN(len(subjects))], chinese[c.g.IntN(len(chinese))])))
		c.edited = nil
		said := c.runTurn(ctx, agent, history)
		for n, w := range agent.Model.Wires() {
			c.writeRequest(n, w)
		}
		history = append(history, said...)
		if c.keepsEdited && c.edited != nil {
			history = c.edited
		}
	}
	c.writeFiles(ctx, history)
	c.writeEvents()
}

// writeEvents writes the events in one order, since those of parallel calls have none.
func (c *conversation[M]) writeEvents() {
	slices.Sort(c.events)
	for _, e := range c.events {
		io.WriteString(c.behavior, e)
	}
}

func (c *conversation[M]) newAgent(ctx context.Context) (adktest.Agent[M], bool) {
	a := adktest.Agent[M]{Streaming: c.streaming, Max: 30, Model: &adktest.Model[M]{Respond: c.respond}}
	if c.reduce {
		h, err := reduction.NewTyped(ctx, &c.reduceConfig)
		if err != nil {
			fmt.Fprintln(c.errs, err)
			return a, false
		}
		a.Handlers = append(a.Handlers, h)
	}
	if c.search {
		h, err := toolsearch.NewTyped[M](ctx, &c.searchConfig)
		if err != nil {
			fmt.Fprintln(c.errs, err)
			return a, false
		}
		a.Handlers = append(a.Handlers, h)
	} else {
		a.Tools = c.tools
	}
	a.Handlers = append(a.Handlers, &editor[M]{c: c})
	return a, true
}

// runTurn runs an agent to its end, over checkpoints where it is interrupted.
func (c *conversation[M]) runTurn(ctx context.Context, a adktest.Agent[M], history []M) (said []M) {
	runner, err := a.Runner(ctx)
	if err != nil {
		fmt.Fprintln(c.errs, err)
		return nil
	}
	id := fmt.Sprintf("turn %d", c.turn)
	o := adktest.Collect(runner.Run(ctx, history, adk.WithCheckPointID(id)))
	said = inCallOrder(o.Messages)
	for o.Err == nil && o.Interrupted != nil {
		fmt.Fprintln(c.behavior, "interrupted")
		next, err := runner.Resume(ctx, id)
		if err != nil {
			fmt.Fprintln(c.errs, err)
			return said
		}
		o = adktest.Collect(next)
		said = append(said, inCallOrder(o.Messages)...)
	}
	if o.Err != nil {
		fmt.Fprintln(c.errs, o.Err)
	}
	return said
}

// inCallOrder sorts the results behind an answer by their ids: events of parallel calls come as the calls end.
func inCallOrder[M adk.MessageType](msgs []M) []M {
	for begin := 0; begin < len(msgs); begin++ {
		end := begin
		for end < len(msgs) && adktest.Role(msgs[end]) == "tool" {
			end++
		}
		slices.SortStableFunc(msgs[begin:end], func(a, b M) int { return strings.Compare(firstID(a), firstID(b)) })
		begin = max(begin, end)
	}
	return msgs
}

func firstID[M adk.MessageType](m M) string {
	for _, r := range adktest.Results(m) {
		return r.ID
	}
	return ""
}

// respond is a model that searches, calls tools, reads back, and ends.
func (c *conversation[M]) respond(n int, w adktest.Wire[M]) adktest.Turn {
	g := c.g
	if n > 3+g.IntN(6) {
		return adktest.Say("done")
	}
	var calls []adktest.ToolCall
	for range 1 + g.IntN(3) {
		c.calls++
		calls = append(calls, c.randomCall(fmt.Sprintf("call_%04d", c.calls), w))
	}
	return adktest.Do(calls...)
}

func (c *conversation[M]) randomCall(id string, w adktest.Wire[M]) adktest.ToolCall {
	g := c.g
	name := c.names[g.IntN(len(c.names))]
	o := order{Size: g.IntN(9000), Kind: g.IntN(4), Key: g.IntN(6), Wait: c.interrupts && g.IntN(5) == 0, Fail: g.IntN(60) == 0}
	args, _ := json.Marshal(o)
	switch k := g.IntN(10); {
	case c.search && k < 3:
		return c.searchCall(id, name)
	case k == 3 && slices.Contains(w.ToolNames, "read_file"):
		path := fmt.Sprintf("/tmp/clear/call_%04d", 1+g.IntN(c.calls))
		return adktest.ToolCall{ID: id, Name: "read_file", Args: fmt.Sprintf(`{"file_path":%q,"limit":3}`, path)}
	case c.search && c.searchConfig.Protocol == toolsearch.SearchCall && k < 9:
		return adktest.ToolCall{ID: id, Name: "call_tool", Args: fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)}
	case k == 9:
		return adktest.ToolCall{ID: id, Name: name, Args: `{"size": "bro`}
	}
	return adktest.ToolCall{ID: id, Name: name, Args: string(args)}
}

func (c *conversation[M]) searchCall(id, name string) adktest.ToolCall {
	g := c.g
	words := verbs[g.IntN(len(verbs))] + " " + subjects[g.IntN(len(subjects))]
	if g.IntN(3) == 0 {
		words = "select:" + name
	}
	switch c.searchConfig.Protocol {
	case toolsearch.Regexp:
		return adktest.ToolCall{ID: id, Name: "tool_search", Args: fmt.Sprintf(`{"regex_pattern":%q}`, name[:10])}
	case toolsearch.SearchLoad:
		if g.IntN(2) == 0 {
			return adktest.ToolCall{ID: id, Name: "load_tool", Args: fmt.Sprintf(`{"tool_name":%q}`, name)}
		}
		return adktest.ToolCall{ID: id, Name: "search_tools", Args: fmt.Sprintf(`{"query":%q}`, words)}
	}
	return adktest.ToolCall{ID: id, Name: "tool_search", Args: fmt.Sprintf(`{"query":%q,"max_results":%d}`, words, 1+g.IntN(4))}
}

// writeRequest writes a request as the model got it.
func (c *conversation[M]) writeRequest(n int, w adktest.Wire[M]) {
	fmt.Fprintln(c.behavior, "request", c.turn, n, w.ByStream)
	for _, m := range w.Messages {
		writeJSON(c.behavior, m)
	}
	for _, infos := range [][]*schema.ToolInfo{w.Tools, w.Deferred, {w.ToolSearch}} {
		for _, i := range infos {
			writeJSON(c.behavior, i)
		}
	}
}

// writeFiles writes what stands under the paths that the conversation shows.
func (c *conversation[M]) writeFiles(ctx context.Context, history []M) {
	var paths []string
	for _, m := range history {
		data, _ := json.Marshal(m)
		paths = append(paths, storedPath.FindAllString(string(data), -1)...)
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		r, size, err := c.store.ReadRange(ctx, p, 0, -1)
		if err != nil {
			fmt.Fprintln(c.behavior, p, "is not stored")
			continue
		}
		data, err := io.ReadAll(r)
		_ = r.Close()
		fmt.Fprintln(c.behavior, p, size, string(data), err)
	}
}

var storedPath = regexp.MustCompile(`/tmp/(?:trunc|clear)/[^\s"<\\]+`)

func writeJSON(w io.Writer, v any) {
	data, err := json.Marshal(v)
	fmt.Fprintln(w, string(data), err)
}
