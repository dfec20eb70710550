// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
	"slices"

	"github.com/einolean/einolean/internal/keyword/operations"
)

// reordered is the number of first answers among which the operation decides.
const reordered = 5

// preferOperation moves each answer that does what is requested before the first one that does something
// else and has a similar score. Answers whose operation is not known keep their places.
func (acc *accumulator) preferOperation(requested operations.Operation, chosen []scored) {
	if requested == operations.Unknown {
		return
	}
	promote(chosen, func(c, other scored) bool {
		return acc.operationOf(c.doc) == requested && c.score >= similarScore(requested, acc.operationOf(other.doc))*other.score
	})
}

// promote moves each answer before the first one that it may pass.
func promote(chosen []scored, mayPass func(c, other scored) bool) {
	for i, c := range chosen {
		for at := range i {
			if mayPass(c, chosen[at]) {
				copy(chosen[at+1:i+1], chosen[at:i])
				chosen[at] = c
				break
			}
		}
	}
}

// similarToDeprecated is the share of the score of a deprecated tool from which another goes before it.
const similarToDeprecated = 0.7

// demoteDeprecated moves deprecated tools behind those that replace them, unless the query names them, and behind others
// with similar scores.
func (acc *accumulator) demoteDeprecated(q *parsedQuery, chosen []scored) {
	promote(chosen, func(c, other scored) bool {
		return acc.isReplacedBy(other.doc, c.doc) && !slices.Contains(q.named, other.doc)
	})
	promote(chosen, func(c, other scored) bool {
		return acc.isDeprecated(other.doc) && !acc.isDeprecated(c.doc) && c.score >= similarToDeprecated*other.score
	})
}

func (acc *accumulator) isReplacedBy(deprecated, doc uint32) bool {
	p := acc.x.PartOfDoc(deprecated)
	return p.IsReplacedBy(deprecated-p.FirstDoc, acc.x.NameAt(doc))
}

func (acc *accumulator) isDeprecated(doc uint32) bool {
	p := acc.x.PartOfDoc(doc)
	return p.IsDeprecated(doc - p.FirstDoc)
}

func (acc *accumulator) operationOf(doc uint32) operations.Operation {
	p := acc.x.PartOfDoc(doc)
	return p.OperationOf(doc - p.FirstDoc)
}

const (
	similarToWrong    = 0.8
	similarToHarmful  = 0.65 // if a request to read would change or delete something
	similarToCreating = 0.7  // if it would create something
)

// similarScore is the share of the score of an answer with another operation from which an answer with the
// requested one goes before it.
func similarScore(requested, other operations.Operation) float64 {
	switch {
	case other == requested, other == operations.Unknown, other == operations.Run:
		return math.Inf(1)
	case requested == operations.Read && other == operations.Create:
		return similarToCreating
	case requested == operations.Read:
		return similarToHarmful
	}
	return similarToWrong
}
