// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package adkrun

// The only file of the package that knows both message types.

import (
	"maps"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// copied returns a copy of a message: Eino reads an event later, when others may write to the
// message.
func copied[M adk.MessageType](m M) M {
	if m == *new(M) {
		return m
	}
	switch m := any(m).(type) {
	case *schema.Message:
		c := *m
		c.Extra = maps.Clone(m.Extra)
		return any(&c).(M)
	case *schema.AgenticMessage:
		c := *m
		c.Extra = maps.Clone(m.Extra)
		return any(&c).(M)
	}
	return m
}

func extraOf[M adk.MessageType](m M) map[string]any {
	if m == *new(M) {
		return nil
	}
	switch m := any(m).(type) {
	case *schema.Message:
		return m.Extra
	case *schema.AgenticMessage:
		return m.Extra
	}
	return nil
}

// callsOf returns the ids of the calls that a message makes.
func callsOf[M adk.MessageType](m M) (ids []string) {
	if m == *new(M) {
		return nil
	}
	switch m := any(m).(type) {
	case *schema.Message:
		for _, c := range m.ToolCalls {
			ids = append(ids, c.ID)
		}
	case *schema.AgenticMessage:
		for _, b := range m.ContentBlocks {
			if b != nil && b.FunctionToolCall != nil {
				ids = append(ids, b.FunctionToolCall.CallID)
			}
		}
	}
	return ids
}

// resultOf returns the id of the call whose result a message is; "" if it is none.
func resultOf[M adk.MessageType](m M) string {
	if m == *new(M) {
		return ""
	}
	switch m := any(m).(type) {
	case *schema.Message:
		return m.ToolCallID
	case *schema.AgenticMessage:
		for _, b := range m.ContentBlocks {
			if b != nil && b.FunctionToolResult != nil {
				return b.FunctionToolResult.CallID
			}
		}
	}
	return ""
}

// idOf returns the id that Eino gave a message; "" if it has none.
func idOf[M adk.MessageType](m M) string {
	if m == *new(M) {
		return ""
	}
	return adk.GetMessageID(m)
}
