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
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/size"
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
		from = rounds.Newest(state.Messages) - 1
	}
	if !mayExceed(state.Messages[max(from, 0):], budget/maxDensity) {
		return state, nil
	}
	p := newPass(ctx, m, state, size.Size{})
	p.policy.files.Note(ctx, namedFiles(p.cfg, p.msgs))
	for _, r := range rounds.Of(state.Messages) {
		if r.At < from {
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
		if rounds.CallsTools(m) {
			sum = 0
		}
		results := 0
		for _, size := range resultSizes([]M{m}) {
			sum += size
			results++
		}
		if results > 0 {
			sum += len(rounds.Media(m)) * size.Medium
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
		keep := min(all, max(0, left/size.Medium))
		left -= keep * size.Medium
		r.media = p.attached(r.media[:all-keep], r.rule.store)
		n += all*size.Medium - mediaSaved(r.media)
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
	if err != nil || count.Tokens <= window {
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
	for s := 0; s < stages && count.Tokens > window; s++ {
		next, err := shorter(ctx, m, state, s, int(float64(count.Tokens-window)/count.Factor)+1)
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
		m.policy.runOf(ctx).counts.Edited(len(state.Messages))
	}
	m.policy.send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &einolean.Pass{Before: before.Tokens, After: count.Tokens, Threshold: window}})
	return state, nil
}

// shorter returns a state that is over tokens shorter, if a stage can do that.
func shorter[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], s int, over int) (*adk.TypedChatModelAgentState[M], error) {
	p := newPass(ctx, m, state, size.Size{})
	p.policy.files.Note(ctx, namedFiles(p.cfg, p.msgs))
	of := rounds.Of(state.Messages)
	var all []*old
	sum := 0
	for _, r := range of {
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
	case s == oldestMedia && len(of) > 0:
		end = of[len(of)-1].At
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
		r := &old{Pair: &rounds.Pair{At: i, Result: rounds.Result{Index: -1}}, callAt: i, marked: true, rule: &rule{store: p.policy.general}}
		if r.media = p.oldMedia(r); len(r.media) > 0 {
			r.instead.Keep = true
			out = append(out, r)
		}
	}
	return out
}

// chooseMedia selects the media to replace by references: the oldest in messages before
// end, until they save enough. It returns the tokens that they save.
func chooseMedia[M adk.MessageType](p *pass[M], all []*old, end int, at int, over int) (saved int) {
	slices.SortStableFunc(all, func(a, b *old) int { return a.At - b.At })
	for _, r := range all {
		n := 0
		if at != largest && at != larger && r.At < end {
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
			saved += tokens.Of(r.Call.Args) - tokens.Of(withReferences(r.Call.Args, r.values))
		}
	}
	return saved
}

// shortenable lists the results of a round that may be shortened, or whose media may
// become references, and returns the tokens of the others. A page that is alone in its
// round is included only in the last stage: the model asked for just that.
func shortenable[M adk.MessageType](ctx context.Context, p *pass[M], of rounds.Round, everything bool) (out []*old, fixed int) {
	found := 0
	for _, each := range of.Pairs {
		if each.Found {
			found++
		}
	}
	for i := range of.Pairs {
		each := &of.Pairs[i]
		if !each.Found || each.Result.Search {
			continue
		}
		r := &old{Pair: each, callAt: of.At, marked: true, size: each.Result.Size(), rule: p.ruleOf(ctx, each.Call)}
		for _, text := range r.Result.Texts {
			r.tokens += tokens.Of(text)
		}
		for _, text := range r.Result.Moved {
			fixed += tokens.Of(text)
		}
		r.notice, r.instead.Index = notice.In(r.Result.Texts), r.Result.Index
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
	cut := p.policy.truncation(ctx, r.Call.Name)
	if excludesThrough(p.policy.noTrunc, r.Call.Name, r.Call.Args) {
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
		if r.size > minShown && !r.notice.Cleared() {
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
		return tokens.Of(r.instead.Text)
	}
	return r.tokens
}

// shortenOne makes a result shorter, if possible.
func shortenOne[M adk.MessageType](ctx context.Context, p *pass[M], r *old, most int) error {
	before, text, after := r.most, r.instead.Text, r.after
	r.most = max(most, 1)
	if before == 0 {
		if err := p.place(ctx, r); err != nil {
			return err
		}
	}
	if !p.word(r) || r.path != "" && !notice.Showable(r.path) {
		r.most, r.instead.Text, r.after = before, text, after
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
		p.policy.report(ctx, r.Call.Name, r.Call.ID, r.sizes(o))
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
func refer[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], count size.Size) (*adk.TypedChatModelAgentState[M], size.Size, error) {
	from := 0
	if m.policy.runOf(ctx).referred.Swap(true) {
		from = rounds.Newest(state.Messages)
	}
	if !mayRepeat(state.Messages, from) {
		return state, count, nil
	}
	window := m.window(ctx)
	clears := count.Tokens >= m.cfg.MaxTokensForClear || window > 0 && count.Tokens > window
	p := newPass(ctx, m, state, size.Size{})
	p.policy.files.Note(ctx, namedFiles(p.cfg, p.msgs))
	for _, r := range repeats(ctx, p, from, clears) {
		if err := p.place(ctx, r); err != nil {
			return nil, count, err
		}
		if p.word(r) && notice.Showable(r.path) {
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
	all := rounds.Of(p.msgs)
	_, kept := rounds.Outside(all, p.cfg.ClearRetentionSuffixLimit)
	first := make(map[uint64]*rounds.Pair)
	for _, each := range inOrder(all) {
		size := each.Result.Size()
		if size < minRepeat || each.Result.Search {
			continue
		}
		key := keyOf(each.Result.Texts...)
		earlier, found := first[key]
		if !found || clears && earlier.At < kept && each.At >= kept {
			first[key] = each
			continue
		}
		rule := p.ruleOf(ctx, each.Call)
		if each.At < from || rule.leave != "" || rule.clear != nil || rule.store == nil || !slices.Equal(earlier.Result.Texts, each.Result.Texts) {
			continue
		}
		r := &old{Pair: each, rule: rule, size: size, marked: true, like: callName(earlier.Call)}
		if r.notice = notice.In(each.Result.Texts); !r.notice.Cleared() {
			r.instead.Index = each.Result.Index
			out = append(out, r)
		}
	}
	return out
}

// inOrder lists the calls that have a result, in the order of their results.
func inOrder(all []rounds.Round) (out []*rounds.Pair) {
	for _, r := range all {
		for i := range r.Pairs {
			if r.Pairs[i].Found {
				out = append(out, &r.Pairs[i])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *rounds.Pair) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Result.Index, b.Result.Index))
	})
	return out
}

// callName names a call for the model, which knows the ids of most.
func callName(c rounds.Call) string {
	short := func(s string) bool { return len(s) <= maxCallName && notice.Showable(s) }
	switch {
	case !short(c.Name):
		return "a call"
	case !short(c.ID):
		return c.Name
	}
	return fmt.Sprintf("%s (%s)", c.Name, c.ID)
}

// rewritten returns the messages with the rounds outside the kept ones changed by the user's
// rewriter, and whether anything is new. It skips rounds that were rewritten or cleared
// before.
func rewritten[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M) ([]M, bool, error) {
	rounds, end := rounds.Outside(rounds.Of(msgs), m.cfg.ClearRetentionSuffixLimit)
	instead := make(map[int][]M, len(rounds))
	gone := make(map[int]bool)
	for _, r := range rounds {
		if r.Processed || !alone(msgs, r, end) {
			continue
		}
		got, err := rewrite(ctx, m, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.At] = got
		gone[r.At] = true
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
	return untied(out, from), true, nil
}

// alone reports whether the messages with a round's results hold results of no other
// round, and none of them is kept: then the round can be taken out.
func alone[M adk.MessageType](msgs []M, r rounds.Round, end int) bool {
	results := 0
	for _, i := range r.Messages() {
		if i >= end {
			return false
		}
		results += len(rounds.ViewOf(msgs[i], rounds.View{}).Results)
	}
	for _, p := range r.Pairs {
		if p.Found {
			results--
		}
	}
	return results == 0
}

func isResult(p message.Part) bool { return p.Kind == message.Result }

// rewrite calls the rewriter for a round. It never sees its own output again.
func rewrite[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M, r rounds.Round) ([]M, error) {
	var responses []M
	for _, i := range r.Messages() {
		responses = append(responses, own(message.Without(msgs[i], func(p message.Part) bool { return !isResult(p) }, "")))
	}
	got, err := m.cfg.ClearMessageRewriter(ctx, own(msgs[r.At]), responses)
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
