// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Clears old results before a model call: lists them, decides about each, stores what will be
// gone, and makes new messages. The given messages never change, and on any failure they stay
// in use.

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/size"
	"github.com/einolean/einolean/reduction/internal/vault"
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

// pass is one pass over a history: what can be cleared, what becomes of it, and whether that is
// worth it.
type pass[M adk.MessageType] struct {
	*policy[M]
	decider
	given  *adk.TypedChatModelAgentState[M]
	before size.Size // of that
	after  int64     // of what it becomes; negative if that was not counted
	forced bool      // the window requires clearing everything old
	window int64     // of the model; zero if that is unknown

	msgs      []M  // those of the state, or what a rewriter has made of them
	rewritten bool // by that
	rules     map[string]*rule
	done      []edit // the oldest first
	failures  int    // writes in a row that failed

	tally einolean.Pass // of the results, if there is an OnEvent
	told  int           // failures that were reported one by one
}

// newPass begins a pass over a state of a known size.
func newPass[M adk.MessageType](ctx context.Context, of *policy[M], state *adk.TypedChatModelAgentState[M], before size.Size) *pass[M] {
	p := &pass[M]{policy: of, given: state, before: before, after: -1, window: of.window(ctx), msgs: state.Messages, rules: make(map[string]*rule)}
	p.decider = decider{
		wording:  wording{notices: notice.Current(), root: of.RootDir},
		least:    of.MinSavingBytes,
		generate: of.GenClearOffloadFilePath, anyName: of.GenTruncOffloadFilePath != nil,
		isResult: of.results,
		detail: func(r *result) *ToolDetail {
			return &ToolDetail{
				ToolContext:  &adk.ToolContext{Name: r.Call.Name, CallID: r.Call.ID},
				ToolArgument: &schema.ToolArgument{Text: r.Call.Args},
				ToolResult:   own(rounds.ResultAt(p.msgs[r.At], r.Result.Index)),
			}
		},
	}
	reader, _ := of.reader(ctx)
	p.data = p.notices.Hinted(notice.Data{Tool: reader})
	return p
}

// cleared returns the state that the pass makes.
func (p *pass[M]) cleared(ctx context.Context) (*adk.TypedChatModelAgentState[M], error) {
	changed, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if !changed {
		p.tell(ctx, nil)
		return p.given, nil
	}
	next := *p.given
	next.Messages = p.out()
	p.tell(ctx, next.Messages)
	return &next, nil
}

// run decides and stores content, and reports whether anything changes.
func (p *pass[M]) run(ctx context.Context) (changed bool, err error) {
	results := p.list(ctx)
	if p.ClearMessageRewriter != nil && !p.SkipClear {
		if p.msgs, p.rewritten, err = rewritten(ctx, p.policy, p.msgs); err != nil {
			return false, err
		}
	}
	if p.rewritten {
		p.tally = einolean.Pass{} // of these, not of those that were listed before
		results = p.list(ctx)
	}
	if !p.rewritten && (len(results) == 0 || p.cannotSaveEnough(results)) {
		p.countKept(ReasonTooFewTokens, len(results))
		return false, nil
	}
	p.files.Note(ctx, p.namedFiles(p.msgs))
	if err := p.decideAll(ctx, results); err != nil {
		return false, err
	}
	if n := len(p.done); n > 1 && p.done[n-1].roughly() < largeResult {
		p.spareNewest(ctx)
	}
	if ok, err := p.worthIt(ctx); !ok {
		return false, err
	}
	if p.saveAll(ctx) {
		return p.worthIt(ctx)
	}
	return true, nil
}

// list lists the results that may be cleared, the oldest first.
func (p *pass[M]) list(ctx context.Context) []*result {
	before, end := rounds.Outside(rounds.Of(p.msgs), p.ClearRetentionSuffixLimit)
	n := 0
	for _, r := range before {
		n += len(r.Pairs)
	}
	all, out := make([]result, 0, n), make([]*result, 0, n)
	for _, r := range before {
		for i := range r.Pairs {
			if each := &r.Pairs[i]; each.Found && each.At < end && !each.Result.Search {
				all = append(all, resultOf(r, each, p.ruleOf(ctx, each.Call)))
				if c := &all[len(all)-1]; p.isCandidate(c, r) {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *result) int { return a.At - b.At })
	return out
}

// ruleOf is the rule for the old result of a call.
func (p *pass[M]) ruleOf(ctx context.Context, c rounds.Call) *rule {
	r := p.rules[c.Name]
	if r == nil {
		own := p.clearing(ctx, c.Name)
		r = &own
		p.rules[c.Name] = r
	}
	if excludesThrough(p.ClearExcludeTools, c.Name, c.Args) {
		kept := *r
		kept.leave = ReasonExcluded
		return &kept
	}
	return r
}

// isCandidate reports whether a result of a round may be cleared, and completes what is known of it.
func (p *pass[M]) isCandidate(r *result, of rounds.Round) bool {
	r.values, r.media = p.longArguments(r), p.oldMedia(r)
	if len(r.media) > 0 {
		r.media = p.attached(r.media, r.rule.store)
	}
	if of.Processed {
		r.notice = notice.InMarked(r.Result.Texts)
	}
	switch {
	case r.notice.Cleared() && len(r.values)+len(r.media) == 0:
		return false
	case r.rule.clear != nil && (r.Result.Handled || of.Processed && !of.Ours):
		return false
	case r.rule.leave != "":
		p.countKept(r.rule.leave, 1)
		return false
	}
	return true
}

// longArguments lists the values of a call's arguments that are too long.
func (p *pass[M]) longArguments(r *result) []reference {
	over := p.ClearArgumentsOver
	if over == 0 || len(r.Call.Args) <= over || !r.rule.refers() {
		return nil
	}
	return p.arguments(r.Call, over, r.rule.store)
}

// oldMedia lists the media of a result, if the window is known.
func (p *pass[M]) oldMedia(r *result) (out []reference) {
	if p.window == 0 || !r.rule.refers() {
		return nil
	}
	for _, m := range rounds.Media(p.msgs[r.At]) {
		if m.Result == r.Result.Index {
			out = append(out, reference{medium: m})
		}
	}
	return out
}

// decideAll decides about results, the oldest first, until the target is reached.
func (p *pass[M]) decideAll(ctx context.Context, results []*result) (err error) {
	target, left := p.ClearTargetTokens, int64(math.MaxInt64)
	if target > 0 {
		left = p.sizeBefore(ctx)
	}
	if target > 0 && p.rewritten {
		if left, err = p.sizeOf(ctx, p.msgs); err != nil {
			return err
		}
	}
	recounts := 0
	p.done = make([]edit, 0, len(results))
	for _, r := range results {
		if !p.forced && target > 0 && left < target && recounts < maxRecounts {
			if left, err = p.sizeOf(ctx, p.out()); err != nil || left < target {
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
func (p *pass[M]) decideOne(ctx context.Context, r *result) (saved int64, err error) {
	e, why, err := p.decide(ctx, r)
	if err != nil {
		return 0, err
	}
	if why != "" {
		p.countKept(why, 1)
	}
	if why != "" && !e.instead.Mark {
		return 0, nil
	}
	if p.done = append(p.done, e); p.ClearTargetTokens == 0 {
		return 0, nil
	}
	var result, call rounds.Edit
	e.into(&result, &call)
	is := []M{p.msgs[e.At], p.msgs[e.callAt]}
	before, err := p.TokenCounter(ctx, is, nil)
	if err != nil {
		return 0, err
	}
	after, err := p.TokenCounter(ctx, []M{rounds.Apply(is[0], result), rounds.Apply(is[1], call)}, nil)
	return p.corrected(before - after), err
}

// cannotSaveEnough reports whether even clearing everything cannot save
// ClearAtLeastTokens. It knows only with the default counter and without a handler.
func (p *pass[M]) cannotSaveEnough(results []*result) bool {
	if p.ClearAtLeastTokens == 0 || p.estimator == nil || p.forced {
		return false
	}
	var most int64
	for _, each := range results {
		if each.rule.clear != nil || p.corrected(most)+1 >= p.ClearAtLeastTokens {
			return false
		}
		for _, text := range each.Result.Texts {
			most += int64(tokens.Of(text))
		}
		for _, v := range each.values {
			most += int64(tokens.Of(each.Call.Args[v.from:v.to]))
		}
		most += int64(len(each.media) * size.Medium)
	}
	return p.corrected(most)+1 < p.ClearAtLeastTokens
}

// worthIt reports whether there are changes and they save enough. It counts only what decides.
func (p *pass[M]) worthIt(ctx context.Context) (bool, error) {
	if len(p.done) == 0 && !p.rewritten {
		return false, nil
	}
	f, said := p.figures(), unknown
	for said = worth(f); said == unknown; said = worth(f) {
		if f.before < 0 {
			f.before = p.sizeBefore(ctx)
			continue
		}
		after, err := p.sizeOf(ctx, p.out())
		if err != nil {
			return false, err
		}
		f.after, p.after = after, after
	}
	if said == waits {
		p.countLeft(p.done)
	}
	return said == pays, nil
}

// figures are those of a pass before anything is counted.
func (p *pass[M]) figures() figures {
	f := figures{
		threshold: p.MaxTokensForClear, target: p.ClearTargetTokens, least: p.ClearAtLeastTokens,
		forced: p.forced, chosen: p.rewritten, before: -1, after: -1,
	}
	var sum int64
	first := len(p.msgs)
	for _, r := range p.done {
		f.chosen = f.chosen || r.rule.clear != nil
		if f.saves < f.threshold/dropShare {
			sum += r.saved()
			f.saves = p.corrected(sum)
		}
		if r.replaces() {
			f.shrinks, first = f.shrinks+r.roughly()-size.OfBytes(r.after), min(first, r.At, r.callAt)
		}
	}
	f.breaks = size.Roughly(p.msgs[first:]) - f.shrinks
	return f
}

// spareNewest takes the newest results out of a pass, if clearing them saves less than a
// hundredth of what follows the first of them, and the others alone make room. A caller that
// passes the whole history each time has the others cleared again, and the prompt cache holds up
// to the newest: clearing these would not pay for that within a thousand model calls.
// The fields that say how much to save decide for themselves.
func (p *pass[M]) spareNewest(ctx context.Context) {
	if p.forced || p.rewritten || p.ClearTargetTokens > 0 || p.ClearAtLeastTokens > 0 {
		return
	}
	behind, at := int64(0), len(p.msgs) // tokens from there on
	var saves, makes int64              // tokens: of the newest, and of what the pass makes without them, if counted
	spared := len(p.done)
	for i := spared - 1; i > 0 && p.done[i].rule.clear == nil; i-- {
		r := p.done[i]
		for ; at > min(r.At, r.callAt); at-- {
			behind += size.Roughly(p.msgs[at-1 : at])
		}
		if saves += r.roughly() - size.OfBytes(r.after); makes != 0 {
			makes += p.corrected(r.saved())
		}
		if saves*nothingShare >= behind-saves {
			continue
		}
		if makes == 0 {
			makes = p.sizeBefore(ctx)
			for _, other := range p.done[:i] {
				makes -= p.corrected(other.saved())
			}
		}
		if makes >= p.MaxTokensForClear {
			break
		}
		spared = i
	}
	p.countLeft(p.done[spared:])
	p.done = p.done[:spared]
}

// saveAll stores what the edits take out, and drops those of which that fails. It reports whether
// anything is other than decided.
func (p *pass[M]) saveAll(ctx context.Context) (differs bool) {
	items := make([]vault.Item, 0, len(p.done))
	for i := range p.done {
		if item := p.done[i].file.item; item.Store != nil {
			items = append(items, item)
		}
	}
	saved := p.files.SaveAll(ctx, items, maxFailures)
	kept := p.done[:0]
	for _, e := range p.done {
		var got vault.Saved
		switch {
		case e.file.item.Store == nil:
		case len(saved) > 0:
			got, saved = saved[0], saved[1:]
		default:
			got = p.save(ctx, e.file.item)
		}
		e, ok, same := p.stored(ctx, e, got)
		differs = differs || !same
		if ok {
			kept = append(kept, e)
		}
	}
	p.done = kept
	return differs
}

// stored returns an edit as it is now that the content of its result was saved, and saves what its
// references replace. ok is false if nothing is left of it, same is true if it is as decided.
func (p *pass[M]) stored(ctx context.Context, e edit, got vault.Saved) (now edit, ok, same bool) {
	same = true
	if e.file.item.Store != nil {
		if !p.succeeded(ctx, e.result, got.Err) {
			if e.replaces() {
				p.countKept(ReasonNotStored, 1)
			}
			return e, false, false
		}
		same, e.file.path, e.file.existed = got.Path == e.file.path, got.Path, got.Existed
	}
	var sameValues, sameMedia bool
	e.values, sameValues = p.saveReferences(ctx, e.result, e.values)
	e.media, sameMedia = p.saveReferences(ctx, e.result, e.media)
	if same && sameValues && sameMedia {
		return e, true, true
	}
	if e, _ = p.edit(e.decision); !e.replaces() {
		p.countKept(ReasonNotStored, 1)
		return e, false, false
	}
	return e, true, false
}

// saveReferences stores what references replace, and returns those of which that succeeded. same is
// true if all did, under the expected paths.
func (p *pass[M]) saveReferences(ctx context.Context, r *result, all []reference) (kept []reference, same bool) {
	same = true
	for _, each := range all {
		got := p.save(ctx, vault.Item{Store: r.rule.store, At: each.at, Content: each.content})
		if !p.succeeded(ctx, r, got.Err) {
			same = false
			continue
		}
		if each.existed = got.Existed; got.Path != each.path {
			same, each.path = false, got.Path
			each = p.worded(each)
		}
		kept = append(kept, each)
	}
	return kept, same
}

// save stores an item, unless the store has failed too often in a row.
func (p *pass[M]) save(ctx context.Context, item vault.Item) vault.Saved {
	if p.failures >= maxFailures {
		return vault.Saved{Err: errStoreDown}
	}
	return p.files.Save(ctx, item)
}

var errStoreDown = errors.New("the store has failed too often")

// succeeded reports whether content of a call was stored, and counts and reports failures.
func (p *pass[M]) succeeded(ctx context.Context, r *result, err error) bool {
	switch {
	case err == nil:
		p.failures = 0
	case !errors.Is(err, errStoreDown):
		p.failures++
		if p.told < maxFailures {
			p.told++
			p.report(ctx, r.Call.Name, r.Call.ID, output{kind: einolean.KindStoreFailed, before: r.size, after: r.size, err: err})
		}
	}
	return err == nil
}

// out returns the messages with all changes, in copies.
func (p *pass[M]) out() []M {
	out, edits := slices.Clone(p.msgs), make([]rounds.Edit, len(p.msgs))
	for i := range p.done {
		e := &p.done[i]
		e.into(&edits[e.At], &edits[e.callAt])
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
func (p *pass[M]) tell(ctx context.Context, out []M) {
	if p.OnEvent == nil {
		return
	}
	after := p.sizeBefore(ctx)
	if out != nil {
		for i := range p.done {
			if e := &p.done[i]; e.replaces() {
				p.tellOne(ctx, e)
			}
		}
		after = p.sizeAfter(ctx, out)
	}
	pass := p.tally
	pass.Before, pass.After, pass.Threshold, pass.Target = p.sizeBefore(ctx), after, p.MaxTokensForClear, p.ClearTargetTokens
	p.send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &pass})
}

func (p *pass[M]) tellOne(ctx context.Context, e *edit) {
	at := e.file
	repeated := !p.reported.add(keyOf(append([]string{e.Call.ID, at.path, e.Call.Args}, e.Result.Texts...)...)) || at.existed ||
		at.path == "" && len(e.values) > 0 && e.values[0].existed || at.path == "" && len(e.media) > 0 && e.media[0].existed
	p.tally.Looked++
	if repeated {
		p.tally.Repeated++
		return
	}
	p.tally.Cleared++
	o := e.output()
	o.kind, o.rule = einolean.KindResultCleared, byThreshold
	if e.rule.clear != nil {
		o.rule = byHandler
	}
	p.report(ctx, e.Call.Name, e.Call.ID, o)
}

// countKept counts results that stay.
func (p *pass[M]) countKept(why Reason, n int) {
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
func (p *pass[M]) countLeft(edits []edit) {
	for i := range edits {
		if edits[i].replaces() {
			p.countKept(ReasonTooFewTokens, 1)
		}
	}
}

// sizeBefore is how many tokens the messages had before the pass.
func (p *pass[M]) sizeBefore(ctx context.Context) int64 {
	if !p.before.Exact { // the user's counter always is
		p.before, _ = p.size(ctx, p.given, true)
	}
	return p.before.Tokens
}

// sizeOf is how many tokens messages have.
func (p *pass[M]) sizeOf(ctx context.Context, msgs []M) (int64, error) {
	n, err := p.TokenCounter(ctx, msgs, p.given.ToolInfos)
	return p.corrected(n), err
}

// sizeAfter is how many tokens the messages have after the pass. If the user's counter has not counted them,
// it subtracts the default estimate of the savings.
func (p *pass[M]) sizeAfter(ctx context.Context, out []M) int64 {
	if p.after >= 0 {
		return p.after
	}
	if p.estimator != nil {
		n, _ := p.sizeOf(ctx, out) // it never fails
		return n
	}
	e := new(size.Estimator[M])
	return max(0, p.before.Tokens-e.Count(p.given.Messages, nil)+e.Count(out, nil))
}

// corrected is an estimate as the provider would count.
func (p *pass[M]) corrected(n int64) int64 { return int64(float64(n) * p.before.Factor) }
