// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Finished results that are too long.

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// truncator is the truncation phase. It is immutable.
type truncator struct {
	policy   *policy
	files    *vault.Vault
	root     string
	generate pathGenerator
	report   reporter
	names    *storedNames // nil: no read tool is provided
}

// callInfo is one call of a tool whose result may be too long.
type callInfo struct {
	rule rule
	tool *adk.ToolContext
	args *schema.ToolArgument
}

// info describes the truncation of a call's results, if any.
func (t *truncator) info(ctx context.Context, tool *adk.ToolContext) (callInfo, bool) {
	if tool == nil {
		return callInfo{}, false
	}
	r := t.policy.truncation(ctx, tool.Name)
	return callInfo{rule: r, tool: tool}, r.leave == "" || t.report != nil && (r.leave != ReasonExempt || r.reads)
}

func (info callInfo) with(args *schema.ToolArgument) callInfo {
	info.args = args
	return info
}

// argText is the text of the call's arguments.
func (info callInfo) argText() string {
	if info.args == nil {
		return ""
	}
	return info.args.Text
}

func (info callInfo) detail(result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{ToolContext: info.tool, ToolArgument: info.args, ToolResult: result}
}

func (info callInfo) report(ctx context.Context, t *truncator, o output) {
	t.report.output(ctx, info.tool.Name, info.tool.CallID, o)
}

// reportKept reports a result that is passed on whole, if the model read it from the
// store or if it is longer than its limit.
func (info callInfo) reportKept(ctx context.Context, t *truncator, o output, answer string) {
	o.kind, o.after = leanctx.KindResultKept, o.before
	switch {
	case t.report == nil:
		return
	case info.rule.reads:
		if o.path = readtool.Path(info.argText()); o.path == "" || !o.stream && t.policy.ownPages(ctx) && !readtool.Page(answer) {
			return
		}
		o.kind, o.reason = leanctx.KindResultRead, ""
	case o.before <= info.rule.limit:
		return
	}
	info.report(ctx, t, o)
}

// finished returns the replacement of a result, nil if it stays as it is. The result is
// not changed. An error is that of a user's callback.
func (t *truncator) finished(ctx context.Context, info callInfo, result *schema.ToolResult) (*schema.ToolResult, error) {
	if result == nil {
		return nil, nil
	}
	switch {
	case info.rule.leave != "":
		info.reportKept(ctx, t, output{reason: info.rule.leave, before: sizeOf(textsOf(result.Parts))}, firstText(result))
		return nil, nil
	case info.rule.trunc != nil:
		return t.byHandler(ctx, info, result)
	}
	return t.cut(ctx, info, result)
}

// cut is the default handler.
func (t *truncator) cut(ctx context.Context, info callInfo, result *schema.ToolResult) (*schema.ToolResult, error) {
	texts := textsOf(result.Parts)
	size := sizeOf(texts)
	if size <= info.rule.limit {
		info.reportKept(ctx, t, output{before: size}, "")
		return nil, nil
	}
	at, err := t.place(ctx, info, result)
	if err != nil {
		return nil, err
	}
	content, say, limit := joined(texts), currentNotices(), min(info.rule.limit, size-1)
	data := noticeData{path: at.Path + vault.Padding, tool: t.policy.readerName(ctx), finds: t.policy.ownPages(ctx)}
	if _, ok := say.room(size, data, limit); !ok || !showable(at.Path) {
		at = t.defaultPlace(info) // the limit has room for this one
		data.path = at.Path + vault.Padding
	}
	if _, ok := say.room(size, data, limit); !ok {
		info.reportKept(ctx, t, output{reason: ReasonNotSmaller, before: size}, "")
		return nil, nil
	}
	if data.path, err = t.save(ctx, info, at, content); err != nil {
		info.report(ctx, t, output{kind: leanctx.KindStoreFailed, before: size, after: size, err: err})
		return nil, nil
	}
	t.noteStored(info, data.path)
	text := say.shortened(size, data, limit, func(room int) string { return info.previewOf(ctx, content, room) })
	if text == "" {
		text = say.excerpt(content, data, limit)
	}
	info.report(ctx, t, output{kind: leanctx.KindResultCut, rule: byLimit, before: size, after: len(text), path: data.path})
	return &schema.ToolResult{Parts: withNotice(result.Parts, text)}, nil
}

// previewOf returns a Preview of a result in at most room bytes, empty if it cannot be
// shown.
func (info callInfo) previewOf(ctx context.Context, content string, room int) string {
	if info.rule.preview == nil || room < minExcerpt {
		return ""
	}
	question, _ := runText(ctx, questionKey)
	shown := info.rule.preview(PreviewRequest{Text: content, MaxBytes: room, Tool: info.tool.Name, Arguments: info.argText(), Question: question})
	if len(shown) > room || !utf8.ValidString(shown) {
		return ""
	}
	return shown
}

// save returns the file of content: the one it was read from, or the one where it is
// stored now.
func (t *truncator) save(ctx context.Context, info callInfo, at vault.Place, content string) (string, error) {
	p := info.rule.store.ReadBack(ctx, t.root, info.argText(), content)
	if p != "" && len(p) <= len(at.Path)+len(vault.Padding) {
		return p, nil
	}
	t.files.Note(ctx, setOf(runNames(ctx, namedFilesKey)))
	p, _, err := t.files.Save(ctx, info.rule.store, at, content)
	return p, err
}

// noteStored records that a file belongs to the call.
func (t *truncator) noteStored(info callInfo, filePath string) {
	if t.names != nil {
		t.names.add(info.tool.CallID, filePath)
	}
}

// place chooses the file of a result.
func (t *truncator) place(ctx context.Context, info callInfo, result *schema.ToolResult) (vault.Place, error) {
	if t.generate == nil {
		return t.defaultPlace(info), nil
	}
	p, err := t.generate(ctx, info.detail(copyOf(result)))
	return vault.Place{Path: p}, err
}

func (t *truncator) defaultPlace(info callInfo) vault.Place {
	return vault.Place{Path: vault.DefaultPath(t.root, vault.TruncDir, info.tool.CallID)}
}

// copyOf protects a tool's result from a handler that writes to its parts.
func copyOf(r *schema.ToolResult) *schema.ToolResult {
	return &schema.ToolResult{Parts: append([]schema.ToolOutputPart(nil), r.Parts...)}
}

// byHandler asks the user's handler.
func (t *truncator) byHandler(ctx context.Context, info callInfo, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := sizeOf(textsOf(result.Parts))
	got, err := info.rule.trunc(ctx, info.detail(copyOf(result)))
	if errors.Is(err, UseDefault) {
		info.rule = info.rule.byDefault()
		return t.finished(ctx, info, result)
	}
	if err != nil {
		return nil, err
	}
	if got == nil || !got.NeedTrunc || got.ToolResult == nil || len(got.ToolResult.Parts) == 0 {
		info.reportKept(ctx, t, output{reason: ReasonHandler, before: size}, firstText(result))
		return nil, nil
	}
	if ok, err := t.offload(ctx, info, got, output{before: size, after: size}); !ok {
		return nil, err
	}
	after := sizeOf(textsOf(got.ToolResult.Parts))
	info.report(ctx, t, output{kind: leanctx.KindResultCut, rule: byHandler, before: size, after: after, path: got.OffloadFilePath})
	return got.ToolResult, nil
}

// offload stores the content that a handler returns. If ok is false, the original is
// passed on.
func (t *truncator) offload(ctx context.Context, info callInfo, got *TruncResult, o output) (ok bool, err error) {
	if !got.NeedOffload {
		return true, nil
	}
	if info.rule.store == nil {
		return false, fmt.Errorf("reduction: truncating a result of %q: %w", info.tool.Name, errNoBackend)
	}
	at := vault.Place{Path: got.OffloadFilePath, Fixed: true}
	if _, _, err := t.files.Save(ctx, info.rule.store, at, got.OffloadContent); err != nil {
		o.kind, o.err = leanctx.KindStoreFailed, err
		info.report(ctx, t, o)
		return false, nil
	}
	t.noteStored(info, at.Path)
	return true, nil
}
