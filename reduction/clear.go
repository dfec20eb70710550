// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file is the clear phase: from the messages of a state to new ones. The
// messages it is given never change; whatever fails leaves them as they are.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

const (
	// maxFailures is how many writes in a row may fail before a pass stops trying:
	// a store that is down is not asked about every result at every model call.
	maxFailures = 3

	// maxRecounts is how often the messages are counted again on the way to
	// ClearTargetTokens, for a counter whose sums do not add up.
	maxRecounts = 8
)

// clearer is the clear phase. It never changes.
type clearer[M adk.MessageType] struct {
	planner
	cfg   *TypedConfig[M]
	codec codec[M]
	files *offloader

	ownCounter bool // the default one counts
}

// pass is one run of it.
type pass[M adk.MessageType] struct {
	*clearer[M]
	draft  draft
	tools  []*schema.ToolInfo
	before int64        // tokens of the state
	msgs   []M          // after the rewriter
	out    []M          // with the changes so far
	marked map[int]bool // assistant messages that have the mark in out
	done   []*change
}

// state returns the state that the model call should see, which is the one it was
// given if nothing is to be done.
func (c *clearer[M]) state(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil || !c.policy.clears() {
		return ctx, state, nil
	}
	tokens, err := c.cfg.TokenCounter(ctx, state.Messages, state.ToolInfos)
	if err != nil || tokens < c.cfg.MaxTokensForClear {
		return ctx, state, err
	}
	msgs, changed, err := c.run(ctx, state, tokens)
	if err != nil || !changed {
		return ctx, state, err
	}
	out := *state
	out.Messages = msgs
	next, err := c.cfg.postProcess(ctx, &out)
	if err != nil {
		return ctx, state, err
	}
	return next, &out, nil
}

func (c *clearer[M]) run(ctx context.Context, state *adk.TypedChatModelAgentState[M], tokens int64) ([]M, bool, error) {
	msgs, rewritten, err := c.rewrite(ctx, state.Messages)
	if err != nil {
		return nil, false, err
	}
	vs := views(c.codec, msgs)
	p := &pass[M]{clearer: c, draft: c.planner.draft(ctx), tools: state.ToolInfos, before: tokens, msgs: msgs, marked: make(map[int]bool)}
	old, end := outside(roundsOf(vs), c.cfg.ClearRetentionSuffixLimit)
	candidates := c.candidates(ctx, old, end)
	if !rewritten && (len(candidates) == 0 || c.hopeless(candidates)) {
		return nil, false, nil
	}
	p.out = slices.Clone(msgs)
	c.files.note(ctx, c.shown(msgs))
	if err := p.plan(ctx, candidates, rewritten); err != nil {
		return nil, false, err
	}
	if ok, err := p.worthIt(ctx, rewritten); !ok {
		return nil, false, err
	}
	if p.write(ctx) {
		p.redo()
		if ok, err := p.worthIt(ctx, rewritten); !ok {
			return nil, false, err
		}
	}
	p.tell(ctx)
	return p.out, true, nil
}

// hopeless reports whether clearing everything cannot save ClearAtLeastTokens. It
// can tell only where the default counter counts and no handler has its say.
func (c *clearer[M]) hopeless(candidates []candidate) bool {
	if c.cfg.ClearAtLeastTokens == 0 || !c.ownCounter {
		return false
	}
	var most int64
	for _, each := range candidates {
		if each.clear != nil {
			return false
		}
		most += tokensOf(each.result.size()) + 1
	}
	return most < c.cfg.ClearAtLeastTokens
}

// plan decides about candidates, oldest first, until the target is reached, and
// puts the changes into p.out.
func (p *pass[M]) plan(ctx context.Context, candidates []candidate, rewritten bool) error {
	left, recounts := p.before, 0
	if rewritten && p.cfg.ClearTargetTokens > 0 {
		var err error
		if left, err = p.count(ctx, p.out); err != nil {
			return err
		}
	}
	for _, c := range candidates {
		if p.cfg.ClearTargetTokens > 0 && left < p.cfg.ClearTargetTokens && recounts < maxRecounts {
			var err error
			if left, err = p.count(ctx, p.out); err != nil || left < p.cfg.ClearTargetTokens {
				return err
			}
			recounts++
		}
		saved, err := p.step(ctx, c)
		if err != nil {
			return err
		}
		left -= saved
	}
	return nil
}

// step decides about one candidate and returns the tokens that this saves, if
// there is a target that they count for.
func (p *pass[M]) step(ctx context.Context, c candidate) (int64, error) {
	ch, err := p.draft.decide(ctx, c, func() *schema.ToolResult { return p.codec.result(p.msgs[c.at], c.result.index) })
	if err != nil || ch == nil {
		return 0, err
	}
	was := []M{p.out[c.at]}
	p.apply(ch)
	p.done = append(p.done, ch)
	if p.cfg.ClearTargetTokens == 0 {
		return 0, nil
	}
	return p.saving(ctx, was, []M{p.out[c.at]})
}

func (p *pass[M]) saving(ctx context.Context, was, is []M) (int64, error) {
	before, err := p.cfg.TokenCounter(ctx, was, nil)
	if err != nil {
		return 0, err
	}
	after, err := p.cfg.TokenCounter(ctx, is, nil)
	return before - after, err
}

// apply puts a change into copies of its messages.
func (p *pass[M]) apply(ch *change) {
	p.out[ch.at] = p.codec.apply(p.out[ch.at], edit{results: []replacement{ch.replacement}})
	e := edit{mark: !ch.marked && !p.marked[ch.round]}
	if ch.args != nil {
		e.args = map[int]string{ch.call.index: *ch.args}
	}
	if e.mark || e.args != nil {
		p.marked[ch.round] = true
		p.out[ch.round] = p.codec.apply(p.out[ch.round], e)
	}
}

func (p *pass[M]) count(ctx context.Context, msgs []M) (int64, error) {
	return p.cfg.TokenCounter(ctx, msgs, p.tools)
}

// worthIt reports whether there is anything to do and it saves enough.
func (p *pass[M]) worthIt(ctx context.Context, rewritten bool) (bool, error) {
	if len(p.done) == 0 && !rewritten {
		return false, nil
	}
	if p.cfg.ClearAtLeastTokens == 0 {
		return true, nil
	}
	after, err := p.count(ctx, p.out)
	if err != nil {
		return false, err
	}
	if p.before-after >= p.cfg.ClearAtLeastTokens {
		return true, nil
	}
	for _, ch := range p.done {
		p.left(ctx, ch.candidate, ReasonTooFewTokens)
	}
	return false, nil
}

// write stores what is to be stored, and reports whether a change came to
// nothing or came out otherwise than p.out has it.
func (p *pass[M]) write(ctx context.Context) (differs bool) {
	failures := 0
	kept := p.done[:0]
	for _, ch := range p.done {
		switch {
		case !ch.store:
		case failures == maxFailures:
			differs = true
			continue
		default:
			ok, same := p.store(ctx, ch)
			differs = differs || !same
			if !ok {
				failures++
				continue
			}
			failures = 0
		}
		kept = append(kept, ch)
	}
	p.done = kept
	return differs
}

// store stores the content of one change. ok is false if the result stays as it
// is, same if the change is what p.out has.
func (p *pass[M]) store(ctx context.Context, ch *change) (ok, same bool) {
	path, err := p.files.save(ctx, ch.rule.store, ch.spot, ch.content)
	if err != nil {
		e := ch.event(EventOffloadFailed)
		e.Err = err
		p.report.send(ctx, e)
		return false, false
	}
	p.stored.add(ch.call.id, path)
	if path == ch.path {
		return true, true
	}
	ch.path = path
	p.draft.word(ch)
	return true, false
}

// redo makes p.out anew from the changes that are left.
func (p *pass[M]) redo() {
	p.out = slices.Clone(p.msgs)
	clear(p.marked)
	for _, ch := range p.done {
		p.apply(ch)
	}
}

func (p *pass[M]) tell(ctx context.Context) {
	if p.report == nil {
		return
	}
	for _, ch := range p.done {
		e := ch.event(EventCleared)
		e.BytesAfter, e.Path = ch.after, ch.path
		p.report.send(ctx, e)
	}
}
