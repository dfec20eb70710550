// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Messages and their parts, of all formats: texts, calls, results and media.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// part is a part of a message: of OpenAI or Anthropic, an item of OpenAI's Responses
// API, or a block of Eino's AgenticMessage.
type part struct {
	raw json.RawMessage

	peerPart

	Type string `json:"type"`
	Role string `json:"role"`

	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	Content  json.RawMessage `json:"content"`
	Blocks   []part          `json:"content_blocks"`

	ID         string          `json:"id"`
	CallID     string          `json:"call_id"`
	ToolUseID  string          `json:"tool_use_id"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input"`
	Arguments  string          `json:"arguments"`
	Output     json.RawMessage `json:"output"`

	Said   *part `json:"user_input_text"`
	Wrote  *part `json:"assistant_gen_text"`
	Mused  *part `json:"reasoning"`
	Called *part `json:"function_tool_call"`
	Gave   *struct {
		CallID  string `json:"call_id"`
		Name    string `json:"name"`
		Content []part `json:"content"`
	} `json:"function_tool_result"`
}

// UnmarshalJSON keeps the part as it is written, for media.
func (p *part) UnmarshalJSON(data []byte) error {
	type plain part
	var loose struct {
		plain
		Text json.RawMessage `json:"text"` // an object in results of an AgenticMessage
	}
	if err := decode(data, &loose); err != nil {
		return err
	}
	*p = part(loose.plain)
	p.raw = bytes.Clone(data)
	if text := bytes.TrimSpace(loose.Text); len(text) > 0 && text[0] == '{' {
		var inner struct {
			Text string `json:"text"`
		}
		err := decode(text, &inner)
		p.Text = inner.Text
		return err
	}
	if len(loose.Text) > 0 {
		return decode(loose.Text, &p.Text)
	}
	return nil
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
	err := decode(content, &all)
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
	if err := decode(raw, &p); err != nil {
		return err
	}
	content := bytes.TrimSpace(p.Content)
	switch {
	case p.Blocks != nil:
		return m.parts(role(p.Role), p.Blocks)
	case p.Parts != nil && role(p.Role) == schema.Assistant:
		return m.steps(schema.Assistant, p.Parts)
	case p.Parts != nil:
		return m.parts(role(p.Role), p.Parts)
	case p.Type == "function_call":
		m.call(p.CallID, p.Name, p.Arguments)
		return nil
	case p.Type == "function_call_output":
		return m.result(p.CallID, "", p.Output)
	case p.Type == "reasoning":
		return nil // its text is not sent again
	case len(content) > 0 && content[0] == '[' && role(p.Role) == schema.Tool && !bytes.Contains(content, []byte(`"tool-result"`)):
		return m.result(p.ToolCallID, p.Name, content)
	case len(content) > 0 && content[0] == '[':
		var all []part
		if err := decode(content, &all); err != nil {
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
	if err := decode(raw, &fields); err != nil {
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
	if err := decode(bare, &msg); err != nil {
		return err
	}
	if msg.Role, msg.Content = role(string(msg.Role)), text; msg.Role == "" {
		return fmt.Errorf("%q is not a message role", clip(string(fields["role"]), 40))
	}
	simplify(&msg)
	*m = append(*m, &msg)
	return nil
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
		if err := decode(r, &beside); err != nil {
			return err
		}
		said.ToolCalls = append(said.ToolCalls, beside.ToolCalls...)
	}
	settle(said)
	if by == schema.Assistant || said.Content != "" || len(said.UserInputMultiContent) > 0 {
		*m = append(*m, said)
	}
	return nil
}

// part puts a part into the message that is being read, or a result before it.
func (m *messages) part(said *schema.Message, p part) error {
	calls := func(id, name, args string) {
		said.ToolCalls = append(said.ToolCalls, schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args}})
	}
	if m.peer(said, p) {
		return nil
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
		result := schema.ToolMessage("", p.Gave.CallID, schema.WithToolName(p.Gave.Name))
		*m = append(*m, result)
		for _, c := range p.Gave.Content {
			c.into(result)
		}
		settle(result)
	case p.Type == "tool_use":
		calls(p.ID, p.Name, string(p.Input))
	case p.Type == "tool_result":
		return m.result(p.ToolUseID, "", p.Content)
	case p.Type == "thinking":
		said.ReasoningContent += p.Thinking
	default:
		p.into(said)
	}
	return nil
}

// into adds a text or a medium to a message.
func (p part) into(m *schema.Message) {
	kind, common, is := p.medium()
	if !is {
		m.Content += p.Text + string(p.Value)
		return
	}
	settleText(m)
	if m.Role == schema.Assistant {
		m.AssistantGenMultiContent = append(m.AssistantGenMultiContent, schema.MessageOutputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageOutputImage{MessagePartCommon: common}})
		return
	}
	in := schema.MessageInputPart{Type: kind}
	switch kind {
	case schema.ChatMessagePartTypeImageURL:
		in.Image = &schema.MessageInputImage{MessagePartCommon: common}
	case schema.ChatMessagePartTypeAudioURL:
		in.Audio = &schema.MessageInputAudio{MessagePartCommon: common}
	case schema.ChatMessagePartTypeVideoURL:
		in.Video = &schema.MessageInputVideo{MessagePartCommon: common}
	default:
		in.File = &schema.MessageInputFile{MessagePartCommon: common}
	}
	m.UserInputMultiContent = append(m.UserInputMultiContent, in)
}

// settle puts a text that follows media after them.
func settle(m *schema.Message) {
	if len(m.UserInputMultiContent)+len(m.AssistantGenMultiContent) > 0 {
		settleText(m)
	}
}

// settleText makes a part of the text so far: a message has a text or parts.
func settleText(m *schema.Message) {
	if m.Content == "" {
		return
	}
	if m.Role == schema.Assistant {
		m.AssistantGenMultiContent = append(m.AssistantGenMultiContent, schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: m.Content})
	} else {
		m.UserInputMultiContent = append(m.UserInputMultiContent, schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: m.Content})
	}
	m.Content = ""
}

// simplify makes one text of the parts of a message of Eino that has no media.
func simplify(m *schema.Message) {
	var text strings.Builder
	text.WriteString(m.Content)
	for _, p := range m.UserInputMultiContent {
		if p.Type != schema.ChatMessagePartTypeText {
			return
		}
		text.WriteString(p.Text)
	}
	for _, p := range m.AssistantGenMultiContent {
		if p.Type != schema.ChatMessagePartTypeText {
			return
		}
		text.WriteString(p.Text)
	}
	m.Content, m.UserInputMultiContent, m.AssistantGenMultiContent = text.String(), nil, nil
}

// media are the words that name a kind in the type of a part, in all formats.
var media = []struct {
	word string
	kind schema.ChatMessagePartType
}{
	{"image", schema.ChatMessagePartTypeImageURL}, {"audio", schema.ChatMessagePartTypeAudioURL}, {"video", schema.ChatMessagePartTypeVideoURL},
	{"file", schema.ChatMessagePartTypeFileURL}, {"document", schema.ChatMessagePartTypeFileURL},
}

// medium is the image or file that a part is, with where it is or what it holds.
func (p part) medium() (kind schema.ChatMessagePartType, common schema.MessagePartCommon, is bool) {
	of := cmp.Or(p.Type, p.peerMedia())
	for _, m := range media {
		if strings.Contains(of, m.word) && !strings.Contains(of, "text") {
			var v any
			_ = decode(p.raw, &v) // it was read once already
			locate(v, &common)
			return m.kind, common, true
		}
	}
	return "", common, false
}

// locate looks through a part for what the formats call its address and its bytes.
func locate(v any, to *schema.MessagePartCommon) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			locate(inner, to)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := v[key]
			text, is := inner.(string)
			if !is {
				locate(inner, to)
				continue
			}
			switch key {
			case "url", "image_url", "file_url", "file_id", "fileUri":
				to.URL = &text
			case "data", "base64_data", "base64data", "file_data", "bytes":
				to.Base64Data = &text
			case "media_type", "mime_type", "mediaType", "mimeType":
				to.MIMEType = text
			}
		}
	}
}

// texts is the text of a message: a string, or parts of which some are text.
func texts(raw json.RawMessage) (text string, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '[' {
		err = decode(raw, &text)
		return text, err
	}
	var all []part
	err = decode(raw, &all)
	for _, p := range all {
		text += p.Text
	}
	return text, err
}
