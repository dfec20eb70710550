// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"math"
	"strings"
	"sync"
)

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

// countTerms merges terms that differ only in case, in lower case, and drops empty ones. It
// appends to counts how often each occurs.
func countTerms(terms []Term, counts []int32) ([]Term, []int32) {
	merged := make([]Term, 0, len(terms))
	places := make(map[string]int)
	for _, term := range terms {
		if term.Text == "" {
			continue
		}
		term.Text = strings.ToLower(term.Text)
		if at, known := places[term.Text]; known {
			counts[at]++
			merged[at].Required = merged[at].Required || term.Required
			continue
		}
		places[term.Text] = len(merged)
		merged, counts = append(merged, term), append(counts, 1)
	}
	return merged, counts
}

// The scores of a term, by the best place where it is found.
const (
	scorePart     = 10 // a part of the name is the term
	scoreInPart   = 5  // a part of the name contains it
	scoreInName   = 3  // the name contains it, across parts
	scoreInProse  = 2  // the description contains it
	scoreNotFound = 0
)

// cell is the state of a document during a search.
type cell struct {
	total    int32 // a query would need 400 MB of text to overflow it
	best     int32 // of the current term
	term     int32 // the last term that matched, counted from 1
	required int32 // number of required terms that matched
}

// tally adds up the scores of all documents for one query. Indexes share the memory of
// unused ones.
type tally struct {
	cells   []cell
	touched []uint32 // documents with a cell that is not zero
	term    int32
	counts  []int32 // of the query's terms
	count   int32   // how often the current term occurs
	needed  int32   // 1 if the current term is required
	most    int32   // what a document scores whose name has all terms so far
}

var tallies = sync.Pool{New: func() any { return &tally{} }}

func (t *tally) start(count int32, required bool) {
	t.term++
	t.count = count
	t.most += scorePart * count
	t.needed = 0
	if required {
		t.needed = 1
	}
}

// found records that the current term scores score in doc.
func (t *tally) found(doc uint32, score int32) {
	c := &t.cells[doc]
	if c.term != t.term {
		if c.term == 0 {
			t.touched = append(t.touched, doc)
		}
		c.term = t.term
		c.best = scoreNotFound
		c.required += t.needed
	}
	if score > c.best {
		c.total += (score - c.best) * t.count
		c.best = score
	}
}

// reset prepares the tally for the next query. It costs as much as this one touched.
func (t *tally) reset() {
	for _, doc := range t.touched {
		t.cells[doc] = cell{}
	}
	t.touched = t.touched[:0]
	t.term, t.most = 0, 0
}
