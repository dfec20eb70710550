// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"hash/maphash"
	"math/bits"
	"strings"
)

// wordList is a list of distinct words, and finds their numbers, in a third of the memory of a slice
// and a map. It is immutable. The zero value is empty.
type wordList struct {
	text  string   // the words, one after another
	ends  []uint32 // of each in text
	slots []uint32 // of a hash table: a number plus 1, or 0. At least a third are free
}

var seed = maphash.MakeSeed()

// newWordList returns a list of words, which must be distinct and not more than 4 GB. It copies
// them: the texts that they were cut from can be freed.
func newWordList(words []string) *wordList {
	l := &wordList{
		text:  strings.Join(words, ""),
		ends:  make([]uint32, len(words)),
		slots: make([]uint32, 1<<bits.Len(uint(len(words)+len(words)/2))),
	}
	end := 0
	for i, word := range words {
		end += len(word)
		l.ends[i] = uint32(end)
		at := l.first(maphash.String(seed, word))
		for l.slots[at] != 0 {
			at = l.next(at)
		}
		l.slots[at] = uint32(i) + 1
	}
	return l
}

// Len returns how many words there are.
func (l *wordList) Len() int { return len(l.ends) }

// Word returns a word by its number.
func (l *wordList) Word(id uint32) string {
	start := uint32(0)
	if id > 0 {
		start = l.ends[id-1]
	}
	return l.text[start:l.ends[id]]
}

// Find returns the number of a word; ok is false if the list has not got it.
func (l *wordList) Find(word string) (id uint32, ok bool) {
	return find(l, word, maphash.String(seed, word))
}

// FindBytes is Find of a word that may change afterwards.
func (l *wordList) FindBytes(word []byte) (id uint32, ok bool) {
	return find(l, word, maphash.Bytes(seed, word))
}

func find[T string | []byte](l *wordList, word T, hash uint64) (id uint32, ok bool) {
	if len(l.slots) == 0 {
		return 0, false
	}
	for at := l.first(hash); l.slots[at] != 0; at = l.next(at) {
		if id := l.slots[at] - 1; l.Word(id) == string(word) {
			return id, true
		}
	}
	return 0, false
}

func (l *wordList) first(hash uint64) int { return int(hash & uint64(len(l.slots)-1)) }

func (l *wordList) next(at int) int { return (at + 1) & (len(l.slots) - 1) }
