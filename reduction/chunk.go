// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file knows the two kinds of chunks that tools stream.

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

// chunker is what the cutting of a stream needs to know of its chunks. No method
// changes a chunk.
type chunker[T any] interface {
	// each calls f with each text of a chunk.
	each(chunk T, f func(text string))
	// head is a chunk with only the first n bytes of its text; what is no text
	// stays.
	head(chunk T, n int) T
	// empty reports whether there is nothing in a chunk.
	empty(chunk T) bool
	// join makes one chunk of several.
	join(chunks []T) T
	// text is a chunk of text.
	text(s string) T
	// result is the chunk as a tool result.
	result(chunk T) *schema.ToolResult
	// first is what a handler's result is in a stream.
	first(r *schema.ToolResult) T
}

var (
	_ chunker[string]             = stringChunks{}
	_ chunker[*schema.ToolResult] = resultChunks{}
)

type stringChunks struct{}

func (stringChunks) each(s string, f func(string))      { f(s) }
func (stringChunks) head(s string, n int) string        { return s[:min(n, len(s))] }
func (stringChunks) join(s []string) string             { return strings.Join(s, "") }
func (stringChunks) empty(s string) bool                { return s == "" }
func (stringChunks) text(s string) string               { return s }
func (stringChunks) result(s string) *schema.ToolResult { return textResult(s) }
func (stringChunks) first(r *schema.ToolResult) string  { return firstText(r) }

// firstText is the text of a result's first part.
func firstText(r *schema.ToolResult) string {
	if r == nil || len(r.Parts) == 0 {
		return ""
	}
	return r.Parts[0].Text
}

type resultChunks struct{}

func (resultChunks) each(r *schema.ToolResult, f func(string)) {
	if r == nil {
		return
	}
	for i := range r.Parts {
		if r.Parts[i].Type == schema.ToolPartTypeText {
			f(r.Parts[i].Text)
		}
	}
}

func (resultChunks) head(r *schema.ToolResult, n int) *schema.ToolResult {
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

func (resultChunks) empty(r *schema.ToolResult) bool                { return r == nil || len(r.Parts) == 0 }
func (resultChunks) text(s string) *schema.ToolResult               { return textResult(s) }
func (resultChunks) result(r *schema.ToolResult) *schema.ToolResult { return r }
func (resultChunks) first(r *schema.ToolResult) *schema.ToolResult  { return r }
