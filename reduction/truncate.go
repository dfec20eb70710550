// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file cuts finished results that are too long.

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// pathGenerator is the type of the two path generators of a configuration.
type pathGenerator = func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error)

// truncator is the truncation phase. It never changes.
type truncator struct {
	policy *policy
	files  *offloader
	root   string
	path   pathGenerator
	report reporter
	stored *storedNames
}

// job is one call of a tool whose result may be too long.
type job struct {
	rule
	tool *adk.ToolContext
	args *schema.ToolArgument
}

// job returns what there is to do about the results of a call, if anything.
func (t *truncator) job(ctx context.Context, tool *adk.ToolContext) (job, bool) {
	if tool == nil {
		return job{}, false
	}
	r := t.policy.truncation(ctx, tool.Name)
	return job{rule: r, tool: tool}, r.leave == "" || t.report != nil
}

// byDefault is the job without the user's handler.
func (j job) byDefault() job {
	j.rule = j.rule.byDefault()
	return j
}

func (j job) with(args *schema.ToolArgument) job {
	j.args = args
	return j
}

// argText is what the tool was called with.
func (j job) argText() string {
	if j.args == nil {
		return ""
	}
	return j.args.Text
}

func (j job) detail(result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{ToolContext: j.tool, ToolArgument: j.args, ToolResult: result}
}

// event begins an event about a result of size bytes.
func (j job) event(kind EventKind, size int) Event {
	return Event{Kind: kind, Phase: PhaseTruncation, Tool: j.tool.Name, CallID: j.tool.CallID, BytesBefore: size, BytesAfter: size}
}

func (j job) left(why Reason, size int) Event {
	e := j.event(EventLeftAlone, size)
	e.Reason = why
	return e
}

// finished returns what takes the place of a result, nil if it stays as it is.
// The result is not changed. An error is that of a user's callback.
func (t *truncator) finished(ctx context.Context, j job, result *schema.ToolResult) (*schema.ToolResult, error) {
	if result == nil {
		return nil, nil
	}
	switch {
	case j.leave != "":
		t.report.send(ctx, j.left(j.leave, sizeOf(textsOf(result.Parts))))
		return nil, nil
	case j.trunc != nil:
		return t.byHandler(ctx, j, result)
	}
	return t.cut(ctx, j, result)
}

// cut is the default handler.
func (t *truncator) cut(ctx context.Context, j job, result *schema.ToolResult) (*schema.ToolResult, error) {
	texts := textsOf(result.Parts)
	size := sizeOf(texts)
	if size <= j.limit {
		t.report.send(ctx, j.left(ReasonWithinLimit, size))
		return nil, nil
	}
	at, err := t.spot(ctx, j, result)
	if err != nil {
		return nil, err
	}
	content, words, limit := joined(texts), wordingNow(), min(j.limit, size-1)
	note := facts{path: at.path + padding, tool: t.policy.readerName(ctx)}
	if _, ok := words.room(size, note, limit); !ok || !showable(at.path) {
		at = t.defaultSpot(j) // the limit has room for this one
		note.path = at.path + padding
	}
	if _, ok := words.room(size, note, limit); !ok {
		t.report.send(ctx, j.left(ReasonNotSmaller, size))
		return nil, nil
	}
	if note.path, err = t.keep(ctx, j, at, content); err != nil {
		e := j.event(EventOffloadFailed, size)
		e.Err = err
		t.report.send(ctx, e)
		return nil, nil
	}
	t.stored.add(j.tool.CallID, note.path)
	text := words.excerpt(content, note, limit)
	e := j.event(EventTruncated, size)
	e.BytesAfter, e.Path = len(text), note.path
	t.report.send(ctx, e)
	return &schema.ToolResult{Parts: withNotice(result.Parts, text)}, nil
}

// keep returns where a content is: where it was read from, or where it is stored
// now.
func (t *truncator) keep(ctx context.Context, j job, at spot, content string) (string, error) {
	p := j.store.readBack(ctx, t.root, j.argText(), content)
	if p != "" && len(p) <= len(at.path)+len(padding) {
		return p, nil
	}
	t.files.note(ctx, shownIn(ctx))
	return t.files.save(ctx, j.store, at, content)
}

// padding stands for the suffix that a path may still get.
const padding = "-00000000000000000000000000-0"

// spot is where a result should go.
func (t *truncator) spot(ctx context.Context, j job, result *schema.ToolResult) (spot, error) {
	if t.path == nil {
		return t.defaultSpot(j), nil
	}
	p, err := t.path(ctx, j.detail(copyOf(result)))
	return spot{path: p}, err
}

func (t *truncator) defaultSpot(j job) spot {
	return spot{path: defaultPath(t.root, truncDir, j.tool.CallID)}
}

// copyOf protects a tool's result from a handler that writes to its parts.
func copyOf(r *schema.ToolResult) *schema.ToolResult {
	return &schema.ToolResult{Parts: append([]schema.ToolOutputPart(nil), r.Parts...)}
}

// byHandler asks the user's handler.
func (t *truncator) byHandler(ctx context.Context, j job, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := sizeOf(textsOf(result.Parts))
	got, err := j.trunc(ctx, j.detail(copyOf(result)))
	if errors.Is(err, UseDefault) {
		return t.finished(ctx, j.byDefault(), result)
	}
	if err != nil {
		return nil, err
	}
	if got == nil || !got.NeedTrunc || got.ToolResult == nil || len(got.ToolResult.Parts) == 0 {
		t.report.send(ctx, j.left(ReasonHandler, size))
		return nil, nil
	}
	if ok, err := t.offload(ctx, j, got, size); !ok {
		return nil, err
	}
	e := j.event(EventTruncated, size)
	e.BytesAfter, e.Path = sizeOf(textsOf(got.ToolResult.Parts)), got.OffloadFilePath
	t.report.send(ctx, e)
	return got.ToolResult, nil
}

// offload stores what a handler wants stored. Unless ok, the original goes on.
func (t *truncator) offload(ctx context.Context, j job, got *TruncResult, size int) (ok bool, err error) {
	if !got.NeedOffload {
		return true, nil
	}
	if j.store == nil {
		return false, fmt.Errorf("reduction: truncating a result of %q: %w", j.tool.Name, errNoBackend)
	}
	at := spot{path: got.OffloadFilePath, fixed: true}
	if _, err := t.files.save(ctx, j.store, at, got.OffloadContent); err != nil {
		e := j.event(EventOffloadFailed, size)
		e.Err = err
		t.report.send(ctx, e)
		return false, nil
	}
	t.stored.add(j.tool.CallID, at.path)
	return true, nil
}
