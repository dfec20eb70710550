// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file prepares JSON for queries: as a document that parses, and as values.

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxDocument is the longest text that Document and Decode read.
	MaxDocument = 16 << 20
	// maxLevels is how deep values may lie in each other there.
	maxLevels = 1000
	// maxNumber is the longest number in bytes. A longer one becomes a string.
	maxNumber = 1000
)

// Document is a JSON text as a document that parses: the text of an MCP result, JSON lines
// as a list, and one that ends too early without what is missing. cut says that it did.
// ok is false if it is not JSON, or nests too deeply.
func Document(text string) (document []byte, cut, ok bool) {
	d, ok := scanUpTo(text, MaxDocument)
	if !ok || d.levels > maxLevels {
		return nil, false, false
	}
	if raw, _, wrapped := d.wrapped(); wrapped {
		in, ok := scanUpTo(unescape(raw), MaxDocument)
		if !ok || in.levels > maxLevels {
			return nil, false, false
		}
		in.cut = in.cut || d.cut
		d = in
	}
	if !d.cut && !d.lines && utf8.ValidString(d.text) && d.strict() {
		return []byte(d.text), false, true
	}
	d.bare = true
	return d.appendValue(make([]byte, 0, len(d.text)), 0, 6*len(d.text)+leastValue), d.cut, true
}

// strict reports whether all strings are as JSON wants them. Everything else is.
func (d *document) strict() bool {
	for i := range d.nodes {
		if d.nodes[i].kind == '"' && !strictString(d.raw(int32(i))) {
			return false
		}
	}
	return true
}

func strictString(raw string) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] < ' ' {
			return false
		}
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] == 'u' && i+4 < len(raw) && isHex(raw[i+1:i+5]) {
			i += 4
		} else if !strings.ContainsRune(`"\/bfnrt`, rune(raw[i])) {
			return false
		}
	}
	return true
}

func isHex(s string) bool {
	_, err := strconv.ParseUint(s, 16, 16)
	return err == nil && s[0] != '+' && s[0] != '-'
}

// Decode is a JSON text as values: nil, bool, string, json.Number, []any and
// map[string]any. JSON lines are a list, and a text that ends too early is what is there
// of it. n is how many values and keys there are. ok is false if it is not JSON, or nests
// too deeply.
func Decode(text string) (value any, n int, ok bool) {
	d, ok := scanUpTo(text, MaxDocument)
	if !ok || d.levels > maxLevels {
		return nil, 0, false
	}
	return d.value(0), len(d.nodes), true
}

func (d *document) value(n int32) any {
	v := &d.nodes[n]
	switch v.kind {
	case '{':
		object := make(map[string]any, v.items)
		d.children(n, func(key, value int32) bool {
			object[unescape(d.raw(key))] = d.value(value)
			return true
		})
		return object
	case '[':
		list := make([]any, 0, v.items)
		d.children(n, func(_, value int32) bool {
			list = append(list, d.value(value))
			return true
		})
		return list
	case '"':
		return unescape(d.raw(n))
	case 't', 'f':
		return v.kind == 't'
	case 'n':
		return nil
	}
	if number := d.source(n); len(number) <= maxNumber {
		return json.Number(number)
	}
	return d.source(n)
}
