// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Clears old results before a model call: lists the candidates, decides about each, stores the content that
// leaves the prompt, and makes new messages. After any failure the given messages stay in use.

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// maxRecounts is how often the messages are counted again on the way to ClearTargetTokens, for a counter whose
// sums do not add up.
const maxRecounts = 8

// clearPass clears old results, if that is worth it.
type clearPass[M adk.MessageType] struct {
	pass          *pass[M]
	turn          turn // of the user, to which the request belongs
	inputSize     tokencount.Size
	threshold     int64   // tokens
	countedAfter  int64   // tokens after the pass; negative: not counted
	messageTokens []int64 // of the messages, at four bytes a token; nil: not estimated yet
	mustFit       bool    // the window requires clearing everything old
	candidates    []*clearing.Candidate
	firstInUse    int           // the first message with a call whose result the model is working on
	isRewritten   bool          // the user's rewriter has changed the messages
	tally         einolean.Pass // counts the results for OnEvent
	repeated      einolean.Pass // what the passes of earlier runs, made again before, have cleared

	// Only of a pass that repeats one of an earlier run:
	sizes       *tokencount.Growing[M]  // of the messages
	uncorrected int64                   // tokens of the request, without the correction by reports
	firstRound  int                     // the rounds before it have nothing to clear
	settled     map[resultPosition]bool // results that stay as they are in later passes as well
}

// newClearPass begins a pass over a state of a known size.
func newClearPass[M adk.MessageType](p *pass[M], size tokencount.Size, threshold int64, t turn) *clearPass[M] {
	return &clearPass[M]{
		pass: p, inputSize: size, threshold: threshold, countedAfter: -1, turn: t, firstInUse: math.MaxInt,
	}
}

func (c *clearPass[M]) cfg() *TypedConfig[M] { return c.pass.settings.cfg }

// clearOld returns a state of a known size with old results cleared, if that is worth it. done was done before, in
// place of earlier runs.
func clearOld[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M], size tokencount.Size, threshold int64,
	done repeated[M],
) (*adk.TypedChatModelAgentState[M], error) {
	c := newClearPass(newPass(ctx, s, state), size, threshold, turnOf(state.Messages))
	done.passTo(c)
	next, err := c.apply(ctx)
	if err != nil {
		return nil, err
	}
	return s.keepFactor(ctx, state, next)
}

// apply returns the state that the pass makes, which is the input if nothing changes.
func (c *clearPass[M]) apply(ctx context.Context) (*adk.TypedChatModelAgentState[M], error) {
	changed, err := c.decideAndStore(ctx)
	if err != nil {
		return nil, err
	}
	if !changed {
		c.emit(ctx, nil)
		return c.pass.input, nil
	}
	next := c.pass.changedState()
	c.emit(ctx, next.Messages)
	return next, nil
}

// decideAndStore makes the changes, stores their content, and reports whether anything changes.
func (c *clearPass[M]) decideAndStore(ctx context.Context) (changed bool, err error) {
	c.candidates = c.findCandidates()
	if c.cfg().ClearMessageRewriter != nil && !c.cfg().SkipClear {
		if err := c.rewriteRounds(ctx); err != nil {
			return false, err
		}
	}
	if c.isRewritten {
		c.tally = einolean.Pass{} // of the new messages only
		c.candidates = c.findCandidates()
	} else if len(c.candidates) == 0 || c.cfg().ClearAtLeastTokens > 0 && c.cannotSaveEnough(c.candidates) {
		c.countSkipped(toolpolicy.TooFewTokens, len(c.candidates))
		return false, nil
	}
	c.pass.reserveFiles(ctx)
	if err := c.decideAll(ctx, c.candidates); err != nil {
		return false, err
	}
	if len(c.pass.changes) > 1 {
		c.trimForPromptCache(ctx)
	}
	if ok, err := c.isWorthIt(ctx); !ok {
		return false, err
	}
	kept, lost, differs := c.pass.saver.Save(ctx, c.pass.changes)
	for _, candidate := range lost {
		c.settle(candidate) // the pass of this model call tries again
	}
	c.countSkipped(toolpolicy.NotStored, len(lost))
	if c.pass.changes = kept; differs {
		return c.isWorthIt(ctx)
	}
	return true, nil
}

// rewriteRounds has the user's rewriter change the rounds before the retained ones.
func (c *clearPass[M]) rewriteRounds(ctx context.Context) (err error) {
	rewriter, retained := c.cfg().ClearMessageRewriter, c.cfg().ClearRetentionSuffixLimit
	c.pass.msgs, c.isRewritten, err = rewriteRounds(ctx, rewriter, c.pass.msgs, retained)
	if c.isRewritten {
		c.pass.rounds, c.turn = nil, turnOf(c.pass.msgs)
		c.firstRound, c.settled, c.messageTokens = 0, nil, nil // they are of the messages before
	}
	return err
}

// oldRounds returns the rounds with results that may be cleared, and the index of the message with which newer ones
// begin. At the start of a turn, results of the turn before are not old, if there is a threshold for it.
func (c *clearPass[M]) oldRounds() (old []rounds.Round, end int) {
	old, end = rounds.SplitRetained(c.pass.history(), c.cfg().ClearRetentionSuffixLimit)
	if c.turn.isStart && c.cfg().MaxTokensAtTurnStart > 0 && !c.mustFit {
		end = min(end, c.turn.previous)
		old = old[:firstRoundFrom(old, end)]
	}
	return old[min(c.firstRound, len(old)):], end
}

// firstRoundFrom returns the index of the first round at or after a message.
func firstRoundFrom(history []rounds.Round, message int) int {
	n, _ := slices.BinarySearchFunc(history, message, func(r rounds.Round, i int) int {
		return cmp.Compare(r.MessageIndex, i)
	})
	return n
}

// readingRounds is how many rounds after the last page of a file a model counts as still reading it.
const readingRounds = 3

// resultsInUse are the results that the model works on in the user's turn: the pages of the files that it is reading,
// and the results in place of which these files stand. A model that reads a long result page by page would otherwise
// lose the first page when the next one comes, and begin again.
type resultsInUse struct {
	from  int             // where the turn begins
	files map[string]bool // that are being read
}

func (u resultsInUse) has(c *clearing.Candidate) bool {
	if len(u.files) == 0 {
		return false
	}
	if c.Policy.IsReadTool {
		return c.MessageIndex >= u.from && u.files[offload.Clean(readtool.Path(c.Call.Args))]
	}
	return c.Notice.Path != "" && u.files[offload.Clean(c.Notice.Path)]
}

// resultsInUse returns the results that stay as long as the model reads on, unless the window requires otherwise.
// Without a window, known or learned from a refusal, nothing would stop them from growing.
func (c *clearPass[M]) resultsInUse() resultsInUse {
	isBounded := c.cfg().WindowTokens > 0 || c.cfg().Overflow != nil
	if c.mustFit || !c.pass.hasReadTool || !isBounded {
		return resultsInUse{}
	}
	u := resultsInUse{from: c.turn.start, files: make(map[string]bool)}
	history := c.pass.history()
	for _, round := range history[max(firstRoundFrom(history, u.from), len(history)-readingRounds):] {
		for i := range round.Pairs {
			call := round.Pairs[i].Call
			if file := readtool.Path(call.Args); c.pass.isReadTool(call) && file != "" {
				u.files[offload.Clean(file)] = true
			}
		}
	}
	return u
}

func positionOf(c *clearing.Candidate) resultPosition {
	return resultPosition{c.MessageIndex, c.Result.Index}
}

// settle records that a result stays as it is in later repeated passes as well.
func (c *clearPass[M]) settle(candidate *clearing.Candidate) {
	if c.settled != nil {
		c.settled[positionOf(candidate)] = true
	}
}

// nextFirstRound returns the first round with a result that a later pass may clear, after this pass made its changes.
func (c *clearPass[M]) nextFirstRound() int {
	changed := make(map[resultPosition]bool, len(c.pass.changes))
	for i := range c.pass.changes {
		changed[positionOf(c.pass.changes[i].Plan.Candidate)] = true
	}
	old, end := c.oldRounds()
	first := min(c.firstInUse, end)
	for _, candidate := range c.candidates {
		if at := positionOf(candidate); !changed[at] && !c.settled[at] {
			first = min(first, candidate.CallMessageIndex)
		}
	}
	return min(c.firstRound, len(c.pass.history())) + firstRoundFrom(old, first)
}

// findCandidates lists the results that may be cleared, the oldest first, and counts the others for OnEvent.
func (c *clearPass[M]) findCandidates() []*clearing.Candidate {
	before, end := c.oldRounds()
	n := 0
	for _, round := range before {
		n += len(round.Pairs)
	}
	inUse := c.resultsInUse()
	all, candidates := make([]clearing.Candidate, 0, n), make([]*clearing.Candidate, 0, n)
	for _, round := range before {
		for i := range round.Pairs {
			pair := &round.Pairs[i]
			if !pair.HasResult || pair.MessageIndex >= end {
				continue
			}
			if c.settled[resultPosition{pair.MessageIndex, pair.Result.Index}] {
				continue
			}
			all = append(all, c.pass.candidate(round, pair))
			candidate := &all[len(all)-1]
			candidate.Media = c.pass.replaceableMedia(candidate)
			c.pass.decider().Complete(candidate)
			switch candidate.Exclusion(clearing.ToClear) {
			case clearing.NotExcluded:
				if inUse.has(candidate) {
					c.countSkipped(toolpolicy.Exempt, 1)
					c.firstInUse = min(c.firstInUse, candidate.CallMessageIndex)
					continue
				}
				candidates = append(candidates, candidate)
			case clearing.ByPolicy:
				c.countSkipped(candidate.Policy.SkipReason, 1)
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b *clearing.Candidate) int { return a.MessageIndex - b.MessageIndex })
	return candidates
}

// decideAll decides about candidates, the oldest first, until the target is reached.
func (c *clearPass[M]) decideAll(ctx context.Context, candidates []*clearing.Candidate) (err error) {
	target, left := c.cfg().ClearTargetTokens, int64(math.MaxInt64)
	if target > 0 {
		left = c.tokensBefore(ctx) // also for the correction of the counts below
		if c.isRewritten {
			if left, err = c.countTokens(ctx, c.pass.msgs); err != nil {
				return err
			}
		}
	}
	recounts := 0
	c.pass.changes = make([]clearing.Change, 0, len(candidates))
	for _, candidate := range candidates {
		if !c.mustFit && target > 0 && left < target && recounts < maxRecounts {
			if left, err = c.countTokens(ctx, c.pass.messages()); err != nil || left < target {
				return err
			}
			recounts++
		}
		saved, err := c.decideOne(ctx, candidate)
		if err != nil {
			return err
		}
		left -= saved
	}
	return nil
}

// decideOne decides about one candidate. It returns the tokens that this saves, if they count towards a target.
func (c *clearPass[M]) decideOne(ctx context.Context, candidate *clearing.Candidate) (saved int64, err error) {
	change, why, err := c.pass.decider().Decide(ctx, candidate)
	if err != nil {
		return 0, err
	}
	if why != "" {
		c.countSkipped(why, 1)
		c.settle(candidate)
		if !change.MarksResult() {
			return 0, nil
		}
	}
	if c.pass.changes = append(c.pass.changes, change); c.cfg().ClearTargetTokens == 0 {
		return 0, nil
	}
	var resultEdit, callEdit rounds.Edit
	change.AddTo(&resultEdit, &callEdit)
	result, call := change.Messages()
	old := []M{c.pass.msgs[result], c.pass.msgs[call]}
	before, err := c.cfg().TokenCounter(ctx, old, nil)
	if err != nil {
		return 0, err
	}
	changed := []M{rounds.Apply(old[0], resultEdit), rounds.Apply(old[1], callEdit)}
	after, err := c.cfg().TokenCounter(ctx, changed, nil)
	return c.inputSize.Correct(before - after), err
}

// cannotSaveEnough reports whether even clearing all candidates cannot save ClearAtLeastTokens. It knows that only
// with the default counter and without a handler.
func (c *clearPass[M]) cannotSaveEnough(candidates []*clearing.Candidate) bool {
	if c.pass.settings.estimator == nil || c.mustFit {
		return false
	}
	needed, saving := c.cfg().ClearAtLeastTokens, int64(0)
	for _, candidate := range candidates {
		if candidate.Policy.HasHandler || c.inputSize.Correct(saving)+1 >= needed {
			return false
		}
		saving += candidate.MaxSaving()
	}
	return c.inputSize.Correct(saving)+1 < needed
}

// isWorthIt reports whether there are changes that are worth it. It counts the request only if that decides.
func (c *clearPass[M]) isWorthIt(ctx context.Context) (bool, error) {
	if len(c.pass.changes) == 0 && !c.isRewritten {
		return false, nil
	}
	estimate := clearing.CostEstimate{
		Threshold: c.threshold, Target: c.cfg().ClearTargetTokens, MinSaving: c.cfg().ClearAtLeastTokens,
		MustFit: c.mustFit, UserDecided: c.isRewritten, TokensBefore: -1, TokensAfter: -1,
	}.WithChanges(c.pass.changes, c.roughSizes(), c.inputSize)
	verdict := estimate.Verdict()
	if verdict == clearing.NeedsCount {
		estimate.TokensBefore = c.tokensBefore(ctx)
		verdict = estimate.Verdict()
	}
	if verdict == clearing.NeedsCount {
		after, err := c.countChanged(ctx)
		if err != nil {
			return false, err
		}
		estimate.TokensAfter, c.countedAfter = after, after
		verdict = estimate.Verdict()
	}
	if verdict == clearing.Defer {
		c.countDeferred(c.pass.changes)
	}
	return verdict == clearing.Apply, nil
}

// roughSizes are the sizes of the messages, at four bytes a token.
func (c *clearPass[M]) roughSizes() []int64 {
	switch {
	case c.messageTokens != nil:
	case c.sizes != nil && !c.isRewritten:
		c.messageTokens = c.sizes.Rough()
	default:
		c.messageTokens = tokencount.RoughSizes(c.pass.msgs)
	}
	return c.messageTokens
}

// trimForPromptCache leaves the newest changes out of the pass if they do not pay for losing the provider's prompt
// cache. The fields that say how much to save, the window and a rewriter take precedence.
func (c *clearPass[M]) trimForPromptCache(ctx context.Context) {
	if c.mustFit || c.isRewritten || c.cfg().ClearTargetTokens > 0 || c.cfg().ClearAtLeastTokens > 0 {
		return
	}
	count := func() tokencount.Size {
		c.tokensBefore(ctx)
		return c.inputSize
	}
	n := clearing.TrimForPromptCache(c.pass.changes, c.roughSizes(), c.threshold, count)
	c.countDeferred(c.pass.changes[n:])
	c.pass.changes = c.pass.changes[:n]
}

// emit reports the pass, and each result that it replaces for the first time. out are the messages after the pass,
// nil if nothing changes. The store or earlier reports of this middleware say whether an earlier run has replaced
// a result.
func (c *clearPass[M]) emit(ctx context.Context, out []M) {
	if c.cfg().OnEvent == nil {
		return
	}
	if c.pass.isRepeat {
		if out != nil {
			c.emitAllCleared(ctx)
		}
		return
	}
	after := c.tokensBefore(ctx)
	if out != nil {
		c.emitAllCleared(ctx)
		after = c.tokensAfter(ctx, out)
	}
	event := c.tally
	event.Looked += c.repeated.Looked
	event.Cleared += c.repeated.Cleared
	event.Repeated += c.repeated.Repeated
	event.Before, event.After = c.tokensBefore(ctx), after
	event.Threshold, event.Target = c.threshold, c.cfg().ClearTargetTokens
	c.pass.settings.reporter.Send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &event})
}

// emitAllCleared reports each result that the pass replaces.
func (c *clearPass[M]) emitAllCleared(ctx context.Context) {
	for i := range c.pass.changes {
		if change := &c.pass.changes[i]; change.Replaces() {
			c.emitCleared(ctx, change)
		}
	}
}

// emitCleared reports one result, unless that was done before.
func (c *clearPass[M]) emitCleared(ctx context.Context, change *clearing.Change) {
	c.tally.Looked++
	if !change.RecordFirst(&c.pass.settings.clearedKeys) {
		c.tally.Repeated++
		return
	}
	c.tally.Cleared++
	rule := report.ByThreshold
	if change.Plan.Candidate.Policy.HasHandler {
		rule = report.ByHandler
	}
	c.pass.sendResult(ctx, change, einolean.KindResultCleared, rule)
}

// countSkipped counts n results that stay, with the reason.
func (c *clearPass[M]) countSkipped(why toolpolicy.Reason, n int) {
	if c.cfg().OnEvent == nil || n == 0 {
		return
	}
	if c.tally.Kept == nil {
		c.tally.Kept = make(map[string]int)
	}
	c.tally.Looked += n
	c.tally.Kept[string(why)] += n
}

// countDeferred counts results that stay because the pass would save too little.
func (c *clearPass[M]) countDeferred(changes []clearing.Change) {
	for i := range changes {
		if changes[i].Replaces() {
			c.countSkipped(toolpolicy.TooFewTokens, 1)
		}
	}
}

// tokensBefore is how many tokens the messages had before the pass.
func (c *clearPass[M]) tokensBefore(ctx context.Context) int64 {
	if !c.inputSize.Exact { // the user's counter is always exact and cannot fail here
		c.inputSize, _ = c.pass.settings.exactSize(ctx, c.pass.input)
	}
	return c.inputSize.Tokens
}

// countChanged is how many tokens the request has with the changes.
func (c *clearPass[M]) countChanged(ctx context.Context) (int64, error) {
	if c.sizes == nil || c.isRewritten {
		return c.countTokens(ctx, c.pass.messages())
	}
	msgs := slices.Clone(c.pass.msgs)
	saved := int64(0)
	changed, _ := c.pass.applyTo(msgs)
	for _, i := range changed {
		saved += c.sizes.Tokens(c.pass.msgs[i]) - c.sizes.Tokens(msgs[i])
	}
	return c.inputSize.Correct(c.uncorrected - saved), nil
}

func (c *clearPass[M]) countTokens(ctx context.Context, msgs []M) (int64, error) {
	n, err := c.cfg().TokenCounter(ctx, msgs, c.pass.input.ToolInfos)
	return c.inputSize.Correct(n), err
}

// tokensAfter is how many tokens the messages have after the pass. If the user's counter has not counted them, it
// subtracts the default estimate of the saving.
func (c *clearPass[M]) tokensAfter(ctx context.Context, out []M) int64 {
	if c.countedAfter >= 0 {
		return c.countedAfter
	}
	if c.pass.settings.estimator != nil {
		n, _ := c.countTokens(ctx, out) // the default counter never fails
		return n
	}
	e := new(tokencount.Estimator[M])
	return max(0, c.inputSize.Tokens-e.Count(c.pass.input.Messages, nil)+e.Count(out, nil))
}
