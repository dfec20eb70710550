// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The texts that replace results, in both languages; and
// those in place of long values in the arguments of old calls, and of images, audio, video and
// files. A reference replaces a value whole, and the arguments stay valid JSON: a model that sees
// cut arguments learns to write the mark of the cut into files.

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/language"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/vault"
)

//go:embed notice
var noticeFiles embed.FS

var noticeTexts = texts.Load(noticeFiles, "notice")

// notices are the notices of one language.
type notices struct {
	cleared     template // an old result, stored
	page        template // an old page of the read tool
	longPage    template // a page that the window cannot hold
	repeated    template // a result that equals a visible one
	argument    template // a long value in the arguments of an old call
	placeholder template // an old result, not stored
	truncated   template // a finished result that is too long
	stream      template // the end of a stream that is too long
	unsaved     template // the same, if it could not be stored
	previewed   template // a finished result that a Preview shortened
	found       template // the end of a stream with errors in it
	medium      template // an image, a sound, a film or a file
	hint        template // which tool to read it with
	hintQuery   template // the same, for one that finds passages
}

var (
	english = parseNotices(noticeTexts.English())
	chinese = parseNotices(noticeTexts.Chinese())
)

func parseNotices(t *texts.Texts) *notices {
	return &notices{
		cleared:     t.Pieces("cleared"),
		page:        t.Pieces("page"),
		longPage:    t.Pieces("longpage"),
		repeated:    t.Pieces("repeated"),
		argument:    t.Pieces("argument"),
		placeholder: t.Pieces("placeholder"),
		truncated:   t.Pieces("truncated"),
		stream:      t.Pieces("stream"),
		unsaved:     t.Pieces("unsaved"),
		previewed:   t.Pieces("previewed"),
		found:       t.Pieces("found"),
		medium:      t.Pieces("medium"),
		hint:        t.Pieces("hint"),
		hintQuery:   t.Pieces("hintquery"),
	}
}

// currentNotices are the notices of the current language.
func currentNotices() *notices {
	if language.Chinese() {
		return chinese
	}
	return english
}

// fill makes a notice. Without a tool, the notice does not mention one.
func (w *notices) fill(f template, v noticeData) string {
	v.head, v.tail, v.shown = defused(v.head), defused(v.tail), defused(v.shown)
	return f.fill(w.hinted(v))
}

// defused makes a piece of tool output safe for a notice, at the same length: bytes that
// are not UTF-8 become question marks, and anything like the end or the start of a
// notice is changed.
func defused(s string) string {
	if s = display.Valid(s); strings.Contains(s, envelopeName) {
		return defuse.Replace(s)
	}
	return s
}

var defuse = strings.NewReplacer(openTag, "["+openTag[1:], closeTag, "["+closeTag[1:])

func (w *notices) hinted(v noticeData) noticeData {
	if v.tool != "" && v.hint == "" {
		hint := w.hint
		if v.finds {
			hint = w.hintQuery
		}
		v.hint = hint.fill(v)
	}
	return v
}

// minExcerpt is how many bytes of a result are worth showing.
const minExcerpt = 40

// charSlack is how much an excerpt can grow to avoid splitting a character.
const charSlack = 4

// room is how many bytes of a result of size bytes a notice of at most limit
// bytes can show. ok is false if not even the notice fits.
func (w *notices) room(size int, v noticeData, limit int) (n int, ok bool) {
	v.bytes, v.headBytes, v.tailBytes = size, size, size
	v = w.hinted(v)
	if n = limit - w.truncated.length(v); n >= minExcerpt {
		return n, true
	}
	return 0, w.cleared.length(v) <= limit
}

// excerpt makes a notice of at most limit bytes about text, with as much of its start
// and end as fits. room reports whether any fits.
func (w *notices) excerpt(text string, v noticeData, limit int) string {
	v.bytes = len(text)
	room, _ := w.room(len(text), v, limit)
	if room == 0 {
		return w.fill(w.cleared, v)
	}
	head := lineEnd(text, display.Floor(text, room/2))
	tail := lineStart(text, display.Ceil(text, max(head, len(text)-(room-head))))
	v.head, v.headBytes = text[:head], head
	v.tail, v.tailBytes = text[tail:], len(text)-tail
	return w.fill(w.truncated, v)
}

// shortened makes a notice of at most limit bytes about a result of size bytes, with the
// text that show makes for the remaining room. It is empty if show returns nothing.
func (w *notices) shortened(size int, v noticeData, limit int, show func(room int) string) string {
	v.bytes = size
	if v.shown = show(limit - w.previewed.length(w.hinted(v))); v.shown == "" {
		return ""
	}
	return w.fill(w.previewed, v)
}

// ending makes the end of a stream of which the first v.headBytes bytes were passed on:
// a notice of at most limit bytes, with as much of the end of tail as fits. ok is false
// if not even the notice fits.
func (w *notices) ending(f template, v noticeData, tail string, limit int) (notice string, ok bool) {
	v.tailBytes = len(tail)
	room := limit - f.length(w.hinted(v))
	if room < 0 {
		return "", false
	}
	from := display.Ceil(tail, max(0, len(tail)-room))
	v.tail, v.tailBytes = tail[from:], len(tail)-from
	return w.fill(f, v), true
}

// joined is the content that is stored for texts: they are concatenated without
// separators. Each can then be found whole, and a stream, which an agentic message keeps
// as one text per chunk, is stored as the tool sent it.
func joined(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	return strings.Join(texts, "")
}

// showable reports whether a path can be in a notice: it is one line of text, is
// distinct from the end of the notice, and can be found again.
func showable(p string) bool {
	if p == "" || len(p) > maxPath || !utf8.ValidString(p) || strings.Contains(p, envelopeName) {
		return false
	}
	return !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' })
}

// noticeData is the data of a notice. Empty fields are left out of its text.
type noticeData struct {
	bytes, headBytes, tailBytes int
	path, tool                  string
	head, tail, shown           string
	finds                       bool   // the tool finds passages
	call                        string // an earlier one
	medium                      string // its type
	hint                        string // set by hinted
}

// template is a notice with fields. It is immutable.
type template []texts.Piece

// fill replaces the fields by noticeData. It does not expand fields in the inserted
// text.
func (f template) fill(v noticeData) string {
	var b strings.Builder
	var digits [20]byte
	b.Grow(f.length(v))
	for _, p := range f {
		b.WriteString(p.Text)
		if text, n := v.field(p.Field); n != nil {
			b.Write(strconv.AppendInt(digits[:0], int64(*n), 10))
		} else {
			b.WriteString(*text)
		}
	}
	return b.String()
}

// length is the length of what fill returns, in bytes.
func (f template) length(v noticeData) (length int) {
	var digits [20]byte
	for _, p := range f {
		length += len(p.Text)
		if text, n := v.field(p.Field); n != nil {
			length += len(strconv.AppendInt(digits[:0], int64(*n), 10))
		} else {
			length += len(*text)
		}
	}
	return length
}

// field is the text or the number in the field of a name.
func (v *noticeData) field(name string) (text *string, number *int) {
	switch name {
	case "bytes":
		return nil, &v.bytes
	case "headBytes":
		return nil, &v.headBytes
	case "tailBytes":
		return nil, &v.tailBytes
	case "path":
		return &v.path, nil
	case "tool":
		return &v.tool, nil
	case "head":
		return &v.head, nil
	case "tail":
		return &v.tail, nil
	case "shown":
		return &v.shown, nil
	case "hint":
		return &v.hint, nil
	case "call":
		return &v.call, nil
	case "medium":
		return &v.medium, nil
	}
	return &noText, nil
}

var noText string // of the end of a template, which has no field

// lineShare is the share of an excerpt that may be dropped to end it with a whole line:
// a quarter.
const lineShare = 4

// lineEnd moves n back to the end of a line, if there is one nearby.
func lineEnd(s string, n int) int {
	from := n - n/lineShare
	if i := strings.LastIndexByte(s[from:n], '\n'); i >= 0 {
		return from + i + 1
	}
	return n
}

// lineStart moves n forward to the start of a line, if there is one nearby.
func lineStart(s string, n int) int {
	near := s[n : n+(len(s)-n)/lineShare]
	if i := strings.IndexByte(near, '\n'); i >= 0 {
		return n + i + 1
	}
	return n
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
func (w *wording) arguments(c call, over int, store *vault.Store) []*reference {
	file := vault.DefaultPath(w.root, vault.ClearDir, c.id)
	longest := &reference{path: file + vault.Padding + vault.Padding, to: 1 << 30}
	w.mention(longest)
	values := longValues(c.args, max(over, len(longest.text)))
	for i, v := range values {
		v.content = decoded(c.args[v.from:v.to])
		w.plan(v, store, fmt.Sprintf("%s%s%d", file, argMark, i+1))
	}
	return values
}

// attached completes references to media, and drops those that cannot be stored.
func (w *wording) attached(media []*reference, store *vault.Store) []*reference {
	out := media[:0:0]
	for _, r := range media {
		content, err := json.Marshal(r.medium)
		if err != nil {
			continue // a value in Extra cannot be encoded
		}
		r.content = string(content)
		w.plan(r, store, path.Join(w.root, vault.ClearDir, mediaName+vault.SumOf(r.content)))
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
	data.path = r.path
	if r.medium == nil {
		data.bytes = r.to - r.from
		r.text = display.Quoted(w.notices.fill(w.notices.argument, data))
		return
	}
	data.bytes, data.medium = len(r.content), string(r.medium.Type)
	data.finds, data.hint = false, ""
	if c := message.MediumOf(r.medium); len(c.MIMEType) <= maxMediaType && showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
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
	if r.item.Store != nil && !r.certain {
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
	fits := r.size * r.most / max(r.tokens, 1)
	if r.page {
		// The model has not seen the page: it must ask for less, with room for what it asks.
		data.bytes, data.headBytes = r.size, max(minShown, fits*3/4)
		r.instead.text = w.notices.fill(w.notices.longPage, data)
		r.after = len(r.instead.text)
		return r.after < r.size
	}
	limit := min(r.size-1, max(minShown, fits))
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
	at      vault.Place
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

// mediaSaved estimates the tokens that references to media save.
func mediaSaved(media []*reference) (n int) {
	for _, a := range media {
		n += mediaTokens - tokens.Of(a.text)
	}
	return n
}
