// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// preferDirection moves an answer before one of its server whose name has the opposite direction and is the same
// otherwise, if the query says its direction: "number to roman" asks for to_roman, not for from_roman.
func (acc *accumulator) preferDirection(chosen []scored) {
	if !slices.ContainsFunc(acc.parser.words, func(w stemmedWord) bool { return postings.IsDirection(strings.ToLower(w.Text)) }) {
		return
	}
	promote(chosen, func(c, other scored) bool {
		direction, ok := acc.directionOf(c.doc)
		otherDirection, both := acc.directionOf(other.doc)
		return ok && both && direction.IsOpposite(otherDirection) && acc.x.Server(c.doc) == acc.x.Server(other.doc) &&
			acc.parser.expressesDirection(direction) && !acc.parser.expressesDirection(otherDirection)
	})
}

func (acc *accumulator) directionOf(doc uint32) (d postings.Direction, ok bool) {
	p := acc.x.PartOfDoc(doc)
	return p.DirectionOf(doc - p.FirstDoc)
}

// expressesDirection reports whether the query expresses a direction. "A to B" implies "from A" as well.
func (q *queryParser) expressesDirection(d postings.Direction) bool {
	for i, w := range q.words {
		next, after := q.wordAfter(i)
		switch lower := strings.ToLower(w.Text); {
		case lower == d.Word && (d.Next == "" || next == d.Next || d.Word != "to" && d.Word != "from"):
			return true
		case d.Word == "from" && w.stem == d.Next && after == "to":
			return true
		}
	}
	return false
}

// wordAfter returns the stem of the word after the ith, without an article, and the next word itself.
func (q *queryParser) wordAfter(i int) (stem, word string) {
	for _, w := range q.words[i+1:] {
		lower := strings.ToLower(w.Text)
		if word == "" {
			word = lower
		}
		if lower != "a" && lower != "an" && lower != "the" {
			return w.stem, word
		}
	}
	return "", word
}
