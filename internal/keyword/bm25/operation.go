// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"

	"github.com/einolean/einolean/internal/keyword/operations"
)

// reordered is the number of first answers among which the operation decides.
const reordered = 10

// preferOperation moves each answer that does what is requested before the first one that does something
// else and has a similar score. Answers whose operation is not known keep their places.
func (acc *accumulator) preferOperation(requested operations.Operation, chosen []scored) {
	if requested == operations.Unknown {
		return
	}
	for i, c := range chosen {
		if acc.operationOf(c.doc) != requested {
			continue
		}
		for at := range i {
			if c.score >= similarScore(requested, acc.operationOf(chosen[at].doc))*chosen[at].score {
				copy(chosen[at+1:i+1], chosen[at:i])
				chosen[at] = c
				break
			}
		}
	}
}

func (acc *accumulator) operationOf(doc uint32) operations.Operation {
	p := acc.x.PartOfDoc(doc)
	return p.OperationOf(doc - p.FirstDoc)
}

const (
	similarToWrong   = 0.8
	similarToHarmful = 0.65 // if a request to read would change or delete something
)

// similarScore is the share of the score of an answer with another operation from which an answer with the
// requested one goes before it.
func similarScore(requested, other operations.Operation) float64 {
	switch {
	case other == requested, other == operations.Unknown, other == operations.Run:
		return math.Inf(1)
	case requested == operations.Read && other != operations.Create:
		return similarToHarmful
	}
	return similarToWrong
}
