// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Which old results to clear and what replaces them, and whether clearing below the threshold
// breaks even. Nothing is written here.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/reduction/internal/seen"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// clearPhase is the clearing of old results: the state common to all of its steps. It is
// immutable, except for the memory in names and reported.
type clearPhase[M adk.MessageType] struct {
	cfg       *TypedConfig[M]
	codec     codec[M]
	estimator *estimator[M] // the default counter; nil if the user's counts
	policy    *policy
	files     *vault.Vault
	names     *storedNames // nil: no read tool is provided
	report    reporter
	results   func(filePath string) bool // stores the results

	reported seen.Set
}

// oldResult is a result that may be cleared, and its fate.
type oldResult struct {
	call   call
	result result
	at     int // the message of the result
	rule   rule
	callAt int    // the message of the call
	marked bool   // that has this package's mark
	notice notice // that already replaces the result
	size   int    // bytes of text

	instead replacement
	args    *string    // new arguments
	after   int        // bytes of text then
	data    noticeData // for the notice, if it is ours
	path    string     // where the content is
	page    bool       // the result is a page of that file
	like    string     // the earlier call with the same result, if it is a repeat
	tokens  int        // of the texts, if they are needed
	most    int        // tokens that may stay, if the window says so
	stays   bool       // a part of the result stays

	values []*argument   // of the call's arguments, which references replace
	media  []*attachment // which references replace

	needsStoring bool
	dest         vault.Place // there
	content      string      // this
	existed      bool        // it was there already
}

// replaces reports whether the result or its arguments are replaced; a handler may also ask
// to keep it unchanged for good.
func (r *oldResult) replaces() bool { return !r.instead.keep || r.args != nil || len(r.media) > 0 }

// sizes adds the arguments and media that references replace to a report on a result.
func (r *oldResult) sizes(o output) output {
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

// planner decides the fate of results. It is immutable.
type planner[M adk.MessageType] struct {
	phase   *clearPhase[M]
	wording *wording
	msgs    []M
	tally   *tally // nil if there is no OnEvent
}

// planner returns a planner for messages.
func (c *clearPhase[M]) planner(ctx context.Context, msgs []M) *planner[M] {
	w := &wording{notices: currentNotices(), root: c.cfg.RootDir, least: c.cfg.MinSavingBytes}
	w.data = w.notices.hinted(noticeData{tool: c.policy.readerName(ctx)})
	p := &planner[M]{phase: c, wording: w, msgs: msgs}
	if c.report != nil {
		p.tally = &tally{}
	}
	return p
}

// candidates lists what may be cleared, oldest first.
func (p *planner[M]) candidates(ctx context.Context, rounds []round, end int) (out []*oldResult) {
	for _, r := range rounds {
		for _, each := range r.pairs {
			if !each.found || each.at >= end || each.result.search {
				continue
			}
			c := &oldResult{call: each.call, result: each.result, at: each.at, rule: p.phase.policy.clearing(ctx, each.call.name), callAt: r.at, marked: r.processed && r.ours, size: each.result.size()}
			c.values, c.media = p.arguments(c), p.oldMedia(c)
			if len(c.media) > 0 {
				c.media = p.wording.attached(c.media)
			}
			if c.notice = noticeIn(each.result.texts); c.notice.kind == clearedNotice && len(c.values)+len(c.media) == 0 {
				continue
			}
			if c.rule.clear != nil && (each.result.handled || r.processed && !r.ours) {
				continue
			}
			if c.rule.leave != "" {
				p.tally.keep(c.rule.leave)
				continue
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *oldResult) int { return a.at - b.at })
	return out
}

// arguments lists the values of a call's arguments that are too long.
func (p *planner[M]) arguments(r *oldResult) []*argument {
	over := p.phase.cfg.ClearArgumentsOver
	if over == 0 || len(r.call.args) <= over || !r.rule.refers() {
		return nil
	}
	return p.wording.arguments(r.call, over)
}

// oldMedia lists the media of an old result, if the window is known.
func (p *planner[M]) oldMedia(r *oldResult) (out []*attachment) {
	if p.phase.cfg.WindowTokens == 0 || !r.rule.refers() {
		return nil
	}
	for _, m := range p.phase.codec.media(p.msgs[r.at]) {
		if m.result == r.result.index {
			out = append(out, &attachment{medium: m})
		}
	}
	return out
}

// decide decides the fate of a result and of its call's arguments, or returns why both stay
// as they are. Its error is that of a user's callback.
func (p *planner[M]) decide(ctx context.Context, r *oldResult) (Reason, error) {
	r.instead.index = r.result.index
	if r.rule.clear != nil {
		return p.byHandler(ctx, r)
	}
	why, err := p.decideResult(ctx, r)
	if why != "" {
		r.keepResult()
	}
	if len(r.values)+len(r.media) == 0 || err != nil {
		return why, err
	}
	p.wording.word(r)
	return "", nil
}

// keepResult leaves the result as it is.
func (r *oldResult) keepResult() {
	r.instead.keep, r.needsStoring, r.path, r.after = true, false, "", r.size
}

// decideResult decides the fate of a result without a handler.
func (p *planner[M]) decideResult(ctx context.Context, r *oldResult) (Reason, error) {
	if r.notice.kind == clearedNotice {
		return ReasonNotSmaller, nil
	}
	if r.size == 0 {
		return ReasonNotSmaller, nil
	}
	if err := p.place(ctx, r); err != nil {
		return "", err
	}
	if !p.wording.word(r) || r.path != "" && !showable(r.path) {
		return ReasonNotSmaller, nil
	}
	return "", nil
}

// byHandler asks the user's handler.
func (p *planner[M]) byHandler(ctx context.Context, r *oldResult) (Reason, error) {
	got, err := r.rule.clear(ctx, detailOf(r.call, p.toolResult(r)))
	if errors.Is(err, UseDefault) {
		if r.rule = r.rule.byDefault(); r.rule.leave != "" {
			return r.rule.leave, nil
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
		r.after = sizeOf(textsOf(got.ToolResult.Parts))
	}
	if got.ToolArgument != nil && got.ToolArgument.Text != r.call.args {
		r.args = &got.ToolArgument.Text
	}
	if got.NeedOffload {
		r.needsStoring, r.path, r.content = true, got.OffloadFilePath, got.OffloadContent
		r.dest = vault.Place{Path: got.OffloadFilePath, Fixed: true}
	}
	if !r.replaces() {
		return ReasonHandler, nil
	}
	return "", nil
}

func (p *planner[M]) toolResult(r *oldResult) *schema.ToolResult {
	return p.phase.codec.result(p.msgs[r.at], r.result.index)
}

// place determines the file of the content.
func (p *planner[M]) place(ctx context.Context, r *oldResult) (err error) {
	root := p.phase.cfg.RootDir
	r.data = p.wording.data
	r.data.bytes = r.size
	if r.notice.kind == truncatedNotice && p.phase.isOurNotice(ctx, r) {
		r.path, r.data.bytes = r.notice.path, max(r.notice.bytes, r.size)
		return nil
	}
	if r.rule.store == nil {
		return nil
	}
	if r.path = p.pageOf(ctx, r); r.path != "" {
		r.page = true
		return nil
	}
	r.content = joined(r.result.texts)
	if r.path = r.rule.store.ReadBack(ctx, root, r.call.args, r.content); r.path != "" {
		return nil
	}
	r.needsStoring = true
	r.dest.Path = vault.DefaultPath(root, vault.ClearDir, r.call.id)
	if generate := p.phase.cfg.GenClearOffloadFilePath; generate != nil && !r.stays {
		r.dest.Path, err = generate(ctx, detailOf(r.call, p.toolResult(r)))
	}
	r.path = r.dest.Path
	return err
}

// pageOf returns the stored file that a result is a page of, empty if it is none. The same
// call returns the page again, because the file still exists and never changes; for other
// files than this package's, that is unknown.
func (p *planner[M]) pageOf(ctx context.Context, r *oldResult) string {
	if !r.rule.reads {
		return ""
	}
	name, s := readtool.Path(r.call.args), r.rule.store
	if name == "" || !showable(name) {
		return ""
	}
	if _, used := s.Recorded(ctx, name); !used && !p.phase.results(name) {
		return ""
	}
	if s.Readable() {
		if _, err := s.Size(ctx, name); err != nil {
			return ""
		}
	}
	return name
}

// isOurNotice reports whether this package or Eino's wrote a notice in place of a result. A
// tool may return anything, such as a notice about somebody else's file, or quote one. The
// path must be possible for the call, and the file must contain the excerpt.
func (c *clearPhase[M]) isOurNotice(ctx context.Context, r *oldResult) bool {
	n, s := r.notice, r.rule.store
	named := slices.Contains(vault.Mentions(c.cfg.RootDir, r.call.args), n.path)
	own := vault.MadeFor(n.path, r.call.id) || c.cfg.GenTruncOffloadFilePath != nil || named
	before, stated := beforeNotice(r.result.texts)
	switch {
	case !own, stated >= 0 && (len(before) > stated || len(before)+charSlack <= stated):
		return false
	case s == nil:
		return true
	case !s.Readable():
		size, used := s.Recorded(ctx, n.path)
		return vault.MadeFor(n.path, r.call.id) && (!used || size < 0 || size >= n.bytes)
	case !has(ctx, s, n, len(before)):
		return false
	case before != "":
		return s.Begins(ctx, n.path, before)
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

// word makes the notice, and reports whether it saves enough. That must not depend on whether
// the path will need a suffix: otherwise a result that stays today would be cleared tomorrow.
func (w *wording) word(r *oldResult) bool {
	if len(r.values) > 0 {
		args := w.withReferences(r.call.args, r.values)
		r.args = &args
	}
	switch {
	case r.instead.keep:
		return true
	case r.most > 0:
		return w.shorten(r)
	}
	r.data.path, r.data.call = r.path, r.like
	f, longest := w.notices.cleared, 0
	switch {
	case r.like != "":
		f = w.notices.repeated
	case r.path == "":
		f = w.notices.placeholder
	case r.page:
		f = w.notices.page
	}
	if r.needsStoring {
		longest = len(vault.Padding)
	}
	r.instead.text = w.notices.fill(f, r.data)
	r.after = len(r.instead.text)
	return r.size-r.after-longest >= w.least
}

// minShown is how many bytes of a result always stay when it must fit the window.
const minShown = 1000

// shorten makes the notice with as much of a result as fits, and reports whether it is
// shorter than the result.
func (w *wording) shorten(r *oldResult) bool {
	data := w.data
	data.path = r.path
	if r.page {
		data.bytes = r.size
		r.instead.text = w.notices.fill(w.notices.page, data)
		r.after = len(r.instead.text)
		return r.after < r.size
	}
	limit := min(r.size-1, max(minShown, r.size*r.most/max(r.tokens, 1)))
	for {
		text, ok := w.excerptOf(r, data, limit)
		if !ok {
			return false
		}
		if limit <= minShown || tokens.Estimate(text) <= r.most {
			r.instead.text, r.after = text, len(text)
			return r.after < r.size
		}
		limit = max(minShown, limit*3/4)
	}
}

// excerptOf makes a notice of at most limit bytes with the start and the end of a result.
func (w *wording) excerptOf(r *oldResult, data noticeData, limit int) (string, bool) {
	if r.notice.kind != truncatedNotice || r.path != r.notice.path {
		text := joined(r.result.texts)
		_, ok := w.notices.room(len(text), data, limit)
		return w.notices.excerpt(text, data, limit), ok
	}
	data.bytes = max(r.notice.bytes, r.size)
	if shown, ok := shownIn(r.result.texts); ok {
		room := limit - w.notices.previewed.length(w.notices.hinted(data))
		data.shown = shown[:lineEnd(shown, display.Floor(shown, max(0, room)))]
		return w.notices.fill(w.notices.previewed, data), room >= minExcerpt
	}
	room, ok := w.notices.room(data.bytes, data, limit)
	if !ok {
		return "", false
	}
	head, tail, found := excerptIn(r.result.texts)
	if !found {
		head, _ = beforeNotice(r.result.texts)
	}
	data.head = head[:display.Floor(head, min(len(head), room/2))]
	data.tail = tail[display.Ceil(tail, max(0, len(tail)-(room-len(data.head)))):]
	data.headBytes, data.tailBytes = len(data.head), len(data.tail)
	return w.notices.fill(w.notices.truncated, data), true
}

// namedFiles lists the files that notices in a history name. A notice naming a file that its
// call could not have written is a forgery.
func namedFiles[M adk.MessageType](cfg *TypedConfig[M], codec codec[M], msgs []M) map[string]bool {
	out := make(map[string]bool)
	codec.eachNoticed(msgs, func(r result) {
		n := noticeIn(r.texts)
		if n.path != "" && (n.kind == clearedNotice || cfg.GenTruncOffloadFilePath != nil || vault.MadeFor(n.path, r.id)) {
			out[vault.Clean(n.path)] = true
		}
	})
	return out
}

// detailOf describes a call and its result for a handler or a path generator.
func detailOf(c call, result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.name, CallID: c.id},
		ToolArgument: &schema.ToolArgument{Text: c.args},
		ToolResult:   result,
	}
}

// A result of fewer tokens stays for some rounds: clearing a small one as soon as it breaks
// even saves little, and recent results are needed most often.
const (
	largeResult = 2000
	smallStays  = 5
)

// breaksEven reports whether sending results, the oldest first, has cost as much as writing
// everything after the first of them to the cache again, less the cost of reading it from the
// cache.
func (p *planner[M]) breaksEven(results []*oldResult) bool {
	if len(results) == 0 {
		return false
	}
	requests := make([]int, len(p.msgs)+1) // of which a message was a part
	for i := len(p.msgs) - 1; i >= 0; i-- {
		requests[i] = requests[i+1]
		if _, said := p.phase.codec.said(p.msgs[i]); said != "" || p.phase.codec.calls(p.msgs[i]) {
			requests[i]++
		}
	}
	behind := weight{sizes: &schemaSizes{}, rough: true}
	for _, m := range p.msgs[results[0].at+1:] {
		p.phase.codec.weigh(&behind, m)
	}
	var sent int64
	for _, r := range results {
		sent += r.roughly() * int64(requests[r.at])
	}
	price := p.phase.cfg.CachedPrice
	return float64(sent)*price >= float64(behind.tokens)*(1-price)
}

// ripeOf drops small results that have not stayed long.
func ripeOf(candidates []*oldResult, rounds []round) (ripe []*oldResult) {
	later := len(rounds) // rounds after that of the candidate
	for _, r := range candidates {
		for later > 0 && rounds[len(rounds)-later].at <= r.callAt {
			later--
		}
		if r.roughly() >= largeResult || later >= smallStays {
			ripe = append(ripe, r)
		}
	}
	return ripe
}

// roughly is the size of a result and the long arguments of its call, in tokens of four
// bytes, as on both sides of the comparison.
func (r *oldResult) roughly() int64 {
	bytes := 0
	if r.notice.kind != clearedNotice {
		bytes = r.size
	}
	for _, v := range r.values {
		bytes += v.to - v.from
	}
	return tokensOf(bytes) + int64(len(r.media)*mediaTokens)
}
