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
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

const (
	// roundShare is the share of the window that the results of one round may take: a
	// quarter. Media may take half of that.
	roundShare = 4

	// maxDensity is more than the most tokens in a byte.
	maxTokensPerByte = 2
)

// fitRounds returns a state in which the results of each new round keep within their
// share of the window, the largest cut first. It considers the round alone, to decide the
// same whenever it is called.
func fitRounds[M adk.MessageType](ctx context.Context, of *settings[M], state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	budget := int(of.window(ctx) / roundShare)
	if budget == 0 {
		return state, nil
	}
	run, _ := of.runOf(ctx)
	from := 0
	if run.fitsRounds.Swap(true) {
		from = rounds.NewestResultsIndex(state.Messages) - 1
	}
	if !mayExceed(state.Messages[max(from, 0):], budget/maxTokensPerByte) {
		return state, nil
	}
	f := newFitPass(ctx, of, state)
	for _, r := range rounds.Split(state.Messages) {
		if r.MessageIndex < from {
			continue
		}
		is, fixed := f.plansOf(r, false)
		fixed += f.ReferToFirst(is, budget/2)
		if err := f.shortenToBudget(ctx, is, budget-fixed); err != nil {
			return nil, err
		}
	}
	return f.commit(ctx, einolean.KindResultCut, report.ByRound), nil
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
			sum += len(rounds.Media(m)) * tokencount.MediaTokens
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
	stageOldestMedia  = iota // of all rounds but the newest, the oldest first
	stageLargest             // results, and long arguments
	stageLargestAgain        // the same again, for a counter that counts differently
	stagePages               // pages of the read tool too, and media of the newest round
	stageEverything          // everything that can be shortened
	stageCount
)

// within returns a state that fits a window, if possible. It first clears everything
// old, then shortens the rest.
func fitWindow[M adk.MessageType](ctx context.Context, of *settings[M], state *adk.TypedChatModelAgentState[M], window int64) (*adk.TypedChatModelAgentState[M], error) {
	is, err := of.size(ctx, state, true)
	if err != nil || is.Tokens <= window {
		return state, err
	}
	given, before := state, is
	p := newClearPass(ctx, of, state, is)
	p.mustFit = true
	if state, err = p.apply(ctx); err != nil {
		return nil, err
	}
	if state != given {
		if is, err = of.size(ctx, state, true); err != nil {
			return nil, err
		}
	}
	for s := 0; s < stageCount && is.Tokens > window; s++ {
		next, err := applyStage(ctx, of, state, s, int(float64(is.Tokens-window)/is.Factor)+1)
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
		run, _ := of.runOf(ctx)
		run.sizes.Invalidate(len(state.Messages))
	}
	of.reporter.Send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &einolean.Pass{Before: before.Tokens, After: is.Tokens, Threshold: window}})
	return state, nil
}

// shorter returns a state that is over tokens shorter, if a stage can do that.
func applyStage[M adk.MessageType](ctx context.Context, of *settings[M], state *adk.TypedChatModelAgentState[M], s int, over int) (*adk.TypedChatModelAgentState[M], error) {
	f := newFitPass(ctx, of, state)
	in := rounds.Split(state.Messages)
	var all []clearing.Plan
	sum := 0
	for _, r := range in {
		is, _ := f.plansOf(r, s >= stagePages)
		for _, each := range is {
			sum += each.Tokens
		}
		all = append(all, is...)
	}
	end := len(state.Messages)
	switch {
	case s == stageEverything:
		over = math.MaxInt / 2
	case s == stageLargestAgain:
		over *= 2
	case s == stageOldestMedia && len(in) > 0:
		end = in[len(in)-1].MessageIndex
	}
	all = append(all, f.userMedia(end)...)
	slices.SortStableFunc(all, func(a, b clearing.Plan) int { return a.MessageIndex - b.MessageIndex })
	if s != stageLargest && s != stageLargestAgain {
		over -= f.ReferToOldest(all, end, over)
	}
	budget := math.MaxInt
	if s > stageOldestMedia {
		over -= f.ReferToArguments(all)
		budget = sum - max(over, 0)
	}
	if err := f.shortenToBudget(ctx, all, budget); err != nil {
		return nil, err
	}
	return f.commit(ctx, einolean.KindResultCut, report.ByWindow), nil
}

// fitting is a pass that makes results shorter, wherever they stand.
type fitPass[M adk.MessageType] struct {
	*clearPass[M]
	clearing.BudgetFitter
}

func newFitPass[M adk.MessageType](ctx context.Context, of *settings[M], state *adk.TypedChatModelAgentState[M]) fitPass[M] {
	p := newClearPass(ctx, of, state, tokencount.Size{})
	p.Files.ReservePaths(ctx, p.noticeFiles(p.msgs))
	return fitPass[M]{p, clearing.BudgetFitter{Decider: p.Decider}}
}

// list lists the results of a round that may become shorter, or whose media may become references, to stay
// as they are at first, and returns the tokens of the others. A page that is alone in its round is included
// only in the last stages: the model asked for just that.
func (f fitPass[M]) plansOf(of rounds.Round, everything bool) (out []clearing.Plan, fixed int) {
	found := 0
	for _, each := range of.Pairs {
		if each.HasResult {
			found++
		}
	}
	for i := range of.Pairs {
		each := &of.Pairs[i]
		if !each.HasResult || each.Result.IsToolSearch {
			continue
		}
		r := clearing.NewCandidate(of, each, f.policyFor(each.Call))
		for _, text := range r.Texts {
			r.Tokens += tokens.Of(text)
		}
		for _, text := range r.Result.MediaRefs {
			fixed += tokens.Of(text)
		}
		if f.mustStay(&r) || r.Policy.IsReadTool && found == 1 && !everything {
			fixed += r.Tokens
			continue
		}
		r.Policy = r.Policy.ByDefault()
		if f.window > 0 {
			r.Media = f.replaceableMedia(&r)
		}
		out = append(out, clearing.KeepPlan(&r))
	}
	return out, fixed
}

// mustStay reports whether the configuration keeps a result as it is.
func (f fitPass[M]) mustStay(r *clearing.Candidate) bool {
	name := r.Call.Name
	cut := f.policies.ForTruncation(name, r.Call.Args, r.Policy.IsReadTool)
	return r.Policy.SkipReason != "" || r.Policy.Store == nil || cut.SkipReason == toolpolicy.Excluded || cut.SkipReason == toolpolicy.Skipped && !f.SkipTruncation
}

// sent lists the user's messages with media before an index.
func (f fitPass[M]) userMedia(end int) (out []clearing.Plan) {
	if f.window == 0 {
		return nil
	}
	for i := range f.msgs[:end] {
		r := clearing.NewUserMedia(i, f.policies.Store)
		if r.Media = f.replaceableMedia(&r); len(r.Media) > 0 {
			out = append(out, clearing.KeepPlan(&r))
		}
	}
	return out
}

// level makes results level, and takes what changes.
func (f fitPass[M]) shortenToBudget(ctx context.Context, is []clearing.Plan, budget int) error {
	edits, err := f.ShortenToBudget(ctx, is, budget)
	f.changes = append(f.changes, edits...)
	return err
}

// made stores what the edits take out, reports them, and returns the state with them, which is the given one
// if there are none.
func (f fitPass[M]) commit(ctx context.Context, kind einolean.Kind, rule string) *adk.TypedChatModelAgentState[M] {
	f.changes, _, _ = f.Save(ctx, f.changes)
	if len(f.changes) == 0 {
		return f.input
	}
	for i := range f.changes {
		e := &f.changes[i]
		o := e.Outcome()
		o.Kind, o.Rule = kind, rule
		f.reporter.Result(ctx, e.Call.Name, e.Call.ID, o)
	}
	next := *f.input
	next.Messages = f.messages()
	return &next
}

// minRepeat is the least size in bytes of a result that a reference may replace.
const minDuplicateBytes = 150

// maxCallName is the most bytes of a tool's name or a call's id that a reference shows.
const maxShownName = 64

// refer returns a state with references in place of new results that equal a visible one, and
// its size. Old results that are about to be cleared do not count as visible for those that are
// kept. Its error is that of a user's callback.
func dedupe[M adk.MessageType](ctx context.Context, of *settings[M], state *adk.TypedChatModelAgentState[M], is tokencount.Size) (*adk.TypedChatModelAgentState[M], tokencount.Size, error) {
	run, _ := of.runOf(ctx)
	from := 0
	if run.searchedDuplicates.Swap(true) {
		from = rounds.NewestResultsIndex(state.Messages)
	}
	if !mayHaveDuplicates(state.Messages, from) {
		return state, is, nil
	}
	window := of.window(ctx)
	clears := is.Tokens >= of.MaxTokensForClear || window > 0 && is.Tokens > window
	f := newFitPass(ctx, of, state)
	for _, each := range findDuplicates(f.clearPass, from, clears) {
		e, ok, err := f.DecideDuplicate(ctx, each.result, each.earlierCall)
		if err != nil {
			return nil, is, err
		}
		if ok {
			f.changes = append(f.changes, e)
		}
	}
	out, err := f.commit(ctx, einolean.KindResultReferred, report.ByRepeat), error(nil)
	if clears && out != state {
		is, err = of.size(ctx, out, false)
	}
	return out, is, err
}

// mayRepeat reports whether a result from an index on has the size of an earlier one. It
// allocates nothing for the few of a newest round.
func mayHaveDuplicates[M adk.MessageType](msgs []M, from int) bool {
	if from == 0 {
		return true
	}
	for at, size := range resultSizes(msgs[from:]) {
		if at[0] += from; size < minDuplicateBytes {
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

// repeat is a result that equals an earlier, visible one.
type duplicate struct {
	result      *clearing.Candidate
	earlierCall string // the call of that
}

// repeats lists the results from an index on that equal an earlier, visible one.
func findDuplicates[M adk.MessageType](p *clearPass[M], from int, clears bool) (out []duplicate) {
	all := rounds.Split(p.msgs)
	_, kept := rounds.SplitRetained(all, p.ClearRetentionSuffixLimit)
	first := make(map[uint64]*rounds.Pair)
	for _, at := range callsInResultOrder(all) {
		each := &all[at.round].Pairs[at.call]
		if each.Result.Size() < minDuplicateBytes || each.Result.IsToolSearch {
			continue
		}
		key := report.KeyOf(each.Result.Texts...)
		earlier, found := first[key]
		if !found || clears && earlier.MessageIndex < kept && each.MessageIndex >= kept {
			first[key] = each
			continue
		}
		rule := p.policyFor(each.Call)
		if each.MessageIndex < from || !rule.MayReplaceParts() || !slices.Equal(earlier.Result.Texts, each.Result.Texts) {
			continue
		}
		if r := clearing.NewCandidate(all[at.round], each, rule); !r.Notice.IsPlaceholder() {
			out = append(out, duplicate{&r, describeCall(earlier.Call)})
		}
	}
	return out
}

// callIn is a call by the index of its round, and its own there.
type callPosition struct{ round, call int }

// inOrder lists the calls that have a result, in the order of their results.
func callsInResultOrder(all []rounds.Round) (out []callPosition) {
	for i, r := range all {
		for n := range r.Pairs {
			if r.Pairs[n].HasResult {
				out = append(out, callPosition{i, n})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b callPosition) int {
		one, other := &all[a.round].Pairs[a.call], &all[b.round].Pairs[b.call]
		return cmp.Or(cmp.Compare(one.MessageIndex, other.MessageIndex), cmp.Compare(one.Result.Index, other.Result.Index))
	})
	return out
}

// callName names a call for the model, which knows the ids of most.
func describeCall(c rounds.Call) string {
	short := func(s string) bool { return len(s) <= maxShownName && notice.Showable(s) }
	switch {
	case !short(c.Name):
		return "a call"
	case !short(c.ID):
		return c.Name
	}
	return fmt.Sprintf("%s (%s)", c.Name, c.ID)
}
