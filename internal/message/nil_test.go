// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// TestNilMessage_HasNothing: a history may hold a nil message.
func TestNilMessage_HasNothing(t *testing.T) {
	t.Run("plain", hasNothing[*schema.Message])
	t.Run("agentic", hasNothing[*schema.AgenticMessage])
}

func hasNothing[M adk.MessageType](t *testing.T) {
	var none M
	require.True(t, IsNil(none))
	require.False(t, IsNil(New[M](schema.User)))
	require.Empty(t, Role(none))
	require.Nil(t, Extra(none))
	require.Nil(t, Usage(none))
	require.False(t, IsFromClaude(none))
	require.Empty(t, Calls(none))
	require.Empty(t, Results(none))
	require.Empty(t, Parts(none).All())

	unused := func(Part) bool { t.Error("there is no part"); return true }
	require.Nil(t, Edit(none, func(p Part) (Part, bool) { return p, unused(p) }))
	require.Nil(t, Replace(none, func(p Part) []Part { unused(p); return []Part{p} }))
	require.Nil(t, Without(none, unused, ""))
	require.Nil(t, Without(none, unused, "text"))
	require.Nil(t, WithoutCalls(none, func(string) bool { t.Error("there is no call"); return true }))
	require.Nil(t, WithUniqueCallIDs(none))
	require.Nil(t, Copy(none))
}

// TestPart_NameIsThatOfItsBlock, of whatever kind the block is.
func TestPart_NameIsThatOfItsBlock(t *testing.T) {
	blocks := map[string]*schema.ContentBlock{
		"function call":        schema.NewContentBlock(&schema.FunctionToolCall{CallID: "1", Name: "function call"}),
		"function result":      schema.NewContentBlock(&schema.FunctionToolResult{CallID: "1", Name: "function result"}),
		"tool search result":   schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: "1", Name: "tool search result"}),
		"server tool call":     schema.NewContentBlock(&schema.ServerToolCall{CallID: "1", Name: "server tool call"}),
		"server tool result":   schema.NewContentBlock(&schema.ServerToolResult{CallID: "1", Name: "server tool result"}),
		"mcp call":             schema.NewContentBlock(&schema.MCPToolCall{CallID: "1", Name: "mcp call"}),
		"mcp result":           schema.NewContentBlock(&schema.MCPToolResult{CallID: "1", Name: "mcp result"}),
		"mcp approval request": schema.NewContentBlock(&schema.MCPToolApprovalRequest{ID: "1", Name: "mcp approval request"}),
	}
	for want, block := range blocks {
		parts := Parts(&schema.AgenticMessage{ContentBlocks: []*schema.ContentBlock{block}}).All()
		require.Len(t, parts, 1, want)
		require.Equal(t, want, parts[0].Name())
	}
}
