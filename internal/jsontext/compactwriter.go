// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deeply a document may nest.
const maxDepth = 10_000

type state uint8

const (
	betweenTokens state = iota
	inString
	inNumber
	inWord
	atEnd
	isBroken
)

// Writer compacts one document, an object or a list, that comes in pieces. It holds the levels
// of nesting and what has not been taken. The zero value is ready for use.
type CompactWriter struct {
	out    []byte
	state  state
	place  Place
	levels []byte // what opened each object or list that is open
	digits Digits
	rest   string // of a word
	escape []byte // an escape that has not ended
}

// Whole reports whether what was written is a document.
func (w *CompactWriter) Whole() bool { return w.state == atEnd }

// Take returns what has come out since the last call, valid until the next Write.
func (w *CompactWriter) Take() []byte {
	out := w.out
	w.out = w.out[:0]
	return out
}

// Pending returns the start of an escape whose end has not been written.
func (w *CompactWriter) Pending() []byte { return w.escape }

// Write takes a piece of the document and returns how much of it: all, unless the document ends
// in it or breaks off at the byte after.
func (w *CompactWriter) Write(s string) int {
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
			i = Space(s, i)
		default:
			i += w.token(s[i:])
		}
	}
	return i
}

// document takes a whole text, and reports whether it is a document.
func (w *CompactWriter) document(s string) bool {
	n := w.Write(s)
	return w.Whole() && Space(s, n) == len(s)
}

// space ends a number.
func (w *CompactWriter) space() {
	switch w.state {
	case inNumber:
		w.endNumber()
	case inWord:
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
func (w *CompactWriter) text(s string) int {
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
		w.state = betweenTokens
	default:
		w.state = isBroken
		return n
	}
	return n + 1
}

// token takes a token outside of strings, or a part of one, and returns its length: none if a number
// ends before it, or if it breaks the document off.
func (w *CompactWriter) token(s string) (n int) {
	if w.state == betweenTokens && !w.begin(s[0]) {
		w.state = isBroken
		return 0
	}
	n = 1
	switch {
	case w.state == inNumber:
		if n, w.digits = w.digits.Read(s); n < len(s) {
			w.endNumber()
		}
	case w.state != inWord:
	case s[0] != w.rest[0]:
		w.state = isBroken
		return 0
	default:
		if w.rest = w.rest[1:]; w.rest == "" {
			w.state = betweenTokens
		}
	}
	w.out = append(w.out, s[:n]...)
	return n
}

// begin notes which token begins with a byte, and reports whether one may stand there.
func (w *CompactWriter) begin(b byte) bool {
	token, next := w.place.Next(b)
	switch token {
	case Open:
		if len(w.levels) == maxDepth {
			return false
		}
		w.levels = append(w.levels, b)
	case Close:
		if w.levels = w.levels[:len(w.levels)-1]; len(w.levels) == 0 {
			w.state = atEnd
			break
		}
		next = Behind(w.levels[len(w.levels)-1])
	case Key, Text:
		w.state = inString
	case Word:
		w.state, w.rest = inWord, WordAt(b)
	case Number:
		w.state, w.digits = inNumber, Digits(0)
	case None:
		return false
	}
	w.place = next
	return len(w.levels) > 0 || w.state == atEnd // a list or an object
}

func (w *CompactWriter) endNumber() {
	if w.state = isBroken; w.digits.Whole() {
		w.state = betweenTokens
	}
}

// The lengths of an escape of a character, and of two that make one.
const (
	short = 2
	long  = 6
	pair  = 2 * long
)

// escaped takes a byte of an escape, and returns how many of it are used.
func (w *CompactWriter) escaped(b byte) int {
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
func (w *CompactWriter) half() {
	w.out = append(w.out, w.escape[:long]...)
	w.escape = append(w.escape[:0], w.escape[long:]...)
}

// single ends an escape that is not the first half of a pair.
func (w *CompactWriter) single() {
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
func (w *CompactWriter) simple(b byte) {
	switch b {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		w.out = append(w.out, w.escape...)
	default: // a slash
		w.out = append(w.out, b)
	}
	w.escape = w.escape[:0]
}

// character ends an escape of n bytes that stands for r. What does not show stays escaped.
func (w *CompactWriter) character(r rune, n int) {
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
