// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Plans for old results and for repeated ones, and where the content of a result is.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// Callbacks is the user's code that a Decider and a Saver call.
type Callbacks interface {
	// OffloadPath returns the path for a cleared result, in place of the default one.
	OffloadPath(ctx context.Context, c *Candidate, defaultPath string) (string, error)

	// HandleResult returns the decision of the handler of the result's tool.
	HandleResult(ctx context.Context, c *Candidate) (Answer, error)

	// ReportFailure is called when content of a call could not be stored.
	ReportFailure(ctx context.Context, c *Candidate, err error)
}

// Decider plans what becomes of results. The zero value must be completed by ForRun.
type Decider struct {
	Root             string // RootDir of the configuration
	MinSavingBytes   int    // how many bytes a notice in place of a result must save
	MaxArgumentBytes int    // how many bytes a value in the arguments of an old call may have; zero: any number
	CanPass          bool   // calls may pass content on by its path
	CustomPaths      bool   // a generator of the user's named the files of truncated results
	IsResult         func(filePath string) bool

	callbacks Callbacks
	renderer  renderer
}

// ForRun returns the decider of a run whose read tool has a name, empty if there is none.
func (d Decider) ForRun(readTool string, callbacks Callbacks) *Decider {
	d.callbacks = callbacks
	d.renderer = renderer{root: d.Root, maxArgumentBytes: d.MaxArgumentBytes, notices: notice.Current()}
	d.renderer.data = d.renderer.notices.WithHint(notice.Data{Tool: readTool, CanPass: d.CanPass})
	return &d
}

// Decide plans what becomes of an old result and its call's arguments. If both stay, it returns the reason; a
// change beside a reason only sets a mark. The error is that of a user's callback.
func (d *Decider) Decide(ctx context.Context, c *Candidate) (change Change, why toolpolicy.Reason, err error) {
	if c.Policy.HasHandler {
		return d.decideByHandler(ctx, c)
	}
	plan := Plan{Candidate: c, argumentRefs: c.argumentRefs, mediaRefs: c.mediaRefs, markCall: !c.isCallMarked()}
	if !c.Notice.IsPlaceholder() && c.Size > 0 {
		if plan.file, err = d.locate(ctx, c, true); err != nil {
			return Change{}, "", err
		}
		if change, ok := d.render(plan); ok && plan.file.isShowable() {
			return change, "", nil
		}
	}
	if !c.hasReferences() {
		return Change{}, toolpolicy.NotSmaller, nil
	}
	plan.keepResult, plan.file = true, file{}
	change, _ = d.render(plan)
	return change, "", nil
}

// DecideDuplicate plans to replace a result by a reference to an earlier call with an equal one.
func (d *Decider) DecideDuplicate(
	ctx context.Context, c *Candidate, earlier string,
) (change Change, ok bool, err error) {
	plan := Plan{Candidate: c, duplicateOf: earlier}
	if plan.file, err = d.locate(ctx, c, true); err != nil {
		return Change{}, false, err
	}
	change, ok = d.render(plan)
	return change, ok && notice.Showable(plan.file.path), nil
}

// decideByHandler is Decide for a result whose tool has a handler.
func (d *Decider) decideByHandler(ctx context.Context, c *Candidate) (Change, toolpolicy.Reason, error) {
	answer, err := d.callbacks.HandleResult(ctx, c)
	switch {
	case err != nil:
		return Change{}, "", err
	case answer.ByDefault:
		unhandled := *c
		if unhandled.Policy = c.Policy.ByDefault(); unhandled.Policy.SkipReason != "" {
			return Change{}, unhandled.Policy.SkipReason, nil
		}
		return d.Decide(ctx, &unhandled)
	case !answer.Replaces:
		return Change{}, toolpolicy.Handler, nil
	}
	plan := Plan{Candidate: c, markCall: !c.isCallMarked(), answer: &answer}
	if store := c.Policy.Store; answer.Stores {
		if store == nil {
			return Change{}, "", fmt.Errorf("reduction: clearing a result of %q: %w", c.Call.Name, toolpolicy.ErrNoStore)
		}
		at := offload.Place{Path: answer.Path, Fixed: true}
		plan.file.path = answer.Path
		plan.file.item = offload.Item{Store: store, At: at, Content: answer.Content}
	}
	change, _ := d.render(plan)
	if !change.Replaces() {
		return change, toolpolicy.Handler, nil
	}
	return change, "", nil
}

// isShowable reports whether a notice can say where the content is.
func (f file) isShowable() bool { return f.path == "" || notice.Showable(f.path) }

// locate returns where the content of a result is or will be. It asks the user's path generator only if custom is
// set; only then can it fail.
func (d *Decider) locate(ctx context.Context, c *Candidate, custom bool) (f file, err error) {
	if c.Notice.IsExcerpt() && d.isOurNotice(ctx, c) {
		return file{path: c.Notice.Path, statedBytes: max(c.Notice.Bytes, c.Size)}, nil
	}
	f.statedBytes = c.Size
	store := c.Policy.Store
	if store == nil {
		return f, nil
	}
	if c.Policy.IsReadTool {
		if f.path = d.pageOf(ctx, c); f.path != "" {
			f.isPage = true
			return f, nil
		}
	}
	content := strings.Join(c.Result.Texts, "")
	if f.path = store.ReadBack(ctx, d.Root, c.Call.Args, content); f.path != "" {
		return f, nil
	}
	f.path = offload.DefaultPath(d.Root, offload.ClearDir, c.Call.ID)
	if custom {
		f.path, err = d.callbacks.OffloadPath(ctx, c, f.path)
	}
	f.item = offload.Item{Store: store, Content: content}
	f.item.At, f.path, f.pathCertain = store.Plan(offload.Place{Path: f.path}, content)
	return f, err
}

// isOurNotice reports whether this package or Eino's wrote the notice in place of a result. A tool may return
// anything, such as a notice about somebody else's file. The path must be possible for the call, and the file
// must contain the excerpt.
func (d *Decider) isOurNotice(ctx context.Context, c *Candidate) bool {
	n, store := c.Notice, c.Policy.Store
	inArguments := slices.Contains(offload.PathsIn(d.Root, c.Call.Args), n.Path)
	isPossible := offload.BelongsToCall(n.Path, c.Call.ID) || d.CustomPaths || inArguments
	streamed, isWhole := notice.StreamedText(c.Result.Texts)
	switch {
	case !isPossible, !isWhole:
		return false
	case store == nil:
		return true
	case !store.Readable():
		size, used := store.KnownSize(ctx, n.Path)
		return offload.BelongsToCall(n.Path, c.Call.ID) && (!used || size < 0 || size >= n.Bytes)
	case !hasStatedSize(ctx, store, n, len(streamed)):
		return false
	case streamed != "":
		start, err := store.ReadAt(ctx, n.Path, 0, len(streamed))
		return err == nil && start == streamed
	}
	// An excerpt of a file that was read back may come from anywhere in it.
	head, tail, found := notice.Excerpt(c.Result.Texts)
	return inArguments || !found ||
		fileContains(ctx, store, n.Path, 0, head) && fileContains(ctx, store, n.Path, n.Bytes-len(tail), tail)
}

// hasStatedSize reports whether the file of a notice has at least the size that the notice states, and at least
// shown bytes.
func hasStatedSize(ctx context.Context, s *offload.Store, n notice.Notice, shown int) bool {
	size, err := s.Size(ctx, n.Path)
	return err == nil && size >= int64(max(n.Bytes, shown))
}

// fileContains reports whether text is what a notice shows of a file from an offset on.
func fileContains(ctx context.Context, s *offload.Store, filePath string, offset int, text string) bool {
	content, err := s.ReadAt(ctx, filePath, int64(offset), len(text))
	return err == nil && (content == text || notice.Sanitize(content) == text)
}

// pageOf returns the stored file that a result of the read tool is a page of, empty if there is none. Such a file
// never changes, so the same call returns the page again. That is unknown of files of others.
func (d *Decider) pageOf(ctx context.Context, c *Candidate) string {
	filePath, store := readtool.Path(c.Call.Args), c.Policy.Store
	if filePath == "" || !notice.Showable(filePath) {
		return ""
	}
	_, used := store.KnownSize(ctx, filePath)
	switch {
	case used && !store.Readable():
		return filePath
	case !used && !d.IsResult(filePath) || !store.Readable():
		return "" // a store that cannot be read may have a file of others there
	}
	if _, err := store.Size(ctx, filePath); err != nil {
		return ""
	}
	return filePath
}

// render makes the change of a plan, and reports whether a notice in place of the result saves enough. That must
// not depend on whether the path will get a suffix: a result that stays today would otherwise be cleared tomorrow.
func (d *Decider) render(plan Plan) (change Change, ok bool) {
	c := plan.Candidate
	change = Change{Plan: plan, bytesAfter: c.Size}
	change.replacement = rounds.Replacement{Index: c.Result.Index, KeepContent: true}
	if len(plan.argumentRefs) > 0 {
		args := withReferences(c.Call.Args, plan.argumentRefs)
		change.newArgs = &args
	}
	text := ""
	switch {
	case plan.keepResult:
		return change, true
	case plan.answer != nil:
		change.applyAnswer(plan.answer)
		return change, true
	case plan.maxTokens > 0:
		text, ok = d.excerptNotice(plan)
	default:
		text, ok = d.clearNotice(plan)
	}
	if text != "" {
		change.replacement.KeepContent, change.replacement.Text, change.bytesAfter = false, text, len(text)
	}
	return change, ok
}

// clearNotice makes the notice that says where a result is, and reports whether it saves enough.
func (d *Decider) clearNotice(plan Plan) (text string, ok bool) {
	notices, data := d.renderer.notices, d.renderer.dataFor(plan.file.path)
	data.Bytes, data.Call = plan.file.statedBytes, plan.duplicateOf
	form, suffix := notices.Cleared, 0
	switch {
	case plan.duplicateOf != "":
		form = notices.Duplicate
	case plan.file.path == "":
		form = notices.Placeholder
	case plan.file.isPage:
		form = notices.Page
	}
	if plan.file.item.Store != nil && !plan.file.pathCertain {
		suffix = len(offload.Padding)
	}
	text = notices.Fill(form, data)
	return text, plan.Candidate.Size-len(text)-suffix >= d.MinSavingBytes
}

// minExcerptBytes is how many bytes of a result always stay when it must fit the window.
const minExcerptBytes = 1000

// excerptNotice makes the notice with as much of a result as may stay. ok is false if it is not shorter.
func (d *Decider) excerptNotice(plan Plan) (text string, ok bool) {
	c, data := plan.Candidate, d.renderer.dataFor(plan.file.path)
	room := c.Size * plan.maxTokens / max(c.Tokens, 1)
	if plan.file.isPage {
		// The model has not seen the page: it must ask for less, and what it asks for needs room.
		data.Bytes, data.HeadBytes = c.Size, max(minExcerptBytes, room*3/4)
		return ifShorter(d.renderer.notices.Fill(d.renderer.notices.LongPage, data), c.Size)
	}
	for limit := min(c.Size-1, max(minExcerptBytes, room)); ; limit = max(minExcerptBytes, limit*3/4) {
		if text, ok = d.renderer.excerpt(plan, data, limit); !ok {
			return "", false
		}
		if limit <= minExcerptBytes || tokens.Of(text) <= plan.maxTokens {
			return ifShorter(text, c.Size)
		}
	}
}

func ifShorter(text string, size int) (string, bool) {
	if len(text) >= size {
		return "", false
	}
	return text, true
}
