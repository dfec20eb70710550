// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file reads and makes messages of type *schema.AgenticMessage.

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

type agentic struct{}

func (agentic) view(m *schema.AgenticMessage) view {
	if m == nil {
		return view{}
	}
	v := view{assistant: m.Role == schema.AgenticRoleTypeAssistant}
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolCall != nil:
			c := b.FunctionToolCall
			v.calls = append(v.calls, call{c.CallID, c.Name, c.Arguments})
		case b.FunctionToolResult != nil:
			r := b.FunctionToolResult
			v.results = append(v.results, result{id: r.CallID, name: r.Name, text: blockText(r.Content)})
		case b.ToolSearchFunctionToolResult != nil:
			r := b.ToolSearchFunctionToolResult
			v.results = append(v.results, result{id: r.CallID, name: r.Name, native: true, tools: toolNames(r.Result)})
		}
	}
	return v
}

func blockText(blocks []*schema.FunctionToolResultContentBlock) string {
	var texts []string
	for _, b := range blocks {
		if b != nil && b.Text != nil {
			texts = append(texts, b.Text.Text)
		}
	}
	return strings.Join(texts, "")
}

func (agentic) isSystem(m *schema.AgenticMessage) bool {
	return m != nil && m.Role == schema.AgenticRoleTypeSystem
}

func (agentic) reminder(text string) *schema.AgenticMessage { return markedAgentic(text, reminderKey) }
func (agentic) note(text string) *schema.AgenticMessage     { return markedAgentic(text, noteKey) }

func markedAgentic(text, key string) *schema.AgenticMessage {
	m := schema.UserAgenticMessage(text)
	m.Extra = map[string]any{key: true}
	return m
}

func (agentic) reminderText(m *schema.AgenticMessage) (text string, marked, ok bool) {
	if m == nil || m.Role != schema.AgenticRoleTypeUser {
		return "", false, false
	}
	marked = isMarked(m.Extra, reminderKey)
	if len(m.ContentBlocks) != 1 || m.ContentBlocks[0] == nil || m.ContentBlocks[0].UserInputText == nil {
		return "", marked, marked
	}
	return m.ContentBlocks[0].UserInputText.Text, marked, true
}

func (agentic) asText(m *schema.AgenticMessage, word func([]string) string) *schema.AgenticMessage {
	if m == nil {
		return m
	}
	var c *schema.AgenticMessage
	for i, b := range m.ContentBlocks {
		if b == nil || b.ToolSearchFunctionToolResult == nil {
			continue
		}
		if c == nil {
			own := *m
			own.ContentBlocks = append([]*schema.ContentBlock(nil), m.ContentBlocks...)
			c = &own
		}
		r := b.ToolSearchFunctionToolResult
		c.ContentBlocks[i] = textBlock(b, r.CallID, r.Name, word(toolNames(r.Result)))
	}
	if c == nil {
		return m
	}
	return c
}

func textBlock(b *schema.ContentBlock, id, name, text string) *schema.ContentBlock {
	next := schema.NewContentBlock(&schema.FunctionToolResult{CallID: id, Name: name, Content: []*schema.FunctionToolResultContentBlock{{
		Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: text},
	}}})
	next.StreamingMeta, next.Extra = b.StreamingMeta, b.Extra
	return next
}
