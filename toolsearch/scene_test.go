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
func (s scene[M]) begin(turns ...adktest.Turn) sceneResult[M] {
	return s.play([]M{adktest.User[M]("please")}, turns...)
}

// play plays one run that ends well.
func (s scene[M]) play(history []M, turns ...adktest.Turn) sceneResult[M] {
	p := s.try(history, turns...)
	require.NoError(s.t, p.Err)
	require.Equal(s.t, "done", p.Answer())
	return p
}

// try plays one run.
func (s scene[M]) try(history []M, turns ...adktest.Turn) sceneResult[M] {
	agent, m := s.agent(turns...)
	out := agent.Run(context.Background(), history)
	return sceneResult[M]{out, m.Wires(), append(append([]M(nil), history...), out.Messages...)}
}

// sceneResult is what came of a scene.
type sceneResult[M adk.MessageType] struct {
	adktest.Outcome[M]
	wires   []adktest.Wire[M]
	history []M // with what the run added
}

// tools are the names of the tools of each model call, one line per call.
func (p sceneResult[M]) tools() string {
	var lines []string
	for _, w := range p.wires {
		lines = append(lines, strings.Join(w.ToolNames, " "))
	}
	return strings.Join(lines, "\n")
}

// answer is the text of the result of a call.
func (p sceneResult[M]) answer(t testing.TB, id string) string {
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
func (p sceneResult[M]) text() string {
	var b strings.Builder
	for _, w := range p.wires {
		b.WriteString(strings.Join(w.MessagesDump, "\n") + "\n" + providerJSON(w.Tools...) + providerJSON(w.Deferred...) + providerJSON(w.ToolSearch) + "\n")
	}
	var out []string
	for _, m := range p.Messages {
		out = append(out, adktest.Dump(m))
	}
	slices.Sort(out)
	return b.String() + strings.Join(out, "\n")
}

// newScene makes a scene over the standard tools.
func newScene[M adk.MessageType](t testing.TB, streaming bool, protocol toolsearch.Protocol) scene[M] {
	return scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: officeTools(), Protocol: protocol}}
}

// providerJSON is what a provider is sent of tools.
func providerJSON(tools ...*schema.ToolInfo) string {
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

// oneCall is a turn of one call.
func oneCall(id, name, args string) adktest.Turn {
	return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: args})
}

// officeTools are the tools that most scenes hide.
func officeTools() []tool.BaseTool {
	return []tool.BaseTool{
		describedTool("github__create_issue", "Creates an issue in a repository.", map[string]*schema.ParameterInfo{
			"title": {Type: schema.String, Desc: "The title", Required: true},
			"votes": {Type: schema.Integer, Desc: "How many want it"},
		}),
		describedTool("github__close_issue", "Closes an issue of a repository.", map[string]*schema.ParameterInfo{
			"number": {Type: schema.Integer, Desc: "The number of the issue", Required: true},
		}),
		describedTool("slack__send_message", "Sends a message to a channel.", map[string]*schema.ParameterInfo{
			"channel": {Type: schema.String, Desc: "The channel", Required: true},
		}),
		describedTool("weather__get_forecast", "Says what the weather will be.", map[string]*schema.ParameterInfo{
			"city": {Type: schema.String, Desc: "The city", Required: true},
		}),
	}
}

func describedTool(name, desc string, params map[string]*schema.ParameterInfo) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByParams(params)},
		func(_ context.Context, args string) (string, error) { return name + " got " + args, nil })
}

// finalizing is how long a test waits for the garbage collector, which tells nobody.
const finalizing = time.Minute
