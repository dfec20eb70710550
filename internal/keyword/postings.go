// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file keeps which documents use which word.

import "slices"

// postings lists, for every word, the documents that use it in one kind of place,
// ascending and without repetitions.
type postings struct {
	starts []uint32 // of each word in docs, and the end of the last
	docs   []uint32
}

func (p *postings) of(word uint32) []uint32 {
	return p.docs[p.starts[word]:p.starts[word+1]]
}

// has reports whether doc uses word.
func (p *postings) has(word, doc uint32) bool {
	_, ok := slices.BinarySearch(p.of(word), doc)
	return ok
}

// use is one document using one word.
type use struct{ word, doc uint32 }

// newPostings sorts uses, which are in the order of their documents, by word.
func newPostings(words int, uses []use) postings {
	p := postings{starts: make([]uint32, words+1), docs: make([]uint32, len(uses))}
	for _, u := range uses {
		p.starts[u.word+1]++
	}
	for i := range words {
		p.starts[i+1] += p.starts[i]
	}
	next := append([]uint32(nil), p.starts[:words]...)
	for _, u := range uses {
		p.docs[next[u.word]] = u.doc
		next[u.word]++
	}
	return p
}
