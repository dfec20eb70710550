// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Values of a document, written in a given room. What is cut is still JSON.

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/jsontext"
)

// quote writes a text as it stands inside a JSON string.
func quote(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for len(text) > 0 {
		n := plainLength(text)
		b.WriteString(text[:n])
		if text = text[n:]; text == "" {
			break
		}
		piece, n := escapedUnit(text)
		if text[0] == '\\' {
			piece, n = `\\`, 1
		}
		b.WriteString(piece)
		text = text[n:]
	}
	return b.String()
}

const (
	// quotedMore is the ellipsis as a string.
	quotedMore = `"…"`
	// leastValue is the room in which every value can be written, if only as cut.
	leastValue = len(`"…"`)
)

// appendValue writes a value in at most room bytes, and room is at least leastValue.
func appendValue(d *document, b []byte, n int32, room int) []byte {
	v := &d.nodes[n]
	switch {
	case v.kind == '"':
		if shown, ok := d.appendPreview(n, room); ok {
			return append(b, shown...)
		}
		return appendString(b, d.raw(n), room, v.isCut)
	case v.kind == kindNonNumber && d.size(n)+len(`""`) <= room:
		return append(append(append(b, '"'), d.source(n)...), '"')
	case v.kind != '{' && v.kind != '[':
		if d.size(n) > room {
			return append(b, quotedMore...)
		}
		return append(b, d.source(n)...)
	case d.isJSONLines && n == 0 || v.items > 0 || v.isCut:
		return appendMembers(d, b, n, room)
	}
	return append(b, v.kind, v.kind+2) // {} or []
}

// The room for what says that something is missing, and for the end.
const (
	restOfList   = len(`,"…"]`)
	restOfObject = len(`,"…":"…"}`)
)

func appendMembers(d *document, b []byte, n int32, room int) []byte {
	v := &d.nodes[n]
	rest, start := restOfList, len(b)
	if v.kind == '{' {
		rest = restOfObject
	}
	if room < rest+1 {
		return append(b, quotedMore...)
	}
	b = append(b, v.kind)
	itemsLeft, cut := v.items, v.isCut
	share, shared := d.share(n, room-rest-1)
	for key, value := range d.children(n) {
		if itemsLeft--; value == d.skipped {
			continue
		}
		reserve := rest
		if itemsLeft == 0 && !cut {
			reserve = 1
		}
		before, free := len(b), room-(len(b)-start)-reserve
		if shared {
			free = min(free, d.memberSize(key)+max(leastValue, min(share, int(d.sizes[value]))))
		}
		if b = d.appendMember(b, key, value, free); len(b) == before {
			if cut = true; !shared {
				break
			}
		}
	}
	if cut && !d.omitsMarks {
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

const (
	// leastShare is the least that is worth showing of each long value among several.
	leastShare = 24
	// maxShared is the longest list of which every item gets a share of the room.
	maxShared = 8
)

// share is the most that each value of a list or an object may take, so that all of them fit: short ones are
// shown whole, and the long ones share the room that is left. ok is false if they fit anyway, if the values
// would get too little, or if their sizes are not known; then the first ones are shown.
func (d *document) share(n int32, room int) (share int, ok bool) {
	v := &d.nodes[n]
	if d.sizes == nil || int(d.sizes[n]) <= room || v.kind == '[' && v.items > maxShared || int(v.items)*leastShare > room {
		return 0, false
	}
	sizes := make([]int, 0, v.items)
	for key, value := range d.children(n) {
		if value != d.skipped {
			sizes = append(sizes, int(d.sizes[value]))
			room -= d.memberSize(key)
		}
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if share = room / (len(sizes) - i); size > share {
			return share, share >= leastShare
		}
		room -= size
	}
	return 0, false
}

// memberSize is the size of a key with its colon, and of the comma before it.
func (d *document) memberSize(key int32) int {
	if key < 0 {
		return len(`,`)
	}
	return len(`,:`) + int(d.sizes[key])
}

const (
	// leastInner is the room from which on a text in a document is previewed by its format, if it has at least
	// leastText bytes.
	leastInner, leastText = 300, 1000
)

// appendPreview returns the preview of a long text in a document, quoted, in at most room bytes.
func (d *document) appendPreview(n int32, room int) (quoted string, ok bool) {
	if d.previewText == nil || room < leastInner || d.size(n) <= max(room, leastText) {
		return "", false
	}
	text := jsontext.Unescape(d.raw(n))
	itemsLeft := room - len(`""`)
	for share := itemsLeft; share > itemsLeft/4; {
		quoted := quote(d.previewText(text, share))
		if len(quoted) <= itemsLeft {
			return `"` + quoted + `"`, true
		}
		share = min(share*itemsLeft/len(quoted), share*9/10)
	}
	return "", false
}

// appendMember writes one member or item with the comma before it, or nothing if room
// is too small for that.
func (d *document) appendMember(b []byte, key, value int32, room int) []byte {
	start := len(b)
	if last := b[start-1]; start > 0 && last != '{' && last != '[' {
		b = append(b, ',')
	}
	if key >= 0 {
		b = append(appendString(b, d.raw(key), max(room, leastValue), false), ':')
	}
	room -= len(b) - start
	if room < leastValue && room < d.size(value) {
		return b[:start]
	}
	begin := len(b)
	if b = appendValue(d, b, value, max(room, leastValue)); len(b)-begin > room {
		return b[:start]
	}
	return b
}

// appendString writes a string of JSON source in at most room bytes. It ends in … if it is
// cut now or was before. What no string may hold is escaped.
func appendString(b []byte, raw string, room int, cut bool) []byte {
	b = append(b, '"')
	limit := len(b) + room - 2
	safe := limit - len(ellipsis) // where it may end if it is cut
	mark := len(b)
	for len(raw) > 0 {
		n := plainLength(raw[:min(len(raw), room)])
		piece := raw[:n]
		if n == 0 {
			piece, n = escapedUnit(raw)
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
		b = append(b[:mark], ellipsis...)
	}
	return append(b, '"')
}

// plainLength counts the bytes at the start of s that need no escape in a JSON string.
func plainLength(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '\\' || c == '"' {
			return i
		}
	}
	return len(s)
}

const hexDigits = "0123456789abcdef"

// escapedUnit is the escape or the character at the start of raw as JSON has it, and how many
// bytes of raw it takes. A byte that is not UTF-8 becomes a question mark.
func escapedUnit(raw string) (piece string, n int) {
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
		return jsontext.Escape(raw)
	}
	r, n := utf8.DecodeRuneInString(raw)
	if r == utf8.RuneError && n == 1 {
		return "?", 1
	}
	return raw[:n], n
}
