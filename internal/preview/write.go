// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file writes JSON: the values of a document without white space, in a given
// room, so that what is cut is still JSON.

import (
	"strings"
	"unicode/utf8"
)

const (
	// more stands where something is missing.
	more = "…"
	// quotedMore is the same as a string.
	quotedMore = `"…"`
	// standIn is what no JSON holds.
	standIn = "\x00"
	// leastValue is the room in which every value can be written, if only as cut.
	leastValue = len(`"…"`)
)

// appendValue writes a value in at most room bytes, and room is at least leastValue.
func (d *document) appendValue(b []byte, n int32, room int) []byte {
	v := &d.nodes[n]
	switch {
	case n == d.stand && n > 0:
		return append(b, `"`+standIn+`"`...)
	case v.kind == '"':
		return appendString(b, d.raw(n), room, v.cut)
	case v.kind != '{' && v.kind != '[':
		if d.size(n) > room {
			return append(b, quotedMore...)
		}
		return append(b, d.source(n)...)
	case d.lines && n == 0 || v.items > 0 || v.cut:
		return d.appendMembers(b, n, room)
	}
	return append(b, v.kind, v.kind+2) // {} or []
}

// rest is the room for what says that something is missing, and for the end.
const (
	restOfList   = len(`,"…"]`)
	restOfObject = len(`,"…":"…"}`)
)

// appendMembers writes a list or an object.
func (d *document) appendMembers(b []byte, n int32, room int) []byte {
	v := &d.nodes[n]
	rest, start := restOfList, len(b)
	if v.kind == '{' {
		rest = restOfObject
	}
	if room < rest+1 {
		return append(b, quotedMore...)
	}
	b = append(b, v.kind)
	left, cut := v.items, v.cut
	d.children(n, func(key, value int32) bool {
		if left--; value == d.skip {
			return true
		}
		reserve := rest
		if left == 0 && !cut {
			reserve = 1
		}
		had := len(b)
		if b = d.appendMember(b, key, value, room-(len(b)-start)-reserve, left > 0); len(b) == had {
			cut = true
			return false
		}
		return true
	})
	if cut && !d.bare {
		if b[len(b)-1] != v.kind || len(b)-start > 1 {
			b = append(b, ',')
		}
		b = append(b, quotedMore...)
		if v.kind == '{' {
			b = append(b, `:"…"`...)
		}
	}
	return append(b, v.kind+2)
}

// appendMember writes one member or item with the comma before it, or nothing if room
// is too small for that. A string that others follow takes at most half of the room.
func (d *document) appendMember(b []byte, key, value int32, room int, followed bool) []byte {
	had := len(b)
	if last := b[had-1]; had > 0 && last != '{' && last != '[' {
		b = append(b, ',')
	}
	if key >= 0 {
		b = append(appendString(b, d.raw(key), max(room, leastValue), false), ':')
	}
	room -= len(b) - had
	if followed && d.share && d.nodes[value].kind == '"' {
		room = min(room, max(room/2, leastValue))
	}
	if room < leastValue && (room < d.size(value) || value == d.stand) {
		return b[:had]
	}
	begin := len(b)
	if b = d.appendValue(b, value, max(room, leastValue)); len(b)-begin > room {
		return b[:had]
	}
	return b
}

// appendString writes a string of JSON source in at most room bytes. It ends in … if it is
// cut now or was before. What no string may hold is escaped.
func appendString(b []byte, raw string, room int, cut bool) []byte {
	b = append(b, '"')
	limit := len(b) + room - 2
	safe := limit - len(more) // where it may end if it is cut
	mark := len(b)
	for len(raw) > 0 {
		n := plain(raw[:min(len(raw), room)])
		piece := raw[:n]
		if n == 0 {
			piece, n = unit(raw)
			if len(b)+len(piece) <= safe {
				mark = len(b) + len(piece)
			}
		} else if len(b) <= safe {
			mark = min(len(b)+n, safe)
		}
		if len(b)+len(piece) > limit {
			if mark > len(b) {
				b = append(b, piece[:mark-len(b)]...)
			}
			cut = true
			break
		}
		b = append(b, piece...)
		raw = raw[n:]
	}
	if cut {
		b = append(b[:mark], more...)
	}
	return append(b, '"')
}

// plain counts the bytes at the start of s that can stand in a string as they are.
func plain(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '\\' || c == '"' {
			return i
		}
	}
	return len(s)
}

const hexDigits = "0123456789abcdef"

// unit is the escape or the character at the start of raw as JSON has it, and how many
// bytes of raw it takes. A byte that is not UTF-8 becomes a question mark.
func unit(raw string) (piece string, n int) {
	switch c := raw[0]; {
	case c < ' ':
		switch c {
		case '\n':
			return `\n`, 1
		case '\t':
			return `\t`, 1
		case '\r':
			return `\r`, 1
		}
		return `\u00` + hexDigits[c>>4:c>>4+1] + hexDigits[c&15:c&15+1], 1
	case c == '"':
		return `\"`, 1
	case c == '\\':
		return escape(raw)
	}
	r, n := utf8.DecodeRuneInString(raw)
	if r == utf8.RuneError && n == 1 {
		return "?", 1
	}
	return raw[:n], n
}

// escape is the escape at the start of raw; the two halves of a character are one. A
// backslash that begins none is escaped, and at the end of raw is nothing.
func escape(raw string) (piece string, n int) {
	switch {
	case len(raw) == 1:
		return "", 1
	case strings.IndexByte(`"\/bfnrt`, raw[1]) >= 0:
		return raw[:2], 2
	case raw[1] != 'u':
		return `\\`, 1
	}
	hex := 2
	for hex < 6 && hex < len(raw) && strings.IndexByte(hexDigits, raw[hex]|0x20) >= 0 {
		hex++
	}
	switch {
	case hex < 6 && hex == len(raw):
		return "", hex // cut inside the escape
	case hex < 6:
		return `\\`, 1
	case raw[2]|0x20 == 'd' && strings.IndexByte("89abAB", raw[3]) >= 0 && len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u':
		return raw[:12], 12
	}
	return raw[:6], 6
}
