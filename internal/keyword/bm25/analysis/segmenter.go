// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"
)

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
func (l *Lexicon) parted(text string) string {
	verb, object := gap(text)
	if object == verb || object == len(text) {
		return ""
	}
	var letters [maxParted * utf8.UTFMax]byte
	word := append(append(letters[:0], text[:verb]...), text[object:]...)
	if l.meanings[string(word)] == nil {
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

// Segmenter cuts runs without spaces into words of the lexicon, one after the other, and
// keeps its memory.
type Segmenter struct {
	l     *Lexicon
	text  string
	words [][2]int // start and end of those of the lexicon, and of politeness

	offsets []int // of the characters, and of the end
	cost    []float64
	from    []int  // start of the last word of a prefix, at the least cost
	longest []int  // characters of a word that starts at each
	mayPart []bool // whether a verb that starts at each may be parted
	most    int    // of longest
}

// CutRun finds the words of a run, and the politeness in it.
func (s *Segmenter) CutRun(l *Lexicon, text string) {
	s.l, s.text, s.words, s.offsets = l, text, s.words[:0], s.offsets[:0]
	for at := range text {
		if len(s.offsets) == maxSegmented {
			s.segment(at)
		}
		s.offsets = append(s.offsets, at)
	}
	s.segment(len(text))
}

// Forget drops the text.
func (s *Segmenter) Forget() { s.text = "" }

// EachWord visits the words, in order. It leaves out politeness and characters that belong
// to no word.
func (s *Segmenter) EachWord(visit func(word string)) {
	for _, at := range s.words {
		if word := s.word(at); !s.l.politeness[word] {
			visit(word)
		}
	}
}

// word is the word that stands at a place, "" if none does.
func (s *Segmenter) word(at [2]int) string {
	text := s.text[at[0]:at[1]]
	if s.l.isWord(text) {
		return text
	}
	return s.l.parted(text)
}

// IsAcross reports whether a word starts or ends between two places in the run.
func (s *Segmenter) IsAcross(from, to int) bool {
	i, _ := slices.BinarySearchFunc(s.words, from+1, func(at [2]int, end int) int { return at[1] - end })
	return i < len(s.words) && (s.words[i][1] < to || from < s.words[i][0] && s.words[i][0] < to)
}

// EachRest visits the parts of the run between its politeness, and where they start.
func (s *Segmenter) EachRest(visit func(part string, start int)) {
	start := 0
	for _, at := range s.words {
		if s.l.politeness[s.text[at[0]:at[1]]] {
			visit(s.text[start:at[0]], start)
			start = at[1]
		}
	}
	visit(s.text[start:], start)
}

// segment finds the words between the offsets and an end at the least cost.
func (s *Segmenter) segment(end int) {
	offsets := append(s.offsets, end)
	cost, from := sized(s.cost, len(offsets)), sized(s.from, len(offsets))
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
func (s *Segmenter) look(offsets []int) {
	s.longest, s.mayPart, s.most = sized(s.longest, len(offsets)), sized(s.mayPart, len(offsets)), 0
	text := s.text[:offsets[len(offsets)-1]]
	for i, at := range offsets[:len(offsets)-1] {
		first, _ := utf8.DecodeRuneInString(text[at:])
		s.longest[i] = s.l.longest[first]
		s.most = max(s.most, s.longest[i])
		verb, object := gap(text[at:])
		s.mayPart[i] = object > verb
	}
}

// sized returns memory for n values, which may be any.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
