// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adaptertest

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// tap is the last of the handlers: it remembers what the adapter is given, and what
// Eino keeps.
type tap[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	given []given
	state []M
}

// given is one request as the agent means it.
type given struct{ lines, tools []string }

func newTap[M adk.MessageType]() *tap[M] {
	return &tap[M]{TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{}}
}

func (p *tap[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	g := given{}
	for _, m := range state.Messages {
		g.lines = append(g.lines, linesOf(m)...)
	}
	for _, t := range state.ToolInfos {
		g.tools = append(g.tools, t.Name)
	}
	p.given = append(p.given, g)
	return ctx, state, nil
}

func (p *tap[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	p.state = append([]M(nil), state.Messages...)
	return ctx, state, nil
}

// linesOf is a message as one line for each thing in it.
func linesOf[M adk.MessageType](m M) (lines []string) {
	switch m := any(m).(type) {
	case *schema.Message:
		if m.Role == schema.Tool {
			return []string{"output: " + m.Content}
		}
		if m.Content != "" {
			lines = append(lines, string(m.Role)+": "+m.Content)
		}
		for _, c := range m.ToolCalls {
			lines = append(lines, "call: "+c.Function.Name+" "+c.Function.Arguments)
		}
	case *schema.AgenticMessage:
		for _, b := range m.ContentBlocks {
			lines = append(lines, lineOf(m.Role, b)...)
		}
	}
	return lines
}

func lineOf(role schema.AgenticRoleType, b *schema.ContentBlock) []string {
	switch {
	case b.UserInputText != nil:
		return []string{string(role) + ": " + b.UserInputText.Text}
	case b.AssistantGenText != nil:
		return []string{"assistant: " + b.AssistantGenText.Text}
	case b.FunctionToolCall != nil:
		return []string{"call: " + b.FunctionToolCall.Name + " " + b.FunctionToolCall.Arguments}
	case b.FunctionToolResult != nil:
		var text strings.Builder
		for _, c := range b.FunctionToolResult.Content {
			text.WriteString(c.Text.Text)
		}
		return []string{"output: " + text.String()}
	}
	return nil
}

// Lines is the conversation that the model was shown, in the same form.
func (s Seen) Lines() (lines []string) {
	for _, x := range s.Items {
		switch x.Type {
		case "function_call":
			lines = append(lines, "call: "+x.Name+" "+x.Arguments)
		case "function_call_output":
			lines = append(lines, "output: "+textOf(x.Output))
		default:
			role := strings.Replace(x.Role, "developer", "system", 1)
			lines = append(lines, role+": "+textOf(x.Content))
		}
	}
	return lines
}

// textOf reads content, which is a text or a list of parts.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what is not a list has no text
	for _, p := range parts {
		text += p.Text
	}
	return text
}
