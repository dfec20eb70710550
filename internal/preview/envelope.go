// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file looks through what a text is wrapped in: the result of an MCP tool as one line
// of JSON, a JSON string, and the log in JSON lines that record one, as go test -json and
// container engines write them.

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/leanctx/leanctx/internal/display"
)

// maxLayers is how many wrappings are looked through.
const maxLayers = 2

// part is one content of an MCP result.
type part struct {
	kind string // text, or a MIME type, or what the server calls it
	text string // escaped, as in the source
	size int
}

// envelope is an MCP result: what it holds, and whether it says that the call failed.
type envelope struct {
	parts   []part
	isError bool
}

// envelopeIn finds the MCP result that a document is.
func envelopeIn(d *document) (e envelope, ok bool) {
	if d.lines {
		return e, false
	}
	if item, ok := onlyItem(d); ok {
		return openPart(d, item)
	}
	if d.nodes[0].kind != '{' {
		return e, false
	}
	content := int32(-1)
	for key, value := range d.children(0) {
		switch d.raw(key) {
		case "content":
			if d.nodes[value].kind == '[' {
				content = value
			}
		case "isError":
			e.isError = d.nodes[value].kind == 't'
		case "_meta", "structuredContent":
		case "meta": // of Python's classes; others use it for their own
			if d.nodes[value].kind != 'n' {
				return e, false
			}
		default:
			return openPart(d, 0)
		}
	}
	if content < 0 {
		return e, false
	}
	for _, value := range d.children(content) {
		p, ok := contentPart(d, value)
		if !ok {
			return e, false
		}
		e.parts = append(e.parts, p)
	}
	return e, len(e.parts) > 0
}

// onlyItem is the one item of a document that is a list.
func onlyItem(d *document) (item int32, ok bool) {
	if d.nodes[0].kind != '[' {
		return 0, false
	}
	for _, value := range d.children(0) {
		if item != 0 {
			return 0, false
		}
		item = value
	}
	return item, item != 0 && d.nodes[item].kind == '{'
}

// openPart finds the one content that an object is.
func openPart(d *document, object int32) (e envelope, ok bool) {
	for key := range d.children(object) {
		switch d.raw(key) {
		case "type", "text", "annotations", "_meta", "meta":
		default:
			return e, false
		}
	}
	p, ok := contentPart(d, object)
	e.parts = []part{p}
	return e, ok && p.kind == "text"
}

// contentPart reads one content.
func contentPart(d *document, n int32) (p part, ok bool) {
	if d.nodes[n].kind != '{' {
		return p, false
	}
	p.size = d.size(n)
	kind, mime, text := "", "", int32(-1)
	for key, value := range d.children(n) {
		if d.nodes[value].kind != '"' {
			continue
		}
		switch d.raw(key) {
		case "type":
			kind = d.raw(value)
		case "text":
			text = value
		case "mimeType":
			mime = unescape(d.raw(value))
		}
	}
	switch {
	case kind == "text" && text >= 0:
		return part{kind: "text", text: d.raw(text), size: d.size(text)}, true
	case kind == "text" || kind == "":
		return p, false
	}
	p.kind = display.Start(cmp.Or(mime, kind), 60)
	return p, true
}

// showEnvelope previews what an MCP result holds.
func showEnvelope(m *maker, e envelope, room int) (shown string, f Format) {
	suffix := ""
	if e.isError {
		suffix = " error"
	}
	if len(e.parts) == 1 && e.parts[0].kind == "text" {
		return m.inside("envelope"+suffix, unescape(e.parts[0].text), room)
	}
	inner := *m
	inner.layers++
	var b strings.Builder
	b.WriteString(m.say.with("parts"+suffix, len(e.parts)))
	texts, bytes := 0, 0
	for _, p := range e.parts {
		if p.kind == "text" {
			texts++
			bytes += p.size
		}
	}
	for i, p := range e.parts {
		head := "\n" + partHead(m, i+1, p)
		if b.Len()+len(head)+len(more) > room {
			b.WriteString("\n" + more)
			break
		}
		b.WriteString(head)
		if p.kind != "text" {
			continue
		}
		left := room - b.Len() - (len(e.parts)-i)*len(head) - len(more)
		share := left
		if bytes > 0 && texts > 1 {
			share = max(int(int64(left)*int64(p.size)/int64(bytes)), left/(2*texts))
		}
		texts, bytes = texts-1, bytes-p.size
		if share > minPart {
			text, _ := inner.make(unescape(p.text), share-1)
			b.WriteString("\n" + text)
		}
	}
	return b.String(), Text
}

// minPart is the least that is worth showing of one part among several.
const minPart = 40

// partHead says what one part is.
func partHead(m *maker, number int, p part) string {
	head := strings.Replace(m.say.with("part", number), "{type}", display.Valid(p.kind), 1)
	return strings.Replace(head, "{size}", strconv.Itoa(p.size), 1)
}

// recorder names the members of the records of one program.
type recorder struct {
	text   string // the piece of the log
	beside string // a text that every record has
	source string // what printed the piece; if empty, the log has one source
}

var recorders = []recorder{
	{text: "Output", beside: "Action", source: "Package"}, // go test -json
	{text: "log", beside: "stream"},                       // containers
}

// piece is what one record holds of a log.
type piece struct {
	record int32
	text   string // escaped, as in the source
	at     int    // where it begins there
	source string
}

// piecesIn takes JSON lines apart that record a log. It returns none if they do not: if a
// record lacks a member, or most pieces are no whole lines.
func piecesIn(d *document) (out []piece) {
	if !d.lines {
		return nil
	}
	for _, r := range recorders {
		if !hasMember(d, 1, r.beside) {
			continue
		}
		lines, all := 0, true
		for _, record := range d.children(0) {
			p, ok := pieceOf(d, record, r)
			if p.text != "" {
				out = append(out, p)
				if strings.HasSuffix(p.text, `\n`) {
					lines++
				}
			}
			if all = ok; !all {
				break
			}
		}
		if all && lines >= minRecords && lines*2 > len(out) {
			return out
		}
		out = out[:0]
	}
	return nil
}

// hasMember reports whether an object has a text under a key.
func hasMember(d *document, object int32, name string) bool {
	if d.nodes[object].kind != '{' {
		return false
	}
	for key, value := range d.children(object) {
		if d.nodes[value].kind == '"' && d.raw(key) == name {
			return true
		}
	}
	return false
}

// pieceOf reads one record. ok is false if it is none of a log. Of one that the document ends
// in, there may be less.
func pieceOf(d *document, record int32, r recorder) (p piece, ok bool) {
	v := &d.nodes[record]
	if v.kind != '{' {
		return p, false
	}
	p.record, ok = record, v.cut
	for key, value := range d.children(record) {
		if d.nodes[value].kind != '"' {
			continue
		}
		switch d.raw(key) {
		case r.text:
			p.text, p.at = d.raw(value), int(d.nodes[value].start)+1
		case r.beside:
			ok = true
		case r.source:
			p.source = d.raw(value)
		}
	}
	return p, ok
}

// recordedLog is the log that JSON lines record: what each source printed in one piece, in the
// order in which they began.
func recordedLog(d *document) (log string, ok bool) {
	pieces := piecesIn(d)
	if len(pieces) == 0 {
		return "", false
	}
	var sources []string
	bySource := make(map[string]*strings.Builder)
	for _, p := range pieces {
		b := bySource[p.source]
		if b == nil {
			b = new(strings.Builder)
			bySource[p.source] = b
			sources = append(sources, p.source)
		}
		b.WriteString(unescape(p.text))
	}
	var all strings.Builder
	for _, s := range sources {
		all.WriteString(bySource[s].String())
	}
	return all.String(), true
}

// logParts are whole lines of a recorded log in the order of its records, about most bytes
// of them each.
func logParts(d *document, pieces []piece, most int) (parts []Part) {
	var open Part
	flush := func() {
		if open.Text != "" {
			parts = append(parts, open)
		}
		open = Part{}
	}
	for _, p := range pieces {
		if len(p.text) > most {
			flush()
			for _, l := range lineParts(p.text, most) {
				parts = append(parts, Part{p.at + l.From, p.at + l.To, unescape(l.Text)})
			}
			continue
		}
		text := unescape(p.text)
		if len(open.Text)+len(text) > most {
			flush()
		}
		if open.Text == "" {
			open.From = int(d.nodes[p.record].start)
		}
		open.Text += text
		open.To = int(d.nodes[p.record].end)
	}
	flush()
	return parts
}
