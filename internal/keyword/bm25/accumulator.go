// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file adds up the scores of documents.

import (
	"math"
	"math/bits"
	"sync"

	"github.com/leanctx/leanctx/internal/keyword/names"
)

// nameBonus is for a name whose every word is in the query.
const nameBonus = 0.6

// docState is the state of a document while a query, or a clause of it, is being scored.
type docState struct {
	total          float64 // of the terms before the current one
	best           float64 // score of the current term
	importance     float64 // of the earlier terms that matched
	bestImportance float64 // of the current term
	term           int32   // the current term, counted from 1
	met            int32   // requirements, in order
}

// keptDoc is a document that meets a query's requirements, with its scores.
type keptDoc struct {
	doc            uint32
	fits           bool    // it is an answer to a clause, or named
	total, covered float64 // the sum over the terms, and the share of the query
	score          float64 // 0 means not computed yet
}

// accumulator is the scratch memory of a search. Indexes share it: a thousand of them need
// only as much as their concurrent searches.
type accumulator struct {
	rareness // its index is that of the values below

	states  []docState
	touched []uint32
	kept    []keptDoc
	place   []uint32 // of each document in kept, plus 1
	top     float64  // the highest score in kept

	mentions []uint8  // by token: the scopes in which it stands for a term
	marked   []uint32 // tokens with a mention
	norms    [fieldCount][shortField]float64
	parser   queryParser
	about    about

	best  best
	terms []term               // of a clause
	fits  []map[uint32]float64 // of the clauses
}

// shortField is the field length from which the weight of an occurrence is not
// precomputed.
const shortField = 128

// scope is the text in which a token stands for a term: the query, or one clause.
type scope uint8

const (
	inQuery scope = 1 << iota
	inClause
)

var accumulators = sync.Pool{New: func() any {
	acc := &accumulator{}
	acc.parser = newQueryParser(&acc.rareness)
	acc.best = best{names.NewTopK(0, acc.compare)}
	return acc
}}

// accumulator returns scratch memory for a search of x.
func (x *Index) accumulator() *accumulator {
	acc := accumulators.Get().(*accumulator)
	if acc.x == x {
		return acc
	}
	acc.x = x
	docs, tokens := x.Numbers(), x.tokens
	acc.states, acc.place = grown(acc.states, docs), grown(acc.place, docs)
	acc.mentions, acc.parser.shared, acc.idfs = grown(acc.mentions, tokens), grown(acc.parser.shared, tokens), grown(acc.idfs, tokens)
	clear(acc.idfs)
	for f := range fieldCount {
		for length := range acc.norms[f] {
			acc.norms[f][length] = x.norm(f, length)
		}
	}
	return acc
}

// release clears the state of the search, and returns the memory.
func (acc *accumulator) release() {
	acc.clear()
	for i := range acc.kept {
		acc.place[acc.kept[i].doc] = 0
	}
	for _, token := range acc.marked {
		acc.mentions[token] = 0
	}
	acc.kept, acc.marked, acc.top = acc.kept[:0], acc.marked[:0], 0
	acc.parser.forget()
	clear(acc.terms[:cap(acc.terms)])

	accumulators.Put(acc)
}

// clear drops the states of documents.
func (acc *accumulator) clear() {
	for _, doc := range acc.touched {
		acc.states[doc] = docState{}
	}
	acc.touched = acc.touched[:0]
}

// mark notes that a token stands for a term.
func (acc *accumulator) mark(token uint32, s scope) {
	if acc.mentions[token] == 0 {
		acc.marked = append(acc.marked, token)
	}
	acc.mentions[token] |= uint8(s)
}

// unmark removes the marks in a scope.
func (acc *accumulator) unmark(s scope) {
	for _, token := range acc.marked {
		acc.mentions[token] &^= uint8(s)
	}
}

// weight returns what a token with these counts and this inverse document frequency
// scores in a document.
func (acc *accumulator) weight(lengths *[fieldCount]uint16, c counts, idf float64) float64 {
	frequency := 0.0
	for c != 0 {
		f := field(bits.TrailingZeros32(uint32(c)) / countBits)
		if n := lengths[f]; n < shortField {
			frequency += float64(acc.norms[f][n] * float64(c.of(f)))
		} else {
			frequency += float64(acc.x.norm(f, int(n)) * float64(c.of(f)))
		}
		c &^= maxCount << (countBits * f)
	}
	return float64(float32(idf * frequency * (saturation + 1) / (frequency + saturation)))
}

// match is a token that stands for a term.
type match struct {
	term                    int32 // counted from 1
	weight, idf, importance float64
}

// add records that the documents of a segment with a token match a term.
func (acc *accumulator) add(m match, p *part, id uint32) {
	for _, u := range p.of(id) {
		if !p.has(u.doc) {
			continue
		}
		doc := p.firstDoc + u.doc
		s := &acc.states[doc]
		if s.term != m.term {
			if s.term == 0 {
				acc.touched = append(acc.touched, doc)
			}
			s.total += s.best
			s.importance += s.bestImportance
			s.best, s.bestImportance, s.term = 0, 0, m.term
		}
		s.best = max(s.best, m.weight*acc.weight(&p.lengths[u.doc], u.counts, m.idf))
		s.bestImportance = max(s.bestImportance, m.importance)
	}
}

// keep keeps the scores of the touched documents that meet all requirements, given the
// importance of all terms.
func (acc *accumulator) keep(required int32, importance float64) {
	for _, doc := range acc.touched {
		s := &acc.states[doc]
		if s.met != required {
			continue
		}
		acc.kept = append(acc.kept, keptDoc{doc: doc, total: s.total + s.best, covered: (s.importance + s.bestImportance) / importance})
		acc.place[doc] = uint32(len(acc.kept))
	}
	for i := range acc.kept {
		if k := &acc.kept[i]; k.most() > acc.top {
			acc.top = max(acc.top, acc.score(k))
		}
	}
}

// find returns a document that was kept, or nil.
func (acc *accumulator) find(doc uint32) *keptDoc {
	if at := acc.place[doc]; at > 0 {
		return &acc.kept[at-1]
	}
	return nil
}

// score returns the score of a document for the whole query.
func (acc *accumulator) score(k *keptDoc) float64 {
	if k.score == 0 {
		k.score = finalScore(k.total, acc.nameCoverage(k.doc, inQuery), k.covered)
	}
	return k.score
}

// most is an upper bound of the document's score. Most documents are far from the best,
// and their names need no check.
func (k *keptDoc) most() float64 { return finalScore(k.total, 1, k.covered) }

func finalScore(total, name, covered float64) float64 {
	return total * (1 + float64(nameBonus*name)) * math.Sqrt(covered)
}

// nameCoverage returns the share of a document's name that is mentioned in a scope,
// weighted by idf.
func (acc *accumulator) nameCoverage(doc uint32, s scope) float64 {
	covered, all := 0.0, 0.0
	p, tokens := acc.x.nameOf(doc)
	for _, id := range tokens {
		idf := acc.idf(p.firstToken + id)
		all += idf
		if acc.mentions[p.firstToken+id]&uint8(s) != 0 {
			covered += idf
		}
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// best keeps the best documents.
type best struct {
	names.TopK[scored]
}

// scored is a document with its score.
type scored struct {
	doc   uint32
	score float64
}

// newBest returns an empty best of n, in the memory of the one before.
func (acc *accumulator) newBest(n int) *best {
	acc.best.Reset(n)
	return &acc.best
}

// compare puts the higher score first, and then the smaller name.
func (acc *accumulator) compare(a, b scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return acc.x.Compare(a.doc, b.doc)
}

// takes reports whether a document that scores at most most can be one of the best.
func (b *best) takes(most float64) bool {
	last, full := b.Last()
	return !full || most >= last.score
}
