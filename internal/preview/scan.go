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
	kind       byte  // the first byte: { [ " t f n, 0 for a number, or notNumber
	cut        bool  // the text ends inside it
}

// notNumber is the kind of a value such as NaN, which is written as a string.
const notNumber = 'N'

// document is a JSON text. Node 0 is the whole; of JSON lines it is a list that has
// no brackets in the text.
type document struct {
	text  string
	nodes []node
	lines bool // one value a line
	cut   bool // the text ends too early

	levels int // how deep values lie in each other

	skip  int32                              // a node that is not written; if zero, all are
	bare  bool                               // nothing says that something is missing at the end of the text
	inner func(text string, room int) string // previews a long text in the document; nil: it is cut
	sizes []int32                            // of the nodes without white space between them; nil: not known
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
	if v.cut {
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

// scanner reads a text once, from its start to its end.
type scanner struct {
	document
	at    int
	place jsontext.Place
	open  []int32

	nested int // lists and objects so far
}

// scan reads a JSON object, a list, or JSON lines. ok is false for everything else. A
// text in which something else begins within its last fifth counts as one that ends
// there.
func scan(text string) (d *document, ok bool) { return scanUpTo(text, maxJSON) }

func scanUpTo(text string, most int) (d *document, ok bool) {
	if len(text) > most {
		return nil, false
	}
	s := &scanner{document: document{text: text}, at: start(text)}
	s.space()
	if s.at >= len(text) || text[s.at] != '{' && text[s.at] != '[' {
		return nil, false
	}
	s.nodes = make([]node, 0, min(len(text)/8+16, 1<<10)) // an MCP result has few
	for s.step() {
	}
	if len(s.open) > 0 {
		if !s.stopped() {
			return nil, false
		}
	} else if s.space(); s.at < len(text) && !s.ended() {
		if !s.more() {
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

// start is where JSON begins that stands in a Markdown fence or behind a few lines of warnings.
func start(text string) int {
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
	return ok && len(level) < 40 && rest != "" && (letter(rest[0]) || rest[0] == '[') && !strings.ContainsAny(level, `"{,`)
}

// ended reports whether nothing but the end of a Markdown fence follows.
func (s *scanner) ended() bool {
	return s.nodes[0].start > 0 && strings.TrimSpace(strings.TrimPrefix(s.text[s.at:], fence)) == ""
}

// more reads the rest of JSON lines, of which the first is read.
func (s *scanner) more() bool {
	first := s.nodes
	if !strings.Contains(s.text[first[0].end:s.at], "\n") {
		return false
	}
	s.lines = true
	s.nodes = append(make([]node, 0, cap(first)), node{start: first[0].start, kind: '[', items: 1})
	for _, n := range first {
		n.next++
		s.nodes = append(s.nodes, n)
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c != '{' && c != '[' {
			if s.ended() {
				break
			}
			return false
		}
		s.place = 0
		for s.step() {
		}
		s.nodes[0].items++
		if len(s.open) > 0 {
			if s.at < len(s.text) || !s.stopped() {
				return false
			}
			break
		}
		end := s.at
		s.space()
		if s.at < len(s.text) && !strings.Contains(s.text[end:s.at], "\n") {
			return false
		}
	}
	s.nodes[0].end, s.nodes[0].next = int32(len(s.text)), int32(len(s.nodes))
	s.nodes[0].cut = s.cut
	return s.nodes[0].items > 2 || !s.cut
}

func (s *scanner) space() { s.at = jsontext.Space(s.text, s.at) }

// step reads one token. It returns false at the end of the value that was begun, at
// the end of the text, and where something other than JSON begins.
func (s *scanner) step() bool {
	s.space()
	if s.at >= len(s.text) {
		return false
	}
	c := s.text[s.at]
	token, next := s.place.Next(c)
	switch token {
	case jsontext.Open:
		return s.begin(c, next)
	case jsontext.Close:
		return s.close()
	case jsontext.Comma, jsontext.Colon:
		s.at, s.place = s.at+1, next
		return true
	case jsontext.Key:
		if !s.str() {
			return false
		}
		s.follow(':', next)
		return true
	case jsontext.Text:
		return s.str() && s.done(next)
	case jsontext.Number:
		return s.number() && s.done(next) || c == '-' && s.notNumber(next)
	case jsontext.Word:
		return s.word(jsontext.WordAt(c)) && s.done(next)
	}
	return s.tolerated(c)
}

// notNumbers are what programs write for numbers that JSON does not have.
var notNumbers = []string{"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"}

// tolerated reads what is not JSON but often stands in it: a comma before the end of a list or an object,
// and numbers such as NaN.
func (s *scanner) tolerated(c byte) bool {
	if len(s.open) == 0 {
		return false
	}
	in := s.nodes[s.open[len(s.open)-1]]
	if c == in.kind+2 && in.items > 0 && s.place == behindComma(in.kind) {
		return s.close()
	}
	if token, behind := s.place.Next('0'); token == jsontext.Number {
		return s.notNumber(behind)
	}
	return false
}

// behindComma is the place behind a comma in a list or an object.
func behindComma(open byte) jsontext.Place {
	_, place := jsontext.Behind(open).Next(',')
	return place
}

func (s *scanner) notNumber(behind jsontext.Place) bool {
	for _, w := range notNumbers {
		if rest, ok := strings.CutPrefix(s.text[s.at:], w); ok && !letter(byteAt(rest, 0)) {
			s.add(notNumber, s.at+len(w), false)
			return s.done(behind)
		}
	}
	return false
}

// follow goes on at a place, and behind the mark that mostly stands there.
func (s *scanner) follow(mark byte, place jsontext.Place) {
	if s.place = place; s.at < len(s.text) && s.text[s.at] == mark {
		_, s.place = place.Next(mark)
		s.at++
	}
}

// begin begins a list or an object, unless there are too many.
func (s *scanner) begin(c byte, place jsontext.Place) bool {
	if len(s.open) >= maxNesting || s.nested > maxNesting+s.at/nestingBytes {
		return false
	}
	s.nested++
	s.open = append(s.open, int32(len(s.nodes)))
	s.levels = max(s.levels, len(s.open))
	s.append(node{start: int32(s.at), kind: c})
	s.at, s.place = s.at+1, place
	return true
}

// done counts a value in what holds it. It returns false if nothing does.
func (s *scanner) done(behind jsontext.Place) bool {
	if len(s.open) == 0 {
		return false
	}
	s.nodes[s.open[len(s.open)-1]].items++
	s.follow(',', behind)
	return true
}

func (s *scanner) close() bool {
	s.at++
	top, in := s.open[len(s.open)-1], byte(0)
	if s.open = s.open[:len(s.open)-1]; len(s.open) > 0 {
		in = s.nodes[s.open[len(s.open)-1]].kind
	}
	s.nodes[top].end, s.nodes[top].next = int32(s.at), int32(len(s.nodes))
	return s.done(jsontext.Behind(in))
}

func (s *scanner) add(kind byte, end int, cut bool) {
	s.append(node{start: int32(s.at), end: int32(end), next: int32(len(s.nodes)) + 1, kind: kind, cut: cut})
	s.at = end
}

func (s *scanner) append(n node) {
	if len(s.nodes) == cap(s.nodes) {
		s.grow()
	}
	s.nodes = append(s.nodes, n)
}

// grow makes room for as many nodes as the rest of the text will have if it goes on like
// this.
func (s *scanner) grow() {
	n := len(s.nodes)
	n += n/8 + int(int64(n)*int64(len(s.text)-s.at)/int64(s.at+1)) + 16
	s.nodes = append(make([]node, 0, min(n, 4*len(s.nodes)+len(s.text)/32)), s.nodes...)
}

// str reads a string. One that the text ends in is a node, and not done.
func (s *scanner) str() bool {
	end, ok := jsontext.StringEnd(s.text, s.at)
	s.add('"', end, !ok)
	return ok
}

func (s *scanner) word(w string) bool {
	if !strings.HasPrefix(s.text[s.at:], w) {
		return false
	}
	s.add(w[0], s.at+len(w), false)
	return true
}

// number reads a number. One at the very end of the text may be cut, and does not count.
func (s *scanner) number() bool {
	n, place := jsontext.Digits(0).Read(s.text[s.at:])
	end := s.at + n
	if !place.Whole() || end >= len(s.text) || '0' <= s.text[end] && s.text[end] <= '9' {
		return false
	}
	s.add('0', end, false)
	return true
}

// stopped ends a document of which parts are still open, and reports whether it is
// one: nearly all of the text was read.
func (s *scanner) stopped() bool {
	at, n := s.at, len(s.text)
	if at*5 < n*4 {
		return false
	}
	s.cut = true
	top := s.open[len(s.open)-1]
	if s.nodes[top].kind == '{' {
		s.dropKey(top)
	}
	if s.nodes[len(s.nodes)-1].cut {
		s.nodes[top].items++
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		o := &s.nodes[s.open[i]]
		o.end, o.next, o.cut = int32(at), int32(len(s.nodes)), true
		if i > 0 {
			s.nodes[s.open[i-1]].items++
		}
	}
	s.open = s.open[:0]
	return true
}

// dropKey removes a key whose value is missing.
func (s *scanner) dropKey(top int32) {
	for at := top + 1; int(at) < len(s.nodes); at = s.nodes[at+1].next {
		if int(at)+1 == len(s.nodes) {
			s.nodes = s.nodes[:at]
			return
		}
	}
}
