// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The texts that replace results, values in arguments, and media.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

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

func newWording(root string, least int, reader string) wording {
	w := wording{notices: currentNotices(), root: root, least: least}
	w.data = w.notices.hinted(noticeData{tool: reader})
	return w
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

// word makes the notice, and reports whether it saves enough. That must not depend on whether
// the path will need a suffix: otherwise a result that stays today would be cleared tomorrow.
func (w *wording) word(r *old) bool {
	if len(r.values) > 0 {
		args := w.withReferences(r.call.args, r.values)
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
