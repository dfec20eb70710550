// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// JSON as a list of positions in the text. The scanner decodes nothing, and
// reads a document that ends too early as if its open parts ended there.

import (
	"iter"
	"strings"

	"github.com/einolean/einolean/internal/jsontext"
)

// maxJSON is the longest text that is read as JSON.
const maxJSON = 4 << 20

// maxNesting is how deep values may lie in each other, and how many lists and objects there
// may be above one for each nestingBytes. Nobody writes more but to take time and memory.
const (
	maxNesting   = 20_000
	nestingBytes = 4
)

// node is a value, or the key of a member, in the order of the text.
type node struct {
	start, end int32 // in the text; a string with its quotes
	next       int32 // the node after this one and all that it holds
	items      int32 // of a list its items, of an object its members
	kind       byte  // the first byte: { [ " t f n, 0 for a number, or kindNonNumber
	isCut      bool  // the text ends inside it
}

// kindNonNumber is the kind of a value such as NaN, which is written as a string.
const kindNonNumber = 'N'

// document is a JSON text. Node 0 is the whole; of JSON lines it is a list that has
// no brackets in the text.
type document struct {
	text        string
	nodes       []node
	isJSONLines bool // one value a line
	isCut       bool // the text ends too early

	levels int // how deep values lie in each other

	skipped     int32                              // a node that is not written; if zero, all are
	omitsMarks  bool                               // nothing says that something is missing at the end of the text
	previewText func(text string, room int) string // previews a long text in the document; nil: it is cut
	sizes       []int32                            // of the nodes without white space between them; nil: not known
}

// children yields the items of a list, or the members of an object. The key of an item is
// -1.
func (d *document) children(n int32) iter.Seq2[int32, int32] {
	return func(yield func(key, value int32) bool) {
		end := d.nodes[n].next
		object := d.nodes[n].kind == '{'
		for at := n + 1; at < end; {
			key, value := int32(-1), at
			if object {
				key, value = at, at+1
			}
			if !yield(key, value) {
				return
			}
			at = d.nodes[value].next
		}
	}
}

// raw is a string as it is written, without its quotes.
func (d *document) raw(n int32) string {
	v := &d.nodes[n]
	if v.isCut {
		return d.text[v.start+1 : v.end]
	}
	return d.text[v.start+1 : v.end-1]
}

// textUnder is the text under a key of an object, as it is written, and where it begins in the
// text of the document; zero if there is none.
func (d *document) textUnder(object int32, name string) (raw string, at int) {
	if d.nodes[object].kind != '{' {
		return "", 0
	}
	for key, value := range d.children(object) {
		if v := &d.nodes[value]; v.kind == '"' && d.raw(key) == name {
			return d.raw(value), int(v.start) + 1
		}
	}
	return "", 0
}

// scalar is a string as it is written, or a number.
func (d *document) scalar(n int32) string {
	switch d.nodes[n].kind {
	case '"':
		return d.raw(n)
	case 0, '0':
		return d.source(n)
	}
	return ""
}

func (d *document) source(n int32) string { return d.text[d.nodes[n].start:d.nodes[n].end] }

func (d *document) size(n int32) int { return int(d.nodes[n].end - d.nodes[n].start) }

// jsonScanner reads a text once, from its start to its end.
type jsonScanner struct {
	document
	offset int
	place  jsontext.Place
	open   []int32

	containers int // lists and objects so far
}

// scan reads a JSON object, a list, or JSON lines. ok is false for everything else. A
// text in which something else begins within its last fifth counts as one that ends
// there.
func scan(text string) (d *document, ok bool) { return scanUpTo(text, maxJSON) }

func scanUpTo(text string, most int) (d *document, ok bool) {
	if len(text) > most {
		return nil, false
	}
	s := &jsonScanner{document: document{text: text}, offset: jsonStart(text)}
	s.space()
	if s.offset >= len(text) || text[s.offset] != '{' && text[s.offset] != '[' {
		return nil, false
	}
	s.nodes = make([]node, 0, min(len(text)/8+16, 1<<10)) // an MCP result has few
	for s.step() {
	}
	if len(s.open) > 0 {
		if !s.closeOpen() {
			return nil, false
		}
	} else if s.space(); s.offset < len(text) && !s.atFenceEnd() {
		if !s.readMoreLines() {
			return nil, false
		}
	}
	return &s.document, true
}

const (
	fence = "```"
	// maxPreamble and maxWarning are how many lines may stand before JSON, and how long they may be.
	maxPreamble, maxWarning = 3, 500
)

// jsonStart returns where JSON begins in a text. A Markdown fence or a few lines of warnings may stand before it.
func jsonStart(text string) int {
	at := jsontext.Space(text, len(text)-len(strings.TrimPrefix(text, "\ufeff")))
	for range maxPreamble {
		line := firstLine(text[at:])
		if at == len(text) || text[at] == '{' || text[at] == '[' && !isWarning(line) || len(line) > maxWarning {
			break
		}
		next := jsontext.Space(text, at+len(line))
		if next >= len(text) {
			return 0
		}
		if c := text[next]; c == '{' || c == '[' && !isWarning(firstLine(text[next:])) {
			return next
		}
		at = next
	}
	return at
}

// isWarning is true of a line such as "[warn] …" and "[2025-01-01] …", which begins like a list.
func isWarning(line string) bool {
	level, rest, ok := strings.Cut(line, "] ")
	return ok && len(level) < 40 && rest != "" && (isWordByte(rest[0]) || rest[0] == '[') && !strings.ContainsAny(level, `"{,`)
}

// atFenceEnd reports whether only the end of a Markdown fence follows.
func (s *jsonScanner) atFenceEnd() bool {
	return s.nodes[0].start > 0 && strings.TrimSpace(strings.TrimPrefix(s.text[s.offset:], fence)) == ""
}

// readMoreLines reads the rest of JSON lines after the first one.
func (s *jsonScanner) readMoreLines() bool {
	first := s.nodes
	if !strings.Contains(s.text[first[0].end:s.offset], "\n") {
		return false
	}
	s.isJSONLines = true
	s.nodes = append(make([]node, 0, cap(first)), node{start: first[0].start, kind: '[', items: 1})
	for _, n := range first {
		n.next++
		s.nodes = append(s.nodes, n)
	}
	for s.offset < len(s.text) {
		c := s.text[s.offset]
		if c != '{' && c != '[' {
			if s.atFenceEnd() {
				break
			}
			return false
		}
		s.place = 0
		for s.step() {
		}
		s.nodes[0].items++
		if len(s.open) > 0 {
			if s.offset < len(s.text) || !s.closeOpen() {
				return false
			}
			break
		}
		end := s.offset
		s.space()
		if s.offset < len(s.text) && !strings.Contains(s.text[end:s.offset], "\n") {
			return false
		}
	}
	s.nodes[0].end, s.nodes[0].next = int32(len(s.text)), int32(len(s.nodes))
	s.nodes[0].isCut = s.isCut
	return s.nodes[0].items > 2 || !s.isCut
}

func (s *jsonScanner) space() { s.offset = jsontext.Space(s.text, s.offset) }

// step reads one token. It returns false at the end of the value that was begun, at
// the end of the text, and where something other than JSON begins.
func (s *jsonScanner) step() bool {
	s.space()
	if s.offset >= len(s.text) {
		return false
	}
	c := s.text[s.offset]
	token, next := s.place.Next(c)
	switch token {
	case jsontext.Open:
		return s.openValue(c, next)
	case jsontext.Close:
		return s.close()
	case jsontext.Comma, jsontext.Colon:
		s.offset, s.place = s.offset+1, next
		return true
	case jsontext.Key:
		if !s.readString() {
			return false
		}
		s.moveTo(':', next)
		return true
	case jsontext.Text:
		return s.readString() && s.addToParent(next)
	case jsontext.Number:
		return s.readNumber() && s.addToParent(next) || c == '-' && s.readNonNumber(next)
	case jsontext.Word:
		return s.readWord(jsontext.WordAt(c)) && s.addToParent(next)
	}
	return s.readLenient(c)
}

// nonNumbers are values that programs write for numbers that JSON does not have.
var nonNumbers = []string{"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"}

// readLenient reads common deviations from JSON: a comma before the end of a list or an object, and numbers such as
// NaN.
func (s *jsonScanner) readLenient(c byte) bool {
	if len(s.open) == 0 {
		return false
	}
	in := s.nodes[s.open[len(s.open)-1]]
	if c == in.kind+2 && in.items > 0 && s.place == placeAfterComma(in.kind) {
		return s.close()
	}
	if token, following := s.place.Next('0'); token == jsontext.Number {
		return s.readNonNumber(following)
	}
	return false
}

// placeAfterComma returns the place after a comma in a list or an object.
func placeAfterComma(open byte) jsontext.Place {
	_, place := jsontext.PlaceAfterValue(open).Next(',')
	return place
}

func (s *jsonScanner) readNonNumber(following jsontext.Place) bool {
	for _, w := range nonNumbers {
		if rest, ok := strings.CutPrefix(s.text[s.offset:], w); ok && !isWordByte(byteAt(rest, 0)) {
			s.add(kindNonNumber, s.offset+len(w), false)
			return s.addToParent(following)
		}
	}
	return false
}

// moveTo goes to a place, and skips the mark that mostly stands there.
func (s *jsonScanner) moveTo(mark byte, place jsontext.Place) {
	if s.place = place; s.offset < len(s.text) && s.text[s.offset] == mark {
		_, s.place = place.Next(mark)
		s.offset++
	}
}

// openValue begins a list or an object. It returns false if there are too many.
func (s *jsonScanner) openValue(c byte, place jsontext.Place) bool {
	if len(s.open) >= maxNesting || s.containers > maxNesting+s.offset/nestingBytes {
		return false
	}
	s.containers++
	s.open = append(s.open, int32(len(s.nodes)))
	s.levels = max(s.levels, len(s.open))
	s.append(node{start: int32(s.offset), kind: c})
	s.offset, s.place = s.offset+1, place
	return true
}

// addToParent counts a value in its list or object. It returns false if it has none.
func (s *jsonScanner) addToParent(following jsontext.Place) bool {
	if len(s.open) == 0 {
		return false
	}
	s.nodes[s.open[len(s.open)-1]].items++
	s.moveTo(',', following)
	return true
}

func (s *jsonScanner) close() bool {
	s.offset++
	top, in := s.open[len(s.open)-1], byte(0)
	if s.open = s.open[:len(s.open)-1]; len(s.open) > 0 {
		in = s.nodes[s.open[len(s.open)-1]].kind
	}
	s.nodes[top].end, s.nodes[top].next = int32(s.offset), int32(len(s.nodes))
	return s.addToParent(jsontext.PlaceAfterValue(in))
}

func (s *jsonScanner) add(kind byte, end int, cut bool) {
	s.append(node{start: int32(s.offset), end: int32(end), next: int32(len(s.nodes)) + 1, kind: kind, isCut: cut})
	s.offset = end
}

func (s *jsonScanner) append(n node) {
	if len(s.nodes) == cap(s.nodes) {
		s.grow()
	}
	s.nodes = append(s.nodes, n)
}

// grow makes room for as many nodes as the rest of the text will have if it goes on like
// this.
func (s *jsonScanner) grow() {
	n := len(s.nodes)
	n += n/8 + int(int64(n)*int64(len(s.text)-s.offset)/int64(s.offset+1)) + 16
	s.nodes = append(make([]node, 0, min(n, 4*len(s.nodes)+len(s.text)/32)), s.nodes...)
}

// readString reads a string. One that the text ends in is a node, and not done.
func (s *jsonScanner) readString() bool {
	end, ok := jsontext.StringEnd(s.text, s.offset)
	s.add('"', end, !ok)
	return ok
}

func (s *jsonScanner) readWord(w string) bool {
	if !strings.HasPrefix(s.text[s.offset:], w) {
		return false
	}
	s.add(w[0], s.offset+len(w), false)
	return true
}

// readNumber reads a number. One at the very end of the text may be cut, and does not count.
func (s *jsonScanner) readNumber() bool {
	n, place := jsontext.NumberPlace(0).Read(s.text[s.offset:])
	end := s.offset + n
	if !place.IsComplete() || end >= len(s.text) || '0' <= s.text[end] && s.text[end] <= '9' {
		return false
	}
	s.add('0', end, false)
	return true
}

// closeOpen ends a document that is incomplete. It returns false if less than four fifths of the text were read.
func (s *jsonScanner) closeOpen() bool {
	at, n := s.offset, len(s.text)
	if at*5 < n*4 {
		return false
	}
	s.isCut = true
	top := s.open[len(s.open)-1]
	if s.nodes[top].kind == '{' {
		s.dropKey(top)
	}
	if s.nodes[len(s.nodes)-1].isCut {
		s.nodes[top].items++
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		o := &s.nodes[s.open[i]]
		o.end, o.next, o.isCut = int32(at), int32(len(s.nodes)), true
		if i > 0 {
			s.nodes[s.open[i-1]].items++
		}
	}
	s.open = s.open[:0]
	return true
}

// dropKey removes a key whose value is missing.
func (s *jsonScanner) dropKey(top int32) {
	for at := top + 1; int(at) < len(s.nodes); at = s.nodes[at+1].next {
		if int(at)+1 == len(s.nodes) {
			s.nodes = s.nodes[:at]
			return
		}
	}
}
