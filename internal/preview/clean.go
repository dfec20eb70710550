// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// What a preview leaves out of every text before it looks at it: what only a terminal shows, and
// long base64, of which it says the size.

import (
	"strings"

	"github.com/einolean/einolean/internal/terminal"
)

// clean returns a text without terminal escapes and long base64. It preserves the number of lines.
func (m *previewer) clean(text string) string {
	return withoutBase64(m.labels, withoutEscapes(terminal.Strip(text)))
}

// withoutEscapes removes the colors that JSON strings hold in their escaped form.
func withoutEscapes(text string) string {
	const escaped = `\u001b[`
	const longest = 32
	if !strings.Contains(text, escaped) && !strings.Contains(text, strings.ToUpper(escaped)) && !strings.Contains(text, `\u001B[`) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for i := 0; i+len(escaped) <= len(text); {
		n := strings.IndexByte(text[i:], '\\')
		if n < 0 {
			break
		}
		i += n
		if len(text) < i+len(escaped) || !strings.EqualFold(text[i:i+len(escaped)], escaped) {
			i += 2 // an escape, of which the second byte may be a backslash
			continue
		}
		end := i + len(escaped)
		for end < len(text) && end < i+longest && (' ' <= text[end] && text[end] < '@') && text[end] != '"' {
			end++
		}
		if end == len(text) || !alphanumeric[text[end]] {
			i += 2
			continue
		}
		b.WriteString(text[done:i])
		i = end + 1
		done = i
	}
	b.WriteString(text[done:])
	return b.String()
}

const (
	// leastBase64 is the length from which a run counts as base64. After an explicit marker a shorter run does.
	leastBase64  = 1000
	markedBase64 = 200
	markBase64   = ";base64,"
)

// inBase64 contains the bytes of both base64 alphabets.
var inBase64 = func() (set [256]bool) {
	set = alphanumeric
	for _, c := range "+/-_=" {
		set[c] = true
	}
	return set
}()

// withoutBase64 replaces long base64 with its size.
func withoutBase64(lang labels, text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i+markedBase64 <= len(text); {
		from, last := i, i+markedBase64-1 // of the shortest run that begins here
		for last >= from && inBase64[text[last]] {
			last--
		}
		if last >= from {
			i = last + 1
			continue
		}
		for i = from + markedBase64; i < len(text) && inBase64[text[i]]; {
			i++
		}
		if isBase64(text[:from], text[from:i]) {
			b.WriteString(text[done:from])
			b.WriteString(lang.textWithCount("base64", i-from))
			done = i
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isBase64 reports whether a run is long base64, by the text before it or by its mix of lower case, upper case
// and digits.
func isBase64(before, run string) bool {
	if len(run) >= markedBase64 && strings.HasSuffix(before, markBase64) {
		return true
	}
	if len(run) < leastBase64 {
		return false
	}
	small, capital, digits := 0, 0, 0
	sample := run[:leastBase64]
	for i := range len(sample) {
		switch c := sample[i]; {
		case 'a' <= c && c <= 'z':
			small++
		case 'A' <= c && c <= 'Z':
			capital++
		case '0' <= c && c <= '9':
			digits++
		}
	}
	return min(small, capital)*8 >= len(sample) && digits*50 >= len(sample)
}
