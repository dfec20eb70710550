// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file builds the index of the specified score.

import (
	"strings"
	"sync"

	"github.com/leanctx/leanctx/internal/keyword/names"
)

// Doc describes one tool. The zero value is a document without a name that no query
// finds.
type Doc struct {
	// Name is the full name, with the server's prefix if it has one.
	Name string
	// Server is the name of the server that the tool comes from. If empty, it is what
	// precedes "__" in Name.
	Server string
	// Description is prose in any language.
	Description string
	// Params are the tool's parameters.
	Params []Param
	// Phrases are further ways to ask for the tool. The specified score does not read them.
	Phrases []string
}

// Param is a parameter of a [Doc].
type Param struct {
	// Name is the parameter's own name, without those of the objects around it.
	Name string
	// Description is prose in any language. It may be empty.
	Description string
	// Enum lists the allowed values, if there are any.
	Enum []string
}

// NewCatalog returns the catalog of the documents' names.
func NewCatalog(docs []Doc) *names.Catalog {
	list := make([]string, len(docs))
	for i := range docs {
		list[i] = docs[i].Name
	}
	return names.New(list)
}

// Index answers queries by the specified score. It reads names and descriptions
// only. It is immutable and safe for concurrent use.
type Index struct {
	*names.Catalog
	lower      []string // names in lower case, by ordinal
	vocabulary vocabulary
	parts      postings // words that are parts of names
	compounds  postings // words that are name segments of several parts
	prose      postings // words of descriptions

	scratch *sync.Pool
}

// New indexes docs; Hit.Doc is the position in this slice. Names need not be
// distinct. Building takes time and memory in proportion to the text.
func New(docs []Doc) *Index {
	x := &Index{Catalog: NewCatalog(docs), lower: make([]string, len(docs))}
	var parts, compounds, prose collector
	var words names.IDs
	for i := range x.lower {
		doc := uint32(i)
		name := x.NameAt(doc)
		x.lower[i] = strings.ToLower(name)
		for _, segment := range segments(name) {
			camel := names.CamelParts(segment)
			for _, part := range camel {
				parts.add(words.ID(strings.ToLower(part)), doc)
			}
			if len(camel) > 1 {
				compounds.add(words.ID(strings.ToLower(segment)), doc)
			}
		}
		for _, word := range strings.Fields(strings.ToLower(docs[x.Position(doc)].Description)) {
			prose.add(words.ID(word), doc)
		}
	}
	x.vocabulary = newVocabulary(words.Words())
	x.parts = newPostings(len(words.Words()), parts.uses)
	x.compounds = newPostings(len(words.Words()), compounds.uses)
	x.prose = newPostings(len(words.Words()), prose.uses)
	x.scratch = &sync.Pool{New: func() any { return &tally{cells: make([]cell, len(docs))} }}
	return x
}

// collector gathers the uses of words, one per word and document. Documents come in
// order.
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
