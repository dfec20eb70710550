// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 stored histories have parts of the deprecated kind

// Package message reads, edits and makes messages of both of Eino's types. A message is a list of
// parts, whatever its type: texts, media, calls, results. No other package has to know where a type
// keeps them.
package message

import (
	"cmp"
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
	Medium       // an image, audio, video or a file
	Call         // the model calls a tool
	Result       // what the tool returned, which has parts of its own: texts, media and tools
	Tools        // tools that a search found, in the provider's own form
	ServerCall   // the model calls a tool that the provider runs
	ServerResult // what it returned
)

// Part is a part of a message or of a result. One that is made of it may replace it.
type Part struct {
	Kind        Kind
	isUnchanged bool // the part of the message is used as it is
	Index       int  // in its message or its result

	source   any       // pointer to the part in its message; nil for a new part
	override *override // values that replace those of source; nil: none
}

// override is what a part was changed to. It is immutable.
type override struct {
	id, name, text string
	extra          map[string]any
	value          any    // nil: as it was
	parts          []Part // nil: as they were
}

// NewText makes a text.
func NewText(text string) Part { return Part{Kind: Text, override: &override{text: text}} }

// NewCall makes a call.
func NewCall(id, name, args string) Part {
	return Part{Kind: Call, override: &override{id: id, name: name, text: args}}
}

// NewResult makes a result.
func NewResult(id, name string, parts ...Part) Part {
	return Part{Kind: Result, override: &override{id: id, name: name, parts: parts}}
}

// makeOverride gives the part a new override with its present values, and returns it to be changed.
func (p *Part) makeOverride() *override {
	s := &override{id: p.ID(), name: p.Name(), text: p.Text(), extra: p.Extra(), parts: p.replacedParts()}
	if p.override != nil {
		s.value = p.override.value
	}
	p.override = s
	return s
}

// ID returns the id of a call or a result.
func (p *Part) ID() string {
	if p.override != nil {
		return p.override.id
	}
	switch source := p.source.(type) {
	case *schema.Message:
		return source.ToolCallID
	case *schema.ToolCall:
		return source.ID
	case *schema.ContentBlock:
		return blockID(source)
	}
	return ""
}

// Name returns the tool name of a call or a result.
func (p *Part) Name() string {
	if p.override != nil {
		return p.override.name
	}
	switch source := p.source.(type) {
	case *schema.Message:
		return source.ToolName
	case *schema.ToolCall:
		return source.Function.Name
	case *schema.ContentBlock:
		return blockName(source)
	}
	return ""
}

// Text is what a part says; the arguments of a call.
func (p *Part) Text() string {
	if p.override != nil {
		return p.override.text
	}
	switch source := p.source.(type) {
	case *string:
		return *source
	case *schema.ToolCall:
		return source.Function.Arguments
	case *schema.ContentBlock:
		return blockText(source)
	}
	if p.Kind == Text || p.Kind == Reasoning {
		return partText(p.source)
	}
	return ""
}

// Extra returns the Extra map of a call or a result.
func (p *Part) Extra() map[string]any {
	if p.override != nil {
		return p.override.extra
	}
	switch source := p.source.(type) {
	case *schema.Message:
		return source.Extra
	case *schema.ToolCall:
		return source.Extra
	case *schema.ContentBlock:
		if source != nil {
			return source.Extra
		}
	}
	return nil
}

// Value is what the provider's own tool got or returned; of Tools a *schema.ToolSearchResult.
func (p *Part) Value() any {
	if p.override != nil && p.override.value != nil {
		return p.override.value
	}
	switch source := p.source.(type) {
	case *schema.MessageInputPart:
		return source.ToolSearchResult
	case *schema.ToolOutputPart:
		return source.ToolSearchResult
	case *schema.ContentBlock:
		return blockValue(source)
	}
	return nil
}

// FoundTools returns the tools in a part, without nil ones.
func (p *Part) FoundTools() []*schema.ToolInfo {
	r, _ := p.Value().(*schema.ToolSearchResult)
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Tools), func(t *schema.ToolInfo) bool { return t == nil })
}

// WithText returns a part that says something else. A medium becomes a text.
func (p Part) WithText(text string) Part {
	if p.makeOverride().text = text; p.Kind == Medium {
		p.Kind = Text
	}
	return p
}

// WithCall returns a call with another id, of another tool or with other arguments.
func (p Part) WithCall(id, name, args string) Part {
	s := p.makeOverride()
	s.id, s.name, s.text = id, name, args
	return p
}

// WithExtra returns a call or a result with another map.
func (p Part) WithExtra(extra map[string]any) Part {
	p.makeOverride().extra = extra
	return p
}

// WithValue returns a part with another value.
func (p Part) WithValue(v any) Part {
	p.makeOverride().value = v
	return p
}

// With returns a result with other parts.
func (p Part) With(parts ...Part) Part {
	if p.makeOverride().parts = parts; parts == nil {
		p.override.parts = []Part{}
	}
	return p
}

// replacedParts returns the parts that a result was given, nil if it still has its own.
func (p *Part) replacedParts() []Part {
	if p.override == nil {
		return nil
	}
	return p.override.parts
}

// Cursor reads parts one after another:
//
//	for p := message.Parts(m); p.Next(); {
//
// It allocates nothing.
type Cursor struct {
	Part // the current one

	plain   *schema.Message
	agentic *schema.AgenticMessage
	block   *schema.ContentBlock // of a result
	result  bool                 // plain is the result, not the message
	next    int
}

// Parts reads the parts of a message, in order.
func Parts[M adk.MessageType](m M) (c Cursor) {
	switch m := any(m).(type) {
	case *schema.Message:
		c.plain = m
	case *schema.AgenticMessage:
		c.agentic = m
	}
	return c
}

// Parts reads the parts of a result, in order.
func (p *Part) Parts() (c Cursor) {
	if p.Kind != Result {
		return c
	}
	switch source := p.source.(type) {
	case *schema.Message:
		c.plain, c.result = source, true
	case *schema.ContentBlock:
		c.block = source
	}
	return c
}

// Next goes to the next part. It reports false if there are no more.
func (c *Cursor) Next() (ok bool) {
	n := c.next
	c.next++
	c.Part = Part{Index: n}
	switch {
	case c.plain != nil && c.result:
		return readPlainItem(&c.Part, c.plain, n)
	case c.plain != nil:
		return readPlain(&c.Part, c.plain, n)
	case c.agentic != nil && n < len(c.agentic.ContentBlocks):
		readBlock(&c.Part, c.agentic.ContentBlocks[n])
		return true
	case c.block != nil:
		return readBlockItem(&c.Part, c.block, n)
	}
	return false
}

// All returns the remaining parts.
func (c Cursor) All() (all []Part) {
	for c.Next() {
		all = append(all, c.Part)
	}
	return all
}

// Raw returns a pointer to the part in its message.
func (p *Part) Raw() any { return p.source }

// Output is a part as a tool would have returned it. One of a kind that tools cannot return has
// no content.
func (p *Part) Output() schema.ToolOutputPart {
	if p.isNil() {
		return schema.ToolOutputPart{}
	}
	switch source := p.source.(type) {
	case *schema.MessageInputPart:
		return outputOf(source)
	case *schema.ChatMessagePart:
		in := inputOf(source)
		return outputOf(&in)
	case *schema.ToolOutputPart:
		return *source
	case *schema.FunctionToolResultContentBlock:
		return contentOutput(source)
	case *schema.ContentBlock:
		return contentOutput(&schema.FunctionToolResultContentBlock{
			Image: source.UserInputImage, Audio: source.UserInputAudio, Video: source.UserInputVideo,
			File: source.UserInputFile, Extra: source.Extra,
		})
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: p.Text()}
}

// MediaType is the type of a medium, or its kind if it has no type.
func (p *Part) MediaType() string {
	out := p.Output()
	mime := ""
	if m := MediumOf(&out); m != nil {
		mime = m.MIMEType
	}
	return cmp.Or(mime, p.Type())
}

// isNil reports whether a part is a nil in a list.
func (p *Part) isNil() bool {
	return p.source == (*schema.ContentBlock)(nil) || p.source == (*schema.FunctionToolResultContentBlock)(nil)
}

// Type is the kind of a part in Eino's own word, which differs between the types of messages.
func (p *Part) Type() string {
	if p.isNil() {
		return ""
	}
	switch source := p.source.(type) {
	case *schema.MessageInputPart:
		return string(source.Type)
	case *schema.MessageOutputPart:
		return string(source.Type)
	case *schema.ChatMessagePart:
		return string(source.Type)
	case *schema.ContentBlock:
		return string(source.Type)
	case *schema.FunctionToolResultContentBlock:
		return string(source.Type)
	}
	return ""
}

// Edit returns a copy of a message in which other parts are in the place of those that change. It
// is the same message if none does.
func Edit[M adk.MessageType](m M, change func(Part) (with Part, changes bool)) M {
	var few [8]Part
	next, changed := few[:0], false
	for c := Parts(m); c.Next(); {
		with, changes := change(c.Part)
		if !changes {
			with, with.isUnchanged = c.Part, true
		}
		next, changed = append(next, with), changed || changes
	}
	if !changed {
		return m
	}
	return build(m, next)
}

// Replace returns a copy of a message in which any number of parts may be in the place of one; nil
// keeps it.
func Replace[M adk.MessageType](m M, change func(Part) []Part) M {
	if IsNil(m) {
		return m
	}
	var next []Part
	for c := Parts(m); c.Next(); {
		if with := change(c.Part); with != nil {
			next = append(next, with...)
			continue
		}
		c.isUnchanged = true
		next = append(next, c.Part)
	}
	return build(m, next)
}

// Without returns a copy of a message without some parts. If nothing would be left that says
// anything, it has a text, as no provider takes an empty message; or it is nil, if there is no text.
// It is the same message if nothing changes.
func Without[M adk.MessageType](m M, isRemoved func(Part) bool, text string) M {
	if IsNil(m) {
		return m
	}
	all := Parts(m).All()
	for i := range all {
		all[i].isUnchanged = true
	}
	left := slices.DeleteFunc(all, isRemoved)
	switch {
	case !hasContent(left) && text != "":
		left = append(left, NewText(text))
	case len(left) == len(all):
		return m
	case !hasContent(left):
		return *new(M)
	}
	return build(m, left)
}

// hasContent reports whether any part is neither reasoning nor a nil block.
func hasContent(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Kind != Reasoning && !p.isNil() })
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
	_, ok := any(*new(M)).(*schema.AgenticMessage)
	return ok
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

// IsMarked reports whether a map of a message or a part has a mark.
func IsMarked(extra map[string]any, key string) bool {
	ok, _ := extra[key].(bool)
	return ok
}

// WithExtra returns a copy of a message with another map.
func WithExtra[M adk.MessageType](m M, extra map[string]any) M {
	var next any
	switch m := any(m).(type) {
	case *schema.Message:
		clone := *m
		clone.Extra, next = extra, &clone
	case *schema.AgenticMessage:
		clone := *m
		clone.Extra, next = extra, &clone
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

// IsFromClaude reports whether an adapter of Claude made a message with blocks. Its signatures are
// bound to all that was before them, and no other provider's.
func IsFromClaude[M adk.MessageType](m M) bool {
	a, _ := any(m).(*schema.AgenticMessage)
	return a != nil && a.ResponseMeta != nil && a.ResponseMeta.ClaudeExtension != nil
}

// Join joins the chunks of a stream into one message.
func Join[M adk.MessageType](chunks []M) (M, error) {
	var joined any
	var err error
	switch all := any(chunks).(type) {
	case []*schema.Message:
		joined, err = schema.ConcatMessages(all)
	case []*schema.AgenticMessage:
		joined, err = schema.ConcatAgenticMessages(all)
	}
	m, _ := joined.(M)
	return m, err
}

// Event is the event of a run that tells of an answer of a model, or of the result of a tool.
func Event[M adk.MessageType](m M, tool string) *adk.TypedAgentEvent[M] {
	var event any
	switch m := any(m).(type) {
	case *schema.Message:
		if m.Role != schema.Tool {
			tool = ""
		}
		event = adk.EventFromMessage(m, nil, m.Role, tool)
	case *schema.AgenticMessage:
		event = adk.EventFromAgenticMessage(m, nil, m.Role)
	}
	return event.(*adk.TypedAgentEvent[M])
}
