// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file holds the specified score of one term and adds terms up.

import "strings"

// What a term is worth by the best place it is found in.
const (
	scorePart     = 10 // a part of the name is the term
	scoreInPart   = 5  // a part of the name contains it
	scoreInName   = 3  // the name contains it, across parts
	scoreInProse  = 2  // the description contains it
	scoreNotFound = 0
)

// cell is the state of one document during a search.
type cell struct {
	total    int32 // a query would need 400 MB of text to overflow it
	best     int32 // of the current term
	term     int32 // the last term that matched, counted from 1
	required int32 // required terms that matched
}

// tally adds up the scores of all documents for one query.
type tally struct {
	cells   []cell
	touched []uint32 // documents with a cell that is not zero
	term    int32
	count   int32 // how often the current term occurs
	needed  int32 // 1 if the current term is required
}

// start begins the next term.
func (t *tally) start(count int32, required bool) {
	t.term++
	t.count = count
	t.needed = 0
	if required {
		t.needed = 1
	}
}

// found notes that the current term is worth score in doc.
func (t *tally) found(doc uint32, score int32) {
	c := &t.cells[doc]
	if c.term != t.term {
		if c.term == 0 {
			t.touched = append(t.touched, doc)
		}
		c.term = t.term
		c.best = scoreNotFound
		c.required += t.needed
	}
	if score > c.best {
		c.total += (score - c.best) * t.count
		c.best = score
	}
}

func (t *tally) foundAll(docs []uint32, score int32) {
	for _, doc := range docs {
		t.found(doc, score)
	}
}

// reset makes the tally ready for the next query, at a cost of what this one
// touched.
func (t *tally) reset() {
	for _, doc := range t.touched {
		t.cells[doc] = cell{}
	}
	t.touched = t.touched[:0]
	t.term = 0
}

// match reports every document that term matches, some several times, each with
// what the term is worth in one place. term is in lower case and not empty.
func (x *Index) match(term string, t *tally) {
	words, exact := x.vocabulary.candidates(term)
	for _, word := range words {
		text := x.vocabulary.words[word]
		if !exact && !strings.Contains(text, term) {
			continue
		}
		score := int32(scoreInPart)
		if len(text) == len(term) {
			score = scorePart
		}
		t.foundAll(x.parts.of(word), score)
		t.foundAll(x.compounds.of(word), scoreInName)
		t.foundAll(x.prose.of(word), scoreInProse)
	}
	if strings.Contains(term, "_") {
		x.matchAcrossSegments(term, t)
	}
}

// matchAcrossSegments reports the documents whose names contain a term with an
// underscore in it. No word of a name has one: the longest stretch of the term
// without one leads to the names that are worth a look.
func (x *Index) matchAcrossSegments(term string, t *tally) {
	stretch := ""
	for _, s := range segments(term) {
		if len(s) > len(stretch) {
			stretch = s
		}
	}
	if stretch == "" {
		for doc, name := range x.lower {
			if strings.Contains(name, term) {
				t.found(uint32(doc), scoreInName)
			}
		}
		return
	}
	words, exact := x.vocabulary.candidates(stretch)
	for _, word := range words {
		if exact || strings.Contains(x.vocabulary.words[word], stretch) {
			x.matchNames(x.parts.of(word), term, t)
			x.matchNames(x.compounds.of(word), term, t)
		}
	}
}

func (x *Index) matchNames(docs []uint32, term string, t *tally) {
	for _, doc := range docs {
		if strings.Contains(x.lower[doc], term) {
			t.found(doc, scoreInName)
		}
	}
}
