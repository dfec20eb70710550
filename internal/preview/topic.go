// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Topics: the words that were talked about before a result came. They rank the lines of a text.

import (
	"math"
	"strings"
	"unicode/utf8"
)

const (
	// maxTopic is how many bytes of a question are read, from its end.
	maxTopic = 2000
	// maxTopicWords is the most words of a topic.
	maxTopicWords = 64
	// maxTopicLine is how many bytes of a line are read.
	maxTopicLine = 2400
	// A text of more than fewLines lines ignores words that more than one of tooCommon lines has.
	tooCommon, fewLines = 8, 30
)

// topic is a set of words. A word counts the more, the fewer lines of the text have it.
type topic struct {
	words    map[uint32]int // by hash
	hashBits [8]uint64      // a bit for each hash in words: most words of a text are in none
}

// hashBit returns the place of a hash in hashBits.
func (t *topic) hashBit(hash uint32) (at, bit uint32) {
	return hash >> 6 % uint32(len(t.hashBits)), hash & 63
}

// fillerWords are words that occur in most questions.
var fillerWords = wordSet("the and for that this with what which you your can are was were how has have had not from into out all any but will would should could please let get use using used now then first next also need want check look see find show list file result tool true false null path text name value")

// newTopic returns the topic of a question. It is nil if the question has only filler words.
func newTopic(text string) *topic {
	text = strings.TrimSpace(text)
	if len(text) > maxTopic {
		text = text[len(text)-maxTopic:]
	}
	t := &topic{words: make(map[uint32]int)}
	eachHash(text, func(hash uint32, word string) {
		if _, ok := t.words[hash]; ok || len(t.words) == maxTopicWords || len(word) < 3 || fillerWords[strings.ToLower(word)] {
			return
		}
		t.words[hash] = len(t.words)
		at, bit := t.hashBit(hash)
		t.hashBits[at] |= 1 << bit
	})
	if len(t.words) == 0 {
		return nil
	}
	return t
}

// eachHash calls f for each word of a text: runs of letters and digits, without regard to case. In scripts
// without spaces, each pair of neighboring characters is a word.
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
		if !alphanumeric[c] {
			i++
			continue
		}
		from, h := i, uint32(hashBasis)
		for i < len(text) && alphanumeric[text[i]] {
			h = (h ^ uint32(text[i]|0x20)) * hashPrime
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

// scores returns the BM25 score of each of n lines, relative to the best one. It is nil if no line has a word of
// the topic.
func (t *topic) scores(n int, line func(i int) string) []float64 {
	if t == nil {
		return nil
	}
	lineCounts, sizes, hits := t.findHits(n, line)
	if len(hits) == 0 {
		return nil
	}
	total := 0
	for _, size := range sizes {
		total += min(size, maxTopicLine)
	}
	out, most := make([]float64, n), 0.
	mean := float64(total)/float64(n) + 1
	for _, h := range hits {
		if n > fewLines && lineCounts[h.word]*tooCommon > n {
			continue
		}
		idf := math.Log(1 + (float64(n-lineCounts[h.word])+.5)/(float64(lineCounts[h.word])+.5))
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

// topicHit is a word of a topic in a line.
type topicHit struct{ line, word int }

// findHits returns in how many lines each word occurs, the length of each line, and all hits.
func (t *topic) findHits(n int, line func(i int) string) (lineCounts, sizes []int, hits []topicHit) {
	lineCounts, sizes = make([]int, len(t.words)), make([]int, n)
	last := make([]int, len(t.words))
	for i := range n {
		s := line(i)
		sizes[i] = len(s)
		eachHash(s[:min(len(s), maxTopicLine)], func(hash uint32, _ string) {
			if at, bit := t.hashBit(hash); t.hashBits[at]>>bit&1 == 0 {
				return
			}
			if w, ok := t.words[hash]; ok && last[w] != i+1 {
				last[w] = i + 1
				lineCounts[w]++
				hits = append(hits, topicHit{i, w})
			}
		})
	}
	return lineCounts, sizes, hits
}
