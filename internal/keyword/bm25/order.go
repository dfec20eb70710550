// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math/bits"
	"strings"
)

// clause says how well documents answer one clause of a query.
type clause struct {
	weight float64            // 1 for the clause that is answered best
	fit    map[uint32]float64 // 1 for the best answer
}

// spare is the number of candidates beyond those asked for.
const spare = 64

const (
	// freshBonus is for an answer to a clause that earlier answers leave open.
	freshBonus = 0.4
	// openBonus is for an answer to all words that earlier answers leave open.
	openBonus = 0.25
	// maxOpen is the number of terms that are known to be open.
	maxOpen = 64
	// nearlyEqual is the share of the best score from which another counts as equal.
	nearlyEqual = 0.98
	// maxDiversified is the number of places that are filled one by one, from the best
	// maxDiversified+spare documents. Further places follow the order of the scores.
	maxDiversified = 32
)

// places are filled one by one.
type places struct {
	x       *Index
	clauses []clause
	open    []float64 // how much of each clause is unanswered
	top     float64   // the highest score
	used    map[string]int
	shares  []float64                       // of terms in the query
	done    uint64                          // terms that the answers so far have
	values  [maxDiversified + spare]float64 // of the candidates
}

// next returns the index of the candidate for the next place.
func (p *places) next(candidates []scored) int {
	best := 0.0
	for i, c := range candidates {
		fresh := 0.0
		for n := range p.clauses {
			fresh = max(fresh, p.clauses[n].weight*p.clauses[n].fit[c.doc]*p.open[n])
		}
		p.values[i] = c.score + float64(p.top*freshBonus*fresh)
		if p.done != 0 {
			for open := c.terms &^ p.done; open != 0; open &= open - 1 {
				p.values[i] += float64(p.top * openBonus * p.shares[bits.TrailingZeros64(open)])
			}
		}
		best = max(best, p.values[i])
	}
	at := -1
	for i, v := range p.values[:len(candidates)] {
		if v < best*nearlyEqual {
			continue
		}
		if at < 0 {
			at = i
			continue
		}
		mine, other := p.used[p.x.server(candidates[i].doc)], p.used[p.x.server(candidates[at].doc)]
		if mine < other || mine == other && v > p.values[at] {
			at = i
		}
	}
	return at
}

const (
	// neededFrom is the confidence of an answer from which what it requires is looked for, among
	// the first needingPlaces.
	neededFrom    = 0.4
	needingPlaces = 2
	// neededPlace is where the document that finds what is required is put at the latest, counted
	// from 0.
	neededPlace = 4
	// neededShare is its score and its confidence at the least, relative to the answer that
	// requires it.
	neededShare = 0.5
)

// finding are the stems of verbs in the names of tools that find things.
var finding = map[string]bool{"search": true, "find": true, "list": true, "lookup": true, "queri": true, "get": true, "resolv": true}

// givesValue reports whether a term is a value: a number, an address or a quotation.
func givesValue(w term) bool {
	return w.weight < singleWeight || strings.ContainsAny(w.written, "0123456789")
}
