// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package preview writes what is shown of a text that is too long to be shown: by its
// format, in a given room.
//
// The formats, in the order in which they are looked for, after MCP results and JSON
// strings have been looked through:
//
//   - JSON: the list of records that it is about as a table, with what all records share
//     said once; where there is no such list its start, closed, so that it parses
//   - HTML and page snapshots: their text as an outline
//   - test and log output: errors, summaries, and each kind of line once; also where JSON
//     lines record it, as those of go test -json do
//   - a history as git log prints it: a line for each commit
//   - text: its start and its end, and lines between them that look like errors
//
// A format that is not certain is text. A preview depends on its request alone. It is
// valid UTF-8 of at most Room bytes, whatever the text is, and takes time in proportion to
// the text, of which the middle is only searched for errors.
package preview

import (
	"embed"
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/texts"
)

// Format is what a text turned out to be.
type Format string

// The formats.
const (
	JSON Format = "json"
	HTML Format = "html"
	Page Format = "page"
	Test Format = "test"
	Log  Format = "log"
	Text Format = "text"
)

// Request is a text to be previewed.
type Request struct {
	Text      string
	Room      int    // most bytes of the preview
	Arguments string // of the call that returned the text
	Question  string // what the user and the model said before the call
	Chinese   bool   // the language of the preview's own words
}

// Make returns a preview and the format of the text that it shows: of an MCP result, that
// of the text in it.
func Make(r Request) (string, Format) {
	if r.Room <= 0 {
		return "", Text
	}
	m := r.maker()
	if len(r.Text) <= r.Room {
		return display.Valid(r.Text), Text
	}
	return m.make(r.Text, r.Room)
}

// HeadTail returns the start and the end of a text.
func HeadTail(r Request) string {
	m := r.maker()
	if len(r.Text) <= r.Room {
		return display.Valid(r.Text)
	}
	return display.Valid(headTail(r.Text, r.Room, m.say))
}

func (r Request) maker() *maker {
	m := &maker{say: english, query: r.Question + "\n" + r.Arguments}
	if r.Chinese {
		m.say = chinese
	}
	return m
}

// maker makes one preview.
type maker struct {
	say    labels
	query  string
	layers int // wrappings that were looked through
}

// make previews a text in at most room bytes.
func (m *maker) make(text string, room int) (string, Format) {
	if room <= 0 {
		return "", Text
	}
	if d, ok := scan(text); ok {
		if m.layers < maxLayers {
			if e, ok := envelopeIn(d); ok && room > 4*minPart {
				return showEnvelope(m, e, room)
			}
			if log, ok := recordedLog(d); ok && room > 4*minPart {
				return m.inside("recorded", log, room)
			}
		}
		return showJSON(m, d, room), JSON
	}
	if inner, ok := jsonString(text); ok && m.layers < maxLayers {
		if room > len(m.say.say("string"))+1+minPart {
			return m.inside("string", inner, room)
		}
	}
	return showText(m, text, room)
}

// inside previews a text that stands inside another one, which a label says.
func (m *maker) inside(label, text string, room int) (string, Format) {
	frame := m.say.say(label) + "\n"
	inner := *m
	inner.layers++
	shown, f := inner.make(text, room-len(frame))
	return frame + shown, f
}

// jsonString is the text that a JSON string stands for, which all of text is.
func jsonString(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '"' || len(text) > maxJSON {
		return "", false
	}
	if end, ok := jsontext.StringEnd(text, 0); !ok || end != len(text) {
		return "", false
	}
	return jsontext.Unescape(text[1 : len(text)-1]), true
}

// labelFiles holds the few words of previews that are not the tool's: one file for each
// language, with {n} where a number goes.
//
//go:embed text
var labelFiles embed.FS

var (
	labelTexts = texts.Load(labelFiles, "text")

	english = labelsOf(labelTexts.English())
	chinese = labelsOf(labelTexts.Chinese())
)

// labels are the words of one language. They never change.
type labels map[string]string

// labelsOf renders the texts once: a preview has many of them.
func labelsOf(t *texts.Texts) labels {
	l := make(labels)
	for _, name := range t.Names() {
		l[name] = t.Say(name, nil)
	}
	return l
}

// say returns the words of a name. It panics if there are none, which a test finds.
func (l labels) say(name string) string {
	words, ok := l[name]
	if !ok {
		panic("preview: no words for " + name)
	}
	return words
}

// with returns the words of a name with a number in them.
func (l labels) with(name string, n int) string {
	return strings.Replace(l.say(name), "{n}", strconv.Itoa(n), 1)
}

// key is the key of a member with its colon.
func (l labels) key(name string) string { return `"` + l.say(name) + `":` }

func (l labels) value(name string) string { return `"` + l.say(name+" value") + `"` }

// rows says how many rows are missing.
func (l labels) rows(n int) string { return `"` + l.with("more rows", n) + `"` }

// gap says how many lines are missing, or how many bytes of a line.
func (l labels) gap(lines, bytes int) string {
	switch {
	case lines == 1:
		return l.say("gap one")
	case lines > 1:
		return l.with("gap", lines)
	}
	return l.with("gap bytes", bytes)
}
