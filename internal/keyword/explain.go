// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file says why a document scores what it does.

import (
	"fmt"
	"strings"
)

// Explanation is a score taken apart. It is the caller's.
type Explanation struct {
	// Name of the document.
	Name string
	// Score is what Search gives the document, 0 if it does not return it.
	Score float64
	// Terms are the terms of the query, in order.
	Terms []TermExplanation
	// Factors are what the sum over the terms is multiplied with or what is added
	// to it, in order. The specified score has none.
	Factors []Factor
}

// TermExplanation is what one term of the query adds to a score.
type TermExplanation struct {
	// Term is the word as the scorer compares it.
	Term string
	// Required says that the term has to match.
	Required bool
	// Score is what the term adds. 0: it does not match.
	Score float64
	// Matches are the places that count, the one that decides first.
	Matches []Match
}

// Match is one place where a document matches a term.
type Match struct {
	// Field is the part of the document: name, description, …
	Field string
	// Relation says how the word there stands to the term: equals, contains, …
	Relation string
	// Word is the word of the document.
	Word string
	// Score is what this match is worth.
	Score float64
}

// Factor changes a whole score.
type Factor struct {
	// Name says what it rewards.
	Name string
	// Value is what the score is multiplied with.
	Value float64
}

// String writes the explanation on several lines for people to read.
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

// Explain says why Search gives the document at position doc, from 0 to Len()-1,
// its score. It goes through the words of the index for every term: it is for
// people, not for every search.
func (x *Index) Explain(q Query, doc int) Explanation {
	inner := x.inner[doc]
	e := Explanation{Name: x.names[inner]}
	missing := false
	for _, term := range q.Terms {
		if term.Text == "" {
			continue
		}
		t := x.explainTerm(strings.ToLower(term.Text), inner)
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

// explainTerm takes the best match, read off the name and description themselves.
func (x *Index) explainTerm(term string, doc uint32) TermExplanation {
	t := TermExplanation{Term: term}
	note := func(score float64, field, relation, word string) {
		if score > t.Score {
			t.Score = score
			t.Matches = []Match{{Field: field, Relation: relation, Word: word, Score: score}}
		}
	}
	if strings.Contains(x.lower[doc], term) {
		note(scoreInName, "name", "contains", x.lower[doc])
	}
	words, _ := x.vocabulary.candidates(term)
	for _, word := range words {
		text := x.vocabulary.words[word]
		switch {
		case !strings.Contains(text, term):
		case x.parts.has(word, doc) && text == term:
			note(scorePart, "name part", "equals", text)
		case x.parts.has(word, doc):
			note(scoreInPart, "name part", "contains", text)
		case x.prose.has(word, doc):
			note(scoreInProse, "description", "contains", text)
		}
	}
	return t
}

// Unmatched returns the terms that match no document at all, in order and as
// written, each spelling once.
func (x *Index) Unmatched(q Query) []string {
	t := x.scratch.Get().(*tally)
	defer x.scratch.Put(t)
	defer t.reset()
	var none []string
	seen := make(map[string]bool)
	for _, term := range q.Terms {
		if term.Text == "" || seen[term.Text] {
			continue
		}
		seen[term.Text] = true
		t.start(1, false)
		x.match(strings.ToLower(term.Text), t)
		if len(t.touched) == 0 {
			none = append(none, term.Text)
		}
		t.reset()
	}
	return none
}
