// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adaptertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/agenticopenai"
	"github.com/cloudwego/eino-ext/components/model/ark"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// chat is a conversation with an agent over several runs.
type chat[M adk.MessageType] struct {
	t       *testing.T
	server  *Server
	agent   adk.TypedChatModelAgentConfig[M]
	stream  bool
	script  []Turn
	decide  func(Seen) Turn // in place of the script
	history []M
}

// isArk is true for the message type that the adapter of Ark has.
func isArk[M adk.MessageType]() bool {
	_, ok := any(*new(M)).(*schema.Message)
	return ok
}

// adapter makes the real adapter, with its sessions on.
func adapter[M adk.MessageType](t *testing.T, url string) model.BaseModel[M] {
	ctx := t.Context()
	var m any
	var err error
	if isArk[M]() {
		m, err = ark.NewResponsesAPIChatModel(ctx, &ark.ResponsesAPIConfig{BaseURL: url, APIKey: "k", Model: "doubao", RetryTimes: new(int),
			SessionCache: &ark.SessionCacheConfig{EnableCache: true, TTL: 3600}})
	} else {
		m, err = agenticopenai.NewResponsesModel(ctx, &agenticopenai.ResponsesConfig{BaseURL: url, APIKey: "k", Model: "gpt", MaxRetries: new(int), EnableAutoCache: true})
	}
	require.NoError(t, err)
	return m.(model.BaseModel[M])
}

func newChat[M adk.MessageType](t *testing.T, stream bool) *chat[M] {
	c := &chat[M]{t: t, stream: stream}
	c.server = Start(isArk[M](), func(s Seen) Turn {
		if c.decide != nil {
			return c.decide(s)
		}
		if len(c.script) == 0 {
			return Turn{Text: "The script is at its end."}
		}
		next := c.script[0]
		c.script = c.script[1:]
		return next
	})
	t.Cleanup(c.server.Close)
	c.agent = adk.TypedChatModelAgentConfig[M]{Name: "agent", Description: "an agent", Instruction: "Help.",
		Model: adapter[M](t, c.server.URL()), MaxIterations: 100}
	return c
}

// runner rebuilds everything, as another process does.
func (c *chat[M]) runner(files adk.CheckPointStore) *adk.TypedRunner[M] {
	agent, err := adk.NewTypedChatModelAgent(c.t.Context(), &c.agent)
	require.NoError(c.t, err)
	return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: c.stream, CheckPointStore: files})
}

// ask runs the agent on the history and a new text. It returns what the model was
// shown. The history then holds what the events showed, through JSON.
func (c *chat[M]) ask(text string, turns ...Turn) []Seen {
	c.t.Helper()
	c.script = turns
	before := len(c.server.Seen())
	c.history = append(c.history, user[M](text))
	answers, _ := c.collect(c.runner(nil).Run(c.t.Context(), slices.Clone(c.history)))
	c.history = append(c.history, answers...)
	return c.server.Seen()[before:]
}

// collect reads the events of a run to their end. interrupt is where it waits.
func (c *chat[M]) collect(events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (out []M, interrupt string) {
	c.t.Helper()
	for ev, ok := events.Next(); ok; ev, ok = events.Next() {
		require.NoError(c.t, ev.Err)
		if ev.Action != nil && ev.Action.Interrupted != nil {
			interrupt = ev.Action.Interrupted.InterruptContexts[0].ID
		}
		if ev.Output == nil || ev.Output.MessageOutput == nil {
			continue
		}
		m, err := ev.Output.MessageOutput.GetMessage()
		require.NoError(c.t, err)
		out = append(out, stored(c.t, []M{m})...)
	}
	return out, interrupt
}

// stored puts messages through JSON, as a store does.
func stored[M adk.MessageType](t *testing.T, msgs []M) (out []M) {
	t.Helper()
	text, err := json.Marshal(msgs)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

func user[M adk.MessageType](text string) M {
	var m any = schema.UserMessage(text)
	if !isArk[M]() {
		m = schema.UserAgenticMessage(text)
	}
	return m.(M)
}

// says is a tool that answers with a text, by its arguments.
type says struct {
	name string
	text func(args string) string
}

func (s says) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "Does " + s.name + ".", ParamsOneOf: schema.NewParamsOneOfByParams(
		map[string]*schema.ParameterInfo{"value": {Type: schema.String, Desc: "what to use"}})}, nil
}

func (s says) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return s.text(args), nil
}

func tools(text func(name, args string) string, names ...string) (list []tool.BaseTool) {
	for _, name := range names {
		list = append(list, says{name, func(args string) string { return text(name, args) }})
	}
	return list
}

// short is what tools say in tests that are not about size.
func short(name, args string) string { return name + " did it with " + args }

func (c *chat[M]) own(list ...tool.BaseTool) {
	c.agent.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: list}}
}

// search adds toolsearch to the handlers.
func (c *chat[M]) search(cfg toolsearch.Config) {
	if cfg.DynamicTools == nil {
		cfg.DynamicTools = tools(short, "weather", "mail", "calendar")
	}
	h, err := toolsearch.NewTyped[M](c.t.Context(), &cfg)
	require.NoError(c.t, err)
	c.agent.Handlers = append(c.agent.Handlers, h)
}

// reduce adds reduction to the handlers.
func (c *chat[M]) reduce(cfg reduction.TypedConfig[M]) {
	if cfg.Backend == nil {
		cfg.Backend = store.NewMemory(1 << 24)
	}
	h, err := reduction.NewTyped(c.t.Context(), &cfg)
	require.NoError(c.t, err)
	c.agent.Handlers = append(c.agent.Handlers, h)
}

func find(names string) Call {
	return Call{"tool_search", fmt.Sprintf(`{"query":"select:%s"}`, names)}
}
func use(name, value string) Call { return Call{name, fmt.Sprintf(`{"value":%q}`, value)} }
func calls(c ...Call) Turn        { return Turn{Calls: c} }

// both runs a test with each adapter, in one piece and streaming.
func both(t *testing.T, ark func(*testing.T, bool), openai func(*testing.T, bool)) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("ark/streaming %v", stream), func(t *testing.T) { ark(t, stream) })
		t.Run(fmt.Sprintf("agenticopenai/streaming %v", stream), func(t *testing.T) { openai(t, stream) })
	}
}
