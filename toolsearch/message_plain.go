// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file reads and makes messages of type *schema.Message.

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

type plain struct{}

func (plain) view(m *schema.Message) view {
	switch {
	case m == nil:
		return view{}
	case m.Role == schema.Assistant:
		v := view{assistant: true}
		if len(m.ToolCalls) > 0 {
			v.calls = make([]call, len(m.ToolCalls))
			for i := range m.ToolCalls {
				c := &m.ToolCalls[i]
				v.calls[i] = call{c.ID, c.Function.Name, c.Function.Arguments}
			}
		}
		return v
	case m.Role == schema.Tool:
		return view{results: []result{plainResult(m)}}
	}
	return view{}
}

func plainResult(m *schema.Message) result {
	r := result{id: m.ToolCallID, name: m.ToolName, text: m.Content}
	for i := range m.UserInputMultiContent {
		switch p := &m.UserInputMultiContent[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			r.text += p.Text
		case schema.ChatMessagePartTypeToolSearchResult:
			r.native = true
			r.tools = append(r.tools, toolNames(p.ToolSearchResult)...)
		}
	}
	return r
}

func (plain) isSystem(m *schema.Message) bool { return m != nil && m.Role == schema.System }

func (plain) reminder(text string) *schema.Message { return marked(text, reminderKey) }
func (plain) note(text string) *schema.Message     { return marked(text, noteKey) }

func marked(text, key string) *schema.Message {
	m := schema.UserMessage(text)
	m.Extra = map[string]any{key: true}
	return m
}

func (plain) reminderText(m *schema.Message) (text string, marked, ok bool) {
	if m == nil || m.Role != schema.User {
		return "", false, false
	}
	if text = m.Content; text == "" && len(m.UserInputMultiContent) == 1 {
		text = m.UserInputMultiContent[0].Text
	}
	return text, isMarked(m.Extra, reminderKey), true
}

func (p plain) asText(m *schema.Message, word func([]string) string) *schema.Message {
	if m == nil || m.Role != schema.Tool || !plainResult(m).native {
		return m
	}
	c := *m
	c.UserInputMultiContent = nil
	texts := []string{}
	if m.Content != "" {
		texts = append(texts, m.Content)
	}
	for _, part := range m.UserInputMultiContent {
		switch part.Type {
		case schema.ChatMessagePartTypeToolSearchResult:
			texts = append(texts, word(toolNames(part.ToolSearchResult)))
		case schema.ChatMessagePartTypeText:
			texts = append(texts, part.Text)
		default:
			c.UserInputMultiContent = append(c.UserInputMultiContent, part)
		}
	}
	c.Content = strings.Join(texts, "\n")
	if len(c.UserInputMultiContent) > 0 { // adapters read one or the other
		text := schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: c.Content}
		c.UserInputMultiContent = append([]schema.MessageInputPart{text}, c.UserInputMultiContent...)
		c.Content = ""
	}
	return &c
}
