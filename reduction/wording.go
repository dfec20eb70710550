// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The texts in place of results, of long values in the arguments of old calls, and of images, audio,
// video and files. A reference replaces a value whole, and the arguments stay valid JSON: a model that
// sees cut arguments learns to write the mark of the cut into files.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/size"
	"github.com/einolean/einolean/reduction/internal/vault"
)

// wording makes the texts that replace results, values in arguments, and media. It is
// immutable.
type wording struct {
	notices *notice.Texts
	data    notice.Data // common to all notices
	root    string      // of the store
	least   int         // the least bytes that a notice in place of a result saves
}

// arguments makes references to the values of a call's arguments that are longer than a
// number of bytes.
func (w *wording) arguments(c rounds.Call, over int, store *vault.Store) []*reference {
	file := vault.DefaultPath(w.root, vault.ClearDir, c.ID)
	longest := &reference{path: file + vault.Padding + vault.Padding, to: 1 << 30}
	w.mention(longest)
	var out []*reference
	for i, v := range notice.Values(c.Args, max(over, len(longest.text))) {
		r := &reference{content: v.Content, from: v.From, to: v.To}
		w.plan(r, store, fmt.Sprintf("%s%s%d", file, notice.ArgMark, i+1))
		out = append(out, r)
	}
	return out
}

// attached completes references to media, and drops those that cannot be stored.
func (w *wording) attached(media []*reference, store *vault.Store) []*reference {
	out := media[:0:0]
	for _, r := range media {
		content, err := json.Marshal(r.medium.Out)
		if err != nil {
			continue // a value in Extra cannot be encoded
		}
		r.content = string(content)
		w.plan(r, store, path.Join(w.root, vault.ClearDir, notice.MediaName+vault.SumOf(r.content)))
		out = append(out, r)
	}
	return out
}

// plan makes the text of a reference, with the path that its content will probably get.
func (w *wording) plan(r *reference, store *vault.Store, filePath string) {
	r.at, r.path, _ = store.Plan(vault.Place{Path: filePath}, r.content)
	w.mention(r)
}

// mention makes the text of a reference, which in arguments is a JSON string.
func (w *wording) mention(r *reference) {
	data := w.data
	data.Path = r.path
	if r.medium == nil {
		data.Bytes = r.to - r.from
		r.text = display.Quoted(w.notices.Fill(w.notices.Argument, data))
		return
	}
	data.Bytes, data.Medium = len(r.content), string(r.medium.Out.Type)
	data.Finds, data.Hint = false, ""
	if c := message.MediumOf(r.medium.Out); len(c.MIMEType) <= maxMediaType && notice.Showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
		data.Medium = cmp.Or(c.MIMEType, data.Medium)
	}
	r.text = w.notices.Fill(w.notices.Medium, data)
	r.medium.Text = r.text
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
		args := withReferences(r.Call.Args, r.values)
		r.args = &args
	}
	switch {
	case r.instead.Keep:
		return true
	case r.most > 0:
		return w.shorten(r)
	}
	data := w.data
	data.Bytes, data.Path, data.Call = r.bytes, r.path, r.like
	f, longest := w.notices.Cleared, 0
	switch {
	case r.like != "":
		f = w.notices.Repeated
	case r.path == "":
		f = w.notices.Placeholder
	case r.page:
		f = w.notices.Page
	}
	if r.item.Store != nil && !r.certain {
		longest = len(vault.Padding)
	}
	r.instead.Text = w.notices.Fill(f, data)
	r.after = len(r.instead.Text)
	return r.size-r.after-longest >= w.least
}

// minShown is how many bytes of a result always stay when it must fit the window.
const minShown = 1000

// shorten makes the notice with as much of a result as fits, and reports whether it is
// shorter than the result.
func (w *wording) shorten(r *old) bool {
	data := w.data
	data.Path = r.path
	fits := r.size * r.most / max(r.tokens, 1)
	if r.page {
		// The model has not seen the page: it must ask for less, with room for what it asks.
		data.Bytes, data.HeadBytes = r.size, max(minShown, fits*3/4)
		r.instead.Text = w.notices.Fill(w.notices.LongPage, data)
		r.after = len(r.instead.Text)
		return r.after < r.size
	}
	limit := min(r.size-1, max(minShown, fits))
	for {
		text, ok := w.excerptOf(r, data, limit)
		if !ok {
			return false
		}
		if limit <= minShown || tokens.Of(text) <= r.most {
			r.instead.Text, r.after = text, len(text)
			return r.after < r.size
		}
		limit = max(minShown, limit*3/4)
	}
}

// excerptOf makes a notice of at most limit bytes with the start and the end of a result.
func (w *wording) excerptOf(r *old, data notice.Data, limit int) (string, bool) {
	if !r.notice.Cut() || r.path != r.notice.Path {
		text := strings.Join(r.Result.Texts, "")
		_, ok := w.notices.Room(len(text), data, limit)
		return w.notices.Excerpt(text, data, limit), ok
	}
	data.Bytes = max(r.notice.Bytes, r.size)
	return w.notices.Again(r.Result.Texts, data, limit)
}

const (
	// mediaSaving is about how many tokens a reference saves.
	mediaSaving = size.Medium - 60

	// maxMediaType is the most bytes of a medium's type that a reference shows.
	maxMediaType = 64
)

// reference is a text in place of stored content: of a long value in the arguments of a call, or
// of a medium, which is an image, a sound, a film or a file.
type reference struct {
	content string // as it is stored: a medium is JSON, to restore it from
	at      vault.Place
	path    string // the file or its future name
	existed bool   // it was there already
	text    string // in place of the content

	from, to int // the position of a value's JSON in the arguments

	medium *rounds.Medium // nil: it is a value
}

// mediaSaved estimates the tokens that references to media save.
func mediaSaved(media []*reference) (n int) {
	for _, a := range media {
		n += size.Medium - tokens.Of(a.text)
	}
	return n
}
