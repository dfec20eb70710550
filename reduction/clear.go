// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Clears old results before a model call: lists them, decides about each, stores what will be
// gone, and makes new messages. The given messages never change, and on any failure they stay
// in use.

import (
	"context"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// maxRecounts is how often the messages are counted again on the way to
// ClearTargetTokens, for a counter whose sums do not add up.
const maxRecounts = 8

// pass is one pass over a history: what can be cleared, what becomes of it, and whether that is
// worth it.
type clearPass[M adk.MessageType] struct {
	*settings[M]
	*clearing.Saver
	input        *adk.TypedChatModelAgentState[M]
	inputSize    tokencount.Size // of that
	countedAfter int64           // of what it becomes; negative if that was not counted
	mustFit      bool            // the window requires clearing everything old
	window       int64           // the model's window; zero if that is unknown
	hasReadTool  bool            // what has the read tool's name is one

	msgs        []M               // those of the state, or what a rewriter has made of them
	isRewritten bool              // by that
	changes     []clearing.Change // the oldest first

	tally einolean.Pass // of the results, if there is an OnEvent
}

// newPass begins a pass over a state of a known size.
func newClearPass[M adk.MessageType](ctx context.Context, of *settings[M], state *adk.TypedChatModelAgentState[M], before tokencount.Size) *clearPass[M] {
	p := &clearPass[M]{settings: of, input: state, inputSize: before, countedAfter: -1, window: of.window(ctx), hasReadTool: of.reader.IsReadTool(ctx, of.ReadFileToolName), msgs: state.Messages}
	d := of.decider
	if of.GenClearOffloadFilePath != nil {
		d.GeneratePath = func(ctx context.Context, r *clearing.Candidate) (string, error) {
			return of.GenClearOffloadFilePath(ctx, p.detail(r))
		}
	}
	d.Handler = func(ctx context.Context, r *clearing.Candidate) (clearing.Answer, error) {
		return of.askClear(ctx, p.detail(r))
	}
	reader, _ := of.reader.Of(ctx)
	p.Saver = &clearing.Saver{Decider: d.ForRun(reader), Files: of.files, OnFailure: func(ctx context.Context, r *clearing.Candidate, err error) {
		of.reporter.Result(ctx, r.Call.Name, r.Call.ID, report.Outcome{Kind: einolean.KindStoreFailed, Before: r.Size, After: r.Size, Err: err})
	}}
	return p
}

// detail is a result for a user's callback, which may write to it.
func (p *clearPass[M]) detail(r *clearing.Candidate) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: r.Call.Name, CallID: r.Call.ID},
		ToolArgument: &schema.ToolArgument{Text: r.Call.Args},
		ToolResult:   rounds.DeepCopy(rounds.ResultAt(p.msgs[r.MessageIndex], r.Result.Index)),
	}
}

// cleared returns the state that the pass makes.
func (p *clearPass[M]) apply(ctx context.Context) (*adk.TypedChatModelAgentState[M], error) {
	changed, err := p.decideAndStore(ctx)
	if err != nil {
		return nil, err
	}
	if !changed {
		p.emit(ctx, nil)
		return p.input, nil
	}
	next := *p.input
	next.Messages = p.messages()
	p.emit(ctx, next.Messages)
	return &next, nil
}

// run decides and stores content, and reports whether anything changes.
func (p *clearPass[M]) decideAndStore(ctx context.Context) (changed bool, err error) {
	results := p.candidates(ctx)
	if p.ClearMessageRewriter != nil && !p.SkipClear {
		if p.msgs, p.isRewritten, err = rewriteRounds(ctx, p.ClearMessageRewriter, p.msgs, p.ClearRetentionSuffixLimit); err != nil {
			return false, err
		}
	}
	if p.isRewritten {
		p.tally = einolean.Pass{} // of these, not of those that were listed before
		results = p.candidates(ctx)
	}
	if !p.isRewritten && (len(results) == 0 || p.ClearAtLeastTokens > 0 && p.cannotSaveEnough(results)) {
		p.countSkipped(toolpolicy.TooFewTokens, len(results))
		return false, nil
	}
	p.Files.ReservePaths(ctx, p.noticeFiles(p.msgs))
	if err := p.decideAll(ctx, results); err != nil {
		return false, err
	}
	if len(p.changes) > 1 {
		p.trimForPromptCache(ctx)
	}
	if ok, err := p.isWorthIt(ctx); !ok {
		return false, err
	}
	done, lost, differs := p.Save(ctx, p.changes)
	if lost > 0 {
		p.countSkipped(toolpolicy.NotStored, lost)
	}
	if p.changes = done; differs {
		return p.isWorthIt(ctx)
	}
	return true, nil
}

// list lists the results that may be cleared, the oldest first.
func (p *clearPass[M]) candidates(ctx context.Context) []*clearing.Candidate {
	before, end := rounds.SplitRetained(rounds.Split(p.msgs), p.ClearRetentionSuffixLimit)
	n := 0
	for _, r := range before {
		n += len(r.Pairs)
	}
	all, out := make([]clearing.Candidate, 0, n), make([]*clearing.Candidate, 0, n)
	for _, r := range before {
		for i := range r.Pairs {
			if each := &r.Pairs[i]; each.HasResult && each.MessageIndex < end && !each.Result.IsToolSearch {
				all = append(all, clearing.NewCandidate(r, each, p.policyFor(each.Call)))
				if c := &all[len(all)-1]; p.isCandidate(c, r) {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *clearing.Candidate) int { return a.MessageIndex - b.MessageIndex })
	return out
}

// ruleOf is the rule for the old result of a call.
func (p *clearPass[M]) policyFor(c rounds.Call) toolpolicy.ToolPolicy {
	return p.policies.ForClearing(c.Name, c.Args, p.hasReadTool && c.Name == p.ReadFileToolName)
}

// isCandidate reports whether a result of a round may be cleared, and completes what is known of it.
func (p *clearPass[M]) isCandidate(r *clearing.Candidate, of rounds.Round) bool {
	if p.window > 0 {
		r.Media = p.replaceableMedia(r)
	}
	refers := p.Complete(r)
	if of.Processed {
		r.Notice = notice.InMarked(r.Texts)
	}
	switch {
	case r.Notice.IsPlaceholder() && !refers:
		return false
	case r.Policy.HasHandler && (r.Result.ReplacedByHandler || of.Processed && !of.Ours):
		return false
	case r.Policy.SkipReason != "":
		p.countSkipped(r.Policy.SkipReason, 1)
		return false
	}
	return true
}

func (p *clearPass[M]) replaceableMedia(r *clearing.Candidate) (out []*rounds.Medium) {
	if !r.Policy.MayReplaceParts() {
		return nil
	}
	for _, m := range rounds.Media(p.msgs[r.MessageIndex]) {
		if m.Result == r.Result.Index {
			out = append(out, m)
		}
	}
	return out
}

// decideAll decides about results, the oldest first, until the target is reached.
func (p *clearPass[M]) decideAll(ctx context.Context, results []*clearing.Candidate) (err error) {
	target, left := p.ClearTargetTokens, int64(math.MaxInt64)
	if target > 0 {
		left = p.tokensBefore(ctx)
	}
	if target > 0 && p.isRewritten {
		if left, err = p.countTokens(ctx, p.msgs); err != nil {
			return err
		}
	}
	recounts := 0
	p.changes = make([]clearing.Change, 0, len(results))
	for _, r := range results {
		if !p.mustFit && target > 0 && left < target && recounts < maxRecounts {
			if left, err = p.countTokens(ctx, p.messages()); err != nil || left < target {
				return err
			}
			recounts++
		}
		saved, err := p.decideOne(ctx, r)
		if err != nil {
			return err
		}
		left -= saved
	}
	return nil
}

// decideOne decides about one result and returns the tokens that this saves, if they count
// towards a target.
func (p *clearPass[M]) decideOne(ctx context.Context, r *clearing.Candidate) (saved int64, err error) {
	e, why, err := p.Decide(ctx, r)
	if err != nil {
		return 0, err
	}
	if why != "" {
		p.countSkipped(why, 1)
	}
	if why != "" && !e.MarksResult() {
		return 0, nil
	}
	if p.changes = append(p.changes, e); p.ClearTargetTokens == 0 {
		return 0, nil
	}
	var result, call rounds.Edit
	e.AddTo(&result, &call)
	is := []M{p.msgs[e.MessageIndex], p.msgs[e.CallMessageIndex]}
	before, err := p.TokenCounter(ctx, is, nil)
	if err != nil {
		return 0, err
	}
	after, err := p.TokenCounter(ctx, []M{rounds.Apply(is[0], result), rounds.Apply(is[1], call)}, nil)
	return p.correct(before - after), err
}

// cannotSaveEnough reports whether even clearing everything cannot save
// ClearAtLeastTokens. It knows only with the default counter and without a handler.
func (p *clearPass[M]) cannotSaveEnough(results []*clearing.Candidate) bool {
	if p.estimator == nil || p.mustFit {
		return false
	}
	var most int64
	for _, each := range results {
		if each.Policy.HasHandler || p.correct(most)+1 >= p.ClearAtLeastTokens {
			return false
		}
		most += each.MaxSaving()
	}
	return p.correct(most)+1 < p.ClearAtLeastTokens
}

// worthIt reports whether there are changes and they save enough. It counts only what decides.
func (p *clearPass[M]) isWorthIt(ctx context.Context) (bool, error) {
	if len(p.changes) == 0 && !p.isRewritten {
		return false, nil
	}
	f := clearing.CostEstimate{
		Threshold: p.MaxTokensForClear, Target: p.ClearTargetTokens, MinSaving: p.ClearAtLeastTokens,
		MustFit: p.mustFit, UserDecided: p.isRewritten, TokensBefore: -1, TokensAfter: -1,
	}.WithChanges(p.changes, p.requestStats(ctx))
	said := f.Verdict()
	for ; said == clearing.NeedsCount; said = f.Verdict() {
		if f.TokensBefore < 0 {
			f.TokensBefore = p.tokensBefore(ctx)
			continue
		}
		after, err := p.countTokens(ctx, p.messages())
		if err != nil {
			return false, err
		}
		f.TokensAfter, p.countedAfter = after, after
	}
	if said == clearing.Defer {
		p.countDeferred(p.changes)
	}
	return said == clearing.Apply, nil
}

// prompt is the request in numbers.
func (p *clearPass[M]) requestStats(ctx context.Context) clearing.RequestStats {
	return clearing.RequestStats{
		Messages:  len(p.msgs),
		Roughly:   func(from, to int) int64 { return tokencount.Roughly(p.msgs[from:to]) },
		Before:    func() int64 { return p.tokensBefore(ctx) },
		Corrected: p.correct,
	}
}

// spareNewest takes the newest results out of a pass, if clearing them saves next to nothing of what it
// rewrites. The fields that say how much to save decide for themselves.
func (p *clearPass[M]) trimForPromptCache(ctx context.Context) {
	if p.mustFit || p.isRewritten || p.ClearTargetTokens > 0 || p.ClearAtLeastTokens > 0 {
		return
	}
	n := clearing.TrimForPromptCache(p.changes, p.requestStats(ctx), p.MaxTokensForClear)
	p.countDeferred(p.changes[n:])
	p.changes = p.changes[:n]
}

// out returns the messages with all changes, in copies.
func (p *clearPass[M]) messages() []M {
	out, edits := slices.Clone(p.msgs), make([]rounds.Edit, len(p.msgs))
	for i := range p.changes {
		e := &p.changes[i]
		e.AddTo(&edits[e.MessageIndex], &edits[e.CallMessageIndex])
	}
	for i := range edits {
		if e := &edits[i]; e.Mark || e.Args != nil || e.Results != nil || e.Media != nil {
			out[i] = rounds.Apply(out[i], *e)
		}
	}
	return out
}

// tell reports results replaced for the first time, and the pass, of which out are the messages;
// nil if nothing changes. Whether an earlier run replaced a result is known from the store or
// else from earlier reports of this middleware.
func (p *clearPass[M]) emit(ctx context.Context, out []M) {
	if p.OnEvent == nil {
		return
	}
	after := p.tokensBefore(ctx)
	if out != nil {
		for i := range p.changes {
			if e := &p.changes[i]; e.Replaces() {
				p.emitCleared(ctx, e)
			}
		}
		after = p.tokensAfter(ctx, out)
	}
	pass := p.tally
	pass.Before, pass.After, pass.Threshold, pass.Target = p.tokensBefore(ctx), after, p.MaxTokensForClear, p.ClearTargetTokens
	p.reporter.Send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &pass})
}

func (p *clearPass[M]) emitCleared(ctx context.Context, e *clearing.Change) {
	p.tally.Looked++
	if !e.FirstTime(&p.clearedKeys) {
		p.tally.Repeated++
		return
	}
	p.tally.Cleared++
	o := e.Outcome()
	o.Kind, o.Rule = einolean.KindResultCleared, report.ByThreshold
	if e.Policy.HasHandler {
		o.Rule = report.ByHandler
	}
	p.reporter.Result(ctx, e.Call.Name, e.Call.ID, o)
}

func (p *clearPass[M]) countSkipped(why toolpolicy.Reason, n int) {
	if p.OnEvent == nil || n == 0 {
		return
	}
	if p.tally.Kept == nil {
		p.tally.Kept = make(map[string]int)
	}
	p.tally.Looked += n
	p.tally.Kept[string(why)] += n
}

// countLeft counts results that stay because the pass would save too little.
func (p *clearPass[M]) countDeferred(edits []clearing.Change) {
	for i := range edits {
		if edits[i].Replaces() {
			p.countSkipped(toolpolicy.TooFewTokens, 1)
		}
	}
}

// sizeBefore is how many tokens the messages had before the pass.
func (p *clearPass[M]) tokensBefore(ctx context.Context) int64 {
	if !p.inputSize.Exact { // the user's counter always is
		p.inputSize, _ = p.size(ctx, p.input, true)
	}
	return p.inputSize.Tokens
}

func (p *clearPass[M]) countTokens(ctx context.Context, msgs []M) (int64, error) {
	n, err := p.TokenCounter(ctx, msgs, p.input.ToolInfos)
	return p.correct(n), err
}

// sizeAfter is how many tokens the messages have after the pass. If the user's counter has not counted them,
// it subtracts the default estimate of the savings.
func (p *clearPass[M]) tokensAfter(ctx context.Context, out []M) int64 {
	if p.countedAfter >= 0 {
		return p.countedAfter
	}
	if p.estimator != nil {
		n, _ := p.countTokens(ctx, out) // it never fails
		return n
	}
	e := new(tokencount.Estimator[M])
	return max(0, p.inputSize.Tokens-e.Count(p.input.Messages, nil)+e.Count(out, nil))
}

// corrected is an estimate as the provider would count.
func (p *clearPass[M]) correct(n int64) int64 { return int64(float64(n) * p.inputSize.Factor) }
