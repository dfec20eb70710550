// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package display writes texts and numbers for people to read: in a log, in a
// terminal, on a page.
package display

// The functions of this file have no state.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable is text with everything escaped that could act on a terminal, turn the direction of
// writing or break a line. What is escaped stays as it is when it is escaped again.
func Printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsGraphic(r) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case strconv.IsGraphic(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteToGraphic(text[i : i+n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return b.String()
}

// JSON is a text of JSON that means the same, and in which everything is escaped that Printable
// escapes but white space between values.
func JSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r > ' ' && !strconv.IsGraphic(r) }) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r <= ' ' || strconv.IsGraphic(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// Line is text on one line: white space is one space each, and the rest is Printable.
func Line(text string) string { return Printable(strings.Join(strings.Fields(text), " ")) }

// Quoted is text as a JSON string that a model can copy, with only the escapes that JSON needs.
func Quoted(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

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

// Finite is the nearest number to x that can be written as JSON; 0 if x is none.
func Finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
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

// Short is a text in at most n bytes, with … behind it if there is more.
func Short(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Start(text, n) + "…"
}

// Clip is a text in at most that many characters, with … behind it if there were more, as valid
// UTF-8.
func Clip(text string, runes int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= runes {
		return text
	}
	return string([]rune(text)[:max(0, runes)]) + "…"
}

// Valid is a text as valid UTF-8 at the same length: every byte that is none becomes a
// question mark.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	b := []byte(text)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			b[i] = '?'
		}
		i += n
	}
	return string(b)
}

// Floor is the greatest offset up to n at which a text can be cut without splitting a
// character. Bytes that are not UTF-8 count as characters of their own.
func Floor[T string | []byte](text T, n int) int {
	n = min(max(n, 0), len(text))
	for start := n - 1; start >= 0 && start > n-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			if start+runeSize(text, start) > n {
				return start
			}
			break
		}
	}
	return n
}

// Ceil is the smallest offset from n on at which a text can be cut without splitting a
// character.
func Ceil[T string | []byte](text T, n int) int {
	start := Floor(text, n)
	if start < min(n, len(text)) {
		return start + runeSize(text, start)
	}
	return start
}

// runeSize is how many bytes the character at an offset has; 1 where there is none.
func runeSize[T string | []byte](text T, at int) int {
	_, size := utf8.DecodeRuneInString(string(text[at:min(len(text), at+utf8.UTFMax)]))
	return size
}
