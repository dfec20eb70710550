// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file explains the score of a document.

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

// String returns the explanation on several lines, for people to read.
func (e Explanation) String() string {
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

// Explain says why Search gives the document at position doc its score. It is slower than
// Search, since it looks at the words of the index for every term.
func (x *Index) Explain(q Query, doc int) Explanation {
	inner := x.Ordinal(doc)
	e := Explanation{Name: x.NameAt(inner)}
	missing := false
	for _, term := range q.Terms {
		if term.Text == "" {
			continue
		}
		t := x.parts[x.PartOf(inner)].explainTerm(strings.ToLower(term.Text), inner)
		t.Required = term.Required
		missing = missing || term.Required && t.Score == 0
		e.Score += t.Score
		e.Terms = append(e.Terms, t)
	}
	if missing {
		e.Score = 0
	}
	return e
}

// explainTerm returns the best match of a term; of several the first word in order.
func (p *part) explainTerm(term string, number uint32) TermExplanation {
	doc := number - p.first
	t := TermExplanation{Term: term}
	note := func(score float64, field, relation, word string) {
		if score > t.Score || score == t.Score && score > 0 && word < t.Matches[0].Word {
			t.Score = score
			t.Matches = []Match{{Field: field, Relation: relation, Word: word, Score: score}}
		}
	}
	if strings.Contains(p.lower[doc], term) {
		note(scoreInName, "name", "contains", p.lower[doc])
	}
	words, _ := p.vocabulary.candidates(term)
	for _, word := range words {
		text := p.vocabulary.words[word]
		switch {
		case !strings.Contains(text, term):
		case p.parts.has(word, doc) && text == term:
			note(scorePart, "name part", "equals", text)
		case p.parts.has(word, doc):
			note(scoreInPart, "name part", "contains", text)
		case p.prose.has(word, doc):
			note(scoreInProse, "description", "contains", text)
		}
	}
	return t
}
