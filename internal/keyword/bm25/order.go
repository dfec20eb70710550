// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file orders answers: those to open clauses first, and those of several servers in turn.

import "slices"

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
	// nearlyEqual is the share of the best score from which another counts as equal.
	nearlyEqual = 0.98
	// maxDiversified is the number of places that are filled one by one, from the best
	// maxDiversified+spare documents. Further places follow the order of the scores.
	maxDiversified = 32
)

// diversify orders candidates, which are in the order of their scores. Each place goes
// to the best one left, where answers to clauses that are still open count more; among
// nearly equal ones, to the one whose server has the fewest places so far.
func (x *Index) diversify(candidates []scored, clauses []clause, top float64, limit int) []scored {
	p := x.newPlaces(clauses, top)
	p.used = make(map[string]int)
	chosen := make([]scored, 0, len(candidates))
	front := candidates[:min(len(candidates), maxDiversified+spare)]
	rest := candidates[len(front):]
	for len(chosen) < min(limit, maxDiversified) && len(front) > 0 {
		at := p.next(front)
		pick := front[at]
		front = slices.Delete(front, at, at+1)
		chosen = append(chosen, pick)
		for i := range clauses {
			p.open[i] *= 1 - clauses[i].fit[pick.doc]
		}
		if server := x.server(pick.doc); server != "" {
			p.used[server]++
		}
	}
	chosen = append(append(chosen, front...), rest...)
	return chosen[:min(limit, len(chosen))]
}

// first returns the candidate that diversify puts first.
func (x *Index) first(candidates []scored, clauses []clause, top float64) scored {
	p := x.newPlaces(clauses, top)
	return candidates[p.next(candidates[:min(len(candidates), maxDiversified+spare)])]
}

// places are filled one by one.
type places struct {
	x       *Index
	clauses []clause
	open    []float64 // how much of each clause is unanswered
	top     float64   // the highest score
	used    map[string]int
	values  [maxDiversified + spare]float64 // of the candidates
}

func (x *Index) newPlaces(clauses []clause, top float64) places {
	p := places{x: x, clauses: clauses, open: make([]float64, len(clauses)), top: top}
	for i := range p.open {
		p.open[i] = 1
	}
	return p
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
