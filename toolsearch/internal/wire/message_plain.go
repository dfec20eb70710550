// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package wire

// Messages of type *schema.Message.

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
