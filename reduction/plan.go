// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file decides what becomes of one old result. It writes nothing.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// candidate is an old result that may be cleared.
type candidate struct {
	pair
	rule
	round  int    // the assistant message
	marked bool   // that has this package's mark
	notice notice // that stands in the place of the result already
}

// planner is the part of the clear phase that knows nothing of messages.
type planner struct {
	policy    *policy
	root      string
	path      pathGenerator
	truncPath pathGenerator // that of the truncation phase
	minSaving int
	report    reporter
	stored    *storedNames
}

// draft is a planner at work, in the words of the time.
type draft struct {
	*planner
	words *wording
	note  facts // what all notices say
}

func (p *planner) draft(ctx context.Context) draft {
	d := draft{planner: p, words: wordingNow()}
	d.note.tool = p.policy.readerName(ctx)
	d.note = d.words.hinted(d.note)
	return d
}

// candidates lists what may be cleared, oldest first.
func (p *planner) candidates(ctx context.Context, rounds []round, end int) (out []candidate) {
	for _, r := range rounds {
		for _, each := range r.pairs {
			if !each.found || each.at >= end || each.result.search {
				continue
			}
			c := candidate{pair: each, rule: p.policy.clearing(ctx, each.call.name), round: r.at, marked: r.processed && r.ours}
			if c.notice = noticeIn(each.result.texts); c.notice.kind == clearedNotice {
				continue
			}
			if c.clear != nil && (each.result.handled || r.processed && !r.ours) {
				continue
			}
			if c.leave != "" {
				p.left(ctx, c, c.leave)
				continue
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return a.at - b.at })
	return out
}

// change is what is to become of a candidate.
type change struct {
	candidate
	replacement replacement
	args        *string // new arguments
	size        int     // bytes of text now
	after       int     // and then

	store   bool   // content is to be stored first
	spot    spot   // there
	content string // this
	note    facts  // for the notice, where it is ours
	path    string // where the content is
}

// decide returns what is to become of a candidate, nil if it is left alone.
func (p draft) decide(ctx context.Context, c candidate, result func() *schema.ToolResult) (*change, error) {
	ch := &change{candidate: c, size: c.result.size()}
	ch.replacement.index = c.result.index
	if c.clear != nil {
		return p.byHandler(ctx, ch, result())
	}
	if ch.size == 0 {
		return nil, nil
	}
	if err := p.place(ctx, ch, result); err != nil {
		return nil, err
	}
	if !p.word(ch) || ch.path != "" && !showable(ch.path) {
		p.left(ctx, c, ReasonNotSmaller)
		return nil, nil
	}
	return ch, nil
}

// place finds out where the content is or should go.
func (p draft) place(ctx context.Context, ch *change, result func() *schema.ToolResult) (err error) {
	ch.note = p.note
	ch.note.bytes = ch.size
	if ch.notice.kind == truncatedNotice && p.genuine(ctx, ch.candidate) {
		ch.path, ch.note.bytes = ch.notice.path, max(ch.notice.bytes, ch.size)
		return nil
	}
	if ch.rule.store == nil {
		return nil
	}
	ch.content = joined(ch.result.texts)
	if ch.path = ch.rule.store.readBack(ctx, p.root, ch.call.args, ch.content); ch.path != "" {
		return nil
	}
	ch.store = true
	ch.spot.path = defaultPath(p.root, clearDir, ch.call.id)
	if p.path != nil {
		ch.spot.path, err = p.path(ctx, ch.detail(result()))
	}
	ch.path = ch.spot.path
	return err
}

// word makes the notice, and reports whether it saves enough. That must not
// depend on whether the path will need a suffix: a result that is left alone
// today would be cleared tomorrow.
func (p draft) word(ch *change) bool {
	ch.note.path = ch.path
	form, longest := p.words.cleared, 0
	switch {
	case ch.path == "":
		form = p.words.placeholder
	case ch.store:
		longest = len(padding)
	}
	ch.replacement.text = p.words.fill(form, ch.note)
	ch.after = len(ch.replacement.text)
	return ch.size-ch.after-longest >= p.minSaving
}

// genuine reports whether a notice in the place of a result is what this package
// or Eino's put there: a tool may return anything, a notice about a file of
// somebody else's included, or quote one. Its path must be one that the call can
// have, and what stands before it must be the start of that file.
func (p *planner) genuine(ctx context.Context, c candidate) bool {
	n, s := c.notice, c.rule.store
	own := madeFor(n.path, c.call.id) || p.truncPath != nil || slices.Contains(mentions(p.root, c.call.args), n.path)
	before, stated := beforeNotice(c.result.texts)
	if !own || stated >= 0 && (len(before) > stated || len(before)+charSlack <= stated) {
		return false
	}
	if s == nil {
		return true
	}
	if !s.readable() {
		known, used := s.ledger.known(nameKey(n.path))
		return madeFor(n.path, c.call.id) && (!used || !known.set || known.size >= n.bytes)
	}
	size, err := s.size(ctx, n.path)
	if err != nil || size < int64(max(n.bytes, len(before))) {
		return false
	}
	return before == "" || s.begins(ctx, n.path, before)
}

// beforeNotice is what stands before the notice at the end of a stream, and how
// many bytes the notice says that are; a negative number if it does not say.
func beforeNotice(texts []string) (before string, stated int) {
	all := joined(texts)
	at := strings.LastIndex(all, openTag)
	if at <= 0 {
		return "", -1
	}
	for _, f := range streamForms {
		if v, _, ok := f.find(all[at:]); ok {
			before = all[:at]
			if strings.HasPrefix(f[0].text, "\n") {
				before = strings.TrimSuffix(before, "\n")
			}
			return before, v.headBytes
		}
	}
	return "", -1
}

// begins reports whether a stored content begins with text.
func (s *store) begins(ctx context.Context, filePath, text string) bool {
	same, err := guard(ctx, func() (bool, error) {
		r, _, err := s.window(ctx, filePath, 0, int64(len(text)))
		if err != nil {
			return false, err
		}
		defer r.Close()
		return equal(r, text), nil
	})
	return err == nil && same
}

func (c candidate) detail(result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{
		ToolContext:  &adk.ToolContext{Name: c.call.name, CallID: c.call.id},
		ToolArgument: &schema.ToolArgument{Text: c.call.args},
		ToolResult:   result,
	}
}

// byHandler asks the user's handler.
func (p draft) byHandler(ctx context.Context, ch *change, result *schema.ToolResult) (*change, error) {
	got, err := ch.clear(ctx, ch.detail(result))
	if errors.Is(err, UseDefault) {
		return p.leftToUs(ctx, ch, result)
	}
	if err != nil {
		return nil, err
	}
	if got == nil || !got.NeedClear {
		p.left(ctx, ch.candidate, ReasonHandler)
		return nil, nil
	}
	if got.NeedOffload && ch.rule.store == nil {
		return nil, fmt.Errorf("reduction: clearing a result of %q: %w", ch.call.name, errNoBackend)
	}
	ch.after, ch.replacement.mark, ch.replacement.keep = ch.size, true, true
	if got.ToolResult != nil && len(got.ToolResult.Parts) > 0 {
		ch.replacement.parts, ch.replacement.keep = got.ToolResult.Parts, false
		ch.after = sizeOf(textsOf(got.ToolResult.Parts))
	}
	if got.ToolArgument != nil && got.ToolArgument.Text != ch.call.args {
		ch.args = &got.ToolArgument.Text
	}
	if got.NeedOffload {
		ch.store, ch.path, ch.content = true, got.OffloadFilePath, got.OffloadContent
		ch.spot = spot{path: got.OffloadFilePath, fixed: true}
	}
	return ch, nil
}

// leftToUs decides about a result that its handler has left to the middleware.
func (p draft) leftToUs(ctx context.Context, ch *change, result *schema.ToolResult) (*change, error) {
	c := ch.candidate
	if c.rule = c.byDefault(); c.leave != "" {
		p.left(ctx, c, c.leave)
		return nil, nil
	}
	return p.decide(ctx, c, func() *schema.ToolResult { return result })
}

// left reports that a result stays as it is.
func (p *planner) left(ctx context.Context, c candidate, why Reason) {
	if p.report == nil {
		return
	}
	e := c.event(EventLeftAlone)
	e.Reason = why
	p.report.send(ctx, e)
}

// event begins an event about a result that stays.
func (c candidate) event(kind EventKind) Event {
	size := c.result.size()
	return Event{Kind: kind, Phase: PhaseClear, Tool: c.call.name, CallID: c.call.id, BytesBefore: size, BytesAfter: size}
}
