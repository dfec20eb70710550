// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// What a tool returns, in any form: a string or a result, which may be one chunk of a stream. No function
// changes it.

import (
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/reduction/internal/rounds"
)

// asArgument is what a tool of any form is called with.
func asArgument[A any](argument A) *schema.ToolArgument {
	if text, ok := any(argument).(string); ok {
		return &schema.ToolArgument{Text: text}
	}
	return any(argument).(*schema.ToolArgument)
}

// asResult is what a tool of any form returns, or a chunk of it, as a result.
func asResult[T any](out T) *schema.ToolResult {
	if text, ok := any(out).(string); ok {
		return textResult(text)
	}
	return any(out).(*schema.ToolResult)
}

// ofResult is a result in the form of a tool.
func ofResult[T any](r *schema.ToolResult) T {
	out, ok := any(r).(T)
	if !ok {
		out = any(firstText(r)).(T)
	}
	return out
}

// copyOf protects a tool's result from a handler that writes to its parts.
func copyOf(r *schema.ToolResult) *schema.ToolResult {
	return &schema.ToolResult{Parts: append([]schema.ToolOutputPart(nil), r.Parts...)}
}

// eachString calls f with each text of a chunk.
func eachString[T any](chunk T, f func(text string)) {
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

// startOf is a chunk with only the first n bytes of its text; what is not text stays.
func startOf[T any](chunk T, n int) T {
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
	return rounds.ReplaceTexts(append([]schema.ToolOutputPart{}, parts...), func(p *schema.ToolOutputPart) bool { return p.Type == schema.ToolPartTypeText }, func(p *schema.ToolOutputPart) { p.Text = notice })
}
