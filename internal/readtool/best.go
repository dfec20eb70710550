// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// The best passages of a text, each with those beside it.

import (
	"cmp"
	"slices"

	"github.com/einolean/einolean/internal/rank"
)

const (
	// beside is the share of a passage's score that the passages next to it have besides:
	// what is looked for often stands just across a border.
	beside = .3
	// The best joinedPassages are shown with those beside them, if that is at most joinedBytes.
	joinedPassages, joinedBytes = 3, 600
	// maxHeld bounds the passages that are held; the worst ones go.
	maxHeld = 20_000
)

// match is how a passage fits a query.
type match struct {
	rank.Fit
	number int // in the content, from 0
	score  float64
	at     int // where in text most of the query is
}

// ranker ranks passages, as they come.
type ranker struct {
	query *rank.Query
	held  []passage // with a word of the query, and those beside them, in order
	count int

	last     passage // the one that came last, and whether it is held
	lastHeld bool
}

func newRanker(query string) *ranker { return &ranker{query: rank.New(query)} }

// add takes the next passage.
func (r *ranker) add(p passage) {
	p.number = r.count
	r.count++
	p.Fit = r.query.Add(p.under, p.text)
	if p.Any() && r.count > 1 && !r.lastHeld {
		r.held = append(r.held, r.last)
	}
	if r.lastHeld = p.Any() || r.last.Any(); r.lastHeld {
		r.held = append(r.held, p)
	}
	if r.last = p; len(r.held) > maxHeld {
		r.prune(maxHeld / 2)
	}
}

// best returns the best passages, the best first.
func (r *ranker) best(limit int) []passage {
	best := r.joined(lastOfEqual(r.ranked()))
	best = best[:min(len(best), limit)]
	for i := range best {
		best[i].at = r.query.Densest(best[i].text, best[i].Fit, lineBytes)
	}
	return best
}

// ranked are the passages with what the query asks for, the best first.
func (r *ranker) ranked() []passage {
	r.score()
	out := make([]passage, 0, len(r.held))
	for i, p := range r.held {
		if !p.Any() || !r.query.Meets(p.Fit) {
			continue
		}
		for _, j := range r.beside(i) {
			p.score = max(p.score, r.held[i].score+beside*r.held[j].score)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	return out
}

// beside are the places in held of the passages next to one of them.
func (r *ranker) beside(i int) (out []int) {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(r.held) && r.held[j].number-r.held[i].number == j-i {
			out = append(out, j)
		}
	}
	return out
}

// joined makes the best passages, each with those beside it, one each: a row is asked for by the
// words of the rows next to it. How many says nothing of the room, so that the next call, which goes
// on behind them, repeats none.
func (r *ranker) joined(best []passage) []passage {
	taken := make(map[int]bool)
	out := best[:0:0]
	for _, p := range best {
		if taken[p.number] {
			continue
		}
		if taken[p.number] = true; len(out) < joinedPassages {
			p = r.join(p, taken)
		}
		out = append(out, p)
	}
	return out
}

// join adds to a passage those beside it, the better one first, while they are small.
func (r *ranker) join(p passage, taken map[int]bool) passage {
	i, _ := slices.BinarySearchFunc(r.held, p.number, func(h passage, n int) int { return cmp.Compare(h.number, n) })
	others := r.beside(i)
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(r.held[b].score, r.held[a].score) })
	for _, j := range others {
		other := r.held[j]
		if taken[other.number] || !p.joins(other) {
			continue
		}
		taken[other.number] = true
		if j < i {
			other.append(p)
			other.match = p.match
			p = other
		} else {
			p.append(other)
		}
	}
	return p
}

// score scores the passages that are held by what is known of all passages.
func (r *ranker) score() {
	score := r.query.Scores()
	for i := range r.held {
		r.held[i].score = score(r.held[i].Fit)
	}
}

// prune drops the worst of the passages that are held, of equally good ones the last, and keeps the
// order of the others. One beside a better one is as good.
func (r *ranker) prune(most int) {
	r.score()
	scores := make([]float64, len(r.held))
	for i, p := range r.held {
		scores[i] = p.score
		for _, j := range r.beside(i) {
			scores[i] = max(scores[i], r.held[j].score)
		}
	}
	sorted := slices.Sorted(slices.Values(scores))
	least := sorted[len(sorted)-most]
	better, _ := slices.BinarySearchFunc(sorted, least, func(score, least float64) int {
		if score <= least {
			return -1
		}
		return 1
	})
	equal := most - (len(sorted) - better)
	kept := r.held[:0]
	for i, p := range r.held {
		if scores[i] == least {
			equal--
		}
		if scores[i] > least || scores[i] == least && equal >= 0 {
			kept = append(kept, p)
		}
	}
	clear(r.held[len(kept):])
	r.held = kept
}

// lastOfEqual puts passages whose text was there before behind all others.
func lastOfEqual(best []passage) []passage {
	seen := make(map[string]bool, len(best))
	var again []passage
	out := best[:0:0]
	for _, p := range best {
		if seen[p.text] {
			again = append(again, p)
			continue
		}
		seen[p.text] = true
		out = append(out, p)
	}
	return append(out, again...)
}
