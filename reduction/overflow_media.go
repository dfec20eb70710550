// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Keeps to what a provider has said about images, audio, videos and files: how many a request may have, and which
// one it does not accept.

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/refusal"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// mediaIn are the media of messages, the oldest first.
func mediaIn[M adk.MessageType](msgs []M) (all []*rounds.Medium) {
	for _, m := range msgs {
		all = append(all, rounds.Media(m)...)
	}
	return all
}

// replaceMedia returns a state with references in place of the media that are chosen, and how many those are.
func replaceMedia[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M],
	isChosen func(c *clearing.Candidate, m *rounds.Medium) bool,
) (next *adk.TypedChatModelAgentState[M], count int, err error) {
	p := newPass(ctx, s, state)
	p.clearsMedia, p.mustFitMedia = true, true
	f := newFitPass(ctx, p)
	var plans []clearing.Plan
	for _, round := range p.history() {
		ofRound, _ := f.plansOf(round, clearing.ToShortenAllPages)
		plans = append(plans, ofRound...)
	}
	plans = append(plans, f.userMedia(len(state.Messages))...)
	slices.SortStableFunc(plans, func(a, b clearing.Plan) int {
		return a.Candidate.MessageIndex - b.Candidate.MessageIndex
	})
	if f.pass.decider().ReplaceChosenMedia(plans, isChosen) == 0 {
		return state, 0, nil
	}
	if err := f.shortenToBudget(ctx, plans, noBudget); err != nil {
		return nil, 0, err
	}
	before := len(mediaIn(state.Messages))
	next = f.commit(ctx, einolean.KindResultTruncated, report.ByWindow)
	return next, before - len(mediaIn(next.Messages)), nil
}

// keepNewestMedia returns a state with references in place of all but the newest media.
func keepNewestMedia[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M], keep int,
) (*adk.TypedChatModelAgentState[M], int, error) {
	excess := len(mediaIn(state.Messages)) - max(keep, 1)
	return replaceMedia(ctx, s, state, func(*clearing.Candidate, *rounds.Medium) bool {
		excess--
		return excess >= 0
	})
}

// keepToMediaLimits returns a state that keeps to what refusals have shown in this run. At the limit it leaves half
// of the media, so that the next requests can have more without another change to what the provider has cached.
func (s *settings[M]) keepToMediaLimits(
	ctx context.Context, state *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error) {
	if !s.retries {
		return state, nil
	}
	limits := runFrom(ctx, s).mediaLimits()
	var err error
	if len(limits.refused) > 0 {
		state, _, err = replaceMedia(ctx, s, state, func(_ *clearing.Candidate, m *rounds.Medium) bool {
			return slices.Contains(limits.refused, mediumSum(m))
		})
	}
	if err == nil && limits.count > 0 && len(mediaIn(state.Messages)) > limits.count {
		state, _, err = keepNewestMedia(ctx, s, state, limits.count/2)
	}
	return state, err
}

// mediumSum identifies a medium by its content.
func mediumSum(m *rounds.Medium) string {
	content, _ := json.Marshal(m.Output)
	return offload.SumOf(string(content))
}

// recoverMedia shortens a request whose media a provider does not accept.
func (o overflowModel[M]) recoverMedia(
	ctx context.Context, input []M, tools []*schema.ToolInfo, r refused,
) (out recovery[M], ok bool) {
	state := &adk.TypedChatModelAgentState[M]{Messages: input, ToolInfos: tools}
	run := runFrom(ctx, o.settings)
	limits := run.mediaLimits()
	var next *adk.TypedChatModelAgentState[M]
	var count int
	var err error
	if r.media == refusal.TooManyMedia {
		total := len(mediaIn(input))
		keep := 1 // if the limit is unknown: there is only one more attempt
		if limits.count = r.mediaLimit; limits.count == 0 || limits.count >= total {
			limits.count = total - 1
		} else {
			keep = limits.count / 2
		}
		next, count, err = keepNewestMedia(ctx, o.settings, state, keep)
	} else {
		isSuspect := suspects(input, r.media)
		limits.refused = slices.Clone(limits.refused)
		next, count, err = replaceMedia(ctx, o.settings, state, func(c *clearing.Candidate, m *rounds.Medium) bool {
			chosen := isSuspect(c.MessageIndex, m)
			if chosen {
				limits.refused = append(limits.refused, mediumSum(m))
			}
			return chosen
		})
	}
	if err != nil || count == 0 {
		return out, false
	}
	out.input, out.forget = next.Messages, run.learnMedia(limits)
	if out.pass.After, err = o.size(ctx, out.input, tools); err != nil {
		out.forget()
	}
	return out, err == nil
}

// suspects returns which media a provider may have refused as too large or unreadable: those of tool results from the
// newest assistant message on that has media in it or after it. Most often, no earlier request had them. If one is too
// large, only those count that have at least half the size of the largest medium there, which may be the user's.
func suspects[M adk.MessageType](msgs []M, problem refusal.MediaProblem) func(messageIndex int, m *rounds.Medium) bool {
	from := 0
	for i, m := range msgs {
		if message.Role(m) == schema.Assistant && len(mediaIn(msgs[i:])) > 0 {
			from = i
		}
	}
	largest := 0
	for _, m := range mediaIn(msgs[from:]) {
		largest = max(largest, mediumBytes(m))
	}
	return func(messageIndex int, m *rounds.Medium) bool {
		isLarge := problem != refusal.LargeMedium || mediumBytes(m) >= largest/2
		return messageIndex >= from && m.Result >= 0 && isLarge
	}
}

func mediaBytes[M adk.MessageType](msgs []M) (sum int64) {
	for _, m := range mediaIn(msgs) {
		sum += int64(mediumBytes(m))
	}
	return sum
}

// mediumBytes is the size of a medium that is part of the request.
func mediumBytes(m *rounds.Medium) int {
	if data := message.MediumOf(m.Output).Base64Data; data != nil {
		return len(*data)
	}
	return 0
}
