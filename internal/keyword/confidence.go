// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import "math"

// Calibration is a logistic function of the logarithms of the evidence and of the idf of a
// word that no document has. internal/tools/confidence derives its numbers.
type Calibration struct{ Evidence, Size, Offset float64 }

var calibration = Calibration{Evidence: 1.17, Size: -1.41, Offset: 1.49}

// evidenceSlope makes an answer to a part of a query less sure than its score is low: a
// long query scores much wherever its short words are parts of others.
const evidenceSlope = 1.5

// Of returns the confidence of a document with the given evidence in a catalogue of n.
func (c Calibration) Of(evidence float64, n int) float64 {
	if evidence <= 0 {
		return 0
	}
	return 1 / (1 + math.Exp(-(float64(c.Evidence*math.Log(evidence)) + float64(c.Size*math.Log(RarestIDF(n))) + c.Offset)))
}

// RarestIDF returns the inverse document frequency of a word that none of n documents has.
func RarestIDF(n int) float64 { return math.Log(1 + (float64(n)+0.5)/0.5) }
