// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file adds up what documents are worth for a request.

import (
	"context"
	"math"
)

const (
	nameBonus = 0.6 // for a name of which the request says every word

)

// slot is the state of one document while a request is being answered.
type slot struct {
	total    float64 // of the wants before the current one
	best     float64 // match of the current want
	mass     float64 // of the wants before that matched
	bestMass float64 // of the current want
	want     int32   // the current want, counted from 1
	met      int32   // requirements, in order
}

// board is the scratch memory of one search.
type board struct {
	slots   []slot
	touched []uint32
	said    []bool // tokens that stand for something in the request
	shared  []uint8
	whole   []float64 // score for the whole request, where it has been kept
	kept    []uint32  // documents with one
}

func newBoard(x *BM25) *board {
	return &board{
		slots:  make([]slot, len(x.names)),
		said:   make([]bool, len(x.texts)),
		shared: make([]uint8, len(x.texts)),
		whole:  make([]float64, len(x.names)),
	}
}

// add notes that a document matches the current want.
func (b *board) add(doc uint32, current int32, score, mass float64) {
	s := &b.slots[doc]
	if s.want != current {
		if s.want == 0 {
			b.touched = append(b.touched, doc)
		}
		s.total += s.best
		s.mass += s.bestMass
		s.best, s.bestMass, s.want = 0, 0, current
	}
	s.best = max(s.best, score)
	s.bestMass = max(s.bestMass, mass)
}

// coverMass is how much of a want a match covers that counts weight. The root makes a
// weak match of everything better than a strong one of something.
func coverMass(w *want, weight float64) float64 { return w.mass * w.weight * math.Sqrt(weight) }

// fill adds up the wants at the given positions. It stops early if ctx ends.
func (x *BM25) fill(ctx context.Context, b *board, wants []want) (mass float64, err error) {
	for i := range wants {
		w := &wants[i]
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		mass += float64(w.mass * w.weight)
		for _, m := range w.matches {
			b.said[m.token] = true
			weight, covered := w.weight*m.weight, coverMass(w, m.weight)
			for _, p := range x.of(m.token) {
				b.add(p.doc, int32(i+1), weight*float64(p.weight), covered)
			}
		}
	}
	return mass, nil
}

// meet counts the requirements that each touched document meets.
func (x *BM25) meet(b *board, required [][]uint32) {
	for i, tokens := range required {
		for _, token := range tokens {
			for _, p := range x.of(token) {
				if s := &b.slots[p.doc]; s.met == int32(i) {
					s.met++
				}
			}
		}
	}
}

// result is the score of a touched document, given the mass of all wants.
func (x *BM25) result(b *board, doc uint32, mass float64) float64 {
	s := &b.slots[doc]
	return finalScore(s.total+s.best, x.nameCoverage(b.said, doc), (s.mass+s.bestMass)/mass)
}

func finalScore(total, name, covered float64) float64 {
	return total * (1 + float64(nameBonus*name)) * math.Sqrt(covered)
}

// nameCoverage is the share of a document's name, by rarity, that the request says.
func (x *BM25) nameCoverage(said []bool, doc uint32) float64 {
	covered, all := 0.0, 0.0
	for _, token := range x.nameOf(doc) {
		idf := float64(x.idf[token])
		all += idf
		if said[token] {
			covered += idf
		}
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// said are the tokens that stand for something in the request.
func (x *BM25) said(wants []want) []bool {
	said := make([]bool, len(x.texts))
	for i := range wants {
		for _, m := range wants[i].matches {
			said[m.token] = true
		}
	}
	return said
}

// clear forgets the wants, at a cost of what they touched.
func (b *board) clear(wants []want) {
	for _, doc := range b.touched {
		b.slots[doc] = slot{}
	}
	b.touched = b.touched[:0]
	for i := range wants {
		for _, m := range wants[i].matches {
			b.said[m.token] = false
		}
	}
}

// forget drops the scores that were kept.
func (b *board) forget() {
	for _, doc := range b.kept {
		b.whole[doc] = 0
	}
	b.kept = b.kept[:0]
}

// top is the highest score that was kept.
func (b *board) top() float64 {
	top := 0.0
	for _, doc := range b.kept {
		top = max(top, b.whole[doc])
	}
	return top
}
