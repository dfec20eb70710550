// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Has the user's rewriter replace rounds before results are cleared.

import (
	"context"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/digest"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// rewriteFunc is ClearMessageRewriter.
type rewriteFunc[M adk.MessageType] func(ctx context.Context, call M, responses []M) ([]M, error)

// rewriteRounds returns the messages with the rounds before the last retained ones changed by the user's rewriter,
// and whether anything is new. It skips rounds that were rewritten or cleared before.
func rewriteRounds[M adk.MessageType](
	ctx context.Context, rewriter rewriteFunc[M], msgs []M, retained int,
) (out []M, changed bool, err error) {
	before, end := rounds.SplitRetained(rounds.Split(msgs), retained)
	inserted := make(map[int][]M, len(before)) // in place of the message with an index
	removed := make(map[int]bool)
	for _, round := range before {
		if round.Processed || !isSeparable(msgs, round, end) {
			continue
		}
		replacement, err := rewriteRound(ctx, rewriter, msgs, round)
		if err != nil {
			return nil, false, err
		}
		inserted[round.MessageIndex] = replacement
		removed[round.MessageIndex] = true
		for _, i := range round.Messages() {
			if rest := message.Without(msgs[i], isResult, ""); !message.IsNil(rest) {
				inserted[i] = append(inserted[i], rest)
			}
			removed[i] = true
		}
	}
	if len(inserted) == 0 {
		return msgs, false, nil
	}
	out = make([]M, 0, len(msgs))
	from := -1 // the first change
	for i, m := range msgs {
		out = append(out, inserted[i]...)
		if !removed[i] {
			out = append(out, m)
		} else if from < 0 {
			from = i
		}
	}
	return digest.MarkForeign(out, from), true, nil
}

// isSeparable reports whether a round can be removed: its messages hold results of no other round, and none of them
// is retained.
func isSeparable[M adk.MessageType](msgs []M, round rounds.Round, end int) bool {
	others := 0
	for _, i := range round.Messages() {
		if i >= end {
			return false
		}
		others += len(rounds.ViewOf(msgs[i], rounds.View{}).Results)
	}
	for _, pair := range round.Pairs {
		if pair.HasResult {
			others--
		}
	}
	return others == 0
}

func isResult(p message.Part) bool { return p.Kind == message.Result }

// rewriteRound calls the rewriter for a round. The rewriter never sees its own output again.
func rewriteRound[M adk.MessageType](
	ctx context.Context, rewriter rewriteFunc[M], msgs []M, round rounds.Round,
) ([]M, error) {
	isOther := func(p message.Part) bool { return !isResult(p) }
	var responses []M
	for _, i := range round.Messages() {
		responses = append(responses, rounds.DeepCopy(message.Without(msgs[i], isOther, "")))
	}
	rewritten, err := rewriter(ctx, rounds.DeepCopy(msgs[round.MessageIndex]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(rewritten))
	for i, msg := range rewritten {
		out[i] = msg
		if rounds.CallsTools(msg) {
			out[i] = rounds.Apply(msg, rounds.Edit{Mark: true})
		}
	}
	return out, nil
}
