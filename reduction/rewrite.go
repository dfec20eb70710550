// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file lets the user's rewriter replace whole rounds.

import "context"

// rewrite returns the messages with the rounds outside the kept ones as the
// user's rewriter wants them, and whether anything is new. It has no effect on a
// round that was rewritten or cleared before.
func (c *clearPhase[M]) rewrite(ctx context.Context, msgs []M) ([]M, bool, error) {
	if c.cfg.ClearMessageRewriter == nil || c.cfg.SkipClear {
		return msgs, false, nil
	}
	vs := views(c.codec, msgs)
	old, end := outside(roundsOf(vs), c.cfg.ClearRetentionSuffixLimit)
	instead := make(map[int][]M, len(old))
	gone := make(map[int]bool)
	for _, r := range old {
		if r.processed || !alone(vs, r, end) {
			continue
		}
		got, err := c.rewriteRound(ctx, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.at] = got
		gone[r.at] = true
		for _, i := range r.messages() {
			if rest, any := c.codec.withoutResults(msgs[i]); any {
				instead[i] = append(instead[i], rest)
			}
			gone[i] = true
		}
	}
	if len(instead) == 0 {
		return msgs, false, nil
	}
	out := make([]M, 0, len(msgs))
	for i, m := range msgs {
		out = append(out, instead[i]...)
		if !gone[i] {
			out = append(out, m)
		}
	}
	return out, true, nil
}

// alone reports whether the messages with a round's results hold results of no
// other round, and none of them is kept: then the round can be taken out.
func alone(vs []view, r round, end int) bool {
	results := 0
	for _, i := range r.messages() {
		if i >= end {
			return false
		}
		results += len(vs[i].results)
	}
	for _, p := range r.pairs {
		if p.found {
			results--
		}
	}
	return results == 0
}

// rewriteRound calls the rewriter. What comes back is not shown to it again.
func (c *clearPhase[M]) rewriteRound(ctx context.Context, msgs []M, r round) ([]M, error) {
	var responses []M
	for _, i := range r.messages() {
		responses = append(responses, c.codec.onlyResults(msgs[i]))
	}
	got, err := c.cfg.ClearMessageRewriter(ctx, c.codec.clone(msgs[r.at]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(got))
	for i, m := range got {
		out[i] = m
		if v := c.codec.view(m); len(v.calls) > 0 {
			out[i] = c.codec.apply(m, edit{mark: true})
		}
	}
	return out, nil
}
