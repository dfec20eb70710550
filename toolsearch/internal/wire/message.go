// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and makes messages of both of Eino's types, as far as tool search is
// concerned. Nothing else of tool search knows what a message looks like, or what an adapter
// keeps in one.
package wire

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

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

// plain is the codec of *schema.Message.
type plain struct{}

func (plain) View(m *schema.Message) View {
	switch {
	case m == nil:
		return View{}
	case m.Role == schema.Assistant:
		v := View{Assistant: true, Hosted: m.Extra[claudeEventsKey] != nil}
		if len(m.ToolCalls) > 0 {
			v.Calls = make([]Call, len(m.ToolCalls))
			for i := range m.ToolCalls {
				v.Calls[i] = callOf(&m.ToolCalls[i])
			}
		}
		return v
	case m.Role == schema.Tool:
		return View{Results: []Result{plainResult(m)}}
	}
	return View{}
}

func plainResult(m *schema.Message) Result {
	r := Result{ID: m.ToolCallID, Name: m.ToolName, Text: m.Content}
	for i := range m.UserInputMultiContent {
		switch p := &m.UserInputMultiContent[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			r.Text += p.Text
		case schema.ChatMessagePartTypeToolSearchResult:
			r.Native = true
			r.Tools = append(r.Tools, toolNames(p.ToolSearchResult)...)
		default:
			r.Media = append(r.Media, plainMedia(p))
		}
	}
	return r
}

func (plain) IsSystem(m *schema.Message) bool { return m != nil && m.Role == schema.System }

func (plain) Reminder(text string) *schema.Message { return marked(text, reminderKey) }
func (plain) Note(text string) *schema.Message     { return marked(text, noteKey) }

func marked(text, key string) *schema.Message {
	m := schema.UserMessage(text)
	m.Extra = map[string]any{key: true}
	return m
}

func (plain) Text(m *schema.Message) Text {
	if m == nil || m.Role != schema.User && !isMarked(m.Extra, reminderKey) {
		return Text{}
	}
	s := Text{Text: m.Content, Marked: isMarked(m.Extra, reminderKey), User: m.Role == schema.User && !isHandlers(m.Extra)}
	texts := min(len(m.Content), 1)
	for i := range m.UserInputMultiContent {
		if p := &m.UserInputMultiContent[i]; p.Type == schema.ChatMessagePartTypeText {
			s.Text += p.Text
			texts++
		}
	}
	others := len(m.UserInputMultiContent) - texts + min(len(m.Content), 1)
	s.Only = texts == 1 && others+len(m.MultiContent)+len(m.AssistantGenMultiContent)+len(m.ToolCalls) == 0
	return s
}

func (plain) Rewrite(m *schema.Message, e Editor) *schema.Message {
	switch {
	case m == nil:
	case m.Role == schema.Assistant && m.Extra[claudeEventsKey] != nil:
		return rewriteEvents(m, e)
	case m.Role == schema.Tool:
		return rewriteParts(m, e)
	}
	return m
}

// rewriteEvents removes the events of a hosted search that may not stay.
func rewriteEvents(m *schema.Message, e Editor) *schema.Message {
	names := referredInEvents(m.Extra[claudeEventsKey])
	if e.Hosted(names) {
		return m
	}
	c := *m
	c.Extra = maps.Clone(m.Extra)
	delete(c.Extra, claudeEventsKey)
	if c.Content == "" && len(c.ToolCalls)+len(c.AssistantGenMultiContent)+len(c.MultiContent) == 0 {
		c.Content = e.Words(names) // no provider takes an empty message
	}
	return &c
}

// rewriteParts turns the parts of a tool message that are in a provider's own form
// into one part, or text.
func rewriteParts(m *schema.Message, e Editor) *schema.Message {
	var tools []*schema.ToolInfo
	native := 0
	for i := range m.UserInputMultiContent {
		if p := &m.UserInputMultiContent[i]; p.Type == schema.ChatMessagePartTypeToolSearchResult {
			native++
			tools = append(tools, toolInfos(p.ToolSearchResult)...)
		}
	}
	if native == 0 {
		return m
	}
	kept, text := e.Result(m.ToolCallID, m.ToolName, tools)
	if text == "" && native == 1 && sameTools(m.UserInputMultiContent, kept) {
		return m
	}
	c := *m
	c.UserInputMultiContent = nil
	placed := false
	for _, part := range m.UserInputMultiContent {
		if part.Type != schema.ChatMessagePartTypeToolSearchResult {
			c.UserInputMultiContent = append(c.UserInputMultiContent, part)
			continue
		}
		if placed {
			continue
		}
		placed = true
		if text != "" {
			part = schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: text}
		} else {
			part.ToolSearchResult = &schema.ToolSearchResult{Tools: kept}
		}
		c.UserInputMultiContent = append(c.UserInputMultiContent, part)
	}
	return onlyText(&c)
}

func sameTools(parts []schema.MessageInputPart, tools []*schema.ToolInfo) bool {
	for i := range parts {
		if r := parts[i].ToolSearchResult; r != nil {
			return slices.Equal(r.Tools, tools)
		}
	}
	return false
}

// onlyText moves parts that are all text to Content, which every adapter reads.
func onlyText(m *schema.Message) *schema.Message {
	var texts []string
	if m.Content != "" {
		texts = append(texts, m.Content)
	}
	for i := range m.UserInputMultiContent {
		if m.UserInputMultiContent[i].Type != schema.ChatMessagePartTypeText {
			return m
		}
		texts = append(texts, m.UserInputMultiContent[i].Text)
	}
	m.Content, m.UserInputMultiContent = strings.Join(texts, "\n"), nil
	return m
}

func (plain) Edit(m *schema.Message, edit func(Call) Call) *schema.Message {
	next := m
	for i := 0; m != nil && i < len(m.ToolCalls); i++ {
		was := callOf(&m.ToolCalls[i])
		now := edit(was)
		if now == was {
			continue
		}
		if next == m {
			own := *m
			own.ToolCalls = slices.Clone(m.ToolCalls)
			next = &own
		}
		next.ToolCalls[i].Function.Name, next.ToolCalls[i].Function.Arguments = now.Name, now.Args
	}
	return next
}

func callOf(c *schema.ToolCall) Call {
	return Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments}
}

func (plain) Replace(m *schema.Message, with func(Call) []Call) *schema.Message {
	next := *m
	next.ToolCalls = nil
	for _, c := range m.ToolCalls {
		others := with(callOf(&c))
		if others == nil {
			next.ToolCalls = append(next.ToolCalls, c)
		}
		for _, o := range others {
			next.ToolCalls = append(next.ToolCalls, plainCall(o))
		}
	}
	return &next
}

func plainCall(c Call) schema.ToolCall {
	return schema.ToolCall{ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Args}}
}

func (plain) Calling(calls []Call) *schema.Message {
	m := schema.AssistantMessage("", nil)
	for _, c := range calls {
		m.ToolCalls = append(m.ToolCalls, plainCall(c))
	}
	return m
}

func (plain) Answering(id, name, text string) *schema.Message {
	return schema.ToolMessage(text, id, schema.WithToolName(name))
}

func (plain) Event(m *schema.Message, name string) *adk.AgentEvent {
	return adk.EventFromMessage(m, nil, schema.Tool, name)
}

func (plain) Without(m *schema.Message, isGone func(id string) bool) *schema.Message {
	if m == nil || m.Role == schema.Tool {
		if m != nil && isGone(m.ToolCallID) {
			return nil
		}
		return m
	}
	kept := slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c schema.ToolCall) bool { return isGone(c.ID) })
	if len(kept) == len(m.ToolCalls) {
		return m
	}
	if len(kept) == 0 && m.Content == "" {
		return nil
	}
	next := *m
	next.ToolCalls = kept
	return &next
}

// plainMedia is the type of a part that is no text.
func plainMedia(p *schema.MessageInputPart) (mime string) {
	switch {
	case p.Image != nil:
		mime = p.Image.MIMEType
	case p.Audio != nil:
		mime = p.Audio.MIMEType
	case p.Video != nil:
		mime = p.Video.MIMEType
	case p.File != nil:
		mime = p.File.MIMEType
	}
	return cmp.Or(mime, string(p.Type))
}

// claudeEventsType is the type of the claude adapter's value under claudeEventsKey, once one
// has been seen. The adapter accepts no other; without it the events are lost, and the model
// searches again.
var claudeEventsType atomic.Pointer[reflect.Type]

func (plain) Pack(m *schema.Message) *schema.Message {
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

func (plain) Unpack(m *schema.Message) *schema.Message {
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

// referredInEvents returns the tools that the events of claude's hosted search refer to.
func referredInEvents(events any) []string {
	var list []struct {
		Content struct {
			ToolReferences []struct{ ToolName string }
		}
	}
	names := []string{}
	if text, err := jsonOf(events); err != nil || sonic.ConfigStd.UnmarshalFromString(text, &list) != nil {
		return names
	}
	for _, ev := range list {
		for _, ref := range ev.Content.ToolReferences {
			names = append(names, ref.ToolName)
		}
	}
	return names
}
