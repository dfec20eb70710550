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

// CompactWriter compacts one object or list that arrives in pieces. It buffers only the levels of nesting and the
// output that was not taken. The zero value is ready for use.
type CompactWriter struct {
	out      []byte
	state    state
	place    Place
	levels   []byte // what opened each object or list that is open
	digits   NumberPlace
	wordRest string // of a word
	escape   []byte // an escape that has not ended
}

// IsComplete reports whether the value may end here.
func (w *CompactWriter) IsComplete() bool { return w.state == atEnd }

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
			i += w.addEscapeByte(s[i])
		case w.state == inString:
			i += w.copyText(s[i:])
		case s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r':
			if w.endBySpace(); w.state == isBroken {
				return i
			}
			i = Space(s, i)
		default:
			i += w.copyToken(s[i:])
		}
	}
	return i
}

// writeDocument writes a whole text and reports whether it is a document.
func (w *CompactWriter) writeDocument(s string) bool {
	n := w.Write(s)
	return w.IsComplete() && Space(s, n) == len(s)
}

// endBySpace ends a number or a word at white space.
func (w *CompactWriter) endBySpace() {
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

// keptEscape has the bytes that, behind a backslash, form an escape of two bytes that must stay.
var keptEscape = [256]bool{'"': true, '\\': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// copyText copies a part of a string, up to its end or the next rare escape. It returns the number of bytes read.
func (w *CompactWriter) copyText(s string) int {
	n := 0
	for {
		for n < len(s) && !special[s[n]] {
			n++
		}
		if n+1 < len(s) && s[n] == '\\' && keptEscape[s[n+1]] {
			n += shortEscape
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

// copyToken copies a token outside of strings, or a part of one, and returns its length. The length is zero if a
// number ends before it, or if it breaks the document.
func (w *CompactWriter) copyToken(s string) (n int) {
	if w.state == betweenTokens && !w.startToken(s[0]) {
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
	case s[0] != w.wordRest[0]:
		w.state = isBroken
		return 0
	default:
		if w.wordRest = w.wordRest[1:]; w.wordRest == "" {
			w.state = betweenTokens
		}
	}
	w.out = append(w.out, s[:n]...)
	return n
}

// startToken notes which token begins with a byte. It reports whether the token may stand there.
func (w *CompactWriter) startToken(b byte) bool {
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
		next = PlaceAfterValue(w.levels[len(w.levels)-1])
	case Key, Text:
		w.state = inString
	case Word:
		w.state, w.wordRest = inWord, WordAt(b)
	case Number:
		w.state, w.digits = inNumber, NumberPlace(0)
	case Invalid:
		return false
	}
	w.place = next
	return len(w.levels) > 0 || w.state == atEnd // a list or an object
}

func (w *CompactWriter) endNumber() {
	if w.state = isBroken; w.digits.IsComplete() {
		w.state = betweenTokens
	}
}

// The lengths of an escape of a character, and of two that make one.
const (
	shortEscape = 2
	longEscape  = 6
	pairEscape  = 2 * longEscape
)

// addEscapeByte adds a byte to the open escape and returns how many bytes it used.
func (w *CompactWriter) addEscapeByte(b byte) int {
	n := len(w.escape)
	if n == longEscape && b != '\\' || n == longEscape+1 && b != 'u' { // no second half follows
		w.flushHalf()
		return 0
	}
	if !escapeGoesOn(n, b) {
		w.out, w.escape, w.state = append(w.out, w.escape...), w.escape[:0], isBroken
		return 0
	}
	w.escape = append(w.escape, b)
	switch n++; {
	case n == shortEscape && b != 'u':
		w.endSimple(b)
	case n == longEscape:
		w.endSingle()
	case n == pairEscape:
		if r := utf16.DecodeRune(hexRune(w.escape[shortEscape:longEscape]), hexRune(w.escape[longEscape+shortEscape:])); r != utf8.RuneError {
			w.endCharacter(r, pairEscape)
			break
		}
		w.flushHalf()
		w.endSingle()
	}
	return 1
}

// escapeGoesOn reports whether an escape of n bytes may go on with b.
func escapeGoesOn(n int, b byte) bool {
	switch n {
	case 1:
		return b == 'u' || b == '/' || keptEscape[b]
	case longEscape, longEscape + 1:
		return true
	}
	return isHex(b)
}

// flushHalf writes the first half of a surrogate pair as it is, because the second half is missing.
func (w *CompactWriter) flushHalf() {
	w.out = append(w.out, w.escape[:longEscape]...)
	w.escape = append(w.escape[:0], w.escape[longEscape:]...)
}

// endSingle ends an escape that is not the first half of a pair.
func (w *CompactWriter) endSingle() {
	if r := hexRune(w.escape[shortEscape:longEscape]); !utf16.IsSurrogate(r) || r >= lowSurrogate {
		w.endCharacter(r, longEscape)
	}
}

// lowSurrogate is the first second half of a pair.
const lowSurrogate = 0xdc00

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func hexRune(digits []byte) (r rune) {
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

// endSimple ends an escape of two bytes.
func (w *CompactWriter) endSimple(b byte) {
	if keptEscape[b] {
		w.out = append(w.out, w.escape...)
	} else { // a slash
		w.out = append(w.out, b)
	}
	w.escape = w.escape[:0]
}

// endCharacter ends an escape of n bytes that stands for r. What does not show stays escaped.
func (w *CompactWriter) endCharacter(r rune, n int) {
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
