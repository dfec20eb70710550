// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file answers requests by BM25F.

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Options say how BM25 answers. The zero value asks for everything.
type Options struct {
	// Limit is the most documents to return. 0 or less: all.
	Limit int
}

// scored is a document's inner number with its score.
type scored struct {
	doc   uint32
	score float64
}

// compareScored puts the better one first. Inner numbers are in the order of names.
func compareScored(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
}

const (
	pieceBonus = 0.7 // for the best answer to a piece of the request
	pieceHits  = 64  // answers to a piece that get a bonus
	spare      = 64  // documents to choose from beyond the limit
)

// Search returns the documents that answer text best, best first. The text is anything
// from two keywords to several sentences, in English, Chinese or both; a word with a
// leading '+' must match. A request for several things is answered piece by piece
// as well as as a whole, and documents of one server do not push equally good ones of
// others out, so the order is not always that of the scores.
//
// The only error is that of ctx. Work is bounded: Search reads the first 32 KB of text
// and at most 256 distinct words of it.
func (x *BM25) Search(ctx context.Context, text string, o Options) ([]Hit, error) {
	b := x.scratch.Get().(*board)
	defer x.scratch.Put(b)
	defer b.forget()
	r := x.read(text, b.shared)
	if len(r.wants) == 0 {
		return []Hit{}, ctx.Err()
	}
	if err := x.scoreWhole(ctx, b, &r); err != nil {
		return nil, err
	}
	pieces, err := x.scorePieces(ctx, b, &r)
	if err != nil {
		return nil, err
	}
	return x.choose(b, &r, pieces, o), nil
}

// scoreWhole keeps the scores of all documents that meet the requirements.
func (x *BM25) scoreWhole(ctx context.Context, b *board, r *request) error {
	defer b.clear(r.wants)
	mass, err := x.fill(ctx, b, r.wants)
	if err != nil {
		return err
	}
	x.meet(b, r.required)
	for _, doc := range b.touched {
		if b.slots[doc].met == int32(len(r.required)) {
			b.whole[doc] = x.result(b, doc, mass)
			b.kept = append(b.kept, doc)
		}
	}
	return ctx.Err()
}

// piece is how well documents answer one piece of a request.
type piece struct {
	weight float64            // 1 for the one that is answered best
	fit    map[uint32]float64 // 1 for the best answer
}

// scorePieces scores the pieces of a request on their own.
func (x *BM25) scorePieces(ctx context.Context, b *board, r *request) ([]piece, error) {
	pieces := make([]piece, 0, len(r.pieces))
	most := 0.0
	for _, positions := range r.pieces {
		hits, err := x.scorePiece(ctx, b, r, positions)
		if err != nil {
			return nil, err
		}
		if len(hits) == 0 {
			continue
		}
		p := piece{weight: hits[0].score, fit: make(map[uint32]float64, len(hits))}
		for _, h := range hits {
			p.fit[h.doc] = h.score / hits[0].score
		}
		most = max(most, p.weight)
		pieces = append(pieces, p)
	}
	for i := range pieces {
		// The root: thanks and greetings are pieces as well, but with weak answers.
		pieces[i].weight = math.Sqrt(pieces[i].weight / most)
	}
	return pieces, nil
}

func (x *BM25) scorePiece(ctx context.Context, b *board, r *request, positions []int) ([]scored, error) {
	wants := make([]want, len(positions))
	for i, at := range positions {
		wants[i] = r.wants[at]
	}
	defer b.clear(wants)
	mass, err := x.fill(ctx, b, wants)
	if err != nil {
		return nil, err
	}
	best := newTopK(min(pieceHits, len(b.touched)), compareScored)
	for _, doc := range b.touched {
		if b.whole[doc] > 0 {
			best.add(scored{doc: doc, score: x.result(b, doc, mass)})
		}
	}
	return best.sorted(), nil
}

// bonus is what a document gets for its best answer to a piece.
func bonus(pieces []piece, doc uint32) float64 {
	most := 0.0
	for i := range pieces {
		most = max(most, pieces[i].weight*pieces[i].fit[doc])
	}
	return pieceBonus * most
}

// finalScores returns how the scores for the whole request and for its pieces go
// together. A document that is called by its name is above all that are not.
func finalScores(b *board, r *request, pieces []piece) func(doc uint32) float64 {
	if len(pieces) == 0 && len(r.named) == 0 {
		return func(doc uint32) float64 { return b.whole[doc] }
	}
	top := b.top()
	return func(doc uint32) float64 {
		if b.whole[doc] == 0 {
			return 0
		}
		score := b.whole[doc] + float64(top*bonus(pieces, doc))
		if slices.Contains(r.named, doc) {
			score += top * (1 + pieceBonus)
		}
		return score
	}
}

// choose picks and orders the answers.
func (x *BM25) choose(b *board, r *request, pieces []piece, o Options) []Hit {
	if o.Limit <= 0 || o.Limit > len(b.kept) {
		o.Limit = len(b.kept)
	}
	score := finalScores(b, r, pieces)
	best := newTopK(min(o.Limit+spare, len(b.kept)), compareScored)
	for _, doc := range b.kept {
		if v := score(doc); v > 0 {
			best.add(scored{doc: doc, score: v})
		}
	}
	return x.asHits(x.spread(best.sorted(), pieces, b.top(), o.Limit))
}

func (x *BM25) asHits(chosen []scored) []Hit {
	hits := make([]Hit, len(chosen))
	for i, s := range chosen {
		hits[i] = Hit{Doc: x.place[s.doc], Score: s.score}
	}
	return hits
}
