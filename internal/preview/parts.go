// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Stored JSON, prepared for questions: whole records for searching, a document that
// parses and values for queries.

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
)

// Part is a piece of a JSON text that makes sense by itself.
type Part struct {
	Start, End int    // in the text
	Text       string // without the white space between values, and without the escapes of an MCP result
	Heading    string // what it is a part of: the keys above it, or the start of its record
}

// PartLimits configures Parts.
type PartLimits struct {
	RecordBytes int                      // the most bytes of a record that is a part
	PartBytes   int                      // about the most of every other part
	SplitText   func(text string) []Part // takes apart a text that is longer than that
}

// Parts takes a JSON text apart: a record of its main list each, of everything else members and
// items, and of long texts, of text in an MCP result and of a recorded log what belongs together
// in them. ok is false if it is not JSON.
func Parts(text string, cut PartLimits) (parts []Part, ok bool) {
	d, ok := scan(text)
	if !ok {
		return nil, false
	}
	raw, from, wrapped := inEnvelope(d)
	if !wrapped {
		return partsIn(d, cut), true
	}
	inner := jsontext.Unescape(raw)
	if in, ok := scan(inner); ok {
		parts = partsIn(in, cut)
	} else {
		parts = cut.SplitText(inner)
	}
	toSource(parts, raw, from)
	return parts, true
}

// inEnvelope is the only text of an MCP result as it is in the source, and where that is.
func inEnvelope(d *document) (raw string, from int, ok bool) {
	e, ok := envelopeIn(d)
	if !ok || len(e.parts) != 1 || e.parts[0].kind != "text" {
		return "", 0, false
	}
	return e.parts[0].text, e.parts[0].offset, true
}

// toSource moves parts from places in a text to those in its escaped form.
func toSource(parts []Part, raw string, from int) {
	i, at := 0, 0 // in raw, and in the text
	seek := func(want int) int {
		for at < want && i < len(raw) {
			if raw[i] != '\\' {
				n := strings.IndexByte(raw[i:min(len(raw), i+want-at)], '\\')
				if n < 0 {
					n = min(len(raw)-i, want-at)
				}
				i, at = i+n, at+n
				continue
			}
			b, n := jsontext.AppendUnescaped(nil, raw[i:])
			i, at = i+n, at+len(b)
		}
		return from + i
	}
	for p := range parts {
		parts[p].Start = seek(parts[p].Start)
		parts[p].End = seek(parts[p].End)
	}
}

// logParts are whole lines of a recorded log in the order of its records, about most bytes
// of them each.
func logParts(d *document, pieces []logPiece, most int) (parts []Part) {
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
				parts = append(parts, Part{Start: p.offset + l.Start, End: p.offset + l.End, Text: jsontext.Unescape(l.Text)})
			}
			continue
		}
		text := jsontext.Unescape(p.text)
		if len(open.Text)+len(text) > most {
			flush()
		}
		if open.Text == "" {
			open.Start = int(d.nodes[p.record].start)
		}
		open.Text += text
		open.End = int(d.nodes[p.record].end)
	}
	flush()
	return parts
}

// lineParts are whole lines of a text, about most bytes of them each.
func lineParts(text string, most int) (parts []Part) {
	for from := 0; from < len(text); {
		to := min(from+most, len(text))
		if to < len(text) {
			if i := strings.LastIndexByte(text[from:to], '\n'); i >= 0 {
				to = from + i + 1
			} else {
				to = from + len(display.Start(text[from:], most))
			}
		}
		to = max(to, from+1)
		parts = append(parts, Part{Start: from, End: to, Text: text[from:to]})
		from = to
	}
	return parts
}

type jsonSplitter struct {
	*document
	limits   PartLimits
	list     int32 // the main list, or -1
	parts    []Part
	openPart Part // is not full yet
	headings []string
}

func partsIn(d *document, cut PartLimits) []Part {
	if pieces := piecesIn(d); len(pieces) > 0 {
		return logParts(d, pieces, cut.PartBytes)
	}
	p := &jsonSplitter{document: d, limits: cut, list: -1}
	if list, ok := mainList(d); ok {
		p.list = list
	}
	p.addValue(-1, 0, cut.PartBytes)
	p.flush()
	return p.parts
}

func (p *jsonSplitter) flush() {
	if p.openPart.Text != "" {
		p.parts = append(p.parts, p.openPart)
	}
	p.openPart = Part{}
}

// addValue adds a value with its key: as a part of it alone where it is at most so long.
func (p *jsonSplitter) addValue(key, value int32, most int) {
	size := p.size(value)
	from := int(p.nodes[value].start)
	if key >= 0 {
		from = int(p.nodes[key].start)
	}
	kind := p.nodes[value].kind
	isContainer := (kind == '{' || kind == '[') && p.nodes[value].items > 0
	switch {
	case value != p.list && size <= most:
		p.addToOpen(from, int(p.nodes[value].end), p.render(key, value))
	case isContainer:
		p.addMembers(key, value)
	default:
		p.flush()
		p.addText(key, value)
	}
}

// addText adds the parts of a long text.
func (p *jsonSplitter) addText(key, value int32) {
	if key >= 0 {
		p.headings = append(p.headings, p.raw(key))
		defer func() { p.headings = p.headings[:len(p.headings)-1] }()
	}
	raw := p.source(value)
	at := int(p.nodes[value].start)
	if p.nodes[value].kind == '"' {
		raw, at = p.raw(value), at+1
	}
	parts := p.limits.SplitText(jsontext.Unescape(raw))
	toSource(parts, raw, at)
	for _, part := range parts {
		part.Heading = strings.TrimSuffix(p.heading()+" > "+part.Heading, " > ")
		p.parts = append(p.parts, part)
	}
}

// addMembers adds what a list or an object holds; the records of the main list one by one.
func (p *jsonSplitter) addMembers(key, parent int32) {
	depth, most := len(p.headings), p.limits.PartBytes
	if key >= 0 && parent != p.list {
		p.headings = append(p.headings, p.raw(key))
	}
	if parent == p.list {
		most = p.limits.RecordBytes
	} else if start := p.firstMembers(parent); start != "" {
		p.headings = append(p.headings, start)
	}
	p.flush()
	for key, value := range p.children(parent) {
		p.addValue(key, value, most)
		if parent == p.list {
			p.flush()
		}
	}
	p.flush()
	p.headings = p.headings[:depth]
}

// firstMembers are the first short members of an object. They identify it.
func (p *jsonSplitter) firstMembers(object int32) string {
	const most, few = 100, 3
	var b []byte
	n := 0
	if p.nodes[object].kind != '{' || p.size(object) > 16*p.limits.RecordBytes {
		return ""
	}
	for key, value := range p.children(object) {
		kind := p.nodes[value].kind
		if n++; n > few || kind == '{' || kind == '[' || len(b)+p.size(value) > most {
			break
		}
		b = append(append(b, p.render(key, value)...), ' ')
	}
	return strings.TrimSuffix(string(b), " ")
}

// heading is what stands above a part.
func (p *jsonSplitter) heading() string {
	return strings.Join(p.headings[max(0, len(p.headings)-3):], " > ")
}

// addToOpen adds to the open part, or begins another one.
func (p *jsonSplitter) addToOpen(from, to int, text string) {
	if p.openPart.Text != "" && len(p.openPart.Text)+len(text) >= p.limits.PartBytes {
		p.flush()
	}
	if p.openPart.Text == "" {
		p.openPart = Part{from, to, text, p.heading()}
		return
	}
	p.openPart.Text += "," + text
	p.openPart.End = to
}

// render is a value without white space.
func (p *jsonSplitter) render(key, value int32) string {
	b := make([]byte, 0, p.size(value)+16)
	room := 6*p.size(value) + leastValue // escapes make it longer
	if key >= 0 {
		b = append(appendString(b, p.raw(key), 6*p.size(key)+2, false), ':')
	}
	return string(appendValue(p.document, b, value, room))
}

const (
	// MaxDocument is the longest text that Document and Decode read.
	MaxDocument = 16 << 20
	// maxLevels is how deep values may lie in each other there.
	maxLevels = 1000
	// maxNumber is the longest number in bytes. A longer one becomes a string.
	maxNumber = 1000
)

// scanFlat reads what does not nest too deeply.
func scanFlat(text string) (d *document, ok bool) {
	d, ok = scanUpTo(text, MaxDocument)
	return d, ok && d.levels <= maxLevels
}

// Document is a JSON text as a document that parses: the text of an MCP result, JSON lines
// as a list, and one that ends too early without what is missing. cut says that it did.
// ok is false if it is not JSON, or nests too deeply.
func Document(text string) (document []byte, cut, ok bool) {
	d, ok := scanFlat(text)
	if !ok {
		return nil, false, false
	}
	if raw, _, wrapped := inEnvelope(d); wrapped {
		in, ok := scanFlat(jsontext.Unescape(raw))
		if !ok {
			return nil, false, false
		}
		in.isCut = in.isCut || d.isCut
		d = in
	}
	if b := []byte(d.text); !d.isCut && utf8.Valid(b) && json.Valid(b) {
		return b, false, true
	}
	d.omitsMarks = true
	return appendValue(d, make([]byte, 0, len(d.text)), 0, 6*len(d.text)+leastValue), d.isCut, true
}

// Decode is a JSON text as values: nil, bool, string, json.Number, []any and
// map[string]any. JSON lines are a list, and a text that ends too early is what is there
// of it. n is how many values and keys there are. ok is false if it is not JSON, or nests
// too deeply.
func Decode(text string) (value any, n int, ok bool) {
	d, ok := scanFlat(text)
	if !ok {
		return nil, 0, false
	}
	return valueOf(d, 0), len(d.nodes), true
}

func valueOf(d *document, n int32) any {
	v := &d.nodes[n]
	switch v.kind {
	case '{':
		object := make(map[string]any, v.items)
		for key, value := range d.children(n) {
			object[jsontext.Unescape(d.raw(key))] = valueOf(d, value)
		}
		return object
	case '[':
		list := make([]any, 0, v.items)
		for _, value := range d.children(n) {
			list = append(list, valueOf(d, value))
		}
		return list
	case '"':
		return jsontext.Unescape(d.raw(n))
	case 't', 'f':
		return v.kind == 't'
	case 'n':
		return nil
	case kindNonNumber:
		return d.source(n)
	}
	if number := d.source(n); len(number) <= maxNumber {
		return json.Number(number)
	}
	return d.source(n)
}
