// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
	"strings"

	"github.com/einolean/einolean/internal/keyword/operations"
)

// parsedQuery is the content of a query.
type parsedQuery struct {
	terms   []term
	clauses [][]int // positions of terms; nil if there is only one clause
	// required are sets of tokens. A document must use a token of each.
	required [][]uint32
	// named are the documents whose names are in the text.
	named []uint32
	// foreign is the importance of a known word without spaces that no document has in
	// any language; 0 without such a word.
	foreign float64
	// foreignIn is the same by clause.
	foreignIn []float64
	// caution is added to the logarithm of the odds of an answer.
	caution float64
	// needsWords says that characters of longer words find nothing, as the documents are in a language with
	// spaces: the few of them that share a character are about something else.
	needsWords bool
	// operation is what the query asks for.
	operation operations.Operation
}

// term is a word of the query, or another element of it.
type term struct {
	text         string
	source       string  // the part of the query that it stands for
	weight       float64 // less than 1 if it is probably a value
	importance   float64 // how much it matters that a document matches it
	required     bool
	half         bool // a character of a longer run without spaces
	significance significance
	expansions   []expansion
}

// coveredImportance returns how much of a term's importance a match of the given weight
// covers. The root makes weak matches of every term better than a strong match of one.
func coveredImportance(w *term, weight float64) float64 {
	return w.importance * w.weight * math.Sqrt(weight)
}

// singleWeight is the weight of a single character of a longer run without spaces: most are
// halves of words.
const singleWeight = 0.5

// givesValue reports whether a term is a value: a number, an address or a quotation.
func givesValue(w term) bool {
	return w.weight < singleWeight || strings.ContainsAny(w.source, "0123456789")
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
