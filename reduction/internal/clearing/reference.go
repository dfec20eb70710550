// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// The texts in place of long values in the arguments of old calls, and of images, audio, video and
// files. A reference replaces a value whole, and the arguments stay valid JSON: a model that
// sees cut arguments learns to write the mark of the cut into files.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// wording makes the texts that replace something. It is immutable.
type renderer struct {
	root             string // of the store
	maxArgumentBytes int    // the most bytes that a value in the arguments of an old call has; zero: any
	notices          *notice.Texts
	data             notice.Data // common to all notices
}

// reference is a text in place of stored content: of a long value in the arguments of a call, or
// of a medium, which is an image, a sound, a film or a file.
type reference struct {
	file                  // where the content is: a medium is JSON, to restore it from
	text   string         // in place of the content
	medium *rounds.Medium // nil: it is a value

	start, end int // the position of a value's JSON in the arguments
}

// valuesOf makes references to the long values of a result's call, none if they stay.
func (w *renderer) argumentReferences(r *Candidate) (out []reference) {
	over := w.maxArgumentBytes
	if len(r.Call.Args) <= over || !r.Policy.MayReplaceParts() {
		return nil
	}
	name := offload.DefaultPath(w.root, offload.ClearDir, r.Call.ID)
	longest := w.render(reference{file: file{path: name + offload.Padding + offload.Padding}, end: 1 << 30})
	for i, v := range notice.Values(r.Call.Args, max(over, len(longest.text))) {
		each := reference{start: v.Start, end: v.End}
		out = append(out, w.newReference(each, r.Policy.Store, fmt.Sprintf("%s%s%d", name, notice.ArgMark, i+1), v.Content))
	}
	return out
}

// references makes references to media, but for those that cannot be stored.
func (w *renderer) mediaReferences(media []*rounds.Medium, store *offload.Store) (out []reference) {
	for _, m := range media {
		content, err := json.Marshal(m.Output)
		if err != nil {
			continue // a value in Extra cannot be encoded
		}
		name := path.Join(w.root, offload.ClearDir, notice.MediaName+offload.SumOf(string(content)))
		out = append(out, w.newReference(reference{medium: m}, store, name, string(content)))
	}
	return out
}

// planned completes a reference, with the path that its content will probably get.
func (w *renderer) newReference(r reference, store *offload.Store, filePath, content string) reference {
	r.item = offload.Item{Store: store, Content: content}
	r.item.At, r.path, r.pathCertain = store.Plan(offload.Place{Path: filePath}, content)
	return w.render(r)
}

// worded returns a reference with its text, which in arguments is a JSON string.
func (w *renderer) render(r reference) reference {
	data := w.data
	data.Path = r.path
	if r.medium == nil {
		data.Bytes = r.end - r.start
		r.text = display.Quoted(w.notices.Fill(w.notices.Argument, data))
		return r
	}
	data.Bytes, data.Medium = len(r.item.Content), string(r.medium.Output.Type)
	data.CanSearch, data.Hint = false, ""
	if c := message.MediumOf(r.medium.Output); len(c.MIMEType) <= maxMediaType && notice.Showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
		data.Medium = cmp.Or(c.MIMEType, data.Medium)
	}
	r.text = w.notices.Fill(w.notices.Medium, data)
	return r
}

// withReferences returns arguments with references in place of values.
func withReferences(args string, values []reference) string {
	var b strings.Builder
	end := 0
	for _, v := range values {
		b.WriteString(args[end:v.start])
		b.WriteString(v.text)
		end = v.end
	}
	b.WriteString(args[end:])
	return b.String()
}

const (
	// mediaSaving is about how many tokens a reference saves.
	mediaSaving = tokencount.MediaTokens - 60

	// maxMediaType is the most bytes of a medium's type that a reference shows.
	maxMediaType = 64
)
