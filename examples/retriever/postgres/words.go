// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package postgres

// Words as the server's parser finds them.

import (
	"strings"
	"unicode"
)

// spaced puts spaces where words meet: at the marks and the camelCase of names, around
// numbers' neighbours, and between every two characters of Chinese, Japanese and Korean,
// which the server would take for one word.
func spaced(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	runes := []rune(text)
	for i := 0; i < len(runes); {
		switch r := runes[i]; {
		case isCJK(r):
			end := i
			for end < len(runes) && isCJK(runes[end]) {
				end++
			}
			writeBigrams(&b, runes[i:end])
			i = end
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			b.WriteByte(' ')
			b.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
		i++
	}
	return b.String()
}

// writeBigrams writes every two characters that stand side by side, or the only one.
func writeBigrams(b *strings.Builder, run []rune) {
	b.WriteByte(' ')
	if len(run) == 1 {
		b.WriteRune(run[0])
	}
	for i := 0; i+1 < len(run); i++ {
		b.WriteString(string(run[i:i+2]) + " ")
	}
	b.WriteByte(' ')
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
