// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What becomes of a result. What is known of it, what is decided, and what the messages then say are three
// values, each made from the one before, and none changes once it is made:
//
//	result -- decide --> decision -- edit --> edit
//
// A store may put content under another name than expected: then decision and edit are made anew. Nothing
// here knows an agent or a type of message.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/size"
	"github.com/einolean/einolean/reduction/internal/vault"
)

// result is the result of a call, which may be replaced, or media that the user sent, which are of no call.
type result struct {
	*rounds.Pair
	callAt int           // the message of the call
	marked bool          // which has this package's mark
	rule   *rule         // for the tool
	notice notice.Notice // that already replaces the result
	size   int           // bytes of text
	tokens int           // of the texts, if the window asks
	values []reference   // what may replace long values in the call's arguments
	media  []reference   // what may replace media
}

// resultOf is what is known of the result of a call of a round.
func resultOf(of rounds.Round, pair *rounds.Pair, rule *rule) result {
	return result{Pair: pair, callAt: of.At, marked: of.Processed && of.Ours, rule: rule, notice: notice.In(pair.Result.Texts), size: pair.Result.Size()}
}

// decision is what is to become of a result and of its call.
type decision struct {
	*result
	keep   bool         // the result stays, but for its media
	most   int          // tokens that may stay of it; zero: a notice says only where it is
	like   string       // the earlier call with the same result, if it is a repeat
	file   file         // where the content is, or will be
	values []reference  // what replaces long values in the call's arguments
	media  []reference  // what replaces media
	mark   bool         // the call's message gets this package's mark
	by     *ClearResult // what the user's handler says, if it decides
}

// file is where content is, or will be.
type file struct {
	path    string     // empty: nowhere
	bytes   int        // the size that the notice states
	page    bool       // the result is a page of it
	item    vault.Item // to store, unless its Store is nil
	certain bool       // its path is known before it is stored
	existed bool       // it was there already, as storing has shown
}

// edit is what the messages say after a decision.
type edit struct {
	decision
	instead rounds.Replacement // of the result
	args    *string            // new arguments of the call
	after   int                // bytes of the result's text then
}

// replaces reports whether the result or its arguments are replaced; a handler may also ask
// to keep it unchanged for good.
func (e *edit) replaces() bool { return !e.instead.Keep || e.args != nil || len(e.media) > 0 }

// roughly is the size of the result and the long arguments of its call, in tokens of four
// bytes, as on both sides of the comparison.
func (e *edit) roughly() int64 {
	bytes := 0
	if !e.notice.Cleared() {
		bytes = e.size
	}
	for _, v := range e.values {
		bytes += v.to - v.from
	}
	return size.OfBytes(bytes) + int64(len(e.media)*size.Medium)
}

// saved estimates the tokens that the edit saves.
func (e *edit) saved() (n int64) {
	if !e.instead.Keep {
		for _, text := range e.Result.Texts {
			n += int64(tokens.Of(text))
		}
		n -= size.OfBytes(e.after)
	}
	if e.args != nil {
		n += int64(tokens.Of(e.Call.Args) - tokens.Of(*e.args))
	}
	return n + int64(len(e.media)*mediaSaving)
}

// tokensLeft is how many tokens are left of the result.
func (e *edit) tokensLeft() int {
	if e.instead.Keep {
		return e.tokens
	}
	return tokens.Of(e.instead.Text)
}

// into adds the edit to those of the messages of the result and of the call.
func (e *edit) into(result, call *rounds.Edit) {
	for _, r := range e.media {
		moved := *r.medium
		moved.Text = r.text
		result.Media = append(result.Media, &moved)
	}
	if !e.instead.Keep || e.instead.Mark {
		result.Results = append(result.Results, e.instead)
	}
	call.Mark = call.Mark || e.mark
	if e.args != nil {
		if call.Args == nil {
			call.Args = make(map[int]string)
		}
		call.Args[e.Call.Index] = *e.args
	}
}

// output is the outcome of the result, with the arguments and media that references replace.
func (e *edit) output() output {
	o := output{before: e.size, after: e.after, path: e.file.path}
	if e.args != nil && len(e.values) > 0 {
		o.before += len(e.Call.Args)
		o.after += len(*e.args)
		o.path = cmp.Or(o.path, e.values[0].path)
	}
	for _, r := range e.media {
		o.before += len(r.content)
		o.after += len(r.text)
		o.path = cmp.Or(o.path, r.path)
	}
	return o
}

// decider decides about results.
type decider struct {
	wording
	least    int                                                                            // the least bytes that a notice in place of a result saves
	generate func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error) // names files; nil: the default does
	anyName  bool                                                                           // the user's code named the files of results that were cut
	isResult func(filePath string) bool                                                     // a file is where results are stored
	detail   func(r *result) *ToolDetail                                                    // a result for a user's callback, which may write to it
}

// decide decides about an old result and its call's arguments. Without an edit it returns why both stay as
// they are; with both, only a mark is set. Its error is that of a user's callback.
func (d *decider) decide(ctx context.Context, r *result) (e edit, why Reason, err error) {
	if r.rule.clear != nil {
		return d.byHandler(ctx, r)
	}
	is := decision{result: r, values: r.values, media: r.media, mark: !r.marked}
	if !r.notice.Cleared() && r.size > 0 {
		if is.file, err = d.place(ctx, r, d.generate); err != nil {
			return edit{}, "", err
		}
		if e, ok := d.edit(is); ok && (is.file.path == "" || notice.Showable(is.file.path)) {
			return e, "", nil
		}
	}
	if len(r.values)+len(r.media) == 0 {
		return edit{}, ReasonNotSmaller, nil
	}
	is.keep, is.file = true, file{}
	e, _ = d.edit(is)
	return e, "", nil
}

// byHandler asks the user's handler.
func (d *decider) byHandler(ctx context.Context, r *result) (edit, Reason, error) {
	got, err := r.rule.clear(ctx, d.detail(r))
	if errors.Is(err, UseDefault) {
		own, again := r.rule.byDefault(), *r
		if again.rule = &own; own.leave != "" {
			return edit{}, own.leave, nil
		}
		return d.decide(ctx, &again)
	}
	if err != nil {
		return edit{}, "", err
	}
	if got == nil || !got.NeedClear {
		return edit{}, ReasonHandler, nil
	}
	is := decision{result: r, mark: !r.marked, by: got}
	if got.NeedOffload {
		if r.rule.store == nil {
			return edit{}, "", fmt.Errorf("reduction: clearing a result of %q: %w", r.Call.Name, errNoBackend)
		}
		is.file.path = got.OffloadFilePath
		is.file.item = vault.Item{Store: r.rule.store, At: vault.Place{Path: got.OffloadFilePath, Fixed: true}, Content: got.OffloadContent}
	}
	e, _ := d.edit(is)
	if !e.replaces() {
		return e, ReasonHandler, nil
	}
	return e, "", nil
}

// place determines the file of a result's content.
func (d *decider) place(ctx context.Context, r *result, generate func(context.Context, *ToolDetail) (string, error)) (f file, err error) {
	if r.notice.Cut() && d.isOurNotice(ctx, r) {
		return file{path: r.notice.Path, bytes: max(r.notice.Bytes, r.size)}, nil
	}
	f.bytes = r.size
	if r.rule.store == nil {
		return f, nil
	}
	if f.path = d.pageOf(ctx, r); f.path != "" {
		f.page = true
		return f, nil
	}
	content := strings.Join(r.Result.Texts, "")
	if f.path = r.rule.store.ReadBack(ctx, d.root, r.Call.Args, content); f.path != "" {
		return f, nil
	}
	f.path = vault.DefaultPath(d.root, vault.ClearDir, r.Call.ID)
	if generate != nil {
		f.path, err = generate(ctx, d.detail(r))
	}
	f.item = vault.Item{Store: r.rule.store, Content: content}
	f.item.At, f.path, f.certain = r.rule.store.Plan(vault.Place{Path: f.path}, content)
	return f, err
}

// isOurNotice reports whether this package or Eino's wrote a notice in place of a result. A
// tool may return anything, such as a notice about somebody else's file, or quote one. The
// path must be possible for the call, and the file must contain the excerpt.
func (d *decider) isOurNotice(ctx context.Context, r *result) bool {
	n, s := r.notice, r.rule.store
	named := slices.Contains(vault.Mentions(d.root, r.Call.Args), n.Path)
	own := vault.MadeFor(n.Path, r.Call.ID) || d.anyName || named
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
func (d *decider) pageOf(ctx context.Context, r *result) string {
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
	case !used && !d.isResult(name) || !s.Readable():
		return "" // a store that cannot be asked may have something of its owner's there
	}
	if _, err := s.Size(ctx, name); err != nil {
		return ""
	}
	return name
}

// edit makes what the messages say after a decision, and reports whether a notice in place of the result
// saves enough. That must not depend on whether the path will need a suffix: otherwise a result that stays
// today would be cleared tomorrow.
func (d *decider) edit(is decision) (e edit, ok bool) {
	e = edit{decision: is, after: is.size, instead: rounds.Replacement{Index: is.Result.Index, Keep: true}}
	if len(is.values) > 0 {
		args := withReferences(is.Call.Args, is.values)
		e.args = &args
	}
	text := ""
	switch {
	case is.keep:
		return e, true
	case is.by != nil:
		e.handled()
		return e, true
	case is.most > 0:
		text, ok = d.shorter(is)
	default:
		text, ok = d.cleared(is)
	}
	if text != "" {
		e.instead.Keep, e.instead.Text, e.after = false, text, len(text)
	}
	return e, ok
}

// handled edits as the user's handler says.
func (e *edit) handled() {
	e.instead.Mark = true
	if to := e.by.ToolResult; to != nil && len(to.Parts) > 0 {
		e.instead.Keep, e.instead.Parts, e.after = false, to.Parts, bytesOf(to)
	}
	if to := e.by.ToolArgument; to != nil && to.Text != e.Call.Args {
		e.args = &to.Text
	}
}

// cleared makes the notice that says where a result is, and reports whether it saves enough.
func (d *decider) cleared(is decision) (text string, ok bool) {
	data := d.data
	data.Bytes, data.Path, data.Call = is.file.bytes, is.file.path, is.like
	form, suffix := d.notices.Cleared, 0
	switch {
	case is.like != "":
		form = d.notices.Repeated
	case is.file.path == "":
		form = d.notices.Placeholder
	case is.file.page:
		form = d.notices.Page
	}
	if is.file.item.Store != nil && !is.file.certain {
		suffix = len(vault.Padding)
	}
	text = d.notices.Fill(form, data)
	return text, is.size-len(text)-suffix >= d.least
}

// minShown is how many bytes of a result always stay when it must fit the window.
const minShown = 1000

// shorter makes the notice with as much of a result as fits, none if it is not shorter than the result.
func (d *decider) shorter(is decision) (text string, ok bool) {
	data := d.data
	data.Path = is.file.path
	fits := is.size * is.most / max(is.tokens, 1)
	if is.file.page {
		// The model has not seen the page: it must ask for less, with room for what it asks.
		data.Bytes, data.HeadBytes = is.size, max(minShown, fits*3/4)
		text = d.notices.Fill(d.notices.LongPage, data)
	} else {
		for limit := min(is.size-1, max(minShown, fits)); ; limit = max(minShown, limit*3/4) {
			if text, ok = d.excerpt(is, data, limit); !ok {
				return "", false
			}
			if limit <= minShown || tokens.Of(text) <= is.most {
				break
			}
		}
	}
	if len(text) >= is.size {
		return "", false
	}
	return text, true
}

// excerpt makes a notice of at most limit bytes with the start and the end of a result.
func (d *decider) excerpt(is decision, data notice.Data, limit int) (string, bool) {
	if !is.notice.Cut() || is.file.path != is.notice.Path {
		text := strings.Join(is.Result.Texts, "")
		_, ok := d.notices.Room(len(text), data, limit)
		return d.notices.Excerpt(text, data, limit), ok
	}
	data.Bytes = max(is.notice.Bytes, is.size)
	return d.notices.Again(is.Result.Texts, data, limit)
}
