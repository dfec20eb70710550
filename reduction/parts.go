// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Texts, the parts of tool results, and the chunks of streams.

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

// textsOf lists the texts of parts.
func textsOf(parts []schema.ToolOutputPart) []string {
	var out []string
	for i := range parts {
		if parts[i].Type == schema.ToolPartTypeText {
			out = append(out, parts[i].Text)
		}
	}
	return out
}

// textResult is a result of one text.
func textResult(text string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
}

// firstText is the text of a result's first part.
func firstText(r *schema.ToolResult) string {
	if r == nil || len(r.Parts) == 0 {
		return ""
	}
	return r.Parts[0].Text
}

// withNotice returns parts with notice in place of the first text and without the other
// texts. Everything else stays, in order.
func withNotice(parts []schema.ToolOutputPart, notice string) []schema.ToolOutputPart {
	return oneText(parts, func(p *schema.ToolOutputPart) bool { return p.Type == schema.ToolPartTypeText }, func(p *schema.ToolOutputPart) { p.Text = notice })
}

// oneText returns a copy of parts with the first text as set leaves it, and without the
// other texts.
func oneText[P any](parts []P, isText func(*P) bool, set func(*P)) []P {
	out := make([]P, 0, len(parts))
	found := false
	for _, p := range parts {
		if isText(&p) {
			if found {
				continue
			}
			found = true
			set(&p)
		}
		out = append(out, p)
	}
	return out
}

// samePart reports whether a and b are the same medium or search result.
func samePart(a, b *schema.ToolOutputPart) bool {
	if a.Type != b.Type || a.Type == schema.ToolPartTypeText {
		return false
	}
	if a.ToolSearchResult != nil || b.ToolSearchResult != nil {
		return a.ToolSearchResult == b.ToolSearchResult
	}
	x, y := mediumOf(a), mediumOf(b)
	return x != nil && y != nil && x.MIMEType == y.MIMEType &&
		deref(x.URL) == deref(y.URL) && deref(x.Base64Data) == deref(y.Base64Data)
}

// mediumOf returns the data of a media part, or nil.
func mediumOf(p *schema.ToolOutputPart) *schema.MessagePartCommon {
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

// mediaPart makes a media part of the given type.
func mediaPart(t schema.ToolPartType, c schema.MessagePartCommon, extra map[string]any) schema.ToolOutputPart {
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

func deref(s *string) string {
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

// lineShare is the share of an excerpt that may be dropped to end it with a whole line:
// a quarter.
const lineShare = 4

// lineEnd moves n back to the end of a line, if there is one nearby.
func lineEnd(s string, n int) int {
	from := n - n/lineShare
	if i := strings.LastIndexByte(s[from:n], '\n'); i >= 0 {
		return from + i + 1
	}
	return n
}

// lineStart moves n forward to the start of a line, if there is one nearby.
func lineStart(s string, n int) int {
	near := s[n : n+(len(s)-n)/lineShare]
	if i := strings.IndexByte(near, '\n'); i >= 0 {
		return n + i + 1
	}
	return n
}

// chunkOps are the operations on chunks for cutting a stream. No method changes a
// chunk.
type chunkOps[T any] interface {
	// eachString calls f with each text of a chunk.
	eachString(chunk T, f func(text string))
	// startOf is a chunk with only the first n bytes of its text; what is not text
	// stays.
	startOf(chunk T, n int) T
	// empty reports whether there is nothing in a chunk.
	empty(chunk T) bool
	// join makes one chunk of several.
	join(chunks []T) T
	// asResult is the chunk as a tool result.
	asResult(chunk T) *schema.ToolResult
	// ofResult is what a result is in a stream.
	ofResult(r *schema.ToolResult) T
}

type stringChunks struct{}

func (stringChunks) eachString(s string, f func(string)) { f(s) }

func (stringChunks) startOf(s string, n int) string { return s[:min(n, len(s))] }

func (stringChunks) join(s []string) string { return strings.Join(s, "") }

func (stringChunks) empty(s string) bool { return s == "" }

func (stringChunks) asResult(s string) *schema.ToolResult { return textResult(s) }

func (stringChunks) ofResult(r *schema.ToolResult) string { return firstText(r) }

type resultChunks struct{}

func (resultChunks) eachString(r *schema.ToolResult, f func(string)) {
	if r == nil {
		return
	}
	for i := range r.Parts {
		if r.Parts[i].Type == schema.ToolPartTypeText {
			f(r.Parts[i].Text)
		}
	}
}

func (resultChunks) startOf(r *schema.ToolResult, n int) *schema.ToolResult {
	if r == nil {
		return nil
	}
	out := &schema.ToolResult{Parts: make([]schema.ToolOutputPart, 0, len(r.Parts))}
	for _, p := range r.Parts {
		if p.Type == schema.ToolPartTypeText {
			p.Text = p.Text[:min(n, len(p.Text))]
			n -= len(p.Text)
			if p.Text == "" {
				continue
			}
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

func (resultChunks) join(rs []*schema.ToolResult) *schema.ToolResult {
	out := &schema.ToolResult{}
	for _, r := range rs {
		if r != nil {
			out.Parts = append(out.Parts, r.Parts...)
		}
	}
	return out
}

func (resultChunks) empty(r *schema.ToolResult) bool { return r == nil || len(r.Parts) == 0 }

func (resultChunks) asResult(r *schema.ToolResult) *schema.ToolResult { return r }

func (resultChunks) ofResult(r *schema.ToolResult) *schema.ToolResult { return r }

var (
	_ chunkOps[string]             = stringChunks{}
	_ chunkOps[*schema.ToolResult] = resultChunks{}
)
