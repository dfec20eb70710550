// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file groups a history into rounds and pairs calls with their results.

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

// messages lists the messages with the round's results, in order, each once.
func (r round) messages() []int {
	var out []int
	seen := make(map[int]bool, len(r.pairs))
	for _, p := range r.pairs {
		if p.found && !seen[p.at] {
			seen[p.at] = true
			out = append(out, p.at)
		}
	}
	return out
}

// roundsOf finds the rounds of a history. A result belongs to the newest call of
// its id that has none yet; ids may repeat, in a round and over a conversation.
// Where a result has no id, it belongs to a call of the newest round, by its
// name or else by its position. A result that belongs to no call is in no round.
func roundsOf(vs []view) []round {
	p := pairer{open: make(map[string][]slot)}
	for i, v := range vs {
		for _, r := range v.results {
			p.add(i, r)
		}
		if len(v.calls) > 0 {
			p.begin(i, v)
		}
	}
	return p.rounds
}

// slot is a call that waits for its result.
type slot struct{ round, pair int }

type pairer struct {
	rounds []round
	open   map[string][]slot // by id of the call, oldest first
}

func (p *pairer) begin(at int, v view) {
	r := round{at: at, processed: v.processed, ours: v.ours, pairs: make([]pair, len(v.calls))}
	for i, c := range v.calls {
		r.pairs[i] = pair{call: c}
		p.open[c.id] = append(p.open[c.id], slot{len(p.rounds), i})
	}
	p.rounds = append(p.rounds, r)
}

func (p *pairer) add(at int, r result) {
	if len(p.rounds) == 0 {
		return
	}
	s, ok := p.byID(r)
	if !ok && r.id == "" {
		s, ok = p.byPosition(r)
	}
	if !ok {
		return
	}
	to := &p.rounds[s.round].pairs[s.pair]
	to.found, to.at, to.result = true, at, r
	p.close(to.call.id, s)
}

// byID finds the call of an id in the newest round that waits for it; of several
// in one round the first of the result's name, or else the first.
func (p *pairer) byID(r result) (slot, bool) {
	waiting := p.open[r.id]
	if len(waiting) == 0 {
		return slot{}, false
	}
	newest := waiting[len(waiting)-1].round
	if r.id == "" && newest != len(p.rounds)-1 {
		return slot{}, false
	}
	first := -1
	for i, s := range waiting {
		if s.round != newest {
			continue
		}
		if first < 0 {
			first = i
		}
		if p.rounds[s.round].pairs[s.pair].call.name == r.name {
			return s, true
		}
	}
	return waiting[first], true
}

// byPosition finds a call of the newest round for a result that lost its id.
func (p *pairer) byPosition(r result) (slot, bool) {
	newest := len(p.rounds) - 1
	for i, c := range p.rounds[newest].pairs {
		if !c.found && (r.name == "" || c.call.name == r.name) {
			return slot{newest, i}, true
		}
	}
	return slot{}, false
}

// close takes a call off those that wait.
func (p *pairer) close(id string, s slot) {
	waiting := p.open[id]
	for i := len(waiting) - 1; i >= 0; i-- {
		if waiting[i] == s {
			p.open[id] = append(waiting[:i:i], waiting[i+1:]...)
			return
		}
	}
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
