// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Rounds that the user's rewriter replaces before results are cleared.

import (
	"context"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/digest"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// rewriter is the user's: it replaces the messages of a round.
type rewriteFunc[M adk.MessageType] func(ctx context.Context, call M, responses []M) ([]M, error)

// rewritten returns the messages with the rounds before the last keep changed by the user's
// rewriter, and whether anything is new. It skips rounds that were rewritten or cleared
// before.
func rewriteRounds[M adk.MessageType](ctx context.Context, by rewriteFunc[M], msgs []M, keep int) ([]M, bool, error) {
	rounds, end := rounds.SplitRetained(rounds.Split(msgs), keep)
	instead := make(map[int][]M, len(rounds))
	gone := make(map[int]bool)
	for _, r := range rounds {
		if r.Processed || !isSeparable(msgs, r, end) {
			continue
		}
		got, err := rewriteRound(ctx, by, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.MessageIndex] = got
		gone[r.MessageIndex] = true
		for _, i := range r.Messages() {
			if rest := message.Without(msgs[i], isResult, ""); !message.IsNil(rest) {
				instead[i] = append(instead[i], rest)
			}
			gone[i] = true
		}
	}
	if len(instead) == 0 {
		return msgs, false, nil
	}
	out := make([]M, 0, len(msgs))
	from := -1
	for i, m := range msgs {
		out = append(out, instead[i]...)
		if !gone[i] {
			out = append(out, m)
		} else if from < 0 {
			from = i
		}
	}
	return digest.MarkForeign(out, from), true, nil
}

// alone reports whether the messages with a round's results hold results of no other
// round, and none of them is kept: then the round can be taken out.
func isSeparable[M adk.MessageType](msgs []M, r rounds.Round, end int) bool {
	results := 0
	for _, i := range r.Messages() {
		if i >= end {
			return false
		}
		results += len(rounds.ViewOf(msgs[i], rounds.View{}).Results)
	}
	for _, p := range r.Pairs {
		if p.HasResult {
			results--
		}
	}
	return results == 0
}

func isResult(p message.Part) bool { return p.Kind == message.Result }

// rewrite calls the rewriter for a round. It never sees its own output again.
func rewriteRound[M adk.MessageType](ctx context.Context, by rewriteFunc[M], msgs []M, r rounds.Round) ([]M, error) {
	var responses []M
	for _, i := range r.Messages() {
		responses = append(responses, rounds.DeepCopy(message.Without(msgs[i], func(p message.Part) bool { return !isResult(p) }, "")))
	}
	got, err := by(ctx, rounds.DeepCopy(msgs[r.MessageIndex]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(got))
	for i, msg := range got {
		out[i] = msg
		if rounds.CallsTools(msg) {
			out[i] = rounds.Apply(msg, rounds.Edit{Mark: true})
		}
	}
	return out, nil
}
