// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file holds the parser of queries: its memory, and how terms are added.

import "slices"

// maxTerms is the most terms of a query. The rest of it is ignored.
const maxTerms = 256

// queryParser parses one text after another, and keeps its memory.
type queryParser struct {
	finder
	l     *knowledge
	typos int // number of words checked for typing errors

	text    string
	spans   []span
	ends    []int   // of the clauses
	inParts [][]int // terms of the clauses, also of empty ones
	keepAll bool    // keep stop words, because there is nothing else

	words   []stemmedWord
	phrases map[int]phraseMatch // by their start
	ignored map[int]bool        // starts of words that a phrase ignores
	scratch scratch

	parsed  parsedQuery
	seen    map[string]int // text of a term -> its position
	clause  int
	word    run      // the current one
	before  run      // the previous one, if it is a word that counts
	prose   bool     // most words begin with a small letter
	foreign []string // words that are counted as foreign
	must    int      // end of the field that is marked as required
}

// scratch is memory for single steps of parsing.
type scratch struct {
	segmenter segmenter
	tokens    []uint32 // of the requirements, as long as the query
	clauses   [][]int  // as long as the query
}

// stemmedWord is a run with its stem.
type stemmedWord struct {
	run
	stem string
}

// phraseMatch is a phrase in a query. Other words may precede its last one.
type phraseMatch struct {
	*phrase
	first []stemmedWord
	last  stemmedWord
}

// newQueryParser returns a parser of queries to the index of r.
func newQueryParser(r *rareness) queryParser {
	return queryParser{
		finder: finder{rareness: r}, l: wordLists(),
		phrases: make(map[int]phraseMatch), ignored: make(map[int]bool), seen: make(map[string]int),
	}
}

// forget drops the text.
func (q *queryParser) forget() {
	clear(q.phrases)
	clear(q.ignored)
	clear(q.seen)
	clear(q.words)
	clear(q.foreign)
	terms := q.parsed.terms
	for i := range terms {
		terms[i] = term{expansions: terms[i].expansions[:0]}
	}
	q.scratch.segmenter.text = ""
	q.text, q.keepAll, q.typos = "", false, 0
	q.word, q.before, q.words = run{}, run{}, q.words[:0]
	q.finder.forget()
	q.reset()
}

// reset drops what was parsed.
func (q *queryParser) reset() {
	q.parsed = parsedQuery{terms: q.parsed.terms[:0], required: q.parsed.required[:0], named: q.parsed.named[:0]}
	q.scratch.tokens = q.scratch.tokens[:0]
}

func (q *queryParser) isRequired(word run) bool { return word.start < q.must }

// addTerm adds a term with its written form in the query, and calls fill for it, or finds
// it if the query has it already. It returns its position, or -1 if there are maxTerms.
func (q *queryParser) addTerm(text, written string, weight float64, fill func(*term)) int {
	at, known := q.seen[text]
	if !known {
		if len(q.parsed.terms) == maxTerms {
			return -1
		}
		at = len(q.parsed.terms)
		q.seen[text] = at
		q.newTerm(term{text: text, written: written, weight: weight, says: significant})
		fill(&q.parsed.terms[at])
	}
	w := &q.parsed.terms[at]
	w.weight = max(w.weight, weight)
	w.required = w.required || q.isRequired(q.word)
	if clause := &q.inParts[q.clause]; len(q.ends) > 1 && !slices.Contains(*clause, at) {
		*clause = append(*clause, at) // a single clause is the whole
	}
	return at
}

// newTerm adds a term, in the memory of one of an earlier query.
func (q *queryParser) newTerm(w term) {
	terms := q.parsed.terms
	if n := len(terms); n < cap(terms) {
		w.expansions = terms[:n+1][n].expansions[:0]
	}
	q.parsed.terms = append(terms, w)
}

func (q *queryParser) addAll(w *term, tokens []string, weight float64, relation string) {
	for _, token := range tokens {
		if id, ok := q.x.find(token); ok {
			w.expansions = append(w.expansions, expansion{token: id, weight: weight, relation: relation})
		}
	}
}
