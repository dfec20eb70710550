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

// The limits for a query. The rest of it is ignored.
const (
	maxQueryBytes = 32 << 10
	maxRequired   = 32 // further requirements are ordinary terms
	maxNamed      = 64 // fields that are looked up as names
)

// singleWeight is the weight of a single character of a longer run without spaces: most are
// halves of words.
const singleWeight = 0.5

// parse parses text. The parser owns the result.
func (q *queryParser) parse(text string) *parsedQuery {
	q.text = normalize(names.Clip(text, maxQueryBytes))
	q.spans, q.ends = appendValueSpans(q.spans[:0], q.text), appendClauseEnds(q.ends[:0], q.text)
	q.findPhrases()
	q.parseRuns()
	if len(q.parsed.terms) == 0 {
		q.keepAll = true
		q.parseRuns()
	}
	q.findClauses()
	q.findNamed(text)
	return &q.parsed
}

// findClauses collects the clauses that have terms.
func (q *queryParser) findClauses() {
	clauses := q.scratch.clauses[:0]
	for _, terms := range q.inParts {
		if len(terms) > 0 {
			clauses = append(clauses, terms)
		}
	}
	q.scratch.clauses = clauses
	if len(clauses) > 1 {
		q.parsed.clauses = clauses
	}
}

// findNamed finds the documents whose names are white-space-delimited fields of text. A
// name of one word does not count, since the word may mean something else.
func (q *queryParser) findNamed(text string) {
	looked := 0
	for field := range strings.FieldsSeq(names.Clip(text, maxQueryBytes)) {
		if looked++; looked > maxNamed {
			break
		}
		doc, ok := q.x.LookupOrdinal(strings.Trim(field, "+\"'`.,;:()[]!?"))
		if !ok {
			continue
		}
		if _, tokens := q.x.nameOf(doc); len(tokens) > 1 {
			q.parsed.named = append(q.parsed.named, doc)
		}
	}
}

func (q *queryParser) parseRuns() {
	clear(q.seen)
	q.foreign = q.foreign[:0]
	q.reset()
	q.inParts = grown(q.inParts, len(q.ends))
	for i := range q.inParts {
		q.inParts[i] = q.inParts[i][:0]
	}
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
	id := q.lower(leadingIdentifier(q.text[word.start:]))
	if _, known := q.x.find(id); known {
		q.addTerm(id, id, weight, q.expand)
	}
}

// addStem adds a word by its stem, unless it is a stop word. It reports whether the query
// now has it.
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
	s := &q.scratch.segmenter
	s.cutRun(q.l, word.text)
	if q.keepAll {
		q.addCharacters(word.text, weight)
	} else {
		s.eachRest(func(part string) { q.addCharacters(part, weight) })
	}
	s.eachWord(func(part string) { q.translate(part, weight) })
	if q.isRequired(word) {
		q.requireUnspaced(s)
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

// require makes a term required: the word itself, one that begins like it, or its
// correction must match. A related word is not enough, unless there is nothing else.
func (q *queryParser) require(at int) {
	q.addRequired(func(tokens []uint32) []uint32 {
		all := q.parsed.terms[at].expansions
		start := len(tokens)
		for _, m := range all {
			switch m.relation {
			case equalTo, beginsLike, looksLike, partOf, translationOf:
				tokens = append(tokens, m.token)
			}
		}
		if len(tokens) == start {
			for _, m := range all {
				tokens = append(tokens, m.token)
			}
		}
		return tokens
	})
}

// addRequired adds a requirement, whose tokens add appends.
func (q *queryParser) addRequired(add func(tokens []uint32) []uint32) {
	if len(q.parsed.required) == maxRequired {
		return
	}
	start := len(q.scratch.tokens)
	q.scratch.tokens = add(q.scratch.tokens)
	q.parsed.required = append(q.parsed.required, slices.Clip(q.scratch.tokens[start:]))
}

// requireUnspaced makes every word of a run without spaces required, in its own or
// another language, or if no word of it is known, any two neighbouring characters.
func (q *queryParser) requireUnspaced(s *segmenter) {
	known := false
	s.eachWord(func(word string) {
		known = true
		q.addRequired(func(tokens []uint32) []uint32 { return q.appendTokensOf(tokens, word) })
	})
	if !known {
		q.addRequired(func(tokens []uint32) []uint32 { return q.appendTokensOf(tokens, s.text) })
	}
}

// appendTokensOf appends the tokens by which a word without spaces can be found: its pairs
// of characters and its meaning, or if there are none, its characters.
func (q *queryParser) appendTokensOf(tokens []uint32, word string) []uint32 {
	start := len(tokens)
	add := func(pairs bool) {
		eachCharacter(word, func(token string) {
			if id, ok := q.x.find(token); ok && len(token) > 4 == pairs {
				tokens = append(tokens, id)
			}
		})
	}
	add(true)
	for _, alternatives := range q.l.lexicon[word] {
		for _, token := range alternatives {
			if id, ok := q.x.find(token); ok {
				tokens = append(tokens, id)
				break // the first is the meaning, the others are close to it
			}
		}
	}
	if len(tokens) == start {
		add(false)
	}
	return tokens
}
