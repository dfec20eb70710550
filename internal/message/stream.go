// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

// Chunks of a streamed answer.

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// StreamIndex returns the index of a call that arrives in pieces: all pieces of a call have the same one. It returns
// false for a call that is whole.
func StreamIndex(p Part) (index int, ok bool) {
	switch source := p.source.(type) {
	case *schema.ToolCall:
		if source.Index != nil {
			return *source.Index, true
		}
	case *schema.ContentBlock:
		if source != nil && source.StreamingMeta != nil {
			return source.StreamingMeta.Index, true
		}
	}
	return 0, false
}

// WithStreamIndex returns a part of a message with an index in a stream.
func WithStreamIndex(p Part, index int) Part {
	switch source := p.source.(type) {
	case *schema.ToolCall:
		clone := *source
		clone.Index = &index
		p.source = &clone
	case *schema.ContentBlock:
		clone := *source
		clone.StreamingMeta = &schema.StreamingMeta{Index: index}
		p.source = &clone
	}
	return p
}

// IsEmptyChunk reports whether a chunk of a stream has no content at all.
func IsEmptyChunk[M adk.MessageType](m M) bool {
	if len(Extra(m)) > 0 {
		return false
	}
	for p := Parts(m); p.Next(); {
		return false
	}
	switch m := any(m).(type) {
	case *schema.Message:
		return m.ResponseMeta == nil && m.Name == ""
	case *schema.AgenticMessage:
		return m.ResponseMeta == nil
	}
	return true
}

// FinishReason returns why the model ended its answer, in the provider's words; "" if the message does not say it.
func FinishReason[M adk.MessageType](m M) string {
	switch m := any(m).(type) {
	case *schema.Message:
		if m.ResponseMeta != nil {
			return m.ResponseMeta.FinishReason
		}
	case *schema.AgenticMessage:
		if m.ResponseMeta != nil {
			return agenticFinishReason(m.ResponseMeta)
		}
	}
	return ""
}

func agenticFinishReason(meta *schema.AgenticResponseMeta) string {
	switch {
	case meta.ClaudeExtension != nil:
		return meta.ClaudeExtension.StopReason
	case meta.GeminiExtension != nil:
		return meta.GeminiExtension.FinishReason
	case meta.OpenAIExtension != nil && meta.OpenAIExtension.IncompleteDetails != nil:
		return meta.OpenAIExtension.IncompleteDetails.Reason
	}
	return ""
}
