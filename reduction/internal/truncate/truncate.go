// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package truncate shortens results of tools that are too long: complete results, and streams in bounded memory.
// The original is written to a store, and a notice names its path. The package has no dependency on the agent
// or on the type of its messages.
package truncate

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/reader"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// Truncator truncates the results of the tools of one middleware. Its functions may call the user's code.
type Truncator struct {
	Root   string // directory of the default paths
	Files  *offload.Offloader
	Rules  *toolpolicy.Table
	Reader *reader.Reader
	Report report.Reporter

	CanPass bool // calls may pass content on by its default path

	// Name chooses the path of a result. If it is nil, the default path is used.
	Name func(ctx context.Context, detail Detail) (filePath string, err error)
	// TruncHandler calls the user's handler of a tool.
	TruncHandler func(ctx context.Context, detail Detail) (Answer, error)
	// Previews reports whether results of a tool have a preview.
	Previews func(tool string) bool
	// Preview renders a preview of a text in at most room bytes.
	Preview func(ctx context.Context, detail Detail, text string, room int) string
	// NoticePaths returns the paths that notices of the history name.
	NoticePaths func(ctx context.Context) []string
}

// Detail describes a result to the user's code. One of Result and Stream is set.
type Detail struct {
	Tool   *adk.ToolContext
	Args   *schema.ToolArgument // nil: none
	Result *schema.ToolResult
	Stream *schema.StreamReader[*schema.ToolResult]
}

// Answer is the answer of the user's handler.
type Answer struct {
	ByDefault bool // do what would be done without a handler

	Replaces bool               // if false, the result stays, and the other fields do not count
	Result   *schema.ToolResult // the replacement
	Stream   *schema.StreamReader[*schema.ToolResult]

	Stores        bool // Content is to be stored under Path
	Path, Content string
}

// WrapInvokable wraps the endpoint of a tool that returns complete results, so that long ones are truncated.
func WrapInvokable[A, R any](
	ctx context.Context,
	truncator *Truncator,
	called *adk.ToolContext,
	endpoint func(context.Context, A, ...tool.Option) (R, error),
) func(context.Context, A, ...tool.Option) (R, error) {
	t, ok := truncator.newTruncation(ctx, called)
	if !ok {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (R, error) {
		out, err := endpoint(ctx, argument, opts...)
		if err != nil {
			return *new(R), err
		}
		replacement, err := t.process(ctx, toArgument(argument), toResult(out))
		if err != nil || replacement == nil {
			return out, err
		}
		return fromResult[R](replacement), nil
	}
}

// truncation is the truncation of the result of one tool call.
type truncation struct {
	truncator *Truncator
	policy    toolpolicy.ToolPolicy
	tool      *adk.ToolContext
	args      *schema.ToolArgument // nil: none
	argsText  string               // the text of args
}

// newTruncation returns the truncation of the result of a call. ok is false if the result is never truncated,
// compacted or reported. A program reads results in full, and no model sees them.
func (t *Truncator) newTruncation(ctx context.Context, called *adk.ToolContext) (_ truncation, ok bool) {
	if called == nil || programturn.IsProgramCall(ctx, called.CallID) {
		return truncation{}, false
	}
	policy := t.Rules.ForTruncation(called.Name, "", t.Reader.IsReadTool(ctx, called.Name))
	mayChange := policy.SkipReason == "" || policy.Compact
	isReported := t.Report != nil && (policy.SkipReason != toolpolicy.Exempt || policy.IsReadTool)
	return truncation{truncator: t, policy: policy, tool: called}, mayChange || isReported
}

// withArguments returns the truncation of a call with these arguments.
func (t truncation) withArguments(args *schema.ToolArgument) truncation {
	if t.args = args; args != nil {
		t.argsText = args.Text
	}
	t.policy = t.truncator.Rules.ForTruncation(t.tool.Name, t.argsText, t.policy.IsReadTool)
	return t
}

// detail describes a result to the user's code.
func (t truncation) detail(result *schema.ToolResult) Detail {
	return Detail{Tool: t.tool, Args: t.args, Result: result}
}

// report emits an event about the result.
func (t truncation) report(ctx context.Context, o report.Outcome) {
	t.truncator.Report.Result(ctx, t.tool.Name, t.tool.CallID, o)
}

// reportKept reports a result that is passed on unchanged, if it is longer than its limit or if the model read it
// from the store.
func (t truncation) reportKept(ctx context.Context, o report.Outcome, answer string) {
	if t.truncator.Report == nil {
		return
	}
	o.Kind, o.After = einolean.KindResultKept, o.Before
	switch {
	case t.policy.IsReadTool:
		_, isOurs := t.truncator.Reader.Of(ctx)
		if o.Path = readtool.Path(t.argsText); o.Path == "" || !o.Stream && isOurs && !readtool.HasContent(answer) {
			return
		}
		o.Kind, o.Reason = einolean.KindResultRead, ""
	case o.Before <= t.policy.Limit:
		return
	}
	t.report(ctx, o)
}

// process returns the replacement of a complete result, nil if the result stays.
func (t truncation) process(
	ctx context.Context, args *schema.ToolArgument, result *schema.ToolResult,
) (*schema.ToolResult, error) {
	t = t.withArguments(args)
	if result == nil {
		return nil, nil
	}
	ctx = offload.WithPass(ctx)
	out, err := t.applyPolicy(ctx, result)
	if out != nil || err != nil || !t.mayCompact() {
		return out, err
	}
	return t.compact(ctx, result, math.MaxInt), nil
}

// applyPolicy returns the replacement of a result that is too long, nil if the result stays.
func (t truncation) applyPolicy(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	switch {
	case t.policy.SkipReason != "":
		o := report.Outcome{Reason: t.policy.SkipReason, Before: rounds.Bytes(result.Parts)}
		t.reportKept(ctx, o, firstText(result))
		return nil, nil
	case t.policy.HasHandler:
		return t.applyHandler(ctx, result)
	}
	return t.applyLimit(ctx, result)
}

// A result that exceeds the limit by at most one part in slightExcess is kept if its notice with a preview is not at
// least minShrink times smaller. Reading the result back would cost a call, and more than the notice saves.
const (
	minShrink    = 3
	slightExcess = 4
)

// applyLimit is the default handler. It returns the replacement of a result over the limit.
func (t truncation) applyLimit(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := rounds.Bytes(result.Parts)
	if size <= t.policy.Limit {
		t.reportKept(ctx, report.Outcome{Before: size}, "")
		return nil, nil
	}
	if t.mayCompact() && size <= maxCompactRatio*t.policy.Limit {
		if compacted := t.compact(ctx, result, t.policy.Limit); compacted != nil {
			return compacted, nil
		}
	}
	place, err := t.choosePlace(ctx, func() *schema.ToolResult { return copyResult(result) })
	if err != nil {
		return nil, err
	}
	content := allText(result)
	texts, limit := notice.Current(), min(t.policy.Limit, size-1)
	data := notice.Data{Path: place.Path + offload.Padding}
	data.Tool, data.CanSearch = t.truncator.Reader.Of(ctx)
	data.CanPass = t.truncator.CanPass
	if _, ok := texts.Room(size, data, limit); !ok || !notice.Showable(place.Path) {
		place = t.defaultPlace() // it may fit into the limit
		data.Path = place.Path + offload.Padding
	}
	if _, ok := texts.Room(size, data, limit); !ok {
		t.reportKept(ctx, report.Outcome{Reason: toolpolicy.NotSmaller, Before: size}, "")
		return nil, nil
	}
	preview := ""
	longest := texts.RenderPreview(size, data, limit, func(room int) string {
		preview = t.preview(ctx, content, room)
		return preview
	})
	if longest != "" && size <= t.policy.Limit+t.policy.Limit/slightExcess && len(longest)*minShrink > size {
		t.reportKept(ctx, report.Outcome{Reason: toolpolicy.NotSmaller, Before: size}, "")
		return nil, nil
	}
	if data.Path, err = t.save(ctx, place, content); err != nil {
		t.report(ctx, report.Outcome{Kind: einolean.KindStoreFailed, Before: size, After: size, Err: err})
		return nil, nil
	}
	text := texts.RenderPreview(size, data, limit, func(int) string { return preview })
	if text == "" {
		text = texts.RenderExcerpt(content, data, limit)
	}
	t.report(ctx, report.Outcome{
		Kind: einolean.KindResultTruncated, Rule: report.ByLimit, Before: size, After: len(text), Path: data.Path,
	})
	return &schema.ToolResult{Parts: replaceText(result.Parts, text)}, nil
}

// preview returns the preview of a content in at most room bytes, empty if there is none or it cannot be shown.
func (t truncation) preview(ctx context.Context, content string, room int) string {
	if !t.truncator.Previews(t.tool.Name) {
		return ""
	}
	preview := t.truncator.Preview(ctx, t.detail(nil), content, room)
	if len(preview) > room || !utf8.ValidString(preview) {
		return ""
	}
	return preview
}

// save stores content and returns its path. If the call read the content from a stored file, it returns the path
// of that file.
func (t truncation) save(ctx context.Context, place offload.Place, content string) (string, error) {
	p := t.policy.Store.ReadBack(ctx, t.truncator.Root, t.argsText, content)
	if p != "" && len(p) <= len(place.Path)+len(offload.Padding) {
		return p, nil
	}
	t.truncator.Files.ReservePaths(ctx, t.truncator.NoticePaths(ctx))
	saved := t.truncator.Files.Save(ctx, offload.Item{Store: t.policy.Store, At: place, Content: content})
	return saved.Path, saved.Err
}

// choosePlace chooses the path of a result.
func (t truncation) choosePlace(ctx context.Context, result func() *schema.ToolResult) (offload.Place, error) {
	if t.truncator.Name == nil {
		return t.defaultPlace(), nil
	}
	p, err := t.truncator.Name(ctx, t.detail(result()))
	return offload.Place{Path: p}, err
}

// defaultPlace returns the default path of the result.
func (t truncation) defaultPlace() offload.Place {
	return offload.Place{Path: offload.DefaultPath(t.truncator.Root, offload.TruncDir, t.tool.CallID)}
}
