// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import "math"

// Hit is a document that a search found.
type Hit struct {
	// Doc is its position in the slice that the index was built from.
	Doc int
	// Score is greater than 0. Its meaning depends on the scorer.
	Score float64
	// Evidence is how much of the whole query speaks for the document. It grows with the
	// number of the words that match and with the size of the catalogue.
	Evidence float64
	// Confidence is how likely it is, from 0 to 1, that the document is what the query
	// asks for, if half of all queries ask for something that no document does. It means
	// the same for every query, catalogue and scorer.
	Confidence float64
}

// Calibration is a logistic function of the logarithms of the evidence, of the idf of a word
// that no document has, and of the words of a description: the more they are, the more match by
// chance. internal/dev/tools/confidence derives its numbers.
type Calibration struct{ Evidence, Size, Length, Offset float64 }

var calibration = Calibration{Evidence: 1.19, Size: -1.52, Offset: 1.62}

// evidenceSlope makes an answer to a part of a query less sure than its score is low: a
// long query scores much wherever its short words are parts of others.
const evidenceSlope = 1.5

// Of returns the confidence of a document with the given evidence in a catalogue of n, whose
// descriptions have so many words on average.
func (c Calibration) Of(evidence float64, n int, words float64) float64 {
	if evidence <= 0 {
		return 0
	}
	sum := float64(c.Evidence*math.Log(evidence)) + float64(c.Size*math.Log(RarestIDF(n))) + float64(c.Length*math.Log1p(words)) + c.Offset
	return 1 / (1 + math.Exp(-sum))
}

// RarestIDF returns the inverse document frequency of a word that none of n documents has.
func RarestIDF(n int) float64 { return math.Log(1 + (float64(n)+0.5)/0.5) }
