// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file scores documents for a query and orders them.

import (
	"context"
	"math"
	"slices"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	clauseBonus = 0.7 // for the best answer to a clause
	clauseHits  = 64  // answers to a clause that get a bonus
	spare       = 64  // candidates beyond the limit
)

// Search returns the documents that answer text best, best first, at most limit of
// them. If limit is zero or less, it returns all. The text is anything
// from two keywords to several sentences, in English, Chinese or both; a word with a
// leading '+' must match. A text of several clauses is also answered clause by clause,
// and documents of one server do not displace equally good ones of other servers, so
// the order is not always that of the scores.
//
// The only error is that of ctx. Search reads the first 32 KB of text and at most 256
// distinct words of it.
func (x *Index) Search(ctx context.Context, text string, limit int) ([]keyword.Hit, error) {
	acc := x.accumulator()
	defer acc.release()
	q := acc.parse(text)
	if len(q.terms) == 0 {
		return []keyword.Hit{}, ctx.Err()
	}
	if err := acc.scoreWhole(ctx, q); err != nil {
		return nil, err
	}
	clauses, err := acc.scoreClauses(ctx, q)
	if err != nil {
		return nil, err
	}
	return acc.choose(q, clauses, limit), nil
}

// scoreWhole scores the whole query, and keeps the scores of all documents that meet
// its requirements.
func (acc *accumulator) scoreWhole(ctx context.Context, q *parsedQuery) error {
	defer acc.clear()
	importance, err := acc.accumulate(ctx, q.terms, inQuery)
	if err != nil {
		return err
	}
	acc.countRequired(q.required)
	acc.keep(int32(len(q.required)), importance)
	for _, doc := range q.named {
		if k := acc.find(doc); k != nil {
			k.fits = true
		}
	}
	return ctx.Err()
}

// clause says how well documents answer one clause of a query.
type clause struct {
	weight float64            // 1 for the clause that is answered best
	fit    map[uint32]float64 // 1 for the best answer
}

// scoreClauses scores each clause of a query on its own.
func (acc *accumulator) scoreClauses(ctx context.Context, q *parsedQuery) ([]clause, error) {
	if len(q.clauses) == 0 {
		return nil, nil
	}
	clauses := make([]clause, 0, len(q.clauses))
	most := 0.0
	for _, positions := range q.clauses {
		hits, err := acc.scoreClause(ctx, q, positions)
		if err != nil {
			return nil, err
		}
		if len(hits) == 0 {
			continue
		}
		c := clause{weight: hits[0].score, fit: acc.fit(len(clauses))}
		for _, h := range hits {
			c.fit[h.doc] = h.score / hits[0].score
			acc.find(h.doc).fits = true
		}
		most = max(most, c.weight)
		clauses = append(clauses, c)
	}
	for i := range clauses {
		// The root lowers the weight of clauses such as greetings, whose answers are weak,
		// without silencing them.
		clauses[i].weight = math.Sqrt(clauses[i].weight / most)
	}
	return clauses, nil
}

func (acc *accumulator) scoreClause(ctx context.Context, q *parsedQuery, positions []int) ([]scored, error) {
	terms := acc.terms[:0]
	for _, at := range positions {
		terms = append(terms, q.terms[at])
	}
	acc.terms = terms
	defer acc.clear()
	defer acc.unmark(inClause)
	importance, err := acc.accumulate(ctx, terms, inClause)
	if err != nil {
		return nil, err
	}
	hits := acc.newBest(min(clauseHits, len(acc.touched)))
	for _, doc := range acc.touched {
		s := &acc.states[doc]
		total, covered := s.total+s.best, (s.importance+s.bestImportance)/importance
		if acc.find(doc) != nil && hits.takes(finalScore(total, 1, covered)) {
			hits.Add(scored{doc, finalScore(total, acc.nameCoverage(doc, inClause), covered)})
		}
	}
	return hits.Sorted(), nil
}

// fit returns an empty fit for the nth clause.
func (acc *accumulator) fit(n int) map[uint32]float64 {
	if n == len(acc.fits) {
		acc.fits = append(acc.fits, make(map[uint32]float64, clauseHits))
	}
	clear(acc.fits[n])
	return acc.fits[n]
}

// bonus returns what a document gets for its best answer to a clause.
func bonus(clauses []clause, doc uint32) float64 {
	most := 0.0
	for i := range clauses {
		most = max(most, clauses[i].weight*clauses[i].fit[doc])
	}
	return clauseBonus * most
}

// finalScore combines a document's scores for the whole query and for its clauses. A
// document that the query names is above all others.
func (acc *accumulator) finalScore(k *keptDoc, q *parsedQuery, clauses []clause) float64 {
	score := acc.score(k)
	if !k.fits {
		return score
	}
	score += float64(acc.top * bonus(clauses, k.doc))
	if slices.Contains(q.named, k.doc) {
		score += acc.top * (1 + clauseBonus)
	}
	return score
}

// choose selects and orders the answers.
func (acc *accumulator) choose(q *parsedQuery, clauses []clause, limit int) []keyword.Hit {
	if limit <= 0 || limit > len(acc.kept) {
		limit = len(acc.kept)
	}
	candidates := acc.candidates(q, clauses, max(limit+spare, maxReordered))
	acc.reorder(q, clauses, candidates)
	return acc.hits(q, acc.x.diversify(candidates, clauses, acc.top, limit))
}

// candidates returns the n documents with the highest scores, in order.
func (acc *accumulator) candidates(q *parsedQuery, clauses []clause, n int) []scored {
	candidates := acc.newBest(min(n, len(acc.kept)))
	for i := range acc.kept {
		if k := &acc.kept[i]; k.fits || candidates.takes(k.most()) {
			candidates.Add(scored{k.doc, acc.finalScore(k, q, clauses)})
		}
	}
	return candidates.Sorted()
}

func (acc *accumulator) hits(q *parsedQuery, chosen []scored) []keyword.Hit {
	hits := make([]keyword.Hit, len(chosen))
	for i, s := range chosen {
		evidence := acc.evidence(q, acc.find(s.doc))
		hits[i] = keyword.Hit{
			Doc: acc.x.Position(s.doc), Score: s.score,
			Evidence: evidence, Confidence: acc.confidence(q, s.doc, evidence),
		}
	}
	return hits
}

// confidence returns how sure it is that a document with some evidence is meant.
func (acc *accumulator) confidence(q *parsedQuery, doc uint32, evidence float64) float64 {
	if slices.Contains(q.named, doc) {
		return 1
	}
	return calibration.Of(evidence, acc.x.Len())
}

// coveredImportance returns how much of a term's importance a match of the given weight
// covers. The root makes weak matches of every term better than a strong match of one.
func coveredImportance(w *term, weight float64) float64 {
	return w.importance * w.weight * math.Sqrt(weight)
}

// accumulate adds up the scores of terms and returns their importance. It stops if ctx
// ends.
func (acc *accumulator) accumulate(ctx context.Context, terms []term, s scope) (importance float64, err error) {
	for i := range terms {
		w := &terms[i]
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		importance += float64(w.importance * w.weight)
		for _, m := range w.expansions {
			found := match{int32(i + 1), w.weight * m.weight, acc.idf(m.token), coveredImportance(w, m.weight)}
			acc.x.each(m.token, func(p *part, id uint32) {
				acc.mark(p.firstToken+id, s)
				acc.add(found, p, id)
			})
		}
	}
	return importance, nil
}

// countRequired counts the requirements that each touched document meets, in order.
func (acc *accumulator) countRequired(required [][]uint32) {
	for i, tokens := range required {
		for _, token := range tokens {
			acc.x.each(token, func(p *part, id uint32) {
				for _, u := range p.of(id) {
					if s := &acc.states[p.firstDoc+u.doc]; s.term > 0 && s.met == int32(i) {
						s.met++
					}
				}
			})
		}
	}
}

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
