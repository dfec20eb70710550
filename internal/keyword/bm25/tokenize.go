// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/einolean/einolean/internal/keyword/stem"
)

// maxWordBytes is the longest word that is a token. A longer one is data, which nobody
// searches for.
const maxWordBytes = 64

// run is a stretch of text without separators. It is unspaced if it is in a script
// without spaces between words.
type run struct {
	text     string
	start    int // in the text
	unspaced bool
}

// eachRun visits the runs of normalized text. An apostrophe ends a word, and the
// letters after it are skipped: "user's" gives "user".
func eachRun(text string, visit func(run)) {
	start, unspaced, skip := -1, false, false
	end := func(at int) {
		if start >= 0 && !skip && at > start {
			visit(run{text: text[start:at], start: start, unspaced: unspaced})
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

// eachPart visits the parts of a camelCase word. A part starts at an upper-case letter
// that does not follow another one, or that precedes a lower-case letter.
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

// leadingIdentifier returns the identifier with inner underscores that text starts
// with, or "". A query with one means exactly that.
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

// idOf returns the word before "id" at the end of the name of a parameter, or "".
func idOf(name string) (kind string) {
	previous := ""
	if len(name) > maxWordBytes || !isASCII(name) {
		return ""
	}
	eachRun(name, func(r run) {
		eachPart(r.text, func(part string) { kind, previous = previous, part })
	})
	switch strings.ToLower(previous) {
	case "id", "ids", "uuid", "guid":
		return kind
	}
	return ""
}

var fold = cases.Fold()

// stemInPlace folds the case of a word and removes English endings, in the memory of the
// word. It removes none from words with digits or other letters.
func stemInPlace(word []byte) []byte {
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
		digits = digits || isDigit(c)
	}
	if digits {
		return word
	}
	return stem.English(word)
}

// stemmer reduces words to their stems and remembers those it has seen.
type stemmer map[string]string

func (s stemmer) stem(word string) string {
	stem, ok := s[word]
	if !ok {
		stem = string(stemInPlace([]byte(word)))
		s[strings.Clone(word)] = stem
	}
	return stem
}

// eachStem visits the stems of the parts of a word, and if there are several, the stem
// of the whole word.
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

// eachCharacter visits every character of a run without spaces, and every two
// neighbours.
func eachCharacter(text string, visit func(token string)) {
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

// simplified maps traditional Chinese characters to simplified ones.
var simplified = sync.OnceValue(func() map[rune]rune {
	m := make(map[rune]rune)
	eachLine(zhHant, func(pairs []string) {
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

func startsUnspaced(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isUnspaced(r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

//go:embed zh_hant.txt
var zhHant string

// eachLine visits the lines of a list, except empty ones and comments.
func eachLine(text string, visit func(fields []string)) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			visit(fields)
		}
	}
}

// Costs of the ways to cut a run into words. Few long words beat many short ones, and a
// character that is a word is barely better than one that is not.
const (
	costWord   = 0.5
	costSingle = 1.1
	costGap    = 1.2
)

// A verb that is parted from its object is as many characters.
const (
	minParted = 3
	maxParted = 7
)

// What may stand between a verb and its object: an aspect, a number and a measure word, each
// at most once and in this order.
var between = [...]string{"了过着", "一两几多", "少", "个条张份次件封篇部段台套本杯趟场首遍点些下通笔顿间家"}

// parted is the word of which text is the parts, with what may stand between a verb and its
// object: 发个短信 is 发短信. It is "" if there is none.
func (l *Words) parted(text string) string {
	verb, object := gap(text)
	if object == verb || object == len(text) {
		return ""
	}
	var letters [maxParted * utf8.UTFMax]byte
	word := append(append(letters[:0], text[:verb]...), text[object:]...)
	if l.lexicon[string(word)] == nil {
		return ""
	}
	return string(word)
}

// gap is where the first character of text ends, and where what may stand between it and its
// object does.
func gap(text string) (verb, object int) {
	_, verb = utf8.DecodeRuneInString(text)
	object = verb
	for _, characters := range between {
		if r, size := utf8.DecodeRuneInString(text[object:]); strings.ContainsRune(characters, r) {
			object += size
		}
	}
	return verb, object
}

// maxSegmented is the number of characters that are cut into words at once.
const maxSegmented = 512

// segmenter cuts runs without spaces into words of the lexicon, one after the other, and
// keeps its memory.
type segmenter struct {
	l     *Words
	text  string
	words [][2]int // start and end of those of the lexicon, and of politeness

	offsets []int // of the characters, and of the end
	cost    []float64
	from    []int  // start of the last word of a prefix, at the least cost
	longest []int  // characters of a word that starts at each
	mayPart []bool // whether a verb that starts at each may be parted
	most    int    // of longest
}

// cutRun finds the words of a run, and the politeness in it.
func (s *segmenter) cutRun(l *Words, text string) {
	s.l, s.text, s.words, s.offsets = l, text, s.words[:0], s.offsets[:0]
	for at := range text {
		if len(s.offsets) == maxSegmented {
			s.cut(at)
		}
		s.offsets = append(s.offsets, at)
	}
	s.cut(len(text))
}

// eachWord visits the words, in order. It leaves out politeness and characters that belong
// to no word.
func (s *segmenter) eachWord(visit func(word string)) {
	for _, at := range s.words {
		if word := s.word(at); !s.l.politeness[word] {
			visit(word)
		}
	}
}

// word is the word that stands at a place, "" if none does.
func (s *segmenter) word(at [2]int) string {
	text := s.text[at[0]:at[1]]
	if s.l.isWord(text) {
		return text
	}
	return s.l.parted(text)
}

// isAcross reports whether a word starts or ends between two places in the run.
func (s *segmenter) isAcross(from, to int) bool {
	i, _ := slices.BinarySearchFunc(s.words, from+1, func(at [2]int, end int) int { return at[1] - end })
	return i < len(s.words) && (s.words[i][1] < to || from < s.words[i][0] && s.words[i][0] < to)
}

// eachRest visits the parts of the run between its politeness, and where they start.
func (s *segmenter) eachRest(visit func(part string, start int)) {
	start := 0
	for _, at := range s.words {
		if s.l.politeness[s.text[at[0]:at[1]]] {
			visit(s.text[start:at[0]], start)
			start = at[1]
		}
	}
	visit(s.text[start:], start)
}

// cut finds the words between the offsets and an end at the least cost.
func (s *segmenter) cut(end int) {
	offsets := append(s.offsets, end)
	cost, from := grown(s.cost, len(offsets)), grown(s.from, len(offsets))
	s.offsets, s.cost, s.from = offsets[:0], cost, from
	s.look(offsets)
	cost[0] = 0
	for end := 1; end < len(offsets); end++ {
		cost[end], from[end] = cost[end-1]+costGap, end-1
		for start := end - 1; start >= 0 && end-start <= s.most; start-- {
			text, price := s.text[offsets[start]:offsets[end]], cost[start]+costWord
			if end-start == 1 {
				price = cost[start] + costSingle
			}
			if price <= cost[end] && end-start <= s.longest[start] && s.l.isWord(text) {
				cost[end], from[end] = price, start
			}
		}
		for start := end - minParted; start >= 0 && end-start <= maxParted; start-- {
			price := cost[start] + costWord
			if price <= cost[end] && s.mayPart[start] && s.l.parted(s.text[offsets[start]:offsets[end]]) != "" {
				cost[end], from[end] = price, start
			}
		}
	}
	first := len(s.words)
	for end := len(offsets) - 1; end > 0; end = from[end] {
		if at := ([2]int{offsets[from[end]], offsets[end]}); s.word(at) != "" {
			s.words = append(s.words, at)
		}
	}
	slices.Reverse(s.words[first:])
}

// look finds out how long a word can be that starts at each offset.
func (s *segmenter) look(offsets []int) {
	s.longest, s.mayPart, s.most = grown(s.longest, len(offsets)), grown(s.mayPart, len(offsets)), 0
	text := s.text[:offsets[len(offsets)-1]]
	for i, at := range offsets[:len(offsets)-1] {
		first, _ := utf8.DecodeRuneInString(text[at:])
		s.longest[i] = s.l.longest[first]
		s.most = max(s.most, s.longest[i])
		verb, object := gap(text[at:])
		s.mayPart[i] = object > verb
	}
}
