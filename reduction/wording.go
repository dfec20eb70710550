// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The texts that replace results, long values in the arguments of old calls, and images, audio,
// video and files. A reference replaces a value whole, and the arguments stay valid JSON: a model
// that sees cut arguments learns to write the mark of the cut into files.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

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
func (w *wording) arguments(c call, over int) []*reference {
	file := vault.DefaultPath(w.root, vault.ClearDir, c.id)
	longest := &reference{path: file + vault.Padding + vault.Padding, to: 1 << 30}
	w.mention(longest)
	values := longValues(c.args, max(over, len(longest.text)))
	for i, v := range values {
		v.content, v.path = decoded(c.args[v.from:v.to]), fmt.Sprintf("%s-arg%d", file, i+1)
		w.mention(v)
	}
	return values
}

// attached completes references to media, and drops those that cannot be stored.
func (w *wording) attached(media []*reference) []*reference {
	out := media[:0:0]
	for _, r := range media {
		content, err := json.Marshal(r.medium)
		if err != nil {
			continue // a value in Extra cannot be encoded
		}
		r.content = string(content)
		r.path = path.Join(w.root, vault.ClearDir, mediaName+vault.SumOf(r.content))
		w.mention(r)
		out = append(out, r)
	}
	return out
}

// mention makes the text of a reference, which in arguments is a JSON string.
func (w *wording) mention(r *reference) {
	data := w.data
	data.path = r.path
	if r.medium == nil {
		data.bytes = r.to - r.from
		r.text = display.Quoted(w.notices.fill(w.notices.argument, data))
		return
	}
	data.bytes, data.medium = len(r.content), string(r.medium.Type)
	data.finds, data.hint = false, ""
	if c := mediumOf(r.medium); len(c.MIMEType) <= maxMediaType && showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
		data.medium = cmp.Or(c.MIMEType, data.medium)
	}
	r.text = w.notices.fill(w.notices.medium, data)
}

// withReferences returns arguments with references in place of values.
func withReferences(args string, values []*reference) string {
	var b strings.Builder
	end := 0
	for _, v := range values {
		b.WriteString(args[end:v.from])
		b.WriteString(v.text)
		end = v.to
	}
	b.WriteString(args[end:])
	return b.String()
}

// word makes the notice, and reports whether it saves enough. That must not depend on whether
// the path will need a suffix: otherwise a result that stays today would be cleared tomorrow.
func (w *wording) word(r *old) bool {
	if len(r.values) > 0 {
		args := withReferences(r.call.args, r.values)
		r.args = &args
	}
	switch {
	case r.instead.keep:
		return true
	case r.most > 0:
		return w.shorten(r)
	}
	data := w.data
	data.bytes, data.path, data.call = r.bytes, r.path, r.like
	f, longest := w.notices.cleared, 0
	switch {
	case r.like != "":
		f = w.notices.repeated
	case r.path == "":
		f = w.notices.placeholder
	case r.page:
		f = w.notices.page
	}
	if r.item.Store != nil {
		longest = len(vault.Padding)
	}
	r.instead.text = w.notices.fill(f, data)
	r.after = len(r.instead.text)
	return r.size-r.after-longest >= w.least
}

// minShown is how many bytes of a result always stay when it must fit the window.
const minShown = 1000

// shorten makes the notice with as much of a result as fits, and reports whether it is
// shorter than the result.
func (w *wording) shorten(r *old) bool {
	data := w.data
	data.path = r.path
	if r.page {
		data.bytes = r.size
		r.instead.text = w.notices.fill(w.notices.page, data)
		r.after = len(r.instead.text)
		return r.after < r.size
	}
	limit := min(r.size-1, max(minShown, r.size*r.most/max(r.tokens, 1)))
	for {
		text, ok := w.excerptOf(r, data, limit)
		if !ok {
			return false
		}
		if limit <= minShown || tokens.Of(text) <= r.most {
			r.instead.text, r.after = text, len(text)
			return r.after < r.size
		}
		limit = max(minShown, limit*3/4)
	}
}

// excerptOf makes a notice of at most limit bytes with the start and the end of a result.
func (w *wording) excerptOf(r *old, data noticeData, limit int) (string, bool) {
	if r.notice.kind != truncatedNotice || r.path != r.notice.path {
		text := joined(r.result.texts)
		_, ok := w.notices.room(len(text), data, limit)
		return w.notices.excerpt(text, data, limit), ok
	}
	data.bytes = max(r.notice.bytes, r.size)
	if shown, ok := shownIn(r.result.texts); ok {
		room := limit - w.notices.previewed.length(w.notices.hinted(data))
		data.shown = shown[:lineEnd(shown, display.Floor(shown, max(0, room)))]
		return w.notices.fill(w.notices.previewed, data), room >= minExcerpt
	}
	room, ok := w.notices.room(data.bytes, data, limit)
	if !ok {
		return "", false
	}
	head, tail, found := excerptIn(r.result.texts)
	if !found {
		head, _ = beforeNotice(r.result.texts)
	}
	data.head = head[:display.Floor(head, min(len(head), room/2))]
	data.tail = tail[display.Ceil(tail, max(0, len(tail)-(room-len(data.head)))):]
	data.headBytes, data.tailBytes = len(data.head), len(data.tail)
	return w.notices.fill(w.notices.truncated, data), true
}

const (
	// mediaSaving is about how many tokens a reference saves.
	mediaSaving = mediaTokens - 60

	// maxMediaType is the most bytes of a medium's type that a reference shows.
	maxMediaType = 64
)

// reference is a text in place of stored content: of a long value in the arguments of a call, or
// of a medium, which is an image, a sound, a film or a file.
type reference struct {
	content string // as it is stored: a medium is JSON, to restore it from
	path    string // the file or its future name
	existed bool   // it was there already
	text    string // in place of the content

	from, to int // the position of a value's JSON in the arguments

	medium *schema.ToolOutputPart // nil: it is a value
	result int                    // index of the result that has the medium; negative: the user sent it
	part   int                    // index among the parts of the result, or of the message
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

// longValues finds the values in a JSON object that are longer than a number of bytes:
// strings, and lists and objects that are too long even without their long strings.
func longValues(args string, over int) (found []*reference) {
	if !strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") || !json.Valid([]byte(args)) {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	references := 0 // so far
	var walk func(depth int)
	walk = func(depth int) {
		rest := strings.TrimLeft(args[d.InputOffset():], " \t\r\n,:")
		from, before, had := len(args)-len(rest), len(found), references
		token, _ := d.Token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			for d.More() {
				if token == json.Delim('{') {
					_, _ = d.Token() // the key
				}
				walk(depth + 1)
			}
			_, _ = d.Token() // the end
		}
		whole := &reference{from: from, to: int(d.InputOffset())}
		if isReference(args[whole.from:whole.to]) {
			references++
			return
		}
		left := whole.to - whole.from
		for _, f := range found[before:] {
			left -= f.to - f.from
		}
		if depth > 0 && left > over && references == had {
			found = append(found[:before], whole)
		}
	}
	walk(0)
	return found
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
func mediaSaved(media []*reference) (n int) {
	for _, a := range media {
		n += mediaTokens - tokens.Of(a.text)
	}
	return n
}
