// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file holds a segment of an index: the data of some documents.

import (
	"cmp"
	"slices"

	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/keyword/wordvectors"
)

// Segment is documents that were read together: which tokens they use, where and how
// often. What depends on other documents as well, such as how rare a token is, is the
// Index's. It is immutable and safe for concurrent use.
type Segment struct {
	*names.List
	servers     []uint32 // the number of each document's server, by ordinal
	serverNames []string // "" for documents without one

	tokens   map[string]uint32
	texts    []string             // of the tokens
	words    map[string]uint32    // the tokens of words as written that have only one
	starts   []uint32             // of each token in posts, and the end of the last
	posts    []posting            // of each token ordered by document
	lengths  [][fieldCount]uint16 // of each document's fields, in tokens
	total    [fieldCount]int      // of the lengths
	unspaced names.Set            // documents with text in a script without spaces

	nameStarts []uint32  // of each document in nameTokens, and the end of the last
	nameTokens []uint32  // the distinct tokens of names
	nameWords  names.Set // tokens that are one of a name
	affixes    affixes
	typos      typos

	table      *wordvectors.Table
	directions []int8 // of the documents in the table, one after another
}

// posting says that a document uses a token.
type posting struct {
	doc    uint32
	counts counts
}

// of returns the postings of a token, ordered by document.
func (s *Segment) of(token uint32) []posting { return s.posts[s.starts[token]:s.starts[token+1]] }

// posting returns the posting of a token in a document.
func (s *Segment) posting(token, doc uint32) (posting, bool) {
	posts := s.of(token)
	at, ok := slices.BinarySearchFunc(posts, doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
	if !ok {
		return posting{}, false
	}
	return posts[at], true
}

// nameOf returns the distinct tokens of a document's name.
func (s *Segment) nameOf(doc uint32) []uint32 {
	return s.nameTokens[s.nameStarts[doc]:s.nameStarts[doc+1]]
}

// field is a part of a document.
type field uint8

const (
	fieldName field = iota
	fieldDescription
	fieldParam
	fieldParamDescription
	fieldEnum
	fieldServer
	fieldCount
)

var fieldNames = [fieldCount]string{
	"name", "description", "parameter", "parameter description", "parameter value", "server",
}

// fieldWeights are the weights of one occurrence in each field, and fieldSlopes how much
// less it counts in a longer field. The fields of parameters have a slope, since otherwise
// tools with many parameters would win every search.
var (
	fieldWeights = [fieldCount]float64{2.5, 1, 0.8, 0.35, 0.35, 1}
	fieldSlopes  = [fieldCount]float64{0.4, 0.75, 0.5, 0.5, 0.5, 0}
)

// counts packs how often a token occurs in each field, in countBits bits per field.
type counts uint32

const (
	countBits = 5
	maxCount  = 1<<countBits - 1
)

func (c counts) of(f field) int { return int(c>>(countBits*f)) & maxCount }

func (c counts) plus(f field) counts {
	if c.of(f) == maxCount {
		return c
	}
	return c + 1<<(countBits*f)
}

// usageBlock is how many usages a block holds. A list of blocks grows without copying.
const usageBlock = 1 << 15

// direction is the subject of a document as a direction in the space of word vectors.
func (s *Segment) direction(doc uint32) []int8 {
	size := s.table.Dimensions()
	return s.directions[int(doc)*size:][:size]
}
