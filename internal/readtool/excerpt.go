// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Excerpts of passages that are too long to be shown whole.

import (
	"math/bits"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

const (
	// fragmentBytes is about the longest fragment.
	fragmentBytes = 160
	// leftOut stands where fragments are left out.
	leftOut = "…"
	// The first fragment of a passage, which says what it is, and fragments with data, which a question can only
	// describe, count as much as words of so much of the largest weight.
	firstShare, dataShare = .1, .1
)

// fragment is a part of a passage that makes sense by itself: a line, a sentence, a member of an object.
type fragment struct {
	start, end int
	words      uint64 // of the query
	data       float64
	chosen     bool
}

// excerpt returns the fragments of a text that have most of what is asked for, in at most room bytes, in
// their order.
func excerpt(text string, find *termFinder, room int) string {
	if len(text) <= room {
		return text
	}
	all := fragments(text)
	for i, f := range all {
		all[i].words = find.find(text[f.start:f.end])
		all[i].data = dataIn(text[f.start:f.end])
	}
	most := 0.
	for _, w := range find.weights {
		most = max(most, w)
	}
	seen := uint64(0)
	for {
		best, value := -1, 0.
		for i, f := range all {
			if f.chosen || f.end-f.start+2*len(leftOut)+1 > room {
				continue
			}
			worth := dataShare * most * f.data
			if i == 0 {
				worth += firstShare * most
			}
			for words := f.words &^ seen; words != 0; words &= words - 1 {
				worth += find.weights[bits.TrailingZeros64(words)]
			}
			if worth /= float64(40 + f.end - f.start); worth > value {
				best, value = i, worth
			}
		}
		if best < 0 {
			break
		}
		all[best].chosen = true
		seen |= all[best].words
		room -= all[best].end - all[best].start
		if best == 0 || !all[best-1].chosen {
			room -= len(leftOut) + 1
		}
	}
	if seen == 0 && !all[0].chosen { // not one fragment fits
		return display.Start(text, room-len(leftOut)) + leftOut
	}
	return joinedFragments(text, all)
}

// joinedFragments writes the chosen fragments, and where others are left out.
func joinedFragments(text string, all []fragment) string {
	var b strings.Builder
	end := 0
	for _, f := range all {
		if !f.chosen {
			continue
		}
		if f.start > end {
			b.WriteString(leftOut)
		}
		b.WriteString(text[f.start:f.end])
		end = f.end
	}
	if end < len(text) {
		b.WriteString(leftOut)
	}
	return b.String()
}

// fragments takes a text apart. Nothing is lost between two of them.
func fragments(text string) (all []fragment) {
	for from := 0; from < len(text); {
		to := from + fragmentLength(text[from:])
		all = append(all, fragment{start: from, end: to})
		from = to
	}
	return all
}

// fragmentEnds are where a long line can be parted.
var fragmentEnds = []string{"\n", `\n`, `",`, "},", "],", "),", "><", ". ", "。", "；", ", ", "，"}

// fragmentLength is how long the fragment at the start of a text is.
func fragmentLength(text string) int {
	line := strings.IndexByte(text, '\n') + 1
	if line == 0 {
		line = len(text)
	}
	if line <= fragmentBytes {
		return line
	}
	best := 0
	for _, end := range fragmentEnds {
		const short = 24
		for at := 0; at < fragmentBytes; {
			i := strings.Index(text[at:fragmentBytes], end)
			if i < 0 {
				break
			}
			if at += i + len(end); at >= short {
				cut := at
				if end == "><" {
					cut--
				}
				if best == 0 || cut < best {
					best = cut
				}
				break
			}
		}
	}
	if best > 0 {
		return best
	}
	if i := strings.LastIndexByte(text[:fragmentBytes], ' ') + 1; i > fragmentBytes/2 {
		return i
	}
	return max(1, len(display.Start(text, fragmentBytes)))
}

// dataIn says how much of a text is data: numbers, ids, addresses. It is 1 where all is.
func dataIn(text string) float64 {
	data, all := 0, 0
	for _, word := range strings.Fields(text) {
		all += len(word)
		if strings.ContainsAny(word, "0123456789@") {
			data += len(word)
		}
	}
	return float64(data) / float64(max(1, all))
}
