// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says what the package asks of a message, and holds its one switch on the
// message type.

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// view is what a message says about tools, without its type.
type view struct {
	assistant bool // the answer of a model call
	calls     []call
	results   []result
}

// call is a tool call of the model.
type call struct{ id, name, args string }

// result is the result of a tool call.
type result struct {
	id, name string
	text     string
	native   bool     // the result is a list of tools in the provider's own form
	tools    []string // their names
}

// codec reads messages of one type and makes new ones. It never changes a message.
type codec[M adk.MessageType] interface {
	view(M) view
	isSystem(M) bool
	// reminder makes the message that lists the hidden tools.
	reminder(text string) M
	// reminderText returns the text of a message that may be a reminder: a user message of
	// one text. Marked ones carry the key in Extra.
	reminderText(M) (text string, marked, ok bool)
	// note makes a user message that carries a hint and the key in Extra.
	note(text string) M
	// asText returns a copy in which results in a provider's own form are text; the same
	// message if there are none.
	asText(m M, word func(tools []string) string) M
}

var (
	_ codec[*schema.Message]        = plain{}
	_ codec[*schema.AgenticMessage] = agentic{}
)

// codecFor is the package's one switch on the message type.
func codecFor[M adk.MessageType]() (c codec[M], isAgentic bool) {
	var chosen any
	switch any(*new(M)).(type) {
	case *schema.Message:
		chosen = plain{}
	case *schema.AgenticMessage:
		chosen, isAgentic = agentic{}, true
	}
	return chosen.(codec[M]), isAgentic
}

// The keys of Extra that mark our own messages. The first is Eino's.
const (
	reminderKey = "__toolsearch_reminder__"
	noteKey     = "__leanctx_toolsearch_note__"
)

func isMarked(extra map[string]any, key string) bool {
	b, _ := extra[key].(bool)
	return b
}

func toolNames(r *schema.ToolSearchResult) []string {
	if r == nil {
		return nil
	}
	names := make([]string, 0, len(r.Tools))
	for _, t := range r.Tools {
		if t != nil {
			names = append(names, t.Name)
		}
	}
	return names
}
