// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package rank

// Lines of a text, ranked by what was talked about.

import (
	"math"
	"strings"
	"unicode/utf8"
)

const (
	// maxTalk is how much of a talk is read, from its end.
	maxTalk = 2000
	// maxLine is how much of a line is looked at.
	maxLine = 2400
	// A word that more than one of tooCommon lines have tells nothing, in more than
	// fewLines.
	tooCommon, fewLines = 8, 30
)

// Talk is what was said before a text came: many words, of which those tell something that are rare in
// the text. A Query, whose author chose each word, ranks pages worse by it, and takes three times as long.
type Talk struct {
	words map[uint32]int // by hash
	some  [8]uint64      // a bit for the end of each hash in words: most words of a text are in none
}

func (q *Talk) bit(hash uint32) (at, bit uint32) { return hash >> 6 % uint32(len(q.some)), hash & 63 }

// fillers are words that say nothing about what is asked.
var fillers = setOf("the and for that this with what which you your can are was were how has have had not from into out all any but will would should could please let get use using used now then first next also need want check look see find show list file result tool true false null path text name value")

// NewTalk reads a talk. It is nil if there is no word in it that tells something.
func NewTalk(text string) *Talk {
	text = strings.TrimSpace(text)
	if len(text) > maxTalk {
		text = text[len(text)-maxTalk:]
	}
	q := &Talk{words: make(map[uint32]int)}
	eachHash(text, func(hash uint32, word string) {
		if _, known := q.words[hash]; known || len(q.words) == maxTerms || len(word) < 3 || fillers[strings.ToLower(word)] {
			return
		}
		q.words[hash] = len(q.words)
		at, bit := q.bit(hash)
		q.some[at] |= 1 << bit
	})
	if len(q.words) == 0 {
		return nil
	}
	return q
}

// eachHash calls f with the words of a text: runs of letters and digits without regard to
// case, and each two neighbours of scripts without spaces.
func eachHash(text string, f func(hash uint32, word string)) {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			_, m := utf8.DecodeRuneInString(text[i+n:])
			if r >= 0x2e80 && m > 1 {
				f(hashOf(text[i:i+n+m]), text[i:i+n+m])
			}
			i += n
			continue
		}
		if !isWord(c) {
			i++
			continue
		}
		from, h := i, uint32(hashBasis)
		for i < len(text) && isWord(text[i]) {
			h = (h ^ uint32(small[text[i]])) * hashPrime
			i++
		}
		f(h, text[from:i])
	}
}

// The constants of FNV-1a, which is quick for short words.
const (
	hashBasis = 2166136261
	hashPrime = 16777619
)

func hashOf(word string) uint32 {
	h := uint32(hashBasis)
	for i := 0; i < len(word); i++ {
		h = (h ^ uint32(word[i])) * hashPrime
	}
	return h
}

// Scores is BM25 of each of n lines, the best one 1; nil if none has a word of the talk, or there is none.
func (q *Talk) Scores(n int, line func(i int) string) []float64 {
	if q == nil {
		return nil
	}
	in, sizes, hits := q.look(n, line)
	if len(hits) == 0 {
		return nil
	}
	total := 0
	for _, size := range sizes {
		total += min(size, maxLine)
	}
	out, most := make([]float64, n), 0.
	mean := float64(total)/float64(n) + 1
	for _, h := range hits {
		if n > fewLines && in[h.word]*tooCommon > n {
			continue
		}
		idf := math.Log(1 + (float64(n-in[h.word])+.5)/(float64(in[h.word])+.5))
		out[h.line] += idf * 2.2 / (1 + 1.2*(.25+.75*float64(sizes[h.line])/mean))
		most = max(most, out[h.line])
	}
	if most == 0 {
		return nil
	}
	for i := range out {
		out[i] /= most
	}
	return out
}

// hit is a word of a talk in a line.
type hit struct{ line, word int }

// look finds the words of a talk: in how many lines each is, and where; and says how long the lines are.
func (q *Talk) look(n int, line func(i int) string) (in, sizes []int, hits []hit) {
	in, sizes = make([]int, len(q.words)), make([]int, n)
	last := make([]int, len(q.words))
	for i := range n {
		s := line(i)
		sizes[i] = len(s)
		eachHash(s[:min(len(s), maxLine)], func(hash uint32, _ string) {
			if at, bit := q.bit(hash); q.some[at]>>bit&1 == 0 {
				return
			}
			if w, ok := q.words[hash]; ok && last[w] != i+1 {
				last[w] = i + 1
				in[w]++
				hits = append(hits, hit{i, w})
			}
		})
	}
	return in, sizes, hits
}

func setOf(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
