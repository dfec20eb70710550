// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says what the package asks of a message, and holds its one switch on the
// message type.

import (
	"slices"

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
