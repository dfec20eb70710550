// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import "github.com/cloudwego/eino/schema"

// FromOutput is the part of a result that a tool has returned. It reports false if no result can
// have it.
func FromOutput(out schema.ToolOutputPart) (Part, bool) {
	if _, err := (&schema.ToolResult{Parts: []schema.ToolOutputPart{out}}).ToMessageInputParts(); err != nil {
		return Part{}, false
	}
	p := Part{Kind: Medium, source: &out}
	switch out.Type {
	case schema.ToolPartTypeText:
		p.Kind = Text
	case schema.ToolPartTypeToolSearchResult:
		p.Kind = Tools
	}
	return p, true
}

// MediumOf is the medium that a tool returned; nil if there is none.
func MediumOf(p *schema.ToolOutputPart) *schema.MessagePartCommon {
	switch {
	case p.Type == schema.ToolPartTypeImage && p.Image != nil:
		return &p.Image.MessagePartCommon
	case p.Type == schema.ToolPartTypeAudio && p.Audio != nil:
		return &p.Audio.MessagePartCommon
	case p.Type == schema.ToolPartTypeVideo && p.Video != nil:
		return &p.Video.MessagePartCommon
	case p.Type == schema.ToolPartTypeFile && p.File != nil:
		return &p.File.MessagePartCommon
	}
	return nil
}

// SameMedium reports whether two parts are the same medium, or the same tools that were found.
func SameMedium(a, b *schema.ToolOutputPart) bool {
	if a.Type != b.Type || a.Type == schema.ToolPartTypeText {
		return false
	}
	if a.ToolSearchResult != nil || b.ToolSearchResult != nil {
		return a.ToolSearchResult == b.ToolSearchResult
	}
	x, y := MediumOf(a), MediumOf(b)
	return x != nil && y != nil && x.MIMEType == y.MIMEType &&
		TextAt(x.URL) == TextAt(y.URL) && TextAt(x.Base64Data) == TextAt(y.Base64Data)
}

// outputOf is an input part as a tool would have returned it.
func outputOf(p *schema.MessageInputPart) schema.ToolOutputPart {
	switch {
	case p.Type == schema.ChatMessagePartTypeText:
		return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: p.Text, Extra: p.Extra}
	case p.Type == schema.ChatMessagePartTypeImageURL && p.Image != nil:
		return output(schema.ToolPartTypeImage, p.Image.MessagePartCommon, p.Extra)
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.Audio != nil:
		return output(schema.ToolPartTypeAudio, p.Audio.MessagePartCommon, p.Extra)
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.Video != nil:
		return output(schema.ToolPartTypeVideo, p.Video.MessagePartCommon, p.Extra)
	case p.Type == schema.ChatMessagePartTypeFileURL && p.File != nil:
		return output(schema.ToolPartTypeFile, p.File.MessagePartCommon, p.Extra)
	}
	return schema.ToolOutputPart{Type: schema.ToolPartType(p.Type), ToolSearchResult: p.ToolSearchResult, Extra: p.Extra}
}

// contentOutput is a part of an agentic result as a tool would have returned it.
func contentOutput(c *schema.FunctionToolResultContentBlock) schema.ToolOutputPart {
	common := func(url, data, mime string) schema.MessagePartCommon {
		return schema.MessagePartCommon{URL: pointer(url), Base64Data: pointer(data), MIMEType: mime}
	}
	switch {
	case c.Text != nil:
		return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: c.Text.Text, Extra: c.Extra}
	case c.Image != nil:
		return output(schema.ToolPartTypeImage, common(c.Image.URL, c.Image.Base64Data, c.Image.MIMEType), c.Extra)
	case c.Audio != nil:
		return output(schema.ToolPartTypeAudio, common(c.Audio.URL, c.Audio.Base64Data, c.Audio.MIMEType), c.Extra)
	case c.Video != nil:
		return output(schema.ToolPartTypeVideo, common(c.Video.URL, c.Video.Base64Data, c.Video.MIMEType), c.Extra)
	case c.File != nil:
		return output(schema.ToolPartTypeFile, common(c.File.URL, c.File.Base64Data, c.File.MIMEType), c.Extra)
	}
	return schema.ToolOutputPart{Type: schema.ToolPartType(c.Type), Extra: c.Extra}
}

func output(t schema.ToolPartType, c schema.MessagePartCommon, extra map[string]any) schema.ToolOutputPart {
	p := schema.ToolOutputPart{Type: t, Extra: extra}
	switch t {
	case schema.ToolPartTypeImage:
		p.Image = &schema.ToolOutputImage{MessagePartCommon: c}
	case schema.ToolPartTypeAudio:
		p.Audio = &schema.ToolOutputAudio{MessagePartCommon: c}
	case schema.ToolPartTypeVideo:
		p.Video = &schema.ToolOutputVideo{MessagePartCommon: c}
	case schema.ToolPartTypeFile:
		p.File = &schema.ToolOutputFile{MessagePartCommon: c}
	}
	return p
}

// TextAt is the text that a pointer points to, empty if it is nil.
func TextAt(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
