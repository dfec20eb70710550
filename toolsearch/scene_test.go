// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Helpers: agents with this middleware, for both message types, streaming or not.

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

// scene is an agent with one instance of the middleware. The agent has one tool of its own,
// named own, and whatever mine holds.
type scene[M adk.MessageType] struct {
	t         testing.TB
	streaming bool
	cfg       toolsearch.Config
	mine      []tool.BaseTool
	around    []adk.TypedChatModelAgentMiddleware[M] // handlers before ours
	behind    []adk.TypedChatModelAgentMiddleware[M] // handlers after ours
	store     adk.CheckPointStore
}

func (s scene[M]) agent(turns ...adktest.Turn) (adktest.Agent[M], *adktest.Model[M]) {
	h, err := toolsearch.NewTyped[M](context.Background(), &s.cfg)
	require.NoError(s.t, err)
	m := adktest.Script[M](turns...)
	handlers := append(append(append([]adk.TypedChatModelAgentMiddleware[M](nil), s.around...), h), s.behind...)
	return adktest.Agent[M]{
		Model: m, Streaming: s.streaming, Store: s.store, Handlers: handlers,
		Tools: append([]tool.BaseTool{adktest.Simple("own", "A tool that is always there")}, s.mine...),
	}, m
}

// begin plays a conversation that starts with a user's message.
func (s scene[M]) begin(turns ...adktest.Turn) played[M] {
	return s.play([]M{adktest.User[M]("please")}, turns...)
}

// play plays one run that ends well.
func (s scene[M]) play(history []M, turns ...adktest.Turn) played[M] {
	p := s.try(history, turns...)
	require.NoError(s.t, p.Err)
	require.Equal(s.t, "done", p.Answer())
	return p
}

// try plays one run.
func (s scene[M]) try(history []M, turns ...adktest.Turn) played[M] {
	agent, m := s.agent(turns...)
	out := agent.Run(context.Background(), history)
	return played[M]{out, m.Wires(), append(append([]M(nil), history...), out.Messages...)}
}

// played is what came of a scene.
type played[M adk.MessageType] struct {
	adktest.Outcome[M]
	wires   []adktest.Wire[M]
	history []M // with what the run added
}

// tools are the names of the tools of each model call, one line per call.
func (p played[M]) tools() string {
	var lines []string
	for _, w := range p.wires {
		lines = append(lines, strings.Join(w.ToolNames, " "))
	}
	return strings.Join(lines, "\n")
}

// answer is the text of the result of a call.
func (p played[M]) answer(t testing.TB, id string) string {
	for _, m := range p.Messages {
		for _, r := range adktest.Results(m) {
			if r.ID == id {
				return r.Args
			}
		}
	}
	t.Fatalf("no result of call %q", id)
	return ""
}

// text is all that the model was sent, and all that came out; results of calls that ran at
// once came in any order, and are sorted.
func (p played[M]) text() string {
	var b strings.Builder
	for _, w := range p.wires {
		b.WriteString(strings.Join(w.MessagesDump, "\n") + "\n" + onWire(w.Tools...) + onWire(w.Deferred...) + onWire(w.ToolSearch) + "\n")
	}
	var out []string
	for _, m := range p.Messages {
		out = append(out, adktest.Dump(m))
	}
	slices.Sort(out)
	return b.String() + strings.Join(out, "\n")
}

// on makes a scene over the standard tools.
func on[M adk.MessageType](t testing.TB, streaming bool, protocol toolsearch.Protocol) scene[M] {
	return scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: office(), Protocol: protocol}}
}

// onWire is what a provider is sent of tools.
func onWire(tools ...*schema.ToolInfo) string {
	var b strings.Builder
	for _, t := range tools {
		if t == nil {
			continue
		}
		params, err := t.ToJSONSchema()
		if err != nil {
			panic(err)
		}
		text, err := json.Marshal(map[string]any{"name": t.Name, "description": t.Desc, "parameters": params, "extra": t.Extra})
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}

// do is a turn of one call.
func do(id, name, args string) adktest.Turn {
	return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: args})
}

// office are the tools that most scenes hide.
func office() []tool.BaseTool {
	return []tool.BaseTool{
		aTool("github__create_issue", "Creates an issue in a repository.", map[string]*schema.ParameterInfo{
			"title": {Type: schema.String, Desc: "The title", Required: true},
			"votes": {Type: schema.Integer, Desc: "How many want it"},
		}),
		aTool("github__close_issue", "Closes an issue of a repository.", map[string]*schema.ParameterInfo{
			"number": {Type: schema.Integer, Desc: "The number of the issue", Required: true},
		}),
		aTool("slack__send_message", "Sends a message to a channel.", map[string]*schema.ParameterInfo{
			"channel": {Type: schema.String, Desc: "The channel", Required: true},
		}),
		aTool("weather__get_forecast", "Says what the weather will be.", map[string]*schema.ParameterInfo{
			"city": {Type: schema.String, Desc: "The city", Required: true},
		}),
	}
}

func aTool(name, desc string, params map[string]*schema.ParameterInfo) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByParams(params)},
		func(_ context.Context, args string) (string, error) { return name + " got " + args, nil })
}

// everywhere runs a test for both message types, streaming and not.
func everywhere(t *testing.T, plain func(*testing.T, bool), agentic func(*testing.T, bool)) {
	t.Helper()
	adktest.Both(t, plain, agentic)
}

// finalizing is how long a test waits for the garbage collector, which tells nobody.
const finalizing = time.Minute
