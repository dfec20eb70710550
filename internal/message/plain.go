// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"github.com/cloudwego/eino/schema"
)

// plainParts yields the parts of a *schema.Message. One with a result is that result.
func plainParts(m *schema.Message, yield func(Part) bool) {
	switch {
	case m == nil:
		return
	case m.Role == schema.Tool:
		yield(Part{Kind: Result, ID: m.ToolCallID, Name: m.ToolName, Extra: m.Extra, of: m})
		return
	}
	n := 0
	give := func(p Part) bool {
		p.Index = n
		n++
		return yield(p)
	}
	if m.ReasoningContent != "" && !give(Part{Kind: Reasoning, Text: m.ReasoningContent, of: &m.ReasoningContent}) {
		return
	}
	if m.Content != "" && !give(Part{Kind: Text, Text: m.Content, of: &m.Content}) {
		return
	}
	for i := range m.MultiContent {
		if !give(oldPart(&m.MultiContent[i])) {
			return
		}
	}
	for i := range m.UserInputMultiContent {
		if !give(inputPart(&m.UserInputMultiContent[i])) {
			return
		}
	}
	for i := range m.AssistantGenMultiContent {
		if !give(outputPart(&m.AssistantGenMultiContent[i])) {
			return
		}
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		if !give(Part{Kind: Call, ID: c.ID, Name: c.Function.Name, Text: c.Function.Arguments, Extra: c.Extra, of: c}) {
			return
		}
	}
}

// plainItems yields the parts of a result. Those of the deprecated field count if there are no
// others.
func plainItems(m *schema.Message, yield func(Part) bool) {
	n := 0
	give := func(p Part) bool {
		p.Index = n
		n++
		return yield(p)
	}
	if parts := len(m.UserInputMultiContent) + len(m.MultiContent); (m.Content != "" || parts == 0) && !give(Part{Kind: Text, Text: m.Content, of: &m.Content}) {
		return
	}
	for i := range m.UserInputMultiContent {
		if !give(inputPart(&m.UserInputMultiContent[i])) {
			return
		}
	}
	for i := 0; i < len(m.MultiContent) && len(m.UserInputMultiContent) == 0; i++ {
		if !give(oldPart(&m.MultiContent[i])) {
			return
		}
	}
}

func inputPart(p *schema.MessageInputPart) Part {
	switch p.Type {
	case schema.ChatMessagePartTypeText:
		return Part{Kind: Text, Text: p.Text, of: p}
	case schema.ChatMessagePartTypeToolSearchResult:
		return Part{Kind: Tools, Value: p.ToolSearchResult, of: p}
	}
	return Part{Kind: Medium, of: p}
}

func outputPart(p *schema.MessageOutputPart) Part {
	switch {
	case p.Type == schema.ChatMessagePartTypeText:
		return Part{Kind: Text, Text: p.Text, of: p}
	case p.Type == schema.ChatMessagePartTypeReasoning && p.Reasoning != nil:
		return Part{Kind: Reasoning, Text: p.Reasoning.Text, of: p}
	}
	return Part{Kind: Medium, of: p}
}

func oldPart(p *schema.ChatMessagePart) Part {
	if p.Type == schema.ChatMessagePartTypeText {
		return Part{Kind: Text, Text: p.Text, of: p}
	}
	return Part{Kind: Medium, of: p}
}

// plainOf returns a copy of a message with these parts and no others.
func plainOf(m *schema.Message, parts []Part) *schema.Message {
	next := *m
	if m.Role == schema.Tool {
		r := &parts[0]
		next.ToolCallID, next.ToolName, next.Extra = r.ID, r.Name, r.Extra
		if parts = r.parts; r.parts == nil {
			return &next
		}
	} else {
		next.ReasoningContent, next.AssistantGenMultiContent, next.ToolCalls = "", nil, nil
	}
	next.Content, next.MultiContent, next.UserInputMultiContent = "", nil, nil
	spoken := 0
	for i := range parts {
		if k := parts[i].Kind; k != Reasoning && k != Call {
			spoken++
		}
	}
	for i := range parts {
		into(&next, &parts[i], spoken == 1)
	}
	return &next
}

// into adds a part to a message. A new text that is alone is its content, which every adapter reads.
func into(m *schema.Message, p *Part, alone bool) {
	switch of := p.of.(type) {
	case *string:
		if p.Kind == Reasoning {
			m.ReasoningContent = p.Text
		} else {
			m.Content = p.Text
		}
		return
	case *schema.MessageOutputPart:
		out := *of
		if p.Kind == Text {
			out.Type, out.Text, out.Image, out.Audio, out.Video = schema.ChatMessagePartTypeText, p.Text, nil, nil, nil
		}
		m.AssistantGenMultiContent = append(m.AssistantGenMultiContent, out)
		return
	case *schema.ChatMessagePart:
		if m.Role != schema.Tool {
			m.MultiContent = append(m.MultiContent, deprecated(p, of))
			return
		}
	}
	switch {
	case p.Kind == Call:
		call := schema.ToolCall{Type: "function"}
		if of, is := p.of.(*schema.ToolCall); is {
			call = *of
		}
		call.ID, call.Function.Name, call.Function.Arguments, call.Extra = p.ID, p.Name, p.Text, p.Extra
		m.ToolCalls = append(m.ToolCalls, call)
	case p.of == nil && (alone || m.Role == schema.Assistant):
		m.Content += p.Text
	default:
		m.UserInputMultiContent = append(m.UserInputMultiContent, input(p))
	}
}

// input is a part of a user's message or of a result.
func input(p *Part) (in schema.MessageInputPart) {
	switch of := p.of.(type) {
	case *schema.MessageInputPart:
		in = *of
	case *schema.ChatMessagePart:
		in = inputOf(of)
	case *schema.ToolOutputPart:
		all, _ := (&schema.ToolResult{Parts: []schema.ToolOutputPart{*of}}).ToMessageInputParts()
		in = all[0] // FromOutput has tried it
	}
	switch {
	case p.Kind == Text && in.Type == schema.ChatMessagePartTypeText:
		in.Text = p.Text
	case p.Kind == Text:
		in = schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: p.Text}
	case p.Kind == Tools:
		in.ToolSearchResult, _ = p.Value.(*schema.ToolSearchResult)
	}
	return in
}

// deprecated is a part of the deprecated field.
func deprecated(p *Part, of *schema.ChatMessagePart) schema.ChatMessagePart {
	if p.Kind == Text {
		return schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: p.Text}
	}
	return *of
}

// inputOf is a part of the deprecated field as one of the field that replaces it.
func inputOf(p *schema.ChatMessagePart) schema.MessageInputPart {
	in := schema.MessageInputPart{Type: p.Type, Text: p.Text}
	at := func(url, mimeType string) schema.MessagePartCommon {
		return schema.MessagePartCommon{URL: &url, MIMEType: mimeType}
	}
	switch {
	case p.ImageURL != nil:
		in.Image = &schema.MessageInputImage{MessagePartCommon: at(p.ImageURL.URL, p.ImageURL.MIMEType), Detail: p.ImageURL.Detail}
	case p.AudioURL != nil:
		in.Audio = &schema.MessageInputAudio{MessagePartCommon: at(p.AudioURL.URL, p.AudioURL.MIMEType)}
	case p.VideoURL != nil:
		in.Video = &schema.MessageInputVideo{MessagePartCommon: at(p.VideoURL.URL, p.VideoURL.MIMEType)}
	case p.FileURL != nil:
		in.File = &schema.MessageInputFile{MessagePartCommon: at(p.FileURL.URL, p.FileURL.MIMEType), Name: p.FileURL.Name}
	}
	return in
}
