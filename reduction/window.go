// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The model's window: the limit on the results of one round, and how a request that would
// not fit becomes shorter.

import (
	"context"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/tokens"
)

const (
	// roundShare is the share of the window that the results of one round may take: a
	// quarter. Media may take half of that.
	roundShare = 4

	// maxDensity is more than the most tokens in a byte.
	maxDensity = 2
)

// fitRounds returns a state in which the results of each new round keep within their
// share of the window, the largest cut first. It considers the round alone, to decide the
// same whenever it is called.
func (c *clearPhase[M]) fitRounds(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	budget := int(c.cfg.WindowTokens / roundShare)
	if budget == 0 {
		return state, nil
	}
	from := 0
	if b := c.policy.runOf(ctx); b != nil && b.fitted.Swap(true) {
		from = newest(c.codec, state.Messages) - 1
	}
	if !mayExceed(c.codec, state.Messages[max(from, 0):], budget/maxDensity) {
		return state, nil
	}
	d := c.planner(ctx, state.Messages).draft(ctx)
	for _, r := range roundsOf(views(c.codec, state.Messages)) {
		if r.at < from {
			continue
		}
		results, fixed := d.shortenable(ctx, r, false)
		fixed += d.fitMedia(results, budget/2)
		if err := d.shortenTo(ctx, results, budget-fixed); err != nil {
			return nil, err
		}
		d.take(results)
	}
	if !d.finish(ctx, byRound) {
		return state, nil
	}
	return withMessages(state, d.out), nil
}

// mayExceed reports whether the results between two messages with calls may have more
// tokens than a number of bytes may. It allocates nothing except for media.
func mayExceed[M adk.MessageType](c codec[M], msgs []M, most int) bool {
	sum := 0
	for _, m := range msgs {
		if c.calls(m) {
			sum = 0
		}
		results := 0
		for n := c.resultSize(m, 0); n >= 0; n = c.resultSize(m, results) {
			sum += n
			results++
		}
		if results > 0 {
			sum += len(c.media(m)) * mediaTokens
		}
		if sum > most {
			return true
		}
	}
	return false
}

// fitMedia replaces all media of a round's results by references but the last that fit in
// a budget, and returns the tokens of all of them.
func (d *draft[M]) fitMedia(results []*oldResult, budget int) (n int) {
	left := budget
	for _, r := range slices.Backward(results) {
		all := len(r.media)
		keep := min(all, max(0, left/mediaTokens))
		left -= keep * mediaTokens
		r.media = d.planner.wording.attached(r.media[:all-keep])
		n += all*mediaTokens - mediaSaved(r.media)
	}
	return n
}

// stages are the ways in which a request becomes shorter until it fits, the mildest
// first.
type stage int

const (
	oldestMedia stage = iota // of all rounds but the newest, the oldest first
	largest                  // results, and long arguments
	larger                   // the same again, for a counter that counts differently
	pages                    // pages of the read tool too, and media of the newest round
	everything               // everything that can be shortened
	stages
)

// within returns a state that fits the window, if possible. It first clears everything
// old, then shortens the rest.
func (c *clearPhase[M]) within(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	window := c.cfg.WindowTokens
	count, factor, err := c.countTokens(ctx, state)
	if err != nil || count <= window {
		return state, err
	}
	given, before := state, count
	p := c.pass(ctx, state, count, factor)
	p.forced = true
	changed, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	p.tell(ctx, changed)
	if changed {
		state = withMessages(state, p.draft.out)
		if count, factor, err = c.countTokens(ctx, state); err != nil {
			return nil, err
		}
	}
	for s := stage(0); s < stages && count > window; s++ {
		next, err := c.shorter(ctx, state, s, int(float64(count-window)/factor)+1)
		if err != nil {
			return nil, err
		}
		if next == state {
			continue
		}
		state = next
		if count, factor, err = c.countTokens(ctx, state); err != nil {
			return nil, err
		}
	}
	if state != given {
		c.policy.runOf(ctx).counted().edited(len(state.Messages))
	}
	c.report.send(ctx, leanctx.Event{Kind: leanctx.KindClearDone, Pass: &leanctx.Pass{Before: before, After: count, Threshold: window}})
	return state, nil
}

// shorter returns a state that is over tokens shorter, if a stage can do that.
func (c *clearPhase[M]) shorter(ctx context.Context, state *adk.TypedChatModelAgentState[M], s stage, over int) (*adk.TypedChatModelAgentState[M], error) {
	d := c.planner(ctx, state.Messages).draft(ctx)
	rounds := roundsOf(views(c.codec, state.Messages))
	var all []*oldResult
	sum := 0
	for _, r := range rounds {
		results, _ := d.shortenable(ctx, r, s >= pages)
		for _, each := range results {
			sum += each.tokens
		}
		all = append(all, results...)
	}
	end := len(state.Messages)
	switch {
	case s == everything:
		over = math.MaxInt / 2
	case s == larger:
		over *= 2
	case s == oldestMedia && len(rounds) > 0:
		end = rounds[len(rounds)-1].at
	}
	all = append(all, d.sent(end)...)
	over -= d.chooseMedia(all, end, s, over)
	if s > oldestMedia {
		over -= d.longArguments(all)
		if err := d.shortenTo(ctx, all, sum-max(over, 0)); err != nil {
			return nil, err
		}
	}
	d.take(all)
	if !d.finish(ctx, byWindow) {
		return state, nil
	}
	return withMessages(state, d.out), nil
}

// sent lists the user's messages with media before an index, as results of which only the
// media change.
func (d *draft[M]) sent(end int) (out []*oldResult) {
	for i := range d.planner.msgs[:end] {
		r := &oldResult{at: i, callAt: i, marked: true, rule: rule{store: d.planner.phase.policy.general}}
		r.result.index = -1
		if r.media = d.planner.oldMedia(r); len(r.media) > 0 {
			r.instead.keep = true
			out = append(out, r)
		}
	}
	return out
}

// chooseMedia selects the media to replace by references: the oldest in messages before
// end, until they save enough. It returns the tokens that they save.
func (d *draft[M]) chooseMedia(all []*oldResult, end int, at stage, over int) (saved int) {
	slices.SortStableFunc(all, func(a, b *oldResult) int { return a.at - b.at })
	for _, r := range all {
		n := 0
		if at != largest && at != larger && r.at < end {
			n = min(len(r.media), max(0, over-saved+mediaSaving-1)/mediaSaving)
		}
		r.media = d.planner.wording.attached(r.media[:n])
		saved += mediaSaved(r.media)
	}
	return saved
}

// longArguments finds the long values in the calls of results, and returns the tokens
// that references to them save.
func (d *draft[M]) longArguments(all []*oldResult) (saved int) {
	for _, r := range all {
		if r.values = d.planner.arguments(r); len(r.values) > 0 {
			r.marked = false
			saved += tokens.Estimate(r.call.args) - tokens.Estimate(d.planner.wording.withReferences(r.call.args, r.values))
		}
	}
	return saved
}

// shortenable lists the results of a round that may be shortened, or whose media may
// become references, and returns the tokens of the others. A page that is alone in its
// round is included only in the last stage: the model asked for just that.
func (d *draft[M]) shortenable(ctx context.Context, of round, everything bool) (out []*oldResult, fixed int) {
	found := 0
	for _, each := range of.pairs {
		if each.found {
			found++
		}
	}
	for _, each := range of.pairs {
		if !each.found || each.result.search {
			continue
		}
		r := &oldResult{call: each.call, result: each.result, at: each.at, callAt: of.at, marked: true, size: each.result.size(), stays: true}
		for _, text := range r.result.texts {
			r.tokens += tokens.Estimate(text)
		}
		for _, text := range r.result.moved {
			fixed += tokens.Estimate(text)
		}
		r.rule, r.notice = d.planner.phase.policy.clearing(ctx, r.call.name), noticeIn(r.result.texts)
		r.instead.index = r.result.index
		if d.mustStay(ctx, r) || r.rule.reads && found == 1 && !everything {
			fixed += r.tokens
			continue
		}
		r.rule = r.rule.byDefault()
		r.media = d.planner.oldMedia(r)
		out = append(out, r)
	}
	return out, fixed
}

// mustStay reports whether the configuration keeps a result as it is.
func (d *draft[M]) mustStay(ctx context.Context, r *oldResult) bool {
	cut := d.planner.phase.policy.truncation(ctx, r.call.name)
	return r.rule.leave != "" || r.rule.store == nil || cut.leave == ReasonExcluded || cut.leave == ReasonSkipped && !d.planner.phase.policy.skipTrunc
}

// maxRefits bounds how often sizes are levelled again because some results could not
// become as small as required.
const maxRefits = 16

// shortenTo shortens results to a total number of tokens, or to at least minShown bytes
// each. The outcome is level: repeating it changes nothing.
func (d *draft[M]) shortenTo(ctx context.Context, results []*oldResult, budget int) error {
	var open []*oldResult
	for _, r := range results {
		if r.size > minShown && r.notice.kind != clearedNotice {
			open = append(open, r)
		} else {
			budget -= r.tokens
		}
	}
	for range maxRefits {
		sizes := make([]int, len(open))
		for i, r := range open {
			sizes[i] = r.now()
		}
		most, left := level(sizes, budget), open[:0:0]
		for _, r := range open {
			if r.now() > most {
				if err := d.shortenOne(ctx, r, most); err != nil {
					return err
				}
			}
			if r.now() > most {
				budget -= r.now()
			} else {
				left = append(left, r)
			}
		}
		if len(left) == len(open) {
			return nil
		}
		open = left
	}
	return nil
}

// now is how many tokens a result has, or will have.
func (r *oldResult) now() int {
	if r.most > 0 {
		return tokens.Estimate(r.instead.text)
	}
	return r.tokens
}

// shortenOne makes a result shorter, if possible.
func (d *draft[M]) shortenOne(ctx context.Context, r *oldResult, most int) error {
	if r.most == 0 {
		if err := d.planner.place(ctx, r); err != nil {
			return err
		}
	}
	before, text, after := r.most, r.instead.text, r.after
	if r.most = max(most, 1); !d.planner.wording.word(r) || r.path != "" && !showable(r.path) {
		r.most, r.instead.text, r.after = before, text, after
	}
	return nil
}

// take adds those results to the changes of which anything changes.
func (d *draft[M]) take(results []*oldResult) {
	for _, r := range results {
		if r.most == 0 {
			r.keepResult()
		}
		if len(r.values) > 0 {
			d.planner.wording.word(r)
		}
		if r.replaces() {
			d.done = append(d.done, r)
		}
	}
}

// level is the greatest size to which all larger ones can be reduced for the sum to be
// within a budget.
func level(sizes []int, budget int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > budget {
			return max(0, budget/left)
		}
		budget -= size
	}
	return math.MaxInt
}

// finish stores and applies the decisions, reports them, and reports whether anything
// changes.
func (d *draft[M]) finish(ctx context.Context, rule string) bool {
	d.saveAll(ctx)
	d.redo()
	for _, r := range d.done {
		o := output{kind: leanctx.KindResultCut, rule: rule, before: r.size, after: r.after, path: r.path}
		d.planner.phase.report.output(ctx, r.call.name, r.call.id, r.sizes(o))
	}
	return len(d.done) > 0
}
