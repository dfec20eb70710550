// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

// Only this file knows both message types.

import (
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// Turn is one message of either type, as the rules see it.
type Turn struct {
	Role    string // "system", "user", "assistant" or, for plain messages with results, "tool"
	Text    string // without the results
	Calls   []Call
	Results []Result
}

// Call is a call that the model made.
type Call struct {
	ID, Name string
	Args     string // JSON
}

// Result is what a tool answered to the call with the same ID.
type Result struct{ ID, Name, Text string }

// Read gives the content of a message; m is not changed.
func Read[M adk.MessageType](m M) Turn { return codecFor[M]().read(m) }

// User makes a user's message.
func User[M adk.MessageType](text string) M { return codecFor[M]().user(text) }

// reply is what the model answers: calls, or else text.
type reply struct {
	text  string
	calls []Call
}

type codec[M adk.MessageType] interface {
	read(M) Turn
	user(string) M
	write(reply) M
	chunks(reply) []M
}

var (
	_ codec[*schema.Message]        = plain{}
	_ codec[*schema.AgenticMessage] = agentic{}
)

func codecFor[M adk.MessageType]() codec[M] {
	var zero M
	if _, ok := any(zero).(*schema.Message); ok {
		return any(plain{}).(codec[M])
	}
	return any(agentic{}).(codec[M])
}

type plain struct{}

func (plain) read(m *schema.Message) Turn {
	if m == nil {
		return Turn{}
	}
	t := Turn{Role: string(m.Role), Text: m.Content}
	for _, part := range m.UserInputMultiContent {
		t.Text += part.Text
	}
	for _, c := range m.ToolCalls {
		t.Calls = append(t.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	if m.Role == schema.Tool {
		t.Results = []Result{{m.ToolCallID, m.ToolName, t.Text}}
		t.Text = ""
	}
	return t
}

func (plain) user(text string) *schema.Message { return schema.UserMessage(text) }

func (plain) write(r reply) *schema.Message {
	var calls []schema.ToolCall
	for i, c := range r.calls {
		calls = append(calls, plainCall(i, c))
	}
	return schema.AssistantMessage(r.text, calls)
}

func (plain) chunks(r reply) []*schema.Message {
	var out []*schema.Message
	for _, piece := range pieces(r.text) {
		out = append(out, schema.AssistantMessage(piece, nil))
	}
	for i, c := range r.calls {
		for n, piece := range pieces(c.Args) {
			part := Call{Args: piece}
			if n == 0 {
				part.ID, part.Name = c.ID, c.Name
			}
			out = append(out, schema.AssistantMessage("", []schema.ToolCall{plainCall(i, part)}))
		}
	}
	return out
}

func plainCall(index int, c Call) schema.ToolCall {
	return schema.ToolCall{Index: &index, ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Args}}
}

type agentic struct{}

func (agentic) read(m *schema.AgenticMessage) Turn {
	if m == nil {
		return Turn{}
	}
	t := Turn{Role: string(m.Role)}
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.UserInputText != nil:
			t.Text += b.UserInputText.Text
		case b.AssistantGenText != nil:
			t.Text += b.AssistantGenText.Text
		case b.FunctionToolCall != nil:
			t.Calls = append(t.Calls, Call{b.FunctionToolCall.CallID, b.FunctionToolCall.Name, b.FunctionToolCall.Arguments})
		case b.FunctionToolResult != nil:
			t.Results = append(t.Results, Result{b.FunctionToolResult.CallID, b.FunctionToolResult.Name, resultText(b.FunctionToolResult)})
		}
	}
	return t
}

func resultText(r *schema.FunctionToolResult) string {
	var b strings.Builder
	for _, part := range r.Content {
		if part != nil && part.Text != nil {
			b.WriteString(part.Text.Text)
		}
	}
	return b.String()
}

func (agentic) user(text string) *schema.AgenticMessage { return schema.UserAgenticMessage(text) }

func (agentic) write(r reply) *schema.AgenticMessage {
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant}
	if len(r.calls) == 0 {
		m.ContentBlocks = append(m.ContentBlocks, schema.NewContentBlock(&schema.AssistantGenText{Text: r.text}))
	}
	for _, c := range r.calls {
		m.ContentBlocks = append(m.ContentBlocks, schema.NewContentBlock(&schema.FunctionToolCall{CallID: c.ID, Name: c.Name, Arguments: c.Args}))
	}
	return m
}

func (agentic) chunks(r reply) []*schema.AgenticMessage {
	var out []*schema.AgenticMessage
	add := func(b *schema.ContentBlock) {
		out = append(out, &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b}})
	}
	for _, piece := range pieces(r.text) {
		add(schema.NewContentBlockChunk(&schema.AssistantGenText{Text: piece}, &schema.StreamingMeta{}))
	}
	for i, c := range r.calls {
		for n, piece := range pieces(c.Args) {
			part := &schema.FunctionToolCall{Arguments: piece}
			if n == 0 {
				part.CallID, part.Name = c.ID, c.Name
			}
			add(schema.NewContentBlockChunk(part, &schema.StreamingMeta{Index: i}))
		}
	}
	return out
}

// pieces cuts text into three chunks at most, none inside a character.
func pieces(text string) []string {
	if text == "" {
		return nil
	}
	runes := []rune(text)
	size := (len(runes) + 2) / 3
	var out []string
	for len(runes) > size {
		out = append(out, string(runes[:size]))
		runes = runes[size:]
	}
	return append(out, string(runes))
}
