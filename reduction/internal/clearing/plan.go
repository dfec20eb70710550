// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package clearing tells what becomes of a result. What is known of it, what is decided, and what the messages
// then say are three values, each made from the one before, and none changes once the next is made:
//
//	Result -- Decide --> Decision -- edit --> Edit
//
// A store may put content under another name than expected: then the decision and the edit are made anew.
// Nothing here knows an agent or a type of message.
package clearing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// Result is the result of a call, which may be replaced, or media that the user sent, which are of no call.
type Candidate struct {
	*rounds.Pair
	CallMessageIndex int                   // the message of the call
	Texts            []string              // of the result
	Policy           toolpolicy.ToolPolicy // for the tool
	Notice           notice.Notice         // that already replaces the result
	Size             int                   // bytes of text
	Tokens           int                   // of the texts, if the window asks

	Media []*rounds.Medium // which references may replace

	argumentRefs []reference // what may replace long values in the call's arguments
	mediaRefs    []reference // what may replace media
	callMarked   bool        // the message of the call has this package's mark
}

// ResultOf is what is known of the result of a call of a round.
func NewCandidate(of rounds.Round, pair *rounds.Pair, rule toolpolicy.ToolPolicy) Candidate {
	return Candidate{Pair: pair, CallMessageIndex: of.MessageIndex, Texts: pair.Result.Texts, callMarked: of.Processed && of.Ours, Policy: rule, Notice: notice.FromTexts(pair.Result.Texts), Size: pair.Result.Size()}
}

// Sent is what is known of a message of the user's.
func NewUserMedia(at int, store *offload.Store) Candidate {
	return Candidate{Pair: &rounds.Pair{MessageIndex: at, Result: rounds.Result{Index: -1}}, CallMessageIndex: at, Policy: toolpolicy.ToolPolicy{Store: store}}
}

// Decision is what is to become of a result and of its call.
type Plan struct {
	*Candidate
	keepResult   bool        // the result stays, but for its media
	maxTokens    int         // tokens that may stay of it; zero: a notice says only where it is
	duplicateOf  string      // the earlier call with the same result, if it is a repeat
	file         file        // where the content is, or will be
	argumentRefs []reference // what replaces long values in the call's arguments
	mediaRefs    []reference // what replaces media
	markCall     bool        // the call's message gets this package's mark
	answer       *Answer     // what the user's handler says, if it decides
}

// Complete adds the references that may replace parts of a result and its call, and reports whether there are any.
func (d *Decider) Complete(r *Candidate) bool {
	if d.maxArgumentBytes > 0 {
		r.argumentRefs = d.argumentReferences(r)
	}
	if len(r.Media) > 0 {
		r.mediaRefs = d.mediaReferences(r.Media, r.Policy.Store)
	}
	return len(r.argumentRefs)+len(r.mediaRefs) > 0
}

// Most is more than the tokens that clearing a result saves.
func (r *Candidate) MaxSaving() (n int64) {
	for _, text := range r.Texts {
		n += int64(tokens.Of(text))
	}
	for _, v := range r.argumentRefs {
		n += int64(tokens.Of(r.Call.Args[v.start:v.end]))
	}
	return n + int64(len(r.mediaRefs)*tokencount.MediaTokens)
}

// Stays is the decision that a result stays as it is.
func KeepPlan(r *Candidate) Plan { return Plan{Candidate: r, keepResult: true} }

// Answer is what a user's handler says of a result.
type Answer struct {
	ByDefault bool // what would be done without a handler

	Replaces bool                    // else the result stays, and nothing else counts
	Args     *string                 // new arguments of the call; nil: they stay
	Parts    []schema.ToolOutputPart // the new result; none: it stays

	Stores        bool // content, under a path
	Path, Content string
}

// file is where content is, or will be.
type file struct {
	path          string       // empty: nowhere
	statedBytes   int          // the size that the notice states
	isPage        bool         // the result is a page of it
	item          offload.Item // to store, unless its Store is nil
	pathCertain   bool         // its path is known before it is stored
	alreadyStored bool         // it was there already, as storing has shown
}

// Edit is what the messages say after a decision.
type Change struct {
	Plan
	replacement rounds.Replacement // of the result
	newArgs     *string            // new arguments of the call
	bytesAfter  int                // bytes of the result's text then
}

// Replaces reports whether the result or its arguments are replaced; a handler may also ask
// to keep it unchanged for good.
func (e *Change) Replaces() bool {
	return !e.replacement.KeepContent || e.newArgs != nil || len(e.mediaRefs) > 0
}

// Marks reports whether a mark on the result keeps the user's handler from being asked again.
func (e *Change) MarksResult() bool { return e.replacement.Mark }

// roughly is the size of the result and the long arguments of its call, in tokens of four
// bytes, as on both sides of the comparison.
func (e *Change) roughTokens() int64 {
	bytes := 0
	if !e.Notice.IsPlaceholder() {
		bytes = e.Size
	}
	for _, v := range e.argumentRefs {
		bytes += v.end - v.start
	}
	return tokencount.OfBytes(bytes) + int64(len(e.mediaRefs)*tokencount.MediaTokens)
}

// shrinks is how many tokens the edit saves of that.
func (e *Change) roughSaving() int64 { return e.roughTokens() - tokencount.OfBytes(e.bytesAfter) }

// saved estimates the tokens that the edit saves.
func (e *Change) tokenSaving() (n int64) {
	if !e.replacement.KeepContent {
		for _, text := range e.Texts {
			n += int64(tokens.Of(text))
		}
		n -= tokencount.OfBytes(e.bytesAfter)
	}
	if e.newArgs != nil {
		n += int64(tokens.Of(e.Call.Args) - tokens.Of(*e.newArgs))
	}
	return n + int64(len(e.mediaRefs)*mediaSaving)
}

// tokensLeft is how many tokens are left of the result.
func (e *Change) resultTokens() int {
	if e.replacement.KeepContent {
		return e.Tokens
	}
	return tokens.Of(e.replacement.Text)
}

// Into adds the edit to those of the messages of the result and of the call.
func (e *Change) AddTo(result, call *rounds.Edit) {
	for _, r := range e.mediaRefs {
		moved := *r.medium
		moved.Text = r.text
		result.Media = append(result.Media, &moved)
	}
	if !e.replacement.KeepContent || e.replacement.Mark {
		result.Results = append(result.Results, e.replacement)
	}
	call.Mark = call.Mark || e.markCall
	if e.newArgs != nil {
		if call.Args == nil {
			call.Args = make(map[int]string)
		}
		call.Args[e.Call.Index] = *e.newArgs
	}
}

// Outcome is that of the result, with the arguments and media that references replace.
func (e *Change) Outcome() report.Outcome {
	o := report.Outcome{Before: e.Size, After: e.bytesAfter, Path: e.file.path}
	if e.newArgs != nil && len(e.argumentRefs) > 0 {
		o.Before += len(e.Call.Args)
		o.After += len(*e.newArgs)
		o.Path = cmp.Or(o.Path, e.argumentRefs[0].path)
	}
	for _, r := range e.mediaRefs {
		o.Before += len(r.item.Content)
		o.After += len(r.text)
		o.Path = cmp.Or(o.Path, r.path)
	}
	return o
}

// IsNews reports whether the edit is made for the first time: it was not seen before, and what it takes out was
// not stored already, as storing has shown.
func (e *Change) FirstTime(seen *report.RecentKeys) bool {
	key := report.KeyOf(append([]string{e.Call.ID, e.file.path, e.Call.Args}, e.Texts...)...)
	existed := e.file.alreadyStored
	if e.file.path == "" {
		existed = existed || len(e.argumentRefs) > 0 && e.argumentRefs[0].alreadyStored || len(e.mediaRefs) > 0 && e.mediaRefs[0].alreadyStored
	}
	return seen.Add(key) && !existed
}

// Decider decides about results. Its functions may be the user's.
type Decider struct {
	Root             string                                                  // of the store
	MinSavingBytes   int                                                     // the least bytes that a notice in place of a result saves
	MaxArgumentBytes int                                                     // the most bytes that a value in the arguments of an old call has; zero: any
	GeneratePath     func(ctx context.Context, r *Candidate) (string, error) // names the file of a result; nil: the default does
	Handler          func(ctx context.Context, r *Candidate) (Answer, error) // the user's handler
	CustomPaths      bool                                                    // the user's code named the files of results that were cut
	IsResult         func(filePath string) bool                              // a file is where results are stored

	renderer
}

// For is the decider of a run whose read tool has a name, empty if there is none.
func (d Decider) ForRun(reader string) *Decider {
	d.renderer = renderer{root: d.Root, maxArgumentBytes: d.MaxArgumentBytes, notices: notice.Current()}
	d.data = d.notices.WithHint(notice.Data{Tool: reader})
	return &d
}

// Decide decides about an old result and its call's arguments. Without an edit it returns why both stay as
// they are; with both, only a mark is set. Its error is that of a user's callback.
func (d *Decider) Decide(ctx context.Context, r *Candidate) (e Change, why toolpolicy.Reason, err error) {
	if r.Policy.HasHandler {
		return d.byHandler(ctx, r)
	}
	is := Plan{Candidate: r, argumentRefs: r.argumentRefs, mediaRefs: r.mediaRefs, markCall: !r.callMarked}
	if !r.Notice.IsPlaceholder() && r.Size > 0 {
		if is.file, err = d.locate(ctx, r, d.GeneratePath); err != nil {
			return Change{}, "", err
		}
		if e, ok := d.edit(is); ok && (is.file.path == "" || notice.Showable(is.file.path)) {
			return e, "", nil
		}
	}
	if len(r.argumentRefs)+len(r.mediaRefs) == 0 {
		return Change{}, toolpolicy.NotSmaller, nil
	}
	is.keepResult, is.file = true, file{}
	e, _ = d.edit(is)
	return e, "", nil
}

// Repeat decides that a result is replaced by a reference to an earlier call with the same.
func (d *Decider) DecideDuplicate(ctx context.Context, r *Candidate, like string) (e Change, ok bool, err error) {
	is := Plan{Candidate: r, duplicateOf: like}
	if is.file, err = d.locate(ctx, r, d.GeneratePath); err != nil {
		return Change{}, false, err
	}
	e, ok = d.edit(is)
	return e, ok && notice.Showable(is.file.path), nil
}

func (d *Decider) byHandler(ctx context.Context, r *Candidate) (Change, toolpolicy.Reason, error) {
	got, err := d.Handler(ctx, r)
	switch {
	case err != nil:
		return Change{}, "", err
	case got.ByDefault:
		again := *r
		if again.Policy = r.Policy.ByDefault(); again.Policy.SkipReason != "" {
			return Change{}, again.Policy.SkipReason, nil
		}
		return d.Decide(ctx, &again)
	case !got.Replaces:
		return Change{}, toolpolicy.Handler, nil
	}
	is := Plan{Candidate: r, markCall: !r.callMarked, answer: &got}
	if got.Stores {
		if r.Policy.Store == nil {
			return Change{}, "", fmt.Errorf("reduction: clearing a result of %q: %w", r.Call.Name, toolpolicy.ErrNoStore)
		}
		is.file.path = got.Path
		is.file.item = offload.Item{Store: r.Policy.Store, At: offload.Place{Path: got.Path, Fixed: true}, Content: got.Content}
	}
	e, _ := d.edit(is)
	if !e.Replaces() {
		return e, toolpolicy.Handler, nil
	}
	return e, "", nil
}

// refer decides that the first n media of a result become references, and returns about how many tokens this
// saves.
func (d *Decider) referToMedia(to *Plan, n int) (saved int) {
	to.mediaRefs = d.mediaReferences(to.Media[:n], to.Policy.Store)
	for _, r := range to.mediaRefs {
		saved += tokencount.MediaTokens - tokens.Of(r.text)
	}
	return saved
}

// referToArguments decides that the long values in the call of a result become references, and returns the
// tokens that this saves.
func (d *Decider) referToArguments(to *Plan) (saved int) {
	if d.maxArgumentBytes > 0 {
		to.argumentRefs = d.argumentReferences(to.Candidate)
	}
	if len(to.argumentRefs) == 0 {
		return 0
	}
	to.markCall = true
	return tokens.Of(to.Call.Args) - tokens.Of(withReferences(to.Call.Args, to.argumentRefs))
}

// shorten decides that a result of more than most tokens becomes shorter, if it can.
func (d *Decider) shorten(ctx context.Context, e *Change, most int) (err error) {
	if e.resultTokens() <= most {
		return nil
	}
	is := e.Plan
	if is.keepResult {
		if is.file, err = d.locate(ctx, is.Candidate, nil); err != nil {
			return err
		}
	}
	is.keepResult, is.maxTokens = false, max(most, 1)
	if next, ok := d.edit(is); ok && (is.file.path == "" || notice.Showable(is.file.path)) {
		*e = next
	}
	return nil
}

func (d *Decider) locate(ctx context.Context, r *Candidate, name func(context.Context, *Candidate) (string, error)) (f file, err error) {
	if r.Notice.IsExcerpt() && d.isOurNotice(ctx, r) {
		return file{path: r.Notice.Path, statedBytes: max(r.Notice.Bytes, r.Size)}, nil
	}
	f.statedBytes = r.Size
	if r.Policy.Store == nil {
		return f, nil
	}
	if r.Policy.IsReadTool {
		if f.path = d.pageOf(ctx, r); f.path != "" {
			f.isPage = true
			return f, nil
		}
	}
	content := strings.Join(r.Texts, "")
	if f.path = r.Policy.Store.ReadBack(ctx, d.Root, r.Call.Args, content); f.path != "" {
		return f, nil
	}
	f.path = offload.DefaultPath(d.Root, offload.ClearDir, r.Call.ID)
	if name != nil {
		f.path, err = name(ctx, r)
	}
	f.item = offload.Item{Store: r.Policy.Store, Content: content}
	f.item.At, f.path, f.pathCertain = r.Policy.Store.Plan(offload.Place{Path: f.path}, content)
	return f, err
}

// isOurNotice reports whether this package or Eino's wrote a notice in place of a result. A
// tool may return anything, such as a notice about somebody else's file, or quote one. The
// path must be possible for the call, and the file must contain the excerpt.
func (d *Decider) isOurNotice(ctx context.Context, r *Candidate) bool {
	n, s := r.Notice, r.Policy.Store
	named := slices.Contains(offload.PathsIn(d.Root, r.Call.Args), n.Path)
	own := offload.BelongsToCall(n.Path, r.Call.ID) || d.CustomPaths || named
	before, whole := notice.StreamedText(r.Texts)
	switch {
	case !own, !whole:
		return false
	case s == nil:
		return true
	case !s.Readable():
		size, used := s.KnownSize(ctx, n.Path)
		return offload.BelongsToCall(n.Path, r.Call.ID) && (!used || size < 0 || size >= n.Bytes)
	case !hasStatedSize(ctx, s, n, len(before)):
		return false
	case before != "":
		piece, err := s.ReadAt(ctx, n.Path, 0, len(before))
		return err == nil && piece == before
	}
	// A piece of a file that was read back may come from anywhere in it.
	head, tail, excerpt := notice.Excerpt(r.Texts)
	return named || !excerpt || fileContains(ctx, s, n.Path, 0, head) && fileContains(ctx, s, n.Path, n.Bytes-len(tail), tail)
}

// has reports whether the file of a notice has the stated size, or at least shown bytes.
func hasStatedSize(ctx context.Context, s *offload.Store, n notice.Notice, shown int) bool {
	size, err := s.Size(ctx, n.Path)
	return err == nil && size >= int64(max(n.Bytes, shown))
}

// shows reports whether text is what a notice shows of a file from an offset on.
func fileContains(ctx context.Context, s *offload.Store, filePath string, offset int, text string) bool {
	piece, err := s.ReadAt(ctx, filePath, int64(offset), len(text))
	return err == nil && (piece == text || notice.Sanitize(piece) == text)
}

// pageOf returns the stored file that a result of the read tool is a page of, empty if it is none. The same
// call returns the page again, because the file still exists and never changes; for other
// files than this package's, that is unknown.
func (d *Decider) pageOf(ctx context.Context, r *Candidate) string {
	name, s := readtool.Path(r.Call.Args), r.Policy.Store
	if name == "" || !notice.Showable(name) {
		return ""
	}
	_, used := s.KnownSize(ctx, name)
	switch {
	case used && !s.Readable():
		return name
	case !used && !d.IsResult(name) || !s.Readable():
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
func (d *Decider) edit(is Plan) (e Change, ok bool) {
	e = Change{Plan: is, bytesAfter: is.Size, replacement: rounds.Replacement{Index: is.Pair.Result.Index, KeepContent: true}}
	if len(is.argumentRefs) > 0 {
		args := withReferences(is.Call.Args, is.argumentRefs)
		e.newArgs = &args
	}
	text := ""
	switch {
	case is.keepResult:
		return e, true
	case is.answer != nil:
		e.applyAnswer()
		return e, true
	case is.maxTokens > 0:
		text, ok = d.excerptNotice(is)
	default:
		text, ok = d.clearNotice(is)
	}
	if text != "" {
		e.replacement.KeepContent, e.replacement.Text, e.bytesAfter = false, text, len(text)
	}
	return e, ok
}

// handled edits as the user's handler says.
func (e *Change) applyAnswer() {
	e.replacement.Mark = true
	if to := e.answer.Parts; len(to) > 0 {
		e.replacement.KeepContent, e.replacement.Parts, e.bytesAfter = false, to, rounds.Bytes(to)
	}
	if to := e.answer.Args; to != nil && *to != e.Call.Args {
		e.newArgs = to
	}
}

// cleared makes the notice that says where a result is, and reports whether it saves enough.
func (d *Decider) clearNotice(is Plan) (text string, ok bool) {
	data := d.data
	data.Bytes, data.Path, data.Call = is.file.statedBytes, is.file.path, is.duplicateOf
	form, suffix := d.notices.Cleared, 0
	switch {
	case is.duplicateOf != "":
		form = d.notices.Duplicate
	case is.file.path == "":
		form = d.notices.Placeholder
	case is.file.isPage:
		form = d.notices.Page
	}
	if to := is.file; to.item.Store != nil && !to.pathCertain {
		suffix = len(offload.Padding)
	}
	text = d.notices.Fill(form, data)
	return text, is.Size-len(text)-suffix >= d.MinSavingBytes
}

// minShown is how many bytes of a result always stay when it must fit the window.
const minExcerptBytes = 1000

// shorter makes the notice with as much of a result as fits, none if it is not shorter than the result.
func (d *Decider) excerptNotice(is Plan) (text string, ok bool) {
	data := d.data
	data.Path = is.file.path
	fits := is.Size * is.maxTokens / max(is.Tokens, 1)
	if is.file.isPage {
		// The model has not seen the page: it must ask for less, with room for what it asks.
		data.Bytes, data.HeadBytes = is.Size, max(minExcerptBytes, fits*3/4)
		text = d.notices.Fill(d.notices.LongPage, data)
	} else {
		for limit := min(is.Size-1, max(minExcerptBytes, fits)); ; limit = max(minExcerptBytes, limit*3/4) {
			if text, ok = d.excerpt(is, data, limit); !ok {
				return "", false
			}
			if limit <= minExcerptBytes || tokens.Of(text) <= is.maxTokens {
				break
			}
		}
	}
	if len(text) >= is.Size {
		return "", false
	}
	return text, true
}

// excerpt makes a notice of at most limit bytes with the start and the end of a result.
func (d *Decider) excerpt(is Plan, data notice.Data, limit int) (string, bool) {
	if !is.Notice.IsExcerpt() || is.file.path != is.Notice.Path {
		text := strings.Join(is.Texts, "")
		_, ok := d.notices.Room(len(text), data, limit)
		return d.notices.RenderExcerpt(text, data, limit), ok
	}
	data.Bytes = max(is.Notice.Bytes, is.Size)
	return d.notices.Reshorten(is.Texts, data, limit)
}
