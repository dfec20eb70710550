// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file says how sure an answer is.

import (
	"math"

	"github.com/leanctx/leanctx/internal/keyword"
)

// evidenceSlope makes an answer to a part of the query less sure than its score is low.
const evidenceSlope = 0.3

var calibration = keyword.Calibration{Evidence: 3.83, Size: -6.99, Offset: 5.05}

// evidenceOf returns the evidence for a document, given its score for the whole query,
// without the bonus for clauses, and the share of the query that it covers.
func evidenceOf(whole, covered float64) float64 {
	return whole * math.Pow(covered, evidenceSlope)
}
