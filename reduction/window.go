// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Fits a request to the model's window: the results of one round to their share of it, and the whole request.
// Results are shortened rather than cleared, the longest ones to equal size.

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

const (
	// roundShare is the share of the window that the results of one round may take: a quarter. Media may take
	// half of that.
	roundShare = 4

	// maxTokensPerByte is more than the tokens of any text, for each of its bytes.
	maxTokensPerByte = 2

	// noBudget is a budget that everything fits.
	noBudget = math.MaxInt
)

// fitRounds returns a state in which the results of each new round keep to their share of the window.
func fitRounds[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error) {
	budget := roundBudget(s.window(ctx))
	if budget == 0 {
		return state, nil
	}
	from := rounds.NewestResultsIndex(state.Messages) - 1
	if !mayExceed(state.Messages[max(from, 0):], budget/maxTokensPerByte) {
		return state, nil
	}
	f := newFitPass(ctx, newPass(ctx, s, state))
	for _, round := range f.pass.history() {
		if round.MessageIndex < from {
			continue
		}
		if err := f.fitRound(ctx, round, budget); err != nil {
			return nil, err
		}
	}
	return f.commit(ctx, einolean.KindResultTruncated, report.ByRound), nil
}

// roundBudget is how many tokens the results of one round may have.
func roundBudget(window int64) int { return int(window / roundShare) }

// fitRound adds the changes that make the results of a round fit a budget. It considers the round alone, so that it
// decides the same whenever it is called.
func (f fitPass[M]) fitRound(ctx context.Context, round rounds.Round, budget int) error {
	plans, fixed := f.plansOf(round, clearing.ToShorten)
	fixed += f.pass.decider().ReplaceFirstMedia(plans, budget/2)
	return f.shortenToBudget(ctx, plans, budget-fixed)
}

// mayExceed reports whether the results between two messages with calls may have more tokens than a number of
// bytes. It allocates nothing except for media.
func mayExceed[M adk.MessageType](msgs []M, maxBytes int) bool {
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
			sum += tokencount.OfMedia(len(rounds.Media(m)))
		}
		if sum > maxBytes {
			return true
		}
	}
	return false
}

// resultPosition is the index of a message and that of a result in it.
type resultPosition struct{ message, result int }

// resultSizes are the sizes of the results in messages, in bytes.
func resultSizes[M adk.MessageType](msgs []M) iter.Seq2[resultPosition, int] {
	return func(yield func(resultPosition, int) bool) {
		for i, m := range msgs {
			for p := message.Parts(m); p.Next(); {
				if p.Kind != message.Result {
					continue
				}
				size := 0
				for item := p.Parts(); item.Next(); {
					size += len(item.Text())
				}
				if !yield(resultPosition{i, p.Index}, size) {
					return
				}
			}
		}
	}
}

// fitStage is a way in which a request becomes shorter. The stages are tried in order, the mildest first, until
// the request fits.
type fitStage int

const (
	stageOldestMedia  fitStage = iota // of all rounds but the newest, the oldest first
	stageLargest                      // results, and long arguments
	stageLargestAgain                 // the same again, for a counter that counts differently
	stagePages                        // also pages of the read tool, and media of the newest round
	stageEverything                   // everything that can be shortened
	stageCount
)

// fitWindow returns a state that fits a window, if possible. It first clears everything old, then shortens the
// rest. isRepeat says that an earlier run has done the same.
func fitWindow[M adk.MessageType](
	ctx context.Context, s *settings[M], input *adk.TypedChatModelAgentState[M], window int64, isRepeat bool,
) (*adk.TypedChatModelAgentState[M], error) {
	before, err := s.exactSize(ctx, input)
	if err != nil || before.Tokens <= window {
		return input, err
	}
	p := newClearPass(newPass(ctx, s, input), before, s.cfg.MaxTokensForClear, turnOf(input.Messages))
	p.mustFit, p.pass.isRepeat = true, isRepeat
	state, err := p.apply(ctx)
	if err != nil {
		return nil, err
	}
	size := before
	if state != input {
		if size, err = s.exactSize(ctx, state); err != nil {
			return nil, err
		}
	}
	for stage := fitStage(0); stage < stageCount && size.Tokens > window; stage++ {
		excess := int(float64(size.Tokens-window)/size.Factor) + 1
		next, err := applyStage(ctx, s, state, stage, excess, isRepeat)
		if err != nil {
			return nil, err
		}
		if next == state {
			continue
		}
		state = next
		if size, err = s.exactSize(ctx, state); err != nil {
			return nil, err
		}
	}
	if isRepeat {
		return state, nil
	}
	s.reporter.Send(ctx, einolean.Event{
		Kind: einolean.KindClearDone,
		Pass: &einolean.Pass{Before: before.Tokens, After: size.Tokens, Threshold: window},
	})
	return state, nil
}

// applyStage returns a state that is shorter by excess tokens, as far as a stage can do that.
func applyStage[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M], stage fitStage, excess int, isRepeat bool,
) (*adk.TypedChatModelAgentState[M], error) {
	p := newPass(ctx, s, state)
	p.isRepeat = isRepeat
	f := newFitPass(ctx, p)
	purpose := clearing.ToShorten
	if stage >= stagePages {
		purpose = clearing.ToShortenAllPages
	}
	history := f.pass.history()
	var plans []clearing.Plan
	total := 0 // tokens
	for _, round := range history {
		ofRound, _ := f.plansOf(round, purpose)
		for _, plan := range ofRound {
			total += plan.Candidate.Tokens
		}
		plans = append(plans, ofRound...)
	}
	end := len(state.Messages) // of the messages whose media may become references
	switch {
	case stage == stageEverything:
		excess = math.MaxInt / 2
	case stage == stageLargestAgain:
		excess *= 2
	case stage == stageOldestMedia && len(history) > 0:
		end = history[len(history)-1].MessageIndex
	}
	plans = append(plans, f.userMedia(end)...)
	slices.SortStableFunc(plans, func(a, b clearing.Plan) int {
		return a.Candidate.MessageIndex - b.Candidate.MessageIndex
	})
	if stage != stageLargest && stage != stageLargestAgain {
		excess -= f.pass.decider().ReplaceOldestMedia(plans, end, excess)
	}
	budget := noBudget
	if stage > stageOldestMedia {
		excess -= f.pass.decider().ReplaceLongArguments(plans)
		budget = total - max(excess, 0)
	}
	if err := f.shortenToBudget(ctx, plans, budget); err != nil {
		return nil, err
	}
	return f.commit(ctx, einolean.KindResultTruncated, report.ByWindow), nil
}

// fitPass shortens results or replaces them by references, whether they are old or new.
type fitPass[M adk.MessageType] struct{ pass *pass[M] }

func newFitPass[M adk.MessageType](ctx context.Context, p *pass[M]) fitPass[M] {
	p.reserveFiles(ctx)
	return fitPass[M]{p}
}

// plansOf lists the results of a round that may become shorter, or whose media may become references. The plans
// are to keep them, until something else is decided. fixed are the tokens of the others.
func (f fitPass[M]) plansOf(round rounds.Round, purpose clearing.Purpose) (plans []clearing.Plan, fixed int) {
	results := 0
	for _, pair := range round.Pairs {
		if pair.HasResult {
			results++
		}
	}
	for i := range round.Pairs {
		pair := &round.Pairs[i]
		if !pair.HasResult {
			continue
		}
		c := f.pass.candidate(round, pair)
		c.IsOnlyResult = results == 1
		c.Protected = f.pass.settings.policies.Protects(c.Call.Name, c.Call.Args, f.pass.isReadTool(c.Call))
		exclusion := c.Exclusion(purpose)
		if exclusion == clearing.IsToolSearch {
			continue // nor is it part of a budget
		}
		c.Tokens = clearing.TextTokens(c.Result.Texts)
		fixed += clearing.TextTokens(c.Result.MediaRefs)
		if exclusion != clearing.NotExcluded {
			fixed += c.Tokens
			continue
		}
		c.Policy = c.Policy.ByDefault() // handlers are not called
		c.Media = f.pass.replaceableMedia(&c)
		plans = append(plans, clearing.KeepPlan(&c))
	}
	return plans, fixed
}

// userMedia lists the user's messages with media before an index.
func (f fitPass[M]) userMedia(end int) (plans []clearing.Plan) {
	if f.pass.window == 0 && !f.pass.mustFitMedia {
		return nil
	}
	for i := range f.pass.msgs[:end] {
		c := clearing.NewUserMedia(i, f.pass.settings.policies.Store)
		if c.Media = f.pass.replaceableMedia(&c); len(c.Media) > 0 {
			plans = append(plans, clearing.KeepPlan(&c))
		}
	}
	return plans
}

// shortenToBudget adds the changes that make results fit a budget.
func (f fitPass[M]) shortenToBudget(ctx context.Context, plans []clearing.Plan, budget int) error {
	changes, err := f.pass.decider().ShortenToBudget(ctx, plans, budget)
	f.pass.changes = append(f.pass.changes, changes...)
	return err
}

// commit stores the content that the changes replace, reports them, and returns the state with them. That is the
// input if there are none.
func (f fitPass[M]) commit(ctx context.Context, kind einolean.Kind, rule string) *adk.TypedChatModelAgentState[M] {
	if f.save(ctx, kind, rule); len(f.pass.changes) == 0 {
		return f.pass.input
	}
	return f.pass.changedState()
}

// save stores the content that the changes replace, and reports them. Those that cannot be stored are dropped.
func (f fitPass[M]) save(ctx context.Context, kind einolean.Kind, rule string) {
	p := f.pass
	p.changes, _, _ = p.saver.Save(ctx, p.changes)
	for i := range p.changes {
		p.reportResult(ctx, &p.changes[i], kind, rule)
	}
}
