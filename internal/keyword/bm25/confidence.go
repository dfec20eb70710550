// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	nameEvidence   = 1 // for a name whose every word is in the query
	serverEvidence = 1 // for a document whose server the query names
)

var calibration = keyword.Calibration{Evidence: 4.00, Size: -10.60, Length: -1.00, Offset: 9.91}

const (
	// slack is added to the importance of a query, in words that no document has: what the rest
	// of a short query says tells less against a document.
	slack = 1.5
	// matching and breadth are exponents of what matches, and of the length of the query, relative
	// to what it says in all. At 1, a word that a document lacks would cost no more in a long query
	// than in a short one; at 0, a long query would be unsure of every document.
	matching = 0.75
	breadth  = 0.7
)

// proof is what the terms of a query say for a document: the scores of their matches, how much
// of their importance the matches cover, and how much the rest says against it. all is the
// importance of every term.
type proof struct{ score, covered, missing, all float64 }

func (p *proof) add(other proof) {
	p.score += other.score
	p.covered += other.covered
	p.missing += other.missing
	p.all += other.all
}

// evidence grows with what matches, and falls with what the rest of the query says against the
// document; rarest is the importance of a word that no document has.
func (p *proof) evidence(rarest float64) float64 {
	if p.covered == 0 {
		return 0
	}
	return math.Pow(p.score*p.covered, matching) * math.Pow(float64(slack*rarest)+p.all, breadth) / (p.covered + p.missing)
}
