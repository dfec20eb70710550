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
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/readtool"
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
	*middleware[M]
	wording
	given  *adk.TypedChatModelAgentState[M]
	before size.Size // of that
	after  int64     // of what it becomes; negative if that was not counted
	forced bool      // the window requires clearing everything old
	window int64     // of the model; zero if that is unknown

	msgs      []M  // those of the state, or what a rewriter has made of them
	rewritten bool // by that
	rules     map[string]*rule
	done      []*old // decisions to change something, the oldest first
	failures  int    // writes in a row that failed

	tally einolean.Pass // of the results, if there is an OnEvent
	told  int           // failures that were reported one by one
}

// newPass begins a pass over a state of a known size.
func newPass[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], before size.Size) *pass[M] {
	p := &pass[M]{middleware: m, given: state, before: before, after: -1, window: m.window(ctx), msgs: state.Messages, rules: make(map[string]*rule)}
	p.wording = wording{notices: notice.Current(), root: m.cfg.RootDir, least: m.cfg.MinSavingBytes}
	reader, _ := m.policy.reader(ctx)
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
	p.policy.files.Note(ctx, namedFiles(p.cfg, p.msgs))
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

// old is a result that may be cleared, and what becomes of it.
type old struct {
	*rounds.Pair
	callAt int  // the message of the call
	marked bool // which has this package's mark
	rule   *rule
	notice notice.Notice // that already replaces the result
	size   int           // bytes of text
	tokens int           // of the texts, if the window asks
	like   string        // the earlier call with the same result, if it is a repeat
	values []*reference  // to long values in the call's arguments
	media  []*reference  // to media of the result

	// What becomes of it, and of the arguments of its call.
	instead rounds.Replacement
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
func (r *old) replaces() bool { return !r.instead.Keep || r.args != nil || len(r.media) > 0 }

// roughly is the size of a result and the long arguments of its call, in tokens of four
// bytes, as on both sides of the comparison.
func (r *old) roughly() int64 {
	bytes := 0
	if !r.notice.Cleared() {
		bytes = r.size
	}
	for _, v := range r.values {
		bytes += v.to - v.from
	}
	return size.OfBytes(bytes) + int64(len(r.media)*size.Medium)
}

// saved estimates the tokens that replacing a result and its arguments saves.
func (r *old) saved() (n int64) {
	if !r.instead.Keep {
		for _, text := range r.Result.Texts {
			n += int64(tokens.Of(text))
		}
		n -= size.OfBytes(r.after)
	}
	if r.args != nil {
		n += int64(tokens.Of(r.Call.Args) - tokens.Of(*r.args))
	}
	return n + int64(len(r.media)*mediaSaving)
}

// keepResult leaves the result as it is.
func (r *old) keepResult() {
	r.instead.Keep, r.item.Store, r.path, r.after = true, nil, "", r.size
}

// list lists the results that may be cleared, the oldest first.
func (p *pass[M]) list(ctx context.Context) []*old {
	before, end := rounds.Outside(rounds.Of(p.msgs), p.cfg.ClearRetentionSuffixLimit)
	n := 0
	for _, r := range before {
		n += len(r.Pairs)
	}
	all, out := make([]old, 0, n), make([]*old, 0, n)
	for _, r := range before {
		for i := range r.Pairs {
			if each := &r.Pairs[i]; each.Found && each.At < end && !each.Result.Search {
				all = append(all, old{Pair: each, callAt: r.At, marked: r.Processed && r.Ours, size: each.Result.Size(), rule: p.ruleOf(ctx, each.Call)})
				if c := &all[len(all)-1]; p.isCandidate(c, r) {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *old) int { return a.At - b.At })
	return out
}

// ruleOf is the rule for the old result of a call.
func (p *pass[M]) ruleOf(ctx context.Context, c rounds.Call) *rule {
	r := p.rules[c.Name]
	if r == nil {
		own := p.policy.clearing(ctx, c.Name)
		r = &own
		p.rules[c.Name] = r
	}
	if excludesThrough(p.policy.noClear, c.Name, c.Args) {
		kept := *r
		kept.leave = ReasonExcluded
		return &kept
	}
	return r
}

// isCandidate reports whether a result of a round may be cleared.
func (p *pass[M]) isCandidate(r *old, of rounds.Round) bool {
	r.values, r.media = p.longArguments(r), p.oldMedia(r)
	if len(r.media) > 0 {
		r.media = p.attached(r.media, r.rule.store)
	}
	if r.notice = notice.In(r.Result.Texts); of.Processed {
		r.notice = notice.InMarked(r.Result.Texts)
	}
	switch {
	case r.notice.Cleared() && len(r.values)+len(r.media) == 0:
		return false
	case r.rule.clear != nil && (r.Result.Handled || of.Processed && !of.Ours):
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
	if over == 0 || len(r.Call.Args) <= over || !r.rule.refers() {
		return nil
	}
	return p.arguments(r.Call, over, r.rule.store)
}

// oldMedia lists the media of a result, if the window is known.
func (p *pass[M]) oldMedia(r *old) (out []*reference) {
	if p.window == 0 || !r.rule.refers() {
		return nil
	}
	for _, m := range rounds.Media(p.msgs[r.At]) {
		if m.Result == r.Result.Index {
			out = append(out, &reference{medium: m})
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
	if why != "" && !r.instead.Mark {
		return 0, nil
	}
	if p.done = append(p.done, r); p.cfg.ClearTargetTokens == 0 {
		return 0, nil
	}
	var result, call rounds.Edit
	r.edit(&result, &call)
	is := []M{p.msgs[r.At], p.msgs[r.callAt]}
	before, err := p.cfg.TokenCounter(ctx, is, nil)
	if err != nil {
		return 0, err
	}
	after, err := p.cfg.TokenCounter(ctx, []M{rounds.Apply(is[0], result), rounds.Apply(is[1], call)}, nil)
	return p.corrected(before - after), err
}

// decide decides the fate of a result and of its call's arguments, or returns why both stay
// as they are. Its error is that of a user's callback.
func (p *pass[M]) decide(ctx context.Context, r *old) (Reason, error) {
	r.instead.Index = r.Result.Index
	if r.rule.clear != nil {
		return p.byHandler(ctx, r)
	}
	if !r.notice.Cleared() && r.size > 0 {
		if err := p.place(ctx, r); err != nil {
			return "", err
		}
		if p.word(r) && (r.path == "" || notice.Showable(r.path)) {
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
		return "", fmt.Errorf("reduction: clearing a result of %q: %w", r.Call.Name, errNoBackend)
	}
	r.after, r.instead.Mark, r.instead.Keep = r.size, true, true
	if got.ToolResult != nil && len(got.ToolResult.Parts) > 0 {
		r.instead.Parts, r.instead.Keep = got.ToolResult.Parts, false
		r.after = bytesOf(got.ToolResult)
	}
	if got.ToolArgument != nil && got.ToolArgument.Text != r.Call.Args {
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
	return detailOf(r.Call, own(rounds.ResultAt(p.msgs[r.At], r.Result.Index)))
}

// place determines the file of the content.
func (p *pass[M]) place(ctx context.Context, r *old) (err error) {
	r.bytes = r.size
	if r.notice.Cut() && isOurNotice(ctx, p.cfg, r) {
		r.path, r.bytes = r.notice.Path, max(r.notice.Bytes, r.size)
		return nil
	}
	if r.rule.store == nil {
		return nil
	}
	if r.path = p.pageOf(ctx, r); r.path != "" {
		r.page = true
		return nil
	}
	content := strings.Join(r.Result.Texts, "")
	if r.path = r.rule.store.ReadBack(ctx, p.root, r.Call.Args, content); r.path != "" {
		return nil
	}
	r.path = vault.DefaultPath(p.root, vault.ClearDir, r.Call.ID)
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
	named := slices.Contains(vault.Mentions(cfg.RootDir, r.Call.Args), n.Path)
	own := vault.MadeFor(n.Path, r.Call.ID) || cfg.GenTruncOffloadFilePath != nil || named
	before, whole := notice.Before(r.Result.Texts)
	switch {
	case !own, !whole:
		return false
	case s == nil:
		return true
	case !s.Readable():
		size, used := s.Recorded(ctx, n.Path)
		return vault.MadeFor(n.Path, r.Call.ID) && (!used || size < 0 || size >= n.Bytes)
	case !has(ctx, s, n, len(before)):
		return false
	case before != "":
		piece, err := s.Piece(ctx, n.Path, 0, len(before))
		return err == nil && piece == before
	}
	// A piece of a file that was read back may come from anywhere in it.
	return named || showsExcerpt(ctx, s, n, r.Result.Texts)
}

// showsExcerpt reports whether the head and the tail in a finished notice match its file.
func showsExcerpt(ctx context.Context, s *vault.Store, n notice.Notice, texts []string) bool {
	head, tail, ok := notice.Excerpt(texts)
	return !ok || shows(ctx, s, n.Path, 0, head) && shows(ctx, s, n.Path, n.Bytes-len(tail), tail)
}

// has reports whether the file of a notice has the stated size, or at least shown bytes.
func has(ctx context.Context, s *vault.Store, n notice.Notice, shown int) bool {
	size, err := s.Size(ctx, n.Path)
	return err == nil && size >= int64(max(n.Bytes, shown))
}

// shows reports whether text is what a notice shows of a file from an offset on.
func shows(ctx context.Context, s *vault.Store, filePath string, offset int, text string) bool {
	piece, err := s.Piece(ctx, filePath, int64(offset), len(text))
	return err == nil && (piece == text || notice.Defused(piece) == text)
}

// pageOf returns the stored file that a result is a page of, empty if it is none. The same
// call returns the page again, because the file still exists and never changes; for other
// files than this package's, that is unknown.
func (p *pass[M]) pageOf(ctx context.Context, r *old) string {
	if !r.rule.reads {
		return ""
	}
	name, s := readtool.Path(r.Call.Args), r.rule.store
	if name == "" || !notice.Showable(name) {
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
			p.policy.report(ctx, r.Call.Name, r.Call.ID, output{kind: einolean.KindStoreFailed, before: r.size, after: r.size, err: err})
		}
	}
	return err == nil
}

// out returns the messages with all changes, in copies.
func (p *pass[M]) out() []M {
	out, edits := slices.Clone(p.msgs), make([]rounds.Edit, len(p.msgs))
	for _, r := range p.done {
		r.edit(&edits[r.At], &edits[r.callAt])
	}
	for i := range edits {
		if e := &edits[i]; e.Mark || e.Args != nil || e.Results != nil || e.Media != nil {
			out[i] = rounds.Apply(out[i], *e)
		}
	}
	return out
}

// edit adds the change to the edits of the messages of the result and of the call.
func (r *old) edit(result, call *rounds.Edit) {
	for _, a := range r.media {
		result.Media = append(result.Media, a.medium)
	}
	if !r.instead.Keep || r.instead.Mark {
		result.Results = append(result.Results, r.instead)
	}
	call.Mark = call.Mark || !r.marked
	if r.args != nil {
		if call.Args == nil {
			call.Args = make(map[int]string)
		}
		call.Args[r.Call.Index] = *r.args
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
	repeated := !p.reported.add(keyOf(append([]string{r.Call.ID, r.path, r.Call.Args}, r.Result.Texts...)...)) || r.existed ||
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
	p.policy.report(ctx, r.Call.Name, r.Call.ID, r.sizes(o))
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
		o.before += len(r.Call.Args)
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
func detailOf(c rounds.Call, result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.Name, CallID: c.ID},
		ToolArgument: &schema.ToolArgument{Text: c.Args},
		ToolResult:   result,
	}
}

// counted is the number of tokens of the messages before the pass.
func (p *pass[M]) counted(ctx context.Context) int64 {
	if !p.before.Exact { // the user's counter always is
		p.before = p.estimator.Compared(&p.policy.runOf(ctx).counts, p.given.Messages, p.given.ToolInfos, p.cfg.MaxTokensForClear, -1)
	}
	return p.before.Tokens
}

func (p *pass[M]) corrected(n int64) int64 { return int64(float64(n) * p.before.Factor) }

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
	e := new(size.Estimator[M])
	return max(0, p.before.Tokens-e.Count(p.given.Messages, nil)+e.Count(out, nil))
}
