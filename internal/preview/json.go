// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file previews JSON: whole without white space if it fits, its main list as a
// table, a long text in it by its own format, or else its start.

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// stringShare is the share of a document, in percent, that a text in it must hold to be
// previewed by its own format.
const stringShare = 60

// json previews a document in at most room bytes.
func (m *maker) json(d *document, room int) string {
	if room < leastValue {
		return ""
	}
	if d.compactSize() <= room {
		return string(d.appendValue(make([]byte, 0, room), 0, room))
	}
	d.share = true
	if list, ok := d.mainList(); ok {
		t := newTable(d, list, room)
		if out, ok := t.appendTable(make([]byte, 0, room), room, m.say); ok && len(out) <= room {
			return string(out)
		}
	} else if n, ok := d.mainString(); ok && m.layers < maxLayers {
		if out, ok := m.mainText(d, n, room); ok {
			return out
		}
	}
	return string(d.appendValue(make([]byte, 0, room), 0, room))
}

// compactSize is the size of the document without white space between its values.
func (d *document) compactSize() (n int) {
	for i := range d.nodes {
		v := &d.nodes[i]
		if v.kind == '{' || v.kind == '[' {
			n += 2 + max(0, int(v.items)-1)
			if v.kind == '{' {
				n += int(v.items)
			}
		} else {
			n += int(v.end - v.start)
		}
	}
	return n
}

// mainString finds a text that holds most of the document.
func (d *document) mainString() (n int32, ok bool) {
	whole := d.size(0)
	for i := range d.nodes {
		if v := &d.nodes[i]; v.kind == '"' && d.size(int32(i))*100 >= whole*stringShare {
			return int32(i), true
		}
	}
	return 0, false
}

// mainText previews a document with a preview of its longest text in that one's place.
func (m *maker) mainText(d *document, n int32, room int) (out string, ok bool) {
	with := *d
	with.stand = n
	before, after, ok := strings.Cut(string(with.appendValue(nil, 0, room/4)), standIn)
	if !ok {
		return "", false
	}
	inner := *m
	inner.layers++
	text := unescape(d.raw(n))
	left := room - len(before) - len(after)
	for share := left; share > left/4; {
		shown, _ := inner.make(text, share)
		quoted := quote(shown)
		if len(quoted) <= left {
			return before + quoted + after, true
		}
		share = min(share*left/len(quoted), share*9/10)
	}
	return "", false
}

// quote writes a text as it stands inside a JSON string.
func quote(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for len(text) > 0 {
		n := plain(text)
		b.WriteString(text[:n])
		if text = text[n:]; text == "" {
			break
		}
		piece, n := unit(text)
		if text[0] == '\\' {
			piece, n = `\\`, 1
		}
		b.WriteString(piece)
		text = text[n:]
	}
	return b.String()
}

// unescape is the text that a JSON string stands for. What is not an escape stays.
func unescape(raw string) string {
	i := strings.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	b := append(make([]byte, 0, len(raw)), raw[:i]...)
	for raw = raw[i:]; raw != ""; {
		if raw[0] == '\\' {
			n := 0
			b, n = appendUnescaped(b, raw)
			raw = raw[n:]
		}
		i := 0
		for i < len(raw) && raw[i] != '\\' {
			i++
		}
		b = append(b, raw[:i]...)
		raw = raw[i:]
	}
	return string(b)
}

// escapes is what a byte behind a backslash stands for; 0 if it stands for nothing.
var escapes = func() (set [256]byte) {
	for i, c := range []byte(`"\/bfnrt`) {
		set[c] = "\"\\/\b\f\n\r\t"[i]
	}
	return set
}()

// appendUnescaped adds what the escape at the start of raw stands for, and returns how
// many bytes of raw it takes.
func appendUnescaped(b []byte, raw string) ([]byte, int) {
	if len(raw) == 1 {
		return b, 1
	}
	if c := escapes[raw[1]]; c != 0 {
		return append(b, c), 2
	}
	piece, n := escape(raw)
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
