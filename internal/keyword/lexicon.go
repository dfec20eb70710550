// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds the words in text that does not put spaces between them.

import "slices"

// What a way of cutting a run into words costs. Few long words beat many short
// ones, and a character that is a word of its own hardly beats one that is none.
const (
	costWord   = 0.5
	costSingle = 1.1
	costGap    = 1.2
)

// maxSegmented is the longest stretch, in runes, that is cut into words at once.
const maxSegmented = 512

// stretch is a part of a text.
type stretch struct{ start, end int }

// segment cuts a dense run into words of the lexicon, in order, at the least cost.
// Characters that belong to no word are left out, and so are fillers.
func (l *lists) segment(text string) []string {
	var words []string
	for _, s := range l.stretches(text) {
		if word := text[s.start:s.end]; !l.fillers[word] {
			words = append(words, word)
		}
	}
	return words
}

// withoutFillers returns what is between the fillers of a dense run.
func (l *lists) withoutFillers(text string) []string {
	var parts []string
	start := 0
	for _, s := range l.stretches(text) {
		if l.fillers[text[s.start:s.end]] {
			parts = append(parts, text[start:s.start])
			start = s.end
		}
	}
	return append(parts, text[start:])
}

// stretches are the words of the lexicon and the fillers in a dense run.
func (l *lists) stretches(text string) []stretch {
	var words []stretch
	offsets := make([]int, 0, len(text)/3+1) // of the runes, and of the end
	for at := range text {
		if len(offsets) == maxSegmented {
			words = append(words, l.cut(text, append(offsets, at))...)
			offsets = offsets[:0]
		}
		offsets = append(offsets, at)
	}
	return append(words, l.cut(text, append(offsets, len(text)))...)
}

func (l *lists) isWord(text string) bool { return l.lexicon[text] != nil || l.fillers[text] }

func (l *lists) cut(text string, offsets []int) []stretch {
	cost := make([]float64, len(offsets))
	from := make([]int, len(offsets)) // where the best last word of a prefix starts
	for end := 1; end < len(offsets); end++ {
		cost[end], from[end] = cost[end-1]+costGap, end-1
		for size := 1; size <= min(l.longest, end); size++ {
			price := cost[end-size] + costWord
			if size == 1 {
				price = cost[end-size] + costSingle
			}
			if price <= cost[end] && l.isWord(text[offsets[end-size]:offsets[end]]) {
				cost[end], from[end] = price, end-size
			}
		}
	}
	var words []stretch
	for end := len(offsets) - 1; end > 0; end = from[end] {
		if s := (stretch{start: offsets[from[end]], end: offsets[end]}); l.isWord(text[s.start:s.end]) {
			words = append(words, s)
		}
	}
	slices.Reverse(words)
	return words
}
