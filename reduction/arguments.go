// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Long values in the arguments of old calls. A value is replaced as a whole and the
// arguments stay valid JSON: a model that sees cut arguments learns to write the mark
// of the cut into files.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// argument is a value in the arguments of a call that a reference replaces.
type argument struct {
	from, to int // where its JSON stands
	content  string
	dest     vault.Place
	path     string
	existed  bool
}

// arguments lists the values of a call's arguments that are too long.
func (p *clearPass[M]) arguments(r *oldResult) (out []*argument) {
	over := p.phase.cfg.ClearArgumentsOver
	if over == 0 || len(r.call.args) <= over || r.rule.store == nil || r.rule.leave != "" || r.rule.clear != nil {
		return nil
	}
	file := vault.DefaultPath(p.phase.cfg.RootDir, vault.ClearDir, r.call.id)
	room := len(p.reference(1<<30, file+vault.Padding+vault.Padding))
	for i, s := range longValues(r.call.args, max(over, room)) {
		at := vault.Place{Path: fmt.Sprintf("%s-arg%d", file, i+1)}
		out = append(out, &argument{from: s.from, to: s.to, content: decoded(r.call.args[s.from:s.to]), dest: at, path: at.Path})
	}
	return out
}

// withReferences returns arguments in which references stand for values.
func (p *clearPass[M]) withReferences(args string, values []*argument) string {
	var b strings.Builder
	end := 0
	for _, v := range values {
		b.WriteString(args[end:v.from])
		b.WriteString(p.reference(v.to-v.from, v.path))
		end = v.to
	}
	b.WriteString(args[end:])
	return b.String()
}

// reference is the JSON string that stands for a value of size bytes.
func (p *clearPass[M]) reference(size int, path string) string {
	data := p.data
	data.bytes, data.path = size, path
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p.notices.fill(p.notices.argument, data)) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// saveArguments stores the values of a call and keeps those that were stored. It
// reports whether these are all, under the names that were assumed.
func (p *clearPass[M]) saveArguments(ctx context.Context, r *oldResult) (same bool) {
	same = true
	kept := r.values[:0]
	for _, v := range r.values {
		path, existed, err := p.store(ctx, r, v.dest, v.content)
		if err != nil {
			same = false
			continue
		}
		same = same && path == v.path
		v.path, v.existed = path, existed
		kept = append(kept, v)
	}
	r.values = kept
	return same
}

// decoded is the text of a JSON string, and the JSON of everything else. A string that
// cannot be decoded without a loss stays JSON.
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
// strings, and lists and objects that are too long even without the strings in them.
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
