// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file keeps one kind of answer from taking all places.

import "slices"

const (
	// freshBonus is for an answer to a piece of the request that the answers before
	// have left open.
	freshBonus = 0.4
	// nearlyEqual is the share of the best score from which another is as good.
	nearlyEqual = 0.95
	// maxSpread is how many places are filled one by one, from the best maxSpread+spare
	// documents; further places are in the order of the scores.
	maxSpread = 32
)

// spread orders candidates, which are in the order of their scores: at each place, the
// best of those left, where what is still open in the request counts more; among
// nearly equal ones, the one whose server has fewest places so far.
func (x *BM25) spread(candidates []scored, pieces []piece, top float64, limit int) []scored {
	open := make([]float64, len(pieces)) // how much of each piece
	for i := range open {
		open[i] = 1
	}
	used := make(map[uint32]int)
	chosen := make([]scored, 0, len(candidates))
	front := candidates[:min(len(candidates), maxSpread+spare)]
	rest := candidates[len(front):]
	for len(chosen) < min(limit, maxSpread) && len(front) > 0 {
		at := x.next(front, pieces, open, top, used)
		pick := front[at]
		front = slices.Delete(front, at, at+1)
		chosen = append(chosen, pick)
		for i := range pieces {
			open[i] *= 1 - pieces[i].fit[pick.doc]
		}
		if server := x.servers[pick.doc]; server != x.serverless {
			used[server]++
		}
	}
	chosen = append(append(chosen, front...), rest...)
	return chosen[:min(limit, len(chosen))]
}

// next returns the position of the candidate for the next place.
func (x *BM25) next(candidates []scored, pieces []piece, open []float64, top float64, used map[uint32]int) int {
	values := make([]float64, len(candidates))
	best := 0.0
	for i, c := range candidates {
		fresh := 0.0
		for p := range pieces {
			fresh = max(fresh, pieces[p].weight*pieces[p].fit[c.doc]*open[p])
		}
		values[i] = c.score + float64(top*freshBonus*fresh)
		best = max(best, values[i])
	}
	at := -1
	for i, v := range values {
		if v < best*nearlyEqual {
			continue
		}
		if at < 0 {
			at = i
			continue
		}
		mine, other := used[x.servers[candidates[i].doc]], used[x.servers[candidates[at].doc]]
		if mine < other || mine == other && v > values[at] {
			at = i
		}
	}
	return at
}
