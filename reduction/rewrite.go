// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The user's own rewriting of old rounds.

import (
	"context"

	"github.com/cloudwego/eino/adk"
)

// rewritten returns the messages with the rounds outside the kept ones changed by the user's
// rewriter, and whether anything is new. It skips rounds that were rewritten or cleared
// before.
func rewritten[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M) ([]M, bool, error) {
	if m.cfg.SkipClear || m.cfg.ClearMessageRewriter == nil {
		return msgs, false, nil
	}
	rounds, end := outside(roundsOf(m.codec, msgs), m.cfg.ClearRetentionSuffixLimit)
	instead := make(map[int][]M, len(rounds))
	gone := make(map[int]bool)
	for _, r := range rounds {
		if r.processed || !alone(m.codec, msgs, r, end) {
			continue
		}
		got, err := rewrite(ctx, m, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.at] = got
		gone[r.at] = true
		for _, i := range r.messages() {
			if rest, any := m.codec.withoutResults(msgs[i]); any {
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

// alone reports whether the messages with a round's results hold results of no other
// round, and none of them is kept: then the round can be taken out.
func alone[M adk.MessageType](c codec[M], msgs []M, r round, end int) bool {
	results := 0
	for _, i := range r.messages() {
		if i >= end {
			return false
		}
		results += len(c.view(msgs[i]).results)
	}
	for _, p := range r.pairs {
		if p.found {
			results--
		}
	}
	return results == 0
}

// rewrite calls the rewriter for a round. It never sees its own output again.
func rewrite[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M, r round) ([]M, error) {
	var responses []M
	for _, i := range r.messages() {
		responses = append(responses, m.codec.onlyResults(msgs[i]))
	}
	got, err := m.cfg.ClearMessageRewriter(ctx, m.codec.clone(msgs[r.at]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(got))
	for i, msg := range got {
		out[i] = msg
		if m.codec.calls(msg) {
			out[i] = m.codec.apply(msg, edit{mark: true})
		}
	}
	return out, nil
}
