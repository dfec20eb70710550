// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Clears old results before a model call: makes new messages from those of a state. The
// given messages never change, and on any failure they stay in use.

import (
	"context"
	"errors"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/reduction/internal/seen"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

const (
	// maxFailures is how many writes in a row may fail before a pass stops trying: a store
	// that is down would otherwise slow every model call. It is also how many failures a
	// pass reports one by one.
	maxFailures = 3

	// maxRecounts is how often the messages are counted again on the way to
	// ClearTargetTokens, for a counter whose sums do not add up.
	maxRecounts = 8
)

// clearPass is one pass over a history: what can be cleared, and whether it is worth it.
type clearPass[M adk.MessageType] struct {
	phase   *clearPhase[M]
	planner *planner[M]
	draft   *draft[M]
	tools   []*schema.ToolInfo
	given   []M          // the messages of the state
	before  int64        // their tokens
	factor  float64      // corrects estimates
	after   int64        // those of the draft; negative if they were not counted
	listed  []*oldResult // an earlier look has listed them
	forced  bool         // the window requires clearing everything old
	early   bool         // below the threshold, since it breaks even
}

// runPass returns the state that a pass makes of one.
func (c *clearPhase[M]) runPass(ctx context.Context, p *clearPass[M], state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	changed, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if changed || !p.early {
		p.tell(ctx, changed)
	}
	if !changed {
		return state, nil
	}
	c.policy.runOf(ctx).counted().edited(len(p.draft.out))
	return withMessages(state, p.draft.out), nil
}

// countTokens counts the tokens of a state. The factor corrects every estimate; it is 1
// with the user's counter.
func (c *clearPhase[M]) countTokens(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (n int64, factor float64, err error) {
	if c.estimator == nil {
		n, err = c.cfg.TokenCounter(ctx, state.Messages, state.ToolInfos)
		return n, 1, err
	}
	n, factor = c.estimator.corrected(c.policy.runOf(ctx).counted(), state.Messages, state.ToolInfos, c.cfg.MaxTokensForClear)
	return n, factor, nil
}

func (c *clearPhase[M]) pass(ctx context.Context, state *adk.TypedChatModelAgentState[M], tokens int64, factor float64) *clearPass[M] {
	return &clearPass[M]{
		phase: c, planner: c.planner(ctx, state.Messages), tools: state.ToolInfos, given: state.Messages,
		before: tokens, factor: factor, after: -1,
	}
}

// run decides, stores content, and reports whether the draft changes anything.
func (p *clearPass[M]) run(ctx context.Context) (changed bool, err error) {
	rewritten := false
	if p.phase.cfg.ClearMessageRewriter != nil {
		if p.planner.msgs, rewritten, err = p.phase.rewrite(ctx, p.given); err != nil {
			return false, err
		}
	}
	candidates := p.listed
	if candidates == nil || rewritten {
		if p.planner.tally != nil {
			*p.planner.tally = tally{} // of these, not of those that a look has listed
		}
		candidates = p.list(ctx)
	}
	if !rewritten && (len(candidates) == 0 || p.cannotSaveEnough(candidates)) {
		p.countLeft(candidates)
		return false, nil
	}
	p.draft = p.planner.draft(ctx)
	if err := p.plan(ctx, candidates, rewritten); err != nil {
		return false, err
	}
	if ok, err := p.worthIt(ctx, rewritten); !ok {
		return false, err
	}
	if p.draft.saveAll(ctx) {
		p.draft.redo()
		return p.worthIt(ctx, rewritten)
	}
	return true, nil
}

// list lists the old results that may be cleared, oldest first.
func (p *clearPass[M]) list(ctx context.Context) []*oldResult {
	rounds := roundsOf(views(p.phase.codec, p.planner.msgs))
	old, end := outside(rounds, p.phase.cfg.ClearRetentionSuffixLimit)
	candidates := p.planner.candidates(ctx, old, end)
	if p.early {
		return ripeOf(candidates, rounds)
	}
	return candidates
}

// cannotSaveEnough reports whether even clearing everything cannot save
// ClearAtLeastTokens. It knows only with the default counter and without a handler.
func (p *clearPass[M]) cannotSaveEnough(candidates []*oldResult) bool {
	if p.phase.cfg.ClearAtLeastTokens == 0 || p.phase.estimator == nil || p.forced {
		return false
	}
	var most int64
	for _, each := range candidates {
		if each.rule.clear != nil {
			return false
		}
		for _, text := range each.result.texts {
			most += int64(tokens.Estimate(text))
		}
		for _, v := range each.values {
			most += int64(tokens.Estimate(each.call.args[v.from:v.to]))
		}
		most += int64(len(each.media) * mediaTokens)
	}
	return p.corrected(most)+1 < p.phase.cfg.ClearAtLeastTokens
}

// plan decides about candidates, oldest first, until the target is reached, and
// puts the changes into the draft.
func (p *clearPass[M]) plan(ctx context.Context, candidates []*oldResult, rewritten bool) error {
	left, recounts := p.before, 0
	if rewritten && p.phase.cfg.ClearTargetTokens > 0 {
		var err error
		if left, err = p.count(ctx, p.draft.out); err != nil {
			return err
		}
	}
	for _, r := range candidates {
		if target := p.phase.cfg.ClearTargetTokens; !p.forced && target > 0 && left < target && recounts < maxRecounts {
			var err error
			if left, err = p.count(ctx, p.draft.out); err != nil || left < p.phase.cfg.ClearTargetTokens {
				return err
			}
			recounts++
		}
		saved, err := p.step(ctx, r)
		if err != nil {
			return err
		}
		left -= saved
	}
	return nil
}

// step decides about one candidate and returns the tokens that this saves, if they count
// towards a target.
func (p *clearPass[M]) step(ctx context.Context, r *oldResult) (int64, error) {
	why, err := p.planner.decide(ctx, r)
	if err != nil {
		return 0, err
	}
	if why != "" {
		p.planner.tally.keep(why)
	}
	if why != "" && !r.instead.mark {
		return 0, nil
	}
	out := p.draft.out
	was := []M{out[r.at], out[r.callAt]}
	p.draft.apply(r)
	p.draft.done = append(p.draft.done, r)
	if p.phase.cfg.ClearTargetTokens == 0 {
		return 0, nil
	}
	return p.saving(ctx, was, []M{out[r.at], out[r.callAt]})
}

func (p *clearPass[M]) saving(ctx context.Context, was, is []M) (int64, error) {
	before, err := p.phase.cfg.TokenCounter(ctx, was, nil)
	if err != nil {
		return 0, err
	}
	after, err := p.phase.cfg.TokenCounter(ctx, is, nil)
	return p.corrected(before - after), err
}

func (p *clearPass[M]) corrected(n int64) int64 { return int64(float64(n) * p.factor) }

func (p *clearPass[M]) count(ctx context.Context, msgs []M) (int64, error) {
	n, err := p.phase.cfg.TokenCounter(ctx, msgs, p.tools)
	return p.corrected(n), err
}

// worthIt reports whether there are changes and they save enough.
func (p *clearPass[M]) worthIt(ctx context.Context, rewritten bool) (bool, error) {
	if len(p.draft.done) == 0 && !rewritten {
		return false, nil
	}
	if p.forced {
		return true, nil
	}
	if !rewritten && (p.isDrop() || p.early && !p.planner.breaksEven(p.draft.replaced())) {
		p.countLeft(p.draft.done)
		return false, nil
	}
	if p.phase.cfg.ClearAtLeastTokens == 0 {
		return true, nil
	}
	after, err := p.count(ctx, p.draft.out)
	if err != nil {
		return false, err
	}
	if p.before-after >= p.phase.cfg.ClearAtLeastTokens {
		p.after = after
		return true, nil
	}
	p.countLeft(p.draft.done)
	return false, nil
}

// dropShare is the share of MaxTokensForClear that clearing must save if it cannot get
// below that threshold: an eighth.
const dropShare = 8

// isDrop reports whether clearing is a drop in the ocean: the rest of the conversation
// alone exceeds the threshold, and clearing each result as it becomes old would break the
// prompt cache at every call.
func (p *clearPass[M]) isDrop() bool {
	var saved int64
	for _, r := range p.draft.done {
		if r.rule.clear != nil {
			return false // the user decides
		}
		saved += r.saved()
	}
	saved, most := p.corrected(saved), p.phase.cfg.MaxTokensForClear
	return p.before-saved >= most && saved < most/dropShare
}

// saved estimates the tokens that replacing a result and its arguments saves.
func (r *oldResult) saved() (n int64) {
	if !r.instead.keep {
		for _, text := range r.result.texts {
			n += int64(tokens.Estimate(text))
		}
		n -= tokensOf(r.after)
	}
	if r.args != nil {
		n += int64(tokens.Estimate(r.call.args) - tokens.Estimate(*r.args))
	}
	return n + int64(len(r.media)*mediaSaving)
}

// countLeft counts results that stay because the pass would save too little.
func (p *clearPass[M]) countLeft(results []*oldResult) {
	for _, r := range results {
		if r.replaces() {
			p.planner.tally.keep(ReasonTooFewTokens)
		}
	}
}

// tell reports results replaced for the first time, and the pass. Whether an earlier run
// replaced a result is known from the store or else from earlier reports of this
// middleware.
func (p *clearPass[M]) tell(ctx context.Context, changed bool) {
	if p.planner.tally == nil {
		return
	}
	after := p.before
	if changed {
		for _, r := range p.draft.done {
			if r.replaces() {
				p.tellOne(ctx, r)
			}
		}
		after = p.tokensAfter(ctx)
	}
	out := p.planner.tally.pass
	out.Before, out.After, out.Threshold, out.Target = p.before, after, p.phase.cfg.MaxTokensForClear, p.phase.cfg.ClearTargetTokens
	p.phase.report.send(ctx, leanctx.Event{Kind: leanctx.KindClearDone, Pass: &out})
}

func (p *clearPass[M]) tellOne(ctx context.Context, r *oldResult) {
	repeated := !p.phase.reported.Add(seen.Key(append([]string{r.call.id, r.path, r.call.args}, r.result.texts...)...)) || r.existed ||
		r.path == "" && len(r.values) > 0 && r.values[0].existed || r.path == "" && len(r.media) > 0 && r.media[0].existed
	p.planner.tally.replaced(repeated)
	if repeated {
		return
	}
	o := output{kind: leanctx.KindResultCleared, before: r.size, after: r.after, path: r.path, rule: byThreshold}
	if r.rule.clear != nil {
		o.rule = byHandler
	}
	p.phase.report.output(ctx, r.call.name, r.call.id, r.sizes(o))
}

// tokensAfter is the size of the draft. If the user's counter has not counted it, it
// subtracts the default estimate of the savings.
func (p *clearPass[M]) tokensAfter(ctx context.Context) int64 {
	if p.after >= 0 {
		return p.after
	}
	if p.phase.estimator != nil {
		n, _ := p.count(ctx, p.draft.out) // it never fails
		return n
	}
	e := newEstimator[M]()
	return max(0, p.before-e.count(p.given, nil)+e.count(p.draft.out, nil))
}

// draft is the messages with the changes so far, and the content that these put into the
// store.
type draft[M adk.MessageType] struct {
	planner  *planner[M]
	out      []M
	marked   map[int]bool // assistant messages that have the mark in out
	done     []*oldResult // changed results
	failures int          // writes in a row that failed
}

// draft returns a draft without a change. Files that the messages name stay in the store.
func (p *planner[M]) draft(ctx context.Context) *draft[M] {
	p.phase.files.Note(ctx, namedFiles(p.phase.cfg, p.phase.codec, p.msgs))
	return &draft[M]{planner: p, out: slices.Clone(p.msgs), marked: make(map[int]bool)}
}

// apply puts a change into copies of its messages.
func (d *draft[M]) apply(r *oldResult) {
	codec := d.planner.phase.codec
	if len(r.media) > 0 {
		e := edit{}
		for _, a := range r.media {
			e.media = append(e.media, movedMedium{result: a.result, part: a.part, text: a.text})
		}
		d.out[r.at] = codec.apply(d.out[r.at], e)
	}
	if !r.instead.keep || r.instead.mark {
		d.out[r.at] = codec.apply(d.out[r.at], edit{results: []replacement{r.instead}})
	}
	e := edit{mark: !r.marked && !d.marked[r.callAt]}
	if r.args != nil {
		e.args = map[int]string{r.call.index: *r.args}
	}
	if e.mark || e.args != nil {
		d.marked[r.callAt] = true
		d.out[r.callAt] = codec.apply(d.out[r.callAt], e)
	}
}

// replaced returns the results that the draft replaces.
func (d *draft[M]) replaced() (out []*oldResult) {
	for _, r := range d.done {
		if r.replaces() {
			out = append(out, r)
		}
	}
	return out
}

// redo rebuilds d.out from the remaining changes.
func (d *draft[M]) redo() {
	d.out = slices.Clone(d.planner.msgs)
	clear(d.marked)
	for _, r := range d.done {
		d.apply(r)
	}
}

// saveAll stores the content of all changes, and reports whether a change was dropped or
// differs from d.out.
func (d *draft[M]) saveAll(ctx context.Context) (differs bool) {
	kept := d.done[:0]
	for _, r := range d.done {
		ok, same := d.save(ctx, r)
		differs = differs || !same
		if ok {
			kept = append(kept, r)
		}
	}
	d.done = kept
	return differs
}

// save stores the content of a change. ok is false if nothing is left of the change, same
// is true if it is as in d.out.
func (d *draft[M]) save(ctx context.Context, r *oldResult) (ok, same bool) {
	same = true
	if r.needsStoring {
		if ok, same = d.saveResult(ctx, r); !ok {
			if r.replaces() {
				d.planner.tally.keep(ReasonNotStored)
			}
			return false, false
		}
	}
	if len(r.values)+len(r.media) > 0 && !d.saveReferences(ctx, r) {
		if same = false; !r.replaces() {
			d.planner.tally.keep(ReasonNotStored)
			return false, false
		}
	}
	return true, same
}

// saveResult stores the content of one result.
func (d *draft[M]) saveResult(ctx context.Context, r *oldResult) (ok, same bool) {
	path, existed, err := d.store(ctx, r, r.dest, r.content)
	if err != nil {
		return false, false
	}
	r.existed = existed
	if names := d.planner.phase.names; names != nil {
		names.add(r.call.id, path)
	}
	if path == r.path {
		return true, true
	}
	r.path = path
	d.planner.wording.word(r)
	return true, false
}

// saveReferences stores the values and the media of a change, and drops the references
// whose content could not be stored. It reports whether all were stored, under the
// expected paths.
func (d *draft[M]) saveReferences(ctx context.Context, r *oldResult) (same bool) {
	var sameMedia bool
	if r.values, same = saveEach(ctx, d, r, r.values); !same {
		r.args = nil
		d.planner.wording.word(r)
	}
	if r.media, sameMedia = saveEach(ctx, d, r, r.media); !sameMedia {
		for _, a := range r.media {
			d.planner.wording.mention(a)
		}
	}
	return same && sameMedia
}

// saveEach stores the content of references and returns those that succeeded.
func saveEach[M adk.MessageType, R interface{ target() *reference }](ctx context.Context, d *draft[M], r *oldResult, all []R) (kept []R, same bool) {
	kept, same = all[:0], true
	for _, each := range all {
		to := each.target()
		path, existed, err := d.store(ctx, r, vault.Place{Path: to.path}, to.content)
		if err != nil {
			same = false
			continue
		}
		same = same && path == to.path
		to.path, to.existed = path, existed
		kept = append(kept, each)
	}
	return kept, same
}

// store stores content of a call, unless the store has failed too often in a row.
func (d *draft[M]) store(ctx context.Context, r *oldResult, at vault.Place, content string) (path string, existed bool, err error) {
	if d.failures >= maxFailures {
		return "", false, errStoreDown
	}
	path, existed, err = d.planner.phase.files.Save(ctx, r.rule.store, at, content)
	if err == nil {
		d.failures = 0
		return path, existed, nil
	}
	d.failures++
	if d.planner.tally != nil && d.planner.tally.failed < maxFailures {
		d.planner.tally.failed++
		d.planner.phase.report.output(ctx, r.call.name, r.call.id, output{kind: leanctx.KindStoreFailed, before: r.size, after: r.size, err: err})
	}
	return "", false, err
}

var errStoreDown = errors.New("the store has failed too often")

// rewrite returns the messages with the rounds outside the kept ones changed by the user's
// rewriter, and whether anything is new. It skips rounds that were rewritten or cleared
// before.
func (c *clearPhase[M]) rewrite(ctx context.Context, msgs []M) ([]M, bool, error) {
	if c.cfg.SkipClear {
		return msgs, false, nil
	}
	vs := views(c.codec, msgs)
	old, end := outside(roundsOf(vs), c.cfg.ClearRetentionSuffixLimit)
	instead := make(map[int][]M, len(old))
	gone := make(map[int]bool)
	for _, r := range old {
		if r.processed || !alone(vs, r, end) {
			continue
		}
		got, err := c.rewriteRound(ctx, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.at] = got
		gone[r.at] = true
		for _, i := range r.messages() {
			if rest, any := c.codec.withoutResults(msgs[i]); any {
				instead[i] = append(instead[i], rest)
			}
			gone[i] = true
		}
	}
	if len(instead) == 0 {
		return msgs, false, nil
	}
	out := make([]M, 0, len(msgs))
	for i, m := range msgs {
		out = append(out, instead[i]...)
		if !gone[i] {
			out = append(out, m)
		}
	}
	return out, true, nil
}

// alone reports whether the messages with a round's results hold results of no other
// round, and none of them is kept: then the round can be taken out.
func alone(vs []view, r round, end int) bool {
	results := 0
	for _, i := range r.messages() {
		if i >= end {
			return false
		}
		results += len(vs[i].results)
	}
	for _, p := range r.pairs {
		if p.found {
			results--
		}
	}
	return results == 0
}

// rewriteRound calls the rewriter, which never sees its own output again.
func (c *clearPhase[M]) rewriteRound(ctx context.Context, msgs []M, r round) ([]M, error) {
	var responses []M
	for _, i := range r.messages() {
		responses = append(responses, c.codec.onlyResults(msgs[i]))
	}
	got, err := c.cfg.ClearMessageRewriter(ctx, c.codec.clone(msgs[r.at]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(got))
	for i, m := range got {
		out[i] = m
		if v := c.codec.view(m); len(v.calls) > 0 {
			out[i] = c.codec.apply(m, edit{mark: true})
		}
	}
	return out, nil
}
