// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	// evidenceSlope is the exponent of the share of the query that a document answers.
	evidenceSlope = 0.9
	// nameEvidence is for a name whose every word is in the query.
	nameEvidence = 0.75
	// clauseEvidence is for one clause of several, relative to the whole query.
	clauseEvidence = 0.5
)

var calibration = keyword.Calibration{Evidence: 3.61, Size: -8.53, Offset: 9.16}

// proof is what the terms of a text say for a document: their scores, and how much of their
// importance the document covers, and lacks.
type proof struct{ total, covered, missing float64 }

func (p *proof) add(other proof) {
	p.total += other.total
	p.covered += other.covered
	p.missing += other.missing
}

func (p *proof) evidence() float64 {
	if p.covered == 0 {
		return 0
	}
	return p.total * math.Pow(p.covered/(p.covered+p.missing), evidenceSlope)
}
