// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// A light reading of a program: what is code in it, and what is text.

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// mask returns a program in which the insides of strings, templates, comments and regular
// expressions are spaces. Every other byte is where it was.
func mask(code string) string {
	m := masker{code: code, out: []byte(code)}
	for m.at < len(code) {
		m.step()
	}
	return string(m.out)
}

type masker struct {
	code   string
	out    []byte
	at     int
	braces []int // those that are open in each ${...} under way
	last   byte  // of the code so far, spaces left out
}

func (m *masker) step() {
	c, rest := m.code[m.at], m.code[m.at:]
	switch {
	case c == '"' || c == '\'':
		m.text(1, endOfText(rest[1:], rune(c)))
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"):
		m.text(len("“"), endOfText(rest[len("“"):], '”', '“'))
	case c == '`':
		m.at++
		m.template()
	case c == '/':
		m.slash(rest)
	case c == '{' && len(m.braces) > 0:
		m.braces[len(m.braces)-1]++
		m.code1()
	case c == '}' && len(m.braces) > 0:
		top := len(m.braces) - 1
		if m.braces[top]--; m.braces[top] >= 0 {
			m.code1()
			return
		}
		m.braces = m.braces[:top]
		m.blank(1)
		m.template()
	default:
		m.code1()
	}
}

// slash passes a comment, a regular expression, or a slash that divides.
func (m *masker) slash(rest string) {
	switch {
	case strings.HasPrefix(rest, "//"):
		m.blank(lineOf(rest))
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			rest = rest[:end+4]
		}
		m.blank(len(rest))
	case m.maybeRegexp() && endOfRegexp(rest) > 0:
		m.text(1, endOfRegexp(rest)-1)
	default:
		m.code1()
	}
}

// code1 passes a byte of code.
func (m *masker) code1() {
	if c := m.code[m.at]; c > ' ' {
		m.last = c
	}
	m.at++
}

// text passes a text between marks of so many bytes. Without an end it takes the rest of its line.
func (m *masker) text(mark, length int) {
	m.at += mark
	m.last = '"'
	if length < 0 {
		m.blank(lineOf(m.code[m.at:]))
		return
	}
	m.blank(length)
	_, size := utf8.DecodeRuneInString(m.code[m.at:])
	m.at += size
}

// blank makes bytes spaces.
func (m *masker) blank(n int) {
	for end := min(m.at+n, len(m.code)); m.at < end; m.at++ {
		if m.code[m.at] != '\n' {
			m.out[m.at] = ' '
		}
	}
}

// template passes the text of a template up to its end, or to code in it.
func (m *masker) template() {
	for m.last = '"'; m.at < len(m.code); {
		switch rest := m.code[m.at:]; {
		case rest[0] == '`':
			m.at++
			return
		case rest[0] == '\\':
			m.blank(2)
		case strings.HasPrefix(rest, "${"):
			m.blank(2)
			m.braces, m.last = append(m.braces, 0), '{'
			return
		default:
			m.blank(1)
		}
	}
}

// maybeRegexp reports whether a slash can begin a regular expression: behind a value it divides.
func (m *masker) maybeRegexp() bool {
	if m.last == 0 || strings.IndexByte("(,=:[!&|?{};+-*%<>~^", m.last) >= 0 {
		return true
	}
	return bytes.HasSuffix(bytes.TrimRight(m.out[:m.at], " \t\n"), []byte("return"))
}

// endOfText is where a text ends that one of the marks closes in its line, -1 if none does.
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

// endOfRegexp is where a regular expression ends that begins here, -1 if none does.
func endOfRegexp(s string) int {
	const most = 2000
	inClass := false
	for i := 1; i < min(len(s), most); i++ {
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

// lineOf is the length of the first line.
func lineOf(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// bracket is one that nothing closes or that closes nothing, and its line.
type bracket struct {
	mark string
	line int
}

// unmatched returns the first bracket of a masked program without another half, nil if there is
// none. isOpen says which half is missing.
func unmatched(masked string) (b *bracket, isOpen bool) {
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

var halves = strings.NewReplacer("（", "(", "）", ")", "：", ":", "；", ";", "，", ",", "｛", "{", "｝", "}", "［", "[", "］", "]", "【", "[", "】", "]",
	"！", "!", "？", "?", "＝", "=", "＋", "+", "－", "-", "＊", "*", "／", "/", "＜", "<", "＞", ">", "。", ";", "、", ",", "“", `"`, "”", `"`, "‘", "'", "’", "'",
	"–", "-", "—", "-", "…", "...", "\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "")

// halfWidth writes the punctuation of the code of a program in ASCII: what stands in texts stays.
func halfWidth(code string) string {
	masked := mask(code)
	if strings.IndexFunc(masked, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return code
	}
	var b strings.Builder
	for i, c := range code {
		if s := string(c); c >= utf8.RuneSelf && strings.HasPrefix(masked[i:], s) {
			b.WriteString(halves.Replace(s))
		} else {
			b.WriteString(s)
		}
	}
	return b.String()
}
