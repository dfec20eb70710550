// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file orders answers: those to open clauses first, those of several servers in turn,
// and those with the same subject as the query before others, in whatever words.

import (
	"math"
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/keyword/wordvectors"
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

const (
	// nearBonus is for an answer that stands out as far as chance puts the nearest of all,
	// if nothing is known of the best one.
	nearBonus = 0.8
	// sureAnswer is the confidence of the best answer from which the words alone decide.
	sureAnswer = 0.9
)

// rowOf returns the row of a term in the table: that of the word, or of the translation of
// one that no document uses. A Chinese word that documents use stands for itself.
func (acc *accumulator) rowOf(table *wordvectors.Table, w *term) (row int, ok bool) {
	if !startsUnspaced(w.text) {
		return table.Find(w.text)
	}
	if _, meaning, translated := strings.Cut(w.text, "/"); translated && w.weight > weightAlsoUsed {
		return table.Find(meaning)
	}
	return 0, false
}

// readQuery computes the subject of a query, and returns the share of it that is known.
func (acc *accumulator) readQuery(q *parsedQuery, table *wordvectors.Table) float64 {
	acc.about.reset(table)
	known, all := 0.0, 0.0
	for i := range q.terms {
		w := &q.terms[i]
		matters := w.weight * w.importance
		all += matters
		row, ok := acc.rowOf(table, w)
		if !ok {
			continue
		}
		known += matters
		table.AddTo(acc.about.sum, row, w.weight*w.says.found*table.Weight(row))
	}
	wordvectors.Pack(acc.about.query, acc.about.sum)
	if known == 0 {
		return 0
	}
	return known / all
}

// reorder moves up the candidates, given in the order of their scores, that are nearer to
// the query than the others: further up, the less sure the best answer is. It then scales
// all scores to keep the best one as it was, and returns the scale.
func (acc *accumulator) reorder(q *parsedQuery, clauses []clause, candidates []scored) float64 {
	weight := acc.nearWeight(q, clauses, candidates)
	if weight == 0 {
		return 1
	}
	best := candidates[0].score
	front := candidates[:min(len(candidates), maxReordered)]
	cosines := acc.about.cosines[:len(front)]
	mean, spread := 0.0, 0.0
	for i, c := range front {
		p := acc.x.partOfDoc(c.doc)
		cosines[i] = wordvectors.Cosine(acc.about.query, p.direction(c.doc-p.firstDoc))
		mean += cosines[i] / float64(len(front))
	}
	for _, cosine := range cosines {
		spread += float64((cosine - mean) * (cosine - mean))
	}
	if spread == 0 {
		return 1
	}
	// The largest of n random numbers is about this far above their mean.
	chance := math.Sqrt(2 * math.Log(float64(len(front))) * spread / float64(len(front)))
	for i := range front {
		front[i].score += float64(acc.top * weight * max(0, cosines[i]-mean) / chance)
	}
	slices.SortFunc(front, acc.compare)
	scale := best / candidates[0].score
	for i := range candidates {
		candidates[i].score *= scale
	}
	return scale
}

// nearWeight returns the weight of standing out, relative to the best score. It is zero if
// the words are sure enough, or name a document.
func (acc *accumulator) nearWeight(q *parsedQuery, clauses []clause, candidates []scored) float64 {
	if len(candidates) < 2 {
		return 0
	}
	table := acc.x.parts[0].table // of all parts
	first := acc.x.first(candidates, clauses, acc.top).doc
	sure := acc.confidence(q, first, acc.evidence(q, acc.find(first)))
	if sure >= sureAnswer {
		return 0
	}
	doubt := 1 - sure/sureAnswer
	return nearBonus * doubt * doubt * acc.readQuery(q, table)
}
