// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds the words that contain a given piece of text.

import "strings"

// gramSize is the longest piece of a word, in bytes, that is looked up directly.
// Longer pieces are found through the rarest of their parts of this size.
const gramSize = 3

// maxProbes bounds how many parts of one long piece are looked at.
const maxProbes = 64

// vocabulary is a set of distinct words, numbered from 0, that can be searched
// for substrings.
type vocabulary struct {
	words []string
	grams map[uint32][]uint32 // piece of 1 to gramSize bytes -> words, ascending
}

// candidates returns words among which are all that contain piece. When exact is
// true these are no others. piece is not empty.
func (v *vocabulary) candidates(piece string) (words []uint32, exact bool) {
	if len(piece) <= gramSize {
		return v.grams[gram(piece)], true
	}
	for i := 0; i+gramSize <= len(piece) && i < maxProbes; i++ {
		found := v.grams[gram(piece[i:i+gramSize])]
		if len(found) == 0 {
			return nil, true
		}
		if i == 0 || len(found) < len(words) {
			words = found
		}
	}
	return words, false
}

// gram packs a piece of 1 to gramSize bytes, with its length, into a number.
func gram(piece string) uint32 {
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
	v.grams = gramLists(v.words, 1, gramSize)
	return v
}

// gramList is the list of one piece while it is being counted, then filled.
type gramList struct {
	words []uint32
	count int
	last  int // the word that was counted last, plus 1
}

// gramLists lists the words that have each piece of from to to bytes. It counts first,
// so that all lists share one block of the right size.
func gramLists(words []string, from, to int) map[uint32][]uint32 {
	ids := make(map[uint32]int)
	var lists []gramList
	total := 0
	eachGram(words, from, to, func(key uint32, word int) {
		id, ok := ids[key]
		if !ok {
			id = len(lists)
			ids[key] = id
			lists = append(lists, gramList{})
		}
		if list := &lists[id]; list.last != word+1 {
			list.last = word + 1
			list.count++
			total++
		}
	})
	block := make([]uint32, total)
	for i := range lists {
		n := lists[i].count
		lists[i] = gramList{words: block[:0:n]}
		block = block[n:]
	}
	eachGram(words, from, to, func(key uint32, word int) {
		if list := &lists[ids[key]]; list.last != word+1 {
			list.last = word + 1
			list.words = append(list.words, uint32(word))
		}
	})
	grams := make(map[uint32][]uint32, len(ids))
	for key, id := range ids {
		grams[key] = lists[id].words
	}
	return grams
}

// eachGram visits every piece of from to to bytes of every word, word by word.
func eachGram(words []string, from, to int, visit func(key uint32, word int)) {
	for i, word := range words {
		for at := range len(word) {
			for size := from; size <= to && at+size <= len(word); size++ {
				visit(gram(word[at:at+size]), i)
			}
		}
	}
}
