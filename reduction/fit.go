// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What else changes before a model call: the results of one round, a request that would not fit the
// model's window, results that the model already sees, and rounds that the user rewrites.

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/tokens"
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
func fitRounds[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	budget := int(m.window(ctx) / roundShare)
	if budget == 0 {
		return state, nil
	}
	from := 0
	if m.policy.runOf(ctx).fitted.Swap(true) {
		from = newest(state.Messages) - 1
	}
	if !mayExceed(state.Messages[max(from, 0):], budget/maxDensity) {
		return state, nil
	}
	p := newPass(ctx, m, state, size{})
	p.keepNamed(ctx)
	for _, r := range roundsOf(state.Messages) {
		if r.at < from {
			continue
		}
		results, fixed := shortenable(ctx, p, r, false)
		fixed += fitMedia(p, results, budget/2)
		if err := shortenTo(ctx, p, results, budget-fixed); err != nil {
			return nil, err
		}
		take(p, results)
	}
	return finish(ctx, p, einolean.KindResultCut, byRound), nil
}

// mayExceed reports whether the results between two messages with calls may have more
// tokens than a number of bytes may. It allocates nothing except for media.
func mayExceed[M adk.MessageType](msgs []M, most int) bool {
	sum := 0
	for _, m := range msgs {
		if callsTools(m) {
			sum = 0
		}
		results := 0
		for _, size := range resultSizes([]M{m}) {
			sum += size
			results++
		}
		if results > 0 {
			sum += len(mediaOf(m)) * mediaTokens
		}
		if sum > most {
			return true
		}
	}
	return false
}

// fitMedia replaces all media of a round's results by references but the last that fit in
// a budget, and returns the tokens of all of them.
func fitMedia[M adk.MessageType](p *pass[M], results []*old, budget int) (n int) {
	left := budget
	for _, r := range slices.Backward(results) {
		all := len(r.media)
		keep := min(all, max(0, left/mediaTokens))
		left -= keep * mediaTokens
		r.media = p.attached(r.media[:all-keep], r.rule.store)
		n += all*mediaTokens - mediaSaved(r.media)
	}
	return n
}

// stages are the ways in which a request becomes shorter until it fits, the mildest
// first.
const (
	oldestMedia = iota // of all rounds but the newest, the oldest first
	largest            // results, and long arguments
	larger             // the same again, for a counter that counts differently
	pages              // pages of the read tool too, and media of the newest round
	everything         // everything that can be shortened
	stages
)

// within returns a state that fits a window, if possible. It first clears everything
// old, then shortens the rest.
func within[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], window int64) (*adk.TypedChatModelAgentState[M], error) {
	count, err := m.countTokens(ctx, state, -1)
	if err != nil || count.tokens <= window {
		return state, err
	}
	given, before := state, count
	p := newPass(ctx, m, state, count)
	p.forced = true
	if state, err = p.cleared(ctx); err != nil {
		return nil, err
	}
	if state != given {
		if count, err = m.countTokens(ctx, state, -1); err != nil {
			return nil, err
		}
	}
	for s := 0; s < stages && count.tokens > window; s++ {
		next, err := shorter(ctx, m, state, s, int(float64(count.tokens-window)/count.factor)+1)
		if err != nil {
			return nil, err
		}
		if next == state {
			continue
		}
		state = next
		if count, err = m.countTokens(ctx, state, -1); err != nil {
			return nil, err
		}
	}
	if state != given {
		m.policy.runOf(ctx).counts.edited(len(state.Messages))
	}
	m.policy.send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &einolean.Pass{Before: before.tokens, After: count.tokens, Threshold: window}})
	return state, nil
}

// shorter returns a state that is over tokens shorter, if a stage can do that.
func shorter[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], s int, over int) (*adk.TypedChatModelAgentState[M], error) {
	p := newPass(ctx, m, state, size{})
	p.keepNamed(ctx)
	rounds := roundsOf(state.Messages)
	var all []*old
	sum := 0
	for _, r := range rounds {
		results, _ := shortenable(ctx, p, r, s >= pages)
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
	all = append(all, sent(p, end)...)
	over -= chooseMedia(p, all, end, s, over)
	if s > oldestMedia {
		over -= referToArguments(p, all)
		if err := shortenTo(ctx, p, all, sum-max(over, 0)); err != nil {
			return nil, err
		}
	}
	take(p, all)
	return finish(ctx, p, einolean.KindResultCut, byWindow), nil
}

// sent lists the user's messages with media before an index, as results of which only the
// media change.
func sent[M adk.MessageType](p *pass[M], end int) (out []*old) {
	for i := range p.msgs[:end] {
		r := &old{pair: &pair{at: i, result: result{index: -1}}, callAt: i, marked: true, rule: &rule{store: p.policy.general}}
		if r.media = p.oldMedia(r); len(r.media) > 0 {
			r.instead.keep = true
			out = append(out, r)
		}
	}
	return out
}

// chooseMedia selects the media to replace by references: the oldest in messages before
// end, until they save enough. It returns the tokens that they save.
func chooseMedia[M adk.MessageType](p *pass[M], all []*old, end int, at int, over int) (saved int) {
	slices.SortStableFunc(all, func(a, b *old) int { return a.at - b.at })
	for _, r := range all {
		n := 0
		if at != largest && at != larger && r.at < end {
			n = min(len(r.media), max(0, over-saved+mediaSaving-1)/mediaSaving)
		}
		r.media = p.attached(r.media[:n], r.rule.store)
		saved += mediaSaved(r.media)
	}
	return saved
}

// referToArguments finds the long values in the calls of results, and returns the tokens
// that references to them save.
func referToArguments[M adk.MessageType](p *pass[M], all []*old) (saved int) {
	for _, r := range all {
		if r.values = p.longArguments(r); len(r.values) > 0 {
			r.marked = false
			saved += tokens.Of(r.call.args) - tokens.Of(withReferences(r.call.args, r.values))
		}
	}
	return saved
}

// shortenable lists the results of a round that may be shortened, or whose media may
// become references, and returns the tokens of the others. A page that is alone in its
// round is included only in the last stage: the model asked for just that.
func shortenable[M adk.MessageType](ctx context.Context, p *pass[M], of round, everything bool) (out []*old, fixed int) {
	found := 0
	for _, each := range of.pairs {
		if each.found {
			found++
		}
	}
	for i := range of.pairs {
		each := &of.pairs[i]
		if !each.found || each.result.search {
			continue
		}
		r := &old{pair: each, callAt: of.at, marked: true, size: each.result.size(), rule: p.ruleOf(ctx, each.call)}
		for _, text := range r.result.texts {
			r.tokens += tokens.Of(text)
		}
		for _, text := range r.result.moved {
			fixed += tokens.Of(text)
		}
		r.notice, r.instead.index = noticeIn(r.result.texts), r.result.index
		if mustStay(ctx, p, r) || r.rule.reads && found == 1 && !everything {
			fixed += r.tokens
			continue
		}
		own := r.rule.byDefault()
		r.rule = &own
		r.media = p.oldMedia(r)
		out = append(out, r)
	}
	return out, fixed
}

// mustStay reports whether the configuration keeps a result as it is.
func mustStay[M adk.MessageType](ctx context.Context, p *pass[M], r *old) bool {
	cut := p.policy.truncation(ctx, r.call.name)
	if excludesThrough(p.policy.noTrunc, r.call.name, r.call.args) {
		return true
	}
	return r.rule.leave != "" || r.rule.store == nil || cut.leave == ReasonExcluded || cut.leave == ReasonSkipped && !p.policy.skipTrunc
}

// maxRefits bounds how often sizes are levelled again because some results could not
// become as small as required.
const maxRefits = 16

// shortenTo shortens results to a total number of tokens, or to at least minShown bytes
// each. The outcome is level: repeating it changes nothing.
func shortenTo[M adk.MessageType](ctx context.Context, p *pass[M], results []*old, budget int) error {
	var open []*old
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
			sizes[i] = tokensNow(r)
		}
		most, left := level(sizes, budget), open[:0:0]
		for _, r := range open {
			if tokensNow(r) > most {
				if err := shortenOne(ctx, p, r, most); err != nil {
					return err
				}
			}
			if tokensNow(r) > most {
				budget -= tokensNow(r)
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

// tokensNow is how many tokens a result has, or will have.
func tokensNow(r *old) int {
	if r.most > 0 {
		return tokens.Of(r.instead.text)
	}
	return r.tokens
}

// shortenOne makes a result shorter, if possible.
func shortenOne[M adk.MessageType](ctx context.Context, p *pass[M], r *old, most int) error {
	before, text, after := r.most, r.instead.text, r.after
	r.most = max(most, 1)
	if before == 0 {
		if err := p.place(ctx, r); err != nil {
			return err
		}
	}
	if !p.word(r) || r.path != "" && !showable(r.path) {
		r.most, r.instead.text, r.after = before, text, after
	}
	return nil
}

// take adds those results to the changes of which anything changes.
func take[M adk.MessageType](p *pass[M], results []*old) {
	for _, r := range results {
		if r.most == 0 {
			r.keepResult()
		}
		if len(r.values) > 0 {
			p.word(r)
		}
		if r.replaces() {
			p.done = append(p.done, r)
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

// finish stores what the decisions take out, reports them, and returns the state with the changes,
// which is the given one if there are none.
func finish[M adk.MessageType](ctx context.Context, p *pass[M], kind einolean.Kind, rule string) *adk.TypedChatModelAgentState[M] {
	p.saveAll(ctx)
	if len(p.done) == 0 {
		return p.given
	}
	for _, r := range p.done {
		o := output{kind: kind, rule: rule, before: r.size, after: r.after, path: r.path}
		p.policy.report(ctx, r.call.name, r.call.id, r.sizes(o))
	}
	return withMessages(p.given, p.out())
}

// minRepeat is the least size in bytes of a result that a reference may replace.
const minRepeat = 150

// maxCallName is the most bytes of a tool's name or a call's id that a reference shows.
const maxCallName = 64

// refer returns a state with references in place of new results that equal a visible one, and
// its size. Old results that are about to be cleared do not count as visible for those that are
// kept. Its error is that of a user's callback.
func refer[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], count size) (*adk.TypedChatModelAgentState[M], size, error) {
	from := 0
	if m.policy.runOf(ctx).referred.Swap(true) {
		from = newest(state.Messages)
	}
	if !mayRepeat(state.Messages, from) {
		return state, count, nil
	}
	window := m.window(ctx)
	clears := count.tokens >= m.cfg.MaxTokensForClear || window > 0 && count.tokens > window
	p := newPass(ctx, m, state, size{})
	p.keepNamed(ctx)
	for _, r := range repeats(ctx, p, from, clears) {
		if err := p.place(ctx, r); err != nil {
			return nil, count, err
		}
		if p.word(r) && showable(r.path) {
			p.done = append(p.done, r)
		}
	}
	out, err := finish(ctx, p, einolean.KindResultReferred, byRepeat), error(nil)
	if clears && out != state {
		count, err = m.decisive(ctx, out)
	}
	return out, count, err
}

// resultSizes are the sizes of the results in messages, with the index of the message and that of
// the result in it.
func resultSizes[M adk.MessageType](msgs []M) iter.Seq2[[2]int, int] {
	return func(yield func([2]int, int) bool) {
		for i, m := range msgs {
			for p := message.Parts(m); p.Next(); {
				size := 0
				for item := p.Parts(); item.Next(); {
					size += len(item.Text())
				}
				if p.Kind == message.Result && !yield([2]int{i, p.Index}, size) {
					return
				}
			}
		}
	}
}

// mayRepeat reports whether a result from an index on has the size of an earlier one. It
// allocates nothing for the few of a newest round.
func mayRepeat[M adk.MessageType](msgs []M, from int) bool {
	if from == 0 {
		return true
	}
	for at, size := range resultSizes(msgs[from:]) {
		if at[0] += from; size < minRepeat {
			continue
		}
		for other, n := range resultSizes(msgs[:at[0]+1]) {
			if other == at {
				break
			}
			if n == size {
				return true
			}
		}
	}
	return false
}

// repeats lists the results from an index on that equal an earlier, visible one.
func repeats[M adk.MessageType](ctx context.Context, p *pass[M], from int, clears bool) (out []*old) {
	rounds := roundsOf(p.msgs)
	_, kept := outside(rounds, p.cfg.ClearRetentionSuffixLimit)
	first := make(map[uint64]*pair)
	for _, each := range inOrder(rounds) {
		size := each.result.size()
		if size < minRepeat || each.result.search {
			continue
		}
		key := keyOf(each.result.texts...)
		earlier, found := first[key]
		if !found || clears && earlier.at < kept && each.at >= kept {
			first[key] = each
			continue
		}
		rule := p.ruleOf(ctx, each.call)
		if each.at < from || rule.leave != "" || rule.clear != nil || rule.store == nil || !slices.Equal(earlier.result.texts, each.result.texts) {
			continue
		}
		r := &old{pair: each, rule: rule, size: size, marked: true, like: callName(earlier.call)}
		if r.notice = noticeIn(each.result.texts); r.notice.kind != clearedNotice {
			r.instead.index = each.result.index
			out = append(out, r)
		}
	}
	return out
}

// inOrder lists the calls that have a result, in the order of their results.
func inOrder(rounds []round) (out []*pair) {
	for _, r := range rounds {
		for i := range r.pairs {
			if r.pairs[i].found {
				out = append(out, &r.pairs[i])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *pair) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.result.index, b.result.index))
	})
	return out
}

// callName names a call for the model, which knows the ids of most.
func callName(c call) string {
	short := func(s string) bool { return len(s) <= maxCallName && showable(s) }
	switch {
	case !short(c.name):
		return "a call"
	case !short(c.id):
		return c.name
	}
	return fmt.Sprintf("%s (%s)", c.name, c.id)
}

// rewritten returns the messages with the rounds outside the kept ones changed by the user's
// rewriter, and whether anything is new. It skips rounds that were rewritten or cleared
// before.
func rewritten[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M) ([]M, bool, error) {
	rounds, end := outside(roundsOf(msgs), m.cfg.ClearRetentionSuffixLimit)
	instead := make(map[int][]M, len(rounds))
	gone := make(map[int]bool)
	for _, r := range rounds {
		if r.processed || !alone(msgs, r, end) {
			continue
		}
		got, err := rewrite(ctx, m, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.at] = got
		gone[r.at] = true
		for _, i := range r.messages() {
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
	return untied(out, from), true, nil
}

// alone reports whether the messages with a round's results hold results of no other
// round, and none of them is kept: then the round can be taken out.
func alone[M adk.MessageType](msgs []M, r round, end int) bool {
	results := 0
	for _, i := range r.messages() {
		if i >= end {
			return false
		}
		results += len(viewOf(msgs[i], view{}).results)
	}
	for _, p := range r.pairs {
		if p.found {
			results--
		}
	}
	return results == 0
}

func isResult(p message.Part) bool { return p.Kind == message.Result }

// rewrite calls the rewriter for a round. It never sees its own output again.
func rewrite[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M, r round) ([]M, error) {
	var responses []M
	for _, i := range r.messages() {
		responses = append(responses, own(message.Without(msgs[i], func(p message.Part) bool { return !isResult(p) }, "")))
	}
	got, err := m.cfg.ClearMessageRewriter(ctx, own(msgs[r.at]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(got))
	for i, msg := range got {
		out[i] = msg
		if callsTools(msg) {
			out[i] = applied(msg, edit{mark: true})
		}
	}
	return out, nil
}
