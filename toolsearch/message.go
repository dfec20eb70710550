// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says what the package asks of a message, holds its one switch on the message
// type, and puts what a provider's own search left into a form that a checkpoint can hold.
// Eino cannot store the adapters' types: it fails on the raw JSON in them, and a run that
// waits for a person would end.

import (
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// view is what a message says about tools, without its type.
type view struct {
	assistant bool // the answer of a model call
	calls     []call
	results   []result
	hosted    bool // it may hold what a provider's own search left
}

// call is a tool call of the model.
type call struct {
	id, name, args string
	marked         bool // the provider takes it for a call of its own kind of search tool
}

// result is the result of a tool call.
type result struct {
	id, name string
	text     string
	native   bool     // the result is a list of tools in the provider's own form
	tools    []string // their names
}

// said is the text of a message.
type said struct {
	text   string
	only   bool // the message is this one text, and nothing besides
	marked bool // it carries the key of a reminder in Extra
}

// codec reads messages of one type and makes new ones. It never changes a message.
type codec[M adk.MessageType] interface {
	view(M) view
	isSystem(M) bool
	// reminder makes the message that lists the hidden tools.
	reminder(text string) M
	// said is what a message of the user, or one that is marked as a reminder, says.
	said(M) said
	// note makes a user message that carries a hint and the key in Extra.
	note(text string) M
	// rewrite returns a copy in which what belongs to a provider's own search is as the
	// editor wants it; the same message if nothing changes.
	rewrite(M, editor) M
	// complete returns a copy in which calls without arguments have an empty object; the
	// same message if there are none.
	complete(M) M
	// pack returns a copy in which what a provider's own search left can be stored in a
	// checkpoint, and unpack one that adapters read; the same message if nothing changes.
	pack(M) M
	unpack(M) M
}

// editor says what becomes of the parts of a message that belong to a provider's own
// tool search.
type editor interface {
	// result is asked for each search result in the provider's form. It returns the tools
	// that stay in it, or the text that takes its place.
	result(id, name string, tools []*schema.ToolInfo) (kept []*schema.ToolInfo, text string)
	// unmark reports whether a call loses the marks of the provider, which make it a call
	// of a special kind.
	unmark(id string) bool
	// hosted reports whether the events of a search that the provider ran may stay. They
	// refer to the tools.
	hosted(tools []string) bool
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

// Keys of Extra that adapters use: with the first, agenticopenai sends a call back as one
// of its search tool, which takes no other kind of result; under the second, claude keeps
// what the provider searched and found.
const (
	openAISearchKey = "openai-tool-search-tool-call"
	claudeEventsKey = "_eino_claude_tool_search_events"
)

func isMarked(extra map[string]any, key string) bool {
	b, _ := extra[key].(bool)
	return b
}

// toolInfos are the tools of a result, without those that are nil.
func toolInfos(r *schema.ToolSearchResult) []*schema.ToolInfo {
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Tools), func(t *schema.ToolInfo) bool { return t == nil })
}

func toolNames(r *schema.ToolSearchResult) []string {
	infos := toolInfos(r)
	names := make([]string, len(infos))
	for i, t := range infos {
		names[i] = t.Name
	}
	return names
}

// claudeEventsType is the type of what the claude adapter keeps under claudeEventsKey, once
// one has been seen. The adapter takes no other; without it the events are lost, and the
// model searches again.
var claudeEventsType atomic.Pointer[reflect.Type]

func (plain) pack(m *schema.Message) *schema.Message {
	if m == nil || m.Role != schema.Assistant || m.Extra[claudeEventsKey] == nil {
		return m
	}
	events := m.Extra[claudeEventsKey]
	text, err := sonic.ConfigStd.MarshalToString(events)
	if _, packed := events.(string); packed || err != nil {
		return m
	}
	typ := reflect.TypeOf(events)
	claudeEventsType.Store(&typ)
	return withEvents(m, text)
}

func (plain) unpack(m *schema.Message) *schema.Message {
	if m == nil {
		return m
	}
	text, packed := m.Extra[claudeEventsKey].(string)
	typ := claudeEventsType.Load()
	if !packed || typ == nil {
		return m
	}
	events := reflect.New(*typ)
	if sonic.ConfigStd.UnmarshalFromString(text, events.Interface()) != nil {
		return m
	}
	return withEvents(m, events.Elem().Interface())
}

func withEvents(m *schema.Message, events any) *schema.Message {
	c := *m
	c.Extra = maps.Clone(m.Extra)
	c.Extra[claudeEventsKey] = events
	return &c
}

func (agentic) pack(m *schema.AgenticMessage) *schema.AgenticMessage {
	return convertHosted(m, func(v any) (any, bool) {
		if _, packed := v.(string); packed {
			return nil, false
		}
		if _, hosted := hostedSearch(v); !hosted {
			return nil, false
		}
		text, err := sonic.ConfigStd.MarshalToString(v)
		return text, err == nil
	})
}

// unpack makes a map, which the adapters read as well as their own types.
func (agentic) unpack(m *schema.AgenticMessage) *schema.AgenticMessage {
	return convertHosted(m, func(v any) (any, bool) {
		text, packed := v.(string)
		if _, hosted := hostedSearch(v); !packed || !hosted {
			return nil, false
		}
		var fields map[string]any
		err := sonic.ConfigStd.UnmarshalFromString(text, &fields)
		return fields, err == nil
	})
}

// convertHosted returns a copy in which the values of server tools are converted; the same
// message if none is.
func convertHosted(m *schema.AgenticMessage, convert func(any) (any, bool)) *schema.AgenticMessage {
	if m == nil {
		return m
	}
	c := m
	for i, b := range m.ContentBlocks {
		next := convertBlock(b, convert)
		if next == b {
			continue
		}
		if c == m {
			own := *m
			own.ContentBlocks = append([]*schema.ContentBlock(nil), m.ContentBlocks...)
			c = &own
		}
		c.ContentBlocks[i] = next
	}
	return c
}

func convertBlock(b *schema.ContentBlock, convert func(any) (any, bool)) *schema.ContentBlock {
	switch {
	case b == nil:
	case b.ServerToolCall != nil:
		if v, ok := convert(b.ServerToolCall.Arguments); ok {
			c, own := *b, *b.ServerToolCall
			own.Arguments, c.ServerToolCall = v, &own
			return &c
		}
	case b.ServerToolResult != nil:
		if v, ok := convert(b.ServerToolResult.Content); ok {
			c, own := *b, *b.ServerToolResult
			own.Content, c.ServerToolResult = v, &own
			return &c
		}
	}
	return b
}
