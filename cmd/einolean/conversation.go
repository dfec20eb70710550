// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Reading recorded conversations in the formats that users have.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/display"
)

// recording is the object around the messages of a conversation: the body of a request to OpenAI or Anthropic,
// or a line of a file with many conversations.
type recording struct {
	Name           string            `json:"name"`
	Kind           string            `json:"kind"`
	Model          string            `json:"model"`        // of a request's body
	System         json.RawMessage   `json:"system"`       // Anthropic
	Instructions   string            `json:"instructions"` // OpenAI's Responses API
	Messages       []json.RawMessage `json:"messages"`
	Input          []json.RawMessage `json:"input"`  // OpenAI's Responses API
	Role           string            `json:"role"`   // where the object is a message itself
	Type           string            `json:"type"`   // the same
	Answer         []json.RawMessage `json:"answer"` // einoleantest
	Error          string            `json:"error"`  // the same
	Schema         string            `json:"schema"` // window
	ConversationID string            `json:"of"`     // the same
	Tools          []json.RawMessage `json:"tools"`  // of a request's body

	Contents    []json.RawMessage `json:"contents"` // Gemini
	Instruction struct {
		Parts []part `json:"parts"`
	} `json:"systemInstruction"` // the same
	ToolConfig struct {
		Tools []json.RawMessage `json:"tools"`
	} `json:"toolConfig"` // Bedrock
}

// loaded is a conversation with its origin.
type loaded struct {
	replay.Recorded
	unread unread
}

// recordings reads the conversations of a file.
func recordings(s streams, common options, name string) (all []loaded, err error) {
	text, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	trimmed := bytes.TrimSpace(text)
	var content recording
	switch {
	case len(trimmed) == 0:
		return nil, fail(exitInput, "%s is empty", name)
	case isWindow(trimmed):
		var filled int
		skipped := func(err error) { common.note(s, "%s: what cannot be read is left out: %v", name, err) }
		if all, filled, err = windows(name, text, skipped); filled > 0 {
			common.note(s, "%s: %s in part; filler of the same length stands in for the rest. "+
				"Record with Texts: window.TextsAll", name, countStoredTexts(filled))
		}
	case trimmed[0] == '[':
		if err := decode(trimmed, &content.Messages); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
		all, err = content.conversations(name, nil)
	case json.Valid(trimmed):
		if err := decode(trimmed, &content); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
		if isExchange(trimmed) {
			all, err = exchanges(name, []json.RawMessage{trimmed})
			break
		}
		all, err = content.conversations(name, nil)
	default:
		var rows []json.RawMessage
		var torn []int
		if rows, torn, err = readable(name, text); err == nil {
			if len(torn) > 0 {
				common.note(s, "%s: left out, since no JSON: %s", name, numbered(torn))
			}
			all, err = linesOfRecordings(name, rows)
		}
	}
	var failed *failure
	if err != nil && !errors.As(err, &failed) { // a failure names the file already
		err = fail(exitInput, "%s: %w", name, err)
	}
	return all, err
}

// isWindow reports whether a file was written by package window. Its first complete line then names the schema
// or a conversation.
func isWindow(text []byte) bool {
	for line := range bytes.Lines(text) {
		var r recording
		if decode(line, &r) == nil {
			return strings.HasPrefix(r.Schema, "einolean.window/") || r.ConversationID != ""
		}
	}
	return false
}

// isExchange reports whether a line is a request of einoleantest with its answer.
func isExchange(line json.RawMessage) bool {
	var r recording
	return decode(line, &r) == nil && r.Messages != nil && (r.Answer != nil || r.Error != "")
}

// countStoredTexts returns the phrase that counts partly recorded texts.
func countStoredTexts(n int) string {
	if n == 1 {
		return "1 text was kept"
	}
	return display.Grouped(n) + " texts were kept"
}

// linesOfRecordings reads JSON Lines that contain one conversation each, or one message each.
func linesOfRecordings(name string, rows []json.RawMessage) (all []loaded, err error) {
	var one recording
	if slices.ContainsFunc(rows, isExchange) {
		return exchanges(name, rows)
	}
	for i, row := range rows {
		var r recording
		if err := decode(row, &r); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		if r.Messages == nil && r.Input == nil && r.Contents == nil {
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

var errOnlyTools = errors.New("it holds tools and no conversation: einolean eval examines them")

// conversations adds the conversation of r to all.
func (r recording) conversations(name string, all []loaded) ([]loaded, error) {
	var m messages
	if r.Instructions != "" {
		m.addText(schema.System, r.Instructions)
	}
	if text, err := texts(r.System); err != nil {
		return nil, err
	} else if text != "" {
		m.addText(schema.System, text)
	}
	for _, p := range r.Instruction.Parts {
		m.addText(schema.System, p.Text)
	}
	var skipped unread
	for i, raw := range slices.Concat(r.Messages, r.Input, r.Contents) {
		if looksLike(raw) == holdsTools {
			return nil, errOnlyTools
		}
		skipped.count(raw)
		if err := m.add(raw); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	c := replay.New(m)
	if len(m) == 0 && len(r.Tools) > 0 {
		return nil, errOnlyTools
	}
	if c.Calls() == 0 {
		return nil, fmt.Errorf("it has no message from a model. A conversation is a list of Eino, OpenAI, Anthropic, Gemini, Bedrock or Vercel messages")
	}
	if r.Name != "" {
		name = r.Name
	}
	if tools := functions(append(r.Tools, r.ToolConfig.Tools...)); len(tools) > 0 {
		c = c.WithTools(tools)
	}
	return append(all, loaded{Recorded: replay.Recorded{Name: name, Kind: r.Kind, Model: r.Model, Conversation: c},
		unread: skipped}), nil
}

// functions returns the tools of a request body. Provider tools have no name and cannot be hidden, so they are
// skipped.
func functions(tools []json.RawMessage) (all []*schema.ToolInfo) {
	for _, raw := range flatTools(tools) {
		var e entry
		if decode(raw, &e) != nil {
			continue
		}
		info, err := e.info()
		if err == nil && !slices.ContainsFunc(all, func(other *schema.ToolInfo) bool { return other.Name == info.Name }) {
			all = append(all, info)
		}
	}
	return all
}

// flatTools removes the wrappers that Bedrock and Gemini put around tools.
func flatTools(tools []json.RawMessage) (all []json.RawMessage) {
	for _, raw := range tools {
		var wrapper struct {
			Spec *struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				InputSchema struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
			Declarations []json.RawMessage `json:"functionDeclarations"`
		}
		err := json.Unmarshal(raw, &wrapper)
		switch {
		case err == nil && wrapper.Declarations != nil:
			all = append(all, wrapper.Declarations...)
		case err == nil && wrapper.Spec != nil:
			flat, _ := json.Marshal(entry{Name: wrapper.Spec.Name, Description: wrapper.Spec.Description,
				InputSchema: wrapper.Spec.InputSchema.JSON}) // its parts were read as JSON
			all = append(all, flat)
		default:
			all = append(all, raw)
		}
	}
	return all
}

// role returns Eino's name for a role, or "" for an unknown role.
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
