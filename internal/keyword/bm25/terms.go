// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
)

// parsedQuery is the content of a query.
type parsedQuery struct {
	terms   []term
	clauses [][]int // positions of terms; nil if there is only one clause
	// required are sets of tokens. A document must use a token of each.
	required [][]uint32
	// named are the documents whose names are in the text.
	named []uint32
	// foreign is the importance of the known words without spaces that no document has in
	// any language.
	foreign float64
}

// term is a word of the query, or another element of it.
type term struct {
	text       string
	written    string  // the part of the query that it stands for
	weight     float64 // less than 1 if it is probably a value
	importance float64 // how much it matters that a document matches it
	required   bool
	says       significance
	expansions []expansion
}

// coveredImportance returns how much of a term's importance a match of the given weight
// covers. The root makes weak matches of every term better than a strong match of one.
func coveredImportance(w *term, weight float64) float64 {
	return w.importance * w.weight * math.Sqrt(weight)
}

// expansion is a token that stands for a term.
type expansion struct {
	token    uint32
	weight   float64 // 1 for the term itself
	relation string
}

// Relations of a token to the word that it stands for, if more than the explanation
// depends on them.
const (
	equalTo       = "equals"
	beginsLike    = "begins like"
	endsLike      = "ends like"
	looksLike     = "looks like"
	partOf        = "part of"
	translationOf = "translation of"
	synonymOf     = "synonym of"
	joinedIn      = "joined in"
	// relatedTo is the relation of a word in tools to one that people use for it.
	relatedTo = "related to"
)

// tells returns how much a match says by its relation, relative to the word itself: if words
// are only similar, the query may mean something else.
func tells(relation string) float64 {
	switch relation {
	case relatedTo, partOf:
		return 0.5
	case synonymOf:
		return 0.7
	case translationOf:
		return 0.9
	}
	return 1
}

// significance is how much a term says about whether a document is meant. It does not change
// scores: there, all documents lack the same words.
type significance struct {
	found   float64 // of a match
	missing float64 // of no match, compared with a match
}

var (
	significant = significance{1, 1}
	// incidental words belong to the conversation, or are values: "please", "tomorrow",
	// "10:30".
	incidental = significance{0.6, 0.2}
	// commonVerb is for verbs of tools in every field, such as "list". Having it says little;
	// having another verb says much.
	commonVerb = significance{0.7, 2.5}
	// properName is for a name, which is a value unless a tool has it.
	properName = significance{1, 0.2}
	// unknownWord is for a word that no tool has: the query is about something else.
	unknownWord = significance{1.3, 2.5}
	// character is for a single character without spaces, or two neighbours: most are not
	// words, and the meaning of the words among them counts separately.
	character = significance{1, 0.4}
)
