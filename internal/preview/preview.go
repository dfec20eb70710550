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
// Of text, tests and logs a first line says how many lines there are and which of them are shown. Terminal
// escapes are left out, and of long base64 only the size is shown.
//
// A format that is not certain is text. A preview depends on its request alone. It is
// valid UTF-8 of at most Room bytes, whatever the text is, and takes time in proportion to
// the text, of which the middle is only searched for errors.
package preview

import (
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
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
	if len(r.Text) <= r.Room {
		return display.Valid(r.Text), Text
	}
	m := maker{query: query{say: r.say(), query: r.Question + "\n" + r.Arguments, framed: true, numbered: true}}
	return m.make(r.Text, r.Room)
}

// HeadTail returns the start and the end of a text.
func HeadTail(r Request) string {
	if len(r.Text) <= r.Room {
		return display.Valid(r.Text)
	}
	return display.Valid(headTail(r.Text, r.Room, r.say()))
}

func (r Request) say() labels {
	if r.Chinese {
		return chinese
	}
	return english
}

type maker struct {
	query
	layers int // wrappings that were looked through
}

// maxLayers is how many wrappings are looked through.
const maxLayers = 2

// make previews a text in at most room bytes.
func (m *maker) make(text string, room int) (string, Format) {
	if room <= 0 {
		return "", Text
	}
	text = m.clean(text)
	if d, ok := scan(text); ok {
		if m.layers == maxLayers {
			return showJSON(m.say, d, room, nil), JSON
		}
		if e, ok := envelopeIn(d); ok && room > 4*minPart {
			return m.envelope(e, room)
		}
		if log, ok := recordedLog(d); ok && room > 4*minPart {
			return m.previewWrapped("recorded", log, room)
		}
		return showJSON(m.say, d, room, m.inner), JSON
	}
	if inner, ok := jsonString(text); ok && m.layers < maxLayers {
		if room > len(m.say.say("string"))+1+minPart {
			return m.previewWrapped("string", inner, room)
		}
	}
	return showText(m.query, text, room)
}

// inside previews a text that stands inside another one, which a label says.
func (m *maker) previewWrapped(label, text string, room int) (string, Format) {
	frame := m.say.say(label) + "\n"
	in := m.descend()
	in.framed = m.framed
	shown, f := in.make(text, room-len(frame))
	return frame + shown, f
}

func (m *maker) inner(text string, room int) string {
	shown, _ := m.descend().make(text, room)
	return shown
}

// deeper previews what stands inside a text: its lines are not those of the file.
func (m *maker) descend() *maker {
	return &maker{m.inPart(), m.layers + 1}
}

// envelope previews an MCP result: that of one text as the text.
func (m *maker) envelope(e envelope, room int) (string, Format) {
	if len(e.parts) == 1 && e.parts[0].kind == "text" {
		return m.previewWrapped("envelope"+e.suffix(), jsontext.Unescape(e.parts[0].text), room)
	}
	return showEnvelope(m.say, e, room, m.inner), Text
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
