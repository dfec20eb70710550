// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 stored histories have parts of the deprecated kind

package message

import (
	"maps"

	"github.com/cloudwego/eino/schema"
)

// readPlain makes p the nth part of a message. One with a result is that result.
func readPlain(p *Part, m *schema.Message, n int) bool {
	if m.Role == schema.Tool {
		p.Kind, p.source = Result, m
		return n == 0
	}
	if m.ReasoningContent != "" {
		if n == 0 {
			p.Kind, p.source = Reasoning, &m.ReasoningContent
			return true
		}
		n--
	}
	if m.Content != "" {
		if n == 0 {
			p.Kind, p.source = Text, &m.Content
			return true
		}
		n--
	}
	if n < len(m.MultiContent) {
		readOld(p, &m.MultiContent[n])
		return true
	}
	if n -= len(m.MultiContent); n < len(m.UserInputMultiContent) {
		readInput(p, &m.UserInputMultiContent[n])
		return true
	}
	if n -= len(m.UserInputMultiContent); n < len(m.AssistantGenMultiContent) {
		readOutput(p, &m.AssistantGenMultiContent[n])
		return true
	}
	if n -= len(m.AssistantGenMultiContent); n < len(m.ToolCalls) {
		p.Kind, p.source = Call, &m.ToolCalls[n]
		return true
	}
	return false
}

// readPlainItem makes p the nth part of a result. Those of the deprecated field count if there are
// no others.
func readPlainItem(p *Part, m *schema.Message, n int) bool {
	if m.Content != "" || len(m.UserInputMultiContent)+len(m.MultiContent) == 0 {
		if n == 0 {
			p.Kind, p.source = Text, &m.Content
			return true
		}
		n--
	}
	switch {
	case n < len(m.UserInputMultiContent):
		readInput(p, &m.UserInputMultiContent[n])
	case len(m.UserInputMultiContent) == 0 && n < len(m.MultiContent):
		readOld(p, &m.MultiContent[n])
	default:
		return false
	}
	return true
}

func readInput(p *Part, source *schema.MessageInputPart) {
	p.Kind, p.source = Medium, source
	switch source.Type {
	case schema.ChatMessagePartTypeText:
		p.Kind = Text
	case schema.ChatMessagePartTypeToolSearchResult:
		p.Kind = Tools
	}
}

func readOutput(p *Part, source *schema.MessageOutputPart) {
	p.Kind, p.source = Medium, source
	switch source.Type {
	case schema.ChatMessagePartTypeText:
		p.Kind = Text
	case schema.ChatMessagePartTypeReasoning:
		p.Kind = Reasoning
	}
}

func readOld(p *Part, source *schema.ChatMessagePart) {
	if p.Kind, p.source = Medium, source; source.Type == schema.ChatMessagePartTypeText {
		p.Kind = Text
	}
}

// partText is the text in a part of a message's list or of a result.
func partText(source any) string {
	switch source := source.(type) {
	case *schema.MessageInputPart:
		return source.Text
	case *schema.MessageOutputPart:
		if source.Reasoning != nil {
			return source.Reasoning.Text
		}
		return source.Text
	case *schema.ChatMessagePart:
		return source.Text
	case *schema.ToolOutputPart:
		return source.Text
	case *schema.FunctionToolResultContentBlock:
		return source.Text.Text
	}
	return ""
}

// plainOf returns a copy of a message with these parts and no others.
func plainOf(m *schema.Message, parts []Part) *schema.Message {
	next := *m
	next.Extra = maps.Clone(m.Extra)
	if m.Role == schema.Tool {
		r := &parts[0]
		next.ToolCallID, next.ToolName, next.Extra = r.ID(), r.Name(), maps.Clone(r.Extra())
		if parts = r.replacedParts(); parts == nil {
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
		addTo(&next, &parts[i], spoken == 1)
	}
	return &next
}

// addTo adds a part to a message. A new text that is alone is its content, which every adapter reads.
func addTo(m *schema.Message, p *Part, isOnly bool) {
	switch source := p.source.(type) {
	case *string:
		if p.Kind == Reasoning {
			m.ReasoningContent = p.Text()
		} else {
			m.Content = p.Text()
		}
		return
	case *schema.MessageOutputPart:
		out := *source
		if p.Kind == Text {
			out.Type, out.Text, out.Image, out.Audio, out.Video = schema.ChatMessagePartTypeText, p.Text(), nil, nil, nil
		}
		m.AssistantGenMultiContent = append(m.AssistantGenMultiContent, out)
		return
	case *schema.ChatMessagePart:
		if m.Role != schema.Tool {
			old := *source
			if p.Kind == Text {
				old = schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: p.Text()}
			}
			m.MultiContent = append(m.MultiContent, old)
			return
		}
	}
	_, returned := p.source.(*schema.ToolOutputPart)
	switch {
	case p.Kind == Call:
		call := schema.ToolCall{Type: "function"}
		if source, ok := p.source.(*schema.ToolCall); ok {
			call = *source
		}
		call.ID, call.Function.Name, call.Function.Arguments, call.Extra = p.ID(), p.Name(), p.Text(), p.Extra()
		m.ToolCalls = append(m.ToolCalls, call)
	case p.Kind == Text && (p.source == nil || returned) && (isOnly || m.Role == schema.Assistant):
		m.Content += p.Text()
	default:
		m.UserInputMultiContent = append(m.UserInputMultiContent, input(p))
	}
}

// input is a part of a user's message or of a result.
func input(p *Part) (in schema.MessageInputPart) {
	switch source := p.source.(type) {
	case *schema.MessageInputPart:
		in = *source
	case *schema.ChatMessagePart:
		in = inputOf(source)
	case *schema.ToolOutputPart:
		all, _ := (&schema.ToolResult{Parts: []schema.ToolOutputPart{*source}}).ToMessageInputParts()
		in = all[0] // FromOutput has tried it
	}
	switch {
	case p.Kind == Text && in.Type == schema.ChatMessagePartTypeText:
		in.Text = p.Text()
	case p.Kind == Text:
		in = schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: p.Text()}
	case p.Kind == Tools:
		in.ToolSearchResult, _ = p.Value().(*schema.ToolSearchResult)
	}
	return in
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
