// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What else becomes shorter before a model call: the results of one round, a request that would not fit the
// model's window, and results that the model already sees. All are passes with another aim: what is too long
// is not taken out, but made level with the others.

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
func fitRounds[M adk.MessageType](ctx context.Context, of *policy[M], state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	budget := int(of.window(ctx) / roundShare)
	if budget == 0 {
		return state, nil
	}
	from := 0
	if of.runOf(ctx).fitted.Swap(true) {
		from = rounds.Newest(state.Messages) - 1
	}
	if !mayExceed(state.Messages[max(from, 0):], budget/maxDensity) {
		return state, nil
	}
	f := newFitting(ctx, of, state)
	for _, r := range rounds.Of(state.Messages) {
		if r.At < from {
			continue
		}
		is, fixed := f.list(ctx, r, false)
		fixed += f.referToFirst(is, budget/2)
		if err := f.level(ctx, is, budget-fixed); err != nil {
			return nil, err
		}
	}
	return f.made(ctx, einolean.KindResultCut, byRound), nil
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
func within[M adk.MessageType](ctx context.Context, of *policy[M], state *adk.TypedChatModelAgentState[M], window int64) (*adk.TypedChatModelAgentState[M], error) {
	is, err := of.size(ctx, state, true)
	if err != nil || is.Tokens <= window {
		return state, err
	}
	given, before := state, is
	p := newPass(ctx, of, state, is)
	p.forced = true
	if state, err = p.cleared(ctx); err != nil {
		return nil, err
	}
	if state != given {
		if is, err = of.size(ctx, state, true); err != nil {
			return nil, err
		}
	}
	for s := 0; s < stages && is.Tokens > window; s++ {
		next, err := shorter(ctx, of, state, s, int(float64(is.Tokens-window)/is.Factor)+1)
		if err != nil {
			return nil, err
		}
		if next == state {
			continue
		}
		state = next
		if is, err = of.size(ctx, state, true); err != nil {
			return nil, err
		}
	}
	if state != given {
		of.runOf(ctx).sizes.Edited(len(state.Messages))
	}
	of.send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &einolean.Pass{Before: before.Tokens, After: is.Tokens, Threshold: window}})
	return state, nil
}

// shorter returns a state that is over tokens shorter, if a stage can do that.
func shorter[M adk.MessageType](ctx context.Context, of *policy[M], state *adk.TypedChatModelAgentState[M], s int, over int) (*adk.TypedChatModelAgentState[M], error) {
	f := newFitting(ctx, of, state)
	in := rounds.Of(state.Messages)
	var all []decision
	sum := 0
	for _, r := range in {
		is, _ := f.list(ctx, r, s >= pages)
		for _, each := range is {
			sum += each.tokens
		}
		all = append(all, is...)
	}
	end := len(state.Messages)
	switch {
	case s == everything:
		over = math.MaxInt / 2
	case s == larger:
		over *= 2
	case s == oldestMedia && len(in) > 0:
		end = in[len(in)-1].At
	}
	all = append(all, f.sent(end)...)
	slices.SortStableFunc(all, func(a, b decision) int { return a.At - b.At })
	if s != largest && s != larger {
		over -= f.referToOldest(all, end, over)
	}
	budget := math.MaxInt
	if s > oldestMedia {
		over -= f.referToArguments(all)
		budget = sum - max(over, 0)
	}
	if err := f.level(ctx, all, budget); err != nil {
		return nil, err
	}
	return f.made(ctx, einolean.KindResultCut, byWindow), nil
}

// fitting is a pass that makes results shorter, wherever they stand.
type fitting[M adk.MessageType] struct{ *pass[M] }

func newFitting[M adk.MessageType](ctx context.Context, of *policy[M], state *adk.TypedChatModelAgentState[M]) fitting[M] {
	p := newPass(ctx, of, state, size.Size{})
	p.files.Note(ctx, p.namedFiles(p.msgs))
	return fitting[M]{p}
}

// list lists the results of a round that may become shorter, or whose media may become references, to stay
// as they are at first, and returns the tokens of the others. A page that is alone in its round is included
// only in the last stages: the model asked for just that.
func (f fitting[M]) list(ctx context.Context, of rounds.Round, everything bool) (out []decision, fixed int) {
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
		r := resultOf(of, each, f.ruleOf(ctx, each.Call))
		for _, text := range r.Result.Texts {
			r.tokens += tokens.Of(text)
		}
		for _, text := range r.Result.Moved {
			fixed += tokens.Of(text)
		}
		if f.mustStay(ctx, &r) || r.rule.reads && found == 1 && !everything {
			fixed += r.tokens
			continue
		}
		own := r.rule.byDefault()
		r.rule = &own
		r.media = f.oldMedia(&r)
		out = append(out, decision{result: &r, keep: true})
	}
	return out, fixed
}

// mustStay reports whether the configuration keeps a result as it is.
func (f fitting[M]) mustStay(ctx context.Context, r *result) bool {
	cut := f.truncation(ctx, r.Call.Name)
	if excludesThrough(f.TruncExcludeTools, r.Call.Name, r.Call.Args) {
		return true
	}
	return r.rule.leave != "" || r.rule.store == nil || cut.leave == ReasonExcluded || cut.leave == ReasonSkipped && !f.SkipTruncation
}

// sent lists the user's messages with media before an index.
func (f fitting[M]) sent(end int) (out []decision) {
	for i := range f.msgs[:end] {
		r := result{Pair: &rounds.Pair{At: i, Result: rounds.Result{Index: -1}}, callAt: i, rule: &rule{store: f.general}}
		if r.media = f.oldMedia(&r); len(r.media) > 0 {
			out = append(out, decision{result: &r, keep: true})
		}
	}
	return out
}

// refer decides that the first n media of a result become references, and returns the tokens that this
// saves.
func (f fitting[M]) refer(to *decision, n int) (saved int) {
	to.media = f.attached(to.result.media[:n], to.rule.store)
	return mediaSaved(to.media)
}

// referToFirst decides that all media of a round's results become references but the last that fit in a
// budget, and returns the tokens of all of them then.
func (f fitting[M]) referToFirst(is []decision, budget int) (n int) {
	for i := range slices.Backward(is) {
		all := len(is[i].result.media)
		keep := min(all, max(0, budget/size.Medium))
		budget -= keep * size.Medium
		n += all*size.Medium - f.refer(&is[i], all-keep)
	}
	return n
}

// referToOldest decides that the oldest media in messages before end become references, until they save
// enough. It returns the tokens that they save.
func (f fitting[M]) referToOldest(is []decision, end int, over int) (saved int) {
	for i := range is {
		if is[i].At < end {
			saved += f.refer(&is[i], min(len(is[i].result.media), max(0, over-saved+mediaSaving-1)/mediaSaving))
		}
	}
	return saved
}

// referToArguments decides that the long values in the calls of results become references, and returns the
// tokens that this saves.
func (f fitting[M]) referToArguments(is []decision) (saved int) {
	for i := range is {
		each := &is[i]
		if each.values = f.longArguments(each.result); len(each.values) > 0 {
			each.mark = true
			saved += tokens.Of(each.Call.Args) - tokens.Of(withReferences(each.Call.Args, each.values))
		}
	}
	return saved
}

// maxRefits bounds how often sizes are levelled again because some results could not
// become as small as required.
const maxRefits = 16

// level shortens results to a total number of tokens, or to at least minShown bytes each, and takes what
// changes. The outcome is level: repeating it changes nothing.
func (f fitting[M]) level(ctx context.Context, is []decision, budget int) error {
	edits := make([]edit, len(is))
	var open []*edit
	for i := range is {
		edits[i], _ = f.edit(is[i])
		if e := &edits[i]; e.size > minShown && !e.notice.Cleared() {
			open = append(open, e)
		} else {
			budget -= e.tokens
		}
	}
	for range maxRefits {
		sizes := make([]int, len(open))
		for i, e := range open {
			sizes[i] = e.tokensLeft()
		}
		most, left := level(sizes, budget), open[:0:0]
		for _, e := range open {
			if err := f.shorten(ctx, e, most); err != nil {
				return err
			}
			if n := e.tokensLeft(); n > most {
				budget -= n
			} else {
				left = append(left, e)
			}
		}
		if len(left) == len(open) {
			break
		}
		open = left
	}
	for i := range edits {
		if edits[i].replaces() {
			f.done = append(f.done, edits[i])
		}
	}
	return nil
}

// shorten decides that a result of more than most tokens becomes shorter, if it can.
func (f fitting[M]) shorten(ctx context.Context, e *edit, most int) (err error) {
	if e.tokensLeft() <= most {
		return nil
	}
	is := e.decision
	if is.keep {
		if is.file, err = f.place(ctx, is.result, nil); err != nil {
			return err
		}
	}
	is.keep, is.most = false, max(most, 1)
	if next, ok := f.edit(is); ok && (is.file.path == "" || notice.Showable(is.file.path)) {
		*e = next
	}
	return nil
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

// made stores what the edits take out, reports them, and returns the state with them, which is the given one
// if there are none.
func (f fitting[M]) made(ctx context.Context, kind einolean.Kind, rule string) *adk.TypedChatModelAgentState[M] {
	f.saveAll(ctx)
	if len(f.done) == 0 {
		return f.given
	}
	for i := range f.done {
		e := &f.done[i]
		o := e.output()
		o.kind, o.rule = kind, rule
		f.report(ctx, e.Call.Name, e.Call.ID, o)
	}
	next := *f.given
	next.Messages = f.out()
	return &next
}

// minRepeat is the least size in bytes of a result that a reference may replace.
const minRepeat = 150

// maxCallName is the most bytes of a tool's name or a call's id that a reference shows.
const maxCallName = 64

// refer returns a state with references in place of new results that equal a visible one, and
// its size. Old results that are about to be cleared do not count as visible for those that are
// kept. Its error is that of a user's callback.
func refer[M adk.MessageType](ctx context.Context, of *policy[M], state *adk.TypedChatModelAgentState[M], is size.Size) (*adk.TypedChatModelAgentState[M], size.Size, error) {
	from := 0
	if of.runOf(ctx).referred.Swap(true) {
		from = rounds.Newest(state.Messages)
	}
	if !mayRepeat(state.Messages, from) {
		return state, is, nil
	}
	window := of.window(ctx)
	clears := is.Tokens >= of.MaxTokensForClear || window > 0 && is.Tokens > window
	f := newFitting(ctx, of, state)
	for _, each := range repeats(ctx, f.pass, from, clears) {
		var err error
		if each.file, err = f.place(ctx, each.result, f.generate); err != nil {
			return nil, is, err
		}
		if e, ok := f.edit(each); ok && notice.Showable(each.file.path) {
			f.done = append(f.done, e)
		}
	}
	out, err := f.made(ctx, einolean.KindResultReferred, byRepeat), error(nil)
	if clears && out != state {
		is, err = of.size(ctx, out, false)
	}
	return out, is, err
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
func repeats[M adk.MessageType](ctx context.Context, p *pass[M], from int, clears bool) (out []decision) {
	all := rounds.Of(p.msgs)
	_, kept := rounds.Outside(all, p.ClearRetentionSuffixLimit)
	first := make(map[uint64]*rounds.Pair)
	for _, at := range inOrder(all) {
		each := &all[at.round].Pairs[at.call]
		if each.Result.Size() < minRepeat || each.Result.Search {
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
		if r := resultOf(all[at.round], each, rule); !r.notice.Cleared() {
			out = append(out, decision{result: &r, like: callName(earlier.Call)})
		}
	}
	return out
}

// callIn is a call by the index of its round, and its own there.
type callIn struct{ round, call int }

// inOrder lists the calls that have a result, in the order of their results.
func inOrder(all []rounds.Round) (out []callIn) {
	for i, r := range all {
		for n := range r.Pairs {
			if r.Pairs[n].Found {
				out = append(out, callIn{i, n})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b callIn) int {
		one, other := &all[a.round].Pairs[a.call], &all[b.round].Pairs[b.call]
		return cmp.Or(cmp.Compare(one.At, other.At), cmp.Compare(one.Result.Index, other.Result.Index))
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
