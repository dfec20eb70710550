// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"

	"github.com/einolean/einolean/internal/keyword"
)

const (
	nameEvidence   = 1   // for a name whose every word is in the query
	serverEvidence = 1.5 // for a document whose server the query names
	// clauseEvidence is what one clause says on its own, relative to a whole query that says it: a
	// request of several acts is meant for a tool that does one of them.
	clauseEvidence = 0.6
)

var calibration = keyword.Calibration{Evidence: 3.96, Size: -9.93, Length: -0.88, Offset: 8.50}

const (
	// translation is for a query that was translated: the lists know only some of the words that tools
	// may use.
	translation = 0.9
	// inflection is for Japanese: without its endings and particles a request has few characters, and
	// another one shares some of them.
	inflection = -2
)

// tells returns how much a match says by its relation, relative to the word itself: if words
// are only similar, the query may mean something else.
func tells(relation string) float64 {
	switch relation {
	case partOf:
		return 0.5
	case relatedTo:
		return 0.6
	case synonymOf:
		return 0.7
	case translationOf:
		return 0.9
	}
	return 1
}

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
