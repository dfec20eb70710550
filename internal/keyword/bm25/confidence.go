// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file computes how sure an answer is: how much of the query speaks for a document, if
// words that say little about the tool to call count little.

import (
	"math"
	"slices"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	// evidenceSlope is the exponent of the share of the query that a document answers.
	evidenceSlope = 0.9
	// nameEvidence is for a name whose every word is in the query.
	nameEvidence = 0.75
)

var calibration = keyword.Calibration{Evidence: 3.40, Size: -8.17, Offset: 9.13}

// evidence returns how much of a query speaks for a document that was kept.
func (acc *accumulator) evidence(q *parsedQuery, k *keptDoc) float64 {
	total, covered, all := 0.0, 0.0, q.foreign
	for i := range q.terms {
		w := &q.terms[i]
		score, cover := acc.matchOf(w, k.doc)
		cover *= w.says.found
		total += float64(w.says.found * score)
		covered += cover
		all += cover + float64(max(0, float64(w.importance*w.weight*w.says.found)-cover)*w.says.missing)
	}
	if covered == 0 {
		return 0
	}
	return total * (1 + float64(nameEvidence*acc.nameCoverage(k.doc, inQuery))) * math.Pow(covered/all, evidenceSlope)
}

// matchOf returns how much the matches of a term in a document say, and how much of its
// importance they cover.
func (acc *accumulator) matchOf(w *term, doc uint32) (score, cover float64) {
	for i := range w.expansions {
		m := &w.expansions[i]
		lengths, p, ok := acc.x.posting(m.token, doc)
		if !ok {
			continue
		}
		says := tells(m.relation)
		score = max(score, says*w.weight*m.weight*acc.weight(lengths, p.counts, acc.idf(m.token)))
		cover = max(cover, says*coveredImportance(w, m.weight))
	}
	return score, cover
}

// confidence returns how sure it is that a document with some evidence is meant.
func (acc *accumulator) confidence(q *parsedQuery, doc uint32, evidence float64) float64 {
	if slices.Contains(q.named, doc) {
		return 1
	}
	return calibration.Of(evidence, acc.x.Len())
}
