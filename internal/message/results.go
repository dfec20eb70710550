// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// HasResult reports whether a message has a result of a tool call. It is fast: it runs for all messages of a request.
func HasResult[M adk.MessageType](m M) bool {
	switch m := any(m).(type) {
	case *schema.Message:
		return m != nil && m.Role == schema.Tool
	case *schema.AgenticMessage:
		if m == nil {
			return false
		}
		return slices.ContainsFunc(m.ContentBlocks, isResultBlock)
	}
	return false
}

func isResultBlock(b *schema.ContentBlock) bool {
	return b != nil && (b.FunctionToolResult != nil || b.ToolSearchFunctionToolResult != nil)
}

// ResultText returns the text of a message that is the result of one call and has no other content. ok is false for any
// other message, and where the text is in a list of parts of a *schema.Message. It is fast: it runs for all messages of
// a request.
func ResultText[M adk.MessageType](m M) (text string, ok bool) {
	switch m := any(m).(type) {
	case *schema.Message:
		if m != nil && m.Role == schema.Tool && len(m.UserInputMultiContent)+len(m.MultiContent) == 0 {
			return m.Content, true
		}
	case *schema.AgenticMessage:
		if m == nil || len(m.ContentBlocks) != 1 || m.ContentBlocks[0] == nil {
			return "", false
		}
		result := m.ContentBlocks[0].FunctionToolResult
		if result != nil && len(result.Content) == 1 && result.Content[0] != nil && result.Content[0].Text != nil {
			return result.Content[0].Text.Text, true
		}
	}
	return "", false
}
