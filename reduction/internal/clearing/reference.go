// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// References: texts in place of long values in the arguments of old calls, and in place of media. A reference
// replaces a whole value, and the arguments stay valid JSON: a model that sees truncated arguments learns to
// write the mark of the truncation into files.

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
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// renderer makes the texts that replace content. It is immutable.
type renderer struct {
	root             string // RootDir of the configuration
	maxArgumentBytes int    // see Decider.MaxArgumentBytes
	notices          *notice.Texts
	data             notice.Data // common to all notices
}

// dataFor returns the data of a notice about the content at a path.
func (r *renderer) dataFor(filePath string) notice.Data {
	data := r.data
	if data.CanPass && !offload.IsDefaultPath(r.root, filePath) {
		data.CanPass, data.Hint = false, ""
	}
	data.Path = filePath
	return data
}

// reference is a text in place of stored content: of a long value in the arguments of a call, or of a medium.
type reference struct {
	path          string       // where the content is; a medium is stored as JSON
	item          offload.Item // what to store
	alreadyStored bool         // storing has shown that the content was there before
	text          string       // in place of the content

	medium     *rounds.Medium // nil for a value
	start, end int            // the position of a value's JSON in the arguments
}

// argumentReferences makes references to the long values of a call, none if they must stay.
func (r *renderer) argumentReferences(c *Candidate) (refs []reference) {
	if len(c.Call.Args) <= r.maxArgumentBytes || !c.Policy.MayReplaceParts() {
		return nil
	}
	callPath := offload.DefaultPath(r.root, offload.ClearDir, c.Call.ID)
	longest := r.withText(reference{path: callPath + offload.Padding + offload.Padding, end: 1 << 30})
	for i, v := range notice.Values(c.Call.Args, max(r.maxArgumentBytes, len(longest.text))) {
		ref := reference{start: v.Start, end: v.End}
		refs = append(refs, r.planned(ref, c.Policy.Store, fmt.Sprintf("%s%s%d", callPath, notice.ArgMark, i+1), v.Content))
	}
	return refs
}

// mediaReferences makes references to media, except for those that cannot be stored.
func (r *renderer) mediaReferences(media []*rounds.Medium, store *offload.Store) (refs []reference) {
	for _, m := range media {
		content, err := json.Marshal(m.Output)
		if err != nil {
			continue // a value in Extra cannot be encoded
		}
		filePath := path.Join(r.root, offload.ClearDir, notice.MediaName+offload.SumOf(string(content)))
		refs = append(refs, r.planned(reference{medium: m}, store, filePath, string(content)))
	}
	return refs
}

// planned completes a reference with the path that its content will probably get.
func (r *renderer) planned(ref reference, store *offload.Store, filePath, content string) reference {
	ref.item = offload.Item{Store: store, Content: content}
	ref.item.At, ref.path, _ = store.Plan(offload.Place{Path: filePath}, content)
	return r.withText(ref)
}

// withText returns a reference with its text, which in arguments is a JSON string.
func (r *renderer) withText(ref reference) reference {
	data := r.dataFor(ref.path)
	if ref.medium == nil {
		data.Bytes = ref.end - ref.start
		ref.text = display.Quoted(r.notices.Fill(r.notices.Argument, data))
		return ref
	}
	data.CanPass, data.Hint = false, "" // arguments take texts
	data.Bytes, data.Medium = len(ref.item.Content), string(ref.medium.Output.Type)
	if m := message.MediumOf(ref.medium.Output); isShowableType(m.MIMEType) {
		data.Medium = cmp.Or(m.MIMEType, data.Medium)
	}
	ref.text = r.notices.Fill(r.notices.Medium, data)
	return ref
}

// maxMediaType is how many bytes of a medium's type a reference shows at most.
const maxMediaType = 64

func isShowableType(mimeType string) bool {
	return len(mimeType) <= maxMediaType && notice.Showable(mimeType) && !strings.ContainsAny(mimeType, "<>{}")
}

// excerpt makes a notice of at most limit bytes with the start and the end of a result.
func (r *renderer) excerpt(plan Plan, data notice.Data, limit int) (string, bool) {
	c := plan.Candidate
	if !c.Notice.IsExcerpt() || plan.file.path != c.Notice.Path {
		text := strings.Join(c.Result.Texts, "")
		_, ok := r.notices.Room(len(text), data, limit)
		return r.notices.RenderExcerpt(text, data, limit), ok
	}
	data.Bytes = max(c.Notice.Bytes, c.Size)
	return r.notices.Reshorten(c.Result.Texts, data, limit)
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

// savedByReferences is how many tokens references to media save.
func savedByReferences(media []reference) int {
	saved := tokencount.OfMedia(len(media))
	for _, ref := range media {
		saved -= tokens.Of(ref.text)
	}
	return saved
}

// referenceTokens is about how many tokens a reference to a medium has.
const referenceTokens = 60

// mediaSaving is about how many tokens a reference to a medium saves.
func mediaSaving() int { return tokencount.OfMedia(1) - referenceTokens }
