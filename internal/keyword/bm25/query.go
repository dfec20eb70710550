// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file reads a query: what it asks for, and what it requires.

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword/names"
)

// What is read of a query. The rest of it is ignored.
const (
	maxQueryBytes = 32 << 10
	maxTerms      = 256
	maxTypos      = 32 // unknown words that are checked for typing errors
	maxRequired   = 32 // further requirements are ordinary terms
	maxNamed      = 64 // fields that are looked up as names
)

// singleWeight is what a single character of a longer run without spaces counts: most
// of them are halves of words.
const singleWeight = 0.5

// term is a word of the query, or another thing that it says.
type term struct {
	text       string
	written    string  // what of the query it stands for
	weight     float64 // less than 1 if it is probably a value
	importance float64 // how much it matters that a document matches it
	required   bool
	says       significance
	expansions []expansion
}

// expansion is a token that stands for a term.
type expansion struct {
	token    uint32
	weight   float64 // 1 for the term itself
	relation string
}

// parsedQuery is what a text asks for.
type parsedQuery struct {
	terms   []term
	clauses [][]int // positions of terms; nil if there is only one clause
	// required are sets of tokens. A document must use a token of each.
	required [][]uint32
	// named are the documents whose names are in the text.
	named []uint32
	// foreign is the importance of the words without spaces that are known, but no document
	// has in any language.
	foreign float64
}

// queryParser parses one text after another, and keeps its memory.
type queryParser struct {
	x       *Index
	acc     *accumulator // whose parser it is
	l       *knowledge
	stemmer stemmer
	typos   int // number of words checked for typing errors

	text    string
	spans   []span
	ends    []int // of the clauses
	keepAll bool  // keep stop words, because there is nothing else

	words   []stemmedWord
	affixed []affixed           // scratch memory
	phrases map[int]phraseMatch // by their start
	ignored map[int]bool        // starts of words that a phrase ignores

	parsed  parsedQuery
	seen    map[string]int // text of a term -> its position
	clause  int
	word    run      // the current one
	before  run      // the previous one, if it is a word that counts
	prose   bool     // most words begin with a small letter
	foreign []string // words that are counted as foreign
	must    int      // end of the field that is marked as required
}

// maxStems is how many stems are remembered from one query to the next.
const maxStems = 1 << 13

// parse parses text. What it returns belongs to the accumulator.
func (acc *accumulator) parse(text string) *parsedQuery {
	q := &acc.parser
	if q.acc == nil {
		*q = queryParser{
			acc: acc, l: wordLists(), stemmer: make(stemmer),
			phrases: make(map[int]phraseMatch), ignored: make(map[int]bool), seen: make(map[string]int),
		}
	}
	q.x = acc.x
	q.text = normalize(names.Clip(text, maxQueryBytes))
	q.spans, q.ends = valueSpans(q.text), clauseEnds(q.text)
	q.findPhrases()
	q.parseRuns()
	if len(q.parsed.terms) == 0 {
		q.keepAll = true
		q.parseRuns()
	}
	q.parsed.clauses = slices.DeleteFunc(q.parsed.clauses, func(terms []int) bool { return len(terms) == 0 })
	if len(q.parsed.clauses) < 2 {
		q.parsed.clauses = nil
	}
	q.parsed.named = q.x.namedIn(text)
	return &q.parsed
}

// forget drops the text, except for the stems of its words.
func (q *queryParser) forget() {
	if len(q.stemmer) > maxStems {
		clear(q.stemmer)
	}
	clear(q.phrases)
	clear(q.ignored)
	clear(q.seen)
	clear(q.words)
	clear(q.foreign)
	terms := q.parsed.terms
	for i := range terms {
		terms[i] = term{expansions: terms[i].expansions[:0]}
	}
	q.text, q.spans, q.ends, q.keepAll, q.typos = "", nil, nil, false, 0
	q.words, q.parsed = q.words[:0], parsedQuery{terms: terms[:0]}
}

// namedIn returns the documents whose names are white-space-delimited fields of text. A
// name of one word does not count, since the word may mean something else.
func (x *Index) namedIn(text string) []uint32 {
	var named []uint32
	looked := 0
	for field := range strings.FieldsSeq(names.Clip(text, maxQueryBytes)) {
		if looked++; looked > maxNamed {
			break
		}
		doc, ok := x.LookupOrdinal(strings.Trim(field, "+\"'`.,;:()[]!?"))
		if !ok {
			continue
		}
		if _, tokens := x.nameOf(doc); len(tokens) > 1 {
			named = append(named, doc)
		}
	}
	return named
}

func (q *queryParser) parseRuns() {
	clear(q.seen)
	q.foreign = q.foreign[:0]
	q.parsed = parsedQuery{terms: q.parsed.terms[:0], clauses: make([][]int, len(q.ends))}
	q.clause, q.before, q.must = 0, run{}, 0
	span := 0
	eachRun(q.text, func(word run) {
		for word.start >= q.ends[q.clause] {
			q.clause++
		}
		for span < len(q.spans) && q.spans[span].end <= word.start {
			span++
		}
		weight := 1.0
		if span < len(q.spans) && q.spans[span].start <= word.start {
			weight = q.spans[span].weight
		}
		q.word = word
		q.markRequired(word)
		if word.unspaced {
			q.parseUnspaced(word, weight)
			q.before = run{}
		} else {
			q.parseWord(word, weight)
		}
	})
}

// markRequired marks the field of a word as required if a '+' precedes it. Before a
// digit, the '+' is part of a number.
func (q *queryParser) markRequired(word run) {
	mark := word.start
	for mark > 0 && q.text[mark-1] == '+' {
		mark--
	}
	first, _ := utf8.DecodeRuneInString(word.text)
	if mark == word.start || !startsField(q.text, mark) || first >= '0' && first <= '9' {
		return
	}
	q.must = word.start + fieldLength(q.text[word.start:])
}

func (q *queryParser) isRequired(word run) bool { return word.start < q.must }

// parseWord adds the parts of a word, and the whole of it.
func (q *queryParser) parseWord(word run, weight float64) {
	if len(word.text) > maxWordBytes {
		q.before = run{}
		return
	}
	q.parsePhrase(word, weight)
	q.parseIdentifier(word, weight)
	if q.ignored[word.start] {
		weight *= ignoredWeight
	}
	parts, counting := 0, 0
	eachPart(word.text, func(part string) {
		parts++
		if q.addStem(part, weight, q.isRequired(word)) {
			counting++
		}
	})
	if counting == 0 {
		q.before = run{}
		return
	}
	if parts > 1 {
		q.addStem(word.text, weight, false)
	}
	q.join(word)
	q.before = word
}

// parseIdentifier adds the identifier that starts with a word, if a parameter has it.
func (q *queryParser) parseIdentifier(word run, weight float64) {
	if word.start > 0 && q.text[word.start-1] == '_' {
		return
	}
	id := strings.ToLower(leadingIdentifier(q.text[word.start:]))
	if _, known := q.x.find(id); known {
		q.addTerm(id, id, weight, q.expand)
	}
}

// stem returns the stem of a word: that of the index, where a document has the word, since
// finding one anew allocates.
func (q *queryParser) stem(word string) string {
	if stem, ok := q.known(word); ok {
		return stem
	}
	return q.stemmer.stem(word)
}

// stemOfBoth returns the stem of two words written as one.
func (q *queryParser) stemOfBoth(a, b string) string {
	word := a + b
	if stem, ok := q.known(word); ok {
		return stem
	}
	return q.stemmer.learn(word)
}

// known returns the stem of a word that a document or an earlier query has.
func (q *queryParser) known(word string) (stem string, ok bool) {
	for i := range q.x.parts {
		p := &q.x.parts[i]
		if token, ok := p.words[word]; ok {
			return p.texts[token], true
		}
	}
	stem, ok = q.stemmer[word]
	return stem, ok
}

// addStem adds a word by its stem, unless it is a stop word. It reports whether the query
// has it.
func (q *queryParser) addStem(word string, weight float64, required bool) bool {
	stem := q.stem(word)
	empty := q.l.stop[stem] || len(stem) == 1 && 'a' <= stem[0] && stem[0] <= 'z'
	if empty && !required && !q.keepAll {
		return false
	}
	at := q.addTerm(stem, word, weight, q.expand)
	if required && at >= 0 {
		q.require(at)
	}
	return at >= 0
}

// parseUnspaced adds the characters of a run without spaces, each two neighbours, and
// what the words among them mean.
func (q *queryParser) parseUnspaced(word run, weight float64) {
	parts := []string{word.text}
	if !q.keepAll {
		parts = q.l.withoutPoliteness(word.text)
	}
	for _, part := range parts {
		q.addCharacters(part, weight)
	}
	for _, segment := range q.l.segment(word.text) {
		q.translate(segment, weight)
	}
	if q.isRequired(word) {
		q.requireUnspaced(word.text)
	}
}

func (q *queryParser) addCharacters(text string, weight float64) {
	alone := utf8.RuneCountInString(text) == 1
	eachCharacter(text, func(token string) {
		if q.l.stop[token] && !q.keepAll {
			return
		}
		own := weight
		if _, size := utf8.DecodeRuneInString(token); size == len(token) && !alone {
			own *= singleWeight
		}
		q.addTerm(token, token, own, q.expand)
	})
}

// addTerm adds a term, which is written so in the query, and calls fill for it, or finds it
// if the query has it already. It returns its position, or -1 if there are maxTerms.
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
	if clause := &q.parsed.clauses[q.clause]; len(q.ends) > 1 && !slices.Contains(*clause, at) {
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

// require makes a term required: the word itself, one that begins like it, or its
// correction must match. A related word is not enough, unless there is nothing else.
func (q *queryParser) require(at int) {
	var tokens, others []uint32
	for _, m := range q.parsed.terms[at].expansions {
		switch m.relation {
		case "equals", "begins like", "looks like", "part of", "translation of":
			tokens = append(tokens, m.token)
		default:
			others = append(others, m.token)
		}
	}
	if len(tokens) == 0 {
		tokens = others
	}
	q.addRequired(tokens)
}

func (q *queryParser) addRequired(tokens []uint32) {
	if len(q.parsed.required) < maxRequired {
		q.parsed.required = append(q.parsed.required, tokens)
	}
}

// requireUnspaced makes every word of a run without spaces required, in its own or
// another language, or if no word of it is known, any two neighbouring characters.
func (q *queryParser) requireUnspaced(text string) {
	segments := q.l.segment(text)
	if len(segments) == 0 {
		segments = []string{text}
	}
	for _, segment := range segments {
		q.addRequired(q.tokensOf(segment))
	}
}

// tokensOf returns the tokens by which a word without spaces can be found.
func (q *queryParser) tokensOf(word string) []uint32 {
	var pairs, singles []uint32
	eachCharacter(word, func(token string) {
		id, ok := q.x.find(token)
		switch {
		case !ok:
		case len(token) > 4:
			pairs = append(pairs, id)
		default:
			singles = append(singles, id)
		}
	})
	for _, alternatives := range q.l.lexicon[word] {
		for _, token := range alternatives {
			if id, ok := q.x.find(token); ok {
				pairs = append(pairs, id)
				break // the first is the meaning, the others are close to it
			}
		}
	}
	if len(pairs) == 0 {
		return singles
	}
	return pairs
}
