// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

// Tool calls, and their results.

import (
	"strconv"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// ToolCall is a call of a tool.
type ToolCall struct{ ID, Name, Args string }

// Calls are the tool calls of a message.
func Calls[M adk.MessageType](m M) (calls []ToolCall) {
	for p := Parts(m); p.Next(); {
		if p.Kind == Call {
			calls = append(calls, ToolCall{p.ID(), p.Name(), p.Text()})
		}
	}
	return calls
}

// Results are the parts of a message that are results of calls.
func Results[M adk.MessageType](m M) (results []Part) {
	for p := Parts(m); p.Next(); {
		if p.Kind == Result {
			results = append(results, p.Part)
		}
	}
	return results
}

// NewCallMessage makes a message of a model that makes calls.
func NewCallMessage[M adk.MessageType](calls []ToolCall) M {
	parts := make([]Part, len(calls))
	for i, c := range calls {
		parts[i] = NewCall(c.ID, c.Name, c.Args)
	}
	return New[M](schema.Assistant, parts...)
}

// NewResultMessage makes a message with the result of a call.
func NewResultMessage[M adk.MessageType](id, name string, parts ...Part) M {
	return New[M](schema.Tool, NewResult(id, name, parts...))
}

// WithUniqueCallIDs returns a copy in which each call has a unique id, since some adapters set none. If all ids are
// unique, it returns the message itself.
func WithUniqueCallIDs[M adk.MessageType](m M) M {
	used := map[string]bool{}
	return Edit(m, func(p Part) (Part, bool) {
		if p.Kind != Call {
			return p, false
		}
		own := p.ID()
		id := own
		for n := 2; used[id]; n++ {
			id = own + "_" + strconv.Itoa(n)
		}
		used[id] = true
		return p.WithCall(id, p.Name(), p.Text()), id != own
	})
}

// WithoutCalls returns a copy without some calls and results; nil if nothing is left, the same
// message if nothing changes.
func WithoutCalls[M adk.MessageType](m M, isGone func(id string) bool) M {
	return Without(m, func(p Part) bool { return (p.Kind == Call || p.Kind == Result) && isGone(p.ID()) }, "")
}
