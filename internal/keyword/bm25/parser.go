// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file holds the parser of queries: its memory, how terms are added, and how text
// without spaces is cut into words.

import (
	"slices"
)

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

// Costs of the ways to cut a run into words. Few long words beat many short ones, and a
// character that is a word is barely better than one that is not.
const (
	costWord   = 0.5
	costSingle = 1.1
	costGap    = 1.2
)

// maxSegmented is the number of characters that are cut into words at once.
const maxSegmented = 512

// stretch is the position of a word in a text.
type stretch struct{ start, end int }

// segmenter cuts runs without spaces into words of the lexicon, one after the other, and
// keeps its memory.
type segmenter struct {
	l     *knowledge
	text  string
	words []stretch // of the lexicon, and politeness

	offsets []int // of the characters, and of the end
	cost    []float64
	from    []int // start of the last word of a prefix, at the least cost
}

// cutRun finds the words of a run, and the politeness in it.
func (s *segmenter) cutRun(l *knowledge, text string) {
	s.l, s.text, s.words, s.offsets = l, text, s.words[:0], s.offsets[:0]
	for at := range text {
		if len(s.offsets) == maxSegmented {
			s.cut(at)
		}
		s.offsets = append(s.offsets, at)
	}
	s.cut(len(text))
}

// eachWord visits the words, in order. It leaves out politeness and characters that belong
// to no word.
func (s *segmenter) eachWord(visit func(word string)) {
	for _, at := range s.words {
		if word := s.text[at.start:at.end]; !s.l.politeness[word] {
			visit(word)
		}
	}
}

// eachRest visits the parts of the run between its politeness.
func (s *segmenter) eachRest(visit func(part string)) {
	start := 0
	for _, at := range s.words {
		if s.l.politeness[s.text[at.start:at.end]] {
			visit(s.text[start:at.start])
			start = at.end
		}
	}
	visit(s.text[start:])
}

func (l *knowledge) isWord(text string) bool { return l.lexicon[text] != nil || l.politeness[text] }

// cut finds the words between the offsets and an end at the least cost.
func (s *segmenter) cut(end int) {
	offsets := append(s.offsets, end)
	cost, from := grown(s.cost, len(offsets)), grown(s.from, len(offsets))
	s.offsets, s.cost, s.from = offsets[:0], cost, from
	cost[0] = 0
	for end := 1; end < len(offsets); end++ {
		cost[end], from[end] = cost[end-1]+costGap, end-1
		for size := 1; size <= min(s.l.longest, end); size++ {
			price := cost[end-size] + costWord
			if size == 1 {
				price = cost[end-size] + costSingle
			}
			if price <= cost[end] && s.l.isWord(s.text[offsets[end-size]:offsets[end]]) {
				cost[end], from[end] = price, end-size
			}
		}
	}
	first := len(s.words)
	for end := len(offsets) - 1; end > 0; end = from[end] {
		if at := (stretch{start: offsets[from[end]], end: offsets[end]}); s.l.isWord(s.text[at.start:at.end]) {
			s.words = append(s.words, at)
		}
	}
	slices.Reverse(s.words[first:])
}
