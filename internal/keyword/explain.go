// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"fmt"
	"strings"
)

// Explanation breaks a score down into its parts. The caller owns it.
type Explanation struct {
	// Name of the document.
	Name string
	// Score is what Search gives the document, or 0 if Search does not return it.
	Score float64
	// Terms are the terms of the query, in order.
	Terms []TermExplanation
	// Factors are what the sum over the terms is multiplied by, in order. The
	// specified score has none.
	Factors []Factor
}

// TermExplanation says what one term of the query adds to a score.
type TermExplanation struct {
	// Term is the word, or several, as the query has it: in Unicode's compatibility form
	// (BM25) or in lower case (the specified score).
	Term string
	// Required reports whether the term must match.
	Required bool
	// Score is what the term adds. It is 0 if the term does not match.
	Score float64
	// Matches are the places that count, the decisive one first.
	Matches []Match
}

// Match is a place where a document matches a term.
type Match struct {
	// Field is the part of the document, such as name or description.
	Field string
	// Relation is that of the word to the term, such as equals or contains.
	Relation string
	// Word is the word of the document.
	Word string
	// Score is what this match would add alone.
	Score float64
}

// Factor multiplies a whole score.
type Factor struct {
	// Name says what it rewards.
	Name string
	// Value is what the score is multiplied by.
	Value float64
}

// String returns the explanation on several lines, for people to read; "" for the zero Explanation.
func (e Explanation) String() string {
	if e.Name == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %.4g\n", e.Name, e.Score)
	for _, term := range e.Terms {
		mark := ""
		if term.Required {
			mark = "+"
		}
		fmt.Fprintf(&b, "  %s%q: %.4g\n", mark, term.Term, term.Score)
		for _, m := range term.Matches {
			fmt.Fprintf(&b, "    %.4g %s %s %q\n", m.Score, m.Field, m.Relation, m.Word)
		}
	}
	for _, f := range e.Factors {
		fmt.Fprintf(&b, "  x %.4g %s\n", f.Value, f.Name)
	}
	return b.String()
}
