// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package lab

// Only this file knows both message types.

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// Images counts the images that tools returned in a conversation.
func Images[M adk.MessageType](messages []M) (n int) {
	for _, m := range messages {
		switch m := any(m).(type) {
		case *schema.Message:
			for _, part := range m.UserInputMultiContent {
				if m.Role == schema.Tool && part.Image != nil {
					n++
				}
			}
		case *schema.AgenticMessage:
			for _, block := range m.ContentBlocks {
				n += imagesOf(block)
			}
		}
	}
	return n
}

func imagesOf(block *schema.ContentBlock) (n int) {
	if block == nil || block.FunctionToolResult == nil {
		return 0
	}
	for _, part := range block.FunctionToolResult.Content {
		if part != nil && part.Image != nil {
			n++
		}
	}
	return n
}
