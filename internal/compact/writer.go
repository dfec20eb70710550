// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package compact writes the same JSON value in fewer bytes: without white space and needless
// escapes. Numbers keep their digits, objects the order of their keys and repeated ones,
// strings every character.
package compact

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deeply a document may nest.
const maxDepth = 10_000

type state uint8

const (
	wantValue state = iota
	wantFirstValue
	wantFirstKey
	wantKey
	wantColon
	afterValue
	inString
	inNumber
	inLiteral
	atEnd
	isBroken
)

// The places in a number.
const (
	numberEnd uint8 = iota
	numberStart
	minus
	zero
	integer
	point
	fraction
	exponent
	exponentSign
	exponentDigits
	numberPlaces
)

// Writer compacts one document, an object or a list, that comes in pieces. It holds the levels
// of nesting and what has not been taken. The zero value is ready for use.
type Writer struct {
	out    []byte
	state  state
	levels []byte // what each open object or list ends with
	key    bool   // the string is a key
	number uint8
	rest   string // of a literal
	escape []byte // an escape that has not ended
}

// Whole reports whether what was written is a document.
func (w *Writer) Whole() bool { return w.state == atEnd }

// Take returns what has come out since the last call, valid until the next Write.
func (w *Writer) Take() []byte {
	out := w.out
	w.out = w.out[:0]
	return out
}

// Pending returns the start of an escape whose end has not been written.
func (w *Writer) Pending() []byte { return w.escape }

// Write takes a piece of the document and returns how much of it: all, unless the document ends
// in it or breaks off at the byte after.
func (w *Writer) Write(s string) int {
	i := 0
	for i < len(s) && w.state != atEnd && w.state != isBroken {
		switch {
		case len(w.escape) > 0:
			i += w.escaped(s[i])
		case w.state == inString:
			i += w.text(s[i:])
		case s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r':
			if w.space(); w.state == isBroken {
				return i
			}
			for i++; i < len(s) && s[i] == ' '; {
				i++
			}
		default:
			i += w.token(s[i])
		}
	}
	return i
}

// document takes a whole text, and reports whether it is a document.
func (w *Writer) document(s string) bool {
	n := w.Write(s)
	return w.Whole() && strings.Trim(s[n:], " \t\r\n") == ""
}

// space ends a number.
func (w *Writer) space() {
	switch w.state {
	case inNumber:
		w.endNumber()
	case inLiteral:
		w.state = isBroken
	}
}

// special are the bytes at which copying a string stops.
var special = func() (out [256]bool) {
	for b := range ' ' {
		out[b] = true
	}
	out['"'], out['\\'] = true, true
	return out
}()

// plain holds what may stand behind the backslash of an escape of two bytes that is needed.
var plain = [256]bool{'"': true, '\\': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// text copies a part of a string up to its end or the next rare escape, and returns its
// length.
func (w *Writer) text(s string) int {
	n := 0
	for {
		for n < len(s) && !special[s[n]] {
			n++
		}
		if n+1 < len(s) && s[n] == '\\' && plain[s[n+1]] {
			n += short
			continue
		}
		break
	}
	w.out = append(w.out, s[:n]...)
	switch {
	case n == len(s):
		return n
	case s[n] == '\\':
		w.escape = append(w.escape, '\\')
	case s[n] == '"':
		w.out = append(w.out, '"')
		w.state = afterValue
		if w.key {
			w.state = wantColon
		}
	default:
		w.state = isBroken
		return n
	}
	return n + 1
}

// token takes a byte outside of strings, and returns how many of it are used: none if it breaks
// the document off.
func (w *Writer) token(b byte) int {
	switch w.state {
	case inNumber:
		return w.digit(b)
	case inLiteral:
		if b != w.rest[0] {
			w.state = isBroken
			return 0
		}
		if w.rest = w.rest[1:]; w.rest == "" {
			w.state = afterValue
		}
		w.out = append(w.out, b)
		return 1
	case wantFirstValue, wantValue:
		w.value(b)
	case wantFirstKey, wantKey:
		w.beginKey(b)
	case wantColon:
		w.follow(b, b == ':', wantValue)
	case afterValue:
		w.after(b)
	default:
		w.state = isBroken
	}
	if w.state == isBroken {
		return 0
	}
	return 1
}

func (w *Writer) follow(b byte, ok bool, next state) {
	if !ok {
		w.state = isBroken
		return
	}
	w.out, w.state = append(w.out, b), next
}

func (w *Writer) value(b byte) {
	if len(w.levels) == 0 && b != '{' && b != '[' {
		w.state = isBroken
		return
	}
	switch {
	case b == ']' && w.state == wantFirstValue:
		w.end(b)
		return
	case b == '{':
		w.open('}', wantFirstKey)
	case b == '[':
		w.open(']', wantFirstValue)
	case b == '"':
		w.state, w.key = inString, false
	case literals[b] != "":
		w.state, w.rest = inLiteral, literals[b]
	case numbers[numberStart][b] != numberEnd:
		w.state, w.number = inNumber, numbers[numberStart][b]
	default:
		w.state = isBroken
		return
	}
	w.out = append(w.out, b)
}

// literals are what follows the first letter of each.
var literals = [256]string{'t': "rue", 'f': "alse", 'n': "ull"}

func (w *Writer) open(end byte, next state) {
	if w.state = next; len(w.levels) == maxDepth {
		w.state = isBroken
	}
	w.levels = append(w.levels, end)
}

func (w *Writer) beginKey(b byte) {
	if b == '}' && w.state == wantFirstKey {
		w.end(b)
		return
	}
	w.key = true
	w.follow(b, b == '"', inString)
}

// after takes what follows a value.
func (w *Writer) after(b byte) {
	switch end := w.levels[len(w.levels)-1]; {
	case b == end:
		w.end(b)
	case end == '}':
		w.follow(b, b == ',', wantKey)
	default:
		w.follow(b, b == ',', wantValue)
	}
}

func (w *Writer) end(b byte) {
	w.out = append(w.out, b)
	w.levels = w.levels[:len(w.levels)-1]
	if w.state = afterValue; len(w.levels) == 0 {
		w.state = atEnd
	}
}

// numbers are the steps through a number, by the place and the next byte.
var numbers = func() (out [numberPlaces][256]uint8) {
	step := func(from uint8, bytes string, to uint8) {
		for _, b := range []byte(bytes) {
			out[from][b] = to
		}
	}
	const nonZero, digits = "123456789", "0123456789"
	step(numberStart, "-", minus)
	for _, from := range []uint8{numberStart, minus} {
		step(from, "0", zero)
		step(from, nonZero, integer)
	}
	step(integer, digits, integer)
	step(zero, ".", point)
	step(integer, ".", point)
	step(point, digits, fraction)
	step(fraction, digits, fraction)
	for _, from := range []uint8{zero, integer, fraction} {
		step(from, "eE", exponent)
	}
	step(exponent, "+-", exponentSign)
	for _, from := range []uint8{exponent, exponentSign, exponentDigits} {
		step(from, digits, exponentDigits)
	}
	return out
}()

// digit takes a byte of a number, or ends it.
func (w *Writer) digit(b byte) int {
	next := numbers[w.number][b]
	if next == numberEnd {
		w.endNumber()
		return 0
	}
	w.number, w.out = next, append(w.out, b)
	return 1
}

func (w *Writer) endNumber() {
	switch w.number {
	case zero, integer, fraction, exponentDigits:
		w.state = afterValue
	default:
		w.state = isBroken
	}
}

// The lengths of an escape of a character, and of two that make one.
const (
	short = 2
	long  = 6
	pair  = 2 * long
)

// escaped takes a byte of an escape, and returns how many of it are used.
func (w *Writer) escaped(b byte) int {
	n := len(w.escape)
	if n == long && b != '\\' || n == long+1 && b != 'u' { // no second half follows
		w.half()
		return 0
	}
	if !escapeGoesOn(n, b) {
		w.out, w.escape, w.state = append(w.out, w.escape...), w.escape[:0], isBroken
		return 0
	}
	w.escape = append(w.escape, b)
	switch n++; {
	case n == short && b != 'u':
		w.simple(b)
	case n == long:
		w.single()
	case n == pair:
		if r := utf16.DecodeRune(rune4(w.escape[short:long]), rune4(w.escape[long+short:])); r != utf8.RuneError {
			w.character(r, pair)
			break
		}
		w.half()
		w.single()
	}
	return 1
}

// escapeGoesOn reports whether an escape of n bytes may go on with b.
func escapeGoesOn(n int, b byte) bool {
	switch n {
	case 1:
		return b == 'u' || b == '/' || plain[b]
	case long, long + 1:
		return true
	}
	return isHex(b)
}

// half takes the first half of a pair out as it is, since the second one is missing.
func (w *Writer) half() {
	w.out = append(w.out, w.escape[:long]...)
	w.escape = append(w.escape[:0], w.escape[long:]...)
}

// single ends an escape that is not the first half of a pair.
func (w *Writer) single() {
	if r := rune4(w.escape[short:long]); !utf16.IsSurrogate(r) || r >= lowSurrogate {
		w.character(r, long)
	}
}

// lowSurrogate is the first second half of a pair.
const lowSurrogate = 0xdc00

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func rune4(digits []byte) (r rune) {
	for _, b := range digits {
		switch {
		case b <= '9':
			r = r<<4 | rune(b-'0')
		default:
			r = r<<4 | rune(b|0x20-'a'+10)
		}
	}
	return r
}

// simple ends an escape of two bytes.
func (w *Writer) simple(b byte) {
	switch b {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		w.out = append(w.out, w.escape...)
	default: // a slash
		w.out = append(w.out, b)
	}
	w.escape = w.escape[:0]
}

// character ends an escape of n bytes that stands for r. What does not show stays escaped.
func (w *Writer) character(r rune, n int) {
	switch {
	case r == '"' || r == '\\':
		w.out = append(w.out, '\\', byte(r))
	case r == '\n':
		w.out = append(w.out, '\\', 'n')
	case r == '\t':
		w.out = append(w.out, '\\', 't')
	case r == '\r':
		w.out = append(w.out, '\\', 'r')
	case !unicode.IsGraphic(r):
		w.out = append(w.out, w.escape[:n]...)
	default:
		w.out = utf8.AppendRune(w.out, r)
	}
	w.escape = w.escape[:0]
}
