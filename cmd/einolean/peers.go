// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Messages of Bedrock's Converse API, of Vercel's AI SDK and of Gemini, and what is not understood of a file.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
)

// peerPart holds what a part has in these formats.
type peerPart struct {
	Parts []part `json:"parts"` // of a message of Vercel or Gemini

	// Bedrock's Converse API.
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string `json:"toolUseId"`
		Content []part `json:"content"`
	} `json:"toolResult"`
	Value            json.RawMessage `json:"json"` // in a result
	ReasoningContent *struct {
		Text struct {
			Text string `json:"text"`
		} `json:"reasoningText"`
	} `json:"reasoningContent"`
	CachePoint json.RawMessage `json:"cachePoint"`
	Image      json.RawMessage `json:"image"`
	Document   json.RawMessage `json:"document"`
	Video      json.RawMessage `json:"video"`

	// Gemini.
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	InlineData json.RawMessage `json:"inlineData"`
	FileData   json.RawMessage `json:"fileData"`

	// Vercel's AI SDK.
	CallOf     string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Result     json.RawMessage `json:"result"`
	ErrorText  string          `json:"errorText"`
	Invocation *part           `json:"toolInvocation"`
}

// peerMedia returns the kind of medium of a part without a type, or "".
func (p part) peerMedia() string {
	isObject := func(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }
	switch {
	case p.Type != "":
		return ""
	case isObject(p.Image):
		return "image"
	case isObject(p.Video):
		return "video"
	case isObject(p.Document), isObject(p.InlineData), isObject(p.FileData):
		return "file"
	}
	return ""
}

// peer reads a part of one of these formats. ok is false for other formats.
func (m *messages) peer(msg *schema.Message, p part) (ok bool) {
	calls := func(id, name string, args json.RawMessage) {
		msg.ToolCalls = append(msg.ToolCalls, schema.ToolCall{ID: id, Type: "function",
			Function: schema.FunctionCall{Name: name, Arguments: cmp.Or(string(args), "{}")}})
	}
	switch {
	case p.ToolUse != nil:
		calls(p.ToolUse.ID, p.ToolUse.Name, p.ToolUse.Input)
	case p.ToolResult != nil:
		result := schema.ToolMessage("", p.ToolResult.ID)
		*m = append(*m, result)
		for _, c := range p.ToolResult.Content {
			c.addTo(result)
		}
		settle(result)
	case p.ReasoningContent != nil:
		msg.ReasoningContent += p.ReasoningContent.Text.Text
	case p.CachePoint != nil:
	case p.FunctionCall != nil:
		calls(cmp.Or(p.FunctionCall.ID, p.FunctionCall.Name), p.FunctionCall.Name, p.FunctionCall.Args)
	case p.FunctionResponse != nil:
		r := p.FunctionResponse
		*m = append(*m, schema.ToolMessage(outputOf(r.Response), cmp.Or(r.ID, r.Name), schema.WithToolName(r.Name)))
	case p.Type == "tool-result":
		*m = append(*m, schema.ToolMessage(outputOf(p.Output, p.Result), p.CallOf, schema.WithToolName(p.ToolName)))
	case p.Type == "tool-call":
		calls(p.CallOf, p.ToolName, json.RawMessage(cmp.Or(string(p.Input), string(p.Args))))
	case p.Type == "step-start", strings.HasPrefix(p.Type, "source-"):
	default:
		return false
	}
	return true
}

// steps reads the parts of a Vercel UI message, in which one answer contains the calls and results of several
// steps.
func (m *messages) steps(speaker schema.RoleType, all []part) error {
	msg := &schema.Message{Role: speaker}
	var results []*schema.Message
	flush := func() {
		settle(msg)
		if msg.Content != "" || len(msg.ToolCalls)+len(msg.UserInputMultiContent)+len(msg.AssistantGenMultiContent) > 0 ||
			msg.ReasoningContent != "" {
			*m = append(append(*m, msg), results...)
		}
		msg, results = &schema.Message{Role: speaker}, nil
	}
	for _, p := range all {
		if p.Invocation != nil {
			inner := *p.Invocation
			inner.Type = "tool-" + inner.ToolName
			p = inner
		}
		isCall := p.CallOf != "" && p.Type != "tool-result"
		if p.Type == "step-start" || !isCall && len(results) > 0 {
			flush()
		}
		if !isCall {
			if p.Type == "reasoning" {
				msg.ReasoningContent += p.Text
			} else if err := m.part(msg, p); err != nil {
				return err
			}
			continue
		}
		name := cmp.Or(p.ToolName, strings.TrimPrefix(p.Type, "tool-"))
		msg.ToolCalls = append(msg.ToolCalls, schema.ToolCall{ID: p.CallOf, Type: "function",
			Function: schema.FunctionCall{Name: name, Arguments: cmp.Or(string(p.Input), string(p.Args), "{}")}})
		if text := cmp.Or(outputOf(p.Output, p.Result), p.ErrorText); text != "" {
			results = append(results, schema.ToolMessage(text, p.CallOf, schema.WithToolName(name)))
		}
	}
	flush()
	return nil
}

// outputOf returns the first output that is set: a string, or else its JSON without the type marker.
func outputOf(outputs ...json.RawMessage) string {
	for _, raw := range outputs {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 {
			continue
		}
		var wrapped struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		}
		if raw[0] == '{' && decode(raw, &wrapped) == nil && wrapped.Value != nil && wrapped.Type != "" {
			raw = wrapped.Value
		}
		var text string
		if decode(raw, &text) == nil {
			return text
		}
		return string(raw)
	}
	return ""
}

// unread counts the content that no format explains.
type unread struct {
	bytes, total int            // unread bytes, and all bytes of the messages
	parts        map[string]int // how many, by type
}

// count adds a message.
func (u *unread) count(raw json.RawMessage) {
	u.total += len(raw)
	var m struct {
		Content json.RawMessage   `json:"content"`
		Parts   []json.RawMessage `json:"parts"`
		Blocks  []json.RawMessage `json:"content_blocks"`
	}
	if decode(raw, &m) != nil {
		return
	}
	all := append(m.Parts, m.Blocks...)
	var inner []json.RawMessage
	if content := bytes.TrimSpace(m.Content); len(content) > 0 && content[0] == '[' && decode(content, &inner) == nil {
		all = append(all, inner...)
	}
	for _, raw := range all {
		var p part
		if decode(raw, &p) != nil || p.isKnown() {
			continue
		}
		if u.parts == nil {
			u.parts = map[string]int{}
		}
		u.parts[p.label()]++
		u.bytes += len(raw)
	}
}

// label describes a part by its type, or by its keys.
func (p part) label() string {
	if p.Type != "" {
		return p.Type
	}
	var fields map[string]json.RawMessage
	_ = decode(p.raw, &fields) // it was read once already
	var keys []string
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys[:min(3, len(keys))], ", ")
}

// isKnown reports whether a part is understood, or is known to have no content.
func (p part) isKnown() bool {
	if p.UserText != nil || p.AssistantText != nil || p.ReasoningPart != nil || p.ToolCall != nil ||
		p.FunctionResult != nil || p.Text != "" || p.CallOf != "" || p.Invocation != nil || p.Value != nil {
		return true
	}
	var m messages
	if _, _, media := p.medium(); media || m.peer(&schema.Message{}, p) {
		return true
	}
	switch p.Type {
	case "text", "input_text", "output_text", "refusal", "tool_use", "tool_result", "thinking", "redacted_thinking", "reasoning":
		return true
	}
	return false
}

// most is the largest share of a conversation that may be not understood for advice to be given.
const mostUnread = .1

// share is the share of the bytes that is not understood.
func (u unread) share() float64 { return float64(u.bytes) / float64(max(1, u.total)) }

// String describes the unread content.
func (u unread) String() string {
	var names []string
	for name := range u.parts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(u.parts[b], u.parts[a]), cmp.Compare(a, b)) })
	const most = 5
	var examples []string
	for _, name := range names[:min(most, len(names))] {
		examples = append(examples, fmt.Sprintf("%d of %q", u.parts[name], clip(display.Line(name), 60)))
	}
	if more := len(names) - most; more > 0 {
		examples = append(examples, fmt.Sprintf("%d more types", more))
	}
	return fmt.Sprintf("parts that are not understood: %s; %.0f %% of the bytes", strings.Join(examples, ", "), 100*u.share())
}
