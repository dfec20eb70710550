// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"slices"
)

// Costs of the ways to cut a run into words. Few long words beat many short ones, and a
// character that is a word is barely better than one that is not.
const (
	costWord   = 0.5
	costSingle = 1.1
	costGap    = 1.2
)

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
	from    []int // start of the last word of a prefix, at the least cost
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
		if word := s.text[at[0]:at[1]]; !s.l.politeness[word] {
			visit(word)
		}
	}
}

// eachRest visits the parts of the run between its politeness.
func (s *segmenter) eachRest(visit func(part string)) {
	start := 0
	for _, at := range s.words {
		if s.l.politeness[s.text[at[0]:at[1]]] {
			visit(s.text[start:at[0]])
			start = at[1]
		}
	}
	visit(s.text[start:])
}

// cut finds the words between the offsets and an end at the least cost.
func (s *segmenter) cut(end int) {
	offsets := append(s.offsets, end)
	cost, from := grown(s.cost, len(offsets)), grown(s.from, len(offsets))
	s.offsets, s.cost, s.from = offsets[:0], cost, from
	cost[0] = 0
	for end := 1; end < len(offsets); end++ {
		cost[end], from[end] = cost[end-1]+costGap, end-1
		for size := 1; size <= min(s.l.longest, end); size++ {
			price := cost[end-size] + costWord
			if size == 1 {
				price = cost[end-size] + costSingle
			}
			if price <= cost[end] && s.l.isWord(s.text[offsets[end-size]:offsets[end]]) {
				cost[end], from[end] = price, end-size
			}
		}
	}
	first := len(s.words)
	for end := len(offsets) - 1; end > 0; end = from[end] {
		if at := ([2]int{offsets[from[end]], offsets[end]}); s.l.isWord(s.text[at[0]:at[1]]) {
			s.words = append(s.words, at)
		}
	}
	slices.Reverse(s.words[first:])
}
