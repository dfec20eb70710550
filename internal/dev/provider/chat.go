// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"fmt"
)

// chat is a request of the Chat Completions API.
type chat struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
	Tools    []chatTool    `json:"tools"`

	bytes int // of the conversation
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []chatCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Type     string        `json:"type"`
	Function responsesTool `json:"function"`
}

// decode reads a request into each of the values.
func decode(body []byte, into ...any) error {
	for _, v := range into {
		if err := json.Unmarshal(body, v); err != nil {
			return fmt.Errorf("reading the request: %w", err)
		}
	}
	return nil
}

func readChat(body []byte) (conversation, error) {
	var q chat
	var parts struct {
		Messages json.RawMessage `json:"messages"`
	}
	if err := decode(body, &q, &parts); err != nil {
		return nil, err
	}
	q.bytes = len(parts.Messages)
	return &q, nil
}

func (q *chat) refusal() string {
	if q.Model == "" || len(q.Messages) == 0 {
		return "Missing required parameter: 'model' or 'messages'."
	}
	seen := map[string]bool{}
	for i, t := range q.Tools {
		f := t.Function
		f.Type = t.Type
		if string(f.Parameters) == "null" {
			return fmt.Sprintf("Invalid type for 'tools[%d].function.parameters': expected an object, but got null instead.", i)
		}
		if problem := needsFunction(f); problem != "" {
			return fmt.Sprintf("Invalid 'tools[%d].function': %s", i, problem)
		}
		if seen[f.Name] {
			return fmt.Sprintf("Invalid 'tools': duplicate tool %q.", f.Name)
		}
		seen[f.Name] = true
	}
	return q.pairingError()
}

// pairingError says which calls and results of tools do not belong together.
func (q *chat) pairingError() string {
	open := map[string]bool{}
	for i, m := range q.Messages {
		switch {
		case m.Role == "tool" && !open[m.ToolCallID]:
			return fmt.Sprintf("Invalid parameter: messages[%d] with role 'tool' must be a response to a preceeding message with 'tool_calls'.", i)
		case m.Role == "tool":
			delete(open, m.ToolCallID)
			continue
		case len(open) > 0:
			return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
		}
		for j, c := range m.ToolCalls {
			if c.Function.Arguments == nil {
				return fmt.Sprintf("Missing required parameter: 'messages[%d].tool_calls[%d].function.arguments'.", i, j)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
	}
	return ""
}

func (q *chat) facts() Request {
	r := Request{Stream: q.Stream, Prompt: q.bytes}
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Bytes: len(t.Function.raw), raw: t.Function.raw})
	}
	return r
}

func (q *chat) seesSearch(string) bool { return false }

// chatAnswer is a completion.
type chatAnswer struct {
	object  object // without choices
	message object
	finish  string
}

func (q *chat) answer(t Turn, _ []Tool, id func(string) string) any {
	in := q.facts().Tokens()
	a := chatAnswer{finish: "stop", message: object{"role": "assistant", "content": t.Text}, object: object{
		"id": id("chatcmpl"), "created": 0, "model": q.Model,
		"usage": object{"prompt_tokens": in, "completion_tokens": 10, "total_tokens": in + 10},
	}}
	var list []object
	for i, c := range t.Calls {
		a.finish = "tool_calls"
		list = append(list, object{"index": i, "id": id("call"), "type": "function", "function": object{"name": c.Name, "arguments": arguments(c)}})
	}
	if list != nil {
		a.message["tool_calls"] = list
	}
	return a
}

func (a chatAnswer) with(kind string, choice object) object {
	o := object{"object": kind, "choices": []object{choice}}
	for k, v := range a.object {
		o[k] = v
	}
	return o
}

func (a chatAnswer) MarshalJSON() ([]byte, error) {
	return json.Marshal(a.with("chat.completion", object{"index": 0, "message": a.message, "finish_reason": a.finish}))
}

func (a chatAnswer) events() []event {
	const kind = "chat.completion.chunk"
	return []event{
		{data: a.with(kind, object{"index": 0, "delta": a.message, "finish_reason": nil})},
		{data: a.with(kind, object{"index": 0, "delta": object{}, "finish_reason": a.finish})},
	}
}
