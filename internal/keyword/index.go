// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file builds the index of the specified score.

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Doc is what is known about one tool. The zero value is a document without a
// name that nothing finds.
type Doc struct {
	// Name is the full name, with the server's prefix if it has one.
	Name string
	// Server names where the tool comes from. Empty: not known.
	Server string
	// Description is prose in any language.
	Description string
	// Params are the parameters of the tool.
	Params []Param
}

// Param is one parameter of a [Doc].
type Param struct {
	// Name is the parameter's own name, without those it is nested in.
	Name string
	// Description is prose in any language. May be empty.
	Description string
	// Enum lists the values it can have, if they are few and known.
	Enum []string
}

// Index answers queries by the specified score. It looks at names and
// descriptions only. It is immutable and safe for concurrent use.
//
// Inside, documents are numbered in the order of their names, so that comparing
// two numbers compares the names.
type Index struct {
	names  []string          // by inner number
	lower  []string          // names in lower case
	place  []int             // inner number -> position in the slice given to New
	inner  []uint32          // the other way round
	byName map[string]uint32 // the first of each name

	vocabulary vocabulary
	parts      postings // words that are parts of names
	compounds  postings // words that are name segments of several parts
	prose      postings // words of descriptions

	scratch *sync.Pool
	near    func() *nearIndex
}

// New indexes docs; Hit.Doc is the position in this slice. Names need not be
// distinct. Building takes time and memory in proportion to the text.
func New(docs []Doc) *Index {
	x := &Index{
		names:  make([]string, len(docs)),
		lower:  make([]string, len(docs)),
		place:  make([]int, len(docs)),
		inner:  make([]uint32, len(docs)),
		byName: make(map[string]uint32, len(docs)),
	}
	for i := range x.place {
		x.place[i] = i
	}
	slices.SortFunc(x.place, func(a, b int) int {
		return cmp.Or(strings.Compare(docs[a].Name, docs[b].Name), cmp.Compare(a, b))
	})
	for i, place := range x.place {
		name := docs[place].Name
		x.inner[place] = uint32(i)
		x.names[i] = name
		x.lower[i] = strings.ToLower(name)
		if _, taken := x.byName[name]; !taken {
			x.byName[name] = uint32(i)
		}
	}
	x.indexWords(docs)
	x.scratch = &sync.Pool{New: func() any { return &tally{cells: make([]cell, len(docs))} }}
	x.near = sync.OnceValue(func() *nearIndex { return newNearIndex(x.names) })
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

// Len is the number of documents.
func (x *Index) Len() int { return len(x.names) }

// Name is the name of the document at the given position, which must be from 0
// to Len()-1.
func (x *Index) Name(doc int) string { return x.names[x.inner[doc]] }

// Lookup finds the document with exactly this name, the first if there are
// several.
func (x *Index) Lookup(name string) (doc int, ok bool) {
	i, ok := x.byName[name]
	if !ok {
		return 0, false
	}
	return x.place[i], true
}
