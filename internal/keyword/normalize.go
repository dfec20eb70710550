// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file removes what makes the same letter look different.

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalize folds width, compatibility forms, composition, Latin accents and
// traditional Chinese characters. Letter case stays. The result is valid UTF-8.
func normalize(text string) string {
	if isASCII(text) {
		return text
	}
	toSimplified := simplified()
	bare := strings.Map(func(r rune) rune {
		switch {
		case r >= 0x300 && r <= 0x36f: // combining accents
			return -1
		case r < 0x2e80:
			return r
		}
		if simple, ok := toSimplified[r]; ok {
			return simple
		}
		return r
	}, norm.NFKD.String(strings.ToValidUTF8(text, " ")))
	return norm.NFKC.String(bare)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// simplified leads from traditional Chinese characters to simplified ones.
var simplified = sync.OnceValue(func() map[rune]rune {
	m := make(map[rune]rune)
	eachLine("zh_hant.txt", func(pairs []string) {
		for _, pair := range pairs {
			from, size := utf8.DecodeRuneInString(pair)
			m[from], _ = utf8.DecodeRuneInString(pair[size:])
		}
	})
	return m
})

// isDense reports whether r belongs to a script that is written without spaces
// between words, or, as Korean is, with whole phrases between spaces.
func isDense(r rune) bool {
	return r >= 0xe00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

func startsDense(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isDense(r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
