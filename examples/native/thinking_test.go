// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Models that bind their thinking to everything before it: a clear or a load must cost the
// thinking behind it, never a request.

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

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	mended "github.com/einolean/einolean/adapters/claude"
	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

const conversations = 20 // of each kind; others in each run

// dropping lets the provider leave out thinking that it would refuse.
func dropping(cfg *claude.Config) {
	cfg.AdditionalRequestFields = map[string]any{"thinking": map[string]any{"type": "adaptive", "block_binding": map[string]any{"prefix_mismatch_behavior": "drop_block"}}}
	cfg.AdditionalHeaderFields = map[string]string{"anthropic-beta": "thinking-binding-controls-2026-08-01"}
}

// thinker is a conversation with an agent whose model binds its thinking.
type thinker struct {
	*chat[*schema.Message]
	r        *rand.Rand
	faithful bool
	native   bool
	events   []einolean.Event
	denied   string
	live     []tool.BaseTool
	store    *memory
	config   func()
}

func newThinker(t *testing.T, r *rand.Rand, faithful, drop bool) *thinker {
	c := &thinker{chat: newAgent[*schema.Message](t, provider.Anthropic, r.IntN(2) == 0), r: r, faithful: faithful, store: &memory{}}
	c.server.Treats(provider.Bound)
	url := c.server.URL()
	cfg := &claude.Config{BaseURL: &url, APIKey: key, Model: "claude-on-loopback", MaxTokens: 1000}
	if drop {
		dropping(cfg)
	}
	var m model.BaseChatModel
	var err error
	if faithful {
		m, err = mended.NewChatModel(t.Context(), cfg)
	} else {
		c.stream = false // the adapter's streams have a race of their own
		m, err = claude.NewChatModel(t.Context(), cfg)
	}
	require.NoError(t, err)
	c.agent.Model = m
	return c
}

// page is a tool with long results.
type page struct{}

func (page) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "read", Desc: "Reads a page.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"value": {Type: schema.String}})}, nil
}

func (page) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return "page " + args + " begins. " + strings.Repeat("lorem ipsum ", 300), nil
}

// rewriters change a round in all ways that leave a valid conversation.
var rewriters = []func(context.Context, *schema.Message, []*schema.Message) ([]*schema.Message, error){
	func(context.Context, *schema.Message, []*schema.Message) ([]*schema.Message, error) { return nil, nil },
	func(_ context.Context, _ *schema.Message, results []*schema.Message) ([]*schema.Message, error) {
		return []*schema.Message{schema.UserMessage(fmt.Sprintf("%d tools ran.", len(results)))}, nil
	},
	func(_ context.Context, said *schema.Message, _ []*schema.Message) ([]*schema.Message, error) {
		return []*schema.Message{schema.AssistantMessage("I called "+said.ToolCalls[0].Function.Name, nil)}, nil
	},
	func(_ context.Context, said *schema.Message, results []*schema.Message) ([]*schema.Message, error) {
		for _, m := range results {
			m.Content = "gone"
		}
		return append([]*schema.Message{said}, results...), nil
	},
	func(_ context.Context, said *schema.Message, results []*schema.Message) ([]*schema.Message, error) {
		return append([]*schema.Message{schema.UserMessage("As before."), said}, results...), nil
	},
	func(_ context.Context, said *schema.Message, results []*schema.Message) ([]*schema.Message, error) {
		return append([]*schema.Message{said}, results...), nil // nothing
	},
}

// handlers are both middlewares in a random configuration, which is that of the whole
// conversation.
func (c *thinker) handlers() {
	r := c.r
	protocols := []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchLoad, toolsearch.SearchCall, toolsearch.Regexp}
	search := toolsearch.Config{UnloadAfter: r.IntN(4), Protocol: protocols[r.IntN(len(protocols))], Prefetch: r.IntN(2), CatalogLimit: r.IntN(2) * 3}
	if search.Protocol == toolsearch.SearchCall {
		search.UnloadAfter = 0
	}
	if search.Protocol == toolsearch.Keyword && r.IntN(3) == 0 {
		search.UseModelToolSearch, search.Native, c.native = true, toolsearch.ClaudeClient, true
	}
	if r.IntN(3) == 0 {
		search.Filter = func(_ context.Context, q toolsearch.FilterRequest) (bool, error) { return q.Tool.Name != c.denied, nil }
	}
	reduce := reduction.Config{MaxTokensForClear: int64(500 + r.IntN(4000)), MaxLengthForTrunc: 2500 + r.IntN(3000), ClearRetentionSuffixLimit: 1 + r.IntN(2),
		Backend: store.NewMemory(1 << 24), DedupeResults: r.IntN(2) == 0, MaxArgumentBytes: r.IntN(2) * 50}
	if r.IntN(2) == 0 {
		reduce.ClearTargetTokens = reduce.MaxTokensForClear / 2
	}
	if r.IntN(3) == 0 {
		reduce.WindowTokens = int64(3000 + r.IntN(3000))
		reduce.ClearTargetTokens, reduce.MaxTokensForClear = 0, 0
	}
	if reduce.WindowTokens == 0 && r.IntN(2) == 0 {
		reduce.ClearMessageRewriter = rewriters[r.IntN(len(rewriters))]
	}
	hear := func(_ context.Context, e einolean.Event) { c.events = append(c.events, e) }
	search.OnEvent, reduce.OnEvent = hear, hear
	first, on := r.IntN(2) == 0, r.IntN(8)
	live := r.IntN(3) == 0
	c.config = func() { // with new instances of everything
		search := search
		search.DynamicTools = c.ran.tools(hidden[:6]...) // the adapter cannot send the last one
		if live {
			search.Source = c
		}
		a, err := toolsearch.New(c.t.Context(), &search)
		require.NoError(c.t, err)
		b, err := reduction.New(c.t.Context(), &reduce)
		require.NoError(c.t, err)
		list := []adk.ChatModelAgentMiddleware{a, b}
		switch {
		case on == 0:
			list = list[:1]
		case on == 1:
			list = list[1:]
		case first:
			slices.Reverse(list)
		}
		c.agent.Handlers = list
		c.agent.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{page{}, asks{}}}}
	}
}

// Tools are the tools that come and go.
func (c *thinker) Tools(ctx context.Context) (*toolset.Set, error) {
	return toolset.New(ctx, c.live...)
}

// turn is what a model might do.
func (c *thinker) turn(seen provider.Request, calls int) (t provider.Turn) {
	r := c.r
	if r.IntN(4) > 0 {
		t.Thinking = []string{fmt.Sprintf("Hm, %d.", r.IntN(1000))}
		if c.faithful {
			for range r.IntN(3) {
				t.Thinking = append(t.Thinking, []string{"", "More.", provider.Redacted + "x"}[r.IntN(3)])
			}
		}
	}
	if calls > 7 || r.IntN(6) == 0 {
		t.Text = fmt.Sprintf("Answer %d.", r.IntN(1000))
		return t
	}
	if r.IntN(3) == 0 {
		t.Text = "Let me see."
	}
	visible := provider.Names(seen.Visible())
	for range 1 + r.IntN(3) {
		name, other := visible[r.IntN(len(visible))], hidden[r.IntN(6)]
		args := fmt.Sprintf(`{"value":"%d %s"}`, r.IntN(4), strings.Repeat("x", r.IntN(100)))
		switch name {
		case "tool_search", "search_tools":
			args = fmt.Sprintf(`{"query":"select:%s","regex_pattern":%q}`, other, other)
		case "load_tool":
			args = fmt.Sprintf(`{"tool_name":%q}`, other)
		case "call_tool":
			args = fmt.Sprintf(`{"name":%q,"arguments":{"value":"x"}}`, other)
		case "ask":
			if slices.ContainsFunc(t.Calls, func(x provider.Call) bool { return x.Name == "ask" }) || r.IntN(3) > 0 {
				continue
			}
		}
		t.Calls = append(t.Calls, call(name, args))
	}
	if len(t.Calls) == 0 {
		t.Text = "Well."
	}
	return t
}

// run runs the agent on a text, through interrupts. A person answers in another process.
func (c *thinker) run(n int) {
	ctx := c.t.Context()
	calls := 0
	c.server.Decides(func(seen provider.Request) provider.Turn { calls++; return c.turn(seen, calls) })
	start := func() *adk.Runner {
		c.config()
		agent, err := adk.NewChatModelAgent(ctx, (*adk.ChatModelAgentConfig)(&c.agent))
		require.NoError(c.t, err)
		return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: c.stream, CheckPointStore: c.store})
	}
	id := strconv.Itoa(n)
	c.history = append(c.history, schema.UserMessage(fmt.Sprintf("Question %d about the weather?", n)))
	events := start().Run(ctx, slices.Clone(c.history), adk.WithCheckPointID(id))
	for {
		said, where := c.collect(events)
		c.history = append(c.history, said...)
		if where == "" {
			inOrder(c.history)
			return
		}
		var err error
		events, err = start().ResumeWithParams(ctx, id, &adk.ResumeParams{Targets: map[string]any{where: "yes"}})
		require.NoError(c.t, err)
	}
}

// inOrder puts the results of calls that ran at once into the order of the calls, as they
// went over the wire.
func inOrder(history []*schema.Message) {
	rank := map[string]int{}
	for _, m := range history {
		for _, x := range m.ToolCalls {
			rank[x.ID] = len(rank)
		}
	}
	for from := 0; from < len(history); from++ {
		to := from
		for to < len(history) && history[to].Role == schema.Tool {
			to++
		}
		slices.SortFunc(history[from:to], func(a, b *schema.Message) int { return rank[a.ToolCallID] - rank[b.ToolCallID] })
		from = to
	}
}

// collect reads the events up to an interrupt, or the end.
func (c *thinker) collect(events *adk.AsyncIterator[*adk.AgentEvent]) (said []*schema.Message, where string) {
	pass, more := adk.NewAsyncIteratorPair[*adk.AgentEvent]()
	for ev, ok := events.Next(); ok; ev, ok = events.Next() {
		if ev.Action != nil && ev.Action.Interrupted != nil {
			where = ev.Action.Interrupted.InterruptContexts[0].ID
			continue
		}
		more.Send(ev)
	}
	more.Close()
	said, err := lab.Collect(pass)
	require.NoError(c.t, err)
	return said, where
}

// The provider rejects no request of random conversations with loads, clears, truncations and resumes, with an
// adapter that returns all thinking and with one that does not. Where the provider may drop thinking, it has
// nothing to drop. If nothing is cleared or loaded, all thinking returns.
func TestThinking_BoundThinkingIsNeverRefused(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	for n := range uint64(conversations) {
		for _, faithful := range []bool{true, false} {
			for _, drop := range []bool{true, false} {
				t.Run(fmt.Sprintf("faithful %v/drop %v/%d", faithful, drop, n), func(t *testing.T) {
					thinks(t, rand.New(rand.NewPCG(seed, n)), faithful, drop)
				})
			}
		}
	}
}

func thinks(t *testing.T, r *rand.Rand, faithful, drop bool) {
	c := newThinker(t, r, faithful, drop)
	c.handlers()
	for n := range 4 {
		if r.IntN(3) == 0 {
			c.denied = []string{"", "mail__send", "weather__forecast"}[r.IntN(3)]
		}
		if r.IntN(3) == 0 {
			c.live = c.ran.tools([]string{"live__one", "live__two"}[:r.IntN(3)]...)
		}
		c.run(n)
		if r.IntN(2) == 0 {
			text, err := json.Marshal(c.history)
			require.NoError(t, err)
			c.history = nil
			require.NoError(t, json.Unmarshal(text, &c.history))
		}
	}
	for _, q := range c.server.Requests() {
		require.Empty(t, q.Refused)
		require.Zero(t, q.Dropped)
		if !c.native { // which rewrites histories that show tools that are hidden again
			require.Zero(t, q.Missing)
		}
	}
}

// A model with a thinking budget binds nothing, and requires the thinking of the current turn.
func TestThinking_WithBudgetAlwaysReturns(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
	url := c.server.URL()
	m, err := mended.NewChatModel(t.Context(), &claude.Config{BaseURL: &url, APIKey: key, Model: "claude-on-loopback", MaxTokens: 3000, AdditionalRequestFields: map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}})
	require.NoError(t, err)
	c.agent.Model = m
	c.search(toolsearch.Config{})
	thinks := func(t provider.Turn) provider.Turn { t.Thinking = []string{"Hm."}; return t }
	c.ask("Weather?", thinks(calls(find("forecast"))), thinks(calls(call("weather__forecast", ""))), thinks(says("Dry.")))
	c.ask("And mail?", thinks(calls(find("mail"))), thinks(says("None.")))
	for i, q := range c.server.Requests() {
		require.Equal(t, i, q.Thoughts, "request %d", i)
	}
}

// Without a load or a clear, and with a protocol that never loads, all thinking returns.
func TestSearchCall_KeepsAllThinking(t *testing.T) {
	c := newThinker(t, rand.New(rand.NewPCG(1, 1)), true, false)
	c.search(toolsearch.Config{Protocol: toolsearch.SearchCall, DynamicTools: c.ran.tools(hidden[:6]...)})
	thinks := func(t provider.Turn) provider.Turn { t.Thinking = []string{"Hm.", ""}; return t }
	c.ask("Weather?", thinks(calls(find("forecast"))), thinks(calls(call("call_tool", `{"name":"weather__forecast","arguments":{"value":"x"}}`))), thinks(says("Dry.")))
	c.ask("And mail?", thinks(calls(find("mail"))), thinks(says("None.")))
	for i, q := range c.server.Requests() {
		require.Equal(t, 2*i, q.Thoughts, "request %d", i)
	}
}
