// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds the form of a notice: text with fields, which can be filled in
// and found again.

import (
	"strconv"
	"strings"
)

const (
	envelopeName = "persisted-output>"
	openTag      = "<" + envelopeName
	closeTag     = "</" + envelopeName
)

// maxPath is the longest path in bytes that is believed to be one.
const maxPath = 4096

// maxEnd is how much may follow the path in a notice that shows nothing else.
const maxEnd = 512

// facts is what goes into a notice. Where a field is empty, it says nothing.
type facts struct {
	bytes, headBytes, tailBytes int
	path, tool                  string
	head, tail                  string
	hint                        string // set by wording
}

// piece is a text, and the field after it; the field of the last one is empty.
type piece struct{ text, field string }

// form is a notice to be filled in. It never changes.
type form []piece

// parseForm reads text with {fields} in it. The newline at the end of the file
// is not part of it.
func parseForm(text string) form {
	var f form
	text = strings.TrimSuffix(text, "\n")
	for {
		before, rest, ok := strings.Cut(text, "{")
		if !ok {
			return append(f, piece{text: text})
		}
		field, after, _ := strings.Cut(rest, "}")
		f = append(f, piece{before, field})
		text = after
	}
}

// fill puts facts in the place of the fields. What is put in is not looked at
// again.
func (f form) fill(v facts) string {
	var b strings.Builder
	b.Grow(f.size(v))
	for _, p := range f {
		b.WriteString(p.text)
		b.WriteString(v.get(p.field))
	}
	return b.String()
}

// size is the length of what fill returns.
func (f form) size(v facts) (n int) {
	for _, p := range f {
		n += len(p.text) + v.size(p.field)
	}
	return n
}

// size is the length of get.
func (v facts) size(field string) int {
	switch field {
	case "bytes":
		return decimals(v.bytes)
	case "headBytes":
		return decimals(v.headBytes)
	case "tailBytes":
		return decimals(v.tailBytes)
	}
	return len(v.get(field))
}

// decimals is how many digits a number that is not negative has.
func decimals(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

func (v facts) get(field string) string {
	switch field {
	case "bytes":
		return strconv.Itoa(v.bytes)
	case "headBytes":
		return strconv.Itoa(v.headBytes)
	case "tailBytes":
		return strconv.Itoa(v.tailBytes)
	case "path":
		return v.path
	case "tool":
		return v.tool
	case "head":
		return v.head
	case "tail":
		return v.tail
	case "hint":
		return v.hint
	}
	return ""
}

// find reads the path, and the size where it stands before the path, out of a
// notice of this form at the start of text. What follows the path is returned as
// rest: it depends on the language and the tool of the time, and on the content.
func (f form) find(text string) (v facts, rest string, ok bool) {
	for i, p := range f {
		if i == 0 {
			p.text = strings.TrimPrefix(p.text, "\n")
		}
		if text, ok = strings.CutPrefix(text, p.text); !ok {
			return facts{}, "", false
		}
		if p.field == "path" {
			return findPath(text, f[i+1].text, v)
		}
		n := digits(text)
		if n == 0 {
			return facts{}, "", false
		}
		switch p.field {
		case "bytes":
			v.bytes, _ = strconv.Atoi(text[:n])
		case "headBytes":
			v.headBytes, _ = strconv.Atoi(text[:n])
		}
		text = text[n:]
	}
	return facts{}, "", false
}

// findPath takes a path off the start of text, which end follows.
func findPath(text, end string, v facts) (facts, string, bool) {
	n := strings.Index(text[:min(len(text), maxPath+len(end))], end)
	if n <= 0 || strings.ContainsAny(text[:n], "\n\x00") {
		return facts{}, "", false
	}
	v.path = text[:n]
	return v, text[n+len(end):], true
}

// digits counts the digits at the start of text.
func digits(text string) (n int) {
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}
