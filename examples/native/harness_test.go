// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/toolsearch"
)

// hidden are the tools to hide. The last takes no arguments at all.
var hidden = []string{"weather__forecast", "weather__history", "mail__send", "mail__list", "calendar__add", "calendar__list", "ping"}

// runs remembers which tools ran.
type runs struct {
	mu    sync.Mutex
	names []string
}

func (r *runs) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.names...)
}

// echo is a tool that returns its arguments.
type echo struct {
	info *schema.ToolInfo
	runs *runs
}

func (e echo) Info(context.Context) (*schema.ToolInfo, error) { return e.info, nil }

func (e echo) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	e.runs.mu.Lock()
	defer e.runs.mu.Unlock()
	e.runs.names = append(e.runs.names, e.info.Name)
	return e.info.Name + " did it with " + args, nil
}

func (r *runs) tools(names ...string) (list []tool.BaseTool) {
	for _, name := range names {
		info := &schema.ToolInfo{Name: name, Desc: "Does " + name + " for you."}
		if name != "ping" {
			info.ParamsOneOf = schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"value": {Type: schema.String, Desc: "what to use"}})
		}
		list = append(list, echo{info, r})
	}
	return list
}

// chat is a session with an agent on a server.
type chat[M adk.MessageType] struct {
	session[M]
	t      *testing.T
	server *provider.Server
	ran    *runs
}

// newAgent starts a session with an agent that has the named tools of its own.
func newAgent[M adk.MessageType](t *testing.T, api provider.API, stream bool, own ...string) *chat[M] {
	t.Helper()
	s := provider.Start(api)
	t.Cleanup(s.Close)
	c := &chat[M]{t: t, server: s, ran: &runs{}}
	c.stream = stream
	c.agent = adk.TypedChatModelAgentConfig[M]{
		Name: "agent", Description: "an agent", Instruction: "Help.", Model: modelOn[M](t, api, s.URL()),
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: c.ran.tools(own...)}},
	}
	return c
}

// modelOn is the adapter for an API and a message type.
func modelOn[M adk.MessageType](t *testing.T, api provider.API, url string) model.BaseModel[M] {
	t.Helper()
	ctx := context.Background()
	var m any
	var err error
	_, agentic := any(*new(M)).(*schema.AgenticMessage)
	switch {
	case api == provider.Anthropic && agentic:
		m, err = newAgenticClaude(ctx, url)
	case api == provider.Anthropic:
		m, err = newClaude(ctx, url)
	case api == provider.OpenAI:
		m, err = newResponses(ctx, url)
	default:
		m, err = newChat(ctx, url)
	}
	require.NoError(t, err)
	return m.(model.BaseModel[M])
}

// search gives the agent the middleware, over all hidden tools if the config names none.
func (c *chat[M]) search(cfg toolsearch.Config) {
	c.t.Helper()
	if cfg.DynamicTools == nil {
		cfg.DynamicTools = c.ran.tools(hidden...)
	}
	h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
	require.NoError(c.t, err)
	c.agent.Handlers = []adk.TypedChatModelAgentMiddleware[M]{h}
}

// ask runs the agent on a text, with the model's turns. The run must succeed, and the
// server must have refused nothing.
func (c *chat[M]) ask(text string, turns ...provider.Turn) []M {
	c.t.Helper()
	c.server.Then(turns...)
	answer, err := c.say(context.Background(), text)
	require.NoError(c.t, err)
	require.Empty(c.t, c.last().Refused)
	return answer
}

// store puts the history through JSON, as a store does.
func (c *chat[M]) store() {
	c.t.Helper()
	for i, m := range c.history {
		text, err := json.Marshal(m)
		require.NoError(c.t, err)
		var back M
		require.NoError(c.t, json.Unmarshal(text, &back))
		c.history[i] = back
	}
}

func (c *chat[M]) last() provider.Request {
	list := c.server.Requests()
	return list[len(list)-1]
}

// wire is everything that went over the wire since the request with the number from.
func (c *chat[M]) wire(from int) string {
	var b strings.Builder
	for _, r := range c.server.Requests()[from:] {
		b.Write(r.Body)
	}
	return b.String()
}

func calls(c ...provider.Call) provider.Turn { return provider.Turn{Calls: c} }
func says(text string) provider.Turn         { return provider.Turn{Text: text} }
func call(name, args string) provider.Call   { return provider.Call{Name: name, Args: args} }
func blind(name string) provider.Call        { return provider.Call{Name: name, Unseen: true} }
func find(query string) provider.Call {
	return call("tool_search", fmt.Sprintf(`{"query": %q}`, query))
}

func deferred(r provider.Request) []string { return provider.Names(r.Deferred()) }

// side is a contract with the adapter that it is for.
type side struct {
	contract toolsearch.Adapter
	api      provider.API
	agentic  bool
}

var sides = []side{
	{toolsearch.ClaudeHosted, provider.Anthropic, false},
	{toolsearch.ClaudeClient, provider.Anthropic, false},
	{toolsearch.OpenAIHosted, provider.OpenAI, true},
	{toolsearch.OpenAIClient, provider.OpenAI, true},
	{toolsearch.AgenticClaudeClient, provider.Anthropic, true},
}

func (s side) hosted() bool { return way{config: native(s.contract)}.hosted() }

// on runs a test under each contract, in one piece and streaming.
func on(t *testing.T, plain func(*testing.T, side, bool), agentic func(*testing.T, side, bool)) {
	for _, s := range sides {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/streaming %v", s.contract, stream), func(t *testing.T) {
				if s.agentic {
					agentic(t, s, stream)
				} else {
					plain(t, s, stream)
				}
			})
		}
	}
}
