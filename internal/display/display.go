// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package display writes texts and numbers for people to read: in a log, in a
// terminal, on a page.
package display

// The functions of this file have no state.

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable is text with everything escaped that could act on a terminal or break a line.
func Printable(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// Line is text on one line: white space is one space each, and the rest is Printable.
func Line(text string) string { return Printable(strings.Join(strings.Fields(text), " ")) }

// Grouped is a number with a comma between groups of three digits.
func Grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Start is the start of a text in at most n bytes, at the end of a character.
func Start(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
