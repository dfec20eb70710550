// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Results of tools and chunks of their streams, in both forms: a string, or a *schema.ToolResult with parts.
// No function modifies its input.

import (
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/reduction/internal/rounds"
)

// toArgument converts the argument of a tool of either form.
func toArgument[A any](argument A) *schema.ToolArgument {
	if text, ok := any(argument).(string); ok {
		return &schema.ToolArgument{Text: text}
	}
	return any(argument).(*schema.ToolArgument)
}

// toResult converts a result or a chunk of either form to a result with parts.
func toResult[T any](out T) *schema.ToolResult {
	if text, ok := any(out).(string); ok {
		return textResult(text)
	}
	return any(out).(*schema.ToolResult)
}

// fromResult converts a result with parts to the form T. A string gets the text of the first part.
func fromResult[T any](r *schema.ToolResult) T {
	out, ok := any(r).(T)
	if !ok {
		out = any(firstText(r)).(T)
	}
	return out
}

// TextAs converts a text to a result or a chunk of the form T.
func TextAs[T any](text string) T { return fromResult[T](textResult(text)) }

// copyResult copies a result, so that a handler may write to its parts.
func copyResult(r *schema.ToolResult) *schema.ToolResult {
	return &schema.ToolResult{Parts: append([]schema.ToolOutputPart(nil), r.Parts...)}
}

// eachText calls f with each text of a chunk.
func eachText[T any](chunk T, f func(text string)) {
	switch c := any(chunk).(type) {
	case string:
		f(c)
	case *schema.ToolResult:
		if c == nil {
			return
		}
		for i := range c.Parts {
			if c.Parts[i].Type == schema.ToolPartTypeText {
				f(c.Parts[i].Text)
			}
		}
	}
}

// allText returns all text of a chunk.
func allText[T any](chunk T) string {
	var b strings.Builder
	eachText(chunk, func(text string) { b.WriteString(text) })
	return b.String()
}

// firstBytes returns a chunk with only the first n bytes of its text. Parts that are not text stay.
func firstBytes[T any](chunk T, n int) T {
	var out any
	switch c := any(chunk).(type) {
	case string:
		out = c[:min(n, len(c))]
	case *schema.ToolResult:
		if c == nil {
			return chunk
		}
		start := &schema.ToolResult{Parts: make([]schema.ToolOutputPart, 0, len(c.Parts))}
		for _, p := range c.Parts {
			if p.Type == schema.ToolPartTypeText {
				p.Text = p.Text[:min(n, len(p.Text))]
				n -= len(p.Text)
				if p.Text == "" {
					continue
				}
			}
			start.Parts = append(start.Parts, p)
		}
		out = start
	}
	return out.(T)
}

// join joins chunks of a stream into one.
func join[T any](chunks []T) T {
	var out any
	switch all := any(chunks).(type) {
	case []string:
		out = strings.Join(all, "")
	case []*schema.ToolResult:
		whole := &schema.ToolResult{}
		for _, r := range all {
			if r != nil {
				whole.Parts = append(whole.Parts, r.Parts...)
			}
		}
		out = whole
	}
	return out.(T)
}

// withText returns a chunk with text in place of its own text.
func withText[T any](chunk T, text string) T {
	r := toResult(chunk)
	if r == nil {
		return chunk
	}
	return fromResult[T](&schema.ToolResult{Parts: replaceText(r.Parts, text)})
}

// textResult returns a result with one part of text.
func textResult(text string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
}

// firstText returns the text of the first part of a result.
func firstText(r *schema.ToolResult) string {
	if r == nil || len(r.Parts) == 0 {
		return ""
	}
	return r.Parts[0].Text
}

// replaceText returns parts with text in place of the first text and without the other texts. All other parts
// stay, in order.
func replaceText(parts []schema.ToolOutputPart, text string) []schema.ToolOutputPart {
	isText := func(p *schema.ToolOutputPart) bool { return p.Type == schema.ToolPartTypeText }
	setText := func(p *schema.ToolOutputPart) { p.Text = text }
	return rounds.ReplaceTexts(append([]schema.ToolOutputPart{}, parts...), isText, setText)
}
