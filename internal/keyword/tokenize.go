// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file turns text into the tokens that BM25 counts.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/cases"
)

// maxWordBytes is the longest word that is a token. What is longer is data, not a
// word that anybody searches for.
const maxWordBytes = 64

// run is a stretch of text without separators, all of it dense or none of it.
type run struct {
	text  string
	start int // in the text
	dense bool
}

// eachRun visits the runs of normalized text. An apostrophe ends a word, and the
// letters after it belong to none: what is left of "user's" is "user".
func eachRun(text string, visit func(run)) {
	start, dense, skip := -1, false, false
	end := func(at int) {
		if start >= 0 && !skip && at > start {
			visit(run{text: text[start:at], start: start, dense: dense})
		}
		start = -1
	}
	for at, r := range text {
		switch {
		case !isWordRune(r):
			wasWord := start >= 0 && !dense && !skip
			end(at)
			skip = wasWord && (r == '\'' || r == '’')
			if skip {
				start, dense = at+utf8.RuneLen(r), false
			}
		case start < 0:
			start, dense, skip = at, isDense(r), false
		case isDense(r) != dense && !unicode.IsMark(r):
			end(at)
			start, dense, skip = at, isDense(r), false
		}
	}
	end(len(text))
}

// eachPart cuts a word where camelCase does: before an upper-case letter after
// anything else, and before the last of several if a lower-case letter follows it.
func eachPart(word string, visit func(part string)) {
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

// leadingIdentifier returns the identifier with underscores inside that text starts with,
// or "". Whoever writes one means just that.
func leadingIdentifier(text string) string {
	end, joined := 0, false
	for end < len(text) && (text[end] == '_' || text[end] < utf8.RuneSelf && isWordRune(rune(text[end]))) {
		joined = joined || text[end] == '_'
		end++
	}
	if joined = joined && text[0] != '_' && text[end-1] != '_'; !joined || end > maxWordBytes {
		return ""
	}
	return text[:end]
}

// stemmer reduces words to their stems and remembers those it has seen.
type stemmer map[string]string

// stem folds case and takes off English endings. Words with digits or other letters
// have none.
func (s stemmer) stem(word string) string {
	if stem, ok := s[word]; ok {
		return stem
	}
	stem := ""
	switch {
	case !isASCII(word):
		stem = cases.Fold().String(word)
	case strings.ContainsAny(word, "0123456789"):
		stem = strings.ToLower(word)
	default:
		stem = english.Stem(word, true)
	}
	s[strings.Clone(word)] = stem
	return stem
}

// eachToken visits the tokens of any text.
func (s stemmer) eachToken(text string, visit func(token string)) {
	eachRun(normalize(text), func(r run) {
		if r.dense {
			eachGlyph(r.text, visit)
		} else {
			s.eachStem(r.text, visit)
		}
	})
}

// eachStem visits the stems of the parts of a word, and of the whole of it if there
// are several.
func (s stemmer) eachStem(word string, visit func(token string)) {
	if len(word) > maxWordBytes {
		return
	}
	count := 0
	eachPart(word, func(part string) {
		count++
		visit(s.stem(part))
	})
	if count > 1 {
		visit(s.stem(word))
	}
}

// eachGlyph visits every character of a dense run and every two neighbours.
func eachGlyph(text string, visit func(token string)) {
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
