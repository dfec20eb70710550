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
	q := acc.parser.parse(text)
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
