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
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/display"
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
	Input    []json.RawMessage `json:"input"`  // OpenAI's Responses API
	Role     string            `json:"role"`   // where the object is a message itself
	Type     string            `json:"type"`   // the same
	Answer   []json.RawMessage `json:"answer"` // leanctxtest
	Error    string            `json:"error"`  // the same
	Schema   string            `json:"schema"` // window
}

// recordings reads the conversations of a file, which may be compressed with gzip.
func recordings(s streams, common options, name string) (all []replay.Recorded, err error) {
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
	first, _, _ := bytes.Cut(trimmed, []byte("\n"))
	switch {
	case len(trimmed) == 0:
		return nil, fail(exitInput, "%s is empty", name)
	case isWindow(first):
		var filled int
		if all, filled, err = windows(name, trimmed); filled > 0 {
			common.note(s, "%s: %s in part; filler of the same length stands in for the rest. Record with Texts: window.TextsAll", name, kept(filled))
		}
	case trimmed[0] == '[':
		if err := json.Unmarshal(trimmed, &whole.Messages); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
		all, err = whole.conversations(name, nil)
	case json.Valid(trimmed):
		if err := json.Unmarshal(trimmed, &whole); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
		if isExchange(trimmed) {
			all, err = exchanges(name, []json.RawMessage{trimmed})
			break
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

// isWindow reports whether a file that begins with a line is one of package window.
func isWindow(line []byte) bool {
	var r recording
	return json.Unmarshal(line, &r) == nil && strings.HasPrefix(r.Schema, "leanctx.window/")
}

// isExchange reports whether a line is a request of leanctxtest with its answer.
func isExchange(line json.RawMessage) bool {
	var r recording
	return json.Unmarshal(line, &r) == nil && r.Messages != nil && (r.Answer != nil || r.Error != "")
}

// kept is a count of texts with its verb.
func kept(n int) string {
	if n == 1 {
		return "1 text was kept"
	}
	return display.Grouped(n) + " texts were kept"
}

// linesOfRecordings reads JSON Lines: conversations, or the messages of one.
func linesOfRecordings(name string, text []byte) (all []replay.Recorded, err error) {
	rows, err := lines(name, text)
	if err != nil {
		return nil, err
	}
	var one recording
	if slices.ContainsFunc(rows, isExchange) {
		return exchanges(name, rows)
	}
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
		return nil, fmt.Errorf("it has no message from a model. A conversation is a list of Eino, OpenAI or Anthropic messages")
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

// result adds what a tool returned: a text, or parts.
func (m *messages) result(id, name string, content json.RawMessage) error {
	result := schema.ToolMessage("", id, schema.WithToolName(name))
	*m = append(*m, result)
	content = bytes.TrimSpace(content)
	if len(content) == 0 || content[0] != '[' {
		var err error
		result.Content, err = texts(content)
		return err
	}
	var all []part
	err := json.Unmarshal(content, &all)
	for _, p := range all {
		p.into(result)
	}
	settle(result)
	return err
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
		return m.result(p.CallID, "", p.Output)
	case p.Type == "reasoning":
		return nil // its text is not sent again
	case len(content) > 0 && content[0] == '[' && role(p.Role) == schema.Tool:
		return m.result(p.ToolCallID, p.Name, content)
	case len(content) > 0 && content[0] == '[':
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
		return fmt.Errorf("%q is not a message role", clip(string(fields["role"]), 40))
	}
	simplify(&msg)
	*m = append(*m, &msg)
	return nil
}

// role is Eino's word for a role, empty if there is no such role.
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
