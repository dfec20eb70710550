// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file builds the index of the specified score.

import (
	"strings"
	"sync"
)

// Index answers queries by the specified score. It looks at names and
// descriptions only. It is immutable and safe for concurrent use.
type Index struct {
	catalog
	lower      []string // names in lower case, by inner number
	vocabulary vocabulary
	parts      postings // words that are parts of names
	compounds  postings // words that are name segments of several parts
	prose      postings // words of descriptions

	scratch *sync.Pool
}

// New indexes docs; Hit.Doc is the position in this slice. Names need not be
// distinct. Building takes time and memory in proportion to the text.
func New(docs []Doc) *Index {
	x := &Index{catalog: newCatalog(docs), lower: make([]string, len(docs))}
	for i, name := range x.names {
		x.lower[i] = strings.ToLower(name)
	}
	x.indexWords(docs)
	x.scratch = &sync.Pool{New: func() any { return &tally{cells: make([]cell, len(docs))} }}
	return x
}

func (x *Index) indexWords(docs []Doc) {
	var parts, compounds, prose collector
	words := wordIDs{ids: make(map[string]uint32)}
	for i, place := range x.place {
		doc := uint32(i)
		for _, segment := range segments(x.names[i]) {
			of := humps(segment)
			for _, part := range of {
				parts.add(words.id(strings.ToLower(part)), doc)
			}
			if len(of) > 1 {
				compounds.add(words.id(strings.ToLower(segment)), doc)
			}
		}
		for _, word := range strings.Fields(strings.ToLower(docs[place].Description)) {
			prose.add(words.id(word), doc)
		}
	}
	x.vocabulary = newVocabulary(words.words)
	x.parts = newPostings(len(words.words), parts.uses)
	x.compounds = newPostings(len(words.words), compounds.uses)
	x.prose = newPostings(len(words.words), prose.uses)
}

// wordIDs numbers distinct words in the order they come.
type wordIDs struct {
	ids   map[string]uint32
	words []string
}

func (w *wordIDs) id(word string) uint32 {
	id, ok := w.ids[word]
	if !ok {
		id = uint32(len(w.words))
		w.ids[word] = id
		w.words = append(w.words, word)
	}
	return id
}

// collector gathers uses of words, each document's once. Documents come in order.
type collector struct {
	uses []use
	last []uint32 // per word: the last document that used it, plus 1
}

func (c *collector) add(word, doc uint32) {
	for int(word) >= len(c.last) {
		c.last = append(c.last, 0)
	}
	if c.last[word] != doc+1 {
		c.last[word] = doc + 1
		c.uses = append(c.uses, use{word: word, doc: doc})
	}
}
