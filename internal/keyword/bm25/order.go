// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math/bits"
	"slices"

	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

type scored struct {
	doc      uint32
	neededBy uint32 // the answer for which it finds what that requires, plus 1; 0: none
	terms    uint64 // of the first maxOpen, those that match
	score    float64
}

// clause says how well documents answer one clause of a query.
type clause struct {
	weight float64            // 1 for the clause that is answered best
	fit    map[uint32]float64 // 1 for the best answer
}

const (
	clauseBonus = 0.7 // for the best answer to a clause
	clauseHits  = 64  // answers to a clause that get a bonus
)

// bonus returns what a document gets for its best answer to a clause.
func bonus(clauses []clause, doc uint32) float64 {
	most := 0.0
	for i := range clauses {
		most = max(most, clauses[i].weight*clauses[i].fit[doc])
	}
	return clauseBonus * most
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
	x       *postings.View
	clauses []clause
	open    []float64 // how much of each clause is unanswered
	top     float64   // the highest score
	used    map[string]int
	shares  []float64                       // of terms in the query
	done    uint64                          // terms that the answers so far have
	values  [maxDiversified + spare]float64 // of the candidates
}

func newPlaces(x *postings.View, clauses []clause, shares []float64, top float64) places {
	p := places{x: x, clauses: clauses, shares: shares, open: make([]float64, len(clauses)), top: top, used: make(map[string]int)}
	for i := range p.open {
		p.open[i] = 1
	}
	return p
}

// fill orders candidates, which are in the order of their scores. Each place goes to the best
// one left, where answers to clauses and words that are still open count more. Among nearly
// equal ones, it goes to the one whose server has the fewest places so far.
func (p *places) fill(candidates []scored, limit int) []scored {
	chosen := make([]scored, 0, len(candidates))
	front := candidates[:min(len(candidates), maxDiversified+spare)]
	rest := candidates[len(front):]
	for len(chosen) < min(limit, maxDiversified) && len(front) > 0 {
		at := p.next(front)
		pick := front[at]
		front = slices.Delete(front, at, at+1)
		chosen = append(chosen, pick)
		for i := range p.clauses {
			p.open[i] *= 1 - p.clauses[i].fit[pick.doc]
		}
		p.done |= pick.terms
		if server := p.x.Server(pick.doc); server != "" {
			p.used[server]++
		}
	}
	chosen = append(append(chosen, front...), rest...)
	return chosen[:min(limit, len(chosen))]
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
		count, other := p.used[p.x.Server(candidates[i].doc)], p.used[p.x.Server(candidates[at].doc)]
		if count < other || count == other && v > p.values[at] {
			at = i
		}
	}
	return at
}
