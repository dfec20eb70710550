// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Envelopes, which are looked through: the result of an MCP tool as one line
// of JSON, a JSON string, and the log in JSON lines that record one, as go test -json and
// container engines write them.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
)

// part is one content block of an MCP result.
type part struct {
	kind   string // text, or a MIME type, or what the server calls it
	text   string // escaped, as in the source
	offset int    // where the text begins there
	size   int
}

// envelope is an MCP result: its content blocks, and whether the call failed.
type envelope struct {
	parts   []part
	isError bool
}

// envelopeIn parses a document as an MCP result.
func envelopeIn(d *document) (e envelope, ok bool) {
	if d.isJSONLines {
		return e, false
	}
	if d.nodes[0].kind == '[' && d.nodes[0].items == 1 {
		return openPart(d, 1)
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

// openPart reads the single content block of an object.
func openPart(d *document, object int32) (e envelope, ok bool) {
	if d.nodes[object].kind != '{' {
		return e, false
	}
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

func contentPart(d *document, n int32) (p part, ok bool) {
	kind, _ := d.textUnder(n, "type")
	text, at := d.textUnder(n, "text")
	switch {
	case kind == "text" && at > 0:
		return part{kind, text, at, len(text)}, true
	case kind == "text" || kind == "":
		return p, false
	}
	mime, _ := d.textUnder(n, "mimeType")
	return part{kind: display.Start(cmp.Or(jsontext.Unescape(mime), kind), 60), size: d.size(n)}, true
}

// suffix selects the label for failed or successful calls.
func (e envelope) suffix() string {
	if e.isError {
		return " error"
	}
	return ""
}

// previewEnvelope previews the parts of an MCP result; inner previews a text.
func previewEnvelope(lang labels, e envelope, room int, inner func(text string, room int) string) string {
	var b strings.Builder
	b.WriteString(lang.textWithNumber("parts"+e.suffix(), len(e.parts)))
	texts := 0
	for _, p := range e.parts {
		if p.kind == "text" {
			texts++
		}
	}
	for i, p := range e.parts {
		head := "\n" + partHead(lang, i+1, p)
		if b.Len()+len(head)+len(ellipsis) > room {
			b.WriteString("\n" + ellipsis)
			break
		}
		b.WriteString(head)
		if p.kind != "text" {
			continue
		}
		left := room - b.Len() - (len(e.parts)-i)*len(head) - len(ellipsis)
		if share := left / texts; share > minPart {
			b.WriteString("\n" + inner(jsontext.Unescape(p.text), share-1))
		}
		texts--
	}
	return b.String()
}

func partHead(lang labels, number int, p part) string {
	head := strings.Replace(lang.textWithNumber("part", number), "{type}", display.Valid(p.kind), 1)
	return strings.Replace(head, "{size}", strconv.Itoa(p.size), 1)
}

// logRecorder has the member names of a program that records a log as JSON lines.
type logRecorder struct {
	text     string // the piece of the log
	required string // a text that every record has
	source   string // what printed the piece; if empty, the log has one source
}

const leastPieces = 3

var recorders = []logRecorder{
	{text: "Output", required: "Action", source: "Package"}, // go test -json
	{text: "log", required: "stream"},                       // containers
}

// logPiece is the part of a log in one record.
type logPiece struct {
	record int32
	text   string // escaped, as in the source
	offset int    // where it begins there
	source string
}

// piecesIn extracts the log from JSON lines. It returns none if they do not record a log.
func piecesIn(d *document) []logPiece {
	if !d.isJSONLines {
		return nil
	}
	for _, r := range recorders {
		if pieces := r.pieces(d); len(pieces) > 0 {
			return pieces
		}
	}
	return nil
}

// pieces extracts the log in the format of this program. It returns none if a record lacks a member, unless the
// document ends in it, or if most pieces are not whole lines.
func (r logRecorder) pieces(d *document) (out []logPiece) {
	lines := 0
	for _, record := range d.children(0) {
		if _, at := d.textUnder(record, r.required); at == 0 && !d.nodes[record].isCut {
			return nil
		}
		text, at := d.textUnder(record, r.text)
		if text == "" {
			continue
		}
		source, _ := d.textUnder(record, r.source)
		out = append(out, logPiece{record, text, at, source})
		if strings.HasSuffix(text, `\n`) {
			lines++
		}
	}
	if lines < leastPieces || lines*2 <= len(out) {
		return nil
	}
	return out
}

// recordedLog joins the pieces of a log by source. The sources are in the order of their first piece.
func recordedLog(d *document) (log string, ok bool) {
	pieces := piecesIn(d)
	if len(pieces) == 0 {
		return "", false
	}
	order := make(map[string]int)
	for _, p := range pieces {
		if _, ordered := order[p.source]; !ordered {
			order[p.source] = len(order)
		}
	}
	slices.SortStableFunc(pieces, func(a, b logPiece) int { return cmp.Compare(order[a.source], order[b.source]) })
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(jsontext.Unescape(p.text))
	}
	return b.String(), true
}
