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

// part adds a part to msg. A tool result becomes a separate message before msg.
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

	UserText       *part `json:"user_input_text"`
	AssistantText  *part `json:"assistant_gen_text"`
	ReasoningPart  *part `json:"reasoning"`
	ToolCall       *part `json:"function_tool_call"`
	FunctionResult *struct {
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

// messages are the messages read so far.
type messages []*schema.Message

func (m *messages) addText(role schema.RoleType, text string) {
	*m = append(*m, &schema.Message{Role: role, Content: text})
}

// call adds a call to the last message of the model.
func (m *messages) call(id, name, args string) {
	last := len(*m) - 1
	if last < 0 || (*m)[last].Role != schema.Assistant {
		m.addText(schema.Assistant, "")
		last++
	}
	(*m)[last].ToolCalls = append((*m)[last].ToolCalls, schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args}})
}

// result adds the result of a tool: a text, or parts.
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
		p.addTo(result)
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

// parts adds a message with parts. Results of tools become messages of their own, before the user's text.
func (m *messages) parts(speaker schema.RoleType, all []part, raw ...json.RawMessage) error {
	if speaker == "" {
		return fmt.Errorf("it has parts and no role")
	}
	msg := &schema.Message{Role: speaker}
	for _, p := range all {
		if err := m.part(msg, p); err != nil {
			return err
		}
	}
	for _, r := range raw { // OpenAI has the calls beside the parts
		var sibling struct {
			ToolCalls []schema.ToolCall `json:"tool_calls"`
		}
		if err := decode(r, &sibling); err != nil {
			return err
		}
		msg.ToolCalls = append(msg.ToolCalls, sibling.ToolCalls...)
	}
	settle(msg)
	if speaker == schema.Assistant || msg.Content != "" || len(msg.UserInputMultiContent) > 0 {
		*m = append(*m, msg)
	}
	return nil
}

// part puts a part into the message that is being read, or a result before it.
func (m *messages) part(msg *schema.Message, p part) error {
	calls := func(id, name, args string) {
		msg.ToolCalls = append(msg.ToolCalls, schema.ToolCall{ID: id, Type: "function",
			Function: schema.FunctionCall{Name: name, Arguments: args}})
	}
	if m.peer(msg, p) {
		return nil
	}
	switch {
	case p.UserText != nil:
		msg.Content += p.UserText.Text
	case p.AssistantText != nil:
		msg.Content += p.AssistantText.Text
	case p.ReasoningPart != nil:
		msg.ReasoningContent += p.ReasoningPart.Text
	case p.ToolCall != nil:
		calls(p.ToolCall.CallID, p.ToolCall.Name, p.ToolCall.Arguments)
	case p.FunctionResult != nil:
		result := schema.ToolMessage("", p.FunctionResult.CallID, schema.WithToolName(p.FunctionResult.Name))
		*m = append(*m, result)
		for _, c := range p.FunctionResult.Content {
			c.addTo(result)
		}
		settle(result)
	case p.Type == "tool_use":
		calls(p.ID, p.Name, string(p.Input))
	case p.Type == "tool_result":
		return m.result(p.ToolUseID, "", p.Content)
	case p.Type == "thinking":
		msg.ReasoningContent += p.Thinking
	default:
		p.addTo(msg)
	}
	return nil
}

// addTo adds a text or a medium to a message.
func (p part) addTo(m *schema.Message) {
	kind, common, ok := p.medium()
	if !ok {
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

// settle moves text that follows media into a part after them.
func settle(m *schema.Message) {
	if len(m.UserInputMultiContent)+len(m.AssistantGenMultiContent) > 0 {
		settleText(m)
	}
}

// settleText turns the text so far into a part, since a message has either a text or parts.
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

// simplify joins the parts of an Eino message without media into one text.
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

// media maps words in the type of a part to a kind of medium, for all formats.
var media = []struct {
	word string
	kind schema.ChatMessagePartType
}{
	{"image", schema.ChatMessagePartTypeImageURL}, {"audio", schema.ChatMessagePartTypeAudioURL}, {"video", schema.ChatMessagePartTypeVideoURL},
	{"file", schema.ChatMessagePartTypeFileURL}, {"document", schema.ChatMessagePartTypeFileURL},
}

// medium returns the image or file of a part: its kind, and its address or data.
func (p part) medium() (kind schema.ChatMessagePartType, common schema.MessagePartCommon, ok bool) {
	mediaType := cmp.Or(p.Type, p.peerMedia())
	for _, m := range media {
		if strings.Contains(mediaType, m.word) && !strings.Contains(mediaType, "text") {
			var v any
			_ = decode(p.raw, &v) // it was read once already
			locate(v, &common)
			return m.kind, common, true
		}
	}
	return "", common, false
}

// locate searches a part for the address and the data of a medium, under the keys of all formats.
func locate(v any, dst *schema.MessagePartCommon) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			locate(inner, dst)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := v[key]
			text, ok := inner.(string)
			if !ok {
				locate(inner, dst)
				continue
			}
			switch key {
			case "url", "image_url", "file_url", "file_id", "fileUri":
				dst.URL = &text
			case "data", "base64_data", "base64data", "file_data", "bytes":
				dst.Base64Data = &text
			case "media_type", "mime_type", "mediaType", "mimeType":
				dst.MIMEType = text
			}
		}
	}
}

// texts returns the text of a message: a string, or the concatenated text parts.
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
