// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Long values in the arguments of old calls, and images, audio, video and files: they
// become references, and the store has what they refer to. A value is replaced as a whole
// and the arguments stay valid JSON: a model that sees cut arguments learns to write the
// mark of the cut into files.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

const (
	// mediaName begins the names of files with media. The rest is a hash of the
	// content, so that a name is known before anything is written, and holds one
	// medium for ever.
	mediaName = "media-"

	// mediaSaving is about how many tokens a reference saves.
	mediaSaving = mediaTokens - 60

	// maxMediaType is the most bytes of a medium's type that a reference shows.
	maxMediaType = 64
)

// reference is a text in place of content that the store has.
type reference struct {
	content string
	path    string // where it is, or should go
	existed bool   // it was there already
}

func (r *reference) target() *reference { return r }

// argument is a value in the arguments of a call that a reference replaces.
type argument struct {
	reference
	from, to int // where its JSON stands
}

// attachment is a medium that a reference replaces. Its content is JSON, so that it can be
// made again.
type attachment struct {
	reference
	medium
	text string
}

// arguments lists the values of a call's arguments that are too long.
func (p *clearPass[M]) arguments(r *oldResult) (out []*argument) {
	over := p.phase.cfg.ClearArgumentsOver
	if over == 0 || len(r.call.args) <= over || r.rule.store == nil || r.rule.leave != "" || r.rule.clear != nil {
		return nil
	}
	file := vault.DefaultPath(p.phase.cfg.RootDir, vault.ClearDir, r.call.id)
	room := len(p.referenceTo(1<<30, file+vault.Padding+vault.Padding))
	for i, s := range longValues(r.call.args, max(over, room)) {
		to := reference{content: decoded(r.call.args[s.from:s.to]), path: fmt.Sprintf("%s-arg%d", file, i+1)}
		out = append(out, &argument{to, s.from, s.to})
	}
	return out
}

// oldMedia lists the media of an old result, if the window is known.
func (p *clearPass[M]) oldMedia(r *oldResult) (out []*attachment) {
	if p.phase.cfg.WindowTokens == 0 || r.rule.store == nil || r.rule.leave != "" || r.rule.clear != nil {
		return nil
	}
	for _, m := range p.phase.codec.media(p.msgs[r.at]) {
		if m.result == r.result.index {
			out = append(out, &attachment{medium: m})
		}
	}
	return out
}

// attached makes the references to media, and leaves out those that cannot be stored.
func (p *clearPass[M]) attached(media []*attachment) []*attachment {
	out := media[:0:0]
	for _, a := range media {
		content, err := json.Marshal(a.is)
		if err != nil {
			continue // what somebody put into Extra cannot be written
		}
		sum := sha256.Sum256(content)
		name := mediaName + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
		a.content, a.path = string(content), path.Join(p.phase.cfg.RootDir, vault.ClearDir, name)
		p.mention(a)
		out = append(out, a)
	}
	return out
}

// mention makes the text of a reference.
func (p *clearPass[M]) mention(a *attachment) {
	data := p.data
	data.path, data.bytes, data.medium = a.path, len(a.content), string(a.is.Type)
	data.finds, data.hint = false, ""
	if c := mediumOf(&a.is); len(c.MIMEType) <= maxMediaType && showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
		data.medium = cmp.Or(c.MIMEType, data.medium)
	}
	a.text = p.notices.fill(p.notices.medium, data)
}

// mediaEdits is the edit that puts references in place of a result's media.
func (p *clearPass[M]) mediaEdits(r *oldResult) (out []movedMedium) {
	for _, a := range r.media {
		out = append(out, movedMedium{result: a.result, part: a.part, text: a.text})
	}
	return out
}

// with adds the arguments and the media that references replace.
func (o output) with(r *oldResult) output {
	if r.args != nil && len(r.values) > 0 {
		o.before += len(r.call.args)
		o.after += len(*r.args)
		o.path = cmp.Or(o.path, r.values[0].path)
	}
	for _, a := range r.media {
		o.before += len(a.content)
		o.after += len(a.text)
		o.path = cmp.Or(o.path, a.path)
	}
	return o
}

// withReferences returns arguments in which references stand for values.
func (p *clearPass[M]) withReferences(args string, values []*argument) string {
	var b strings.Builder
	end := 0
	for _, v := range values {
		b.WriteString(args[end:v.from])
		b.WriteString(p.referenceTo(v.to-v.from, v.path))
		end = v.to
	}
	b.WriteString(args[end:])
	return b.String()
}

// referenceTo is the JSON string that stands for a value of size bytes.
func (p *clearPass[M]) referenceTo(size int, path string) string {
	data := p.data
	data.bytes, data.path = size, path
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p.notices.fill(p.notices.argument, data)) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// saveReferences stores the values and the media of a change, and leaves out those that
// were not stored. It reports whether these are all, under the paths that were assumed.
func (p *clearPass[M]) saveReferences(ctx context.Context, r *oldResult) (same bool) {
	var sameMedia bool
	if r.values, same = saveEach(ctx, p, r, r.values); !same {
		r.args = nil
		p.word(r)
	}
	if r.media, sameMedia = saveEach(ctx, p, r, r.media); !sameMedia {
		for _, a := range r.media {
			p.mention(a)
		}
	}
	return same && sameMedia
}

// saveEach stores what references replace and keeps those of which that was stored.
func saveEach[M adk.MessageType, R interface{ target() *reference }](ctx context.Context, p *clearPass[M], r *oldResult, all []R) (kept []R, same bool) {
	kept, same = all[:0], true
	for _, each := range all {
		to := each.target()
		path, existed, err := p.store(ctx, r, vault.Place{Path: to.path}, to.content)
		if err != nil {
			same = false
			continue
		}
		same = same && path == to.path
		to.path, to.existed = path, existed
		kept = append(kept, each)
	}
	return kept, same
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

// mediaSaved estimates the tokens that references to media save.
func mediaSaved(media []*attachment) (n int) {
	for _, a := range media {
		n += mediaTokens - tokens.Estimate(a.text)
	}
	return n
}

// readMedium makes a medium again from what was stored of it. ok is false for a file that
// holds something else.
func readMedium(content []byte) (part schema.ToolOutputPart, ok bool) {
	if json.Unmarshal(content, &part) != nil || mediumOf(&part) == nil {
		return schema.ToolOutputPart{}, false
	}
	return part, true
}
