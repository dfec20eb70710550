// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package analysis turns text into index terms: it splits text into words, normalizes and stems them,
// detects their language, segments text without spaces, and knows related words (other forms,
// synonyms, phrases and translations). It has no dependency on documents or indexes.
package analysis

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/einolean/einolean/internal/keyword/stem"
)

// MaxWordBytes is the longest word that is a token. A longer one is data, which nobody
// searches for.
const MaxWordBytes = 64

// Run is a stretch of text without separators. It is unspaced if it is in a script
// without spaces between words.
type Run struct {
	Text     string
	Start    int // in the text
	Unspaced bool
}

// EachRun visits the runs of normalized text. An apostrophe ends a word, and the
// letters after it are skipped: "user's" gives "user".
func EachRun(text string, visit func(Run)) {
	start, unspaced, skip := -1, false, false
	end := func(at int) {
		if start >= 0 && !skip && at > start {
			visit(Run{Text: text[start:at], Start: start, Unspaced: unspaced})
		}
		start = -1
	}
	for at, r := range text {
		switch {
		case !isWordRune(r):
			wasWord := start >= 0 && !unspaced && !skip
			end(at)
			skip = wasWord && (r == '\'' || r == '’')
			if skip {
				start, unspaced = at+utf8.RuneLen(r), false
			}
		case start < 0:
			start, unspaced, skip = at, isUnspaced(r), false
		case isUnspaced(r) != unspaced && !unicode.IsMark(r):
			end(at)
			start, unspaced, skip = at, isUnspaced(r), false
		}
	}
	end(len(text))
}

// EachPart visits the parts of a camelCase word. A part starts at an upper-case letter
// that does not follow another one, or that precedes a lower-case letter.
func EachPart(word string, visit func(part string)) {
	start := 0
	previous := rune(0)
	for at, r := range word {
		if at > 0 && unicode.IsUpper(r) {
			next, _ := utf8.DecodeRuneInString(word[at+utf8.RuneLen(r):])
			if !unicode.IsUpper(previous) || unicode.IsLower(next) {
				visit(word[start:at])
				start = at
			}
		}
		previous = r
	}
	visit(word[start:])
}

// LeadingIdentifier returns the identifier with inner underscores that text starts
// with, or "". A query with one means exactly that.
func LeadingIdentifier(text string) string {
	end, isJoined := 0, false
	for end < len(text) && (text[end] == '_' || text[end] < utf8.RuneSelf && isWordRune(rune(text[end]))) {
		isJoined = isJoined || text[end] == '_'
		end++
	}
	if isJoined = isJoined && text[0] != '_' && text[end-1] != '_'; !isJoined || end > MaxWordBytes {
		return ""
	}
	return text[:end]
}

// IDOf returns the word before "id" at the end of the name of a parameter, or "".
func IDOf(name string) (kind string) {
	previous := ""
	if len(name) > MaxWordBytes || !IsASCII(name) {
		return ""
	}
	EachRun(name, func(r Run) {
		EachPart(r.Text, func(part string) { kind, previous = previous, part })
	})
	switch strings.ToLower(previous) {
	case "id", "ids", "uuid", "guid":
		return kind
	}
	return ""
}

var fold = cases.Fold()

// StemInPlace folds the case of a word and removes English endings, in the memory of the
// word. It removes none from words with digits or other letters.
func StemInPlace(word []byte) []byte {
	digits := false
	for i, c := range word {
		switch {
		case c >= utf8.RuneSelf:
			if n, err := fold.Span(word, true); err == nil && n == len(word) {
				return word // allocates nothing, as for Chinese
			}
			return fold.Bytes(word)
		case 'A' <= c && c <= 'Z':
			word[i] = c - 'A' + 'a'
		}
		digits = digits || IsDigit(c)
	}
	if digits {
		return word
	}
	return stem.English(word)
}

// Stemmer reduces words to their stems and remembers those it has seen.
type Stemmer map[string]string

// Stem returns the stem of a word.
func (s Stemmer) Stem(word string) string {
	stem, ok := s[word]
	if !ok {
		stem = string(StemInPlace([]byte(word)))
		s[strings.Clone(word)] = stem
	}
	return stem
}

// EachStem visits the stems of the parts of a word, and if there are several, the stem
// of the whole word.
func (s Stemmer) EachStem(word string, visit func(token string)) {
	if len(word) > MaxWordBytes {
		return
	}
	count := 0
	EachPart(word, func(part string) {
		count++
		visit(s.Stem(part))
	})
	if count > 1 {
		visit(s.Stem(word))
	}
}

// EachCharacter visits every character of a run without spaces, and every two
// neighbours.
func EachCharacter(text string, visit func(token string)) {
	previous := -1
	for at, r := range text {
		end := at + utf8.RuneLen(r)
		visit(text[at:end])
		if previous >= 0 {
			visit(text[previous:end])
		}
		previous = at
	}
}

// Normalize folds width, compatibility forms, composition, Latin accents and
// traditional Chinese characters. Letter case stays. The result is valid UTF-8.
func Normalize(text string) string {
	if IsASCII(text) {
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

// IsASCII reports whether s is ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// simplified maps traditional Chinese characters to simplified ones.
var simplified = sync.OnceValue(func() map[rune]rune {
	m := make(map[rune]rune)
	EachLine(zhHant, func(pairs []string) {
		for _, pair := range pairs {
			from, size := utf8.DecodeRuneInString(pair)
			m[from], _ = utf8.DecodeRuneInString(pair[size:])
		}
	})
	return m
})

// isUnspaced reports whether r belongs to a script without spaces between words, or,
// like Korean, with spaces only between phrases.
func isUnspaced(r rune) bool {
	if r >= 0x4e00 && r <= 0x9fff {
		return true // most of them
	}
	return r >= 0xe00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

// StartsUnspaced reports whether s starts with a character of a script without spaces.
func StartsUnspaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isUnspaced(r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsDigit reports whether c is a digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

//go:embed zh_hant.txt
var zhHant string

// EachLine visits the lines of a list, except empty ones and comments.
func EachLine(text string, visit func(fields []string)) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			visit(fields)
		}
	}
}
