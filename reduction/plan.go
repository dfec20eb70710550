// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Which call each old result belongs to, and what replaces it. Nothing is written here.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// oldResult is a result that may be cleared, and what becomes of it.
type oldResult struct {
	call   call
	result result
	at     int // the message of the result
	rule   rule
	round  int    // the assistant message
	marked bool   // that has this package's mark
	notice notice // that stands in place of the result already
	size   int    // bytes of text

	instead replacement
	args    *string    // new arguments
	after   int        // bytes of text then
	data    noticeData // for the notice, where it is ours
	path    string     // where the content is
	page    bool       // the result is a page of that file
	like    string     // the earlier call with the same result, if it is a repeat
	tokens  int        // of the texts, where they are needed
	most    int        // tokens that may stay, if the window says so
	stays   bool       // a part of the result stays

	values []*argument   // of the call's arguments, which references replace
	media  []*attachment // which references replace

	needsStoring bool
	dest         vault.Place // there
	content      string      // this
	existed      bool        // it was there already
}

// replaces reports whether something takes the place of the result or of its
// arguments; a handler may also want it to stay as it is for good.
func (r *oldResult) replaces() bool { return !r.instead.keep || r.args != nil || len(r.media) > 0 }

// candidates lists what may be cleared, oldest first.
func (p *clearPass[M]) candidates(ctx context.Context, rounds []round, end int) (out []*oldResult) {
	for _, r := range rounds {
		for _, each := range r.pairs {
			if !each.found || each.at >= end || each.result.search {
				continue
			}
			c := &oldResult{call: each.call, result: each.result, at: each.at, rule: p.phase.policy.clearing(ctx, each.call.name), round: r.at, marked: r.processed && r.ours, size: each.result.size()}
			c.values, c.media = p.arguments(c), p.attached(p.oldMedia(c))
			if c.notice = noticeIn(each.result.texts); c.notice.kind == clearedNotice && len(c.values)+len(c.media) == 0 {
				continue
			}
			if c.rule.clear != nil && (each.result.handled || r.processed && !r.ours) {
				continue
			}
			if c.rule.leave != "" {
				p.tally.left(c.rule.leave)
				continue
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *oldResult) int { return a.at - b.at })
	return out
}

// decide says what is to become of a result and of its call's arguments, or why both
// are left alone. An error is that of a user's callback.
func (p *clearPass[M]) decide(ctx context.Context, r *oldResult) (Reason, error) {
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
	p.word(r)
	return "", nil
}

// keepResult leaves the result as it is.
func (r *oldResult) keepResult() {
	r.instead.keep, r.needsStoring, r.path, r.after = true, false, "", r.size
}

// decideResult says what is to become of a result without a handler.
func (p *clearPass[M]) decideResult(ctx context.Context, r *oldResult) (Reason, error) {
	if r.notice.kind == clearedNotice {
		return ReasonNotSmaller, nil
	}
	if r.size == 0 {
		return ReasonNotSmaller, nil
	}
	if err := p.place(ctx, r); err != nil {
		return "", err
	}
	if !p.word(r) || r.path != "" && !showable(r.path) {
		return ReasonNotSmaller, nil
	}
	return "", nil
}

func (p *clearPass[M]) toolResult(r *oldResult) *schema.ToolResult {
	return p.phase.codec.result(p.msgs[r.at], r.result.index)
}

// place finds out where the content is or should go.
func (p *clearPass[M]) place(ctx context.Context, r *oldResult) (err error) {
	root := p.phase.cfg.RootDir
	r.data = p.data
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

// pageOf returns the stored file that a result is a page of, empty if it is none. The
// same call gives the page again, because the file is still there and never changes;
// of a file that is not this package's, nobody knows that.
func (p *clearPass[M]) pageOf(ctx context.Context, r *oldResult) string {
	if !r.rule.reads {
		return ""
	}
	name, s := readtool.Path(r.call.args), r.rule.store
	if name == "" || !showable(name) {
		return ""
	}
	if _, used := s.Recorded(ctx, name); !used && !p.phase.names.results(name) {
		return ""
	}
	if s.Readable() {
		if _, err := s.Size(ctx, name); err != nil {
			return ""
		}
	}
	return name
}

// word makes the notice, and reports whether it saves enough. That must not
// depend on whether the path will need a suffix: a result that is left alone
// today would be cleared tomorrow.
func (p *clearPass[M]) word(r *oldResult) bool {
	if len(r.values) > 0 {
		args := p.withReferences(r.call.args, r.values)
		r.args = &args
	}
	switch {
	case r.instead.keep:
		return true
	case r.most > 0:
		return p.shorten(r)
	}
	r.data.path, r.data.call = r.path, r.like
	wording, longest := p.notices.cleared, 0
	switch {
	case r.like != "":
		wording = p.notices.repeated
	case r.path == "":
		wording = p.notices.placeholder
	case r.page:
		wording = p.notices.page
	}
	if r.needsStoring {
		longest = len(vault.Padding)
	}
	r.instead.text = p.notices.fill(wording, r.data)
	r.after = len(r.instead.text)
	return r.size-r.after-longest >= p.phase.cfg.MinSavingBytes
}

// byHandler asks the user's handler.
func (p *clearPass[M]) byHandler(ctx context.Context, r *oldResult) (Reason, error) {
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

// isOurNotice reports whether a notice in place of a result is what this package
// or Eino's put there: a tool may return anything, a notice about a file of
// somebody else's included, or quote one. Its path must be one that the call can
// have, and what it shows must be in that file.
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

// showsExcerpt reports whether the head and the tail that a finished notice shows are
// those of its file.
func showsExcerpt(ctx context.Context, s *vault.Store, n notice, texts []string) bool {
	head, tail, ok := excerptIn(texts)
	return !ok || shows(ctx, s, n.path, 0, head) && shows(ctx, s, n.path, n.bytes-len(tail), tail)
}

// has reports whether the file of a notice has the size that it states, or at least
// shown bytes.
func has(ctx context.Context, s *vault.Store, n notice, shown int) bool {
	size, err := s.Size(ctx, n.path)
	return err == nil && size >= int64(max(n.bytes, shown))
}

// shows reports whether text is what a notice shows of a file from an offset on.
func shows(ctx context.Context, s *vault.Store, filePath string, offset int, text string) bool {
	piece, err := s.Piece(ctx, filePath, int64(offset), len(text))
	return err == nil && (piece == text || preview(piece) == text)
}

// beforeNotice is what stands before the notice at the end of a stream, and how
// many bytes the notice says that are; a negative number if it does not say.
func beforeNotice(texts []string) (before string, stated int) {
	all := joined(texts)
	at := strings.LastIndex(all, openTag)
	if at <= 0 {
		return "", -1
	}
	for _, f := range streamTemplates {
		if v, _, ok := f.find(all[at:]); ok {
			before = all[:at]
			if strings.HasPrefix(f[0].Text, "\n") {
				before = strings.TrimSuffix(before, "\n")
			}
			return before, v.headBytes
		}
	}
	return "", -1
}

// pair is a call and its result.
type pair struct {
	call   call
	found  bool // there is a result
	at     int  // the message of the result
	result result
}

// detailOf is a call and its result as a handler or a path generator sees them.
func detailOf(c call, result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.name, CallID: c.id},
		ToolArgument: &schema.ToolArgument{Text: c.args},
		ToolResult:   result,
	}
}

// round is an assistant message with tool calls, and what came of them.
type round struct {
	at        int  // the assistant message
	processed bool // cleared or rewritten before
	ours      bool // by this package
	pairs     []pair
}

// messages lists the messages with the round's results, in the order of the
// history, each once.
func (r round) messages() []int {
	var out []int
	for _, p := range r.pairs {
		if p.found {
			out = append(out, p.at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// roundsOf finds the rounds of a history. A result belongs to the newest call of
// its id that has none yet; ids may repeat, in a round and over a conversation.
// Where a result has no id, it belongs to a call of the newest round, by its
// name or else by its position. A result that belongs to no call is in no round.
func roundsOf(vs []view) []round {
	n := 0
	for i := range vs {
		n += min(1, len(vs[i].calls))
	}
	p := pairer{rounds: make([]round, 0, n)}
	for i := range vs {
		for _, r := range vs[i].results {
			p.add(i, r)
		}
		if len(vs[i].calls) > 0 {
			p.begin(i, vs[i])
		}
	}
	return p.rounds
}

type pairer struct {
	rounds []round

	// Calls by id, for results that are not of the newest round: slots holds one
	// entry for each round and id, latest the newest of each id. Both are nil
	// until the first such result, as most histories have none.
	slots  []slot
	latest map[string]int
}

// slot says that a round has a call of an id.
type slot struct {
	round  int
	before int // the next older slot of the same id; negative: none
}

func (p *pairer) begin(at int, v view) {
	r := round{at: at, processed: v.processed, ours: v.ours, pairs: make([]pair, len(v.calls))}
	for i, c := range v.calls {
		r.pairs[i].call = c
	}
	p.rounds = append(p.rounds, r)
	if p.latest != nil {
		p.enter(len(p.rounds) - 1)
	}
}

// add finds the call of a result. Nearly always that is in the newest round.
func (p *pairer) add(at int, r result) {
	if len(p.rounds) == 0 {
		return
	}
	newest := &p.rounds[len(p.rounds)-1]
	to := newest.waiting(r, true)
	switch {
	case to != nil:
	case r.id != "":
		to = p.older(r)
	default:
		to = newest.waiting(r, false)
	}
	if to != nil {
		to.found, to.at, to.result = true, at, r
	}
}

// older finds the newest call that waits for a result with an id. A round that has
// none left is not looked at again.
func (p *pairer) older(r result) *pair {
	if p.latest == nil {
		p.latest = make(map[string]int, len(p.rounds))
		for i := range p.rounds {
			p.enter(i)
		}
	}
	at, ok := p.latest[r.id]
	for ok && at >= 0 {
		if to := p.rounds[p.slots[at].round].waiting(r, true); to != nil {
			return to
		}
		at = p.slots[at].before
		p.latest[r.id] = at
	}
	return nil
}

// enter notes the ids of a round's calls.
func (p *pairer) enter(round int) {
	for i := range p.rounds[round].pairs {
		id := p.rounds[round].pairs[i].call.id
		before, ok := p.latest[id]
		if !ok {
			before = -1
		}
		if before >= 0 && p.slots[before].round == round {
			continue
		}
		p.slots = append(p.slots, slot{round, before})
		p.latest[id] = len(p.slots) - 1
	}
}

// waiting returns the call that waits for a result: of those with its id, or
// where its id is lost of all, the first of its name, or else the first. Without
// an id, a call of another name is not the one.
func (r *round) waiting(got result, byID bool) *pair {
	var first *pair
	for i := range r.pairs {
		p := &r.pairs[i]
		if p.found || byID && p.call.id != got.id {
			continue
		}
		if p.call.name == got.name {
			return p
		}
		if first == nil && (got.id != "" || got.name == "") {
			first = p
		}
	}
	return first
}

// outside returns the rounds before the last keep, and where those that are kept
// begin.
func outside(rounds []round, keep int) (old []round, end int) {
	if len(rounds) <= keep {
		return nil, 0
	}
	n := len(rounds) - keep
	return rounds[:n], rounds[n].at
}
