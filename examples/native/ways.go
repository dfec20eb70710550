// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/toolsearch"
)

// way is a way to let a model find tools.
type way struct {
	name, about, adapter string
	api                  provider.API
	config               *toolsearch.Config // nil: all tools in full
	new                  func(ctx context.Context, url string) (any, error)
}

// outcome is what went over the wire.
type outcome struct {
	way      way
	tools    int
	requests []provider.Request
}

func native(c toolsearch.Adapter) *toolsearch.Config {
	return &toolsearch.Config{UseModelToolSearch: true, Native: c}
}

var ways = []way{
	{"no search", "every tool in full, in every request", "claude", provider.Anthropic, nil, anyOf(newClaude)},
	{"Keyword", "found tools join the list; works with any model", "claude", provider.Anthropic, &toolsearch.Config{}, anyOf(newClaude)},
	{"ClaudeClient", "results refer to tools, which join the list as deferred ones", "claude", provider.Anthropic, native(toolsearch.ClaudeClient), anyOf(newClaude)},
	{"ClaudeHosted", "all tools are deferred, and Anthropic searches", "claude", provider.Anthropic, native(toolsearch.ClaudeHosted), anyOf(newClaude)},
	{"AgenticClaudeClient", "all tools are deferred, and results refer to them", "stand-in", provider.Anthropic, native(toolsearch.AgenticClaudeClient), anyOf(newAgenticClaude)},
	{"OpenAIClient", "tools travel in the results of searches", "agenticopenai", provider.OpenAI, native(toolsearch.OpenAIClient), anyOf(newResponses)},
	{"OpenAIHosted", "all tools are deferred, and OpenAI searches; it shows names and descriptions", "agenticopenai", provider.OpenAI, native(toolsearch.OpenAIHosted), anyOf(newResponses)},
}

func anyOf[T any](f func(context.Context, string) (T, error)) func(context.Context, string) (any, error) {
	return func(ctx context.Context, url string) (any, error) { return f(ctx, url) }
}

// hosted reports whether the provider searches.
func (w way) hosted() bool {
	return w.config != nil && (w.config.Native == toolsearch.ClaudeHosted || w.config.Native == toolsearch.OpenAIHosted)
}

func (o outcome) searchBy(provider.Request) string {
	switch {
	case o.way.config == nil:
		return "nobody"
	case o.way.hosted():
		return "provider"
	}
	return "client"
}

// turns are what the model does in the two runs.
func (w way) turns() (first, second []provider.Turn) {
	convert := provider.Call{Name: "units__convert_length", Args: `{"value": 26.2, "from": "mi", "to": "km"}`}
	percent := provider.Call{Name: "math__percent_of", Args: `{"percent": 15, "value": 42.16}`}
	last := provider.Turn{Text: "It is 42.16 km, and 15 percent of that is 6.32 km."}
	again := []provider.Turn{{Calls: []provider.Call{convert}}, {Text: "Still 42.16 km."}}
	switch {
	case w.config == nil:
		return []provider.Turn{{Calls: []provider.Call{convert}}, {Calls: []provider.Call{percent}}, last}, again
	case w.hosted():
		return []provider.Turn{
			{Search: "convert_length", Calls: []provider.Call{convert}}, {Search: "percent_of", Calls: []provider.Call{percent}}, last,
		}, again
	}
	return []provider.Turn{
		{Calls: []provider.Call{{Name: "tool_search", Args: `{"query": "convert length"}`}}}, {Calls: []provider.Call{convert}},
		{Calls: []provider.Call{{Name: "tool_search", Args: `{"query": "percent of"}`}}}, {Calls: []provider.Call{percent}}, last,
	}, again
}

// play has the conversation.
func (w way) play(ctx context.Context, root string, stream bool) (outcome, error) {
	server := provider.Start(w.api)
	defer server.Close()
	made, err := w.new(ctx, server.URL())
	if err != nil {
		return outcome{}, err
	}
	tools, err := library.Tools(root)
	if err != nil {
		return outcome{}, err
	}
	if m, ok := made.(model.BaseModel[*schema.Message]); ok {
		err = converse(ctx, stage[*schema.Message]{w, m, tools, server, stream})
	} else {
		err = converse(ctx, stage[*schema.AgenticMessage]{w, made.(model.BaseModel[*schema.AgenticMessage]), tools, server, stream})
	}
	return outcome{w, len(tools), server.Requests()}, err
}

// stage is what a conversation needs, for agents on either message type.
type stage[M adk.MessageType] struct {
	way    way
	model  model.BaseModel[M]
	tools  []tool.BaseTool
	server *provider.Server
	stream bool
}

func converse[M adk.MessageType](ctx context.Context, on stage[M]) error {
	s, err := on.session(ctx)
	if err != nil {
		return err
	}
	first, second := on.way.turns()
	for _, run := range []struct {
		text  string
		turns []provider.Turn
	}{{"How far is a marathon of 26.2 miles in km, and what is 15 percent of it?", first}, {"And once more in km?", second}} {
		on.server.Then(run.turns...)
		if _, err := s.say(ctx, run.text); err != nil {
			return fmt.Errorf("running %q: %w", run.text, err)
		}
	}
	return nil
}

// session starts the conversation with an agent that has all tools, hidden or not.
func (on stage[M]) session(ctx context.Context) (*session[M], error) {
	s := &session[M]{stream: on.stream, agent: adk.TypedChatModelAgentConfig[M]{
		Name: "assistant", Description: "helps", Instruction: "You help with figures.", Model: on.model,
	}}
	if on.way.config == nil {
		s.agent.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: on.tools}}
		return s, nil
	}
	cfg := *on.way.config
	cfg.DynamicTools = on.tools
	search, err := toolsearch.NewTyped[M](ctx, &cfg)
	s.agent.Handlers = []adk.TypedChatModelAgentMiddleware[M]{search}
	return s, err
}
