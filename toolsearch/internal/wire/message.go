// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and makes messages of both of Eino's types, as far as tool search is
// concerned. Nothing else of tool search knows what a message looks like, or what an adapter
// keeps in one.
package wire

import (
	"slices"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// View is what a message says about tools, whatever its type.
type View struct {
	Assistant bool // the answer of a model call
	Calls     []Call
	Results   []Result
	Hosted    bool // it may hold what a provider's own search left
}

// Call is a tool call of the model.
type Call struct {
	ID, Name, Args string
	Marked         bool // the provider takes it for a call of its own kind of search tool
}

// Result is the result of a tool call.
type Result struct {
	ID, Name string
	Text     string
	Native   bool     // the result is a list of tools in the provider's own form
	Tools    []string // their names
	Media    []string // the types of its parts that are no text
}

// Text is the text of a message.
type Text struct {
	Text   string
	Only   bool // the message is this one text, and nothing besides
	Marked bool // it carries the key of a reminder in Extra
	User   bool // a user wrote it, and no handler
}

// Codec reads messages of one type and makes new ones. It never changes a message.
type Codec[M adk.MessageType] interface {
	// View is what a message says about tools.
	View(M) View
	// Text is what a message of the user, or one that is marked as a reminder, says.
	Text(M) Text
	// IsSystem reports whether a message is a system message.
	IsSystem(M) bool
	// Reminder makes the message that lists the hidden tools.
	Reminder(text string) M
	// Note makes a user message that carries a hint and a key of ours in Extra.
	Note(text string) M
	// Rewrite returns a copy in which what belongs to a provider's own search is as the
	// editor wants it; the same message if nothing changes.
	Rewrite(M, Editor) M
	// Edit returns a copy in which calls have the names and arguments that the function says; the
	// same message if none changes.
	Edit(M, func(Call) Call) M
	// Replace returns a copy in which each call is replaced by others; nil keeps it.
	Replace(M, func(Call) []Call) M
	// Calling makes a message of a model that makes calls, and Answering one with the result of
	// a call.
	Calling([]Call) M
	Answering(id, name, text string) M
	// Event is the event of a run that tells of the result of a tool.
	Event(m M, tool string) *adk.TypedAgentEvent[M]
	// Without returns a copy without some calls and results; nil if nothing is left, the same
	// message if nothing changes.
	Without(m M, isGone func(id string) bool) M
	// Pack returns a copy in which what a provider's own search left can be stored in a
	// checkpoint, and Unpack one that adapters read; the same message if nothing changes.
	Pack(M) M
	Unpack(M) M
}

// Editor says what becomes of the parts of a message that belong to a provider's own
// tool search.
type Editor interface {
	// Result is asked for each search result in the provider's form. It returns the tools
	// that stay in it, or the text that takes its place.
	Result(id, name string, tools []*schema.ToolInfo) (kept []*schema.ToolInfo, text string)
	// Unmark reports whether a call loses the marks of the provider, which make it a call
	// of a special kind.
	Unmark(id string) bool
	// Hosted reports whether the events of a search that the provider ran may stay. They
	// refer to the tools.
	Hosted(tools []string) bool
	// Words is what such a search returned, as text: no provider takes an empty message.
	Words(tools []string) string
}

var (
	_ Codec[*schema.Message]        = plain{}
	_ Codec[*schema.AgenticMessage] = agentic{}
)

// CodecFor is the one switch on the message type.
func CodecFor[M adk.MessageType]() (c Codec[M], isAgentic bool) {
	var chosen any
	switch any(*new(M)).(type) {
	case *schema.Message:
		chosen = plain{}
	case *schema.AgenticMessage:
		chosen, isAgentic = agentic{}, true
	}
	return chosen.(Codec[M]), isAgentic
}

// CallsOf returns the calls of a message, as Eino's core keeps those of both types while their
// tools run; none of any other value.
func CallsOf(msg any) []Call {
	m, _ := msg.(*schema.Message)
	return plain{}.View(m).Calls
}

// Pairs says of each tool call, by id, what it and its result look like.
type Pairs map[string]Pair

// Pair is a call and its result.
type Pair struct {
	Name   string
	Marked bool // the call is one of a provider's own kind of search tool
	Native bool // the result is in a provider's own form
}

func (p Pairs) add(v View) {
	for _, c := range v.Calls {
		p[c.ID] = Pair{Name: c.Name, Marked: c.Marked}
	}
	for _, r := range v.Results {
		x := p[r.ID]
		x.Native = x.Native || r.Native
		p[r.ID] = x
	}
}

// RewriteAll rewrites messages with the editor for their calls. It returns the same slice
// if no message changes.
func RewriteAll[M adk.MessageType](c Codec[M], msgs []M, edit func(Pairs) Editor) []M {
	p := Pairs{}
	for _, msg := range msgs {
		p.add(c.View(msg))
	}
	e := edit(p)
	return Each(msgs, func(msg M) M { return c.Rewrite(msg, e) })
}

// Each applies a function to all messages. It returns the same slice if none changes.
func Each[M adk.MessageType](msgs []M, f func(M) M) []M {
	next := msgs
	for i, msg := range msgs {
		other := f(msg)
		if other == msg {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i] = other
	}
	return next
}

// SameList reports whether two slices are one.
func SameList[M adk.MessageType](a, b []M) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// The keys of Extra that mark our own messages. The first is Eino's.
const (
	reminderKey = "__toolsearch_reminder__"
	noteKey     = "__leanctx_toolsearch_note__"

	messageIDKey = "_eino_msg_id" // Eino's
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

// isHandlers reports whether a message has a key with which handlers mark their own
// messages: all of Eino's and ours begin with an underscore. The id that Eino gives every
// message does not count.
func isHandlers(extra map[string]any) bool {
	for key := range extra {
		if strings.HasPrefix(key, "_") && key != messageIDKey {
			return true
		}
	}
	return false
}

// toolInfos returns the tools of a result, without nil ones.
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

// jsonOf is a value as JSON, or the text that replaces it while a run may stop.
func jsonOf(v any) (string, error) {
	if text, packed := v.(string); packed {
		return text, nil
	}
	return sonic.ConfigStd.MarshalToString(v)
}
