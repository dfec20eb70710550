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

// Render returns a preview and the format of the text that it shows. For an MCP result, that is the format of the
// text in it.
func Render(r Request) (string, Format) {
	if r.Room <= 0 {
		return "", Text
	}
	if len(r.Text) <= r.Room {
		return display.Valid(r.Text), Text
	}
	m := previewer{options: options{labels: r.labels(), topic: r.Question + "\n" + r.Arguments, hasFrame: true, hasLineNumbers: true}}
	return m.preview(r.Text, r.Room)
}

// HeadTail returns the start and the end of a text.
func HeadTail(r Request) string {
	if len(r.Text) <= r.Room {
		return display.Valid(r.Text)
	}
	return display.Valid(headTail(r.Text, r.Room, r.labels()))
}

func (r Request) labels() labels {
	if r.Chinese {
		return chinese
	}
	return english
}

type previewer struct {
	options
	layers int // wrappings that were looked through
}

// maxLayers is how many wrappings are looked through.
const maxLayers = 2

// preview previews a text in at most room bytes.
func (m *previewer) preview(text string, room int) (string, Format) {
	if room <= 0 {
		return "", Text
	}
	text = m.clean(text)
	if d, ok := scan(text); ok {
		if m.layers == maxLayers {
			return previewJSON(m.labels, d, room, nil), JSON
		}
		if e, ok := envelopeIn(d); ok && room > 4*minPart {
			return m.previewEnvelope(e, room)
		}
		if log, ok := recordedLog(d); ok && room > 4*minPart {
			return m.previewWrapped("recorded", log, room)
		}
		return previewJSON(m.labels, d, room, m.previewPart), JSON
	}
	if inner, ok := jsonString(text); ok && m.layers < maxLayers {
		if room > len(m.labels.text("string"))+1+minPart {
			return m.previewWrapped("string", inner, room)
		}
	}
	return previewText(m.options, text, room)
}

// previewWrapped previews a text inside another one, below a label.
func (m *previewer) previewWrapped(label, text string, room int) (string, Format) {
	frame := m.labels.text(label) + "\n"
	in := m.descend()
	in.hasFrame = m.hasFrame
	shown, f := in.preview(text, room-len(frame))
	return frame + shown, f
}

func (m *previewer) previewPart(text string, room int) string {
	shown, _ := m.descend().preview(text, room)
	return shown
}

// descend returns the previewer of a text inside this one. Its line numbers are not those of the file.
func (m *previewer) descend() *previewer {
	return &previewer{m.inPart(), m.layers + 1}
}

// previewEnvelope previews an MCP result: that of one text as the text.
func (m *previewer) previewEnvelope(e envelope, room int) (string, Format) {
	if len(e.parts) == 1 && e.parts[0].kind == "text" {
		return m.previewWrapped("envelope"+e.suffix(), jsontext.Unescape(e.parts[0].text), room)
	}
	return previewEnvelope(m.labels, e, room, m.previewPart), Text
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
