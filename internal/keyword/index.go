// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file builds the index of the specified score.

import (
	"strings"

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

// NewNames returns the list of the documents' names.
func NewNames(docs []Doc) *names.List {
	list := make([]string, len(docs))
	for i := range docs {
		list[i] = docs[i].Name
	}
	return names.NewList(list)
}

// Segment is the words of documents that were read together. It is immutable and safe for
// concurrent use.
type Segment struct {
	*names.List
	lower      []string // names in lower case, by ordinal
	vocabulary vocabulary
	parts      postings // words that are parts of names
	compounds  postings // words that are name segments of several parts
	prose      postings // words of descriptions
}

// Index answers queries by the specified score. It reads names and descriptions
// only. It is immutable and safe for concurrent use.
type Index struct {
	*names.Catalog
	parts []part
}

// Part is what an index has of a segment.
type Part struct {
	*Segment
	// Has is the set of the positions of its documents. If nil, all.
	Has names.Set
}

type part struct {
	*Segment
	live  names.Set // ordinals; nil: all
	first uint32    // what the catalog adds to ordinals
}

// New indexes docs; Hit.Doc is the position in this slice. Names need not be
// distinct. Building takes time and memory in proportion to the text.
func New(docs []Doc) *Index { return Join(Part{Segment: NewSegment(docs)}) }

// Join returns the index of parts of segments, whose answers are those of an index of its
// documents alone. Hit.Doc counts through all documents of the segments, one after another,
// including those that the index has not.
func Join(parts ...Part) *Index {
	lists := make([]names.Part, len(parts))
	for i, p := range parts {
		lists[i] = names.Part{List: p.List, Has: p.Has}
	}
	x := &Index{Catalog: names.Join(lists...), parts: make([]part, len(parts))}
	for i, p := range parts {
		live, first := x.Part(i)
		x.parts[i] = part{p.Segment, live, first}
	}
	return x
}

// NewSegment reads docs.
func NewSegment(docs []Doc) *Segment {
	s := &Segment{List: NewNames(docs), lower: make([]string, len(docs))}
	var parts, compounds, prose collector
	var words names.IDs
	for i := range s.lower {
		doc := uint32(i)
		name := s.NameAt(doc)
		s.lower[i] = strings.ToLower(name)
		for _, segment := range segments(name) {
			camel := names.CamelParts(segment)
			for _, part := range camel {
				parts.add(words.ID(strings.ToLower(part)), doc)
			}
			if len(camel) > 1 {
				compounds.add(words.ID(strings.ToLower(segment)), doc)
			}
		}
		for _, word := range strings.Fields(strings.ToLower(docs[s.Position(doc)].Description)) {
			prose.add(words.ID(word), doc)
		}
	}
	s.vocabulary = newVocabulary(words.Words())
	s.parts = newPostings(len(words.Words()), parts.uses)
	s.compounds = newPostings(len(words.Words()), compounds.uses)
	s.prose = newPostings(len(words.Words()), prose.uses)
	return s
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
