// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file reads recorded conversations from the formats in which people have them.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/replay"
)

// recording is what may stand around the messages of a conversation: the body of a
// request to OpenAI or Anthropic, or a line of a file of many conversations.
type recording struct {
	Name     string            `json:"name"`
	Kind     string            `json:"kind"`
	System   json.RawMessage   `json:"system"`       // Anthropic
	Says     string            `json:"instructions"` // OpenAI's Responses API
	Messages []json.RawMessage `json:"messages"`
	Input    []json.RawMessage `json:"input"` // OpenAI's Responses API
	Role     string            `json:"role"`  // where the object is a message itself
	Type     string            `json:"type"`  // the same
}

// recordings reads the conversations of a file, which may be compressed with gzip.
func recordings(s streams, name string) (all []replay.Recorded, err error) {
	text, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err == nil {
			text, err = io.ReadAll(z)
		}
		if err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
	}
	trimmed := bytes.TrimSpace(text)
	var whole recording
	switch {
	case len(trimmed) == 0:
		return nil, fail(exitInput, "%s is empty", name)
	case trimmed[0] == '[':
		if err := json.Unmarshal(trimmed, &whole.Messages); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
		all, err = whole.conversations(name, nil)
	case json.Valid(trimmed):
		if err := json.Unmarshal(trimmed, &whole); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
		all, err = whole.conversations(name, nil)
	default:
		all, err = linesOfRecordings(name, trimmed)
	}
	if err != nil {
		return nil, fail(exitInput, "%s: %w", name, err)
	}
	return all, nil
}

// linesOfRecordings reads JSON Lines: conversations, or the messages of one.
func linesOfRecordings(name string, text []byte) (all []replay.Recorded, err error) {
	rows, err := lines(name, text)
	if err != nil {
		return nil, err
	}
	var one recording
	for i, row := range rows {
		var r recording
		if err := json.Unmarshal(row, &r); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		if r.Messages == nil && r.Input == nil {
			one.Messages = append(one.Messages, row)
			continue
		}
		if all, err = r.conversations(fmt.Sprintf("%s, %d", name, i+1), all); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	if one.Messages != nil {
		return one.conversations(name, all)
	}
	return all, nil
}

// conversations adds the conversation of r to all.
func (r recording) conversations(name string, all []replay.Recorded) ([]replay.Recorded, error) {
	var m messages
	if r.Says != "" {
		m.say(schema.System, r.Says)
	}
	if text, err := texts(r.System); err != nil {
		return nil, err
	} else if text != "" {
		m.say(schema.System, text)
	}
	for i, raw := range append(r.Messages, r.Input...) {
		if err := m.add(raw); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	c := replay.New(m)
	if c.Calls() == 0 {
		return nil, fmt.Errorf("it holds no message of a model. A conversation is messages of Eino, OpenAI or Anthropic")
	}
	if r.Name != "" {
		name = r.Name
	}
	return append(all, replay.Recorded{Name: name, Kind: r.Kind, Conversation: c}), nil
}

// messages are those that were read.
type messages []*schema.Message

func (m *messages) say(role schema.RoleType, text string) {
	*m = append(*m, &schema.Message{Role: role, Content: text})
}

// call adds a call to the model's turn.
func (m *messages) call(id, name, args string) {
	last := len(*m) - 1
	if last < 0 || (*m)[last].Role != schema.Assistant {
		m.say(schema.Assistant, "")
		last++
	}
	(*m)[last].ToolCalls = append((*m)[last].ToolCalls, schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args}})
}

func (m *messages) result(id, name, text string) {
	*m = append(*m, schema.ToolMessage(text, id, schema.WithToolName(name)))
}

// part is a part of a message: of OpenAI or Anthropic, an item of OpenAI's Responses
// API, or a block of Eino's AgenticMessage.
type part struct {
	Type string `json:"type"`
	Role string `json:"role"`

	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	Content  json.RawMessage `json:"content"`
	Blocks   []part          `json:"content_blocks"`

	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	ToolUseID string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`

	Said   *part `json:"user_input_text"`
	Wrote  *part `json:"assistant_gen_text"`
	Mused  *part `json:"reasoning"`
	Called *part `json:"function_tool_call"`
	Gave   *struct {
		CallID  string `json:"call_id"`
		Name    string `json:"name"`
		Content []struct {
			Text *part `json:"text"`
		} `json:"content"`
	} `json:"function_tool_result"`
}

// add adds a message of any of the formats.
func (m *messages) add(raw json.RawMessage) error {
	var p struct {
		part
		Reasoning json.RawMessage `json:"reasoning"` // a part in an AgenticMessage, text elsewhere
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	content := bytes.TrimSpace(p.Content)
	switch {
	case p.Blocks != nil:
		return m.parts(role(p.Role), p.Blocks)
	case p.Type == "function_call":
		m.call(p.CallID, p.Name, p.Arguments)
		return nil
	case p.Type == "function_call_output":
		text, err := texts(p.Output)
		m.result(p.CallID, "", text)
		return err
	case p.Type == "reasoning":
		return nil // its text is not sent again
	case len(content) > 0 && content[0] == '[' && role(p.Role) != schema.Tool:
		var all []part
		if err := json.Unmarshal(content, &all); err != nil {
			return err
		}
		return m.parts(role(p.Role), all, raw)
	}
	return m.plain(raw, content)
}

// plain adds a message of Eino or OpenAI whose content is a text, or the result of a
// tool.
func (m *messages) plain(raw, content json.RawMessage) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	text, err := texts(content)
	if err != nil {
		return err
	}
	delete(fields, "content")
	delete(fields, "name") // a participant's, which may be null
	bare, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	var msg schema.Message
	if err := json.Unmarshal(bare, &msg); err != nil {
		return err
	}
	if msg.Role, msg.Content = role(string(msg.Role)), text; msg.Role == "" {
		return fmt.Errorf("%q is no role of a message", clip(string(fields["role"]), 40))
	}
	if msg.Content == "" {
		for _, in := range msg.UserInputMultiContent {
			msg.Content += in.Text
		}
	}
	*m = append(*m, &msg)
	return nil
}

// role is Eino's word for a role, empty if it is none.
func role(name string) schema.RoleType {
	switch name {
	case "system", "developer":
		return schema.System
	case "user":
		return schema.User
	case "assistant", "model":
		return schema.Assistant
	case "tool", "function":
		return schema.Tool
	}
	return ""
}

// parts adds the parts of one message. Results of tools become messages of their own,
// before what a user says beside them.
func (m *messages) parts(by schema.RoleType, all []part, raw ...json.RawMessage) error {
	if by == "" {
		return fmt.Errorf("it has parts and no role")
	}
	said := &schema.Message{Role: by}
	for _, p := range all {
		if err := m.part(said, p); err != nil {
			return err
		}
	}
	for _, r := range raw { // OpenAI has the calls beside the parts
		var beside struct {
			ToolCalls []schema.ToolCall `json:"tool_calls"`
		}
		if err := json.Unmarshal(r, &beside); err != nil {
			return err
		}
		said.ToolCalls = append(said.ToolCalls, beside.ToolCalls...)
	}
	if by == schema.Assistant || said.Content != "" {
		*m = append(*m, said)
	}
	return nil
}

// part puts a part into the message that is being read, or a result before it. Images
// and other media are left out: a replay counts text.
func (m *messages) part(said *schema.Message, p part) error {
	calls := func(id, name, args string) {
		said.ToolCalls = append(said.ToolCalls, schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args}})
	}
	switch {
	case p.Said != nil:
		said.Content += p.Said.Text
	case p.Wrote != nil:
		said.Content += p.Wrote.Text
	case p.Mused != nil:
		said.ReasoningContent += p.Mused.Text
	case p.Called != nil:
		calls(p.Called.CallID, p.Called.Name, p.Called.Arguments)
	case p.Gave != nil:
		var text strings.Builder
		for _, c := range p.Gave.Content {
			if c.Text != nil {
				text.WriteString(c.Text.Text)
			}
		}
		m.result(p.Gave.CallID, p.Gave.Name, text.String())
	case p.Type == "tool_use":
		calls(p.ID, p.Name, string(p.Input))
	case p.Type == "tool_result":
		text, err := texts(p.Content)
		m.result(p.ToolUseID, "", text)
		return err
	case p.Type == "thinking":
		said.ReasoningContent += p.Thinking
	default:
		said.Content += p.Text
	}
	return nil
}

// texts is the text of a content: a string, or parts of which some are text.
func texts(raw json.RawMessage) (text string, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '[' {
		err = json.Unmarshal(raw, &text)
		return text, err
	}
	var all []part
	err = json.Unmarshal(raw, &all)
	for _, p := range all {
		text += p.Text
	}
	return text, err
}
