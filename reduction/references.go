// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// References to stored content, in place of long values in the arguments of old calls, and
// of images, audio, video and files. They replace whole values and the arguments stay
// valid JSON: a model that sees cut arguments learns to write the mark of the cut into
// files.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

const (
	// mediaSaving is about how many tokens a reference saves.
	mediaSaving = mediaTokens - 60

	// maxMediaType is the most bytes of a medium's type that a reference shows.
	maxMediaType = 64
)

// reference is a text in place of stored content.
type reference struct {
	content string
	path    string // the file or its future name
	existed bool   // it was there already
}

func (r *reference) target() *reference { return r }

// argument is a value in the arguments of a call that a reference replaces.
type argument struct {
	reference
	from, to int // the position of its JSON
}

// attachment is a medium that a reference replaces. It is stored as JSON, to restore the
// medium from.
type attachment struct {
	reference
	medium
	text string
}

// wording makes the texts that replace results, values in arguments, and media. It is
// immutable.
type wording struct {
	notices *notices
	data    noticeData // common to all notices
	root    string     // of the store
	least   int        // the least bytes that a notice in place of a result saves
}

// arguments makes references to the values of a call's arguments that are longer than a
// number of bytes.
func (w *wording) arguments(c call, over int) (out []*argument) {
	file := vault.DefaultPath(w.root, vault.ClearDir, c.id)
	room := len(w.referenceTo(1<<30, file+vault.Padding+vault.Padding))
	for i, s := range longValues(c.args, max(over, room)) {
		to := reference{content: decoded(c.args[s.from:s.to]), path: fmt.Sprintf("%s-arg%d", file, i+1)}
		out = append(out, &argument{to, s.from, s.to})
	}
	return out
}

// attached makes references to media, and drops those that cannot be stored.
func (w *wording) attached(media []*attachment) []*attachment {
	out := media[:0:0]
	for _, a := range media {
		content, err := json.Marshal(a.is)
		if err != nil {
			continue // a value in Extra cannot be encoded
		}
		a.content = string(content)
		a.path = path.Join(w.root, vault.ClearDir, mediaName+vault.SumOf(a.content))
		w.mention(a)
		out = append(out, a)
	}
	return out
}

// mention makes the text of a reference.
func (w *wording) mention(a *attachment) {
	data := w.data
	data.path, data.bytes, data.medium = a.path, len(a.content), string(a.is.Type)
	data.finds, data.hint = false, ""
	if c := mediumOf(&a.is); len(c.MIMEType) <= maxMediaType && showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
		data.medium = cmp.Or(c.MIMEType, data.medium)
	}
	a.text = w.notices.fill(w.notices.medium, data)
}

// withReferences returns arguments with references in place of values.
func (w *wording) withReferences(args string, values []*argument) string {
	var b strings.Builder
	end := 0
	for _, v := range values {
		b.WriteString(args[end:v.from])
		b.WriteString(w.referenceTo(v.to-v.from, v.path))
		end = v.to
	}
	b.WriteString(args[end:])
	return b.String()
}

// referenceTo is the JSON string that replaces a value of size bytes.
func (w *wording) referenceTo(size int, path string) string {
	data := w.data
	data.bytes, data.path = size, path
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(w.notices.fill(w.notices.argument, data)) // encoding a string never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded is the text of a JSON string, or the JSON of any other value. A string whose
// decoding loses data stays JSON.
func decoded(value string) string {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil || strings.ContainsRune(s, utf8.RuneError) {
		return value
	}
	return s
}

// span is a part of a text.
type span struct{ from, to int }

// longValues finds the values in a JSON object that are longer than a number of bytes:
// strings, and lists and objects that are too long even without their long strings.
func longValues(args string, over int) []span {
	if !strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") || !json.Valid([]byte(args)) {
		return nil
	}
	s := valueScanner{text: args, over: over}
	s.value(0)
	return s.found
}

// valueScanner walks through valid JSON.
type valueScanner struct {
	text  string
	over  int
	at    int
	found []span
	refs  int // references so far
}

// value walks through one value at a depth.
func (s *valueScanner) value(depth int) {
	s.space()
	from, before, refs := s.at, len(s.found), s.refs
	switch s.text[s.at] {
	case '"':
		s.str()
		if isReference(s.text[from:s.at]) {
			s.refs++
		} else if s.at-from > s.over && depth > 0 {
			s.found = append(s.found, span{from, s.at})
		}
		return
	case '{', '[':
		s.members(depth)
	default:
		for s.at < len(s.text) && !strings.ContainsRune(" \t\r\n,]}", rune(s.text[s.at])) {
			s.at++
		}
	}
	left := s.at - from
	for _, f := range s.found[before:] {
		left -= f.to - f.from
	}
	if depth > 0 && left > s.over && s.refs == refs {
		s.found = append(s.found[:before], span{from, s.at})
	}
}

// members walks through a list or an object.
func (s *valueScanner) members(depth int) {
	object := s.text[s.at] == '{'
	s.at++
	for {
		s.space()
		switch s.text[s.at] {
		case '}', ']':
			s.at++
			return
		case ',':
			s.at++
			continue
		}
		if object {
			s.str()
			s.space()
			s.at++ // the colon
		}
		s.value(depth + 1)
	}
}

// str walks through a string.
func (s *valueScanner) str() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

func (s *valueScanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// isReference reports whether a JSON string is a reference.
func isReference(value string) bool {
	if !strings.HasPrefix(value, `"[`) {
		return false
	}
	text := decoded(value)
	for _, f := range argumentTemplates {
		if _, rest, ok := f.find(text); ok && len(rest) <= maxEnd && strings.HasSuffix(text, f[len(f)-1].Text) {
			return true
		}
	}
	return false
}

// mediaSaved estimates the tokens that references to media save.
func mediaSaved(media []*attachment) (n int) {
	for _, a := range media {
		n += mediaTokens - tokens.Estimate(a.text)
	}
	return n
}

// readMedium restores a medium from stored content. ok is false for a file that holds
// something else.
func readMedium(content []byte) (part schema.ToolOutputPart, ok bool) {
	if json.Unmarshal(content, &part) != nil || mediumOf(&part) == nil {
		return schema.ToolOutputPart{}, false
	}
	return part, true
}
