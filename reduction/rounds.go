// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file groups a history into rounds and pairs calls with their results.

import "slices"

// pair is a call and its result.
type pair struct {
	call   call
	found  bool // there is a result
	at     int  // the message of the result
	result result
}

// round is an assistant message with tool calls, and what came of them.
type round struct {
	at        int  // the assistant message
	processed bool // cleared or rewritten before
	ours      bool // by this package
	pairs     []pair
}

// messages lists the messages with the round's results, in the order of the
// history, each once.
func (r round) messages() []int {
	var out []int
	for _, p := range r.pairs {
		if p.found {
			out = append(out, p.at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// roundsOf finds the rounds of a history. A result belongs to the newest call of
// its id that has none yet; ids may repeat, in a round and over a conversation.
// Where a result has no id, it belongs to a call of the newest round, by its
// name or else by its position. A result that belongs to no call is in no round.
func roundsOf(vs []view) []round {
	n := 0
	for i := range vs {
		n += min(1, len(vs[i].calls))
	}
	p := pairer{rounds: make([]round, 0, n)}
	for i := range vs {
		for _, r := range vs[i].results {
			p.add(i, r)
		}
		if len(vs[i].calls) > 0 {
			p.begin(i, vs[i])
		}
	}
	return p.rounds
}

type pairer struct{ rounds []round }

func (p *pairer) begin(at int, v view) {
	r := round{at: at, processed: v.processed, ours: v.ours, pairs: make([]pair, len(v.calls))}
	for i, c := range v.calls {
		r.pairs[i].call = c
	}
	p.rounds = append(p.rounds, r)
}

// add finds the call of a result. Nearly always that is in the newest round, so
// no index is kept.
func (p *pairer) add(at int, r result) {
	for i := len(p.rounds) - 1; i >= 0; i-- {
		if to := p.rounds[i].waiting(r, true); to != nil {
			to.found, to.at, to.result = true, at, r
			return
		}
		if r.id == "" {
			break
		}
	}
	if len(p.rounds) == 0 || r.id != "" {
		return
	}
	if to := p.rounds[len(p.rounds)-1].waiting(r, false); to != nil {
		to.found, to.at, to.result = true, at, r
	}
}

// waiting returns the call that waits for a result: of those with its id, or
// where its id is lost of all, the first of its name, or else the first. Without
// an id, a call of another name is not the one.
func (r *round) waiting(got result, byID bool) *pair {
	var first *pair
	for i := range r.pairs {
		p := &r.pairs[i]
		if p.found || byID && p.call.id != got.id {
			continue
		}
		if p.call.name == got.name {
			return p
		}
		if first == nil && (got.id != "" || got.name == "") {
			first = p
		}
	}
	return first
}

// outside returns the rounds before the last keep, and where those that are kept
// begin.
func outside(rounds []round, keep int) (old []round, end int) {
	if len(rounds) <= keep {
		return nil, 0
	}
	n := len(rounds) - keep
	return rounds[:n], rounds[n].at
}
