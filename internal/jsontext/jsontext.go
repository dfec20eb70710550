// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package jsontext works on JSON texts that need not be valid: it finds values without decoding
// them, decodes the arguments that models write, and writes values compactly.
package jsontext

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// ValueEnd returns where the value that begins at i ends. The JSON must be valid.
func ValueEnd(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end, _ := StringEnd(s, i)
			if depth == 0 {
				return end
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// ValueScanner finds the end of a JSON object, list or string that arrives in pieces. It reads each byte once and
// does not validate. The zero value is ready for use.
type ValueScanner struct {
	open                                 int // objects and lists
	inString, afterBackslash, isComplete bool
}

// Add takes the next piece, and reports whether the value ends in it. What follows does not count.
func (p *ValueScanner) Add(piece string) (ends bool) {
	for i := 0; i < len(piece) && !p.isComplete; i++ {
		switch c := piece[i]; {
		case p.afterBackslash:
			p.afterBackslash = false
		case p.inString:
			p.afterBackslash, p.inString = c == '\\', c != '"'
		case c == '"':
			p.inString = true
			continue
		case c == '{', c == '[':
			p.open++
		case c == '}', c == ']':
			p.open--
		default:
			continue
		}
		p.isComplete = p.open <= 0 && !p.inString
		ends = p.isComplete
	}
	return ends
}

// Item is the first item in or behind i of a list that is known to be valid; i is behind its
// bracket, or at the next that an earlier item came with. At the end ok is false, and next is the
// closing bracket.
func Item(s string, i int) (value string, next int, ok bool) {
	if i = comma(s, i); s[i] == ']' {
		return "", i, false
	}
	next = ValueEnd(s, i)
	return s[i:next], next, true
}

// Member is Item for an object. The key is as it is written, without its quotes.
func Member(s string, i int) (key, value string, next int, ok bool) {
	if i = comma(s, i); s[i] == '}' {
		return "", "", i, false
	}
	end, _ := StringEnd(s, i)
	from := Space(s, Space(s, end)+1) // behind the colon
	next = ValueEnd(s, from)
	return s[i+1 : end-1], s[from:next], next, true
}

// comma is what follows white space and a comma, if there is one.
func comma(s string, i int) int {
	if i = Space(s, i); s[i] == ',' {
		i = Space(s, i+1)
	}
	return i
}

// Unescape is the text that a string stands for, without its quotes. What is not an escape stays.
func Unescape(raw string) string {
	i := strings.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	b := append(make([]byte, 0, len(raw)), raw[:i]...)
	for raw = raw[i:]; raw != ""; {
		if raw[0] == '\\' {
			n := 0
			b, n = AppendUnescaped(b, raw)
			raw = raw[n:]
		}
		i := 0
		for i < len(raw) && raw[i] != '\\' {
			i++
		}
		b = append(b, raw[:i]...)
		raw = raw[i:]
	}
	return unsafe.String(unsafe.SliceData(b), len(b)) // a copy would be as large, and b is nobody else's
}

// escapes is what a byte behind a backslash stands for; 0 if it stands for nothing.
var escapes = func() (set [256]byte) {
	for i, c := range []byte(`"\/bfnrt`) {
		set[c] = "\"\\/\b\f\n\r\t"[i]
	}
	return set
}()

// AppendUnescaped adds what the escape at the start of raw stands for, and returns how
// many bytes of raw it takes.
func AppendUnescaped(b []byte, raw string) ([]byte, int) {
	if len(raw) == 1 {
		return b, 1
	}
	if c := escapes[raw[1]]; c != 0 {
		return append(b, c), 2
	}
	piece, n := Escape(raw)
	if len(piece) < 6 {
		return append(b, raw[:n]...), n
	}
	code, _ := strconv.ParseUint(piece[2:6], 16, 32)
	r := rune(code)
	if len(piece) == 12 {
		low, _ := strconv.ParseUint(piece[8:12], 16, 32)
		r = utf16.DecodeRune(r, rune(low))
	}
	return utf8.AppendRune(b, r), n
}

// Escape is the escape at the start of raw; the two halves of a character are one. A
// backslash that begins none is escaped, and at the end of raw is nothing.
func Escape(raw string) (piece string, n int) {
	const long = len(`\u0000`)
	switch {
	case len(raw) == 1:
		return "", 1
	case escapes[raw[1]] != 0:
		return raw[:2], 2
	case raw[1] != 'u':
		return `\\`, 1
	}
	n = 2 + hexDigits(raw[2:])
	switch {
	case n < long && n == len(raw):
		return "", n // cut inside the escape
	case n < long:
		return `\\`, 1
	}
	code, _ := strconv.ParseUint(raw[2:long], 16, 32)
	if low, ok := strings.CutPrefix(raw[long:], `\u`); ok && utf16.IsSurrogate(rune(code)) && hexDigits(low) == 4 {
		second, _ := strconv.ParseUint(low[:4], 16, 32)
		if utf16.DecodeRune(rune(code), rune(second)) != utf8.RuneError {
			return raw[:2*long], 2 * long
		}
	}
	return raw[:long], long
}

// hexDigits counts those at the start of s, up to four.
func hexDigits(s string) (n int) {
	for n < min(len(s), 4) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	return n
}
