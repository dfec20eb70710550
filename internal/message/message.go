// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package message reads, edits and makes messages of both of Eino's types. A message is a list of
// parts, whatever its type: texts, media, calls, results. No other package has to know where a type
// keeps them.
package message

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// Kind is what a part is.
type Kind uint8

// The kinds of parts. What a part says to whom depends on the role of its message.
const (
	Other Kind = iota
	Text
	Reasoning
	Medium       // an image, a sound, a film or a file
	Call         // the model calls a tool
	Result       // what the tool returned, which has parts of its own: texts, media and tools
	Tools        // tools that a search found, in the provider's own form
	ServerCall   // the model calls a tool that the provider runs
	ServerResult // what it returned
)

// Part is a part of a message or of a result. A copy whose fields are set otherwise may replace it.
type Part struct {
	Kind     Kind
	Index    int            // in its message or its result
	ID, Name string         // of a call or a result: its id, and the tool
	Text     string         // what it says; the arguments of a call
	Value    any            // of Tools a *schema.ToolSearchResult; what the provider's own tool got or returned
	Extra    map[string]any // of a call or a result

	of    any    // what it is in its message: a pointer; nil if it is new
	parts []Part // of a result, instead of those that it has in its message
	kept  bool   // it is as it was
}

// Parts are the parts of a message, in order.
func Parts[M adk.MessageType](m M) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		switch m := any(m).(type) {
		case *schema.Message:
			plainParts(m, yield)
		case *schema.AgenticMessage:
			agenticParts(m, yield)
		}
	}
}

// Parts are the parts of a result, in order.
func (p Part) Parts() iter.Seq[Part] {
	return func(yield func(Part) bool) {
		switch of := p.of.(type) {
		case *schema.Message:
			plainItems(of, yield)
		case *schema.ContentBlock:
			agenticItems(of, yield)
		}
	}
}

// With returns a result with other parts.
func (p Part) With(parts ...Part) Part {
	p.parts = parts
	return p
}

// Found are the tools in a part, without nil ones.
func (p Part) Found() []*schema.ToolInfo {
	r, _ := p.Value.(*schema.ToolSearchResult)
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Tools), func(t *schema.ToolInfo) bool { return t == nil })
}

// Raw points to what the part is in its message.
func (p Part) Raw() any { return p.of }

// Output is a part as a tool would have returned it. One of a kind that tools cannot return has
// no content.
func (p Part) Output() schema.ToolOutputPart {
	switch of := p.of.(type) {
	case *schema.MessageInputPart:
		return outputOf(of)
	case *schema.ChatMessagePart:
		in := inputOf(of)
		return outputOf(&in)
	case *schema.ToolOutputPart:
		return *of
	case *schema.FunctionToolResultContentBlock:
		return contentOutput(of)
	case *schema.ContentBlock:
		return contentOutput(&schema.FunctionToolResultContentBlock{Image: of.UserInputImage, Audio: of.UserInputAudio, Video: of.UserInputVideo, File: of.UserInputFile, Extra: of.Extra})
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: p.Text}
}

// MediaType is the type of a medium, or its kind if it has no type.
func (p Part) MediaType() string {
	out := p.Output()
	mime := ""
	if m := MediumOf(&out); m != nil {
		mime = m.MIMEType
	}
	return cmp.Or(mime, p.Type())
}

// Type is the kind of a part in Eino's own word, which differs between the types of messages.
func (p Part) Type() string {
	switch of := p.of.(type) {
	case *schema.MessageInputPart:
		return string(of.Type)
	case *schema.MessageOutputPart:
		return string(of.Type)
	case *schema.ChatMessagePart:
		return string(of.Type)
	case *schema.ContentBlock:
		return string(of.Type)
	case *schema.FunctionToolResultContentBlock:
		return string(of.Type)
	}
	return ""
}

// Edit returns a copy of a message in which other parts are in the place of those that change. It
// is the same message if none does, and nil if nothing is left that says anything.
func Edit[M adk.MessageType](m M, change func(Part) (with []Part, changes bool)) M {
	var next []Part
	at, changed := 0, false
	for p := range Parts(m) {
		with, changes := change(p)
		if changes && !changed {
			changed, next = true, first(m, at)
		}
		at++
		switch {
		case changes:
			next = append(next, with...)
		case changed:
			p.kept = true
			next = append(next, p)
		}
	}
	switch {
	case !changed:
		return m
	case !says(slices.Values(next)):
		return *new(M)
	}
	return build(m, next)
}

// first are the first n parts of a message, which stay.
func first[M adk.MessageType](m M, n int) (all []Part) {
	for p := range Parts(m) {
		if n--; n < 0 {
			break
		}
		p.kept = true
		all = append(all, p)
	}
	return all
}

// says reports whether any part is more than reasoning or a block that is nil.
func says(parts iter.Seq[Part]) bool {
	for p := range parts {
		if p.Kind != Reasoning && p.of != (*schema.ContentBlock)(nil) {
			return true
		}
	}
	return false
}

// Without returns a copy of a message without some parts. If nothing would be left that says
// anything, it has a text, as no provider takes an empty message; or it is nil, if there is no text.
// It is the same message if nothing changes.
func Without[M adk.MessageType](m M, gone func(Part) bool, text string) M {
	next := Edit(m, func(p Part) ([]Part, bool) { return nil, gone(p) })
	if text == "" || IsNil(m) || says(Parts(next)) {
		return next
	}
	return build(m, append(slices.DeleteFunc(slices.Collect(Parts(m)), gone), Part{Kind: Text, Text: text}))
}

func build[M adk.MessageType](m M, parts []Part) M {
	var next any
	switch m := any(m).(type) {
	case *schema.Message:
		next = plainOf(m, parts)
	case *schema.AgenticMessage:
		next = agenticOf(m, parts)
	}
	return next.(M)
}

// New makes a message.
func New[M adk.MessageType](role schema.RoleType, parts ...Part) M {
	var empty any
	switch any(*new(M)).(type) {
	case *schema.Message:
		empty = &schema.Message{Role: role}
	case *schema.AgenticMessage:
		of := schema.AgenticRoleType(role)
		if role == schema.Tool {
			of = schema.AgenticRoleTypeUser
		}
		empty = &schema.AgenticMessage{Role: of}
	}
	return build(empty.(M), parts)
}

// IsAgentic reports whether the type is that of messages with blocks.
func IsAgentic[M adk.MessageType]() bool {
	_, is := any(*new(M)).(*schema.AgenticMessage)
	return is
}

// Plain is a value as Eino's core keeps messages of both types while their tools run; nil if it is
// none.
func Plain(v any) *schema.Message {
	m, _ := v.(*schema.Message)
	return m
}

// IsNil reports whether there is no message.
func IsNil[M adk.MessageType](m M) bool { return m == *new(M) }

// Role is who a message is from. Results of tools are from the user in an agentic message.
func Role[M adk.MessageType](m M) schema.RoleType {
	if IsNil(m) {
		return ""
	}
	switch m := any(m).(type) {
	case *schema.Message:
		return m.Role
	case *schema.AgenticMessage:
		return schema.RoleType(m.Role)
	}
	return ""
}

// Extra is a message's own map; nil if it has none.
func Extra[M adk.MessageType](m M) map[string]any {
	if IsNil(m) {
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

// WithExtra returns a copy of a message with another map.
func WithExtra[M adk.MessageType](m M, extra map[string]any) M {
	var next any
	switch m := any(m).(type) {
	case *schema.Message:
		own := *m
		own.Extra, next = extra, &own
	case *schema.AgenticMessage:
		own := *m
		own.Extra, next = extra, &own
	}
	return next.(M)
}

// Copy returns a copy of a message with a map of its own.
func Copy[M adk.MessageType](m M) M {
	if IsNil(m) {
		return m
	}
	return WithExtra(m, maps.Clone(Extra(m)))
}

// Usage is what the provider reports for the request that a message answers; nil if nothing.
func Usage[M adk.MessageType](m M) *schema.TokenUsage {
	switch m := any(m).(type) {
	case *schema.Message:
		if m != nil && m.ResponseMeta != nil {
			return m.ResponseMeta.Usage
		}
	case *schema.AgenticMessage:
		if m != nil && m.ResponseMeta != nil {
			return m.ResponseMeta.TokenUsage
		}
	}
	return nil
}

// IsClaudes reports whether an adapter of Claude made a message with blocks. Its signatures are
// bound to all that was before them, and no other provider's.
func IsClaudes[M adk.MessageType](m M) bool {
	a, _ := any(m).(*schema.AgenticMessage)
	return a != nil && a.ResponseMeta != nil && a.ResponseMeta.ClaudeExtension != nil
}

// Join joins the chunks of a stream into one message.
func Join[M adk.MessageType](chunks []M) (M, error) {
	var whole any
	var err error
	switch all := any(chunks).(type) {
	case []*schema.Message:
		whole, err = schema.ConcatMessages(all)
	case []*schema.AgenticMessage:
		whole, err = schema.ConcatAgenticMessages(all)
	}
	m, _ := whole.(M)
	return m, err
}

// Event is the event of a run that tells of the result of a tool.
func Event[M adk.MessageType](m M, tool string) *adk.TypedAgentEvent[M] {
	var event any
	switch m := any(m).(type) {
	case *schema.Message:
		event = adk.EventFromMessage(m, nil, schema.Tool, tool)
	case *schema.AgenticMessage:
		event = adk.EventFromAgenticMessage(m, nil, m.Role)
	}
	return event.(*adk.TypedAgentEvent[M])
}
