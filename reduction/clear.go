// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Clears old results before a model call: lists them, decides about each, stores what will be
// gone, and makes new messages. The given messages never change, and on any failure they stay
// in use.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/tokens"
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
	*middleware[M]
	wording
	given  *adk.TypedChatModelAgentState[M]
	before size  // of that
	after  int64 // of what it becomes; negative if that was not counted
	forced bool  // the window requires clearing everything old
	window int64 // of the model; zero if that is unknown

	msgs      []M  // those of the state, or what a rewriter has made of them
	rewritten bool // by that
	rules     map[string]*rule
	done      []*old // decisions to change something, the oldest first
	failures  int    // writes in a row that failed

	tally einolean.Pass // of the results, if there is an OnEvent
	told  int           // failures that were reported one by one
}

// newPass begins a pass over a state of a known size.
func newPass[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], before size) *pass[M] {
	p := &pass[M]{middleware: m, given: state, before: before, after: -1, window: m.window(ctx), msgs: state.Messages, rules: make(map[string]*rule)}
	p.wording = wording{notices: currentNotices(), root: m.cfg.RootDir, least: m.cfg.MinSavingBytes}
	reader, _ := m.policy.reader(ctx)
	p.data = p.notices.hinted(noticeData{tool: reader})
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
	out := p.out()
	p.tell(ctx, out)
	return withMessages(p.given, out), nil
}

// run decides and stores content, and reports whether anything changes.
func (p *pass[M]) run(ctx context.Context) (changed bool, err error) {
	candidates := p.list(ctx)
	if p.cfg.ClearMessageRewriter != nil && !p.cfg.SkipClear {
		if p.msgs, p.rewritten, err = rewritten(ctx, p.middleware, p.msgs); err != nil {
			return false, err
		}
	}
	if p.rewritten {
		p.tally = einolean.Pass{} // of these, not of those that were listed before
		candidates = p.list(ctx)
	}
	if !p.rewritten && (len(candidates) == 0 || p.cannotSaveEnough(candidates)) {
		p.countLeft(candidates)
		return false, nil
	}
	p.keepNamed(ctx)
	if err := p.decideAll(ctx, candidates); err != nil {
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

// keepNamed keeps the files in the store that the messages name.
func (p *pass[M]) keepNamed(ctx context.Context) {
	p.policy.files.Note(ctx, namedFiles(p.cfg, p.msgs))
}

// old is a result that may be cleared, and what becomes of it.
type old struct {
	*pair
	callAt int  // the message of the call
	marked bool // which has this package's mark
	rule   *rule
	notice notice       // that already replaces the result
	size   int          // bytes of text
	tokens int          // of the texts, if the window asks
	like   string       // the earlier call with the same result, if it is a repeat
	values []*reference // to long values in the call's arguments
	media  []*reference // to media of the result

	// What becomes of it, and of the arguments of its call.
	instead replacement
	args    *string    // new arguments
	after   int        // bytes of text then
	path    string     // where the content is
	page    bool       // the result is a page of that file
	bytes   int        // the size that the notice states
	most    int        // tokens that may stay, if the window says so
	certain bool       // it is known before storing
	existed bool       // the content was there already
	item    vault.Item // to store, unless its Store is nil
}

// replaces reports whether the result or its arguments are replaced; a handler may also ask
// to keep it unchanged for good.
func (r *old) replaces() bool { return !r.instead.keep || r.args != nil || len(r.media) > 0 }

// roughly is the size of a result and the long arguments of its call, in tokens of four
// bytes, as on both sides of the comparison.
func (r *old) roughly() int64 {
	bytes := 0
	if r.notice.kind != clearedNotice {
		bytes = r.size
	}
	for _, v := range r.values {
		bytes += v.to - v.from
	}
	return tokensOf(bytes) + int64(len(r.media)*mediaTokens)
}

// saved estimates the tokens that replacing a result and its arguments saves.
func (r *old) saved() (n int64) {
	if !r.instead.keep {
		for _, text := range r.result.texts {
			n += int64(tokens.Of(text))
		}
		n -= tokensOf(r.after)
	}
	if r.args != nil {
		n += int64(tokens.Of(r.call.args) - tokens.Of(*r.args))
	}
	return n + int64(len(r.media)*mediaSaving)
}

// keepResult leaves the result as it is.
func (r *old) keepResult() {
	r.instead.keep, r.item.Store, r.path, r.after = true, nil, "", r.size
}

// list lists the results that may be cleared, the oldest first.
func (p *pass[M]) list(ctx context.Context) []*old {
	rounds := roundsOf(p.msgs)
	before, end := outside(rounds, p.cfg.ClearRetentionSuffixLimit)
	n := 0
	for _, r := range before {
		n += len(r.pairs)
	}
	all, out := make([]old, 0, n), make([]*old, 0, n)
	for _, r := range before {
		for i := range r.pairs {
			if each := &r.pairs[i]; each.found && each.at < end && !each.result.search {
				all = append(all, old{pair: each, callAt: r.at, marked: r.processed && r.ours, size: each.result.size(), rule: p.ruleOf(ctx, each.call)})
				if c := &all[len(all)-1]; p.isCandidate(c, r) {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *old) int { return a.at - b.at })
	return out
}

// ruleOf is the rule for the old result of a call.
func (p *pass[M]) ruleOf(ctx context.Context, c call) *rule {
	r := p.rules[c.name]
	if r == nil {
		own := p.policy.clearing(ctx, c.name)
		r = &own
		p.rules[c.name] = r
	}
	if excludesThrough(p.policy.noClear, c.name, c.args) {
		kept := *r
		kept.leave = ReasonExcluded
		return &kept
	}
	return r
}

// isCandidate reports whether a result of a round may be cleared.
func (p *pass[M]) isCandidate(r *old, of round) bool {
	r.values, r.media = p.longArguments(r), p.oldMedia(r)
	if len(r.media) > 0 {
		r.media = p.attached(r.media, r.rule.store)
	}
	if r.notice = noticeIn(r.result.texts); of.processed && likePlaceholders(r.result.texts) {
		r.notice.kind = clearedNotice
	}
	switch {
	case r.notice.kind == clearedNotice && len(r.values)+len(r.media) == 0:
		return false
	case r.rule.clear != nil && (r.result.handled || of.processed && !of.ours):
		return false
	case r.rule.leave != "":
		p.countKept(r.rule.leave)
		return false
	}
	return true
}

// longArguments lists the values of a call's arguments that are too long.
func (p *pass[M]) longArguments(r *old) []*reference {
	over := p.cfg.ClearArgumentsOver
	if over == 0 || len(r.call.args) <= over || !r.rule.refers() {
		return nil
	}
	return p.arguments(r.call, over, r.rule.store)
}

// oldMedia lists the media of a result, if the window is known.
func (p *pass[M]) oldMedia(r *old) (out []*reference) {
	if p.window == 0 || !r.rule.refers() {
		return nil
	}
	for _, m := range mediaOf(p.msgs[r.at]) {
		if m.result == r.result.index {
			out = append(out, m)
		}
	}
	return out
}

// decideAll decides about candidates, the oldest first, until the target is reached.
func (p *pass[M]) decideAll(ctx context.Context, candidates []*old) (err error) {
	target, left := p.cfg.ClearTargetTokens, int64(math.MaxInt64)
	if target > 0 {
		left = p.counted(ctx)
	}
	if target > 0 && p.rewritten {
		if left, err = p.count(ctx, p.msgs); err != nil {
			return err
		}
	}
	recounts := 0
	for _, r := range candidates {
		if !p.forced && target > 0 && left < target && recounts < maxRecounts {
			if left, err = p.count(ctx, p.out()); err != nil || left < target {
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

// decideOne decides about one candidate and returns the tokens that this saves, if they count
// towards a target.
func (p *pass[M]) decideOne(ctx context.Context, r *old) (saved int64, err error) {
	why, err := p.decide(ctx, r)
	if err != nil {
		return 0, err
	}
	if why != "" {
		p.countKept(why)
	}
	if why != "" && !r.instead.mark {
		return 0, nil
	}
	if p.done = append(p.done, r); p.cfg.ClearTargetTokens == 0 {
		return 0, nil
	}
	var result, call edit
	r.edit(&result, &call)
	is := []M{p.msgs[r.at], p.msgs[r.callAt]}
	before, err := p.cfg.TokenCounter(ctx, is, nil)
	if err != nil {
		return 0, err
	}
	after, err := p.cfg.TokenCounter(ctx, []M{applied(is[0], result), applied(is[1], call)}, nil)
	return p.corrected(before - after), err
}

// decide decides the fate of a result and of its call's arguments, or returns why both stay
// as they are. Its error is that of a user's callback.
func (p *pass[M]) decide(ctx context.Context, r *old) (Reason, error) {
	r.instead.index = r.result.index
	if r.rule.clear != nil {
		return p.byHandler(ctx, r)
	}
	if r.notice.kind != clearedNotice && r.size > 0 {
		if err := p.place(ctx, r); err != nil {
			return "", err
		}
		if p.word(r) && (r.path == "" || showable(r.path)) {
			return "", nil
		}
	}
	r.keepResult()
	if len(r.values)+len(r.media) == 0 {
		return ReasonNotSmaller, nil
	}
	p.word(r)
	return "", nil
}

// byHandler asks the user's handler.
func (p *pass[M]) byHandler(ctx context.Context, r *old) (Reason, error) {
	got, err := r.rule.clear(ctx, p.detail(r))
	if errors.Is(err, UseDefault) {
		own := r.rule.byDefault()
		if r.rule = &own; own.leave != "" {
			return own.leave, nil
		}
		return p.decide(ctx, r)
	}
	if err != nil {
		return "", err
	}
	if got == nil || !got.NeedClear {
		return ReasonHandler, nil
	}
	if got.NeedOffload && r.rule.store == nil {
		return "", fmt.Errorf("reduction: clearing a result of %q: %w", r.call.name, errNoBackend)
	}
	r.after, r.instead.mark, r.instead.keep = r.size, true, true
	if got.ToolResult != nil && len(got.ToolResult.Parts) > 0 {
		r.instead.parts, r.instead.keep = got.ToolResult.Parts, false
		r.after = bytesOf(got.ToolResult)
	}
	if got.ToolArgument != nil && got.ToolArgument.Text != r.call.args {
		r.args = &got.ToolArgument.Text
	}
	if got.NeedOffload {
		r.path = got.OffloadFilePath
		r.item = vault.Item{Store: r.rule.store, At: vault.Place{Path: r.path, Fixed: true}, Content: got.OffloadContent}
	}
	if !r.replaces() {
		return ReasonHandler, nil
	}
	return "", nil
}

// detail describes a call and its result for a handler or a path generator, which may write to it.
func (p *pass[M]) detail(r *old) *ToolDetail {
	return detailOf(r.call, own(resultAt(p.msgs[r.at], r.result.index)))
}

// place determines the file of the content.
func (p *pass[M]) place(ctx context.Context, r *old) (err error) {
	r.bytes = r.size
	if r.notice.kind == truncatedNotice && isOurNotice(ctx, p.cfg, r) {
		r.path, r.bytes = r.notice.path, max(r.notice.bytes, r.size)
		return nil
	}
	if r.rule.store == nil {
		return nil
	}
	if r.path = p.pageOf(ctx, r); r.path != "" {
		r.page = true
		return nil
	}
	content := joined(r.result.texts)
	if r.path = r.rule.store.ReadBack(ctx, p.root, r.call.args, content); r.path != "" {
		return nil
	}
	r.path = vault.DefaultPath(p.root, vault.ClearDir, r.call.id)
	if generate := p.cfg.GenClearOffloadFilePath; generate != nil && r.most == 0 {
		r.path, err = generate(ctx, p.detail(r))
	}
	r.item = vault.Item{Store: r.rule.store, Content: content}
	r.item.At, r.path, r.certain = r.rule.store.Plan(vault.Place{Path: r.path}, content)
	return err
}

// isOurNotice reports whether this package or Eino's wrote a notice in place of a result. A
// tool may return anything, such as a notice about somebody else's file, or quote one. The
// path must be possible for the call, and the file must contain the excerpt.
func isOurNotice[M adk.MessageType](ctx context.Context, cfg *TypedConfig[M], r *old) bool {
	n, s := r.notice, r.rule.store
	named := slices.Contains(vault.Mentions(cfg.RootDir, r.call.args), n.path)
	own := vault.MadeFor(n.path, r.call.id) || cfg.GenTruncOffloadFilePath != nil || named
	before, whole := beforeNotice(r.result.texts)
	switch {
	case !own, !whole:
		return false
	case s == nil:
		return true
	case !s.Readable():
		size, used := s.Recorded(ctx, n.path)
		return vault.MadeFor(n.path, r.call.id) && (!used || size < 0 || size >= n.bytes)
	case !has(ctx, s, n, len(before)):
		return false
	case before != "":
		piece, err := s.Piece(ctx, n.path, 0, len(before))
		return err == nil && piece == before
	}
	// A piece of a file that was read back may come from anywhere in it.
	return named || showsExcerpt(ctx, s, n, r.result.texts)
}

// showsExcerpt reports whether the head and the tail in a finished notice match its file.
func showsExcerpt(ctx context.Context, s *vault.Store, n notice, texts []string) bool {
	head, tail, ok := excerptIn(texts)
	return !ok || shows(ctx, s, n.path, 0, head) && shows(ctx, s, n.path, n.bytes-len(tail), tail)
}

// has reports whether the file of a notice has the stated size, or at least shown bytes.
func has(ctx context.Context, s *vault.Store, n notice, shown int) bool {
	size, err := s.Size(ctx, n.path)
	return err == nil && size >= int64(max(n.bytes, shown))
}

// shows reports whether text is what a notice shows of a file from an offset on.
func shows(ctx context.Context, s *vault.Store, filePath string, offset int, text string) bool {
	piece, err := s.Piece(ctx, filePath, int64(offset), len(text))
	return err == nil && (piece == text || defused(piece) == text)
}

// pageOf returns the stored file that a result is a page of, empty if it is none. The same
// call returns the page again, because the file still exists and never changes; for other
// files than this package's, that is unknown.
func (p *pass[M]) pageOf(ctx context.Context, r *old) string {
	if !r.rule.reads {
		return ""
	}
	name, s := readtool.Path(r.call.args), r.rule.store
	if name == "" || !showable(name) {
		return ""
	}
	_, used := s.Recorded(ctx, name)
	switch {
	case used && !s.Readable():
		return name
	case !used && !p.policy.results(name) || !s.Readable():
		return "" // a store that cannot be asked may have something of its owner's there
	}
	if _, err := s.Size(ctx, name); err != nil {
		return ""
	}
	return name
}

// saveAll stores the content of all changes, and drops those that cannot be. It reports
// whether anything is other than decided.
func (p *pass[M]) saveAll(ctx context.Context) (differs bool) {
	items := make([]vault.Item, 0, len(p.done))
	for _, r := range p.done {
		if r.item.Store != nil {
			items = append(items, r.item)
		}
	}
	saved := p.policy.files.SaveAll(ctx, items, maxFailures)
	kept := p.done[:0]
	for _, r := range p.done {
		var got vault.Saved
		switch {
		case r.item.Store == nil:
		case len(saved) > 0:
			got, saved = saved[0], saved[1:]
		default:
			got = p.save(ctx, r.item)
		}
		ok, same := p.keep(ctx, r, got)
		differs = differs || !same
		if ok {
			kept = append(kept, r)
		}
	}
	p.done = kept
	return differs
}

// keep takes note of what became of the content of a change, and stores what its references
// replace. ok is false if nothing is left of the change, same is true if it is as decided.
func (p *pass[M]) keep(ctx context.Context, r *old, got vault.Saved) (ok, same bool) {
	same = true
	if r.item.Store != nil {
		if !p.stored(ctx, r, got.Err) {
			if r.replaces() {
				p.countKept(ReasonNotStored)
			}
			return false, false
		}
		same, r.path, r.existed = got.Path == r.path, got.Path, got.Existed
		p.policy.noteStored(r.call.id, r.path)
	}
	values, sameValues := p.keepReferences(ctx, r, r.values)
	media, sameMedia := p.keepReferences(ctx, r, r.media)
	if r.values, r.media = values, media; same && sameValues && sameMedia {
		return true, true
	}
	if !sameValues {
		r.args = nil
	}
	if p.word(r); !r.replaces() {
		p.countKept(ReasonNotStored)
		return false, false
	}
	return true, false
}

// keepReferences stores the content of references, and returns those that succeeded. same is true
// if all did, under the expected paths.
func (p *pass[M]) keepReferences(ctx context.Context, r *old, all []*reference) (kept []*reference, same bool) {
	kept, same = all[:0], true
	for _, each := range all {
		got := p.save(ctx, vault.Item{Store: r.rule.store, At: each.at, Content: each.content})
		if !p.stored(ctx, r, got.Err) {
			same = false
			continue
		}
		if each.existed = got.Existed; got.Path != each.path {
			same, each.path = false, got.Path
			p.mention(each)
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
	return p.policy.files.Save(ctx, item)
}

var errStoreDown = errors.New("the store has failed too often")

// stored reports whether content of a call was stored, and counts and reports failures.
func (p *pass[M]) stored(ctx context.Context, r *old, err error) bool {
	switch {
	case err == nil:
		p.failures = 0
	case !errors.Is(err, errStoreDown):
		p.failures++
		if p.told < maxFailures {
			p.told++
			p.policy.report(ctx, r.call.name, r.call.id, output{kind: einolean.KindStoreFailed, before: r.size, after: r.size, err: err})
		}
	}
	return err == nil
}

// out returns the messages with all changes, in copies.
func (p *pass[M]) out() []M {
	out, edits := slices.Clone(p.msgs), make([]edit, len(p.msgs))
	for _, r := range p.done {
		r.edit(&edits[r.at], &edits[r.callAt])
	}
	for i := range edits {
		if e := &edits[i]; e.mark || e.args != nil || e.results != nil || e.media != nil {
			out[i] = applied(out[i], *e)
		}
	}
	return out
}

// edit adds the change to the edits of the messages of the result and of the call.
func (r *old) edit(result, call *edit) {
	result.media = append(result.media, r.media...)
	if !r.instead.keep || r.instead.mark {
		result.results = append(result.results, r.instead)
	}
	call.mark = call.mark || !r.marked
	if r.args != nil {
		if call.args == nil {
			call.args = make(map[int]string)
		}
		call.args[r.call.index] = *r.args
	}
}

// tell reports results replaced for the first time, and the pass, of which out are the messages;
// nil if nothing changes. Whether an earlier run replaced a result is known from the store or
// else from earlier reports of this middleware.
func (p *pass[M]) tell(ctx context.Context, out []M) {
	if p.policy.onEvent == nil {
		return
	}
	after := p.counted(ctx)
	if out != nil {
		for _, r := range p.done {
			if r.replaces() {
				p.tellOne(ctx, r)
			}
		}
		after = p.tokensAfter(ctx, out)
	}
	pass := p.tally
	pass.Before, pass.After, pass.Threshold, pass.Target = p.counted(ctx), after, p.cfg.MaxTokensForClear, p.cfg.ClearTargetTokens
	p.policy.send(ctx, einolean.Event{Kind: einolean.KindClearDone, Pass: &pass})
}

func (p *pass[M]) tellOne(ctx context.Context, r *old) {
	repeated := !p.reported.add(keyOf(append([]string{r.call.id, r.path, r.call.args}, r.result.texts...)...)) || r.existed ||
		r.path == "" && len(r.values) > 0 && r.values[0].existed || r.path == "" && len(r.media) > 0 && r.media[0].existed
	p.tally.Looked++
	if repeated {
		p.tally.Repeated++
		return
	}
	p.tally.Cleared++
	o := output{kind: einolean.KindResultCleared, before: r.size, after: r.after, path: r.path, rule: byThreshold}
	if r.rule.clear != nil {
		o.rule = byHandler
	}
	p.policy.report(ctx, r.call.name, r.call.id, r.sizes(o))
}

// countKept counts a result that stays.
func (p *pass[M]) countKept(why Reason) {
	if p.policy.onEvent == nil {
		return
	}
	if p.tally.Kept == nil {
		p.tally.Kept = make(map[string]int)
	}
	p.tally.Looked++
	p.tally.Kept[string(why)]++
}

// countLeft counts results that stay because the pass would save too little.
func (p *pass[M]) countLeft(results []*old) {
	for _, r := range results {
		if r.replaces() {
			p.countKept(ReasonTooFewTokens)
		}
	}
}

// sizes adds the arguments and media that references replace to a report on a result.
func (r *old) sizes(o output) output {
	if r.args != nil && len(r.values) > 0 {
		o.before += len(r.call.args)
		o.after += len(*r.args)
		o.path = cmp.Or(o.path, r.values[0].path)
	}
	for _, a := range r.media {
		o.before += len(a.content)
		o.after += len(a.text)
		o.path = cmp.Or(o.path, a.path)
	}
	return o
}

// detailOf describes a call and its result for a handler or a path generator.
func detailOf(c call, result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.name, CallID: c.id},
		ToolArgument: &schema.ToolArgument{Text: c.args},
		ToolResult:   result,
	}
}

// counted is the number of tokens of the messages before the pass.
func (p *pass[M]) counted(ctx context.Context) int64 {
	if !p.before.exact { // the user's counter always is
		p.before = p.estimator.compared(&p.policy.runOf(ctx).counts, p.given.Messages, p.given.ToolInfos, p.cfg.MaxTokensForClear, -1)
	}
	return p.before.tokens
}

func (p *pass[M]) corrected(n int64) int64 { return int64(float64(n) * p.before.factor) }

func (p *pass[M]) count(ctx context.Context, msgs []M) (int64, error) {
	n, err := p.cfg.TokenCounter(ctx, msgs, p.given.ToolInfos)
	return p.corrected(n), err
}

// tokensAfter is the size of what the pass makes. If the user's counter has not counted it, it
// subtracts the default estimate of the savings.
func (p *pass[M]) tokensAfter(ctx context.Context, out []M) int64 {
	if p.after >= 0 {
		return p.after
	}
	if p.estimator != nil {
		n, _ := p.count(ctx, out) // it never fails
		return n
	}
	e := new(estimator[M])
	return max(0, p.before.tokens-e.count(p.given.Messages, nil)+e.count(out, nil))
}
