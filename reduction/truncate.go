// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Finished results that are too long. And what a tool returns, in any form: a string or a result, which
// may be one chunk of a stream. No function changes it.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/compact"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/vault"
)

// callInfo is one call of a tool whose result may be too long.
type callInfo[M adk.MessageType] struct {
	*policy[M]
	rule rule
	tool *adk.ToolContext
	args *schema.ToolArgument
	text string // of args
}

// compacts reports whether the result may become shorter JSON. What a file holds stays: the model
// may be about to edit it by its text.
func (info callInfo[M]) compacts() bool { return info.rule.compact && !namesFile(info.text) }

// callOf describes the truncation of a call's results, if any.
func callOf[M adk.MessageType](ctx context.Context, p *policy[M], called *adk.ToolContext) (callInfo[M], bool) {
	if called == nil || virtual.Inner(ctx, called.CallID) { // a program reads all of it, and no model any
		return callInfo[M]{}, false
	}
	r := p.truncation(ctx, called.Name)
	return callInfo[M]{policy: p, rule: r, tool: called}, r.leave == "" || r.compact || p.OnEvent != nil && (r.leave != ReasonExempt || r.reads)
}

// invoked is the call of a tool whose result is cut.
func invoked[M adk.MessageType, A, R any](ctx context.Context, p *policy[M], called *adk.ToolContext, endpoint func(context.Context, A, ...tool.Option) (R, error)) func(context.Context, A, ...tool.Option) (R, error) {
	info, ok := callOf(ctx, p, called)
	if !ok {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (R, error) {
		out, err := endpoint(ctx, argument, opts...)
		if err != nil {
			return *new(R), err
		}
		cut, err := info.finished(ctx, asArgument(argument), asResult(out))
		if err != nil || cut == nil {
			return out, err
		}
		return ofResult[R](cut), nil
	}
}

// asArgument is what a tool of any form is called with.
func asArgument[A any](argument A) *schema.ToolArgument {
	if text, ok := any(argument).(string); ok {
		return &schema.ToolArgument{Text: text}
	}
	return any(argument).(*schema.ToolArgument)
}

// asResult is what a tool of any form returns, or a chunk of it, as a result.
func asResult[T any](out T) *schema.ToolResult {
	if text, ok := any(out).(string); ok {
		return textResult(text)
	}
	return any(out).(*schema.ToolResult)
}

// ofResult is a result in the form of a tool.
func ofResult[T any](r *schema.ToolResult) T {
	out, ok := any(r).(T)
	if !ok {
		out = any(firstText(r)).(T)
	}
	return out
}

// with returns the truncation of the results of a call with these arguments.
func (info callInfo[M]) with(args *schema.ToolArgument) callInfo[M] {
	if info.args = args; args != nil {
		info.text = args.Text
	}
	if excludesThrough(info.TruncExcludeTools, info.tool.Name, info.text) {
		info.rule.leave, info.rule.compact = ReasonExcluded, false
	}
	return info
}

func (info callInfo[M]) detail(result *schema.ToolResult) *ToolDetail {
	return &ToolDetail{ToolContext: info.tool, ToolArgument: info.args, ToolResult: result}
}

func (info callInfo[M]) report(ctx context.Context, o output) {
	info.policy.report(ctx, info.tool.Name, info.tool.CallID, o)
}

// reportKept reports a result that is passed on whole, if the model read it from the
// store or if it is longer than its limit.
func (info callInfo[M]) reportKept(ctx context.Context, o output, answer string) {
	if info.OnEvent == nil {
		return
	}
	o.kind, o.after = einolean.KindResultKept, o.before
	switch {
	case info.rule.reads:
		_, own := info.reader(ctx)
		if o.path = readtool.Path(info.text); o.path == "" || !o.stream && own && !readtool.Page(answer) {
			return
		}
		o.kind, o.reason = einolean.KindResultRead, ""
	case o.before <= info.rule.limit:
		return
	}
	info.report(ctx, o)
}

// finished returns what replaces a result, nil if it stays.
func (info callInfo[M]) finished(ctx context.Context, args *schema.ToolArgument, result *schema.ToolResult) (*schema.ToolResult, error) {
	info = info.with(args)
	if result == nil {
		return nil, nil
	}
	out, err := info.shortened(ctx, result)
	if out != nil || err != nil || !info.compacts() {
		return out, err
	}
	return info.compact(ctx, result, math.MaxInt), nil
}

// maxShrink is how many times longer than its limit a result may be that is compacted in the
// hope that it need not be cut.
const maxShrink = 4

// compact returns a result with its JSON in fewer bytes, nil if it has none or still has more than
// most bytes.
func (info callInfo[M]) compact(ctx context.Context, result *schema.ToolResult, most int) (out *schema.ToolResult) {
	for i := range result.Parts {
		if result.Parts[i].Type != schema.ToolPartTypeText {
			continue
		}
		text, ok := compact.Text(result.Parts[i].Text)
		if !ok {
			continue
		}
		if out == nil {
			out = copyOf(result)
		}
		out.Parts[i].Text = text
	}
	if out == nil {
		return nil
	}
	after := bytesOf(out)
	if after > most {
		return nil
	}
	info.report(ctx, output{kind: einolean.KindResultCompacted, before: bytesOf(result), after: after})
	return out
}

// shortened returns what replaces a result that is too long.
func (info callInfo[M]) shortened(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	switch {
	case info.rule.leave != "":
		info.reportKept(ctx, output{reason: info.rule.leave, before: bytesOf(result)}, firstText(result))
		return nil, nil
	case info.rule.trunc != nil:
		return info.byHandler(ctx, result)
	}
	return info.cut(ctx, result)
}

// cut is the default handler.
func (info callInfo[M]) cut(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := bytesOf(result)
	if size <= info.rule.limit {
		info.reportKept(ctx, output{before: size}, "")
		return nil, nil
	}
	if info.compacts() && size <= maxShrink*info.rule.limit {
		if short := info.compact(ctx, result, info.rule.limit); short != nil {
			return short, nil
		}
	}
	at, err := info.place(ctx, func() *schema.ToolResult { return copyOf(result) })
	if err != nil {
		return nil, err
	}
	var texts []string
	eachString(result, func(text string) { texts = append(texts, text) })
	content, say, limit := strings.Join(texts, ""), notice.Current(), min(info.rule.limit, size-1)
	data := notice.Data{Path: at.Path + vault.Padding}
	data.Tool, data.Finds = info.reader(ctx)
	if _, ok := say.Room(size, data, limit); !ok || !notice.Showable(at.Path) {
		at = info.defaultPlace() // the limit has room for this one
		data.Path = at.Path + vault.Padding
	}
	if _, ok := say.Room(size, data, limit); !ok {
		info.reportKept(ctx, output{reason: ReasonNotSmaller, before: size}, "")
		return nil, nil
	}
	if data.Path, err = info.save(ctx, at, content); err != nil {
		info.report(ctx, output{kind: einolean.KindStoreFailed, before: size, after: size, err: err})
		return nil, nil
	}
	text := say.Shortened(size, data, limit, func(room int) string { return info.previewOf(ctx, content, room) })
	if text == "" {
		text = say.Excerpt(content, data, limit)
	}
	info.report(ctx, output{kind: einolean.KindResultCut, rule: byLimit, before: size, after: len(text), path: data.Path})
	return &schema.ToolResult{Parts: withNotice(result.Parts, text)}, nil
}

// previewOf returns a Preview of a result in at most room bytes, empty if it cannot be
// shown.
func (info callInfo[M]) previewOf(ctx context.Context, content string, room int) string {
	if info.rule.preview == nil {
		return ""
	}
	question := runLocal[string](ctx, questionKey)
	shown := info.rule.preview(PreviewRequest{Text: content, MaxBytes: room, Tool: info.tool.Name, Arguments: info.text, Question: question})
	if len(shown) > room || !utf8.ValidString(shown) {
		return ""
	}
	return shown
}

// save returns the file of content: the one it was read from, or the one where it is
// stored now.
func (info callInfo[M]) save(ctx context.Context, at vault.Place, content string) (string, error) {
	p := info.rule.store.ReadBack(ctx, info.RootDir, info.text, content)
	if p != "" && len(p) <= len(at.Path)+len(vault.Padding) {
		return p, nil
	}
	info.files.Note(ctx, runLocal[[]string](ctx, namedFilesKey))
	got := info.files.Save(ctx, vault.Item{Store: info.rule.store, At: at, Content: content})
	return got.Path, got.Err
}

// place chooses the file of a result.
func (info callInfo[M]) place(ctx context.Context, result func() *schema.ToolResult) (vault.Place, error) {
	if info.GenTruncOffloadFilePath == nil {
		return info.defaultPlace(), nil
	}
	p, err := info.GenTruncOffloadFilePath(ctx, info.detail(result()))
	return vault.Place{Path: p}, err
}

func (info callInfo[M]) defaultPlace() vault.Place {
	return vault.Place{Path: vault.DefaultPath(info.RootDir, vault.TruncDir, info.tool.CallID)}
}

// copyOf protects a tool's result from a handler that writes to its parts.
func copyOf(r *schema.ToolResult) *schema.ToolResult {
	return &schema.ToolResult{Parts: append([]schema.ToolOutputPart(nil), r.Parts...)}
}

// byHandler asks the user's handler.
func (info callInfo[M]) byHandler(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := bytesOf(result)
	got, err := info.rule.trunc(ctx, info.detail(copyOf(result)))
	if errors.Is(err, UseDefault) {
		info.rule = info.rule.byDefault()
		return info.shortened(ctx, result)
	}
	if err != nil {
		return nil, err
	}
	if got == nil || !got.NeedTrunc || got.ToolResult == nil || len(got.ToolResult.Parts) == 0 {
		info.reportKept(ctx, output{reason: ReasonHandler, before: size}, firstText(result))
		return nil, nil
	}
	if ok, err := info.offload(ctx, got, output{before: size, after: size}); !ok {
		return nil, err
	}
	after := bytesOf(got.ToolResult)
	info.report(ctx, output{kind: einolean.KindResultCut, rule: byHandler, before: size, after: after, path: got.OffloadFilePath})
	return got.ToolResult, nil
}

// offload stores the content that a handler returns. If ok is false, the original is
// passed on.
func (info callInfo[M]) offload(ctx context.Context, got *TruncResult, o output) (ok bool, err error) {
	if !got.NeedOffload {
		return true, nil
	}
	if info.rule.store == nil {
		return false, fmt.Errorf("reduction: truncating a result of %q: %w", info.tool.Name, errNoBackend)
	}
	at := vault.Place{Path: got.OffloadFilePath, Fixed: true}
	if saved := info.files.Save(ctx, vault.Item{Store: info.rule.store, At: at, Content: got.OffloadContent}); saved.Err != nil {
		o.kind, o.err = einolean.KindStoreFailed, saved.Err
		info.report(ctx, o)
		return false, nil
	}
	return true, nil
}

// eachString calls f with each text of a chunk.
func eachString[T any](chunk T, f func(text string)) {
	switch c := any(chunk).(type) {
	case string:
		f(c)
	case *schema.ToolResult:
		if c == nil {
			return
		}
		for i := range c.Parts {
			if c.Parts[i].Type == schema.ToolPartTypeText {
				f(c.Parts[i].Text)
			}
		}
	}
}

// startOf is a chunk with only the first n bytes of its text; what is not text stays.
func startOf[T any](chunk T, n int) T {
	var out any
	switch c := any(chunk).(type) {
	case string:
		out = c[:min(n, len(c))]
	case *schema.ToolResult:
		if c == nil {
			return chunk
		}
		start := &schema.ToolResult{Parts: make([]schema.ToolOutputPart, 0, len(c.Parts))}
		for _, p := range c.Parts {
			if p.Type == schema.ToolPartTypeText {
				p.Text = p.Text[:min(n, len(p.Text))]
				n -= len(p.Text)
				if p.Text == "" {
					continue
				}
			}
			start.Parts = append(start.Parts, p)
		}
		out = start
	}
	return out.(T)
}

// join makes one chunk of several.
func join[T any](chunks []T) T {
	var out any
	switch all := any(chunks).(type) {
	case []string:
		out = strings.Join(all, "")
	case []*schema.ToolResult:
		whole := &schema.ToolResult{}
		for _, r := range all {
			if r != nil {
				whole.Parts = append(whole.Parts, r.Parts...)
			}
		}
		out = whole
	}
	return out.(T)
}

// bytesOf is the number of bytes of a result's texts.
func bytesOf(r *schema.ToolResult) (n int) {
	eachString(r, func(text string) { n += len(text) })
	return n
}

// textResult is a result of one text.
func textResult(text string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
}

// firstText is the text of a result's first part.
func firstText(r *schema.ToolResult) string {
	if r == nil || len(r.Parts) == 0 {
		return ""
	}
	return r.Parts[0].Text
}

// withNotice returns parts with notice in place of the first text and without the other
// texts. Everything else stays, in order.
func withNotice(parts []schema.ToolOutputPart, notice string) []schema.ToolOutputPart {
	return rounds.OneText(append([]schema.ToolOutputPart{}, parts...), func(p *schema.ToolOutputPart) bool { return p.Type == schema.ToolPartTypeText }, func(p *schema.ToolOutputPart) { p.Text = notice })
}
