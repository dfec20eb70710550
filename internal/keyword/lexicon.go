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

// segment cuts a dense run into words of the lexicon, in order, at the least cost.
// Characters that belong to no word are left out.
func (l *lists) segment(text string) []string {
	var words []string
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

func (l *lists) cut(text string, offsets []int) []string {
	cost := make([]float64, len(offsets))
	from := make([]int, len(offsets)) // where the best last word of a prefix starts
	for end := 1; end < len(offsets); end++ {
		cost[end], from[end] = cost[end-1]+costGap, end-1
		for size := 1; size <= min(l.longest, end); size++ {
			price := cost[end-size] + costWord
			if size == 1 {
				price = cost[end-size] + costSingle
			}
			if price <= cost[end] && l.lexicon[text[offsets[end-size]:offsets[end]]] != nil {
				cost[end], from[end] = price, end-size
			}
		}
	}
	var words []string
	for end := len(offsets) - 1; end > 0; end = from[end] {
		if word := text[offsets[from[end]]:offsets[end]]; l.lexicon[word] != nil {
			words = append(words, word)
		}
	}
	slices.Reverse(words)
	return words
}
