// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Clearing below the threshold, once old results have cost as much as clearing them.

import (
	"context"

	"github.com/cloudwego/eino/adk"
)

// A result of fewer tokens stays for some rounds: clearing small ones as soon as it
// pays saves little, and they are what is needed again most often.
const (
	largeResult = 2000
	smallStays  = 5
)

// early returns a state in which old results are cleared if that breaks even, as
// CachedPrice has it. The messages alone decide.
func (c *clearPhase[M]) early(ctx context.Context, state *adk.TypedChatModelAgentState[M], count int64, factor float64) (*adk.TypedChatModelAgentState[M], error) {
	if c.cfg.CachedPrice == 0 || c.cfg.SkipClear {
		return state, nil
	}
	look := c.pass(ctx, state, count)
	look.tally, look.msgs = nil, state.Messages
	rounds := roundsOf(views(c.codec, look.msgs))
	old, end := outside(rounds, c.cfg.ClearRetentionSuffixLimit)
	if !look.breaksEven(ripeOf(look.candidates(ctx, old, end), rounds)) {
		return state, nil
	}
	p := c.pass(ctx, state, count)
	p.factor, p.early = factor, true
	return c.run(ctx, p, state)
}

// breaksEven reports whether sending results, the oldest first, has cost as much as
// writing what stands behind the first of them to the cache once more, less what reading
// it there costs.
func (p *clearPass[M]) breaksEven(results []*oldResult) bool {
	if len(results) == 0 {
		return false
	}
	requests := make([]int, len(p.msgs)+1) // of which a message was a part
	for i := len(p.msgs) - 1; i >= 0; i-- {
		requests[i] = requests[i+1]
		if _, said := p.phase.codec.said(p.msgs[i]); said != "" || p.phase.codec.calls(p.msgs[i]) {
			requests[i]++
		}
	}
	behind := weight{sizes: &schemaSizes{}, rough: true}
	for _, m := range p.msgs[results[0].at+1:] {
		p.phase.codec.weigh(&behind, m)
	}
	var sent int64
	for _, r := range results {
		sent += r.roughly() * int64(requests[r.at])
	}
	price := p.phase.cfg.CachedPrice
	return float64(sent)*price >= float64(behind.tokens)*(1-price)
}

// ripeOf leaves out small results that have not stayed long.
func ripeOf(candidates []*oldResult, rounds []round) (ripe []*oldResult) {
	later := len(rounds) // rounds behind that of the candidate
	for _, r := range candidates {
		for later > 0 && rounds[len(rounds)-later].at <= r.round {
			later--
		}
		if r.roughly() >= largeResult || later >= smallStays {
			ripe = append(ripe, r)
		}
	}
	return ripe
}

// roughly is what a result and the long arguments of its call have, in tokens of four
// bytes: both sides of the comparison count so.
func (r *oldResult) roughly() int64 {
	bytes := 0
	if r.notice.kind != clearedNotice {
		bytes = r.size
	}
	for _, v := range r.values {
		bytes += v.to - v.from
	}
	return tokensOf(bytes) + int64(len(r.media)*mediaTokens)
}

// replaced are the results of the pass that something takes the place of.
func (p *clearPass[M]) replaced() (out []*oldResult) {
	for _, r := range p.done {
		if r.replaces() {
			out = append(out, r)
		}
	}
	return out
}
