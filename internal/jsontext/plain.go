// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import "bytes"

// BlankComments replaces by spaces what editors allow in JSON: a byte order mark, comments, and commas after the
// last element. Offsets of everything else stay the same.
func BlankComments(data []byte) []byte {
	out := bytes.Clone(data)
	start := 0
	if bytes.HasPrefix(out, []byte("\uFEFF")) {
		start = len("\uFEFF")
		copy(out, "   ")
	}
	comma := -1 // the last comma, while only white space and comments follow it
	for i := start; i < len(out); {
		n := tokenEnd(out[i:])
		switch part := out[i : i+n]; {
		case bytes.HasPrefix(part, []byte("//")), bytes.HasPrefix(part, []byte("/*")) && isClosed(part):
			fillBlank(part)
		case part[0] == ',':
			comma = i
		case part[0] == '}' || part[0] == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case bytes.IndexByte([]byte(" \t\r\n"), part[0]) < 0:
			comma = -1
		}
		i += n
	}
	return out
}

func isClosed(comment []byte) bool {
	return len(comment) >= 4 && bytes.HasSuffix(comment, []byte("*/"))
}

// fillBlank replaces a text by spaces, and keeps its lines.
func fillBlank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// tokenEnd is the length of the text or comment that data begins with; else 1.
func tokenEnd(data []byte) int {
	end := -1
	switch {
	case data[0] == '"':
		for i := 1; i < len(data); i++ {
			if data[i] == '\\' {
				i++
			} else if data[i] == '"' {
				return i + 1
			}
		}
	case bytes.HasPrefix(data, []byte("//")):
		end = bytes.IndexByte(data, '\n')
	case bytes.HasPrefix(data, []byte("/*")):
		if end = bytes.Index(data[2:], []byte("*/")); end >= 0 {
			end += 4
		}
	default:
		return 1
	}
	if end < 0 {
		return len(data)
	}
	return end
}
