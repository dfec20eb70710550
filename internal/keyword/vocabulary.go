// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"slices"
	"strings"
)

// gramSize is the length in bytes of the longest piece of a word that is looked up
// directly. Longer pieces are found through the rarest of their parts of this size.
const gramSize = 3

// maxProbes is the most parts of one long piece that are looked up.
const maxProbes = 64

// vocabulary is a set of distinct words, numbered from 0, that can be searched
// for substrings.
type vocabulary struct {
	words []string
	grams map[uint32][]uint32 // piece of 1 to gramSize bytes -> words, ascending
}

// candidates returns a superset of the words that contain piece, or exactly these
// words if exact is true. piece is not empty.
func (v *vocabulary) candidates(piece string) (words []uint32, exact bool) {
	if len(piece) <= gramSize {
		return v.grams[Gram(piece)], true
	}
	for i := 0; i+gramSize <= len(piece) && i < maxProbes; i++ {
		found := v.grams[Gram(piece[i:i+gramSize])]
		if len(found) == 0 {
			return nil, true
		}
		if i == 0 || len(found) < len(words) {
			words = found
		}
	}
	return words, false
}

// Gram packs a piece of one to three bytes, and its length, into a number.
func Gram(piece string) uint32 {
	key := uint32(len(piece)) << (8 * gramSize)
	for i := range len(piece) {
		key |= uint32(piece[i]) << (8 * i)
	}
	return key
}

// newVocabulary copies the words into one block of memory and indexes them.
func newVocabulary(words []string) vocabulary {
	block := strings.Join(words, "")
	v := vocabulary{words: make([]string, len(words))}
	for i, word := range words {
		v.words[i], block = block[:len(word)], block[len(word):]
	}
	v.grams = GramLists(v.words, 1, gramSize)
	return v
}

// GramLists returns, for each piece of from to to bytes, the numbers of the words that
// contain it, ascending. It counts first, so that all lists share one block of the
// right size.
func GramLists(words []string, from, to int) map[uint32][]uint32 {
	ids := make(map[uint32]int)
	var counts []int // of each piece: the words that contain it
	var last []int   // and the one that was counted last, plus 1
	total := 0
	eachGram(words, from, to, func(key uint32, word int) {
		id, ok := ids[key]
		if !ok {
			id = len(counts)
			ids[key] = id
			counts, last = append(counts, 0), append(last, 0)
		}
		if last[id] != word+1 {
			last[id] = word + 1
			counts[id]++
			total++
		}
	})
	block := make([]uint32, total)
	lists := make([][]uint32, len(counts))
	for id, n := range counts {
		lists[id], block = block[:0:n], block[n:]
	}
	clear(last)
	eachGram(words, from, to, func(key uint32, word int) {
		if id := ids[key]; last[id] != word+1 {
			last[id] = word + 1
			lists[id] = append(lists[id], uint32(word))
		}
	})
	grams := make(map[uint32][]uint32, len(ids))
	for key, id := range ids {
		grams[key] = lists[id]
	}
	return grams
}

// eachGram visits every piece of from to to bytes of every word, word by word.
func eachGram(words []string, from, to int, visit func(key uint32, word int)) {
	for i, word := range words {
		for at := range len(word) {
			for size := from; size <= to && at+size <= len(word); size++ {
				visit(Gram(word[at:at+size]), i)
			}
		}
	}
}

// postings lists, for every word, the documents that use it in one kind of place,
// ascending and without repetitions.
type postings struct {
	starts []uint32 // of each word in docs, and the end of the last
	docs   []uint32
}

func (p *postings) of(word uint32) []uint32 {
	return p.docs[p.starts[word]:p.starts[word+1]]
}

func (p *postings) has(word, doc uint32) bool {
	_, ok := slices.BinarySearch(p.of(word), doc)
	return ok
}

// newPostings groups uses, each a word and a document, in the order of the documents, by word.
func newPostings(words int, uses [][2]uint32) postings {
	p := postings{starts: make([]uint32, words+1), docs: make([]uint32, len(uses))}
	for _, u := range uses {
		p.starts[u[0]+1]++
	}
	for i := range words {
		p.starts[i+1] += p.starts[i]
	}
	next := append([]uint32(nil), p.starts[:words]...)
	for _, u := range uses {
		p.docs[next[u[0]]] = u[1]
		next[u[0]]++
	}
	return p
}
