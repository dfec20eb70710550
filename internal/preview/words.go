// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file scores lines by the words of a query.

import (
	"math"
	"strings"
	"unicode/utf8"
)

const (
	// maxQuery is how much of a query is read, from its end.
	maxQuery = 2000
	// A word that more than one of tooCommon lines have tells nothing, in more than
	// fewLines.
	tooCommon, fewLines = 8, 30
	// maxWords is how many words of it count.
	maxWords = 64
)

// query is the words that score lines.
type query struct {
	words map[uint32]int // by hash
	n     int
	some  [8]uint64 // a bit for the end of each hash in words: most words of a text are in none
}

func (q *query) bit(hash uint32) (at, bit uint32) { return hash >> 6 % uint32(len(q.some)), hash & 63 }

// fillers are words that say nothing about what is asked.
var fillers = words("the and for that this with what which you your can are was were how has have had not from into out all any but will would should could please let get use using used now then first next also need want check look see find show list file result tool true false null path text name value")

// newQuery reads a query. It is nil if there is no word in it.
func newQuery(text string) *query {
	text = strings.TrimSpace(text)
	if len(text) > maxQuery {
		text = text[len(text)-maxQuery:]
	}
	q := &query{words: make(map[uint32]int)}
	eachWord(text, func(hash uint32, word string) {
		if _, known := q.words[hash]; known || q.n == maxWords || len(word) < 3 || fillers[strings.ToLower(word)] {
			return
		}
		q.words[hash] = q.n
		at, bit := q.bit(hash)
		q.some[at] |= 1 << bit
		q.n++
	})
	if q.n == 0 {
		return nil
	}
	return q
}

// eachWord calls f with the words of a text: runs of letters and digits without regard to
// case and to a plural's s, and each two neighbours of scripts without spaces.
func eachWord(text string, f func(hash uint32, word string)) {
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
		if !alphanumeric(c) {
			i++
			continue
		}
		from, before, h := i, uint32(0), uint32(hashBasis)
		for i < len(text) && alphanumeric(text[i]) {
			before, h = h, (h^uint32(lowered[text[i]]))*hashPrime
			i++
		}
		if i-from > 3 && text[i-1] == 's' {
			f(before, text[from:i-1])
		} else {
			f(h, text[from:i])
		}
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

// scores is BM25 of each line, scaled to at most one.
func (q *query) scores(text string, lines []line) []float64 {
	type hit struct{ line, word int }
	var hits []hit
	in := make([]int, q.n) // lines with a word
	last := make([]int, q.n)
	total := 0
	for i, l := range lines {
		s := text[l.from:min(l.to, l.from+8*maxLine)]
		total += len(s)
		eachWord(s, func(hash uint32, _ string) {
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
	if len(hits) == 0 {
		return nil
	}
	out := make([]float64, len(lines))
	mean := float64(total)/float64(len(lines)) + 1
	most := 0.
	for _, h := range hits {
		if len(lines) > fewLines && in[h.word]*tooCommon > len(lines) {
			continue
		}
		l := lines[h.line]
		idf := math.Log(1 + (float64(len(lines)-in[h.word])+.5)/(float64(in[h.word])+.5))
		out[h.line] += idf * 2.2 / (1 + 1.2*(.25+.75*float64(l.size())/mean))
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
