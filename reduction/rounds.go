// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file groups a history into rounds and pairs calls with their results.

import (
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// pair is a call and its result.
type pair struct {
	call   call
	found  bool // there is a result
	at     int  // the message of the result
	result result
}

// detail is the pair as a handler or a path generator sees it.
func (p pair) detail(result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: p.call.name, CallID: p.call.id},
		ToolArgument: &schema.ToolArgument{Text: p.call.args},
		ToolResult:   result,
	}
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

type pairer struct {
	rounds []round

	// Calls by id, for results that are not of the newest round: slots holds one
	// entry for each round and id, latest the newest of each id. Both are nil
	// until the first such result, as most histories have none.
	slots  []slot
	latest map[string]int
}

// slot says that a round has a call of an id.
type slot struct {
	round  int
	before int // the next older slot of the same id; negative: none
}

func (p *pairer) begin(at int, v view) {
	r := round{at: at, processed: v.processed, ours: v.ours, pairs: make([]pair, len(v.calls))}
	for i, c := range v.calls {
		r.pairs[i].call = c
	}
	p.rounds = append(p.rounds, r)
	if p.latest != nil {
		p.enter(len(p.rounds) - 1)
	}
}

// add finds the call of a result. Nearly always that is in the newest round.
func (p *pairer) add(at int, r result) {
	if len(p.rounds) == 0 {
		return
	}
	newest := &p.rounds[len(p.rounds)-1]
	to := newest.waiting(r, true)
	switch {
	case to != nil:
	case r.id != "":
		to = p.older(r)
	default:
		to = newest.waiting(r, false)
	}
	if to != nil {
		to.found, to.at, to.result = true, at, r
	}
}

// older finds the newest call that waits for a result with an id. A round that has
// none left is not looked at again.
func (p *pairer) older(r result) *pair {
	if p.latest == nil {
		p.latest = make(map[string]int, len(p.rounds))
		for i := range p.rounds {
			p.enter(i)
		}
	}
	at, ok := p.latest[r.id]
	for ok && at >= 0 {
		if to := p.rounds[p.slots[at].round].waiting(r, true); to != nil {
			return to
		}
		at = p.slots[at].before
		p.latest[r.id] = at
	}
	return nil
}

// enter notes the ids of a round's calls.
func (p *pairer) enter(round int) {
	for i := range p.rounds[round].pairs {
		id := p.rounds[round].pairs[i].call.id
		before, ok := p.latest[id]
		if !ok {
			before = -1
		}
		if before >= 0 && p.slots[before].round == round {
			continue
		}
		p.slots = append(p.slots, slot{round, before})
		p.latest[id] = len(p.slots) - 1
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
