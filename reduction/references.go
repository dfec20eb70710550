// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// References to stored content, in place of long values in the arguments of old calls, and
// of images, audio, video and files. They replace whole values and the arguments stay
// valid JSON: a model that sees cut arguments learns to write the mark of the cut into
// files.

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tokens"
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
	s := valueScanner{text: args, over: over, Decoder: json.NewDecoder(strings.NewReader(args))}
	s.UseNumber()
	s.value(0)
	return s.found
}

// valueScanner walks through valid JSON.
type valueScanner struct {
	*json.Decoder
	text  string
	over  int
	found []span
	refs  int // references so far
}

// value walks through one value at a depth.
func (s *valueScanner) value(depth int) {
	rest := strings.TrimLeft(s.text[s.InputOffset():], " \t\r\n,:")
	from, before, refs := len(s.text)-len(rest), len(s.found), s.refs
	token, _ := s.Token()
	switch token {
	case json.Delim('{'), json.Delim('['):
		for s.More() {
			if token == json.Delim('{') {
				_, _ = s.Token() // the key
			}
			s.value(depth + 1)
		}
		_, _ = s.Token() // the end
	}
	whole := span{from, int(s.InputOffset())}
	if isReference(s.text[whole.from:whole.to]) {
		s.refs++
		return
	}
	left := whole.to - whole.from
	for _, f := range s.found[before:] {
		left -= f.to - f.from
	}
	if depth > 0 && left > s.over && s.refs == refs {
		s.found = append(s.found[:before], whole)
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
		n += mediaTokens - tokens.Of(a.text)
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
