// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file takes names apart.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// segments cuts a name at its underscores and drops what is empty.
func segments(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' })
}

// humps cuts a segment where camelCase starts a new word: before an upper-case
// letter that follows a lower-case one, or that is followed by one.
func humps(segment string) []string {
	if segment == "" {
		return nil
	}
	var parts []string
	start := 0
	previous, at := utf8.DecodeRuneInString(segment)
	for at < len(segment) {
		current, size := utf8.DecodeRuneInString(segment[at:])
		if unicode.IsUpper(current) && (unicode.IsLower(previous) || startsLower(segment[at+size:])) {
			parts = append(parts, segment[start:at])
			start = at
		}
		previous, at = current, at+size
	}
	return append(parts, segment[start:])
}

func startsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsLower(r)
}
