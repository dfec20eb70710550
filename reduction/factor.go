// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The factor by which the provider's counts differ from the estimate. It is learned until something is cleared for the
// first time. After that, the requests that the provider has counted are no longer in the history, so the factor stays,
// and a message remembers it: every later run of the conversation decides with the same.

import (
	"context"
	"maps"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// factorKey marks, in the Extra map of a message that was among the first to change, the factor. If it is 1, and no
// provider has counted a request, there may be none where another mark shows that the message has changed.
const factorKey = "__einolean_reduction_factor__"

// storedFactor returns the factor that a history remembers, zero if there is none.
func storedFactor[M adk.MessageType](msgs []M) float64 {
	for _, m := range msgs {
		if extra := message.Extra(m); len(extra) > 0 {
			if factor, ok := extra[factorKey].(float64); ok && factor > 0 {
				return factor
			}
		}
	}
	return 0
}

// keepFactor fixes the factor of the state before a pass has cleared results, unless it is fixed, and returns the state
// after the pass, which remembers it.
func (s *settings[M]) keepFactor(
	ctx context.Context, before, after *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error) {
	if after == before {
		return after, nil
	}
	r := runFrom(ctx, s)
	factor := r.factor()
	if factor == 0 {
		factor = 1
		if s.estimator != nil && reports(before.Messages) > 1 {
			size, err := s.exactSize(ctx, before)
			if err != nil {
				return nil, err
			}
			factor = size.Factor
		}
		r.fixFactor(factor)
	}
	rememberFactor(before.Messages, after.Messages, factor)
	return after, nil
}

// rememberFactor marks the first of the messages that a pass has changed with the factor, unless the messages remember
// it: a ClearMessageRewriter may remove those with marks. Messages of the user's are not marked: handlers take a user
// message with a mark for one that nobody has sent. It changes the second list.
func rememberFactor[M adk.MessageType](before, after []M, factor float64) {
	if storedFactor(after) == factor || factor == 1 && hasMarks(after) && reports(after) == 0 {
		return
	}
	for i := range min(len(before), len(after)) {
		m := after[i]
		if m == before[i] || message.Role(m) == schema.User && len(message.Results(m)) == 0 {
			continue
		}
		extra := maps.Clone(message.Extra(m))
		if extra == nil {
			extra = make(map[string]any)
		}
		extra[factorKey] = factor
		after[i] = message.WithExtra(m, extra)
		return
	}
}

// reports is how many requests of a history a provider has counted. A factor takes two.
func reports[M adk.MessageType](msgs []M) (n int) {
	for _, m := range msgs {
		if u := message.Usage(m); u != nil && u.PromptTokens > 0 {
			n++
		}
	}
	return n
}
