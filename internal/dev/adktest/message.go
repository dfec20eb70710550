// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adktest

import (
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// User makes a user message.
func User[M adk.MessageType](text string) M { return codecFor[M]().user(text) }

// System makes a system message.
func System[M adk.MessageType](text string) M { return codecFor[M]().system(text) }

// Assistant makes an assistant message with text and tool calls.
func Assistant[M adk.MessageType](text string, calls ...ToolCall) M {
	return codecFor[M]().assistant(text, calls)
}

// Result makes the message that carries the result of a tool call.
func Result[M adk.MessageType](id, name, text string) M { return codecFor[M]().result(id, name, text) }

// Text returns the texts of a message joined: what was said, or what a tool returned.
func Text[M adk.MessageType](m M) string { return codecFor[M]().text(m) }

// Extra returns a message's Extra map itself.
func Extra[M adk.MessageType](m M) map[string]any { return codecFor[M]().extra(m) }

// WithExtra returns the message with an Extra map in place of its own.
func WithExtra[M adk.MessageType](m M, extra map[string]any) M {
	return codecFor[M]().withExtra(m, extra)
}

// Reporting returns a copy of an answer with the provider's count of the prompt in it.
func Reporting[M adk.MessageType](m M, prompt int) M {
	m = codecFor[M]().withExtra(m, Extra(m))
	codecFor[M]().report(m, &schema.TokenUsage{PromptTokens: prompt})
	return m
}

// Charged is a conversation of n rounds with a provider that counts ratio times what count does.
func Charged[M adk.MessageType](n int, ratio float64, count func([]M) int64) []M {
	out := []M{User[M]("look into it")}
	sent := count(out)
	for i := range n {
		id := fmt.Sprint("call_", i)
		round := []M{
			Reporting(Assistant[M]("", ToolCall{ID: id, Name: "shell", Args: `{}`}), int(ratio*float64(sent))),
			Result[M](id, "shell", strings.Repeat(fmt.Sprintf("line %d of what the tool says\n", i), 200)),
		}
		sent += count(round)
		out = append(out, round...)
	}
	return out
}

// Role returns "system", "user", "assistant" or "tool"; an agentic message of
// tool results is "tool" as well.
func Role[M adk.MessageType](m M) string { return codecFor[M]().role(m) }

// Calls returns the tool calls of a message.
func Calls[M adk.MessageType](m M) []ToolCall { return codecFor[M]().calls(m) }

// Results returns the tool results of a message as calls whose Args is the text.
func Results[M adk.MessageType](m M) []ToolCall { return codecFor[M]().results(m) }

// Join makes one message of the chunks of a stream.
func Join[M adk.MessageType](chunks []M) (M, error) { return codecFor[M]().join(chunks) }

// Dump renders a message for comparison: role, calls, results, text and the keys of Extra.
func Dump[M adk.MessageType](m M) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", Role(m))
	for _, c := range Calls(m) {
		fmt.Fprintf(&b, " call(%s %s %s)", c.ID, c.Name, c.Args)
	}
	for _, r := range Results(m) {
		fmt.Fprintf(&b, " result(%s %s)", r.ID, r.Name)
	}
	return b.String() + " " + Text(m)
}

type codec[M adk.MessageType] interface {
	user(string) M
	system(string) M
	assistant(string, []ToolCall) M
	result(id, name, text string) M
	chunks(Turn) []M
	join([]M) (M, error)
	report(M, *schema.TokenUsage)
	text(M) string
	extra(M) map[string]any
	withExtra(M, map[string]any) M
	role(M) string
	calls(M) []ToolCall
	results(M) []ToolCall
}

var (
	_ codec[*schema.Message]        = plain{}
	_ codec[*schema.AgenticMessage] = agentic{}
)

func codecFor[M adk.MessageType]() codec[M] {
	var c any
	switch any(*new(M)).(type) {
	case *schema.Message:
		c = plain{}
	case *schema.AgenticMessage:
		c = agentic{}
	}
	return c.(codec[M])
}

type plain struct{}

func (plain) user(s string) *schema.Message   { return schema.UserMessage(s) }
func (plain) system(s string) *schema.Message { return schema.SystemMessage(s) }

func (plain) assistant(s string, calls []ToolCall) *schema.Message {
	var tcs []schema.ToolCall
	for i, c := range calls {
		tcs = append(tcs, schema.ToolCall{Index: &i, ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Args}})
	}
	return schema.AssistantMessage(s, tcs)
}

func (plain) result(id, name, s string) *schema.Message {
	return schema.ToolMessage(s, id, schema.WithToolName(name))
}

func (p plain) chunks(t Turn) []*schema.Message {
	if len(t.Text) < 2 {
		return []*schema.Message{p.assistant(t.Text, t.Calls)}
	}
	mid := len([]rune(t.Text)) / 2
	head, tail := string([]rune(t.Text)[:mid]), string([]rune(t.Text)[mid:])
	return []*schema.Message{p.assistant(head, nil), p.assistant(tail, t.Calls)}
}

func (plain) join(chunks []*schema.Message) (*schema.Message, error) {
	return schema.ConcatMessages(chunks)
}

func (plain) report(m *schema.Message, u *schema.TokenUsage) {
	m.ResponseMeta = &schema.ResponseMeta{Usage: u}
}

func (plain) text(m *schema.Message) string {
	if len(m.UserInputMultiContent) == 0 {
		return m.Content
	}
	var b strings.Builder
	b.WriteString(m.Content)
	for _, part := range m.UserInputMultiContent {
		b.WriteString(part.Text)
		if part.ToolSearchResult != nil {
			fmt.Fprintf(&b, "[found %s]", strings.Join(Names(part.ToolSearchResult.Tools), ","))
		}
	}
	return b.String()
}

func (plain) extra(m *schema.Message) map[string]any { return m.Extra }

func (plain) withExtra(m *schema.Message, extra map[string]any) *schema.Message {
	next := *m
	next.Extra = extra
	return &next
}

func (plain) role(m *schema.Message) string { return string(m.Role) }

func (plain) calls(m *schema.Message) (out []ToolCall) {
	for _, c := range m.ToolCalls {
		out = append(out, ToolCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return out
}

func (p plain) results(m *schema.Message) []ToolCall {
	if m.Role != schema.Tool {
		return nil
	}
	return []ToolCall{{m.ToolCallID, m.ToolName, p.text(m)}}
}

type agentic struct{}

func (agentic) user(s string) *schema.AgenticMessage   { return schema.UserAgenticMessage(s) }
func (agentic) system(s string) *schema.AgenticMessage { return schema.SystemAgenticMessage(s) }

func (agentic) assistant(s string, calls []ToolCall) *schema.AgenticMessage {
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant}
	if s != "" || len(calls) == 0 {
		m.ContentBlocks = append(m.ContentBlocks, schema.NewContentBlock(&schema.AssistantGenText{Text: s}))
	}
	for _, c := range calls {
		m.ContentBlocks = append(m.ContentBlocks, schema.NewContentBlock(&schema.FunctionToolCall{CallID: c.ID, Name: c.Name, Arguments: c.Args}))
	}
	return m
}

func (agentic) result(id, name, s string) *schema.AgenticMessage {
	return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{
		schema.NewContentBlock(&schema.FunctionToolResult{CallID: id, Name: name, Content: []*schema.FunctionToolResultContentBlock{
			{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: s}},
		}}),
	}}
}

func (agentic) chunks(t Turn) []*schema.AgenticMessage {
	block := func(b *schema.ContentBlock, i int) *schema.AgenticMessage {
		b.StreamingMeta = &schema.StreamingMeta{Index: i}
		return &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b}}
	}
	mid := len([]rune(t.Text)) / 2
	head, tail := string([]rune(t.Text)[:mid]), string([]rune(t.Text)[mid:])
	var out []*schema.AgenticMessage
	if t.Text != "" || len(t.Calls) == 0 {
		out = append(out, block(schema.NewContentBlock(&schema.AssistantGenText{Text: head}), 0),
			block(schema.NewContentBlock(&schema.AssistantGenText{Text: tail}), 0))
	}
	for i, c := range t.Calls {
		out = append(out, block(schema.NewContentBlock(&schema.FunctionToolCall{CallID: c.ID, Name: c.Name, Arguments: c.Args}), i+1))
	}
	return out
}

func (agentic) join(chunks []*schema.AgenticMessage) (*schema.AgenticMessage, error) {
	return schema.ConcatAgenticMessages(chunks)
}

func (agentic) report(m *schema.AgenticMessage, u *schema.TokenUsage) {
	m.ResponseMeta = &schema.AgenticResponseMeta{TokenUsage: u}
}

func (agentic) text(m *schema.AgenticMessage) string {
	var b strings.Builder
	for _, bl := range m.ContentBlocks {
		switch {
		case bl == nil:
		case bl.UserInputText != nil:
			b.WriteString(bl.UserInputText.Text)
		case bl.AssistantGenText != nil:
			b.WriteString(bl.AssistantGenText.Text)
		case bl.FunctionToolResult != nil:
			b.WriteString(resultText(bl.FunctionToolResult))
		case bl.ToolSearchFunctionToolResult != nil && bl.ToolSearchFunctionToolResult.Result != nil:
			fmt.Fprintf(&b, "[found %s]", strings.Join(Names(bl.ToolSearchFunctionToolResult.Result.Tools), ","))
		}
	}
	return b.String()
}

func resultText(r *schema.FunctionToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if c != nil && c.Text != nil {
			b.WriteString(c.Text.Text)
		}
	}
	return b.String()
}

func (agentic) extra(m *schema.AgenticMessage) map[string]any { return m.Extra }

func (agentic) withExtra(m *schema.AgenticMessage, extra map[string]any) *schema.AgenticMessage {
	next := *m
	next.Extra = extra
	return &next
}

func (a agentic) role(m *schema.AgenticMessage) string {
	if len(a.results(m)) > 0 {
		return "tool"
	}
	return string(m.Role)
}

func (agentic) calls(m *schema.AgenticMessage) (out []ToolCall) {
	for _, b := range m.ContentBlocks {
		if b != nil && b.FunctionToolCall != nil {
			out = append(out, ToolCall{b.FunctionToolCall.CallID, b.FunctionToolCall.Name, b.FunctionToolCall.Arguments})
		}
	}
	return out
}

func (agentic) results(m *schema.AgenticMessage) (out []ToolCall) {
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolResult != nil:
			out = append(out, ToolCall{b.FunctionToolResult.CallID, b.FunctionToolResult.Name, resultText(b.FunctionToolResult)})
		case b.ToolSearchFunctionToolResult != nil:
			out = append(out, ToolCall{b.ToolSearchFunctionToolResult.CallID, b.ToolSearchFunctionToolResult.Name, ""})
		}
	}
	return out
}
