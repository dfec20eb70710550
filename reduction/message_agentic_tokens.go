// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file weighs *schema.AgenticMessage.

import (
	"encoding/json"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolschema"
)

// blockOverhead stands for the separator of a block.
const blockOverhead = 1

func (agentic) tokens(msgs []*schema.AgenticMessage, sizes *schemaSizes) (n int64) {
	for _, m := range msgs {
		if m == nil {
			continue
		}
		w := weight{bytes: len(m.Role)}
		for _, b := range m.ContentBlocks {
			if b != nil {
				w.bytes += blockOverhead
				w.block(b, sizes)
			}
		}
		n += w.tokens()
	}
	return n
}

// block weighs what the model reads of a block. The kinds that make up nearly
// every conversation come first.
func (w *weight) block(b *schema.ContentBlock, sizes *schemaSizes) {
	switch {
	case b.FunctionToolResult != nil:
		w.functionResult(b.FunctionToolResult)
	case b.FunctionToolCall != nil:
		w.bytes += len(b.FunctionToolCall.Name) + len(b.FunctionToolCall.Arguments)
	case b.AssistantGenText != nil:
		w.bytes += len(b.AssistantGenText.Text)
	case b.UserInputText != nil:
		w.bytes += len(b.UserInputText.Text)
	case b.Reasoning != nil:
		w.bytes += len(b.Reasoning.Text)
	case b.ToolSearchFunctionToolResult != nil:
		w.bytes += len(b.ToolSearchFunctionToolResult.Name)
		w.search(b.ToolSearchFunctionToolResult.Result, sizes)
	case hasMedium(b):
		w.media++
	default:
		w.provider(b, sizes)
	}
}

func (w *weight) functionResult(r *schema.FunctionToolResult) {
	w.bytes += len(r.Name)
	for _, c := range r.Content {
		switch {
		case c == nil:
		case c.Text != nil:
			w.bytes += len(c.Text.Text)
		default:
			w.media++
		}
	}
}

func hasMedium(b *schema.ContentBlock) bool {
	return b.UserInputImage != nil || b.UserInputAudio != nil || b.UserInputVideo != nil || b.UserInputFile != nil ||
		b.AssistantGenImage != nil || b.AssistantGenAudio != nil || b.AssistantGenVideo != nil
}

// provider weighs what the provider's own tools were asked and answered.
func (w *weight) provider(b *schema.ContentBlock, sizes *schemaSizes) {
	switch {
	case b.ServerToolCall != nil:
		w.bytes += len(b.ServerToolCall.Name) + anyBytes(b.ServerToolCall.Arguments)
	case b.ServerToolResult != nil:
		w.bytes += len(b.ServerToolResult.Name) + anyBytes(b.ServerToolResult.Content)
	case b.MCPToolCall != nil:
		w.bytes += len(b.MCPToolCall.Name) + len(b.MCPToolCall.Arguments)
	case b.MCPToolResult != nil:
		w.bytes += len(b.MCPToolResult.Name) + len(b.MCPToolResult.Content)
	case b.MCPListToolsResult != nil:
		w.mcpTools(b.MCPListToolsResult.Tools, sizes)
	case b.MCPToolApprovalRequest != nil:
		w.bytes += len(b.MCPToolApprovalRequest.Name) + len(b.MCPToolApprovalRequest.Arguments)
	case b.MCPToolApprovalResponse != nil:
		w.bytes += len(b.MCPToolApprovalResponse.Reason)
	}
}

func (w *weight) mcpTools(tools []*schema.MCPListToolsItem, sizes *schemaSizes) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		w.bytes += len(t.Name) + len(t.Description)
		if t.InputSchema != nil {
			w.bytes += sizes.of(t.InputSchema, func() int { return toolschema.Bytes(schema.NewParamsOneOfByJSONSchema(t.InputSchema)) })
		}
	}
}

// anyBytes is the length of a value that a component supplied. Only what is
// neither text nor bytes has to be written to be measured. What cannot be written
// counts as nothing.
func anyBytes(v any) (n int) {
	defer func() {
		if recover() != nil {
			n = 0
		}
	}()
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		return len(v)
	case []byte:
		return len(v)
	case json.RawMessage:
		return len(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(text)
}
