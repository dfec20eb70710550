// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// What Eino's own middleware does on the same servers.

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	ours "github.com/einolean/einolean/toolsearch"
)

// einos gives the agent Eino's middleware in native mode. It has no contract to choose.
func (c *chat[M]) einos(tools []tool.BaseTool) {
	c.t.Helper()
	h, err := toolsearch.NewTyped[M](c.t.Context(), &toolsearch.Config{DynamicTools: tools, UseModelToolSearch: true})
	require.NoError(c.t, err)
	c.agent.Handlers = []adk.TypedChatModelAgentMiddleware[M]{h}
}

func (c *chat[M]) fails(turns ...provider.Turn) error {
	c.t.Helper()
	c.server.Then(turns...)
	_, err := c.say(c.t.Context(), "Weather?")
	require.Error(c.t, err)
	return err
}

func TestEino_ClaudeRunEndsAtFirstSearch(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
	c.einos(c.ran.tools(hidden[:6]...))
	err := c.fails(calls(find("weather")), calls(call("weather__forecast", "")), says("Rain."))
	require.ErrorContains(t, err, "from ToolSearchResult already exists in tool list")
	require.Len(t, c.server.Requests(), 1)
	require.Equal(t, "hosted", c.last().Search, "two searches in one request: the provider's")
	require.Contains(t, inFull(c.last()), "tool_search", "and the client's")
}

func TestEino_ClaudeSeesEveryToolTwice(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Anthropic, false)
	tools := c.ran.tools(hidden[:6]...)
	c.einos(tools)
	// The provider's own search goes well; the request after it does not.
	err := c.fails(provider.Turn{Search: "weather", Calls: []provider.Call{call("weather__forecast", "")}}, says("Rain."))
	require.ErrorContains(t, err, "Tool names must be unique")
	require.Subset(t, inFull(c.last()), hidden[:6], "every hidden tool is there in full")
	require.Subset(t, deferred(c.last()), hidden[:6], "and deferred")
}

func TestEino_ToolsVanishWithoutToolSearch(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Chat, false, "own")
	c.einos(c.ran.tools(hidden[:6]...))
	c.ask("Weather?", says("I cannot know."))
	require.Equal(t, []string{"own"}, inFull(c.last()), "no error, no hidden tools, no search tool")
	require.Contains(t, string(c.last().Body), "weather__forecast", "though the reminder names them")
}

func TestEino_RunEndsOnHistoryOfOtherAdapter(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
	c.search(*native(ours.ClaudeClient))
	c.ask("Weather?", calls(find("weather")), says("Rain."))
	c.moves(keyword(provider.Chat, false))
	c.einos(c.ran.tools(hidden[:6]...))
	require.ErrorContains(t, c.fails(says("Rain.")), "unsupported chat message part type: tool_search_result")
}

func TestEino_ClaudeRejectsEmptySearch(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
	c.einos(c.ran.tools(hidden[:6]...))
	err := c.fails(calls(find("zzz")), says("Nothing."))
	require.ErrorContains(t, err, "content must not be empty")
}
