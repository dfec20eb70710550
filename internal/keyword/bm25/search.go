// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file scores documents for a query and orders them.

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/names"
)

// scored is a document's ordinal with its score.
type scored struct {
	doc   uint32
	score float64
}

// compareScored puts the higher score first, and then the smaller name.
func compareScored(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
}

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
	acc := x.scratch.Get().(*accumulator)
	defer x.scratch.Put(acc)
	defer acc.forget()
	q := x.parse(text, acc.shared)
	if len(q.terms) == 0 {
		return []keyword.Hit{}, ctx.Err()
	}
	if err := x.scoreWhole(ctx, acc, &q); err != nil {
		return nil, err
	}
	clauses, err := x.scoreClauses(ctx, acc, &q)
	if err != nil {
		return nil, err
	}
	return x.choose(acc, &q, clauses, limit), nil
}

// scoreWhole scores the whole query, and keeps the scores of all documents that have
// what it requires.
func (x *Index) scoreWhole(ctx context.Context, acc *accumulator, q *parsedQuery) error {
	defer acc.clear(q.terms)
	importance, err := x.accumulate(ctx, acc, q.terms)
	if err != nil {
		return err
	}
	x.countRequired(acc, q.required)
	for _, doc := range acc.touched {
		if acc.states[doc].met == int32(len(q.required)) {
			acc.whole[doc], acc.covered[doc] = x.result(acc, doc, importance)
			acc.kept = append(acc.kept, doc)
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
func (x *Index) scoreClauses(ctx context.Context, acc *accumulator, q *parsedQuery) ([]clause, error) {
	clauses := make([]clause, 0, len(q.clauses))
	most := 0.0
	for _, positions := range q.clauses {
		hits, err := x.scoreClause(ctx, acc, q, positions)
		if err != nil {
			return nil, err
		}
		if len(hits) == 0 {
			continue
		}
		c := clause{weight: hits[0].score, fit: make(map[uint32]float64, len(hits))}
		for _, h := range hits {
			c.fit[h.doc] = h.score / hits[0].score
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

func (x *Index) scoreClause(ctx context.Context, acc *accumulator, q *parsedQuery, positions []int) ([]scored, error) {
	terms := make([]term, len(positions))
	for i, at := range positions {
		terms[i] = q.terms[at]
	}
	defer acc.clear(terms)
	importance, err := x.accumulate(ctx, acc, terms)
	if err != nil {
		return nil, err
	}
	best := names.NewTopK(min(clauseHits, len(acc.touched)), compareScored)
	for _, doc := range acc.touched {
		if acc.whole[doc] > 0 {
			score, _ := x.result(acc, doc, importance)
			best.Add(scored{doc: doc, score: score})
		}
	}
	return best.Sorted(), nil
}

// bonus returns what a document gets for its best answer to a clause.
func bonus(clauses []clause, doc uint32) float64 {
	most := 0.0
	for i := range clauses {
		most = max(most, clauses[i].weight*clauses[i].fit[doc])
	}
	return clauseBonus * most
}

// finalScores returns the function that combines a document's scores for the whole
// query and for its clauses. A document that the query names is above all others.
func finalScores(acc *accumulator, q *parsedQuery, clauses []clause) func(doc uint32) float64 {
	if len(clauses) == 0 && len(q.named) == 0 {
		return func(doc uint32) float64 { return acc.whole[doc] }
	}
	top := acc.top()
	return func(doc uint32) float64 {
		if acc.whole[doc] == 0 {
			return 0
		}
		score := acc.whole[doc] + float64(top*bonus(clauses, doc))
		if slices.Contains(q.named, doc) {
			score += top * (1 + clauseBonus)
		}
		return score
	}
}

// choose selects and orders the answers.
func (x *Index) choose(acc *accumulator, q *parsedQuery, clauses []clause, limit int) []keyword.Hit {
	if limit <= 0 || limit > len(acc.kept) {
		limit = len(acc.kept)
	}
	score := finalScores(acc, q, clauses)
	best := names.NewTopK(min(limit+spare, len(acc.kept)), compareScored)
	for _, doc := range acc.kept {
		if v := score(doc); v > 0 {
			best.Add(scored{doc: doc, score: v})
		}
	}
	return x.asHits(acc, q, x.diversify(best.Sorted(), clauses, acc.top(), limit))
}

func (x *Index) asHits(acc *accumulator, q *parsedQuery, chosen []scored) []keyword.Hit {
	hits := make([]keyword.Hit, len(chosen))
	for i, s := range chosen {
		evidence := evidenceOf(acc.whole[s.doc], acc.covered[s.doc])
		confidence := calibration.Of(evidence, x.Len())
		if slices.Contains(q.named, s.doc) {
			confidence = 1
		}
		hits[i] = keyword.Hit{Doc: x.Position(s.doc), Score: s.score, Evidence: evidence, Confidence: confidence}
	}
	return hits
}

// nameBonus is for a name whose every word is in the query.
const nameBonus = 0.6

// docState is the state of a document while a query is being scored.
type docState struct {
	total          float64 // of the terms before the current one
	best           float64 // score of the current term
	importance     float64 // of the earlier terms that matched
	bestImportance float64 // of the current term
	term           int32   // the current term, counted from 1
	met            int32   // requirements, in order
}

// accumulator is the scratch memory of a search.
type accumulator struct {
	states    []docState
	touched   []uint32
	mentioned []bool // tokens that stand for a term of the query
	shared    []uint8
	whole     []float64 // score for the whole query, where it is kept
	covered   []float64 // share of the query that a document with such a score covers
	kept      []uint32  // documents with such a score
}

func newAccumulator(x *Index) *accumulator {
	return &accumulator{
		states:    make([]docState, x.Len()),
		mentioned: make([]bool, len(x.texts)),
		shared:    make([]uint8, len(x.texts)),
		whole:     make([]float64, x.Len()),
		covered:   make([]float64, x.Len()),
	}
}

// add records that a document matches the current term.
func (acc *accumulator) add(doc uint32, current int32, score, importance float64) {
	s := &acc.states[doc]
	if s.term != current {
		if s.term == 0 {
			acc.touched = append(acc.touched, doc)
		}
		s.total += s.best
		s.importance += s.bestImportance
		s.best, s.bestImportance, s.term = 0, 0, current
	}
	s.best = max(s.best, score)
	s.bestImportance = max(s.bestImportance, importance)
}

// coveredImportance returns how much of a term's importance a match of the given weight
// covers. The root makes weak matches of every term better than a strong match of one.
func coveredImportance(w *term, weight float64) float64 {
	return w.importance * w.weight * math.Sqrt(weight)
}

// accumulate adds up the scores of terms and returns their importance. It stops if ctx
// ends.
func (x *Index) accumulate(ctx context.Context, acc *accumulator, terms []term) (importance float64, err error) {
	for i := range terms {
		w := &terms[i]
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		importance += float64(w.importance * w.weight)
		for _, m := range w.expansions {
			acc.mentioned[m.token] = true
			weight, covered := w.weight*m.weight, coveredImportance(w, m.weight)
			for _, p := range x.of(m.token) {
				acc.add(p.doc, int32(i+1), weight*float64(p.weight), covered)
			}
		}
	}
	return importance, nil
}

// countRequired counts the requirements that each touched document meets, in order.
func (x *Index) countRequired(acc *accumulator, required [][]uint32) {
	for i, tokens := range required {
		for _, token := range tokens {
			for _, p := range x.of(token) {
				if s := &acc.states[p.doc]; s.term > 0 && s.met == int32(i) {
					s.met++
				}
			}
		}
	}
}

// result returns the score of a touched document, given the importance of all terms, and
// the share of it that the document covers.
func (x *Index) result(acc *accumulator, doc uint32, importance float64) (score, covered float64) {
	s := &acc.states[doc]
	covered = (s.importance + s.bestImportance) / importance
	return finalScore(s.total+s.best, x.nameCoverage(acc.mentioned, doc), covered), covered
}

func finalScore(total, name, covered float64) float64 {
	return total * (1 + float64(nameBonus*name)) * math.Sqrt(covered)
}

// nameCoverage returns the share of a document's name that the query mentions, weighted
// by idf.
func (x *Index) nameCoverage(mentioned []bool, doc uint32) float64 {
	covered, all := 0.0, 0.0
	for _, token := range x.nameOf(doc) {
		idf := float64(x.idf[token])
		all += idf
		if mentioned[token] {
			covered += idf
		}
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// mentioned reports for each token whether it stands for a term of the query.
func (x *Index) mentioned(terms []term) []bool {
	mentioned := make([]bool, len(x.texts))
	for i := range terms {
		for _, m := range terms[i].expansions {
			mentioned[m.token] = true
		}
	}
	return mentioned
}

// clear drops the terms. It costs as much as they touched.
func (acc *accumulator) clear(terms []term) {
	for _, doc := range acc.touched {
		acc.states[doc] = docState{}
	}
	acc.touched = acc.touched[:0]
	for i := range terms {
		for _, m := range terms[i].expansions {
			acc.mentioned[m.token] = false
		}
	}
}

// forget drops the kept scores.
func (acc *accumulator) forget() {
	for _, doc := range acc.kept {
		acc.whole[doc] = 0
	}
	acc.kept = acc.kept[:0]
}

// top returns the highest kept score.
func (acc *accumulator) top() float64 {
	top := 0.0
	for _, doc := range acc.kept {
		top = max(top, acc.whole[doc])
	}
	return top
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
	open := make([]float64, len(clauses)) // how much of each clause is unanswered
	for i := range open {
		open[i] = 1
	}
	used := make(map[uint32]int)
	chosen := make([]scored, 0, len(candidates))
	front := candidates[:min(len(candidates), maxDiversified+spare)]
	rest := candidates[len(front):]
	for len(chosen) < min(limit, maxDiversified) && len(front) > 0 {
		at := x.next(front, clauses, open, top, used)
		pick := front[at]
		front = slices.Delete(front, at, at+1)
		chosen = append(chosen, pick)
		for i := range clauses {
			open[i] *= 1 - clauses[i].fit[pick.doc]
		}
		if server := x.servers[pick.doc]; server != x.noServer {
			used[server]++
		}
	}
	chosen = append(append(chosen, front...), rest...)
	return chosen[:min(limit, len(chosen))]
}

// next returns the index of the candidate for the next place.
func (x *Index) next(candidates []scored, clauses []clause, open []float64, top float64, used map[uint32]int) int {
	values := make([]float64, len(candidates))
	best := 0.0
	for i, c := range candidates {
		fresh := 0.0
		for p := range clauses {
			fresh = max(fresh, clauses[p].weight*clauses[p].fit[c.doc]*open[p])
		}
		values[i] = c.score + float64(top*freshBonus*fresh)
		best = max(best, values[i])
	}
	at := -1
	for i, v := range values {
		if v < best*nearlyEqual {
			continue
		}
		if at < 0 {
			at = i
			continue
		}
		mine, other := used[x.servers[candidates[i].doc]], used[x.servers[candidates[at].doc]]
		if mine < other || mine == other && v > values[at] {
			at = i
		}
	}
	return at
}
