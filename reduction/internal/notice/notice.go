// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

// The notices in both languages, and how they are rendered.

import (
	"embed"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
)

//go:embed notice
var noticeFiles embed.FS

var noticeTexts = prompt.Load(noticeFiles, "notice")

// Texts are the notices of one language.
type Texts struct {
	Cleared          template // an old result, stored
	Page             template // an old page of the read tool
	LongPage         template // a page that the window cannot hold
	Duplicate        template // a result that equals a visible one
	Argument         template // a long value in the arguments of an old call
	Placeholder      template // an old result, not stored
	Truncated        template // a finished result that is too long
	Stream           template // the end of a stream that is too long
	Unsaved          template // the same, if it could not be stored
	Previewed        template // a finished result that a Preview shortened
	StreamWithErrors template // the end of a stream with errors in it
	Medium           template // an image, audio, video or a file
	Hint             template // which tool to read it with
	HintQuery        template // the same, for one that finds passages
	HintPass         template // how to pass the whole content to a tool
	Unresolved       template // the answer to a call with a notice as an argument
	Lost             template // the same, if the content was not stored
}

var (
	english = parseNotices(noticeTexts.English())
	chinese = parseNotices(noticeTexts.Chinese())
)

func parseNotices(t *prompt.Texts) *Texts {
	return &Texts{
		Cleared:          t.Pieces("cleared"),
		Page:             t.Pieces("page"),
		LongPage:         t.Pieces("longpage"),
		Duplicate:        t.Pieces("repeated"),
		Argument:         t.Pieces("argument"),
		Placeholder:      t.Pieces("placeholder"),
		Truncated:        t.Pieces("truncated"),
		Stream:           t.Pieces("stream"),
		Unsaved:          t.Pieces("unsaved"),
		Previewed:        t.Pieces("previewed"),
		StreamWithErrors: t.Pieces("found"),
		Medium:           t.Pieces("medium"),
		Hint:             t.Pieces("hint"),
		HintQuery:        t.Pieces("hintquery"),
		HintPass:         t.Pieces("hintpass"),
		Unresolved:       t.Pieces("unresolved"),
		Lost:             t.Pieces("lost"),
	}
}

// Current are the notices of the current language.
func Current() *Texts {
	if prompt.Chinese() {
		return chinese
	}
	return english
}

// Fill renders a notice. It mentions a read tool only if the data has one.
func (t *Texts) Fill(f template, v Data) string {
	v.head, v.tail, v.Preview = Sanitize(v.head), Sanitize(v.tail), Sanitize(v.Preview)
	return f.fill(t.WithHint(v))
}

// Sanitize makes a piece of tool output safe for a notice, at the same length: bytes that are not UTF-8 become
// question marks, and tags of a notice are changed.
func Sanitize(s string) string {
	if s = display.Valid(s); strings.Contains(s, envelopeName) {
		return defuse.Replace(s)
	}
	return s
}

var defuse = strings.NewReplacer(openTag, "["+openTag[1:], closeTag, "["+closeTag[1:])

// WithHint returns the data of a notice with the hint which tool to read with, if there is one, and how to pass the
// content on, if that is possible.
func (t *Texts) WithHint(v Data) Data {
	if v.Hint != "" {
		return v
	}
	if v.Tool != "" {
		hint := t.Hint
		if v.CanSearch {
			hint = t.HintQuery
		}
		v.Hint = hint.fill(v)
	}
	if v.CanPass {
		v.Hint = strings.TrimPrefix(v.Hint+"\n"+t.HintPass.fill(v), "\n")
	}
	return v
}

// Refuse renders the answer to a call with an argument that stands for content at a path, empty if it was not stored.
func (t *Texts) Refuse(filePath string) string {
	if !Showable(filePath) {
		return t.Lost.fill(Data{})
	}
	return t.Unresolved.fill(Data{Path: filePath})
}

// minExcerpt is how many bytes of a result are worth showing.
const minExcerpt = 40

// Room is how many bytes of a result of size bytes a notice of at most limit bytes can show. ok is false if not even
// the notice fits.
func (t *Texts) Room(size int, v Data, limit int) (n int, ok bool) {
	v.Bytes, v.HeadBytes, v.TailBytes = size, size, size
	v = t.WithHint(v)
	if n = limit - t.Truncated.Length(v); n >= minExcerpt {
		return n, true
	}
	return 0, t.Cleared.Length(v) <= limit
}

// RenderExcerpt renders a notice of at most limit bytes about text, with as much of its start and end as fits.
func (t *Texts) RenderExcerpt(text string, v Data, limit int) string {
	v.Bytes = len(text)
	room, _ := t.Room(len(text), v, limit)
	if room == 0 {
		return t.Fill(t.Cleared, v)
	}
	head := lineEnd(text, display.Floor(text, room/2))
	tail := lineStart(text, display.Ceil(text, max(head, len(text)-(room-head))))
	v.head, v.HeadBytes = text[:head], head
	v.tail, v.TailBytes = text[tail:], len(text)-tail
	return t.Fill(t.Truncated, v)
}

// RenderPreview renders a notice of at most limit bytes about a result of size bytes, with the text that preview
// returns for the remaining room. It is empty if preview returns nothing.
func (t *Texts) RenderPreview(size int, v Data, limit int, preview func(room int) string) string {
	v.Bytes = size
	room := limit - t.Previewed.Length(t.WithHint(v))
	if room < minExcerpt {
		return ""
	}
	if v.Preview = preview(room); v.Preview == "" {
		return ""
	}
	return t.Fill(t.Previewed, v)
}

// RenderStreamEnd renders the end of a stream of which the first v.HeadBytes bytes were passed on: a notice of at
// most limit bytes, with as much of the end of tail as fits. ok is false if not even the notice fits.
func (t *Texts) RenderStreamEnd(f template, v Data, tail string, limit int) (notice string, ok bool) {
	v.TailBytes = len(tail)
	room := limit - f.Length(t.WithHint(v))
	if room < 0 {
		return "", false
	}
	from := display.Ceil(tail, max(0, len(tail)-room))
	v.tail, v.TailBytes = tail[from:], len(tail)-from
	return t.Fill(f, v), true
}

// Showable reports whether a path can be in a notice: it is one line of text, and parsing finds it again.
func Showable(p string) bool {
	if p == "" || len(p) > MaxPath || !utf8.ValidString(p) || strings.Contains(p, envelopeName) {
		return false
	}
	return !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' })
}

// Data is the data of a notice. Empty fields are left out of its text.
type Data struct {
	Bytes, HeadBytes, TailBytes int
	Path, Tool                  string
	head, tail, Preview         string
	CanSearch                   bool   // the tool finds passages
	CanPass                     bool   // the path stands for the content as an argument
	Call                        string // the earlier call with an equal result
	Medium                      string // the type of a medium
	Hint                        string // set by WithHint
}

// template is a notice with fields. It is immutable.
type template []prompt.Piece

// fill replaces the fields by the data. It does not expand fields in the inserted text.
func (f template) fill(v Data) string {
	var b strings.Builder
	var digits [20]byte
	b.Grow(f.Length(v))
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

// Length is the length of what fill returns, in bytes.
func (f template) Length(v Data) (length int) {
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
func (v *Data) field(name string) (text *string, number *int) {
	switch name {
	case "bytes":
		return nil, &v.Bytes
	case "headBytes":
		return nil, &v.HeadBytes
	case "tailBytes":
		return nil, &v.TailBytes
	case "path":
		return &v.Path, nil
	case "tool":
		return &v.Tool, nil
	case "head":
		return &v.head, nil
	case "tail":
		return &v.tail, nil
	case "shown":
		return &v.Preview, nil
	case "hint":
		return &v.Hint, nil
	case "call":
		return &v.Call, nil
	case "medium":
		return &v.Medium, nil
	}
	return &noText, nil
}

var noText string // of the end of a template, which has no field

// Reshorten renders a notice of at most limit bytes from texts with a notice that shows more of the same file. The
// file has v.Bytes bytes.
func (t *Texts) Reshorten(texts []string, v Data, limit int) (text string, ok bool) {
	if shown, ok := previewIn(texts); ok {
		room := limit - t.Previewed.Length(t.WithHint(v))
		v.Preview = shown[:lineEnd(shown, display.Floor(shown, max(0, room)))]
		return t.Fill(t.Previewed, v), room >= minExcerpt
	}
	room, ok := t.Room(v.Bytes, v, limit)
	if !ok {
		return "", false
	}
	head, tail, found := Excerpt(texts)
	if !found {
		head, _ = StreamedText(texts)
	}
	v.head = head[:display.Floor(head, min(len(head), room/2))]
	v.tail = tail[display.Ceil(tail, max(0, len(tail)-(room-len(v.head)))):]
	v.HeadBytes, v.TailBytes = len(v.head), len(v.tail)
	return t.Fill(t.Truncated, v), true
}

// lineShare is the share of an excerpt that may be dropped to end it with a whole line: a quarter.
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

// decodeString returns the text of a JSON string, or the JSON of any other value. A string whose decoding loses data
// stays JSON.
func decodeString(value string) string {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil || strings.ContainsRune(s, utf8.RuneError) {
		return value
	}
	return s
}

// value is a value in the arguments of a call, and where its JSON is.
type value struct {
	Start, End int
	Content    string // the text of a string, or JSON
}

// Values finds the values in a JSON object that are longer than a number of bytes: strings, and lists and objects
// that are too long even without their long strings.
func Values(args string, maxBytes int) (found []value) {
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
		whole := value{Start: from, End: int(d.InputOffset())}
		if isReference(args[whole.Start:whole.End]) {
			references++
			return
		}
		left := whole.End - whole.Start
		for _, f := range found[before:] {
			left -= f.End - f.Start
		}
		if depth > 0 && left > maxBytes && references == had {
			found = append(found[:before], whole)
		}
	}
	walk(0)
	for i := range found {
		found[i].Content = decodeString(args[found[i].Start:found[i].End])
	}
	return found
}
