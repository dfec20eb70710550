// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Repeats, in the first model call of a run, what earlier runs of the conversation have done to its history. An
// application that stores what the events of a run show has all results whole. It gets the same requests as one that
// stores the messages which the model has read, and the provider's prompt cache holds.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// repetition goes through a history message by message. Before each assistant message there was a request, for which
// it makes the passes that were made then. What it knows of the messages so far is kept up to date, so that a message
// is read once, and again only if it changes.
type repetition[M adk.MessageType] struct {
	settings *settings[M]
	input    *adk.TypedChatModelAgentState[M]
	window   int64
	lowest   int64 // no pass is needed for a request of fewer tokens

	msgs        []M // so far, with the changes
	rounds      rounds.History[M]
	sizes       *tokencount.Growing[M] // nil if the user's counter counts
	factor      float64                // of sizes, zero if nothing has changed
	loadedTools []loadedTool
	toolTokens  int64 // of the definitions of all tools
	turn        turn
	changed     bool
	pass        *pass[M] // what all passes share; nil: none was made

	settled     map[resultPosition]bool // results that stay
	firstRound  int                     // the rounds before it have nothing to clear
	fitted      int                     // so many rounds were fitted to their share of the window
	deduped     int                     // the results of so many messages were compared with earlier ones
	resultSizes knownSizes              // of these results
	uncounted   int                     // until a change, requests of fewer messages are below r.lowest by the user's counter

	done repeated[M]
}

// repeated is what the passes of earlier runs have done when they were made again. The zero value is nothing.
type repeated[M adk.MessageType] struct {
	tally einolean.Pass   // what was cleared for the first time, or again
	saver *clearing.Saver // of the passes; nil: there was none

	msgs          []M // after the passes
	rounds        []rounds.Round
	messageTokens []int64 // at four bytes a token; nil: not estimated
}

// passTo hands on to a pass what is known of its messages, unless others have changed them since.
func (d repeated[M]) passTo(c *clearPass[M]) {
	c.pass.saver.ContinueAfter(d.saver)
	c.repeated = d.tally
	if message.SameSlice(d.msgs, c.pass.msgs) {
		c.pass.rounds, c.messageTokens = d.rounds, d.messageTokens
	}
}

// repeatPasses returns the state with the changes of earlier runs. If the history has them already, what stayed in it
// was to stay: nothing is decided again, as the history no longer shows how long the requests were. Marks show such a
// history or, if they were not stored, notices.
func repeatPasses[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], repeated[M], error) {
	run := runFrom(ctx, s)
	var withNotices []rounds.Result
	edited := hasMarks(state.Messages)
	if !edited {
		withNotices = resultsWithNotices(state.Messages)
		edited = hasClearNotices(withNotices)
	}
	if edited {
		run.fixFactor(storedFactor(state.Messages))
		return state, repeated[M]{}, nil
	}
	r := &repetition[M]{
		settings: s, input: state, window: s.window(ctx),
		lowest: min(s.threshold(true), s.threshold(false)), resultSizes: make(knownSizes), settled: make(map[resultPosition]bool),
	}
	if r.window > 0 {
		r.lowest = min(r.lowest, r.window)
	}
	if needed, err := r.isNeeded(ctx); err != nil || !needed {
		return state, repeated[M]{}, err
	}
	r.msgs = make([]M, 0, len(state.Messages))
	if s.estimator != nil {
		r.factor = s.tracker(ctx, state.Messages).FixedFactor()
		r.sizes = s.estimator.Grow(s.cfg.MaxTokensForClear, r.factor)
	}
	r.readTools()
	s.files.ReservePaths(ctx, s.noticeFiles(withNotices))
	for _, m := range state.Messages {
		if message.Role(m) == schema.Assistant {
			if err := r.request(ctx); err != nil {
				return nil, repeated[M]{}, err
			}
		}
		r.add(m)
	}
	r.done.msgs, r.done.rounds = r.msgs, r.rounds.Rounds()
	if r.sizes != nil {
		r.done.messageTokens = r.sizes.Rough()
	}
	if !r.changed {
		r.done.msgs = state.Messages
		return state, r.done, nil
	}
	run.fixFactor(r.factor)
	changed := *state
	changed.Messages = r.msgs
	return &changed, r.done, nil
}

// reportRepeated reports results that were cleared for the first time in place of earlier runs, which did not clear
// them: the conversation may come from elsewhere.
func reportRepeated[M adk.MessageType](
	ctx context.Context, s *settings[M], tally einolean.Pass, before, after *adk.TypedChatModelAgentState[M],
) error {
	all, err := s.exactSize(ctx, before)
	if err != nil {
		return err
	}
	left, err := s.exactSize(ctx, after)
	if err != nil {
		return err
	}
	tally.Before, tally.After, tally.Threshold = all.Tokens, left.Tokens, s.threshold(startsTurn(after.Messages))
	s.reporter.Send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &tally})
	return nil
}

// hasMarks reports whether a message has a mark of an earlier run.
func hasMarks[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return rounds.IsMarked(m) || message.Extra(m)[factorKey] != nil })
}

// hasClearNotices reports whether notices stand in place of cleared results, as far as their paths can be those of the
// calls.
func hasClearNotices(withNotices []rounds.Result) bool {
	return slices.ContainsFunc(withNotices, func(r rounds.Result) bool {
		n := notice.FromTexts(r.Texts)
		return n.IsPlaceholder() && offload.IsClearPath(n.Path) && offload.BelongsToCall(n.Path, r.ID)
	})
}

// isNeeded reports whether an earlier request may have had enough tokens for a pass.
func (r *repetition[M]) isNeeded(ctx context.Context) (bool, error) {
	answers, calls := 0, 0
	for _, m := range r.input.Messages {
		if message.Role(m) == schema.Assistant {
			if answers++; calls == 0 && rounds.CallsTools(m) {
				calls = answers
			}
		}
	}
	if calls == 0 || calls == answers {
		return false, nil // no request had a result
	}
	msgs, tools := r.input.Messages, r.input.ToolInfos
	if r.settings.cfg.DedupeResults && mayHaveDuplicates(msgs) {
		return true, nil
	}
	if budget := roundBudget(r.window); budget > 0 && mayExceed(msgs, budget/maxTokensPerByte) {
		return true, nil
	}
	if r.settings.estimator == nil {
		size, err := r.settings.exactSize(ctx, r.input)
		return size.Tokens >= r.lowest, err
	}
	tracker := r.settings.tracker(ctx, msgs)
	size := r.settings.estimator.Size(tracker, msgs, tools, r.settings.cfg.MaxTokensForClear, r.lowest)
	return tracker.MayReach(size, r.lowest), nil
}

// add adds the next message of the history.
func (r *repetition[M]) add(m M) {
	r.turn = nextTurn(r.turn, len(r.msgs), m)
	r.msgs = append(r.msgs, m)
	r.rounds.Add(m)
	if r.sizes != nil {
		r.sizes.Add(m)
	}
}

// state is the state of the request that consists of the messages so far.
func (r *repetition[M]) state() *adk.TypedChatModelAgentState[M] {
	next := *r.input
	next.Messages = r.msgs
	if slices.ContainsFunc(r.loadedTools, func(t loadedTool) bool { return t.since > len(r.msgs) }) {
		next.ToolInfos = slices.DeleteFunc(slices.Clone(next.ToolInfos), r.isLoadedLater)
	}
	return &next
}

// request makes the passes for the request of the messages so far.
func (r *repetition[M]) request(ctx context.Context) error {
	if r.window > 0 {
		if err := r.fitRounds(ctx); err != nil {
			return err
		}
	}
	size, err := r.size(ctx)
	if err != nil {
		return err
	}
	threshold := r.settings.threshold(r.turn.isStart)
	willClear := size.Tokens >= threshold || r.window > 0 && size.Tokens > r.window
	if r.settings.cfg.DedupeResults {
		if changed, err := r.dedupe(ctx, willClear); err != nil {
			return err
		} else if changed && willClear {
			if size, err = r.size(ctx); err != nil {
				return err
			}
		}
	}
	if size.Tokens >= threshold {
		if err := r.clear(ctx, size, threshold); err != nil {
			return err
		}
	}
	if r.window > 0 && size.Tokens > r.window {
		return r.fitWindow(ctx, size.Factor)
	}
	return nil
}

// size is the size of the request, zero if it is below all thresholds.
func (r *repetition[M]) size(ctx context.Context) (tokencount.Size, error) {
	if r.sizes == nil {
		return r.userSize(ctx)
	}
	definitions := r.definitions()
	if !r.sizes.MayReach(definitions, r.lowest) {
		return tokencount.Size{Factor: 1, Exact: true}, nil
	}
	return r.sizes.Size(definitions), nil
}

// userSize is the size by the user's counter. It counts a request only if a larger one is not known to be below all
// thresholds, as it may take long.
func (r *repetition[M]) userSize(ctx context.Context) (tokencount.Size, error) {
	below := tokencount.Size{Factor: 1, Exact: true}
	if !r.changed && len(r.msgs) < r.uncounted {
		return below, nil
	}
	size, err := r.settings.exactSize(ctx, r.state())
	if err != nil || size.Tokens >= r.lowest {
		return size, err
	}
	low, high := len(r.msgs), len(r.input.Messages)
	if r.changed {
		return size, nil // the messages that follow have other indexes
	}
	for low < high {
		middle := (low + high + 1) / 2
		state := *r.input
		state.Messages = append(slices.Clone(r.msgs), r.input.Messages[len(r.msgs):middle]...)
		larger, err := r.settings.exactSize(ctx, &state)
		if err != nil {
			return below, err
		}
		if larger.Tokens < r.lowest {
			low = middle
		} else {
			high = middle - 1
		}
	}
	r.uncounted = low
	return size, nil
}

// definitions are the tokens of the tools that the request had.
func (r *repetition[M]) definitions() int64 {
	sum := r.toolTokens
	for _, t := range r.loadedTools {
		if t.since > len(r.msgs) {
			sum -= t.tokens
		}
	}
	return sum
}

// newPass begins a pass over the messages so far. A store that is down is not asked again by each of them.
func (r *repetition[M]) newPass(ctx context.Context) *pass[M] {
	if r.pass == nil {
		r.pass = newPass(ctx, r.settings, r.input)
		r.pass.isRepeat = true
		r.done.saver = r.pass.saver
	}
	r.pass.input, r.pass.msgs, r.pass.rounds, r.pass.changes = r.state(), r.msgs, r.rounds.Rounds(), nil
	return r.pass
}

// fitRounds fits the newest rounds to their share of the window.
func (r *repetition[M]) fitRounds(ctx context.Context) error {
	history, budget := r.rounds.Rounds(), roundBudget(r.window)
	from := r.fitted
	r.fitted = len(history)
	if budget == 0 || from == len(history) || !mayExceed(r.msgs[history[from].MessageIndex:], budget/maxTokensPerByte) {
		return nil
	}
	f := newFitPass(ctx, r.newPass(ctx))
	for _, round := range history[from:] {
		if err := f.fitRound(ctx, round, budget); err != nil {
			return err
		}
	}
	f.save(ctx, einolean.KindResultTruncated, report.ByRound)
	r.apply(f.pass)
	return nil
}

// dedupe replaces the newest results by references to equal earlier ones.
func (r *repetition[M]) dedupe(ctx context.Context, willClear bool) (changed bool, err error) {
	from := r.deduped
	r.deduped = len(r.msgs)
	mayRepeat := false
	for _, size := range resultSizes(r.msgs[from:]) {
		mayRepeat = r.resultSizes.addSize(size) || mayRepeat
	}
	if !mayRepeat {
		return false, nil
	}
	f := newFitPass(ctx, r.newPass(ctx))
	if err := f.replaceDuplicates(ctx, from, willClear); err != nil {
		return false, err
	}
	f.save(ctx, einolean.KindResultReferred, report.ByRepeat)
	return r.apply(f.pass), nil
}

// clear makes the pass that clears old results.
func (r *repetition[M]) clear(ctx context.Context, size tokencount.Size, threshold int64) error {
	p := r.newPass(ctx)
	c := newClearPass(p, size, threshold, r.turn)
	c.firstRound, c.settled = r.firstRound, r.settled
	if r.sizes != nil {
		c.sizes, c.uncorrected = r.sizes, r.sizes.Uncorrected(r.definitions())
	}
	if changed, err := c.decideAndStore(ctx); err != nil || !changed {
		return err
	}
	if c.cfg().OnEvent != nil {
		c.emitAllCleared(ctx)
		r.done.tally.Looked += c.tally.Cleared + c.tally.Repeated
		r.done.tally.Cleared += c.tally.Cleared
		r.done.tally.Repeated += c.tally.Repeated
	}
	var before []M
	if r.factor == 0 || c.isRewritten {
		before = slices.Clone(r.msgs)
	}
	if c.isRewritten {
		r.reload(c.pass.messages())
	} else {
		next := c.nextFirstRound()
		r.apply(c.pass)
		r.firstRound = next
	}
	r.keepFactor(size.Factor, before)
	return nil
}

// keepFactor fixes the correction of sizes, unless it is fixed. The messages remember it: those before are only needed
// for the first change, and after a ClearMessageRewriter.
func (r *repetition[M]) keepFactor(factor float64, before []M) {
	if r.factor == 0 {
		r.factor = factor
		if r.sizes != nil {
			r.sizes.Fix(factor)
		}
	}
	rememberFactor(before, r.msgs, r.factor)
}

// fitWindow shortens the request to the window.
func (r *repetition[M]) fitWindow(ctx context.Context, factor float64) error {
	before := r.state()
	before.Messages = slices.Clone(r.msgs)
	after, err := fitWindow(withFactor(ctx, r.settings, factor), r.settings, before, r.window, true)
	if err != nil || after == before {
		return err
	}
	r.reload(after.Messages)
	r.keepFactor(factor, before.Messages)
	return nil
}

// apply makes the changes of a pass, and reports whether there are any.
func (r *repetition[M]) apply(p *pass[M]) bool {
	if len(p.changes) == 0 {
		return false
	}
	changed, marked := p.applyTo(r.msgs)
	if r.sizes != nil {
		for _, i := range changed {
			r.sizes.Replace(i, r.msgs[i])
		}
		for _, i := range marked {
			r.sizes.Mark(i)
		}
	}
	last := -1
	for i := range p.changes {
		if _, call := p.changes[i].Messages(); call != last {
			r.rounds.Reread(call, r.msgs)
			last = call
		}
	}
	r.changed = true
	return true
}

// reload reads all messages anew, after a pass has put others in their place.
func (r *repetition[M]) reload(msgs []M) {
	r.settled = make(map[resultPosition]bool)
	r.msgs, r.rounds, r.turn = make([]M, 0, len(r.input.Messages)), rounds.History[M]{}, turn{}
	r.firstRound, r.changed = 0, true
	if r.sizes != nil {
		r.sizes = r.settings.estimator.Grow(r.settings.cfg.MaxTokensForClear, r.factor)
	}
	for _, m := range msgs {
		r.add(m)
	}
	r.fitted, r.deduped = len(r.rounds.Rounds()), len(msgs)
	for _, size := range resultSizes(msgs) {
		r.resultSizes.addSize(size)
	}
}

// loadedTool is a tool that package toolsearch has loaded: only requests of at least so many messages have it.
type loadedTool struct {
	info   *schema.ToolInfo
	tokens int64 // of its definition
	since  int
}

// isLoadedLater reports whether a tool was loaded after the request.
func (r *repetition[M]) isLoadedLater(info *schema.ToolInfo) bool {
	return slices.ContainsFunc(r.loadedTools, func(t loadedTool) bool { return t.info == info && t.since > len(r.msgs) })
}

// readTools reads the tools of the last request, and finds out which of them were loaded on the way.
func (r *repetition[M]) readTools() {
	if len(r.input.ToolInfos) == 0 {
		return
	}
	namedAt := namesInLoadingAnswers(r.input.Messages)
	for _, info := range r.input.ToolInfos {
		if info == nil {
			continue
		}
		tokens := int64(0)
		if r.sizes != nil {
			tokens = r.settings.estimator.ToolTokens(info)
		}
		r.toolTokens += tokens
		if message, isNamed := namedAt[info.Name]; isNamed {
			r.loadedTools = append(r.loadedTools, loadedTool{info: info, tokens: tokens, since: message + 1})
		}
	}
}

// namesInLoadingAnswers returns the strings in quotation marks that the answers of search tools have, with the first
// message that has them. The names of the tools that were loaded are among them.
func namesInLoadingAnswers[M adk.MessageType](msgs []M) map[string]int {
	names := make(map[string]int)
	for _, round := range rounds.Split(msgs) {
		for _, pair := range round.Pairs {
			if !pair.HasResult || !toolnames.Loads(pair.Call.Name) {
				continue
			}
			for _, text := range pair.Result.Texts {
				for name := range strings.SplitSeq(text, `"`) {
					if at, isKnown := names[name]; !isKnown || pair.MessageIndex < at {
						names[name] = pair.MessageIndex
					}
				}
			}
		}
	}
	return names
}
