// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// A model without tool search that takes over in the middle of a run.

import (
	"context"
	"net/http"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/toolsearch"
)

// spare is the API of the model that takes over.
func (s side) spare() provider.API {
	switch {
	case !s.agentic:
		return provider.Chat
	case s.api == provider.OpenAI:
		return provider.Anthropic
	}
	return provider.OpenAI
}

func TestFailover_OtherModelContinuesRun(t *testing.T) {
	on(t, takesOver[*schema.Message], takesOver[*schema.AgenticMessage])
}

func takesOver[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream, "own")
	c.search(s.config())
	other := c.failsOver(s.spare(), toolsearch.Portable[M])
	out := provider.Turn{Status: http.StatusForbidden}
	var first []provider.Turn
	if s.hosted() {
		first = []provider.Turn{{Search: "weather", Calls: []provider.Call{call("weather__forecast", "")}}, out}
		other.Then(calls(call("weather__forecast", ""), call("own", "")), calls(call("mail__send", "")), says("Done."))
	} else {
		first = []provider.Turn{calls(find("weather"), find("nothing like it")), calls(call("weather__forecast", "")), out}
		other.Then(calls(call("weather__forecast", ""), find("mail"), call("own", "")), calls(call("mail__send", ""), find("zzz")), says("Done."))
	}
	c.server.Then(first...)
	_, err := c.say(t.Context(), "Weather, then a mail?")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"weather__forecast", "weather__forecast", "own", "mail__send"}, c.ran.list())

	for _, r := range other.Requests() {
		require.Empty(t, r.Refused)
		require.Empty(t, r.Search)
		require.Empty(t, r.Deferred())
		if s.hosted() {
			require.Equal(t, append([]string{"own"}, hidden...), inFull(r))
		} else {
			require.Subset(t, inFull(r), []string{"own", "tool_search", "weather__forecast", "weather__history"})
		}
	}

	// The first model continues from what the other one wrote.
	if s.hosted() {
		c.ask("Again.", provider.Turn{Search: "mail", Calls: []provider.Call{call("mail__send", "")}}, says("Done."))
	} else {
		c.ask("Again.", calls(call("mail__send", ""), find("calendar")), calls(call("calendar__list", "")), says("Done."))
	}
}

// failsOver gives the agent a spare model on a server of its own.
func (c *chat[M]) failsOver(api provider.API, wrap func(model.BaseModel[M]) model.BaseModel[M]) *provider.Server {
	c.t.Helper()
	s := provider.Start(api)
	c.t.Cleanup(s.Close)
	spare := wrap(modelOn[M](c.t, api, s.URL()))
	c.agent.ModelFailoverConfig = &adk.ModelFailoverConfig[M]{
		MaxRetries:     1,
		ShouldFailover: func(context.Context, M, error) bool { return true },
		GetFailoverModel: func(context.Context, *adk.FailoverContext[M]) (model.BaseModel[M], []M, error) {
			return spare, nil, nil
		},
	}
	return s
}

func TestFailover_RunEndsWithoutPortable(t *testing.T) {
	same := func(m model.BaseModel[*schema.Message]) model.BaseModel[*schema.Message] { return m }
	c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
	c.search(*native(toolsearch.ClaudeClient))
	c.failsOver(provider.Chat, same).Then(says("Done."))
	c.server.Then(calls(find("weather")), provider.Turn{Status: http.StatusForbidden})
	_, err := c.say(t.Context(), "Weather?")
	require.ErrorContains(t, err, "unsupported chat message part type: tool_search_result")
}

// An agent without the middleware still has its history.
func TestPortable_WorksWithoutMiddleware(t *testing.T) {
	on(t, withoutMiddleware[*schema.Message], withoutMiddleware[*schema.AgenticMessage])
}

func withoutMiddleware[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream, "own")
	c.search(s.config())
	c.meets(s, "weather", "weather__forecast")
	c.agent.Handlers = nil
	for _, api := range []provider.API{s.api, s.spare()} {
		server := provider.Start(api, calls(call("own", "")), says("Fine."))
		defer server.Close()
		c.server, c.agent.Model = server, toolsearch.Portable(modelOn[M](t, api, server.URL()))
		c.ask("And without?")
		require.Equal(t, []string{"own"}, inFull(c.last()))
	}
}

// Not every provider accepts how adapters send empty arguments and tools without parameters.
func TestPortable_SendsCallsAndToolsWithoutArguments(t *testing.T) {
	for _, api := range []provider.API{provider.Chat, provider.Anthropic} {
		takesNothing(t, api, schema.UserMessage("Now?"),
			schema.AssistantMessage("", []schema.ToolCall{{ID: "call_1", Type: "function", Function: schema.FunctionCall{Name: "now"}}}),
			schema.ToolMessage("noon", "call_1", schema.WithToolName("now")))
	}
	for _, api := range []provider.API{provider.OpenAI, provider.Anthropic} {
		takesNothing(t, api, schema.UserAgenticMessage("Now?"),
			&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{schema.NewContentBlock(&schema.FunctionToolCall{CallID: "call_1", Name: "now"})}},
			&schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{schema.NewContentBlock(&schema.FunctionToolResult{CallID: "call_1", Name: "now", Content: []*schema.FunctionToolResultContentBlock{{
				Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: "noon"},
			}}})}})
	}
}

func takesNothing[M adk.MessageType](t *testing.T, api provider.API, history ...M) {
	t.Helper()
	server := provider.Start(api, says("It is noon."))
	defer server.Close()
	m := toolsearch.Portable(modelOn[M](t, api, server.URL()))
	_, err := m.Generate(t.Context(), history, model.WithTools([]*schema.ToolInfo{{Name: "own", Desc: "Its own."}}), model.WithDeferredTools([]*schema.ToolInfo{{Name: "now", Desc: "The time."}}))
	require.NoError(t, err)
	seen := server.Requests()[0]
	require.Empty(t, seen.Refused)
	require.Equal(t, []string{"own", "now"}, inFull(seen))
}
