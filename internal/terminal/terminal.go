// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package terminal removes what a text holds for a terminal only: colors, cursor movements,
// titles, links, and what a carriage return or a backspace overwrites.
package terminal

import (
	"strings"
	"unicode/utf8"
)

const (
	escape    = '\x1b'
	bell      = '\a'
	backspace = '\b'
)

// Strip returns the text as a terminal would show it, without its colors. The number of lines
// stays the same. A text without line feeds keeps its carriage returns, which may be its line ends.
func Strip(text string) string {
	if strings.IndexByte(text, escape) < 0 && strings.IndexByte(text, backspace) < 0 && !overwrites(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	returns := strings.IndexByte(text, '\n') >= 0
	for line := range strings.Lines(text) {
		stripLine(&b, line, returns)
	}
	return b.String()
}

// overwrites reports whether a carriage return stands before anything but a line end.
func overwrites(text string) bool {
	if strings.IndexByte(text, '\n') < 0 {
		return false
	}
	for {
		i := strings.IndexByte(text, '\r')
		if i < 0 || i+1 == len(text) {
			return false
		}
		if text = text[i+1:]; text[0] != '\n' {
			return true
		}
	}
}

// stripLine writes one line, which may end with a line feed. returns says whether a carriage return
// moves to its start.
func stripLine(b *strings.Builder, line string, returns bool) {
	body := strings.TrimRight(line, "\r\n")
	if !returns {
		body = line
	}
	if strings.IndexByte(body, escape) >= 0 {
		body = withoutSequences(body)
	}
	if returns && strings.IndexByte(body, '\r') >= 0 {
		body = lastWritten(body)
	}
	if strings.IndexByte(body, backspace) >= 0 {
		body = withoutErased(body)
	}
	b.WriteString(body)
	if returns {
		b.WriteString(line[len(strings.TrimRight(line, "\r\n")):])
	}
}

// lastWritten is what the last carriage return leaves of a line: the last part that shows anything.
func lastWritten(line string) string {
	for {
		i := strings.LastIndexByte(line, '\r')
		if i < 0 {
			return line
		}
		if strings.TrimSpace(line[i+1:]) != "" {
			return line[i+1:]
		}
		line = line[:i]
	}
}

// withoutErased applies the backspaces of a line.
func withoutErased(line string) string {
	b := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != backspace {
			b = append(b, line[i])
			continue
		}
		_, n := utf8.DecodeLastRune(b)
		b = b[:len(b)-n]
	}
	return string(b)
}

// withoutSequences is a line without its escape sequences.
func withoutSequences(line string) string {
	var b strings.Builder
	b.Grow(len(line))
	for line != "" {
		i := strings.IndexByte(line, escape)
		if i < 0 {
			break
		}
		b.WriteString(line[:i])
		line = line[i+sequence(line[i:]):]
	}
	b.WriteString(line)
	return b.String()
}

// sequence is the length of the escape sequence that s begins with. One without an end is the
// escape and its first byte.
func sequence(s string) int {
	const introduced = len("\x1b[")
	if len(s) < introduced {
		return len(s)
	}
	switch c := s[1]; {
	case c == '[': // CSI: parameters, then one final byte
		for i := introduced; i < len(s); i++ {
			if c := s[i]; '@' <= c && c <= '~' {
				return i + 1
			} else if c < ' ' || c > '~' {
				return i
			}
		}
		return len(s)
	case strings.IndexByte("]PX^_", c) >= 0: // OSC and other strings, up to a bell or the terminator
		for i := introduced; i < len(s); i++ {
			if s[i] == bell {
				return i + 1
			}
			if s[i] == escape {
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return introduced
	case ' ' <= c && c <= '/': // intermediate bytes, then one final byte
		i := introduced
		for i < len(s) && ' ' <= s[i] && s[i] <= '/' {
			i++
		}
		return min(i+1, len(s))
	case c > '~' || c < '0':
		return 1
	}
	return introduced
}
