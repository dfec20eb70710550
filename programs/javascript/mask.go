// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Tells code from strings and comments, without parsing.

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// mask returns a program in which the contents of strings, templates, comments and regular
// expressions are spaces. Every other byte keeps its position.
func mask(code string) string {
	m := masker{code: code, masked: []byte(code)}
	for m.pos < len(code) {
		m.step()
	}
	return string(m.masked)
}

// masker is the state of mask.
type masker struct {
	code     string
	masked   []byte
	pos      int
	braces   []int // open braces within each open ${...}
	lastCode byte  // last byte of code that is no space
}

func (m *masker) step() {
	c, rest := m.code[m.pos], m.code[m.pos:]
	switch {
	case c == '"' || c == '\'':
		m.skipText(1, endOfText(rest[1:], rune(c)))
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"):
		m.skipText(len("“"), endOfText(rest[len("“"):], '”', '“'))
	case c == '`':
		m.pos++
		m.template()
	case c == '/':
		m.slash(rest)
	case c == '{' && len(m.braces) > 0:
		m.braces[len(m.braces)-1]++
		m.skipCode()
	case c == '}' && len(m.braces) > 0:
		top := len(m.braces) - 1
		if m.braces[top]--; m.braces[top] >= 0 {
			m.skipCode()
			return
		}
		m.braces = m.braces[:top]
		m.blank(1)
		m.template()
	default:
		m.skipCode()
	}
}

// slash skips a comment, a regular expression or a division.
func (m *masker) slash(rest string) {
	switch {
	case strings.HasPrefix(rest, "//"):
		m.blank(firstLineLength(rest))
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			rest = rest[:end+4]
		}
		m.blank(len(rest))
	case m.maybeRegexp() && endOfRegexp(rest) > 0:
		m.skipText(1, endOfRegexp(rest)-1)
	default:
		m.skipCode()
	}
}

// skipCode skips a byte of code.
func (m *masker) skipCode() {
	if c := m.code[m.pos]; c > ' ' {
		m.lastCode = c
	}
	m.pos++
}

// skipText masks a string of some length between two quotes. A string without an end takes the rest
// of its line.
func (m *masker) skipText(mark, length int) {
	m.pos += mark
	m.lastCode = '"'
	if length < 0 {
		m.blank(firstLineLength(m.code[m.pos:]))
		return
	}
	m.blank(length)
	_, size := utf8.DecodeRuneInString(m.code[m.pos:])
	m.pos += size
}

// blank replaces the next n bytes by spaces, except newlines.
func (m *masker) blank(n int) {
	for end := min(m.pos+n, len(m.code)); m.pos < end; m.pos++ {
		if m.code[m.pos] != '\n' {
			m.masked[m.pos] = ' '
		}
	}
}

// template masks the text of a template up to its end or to code in it.
func (m *masker) template() {
	for m.lastCode = '"'; m.pos < len(m.code); {
		switch rest := m.code[m.pos:]; {
		case rest[0] == '`':
			m.pos++
			return
		case rest[0] == '\\':
			m.blank(2)
		case strings.HasPrefix(rest, "${"):
			m.blank(2)
			m.braces, m.lastCode = append(m.braces, 0), '{'
			return
		default:
			m.blank(1)
		}
	}
}

// maybeRegexp reports whether a slash may start a regular expression: after a value, it divides.
func (m *masker) maybeRegexp() bool {
	if m.lastCode == 0 || strings.IndexByte("(,=:[!&|?{};+-*%<>~^", m.lastCode) >= 0 {
		return true
	}
	return bytes.HasSuffix(bytes.TrimRight(m.masked[:m.pos], " \t\n"), []byte("return"))
}

// endOfText returns the index of the quote that ends a string within its line, or -1.
func endOfText(s string, marks ...rune) int {
	escaped := false
	for i, c := range s {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '\n':
			return -1
		case strings.ContainsRune(string(marks), c):
			return i
		}
	}
	return -1
}

// endOfRegexp returns the index of the slash that ends a regular expression, or -1.
func endOfRegexp(s string) int {
	const maxLength = 2000
	inClass := false
	for i := 1; i < min(len(s), maxLength); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '/':
			if !inClass {
				return i
			}
		}
	}
	return -1
}

// firstLineLength returns the length of the first line.
func firstLineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// bracket is an unmatched bracket and its line.
type bracket struct {
	mark string
	line int
}

// unmatchedBracket returns the first unmatched bracket of a masked program, or nil. isOpen reports
// whether its closing half is missing.
func unmatchedBracket(masked string) (b *bracket, isOpen bool) {
	var open []bracket
	line := 1
	for _, c := range masked {
		switch c {
		case '\n':
			line++
		case '(', '[', '{':
			open = append(open, bracket{string(c), line})
		case ')', ']', '}':
			if len(open) == 0 {
				return &bracket{string(c), line}, false
			}
			last := open[len(open)-1]
			if closes := map[string]rune{"(": ')', "[": ']', "{": '}'}[last.mark]; closes != c {
				return &last, true
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return &open[len(open)-1], true
	}
	return nil, false
}

var asciiPunctuation = strings.NewReplacer("（", "(", "）", ")", "：", ":", "；", ";", "，", ",", "｛", "{", "｝", "}", "［", "[", "］", "]", "【", "[", "】", "]",
	"！", "!", "？", "?", "＝", "=", "＋", "+", "－", "-", "＊", "*", "／", "/", "＜", "<", "＞", ">", "。", ";", "、", ",", "“", `"`, "”", `"`, "‘", "'", "’", "'",
	"–", "-", "—", "-", "…", "...", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "")

// halfWidth replaces full-width and typographic punctuation in code by ASCII. Strings stay
// unchanged.
func halfWidth(code string) string {
	masked := mask(code)
	if strings.IndexFunc(masked, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return code
	}
	var b strings.Builder
	for i, c := range code {
		if s := string(c); c >= utf8.RuneSelf && strings.HasPrefix(masked[i:], s) {
			b.WriteString(asciiPunctuation.Replace(s))
		} else {
			b.WriteString(s)
		}
	}
	return b.String()
}
