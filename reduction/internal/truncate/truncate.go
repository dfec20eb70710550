// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package truncate shortens results that are too long as a tool returns them: whole ones, and streams in bounded
// memory. What is taken out is stored, and a notice says where. It knows no agent and no type of message.
package truncate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/reader"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// Cutter cuts the results of the tools of one middleware. Its functions may be the user's.
type Truncator struct {
	Root   string // of the store
	Files  *offload.Offloader
	Rules  *toolpolicy.Table
	Reader *reader.Reader
	Report report.Reporter

	Name         func(ctx context.Context, detail Detail) (filePath string, err error) // names the file of a result; nil: the default does
	TruncHandler func(ctx context.Context, detail Detail) (Answer, error)              // the user's handler
	Previews     func(tool string) bool                                                // results of the tool have a preview
	Preview      func(ctx context.Context, detail Detail, text string, room int) string
	NoticePaths  func(ctx context.Context) []string // files that notices of the conversation name
}

// Detail is a result for the user's code. One of Result and Stream is set.
type Detail struct {
	Tool   *adk.ToolContext
	Args   *schema.ToolArgument // nil: none
	Result *schema.ToolResult
	Stream *schema.StreamReader[*schema.ToolResult]
}

// Answer is what the user's handler says of a result.
type Answer struct {
	ByDefault bool // what would be done without a handler

	Replaces bool               // else the result stays, and nothing else counts
	Result   *schema.ToolResult // the new one
	Stream   *schema.StreamReader[*schema.ToolResult]

	Stores        bool // content, under a path
	Path, Content string
}

// call is one call of a tool whose result may be too long.
type truncation struct {
	*Truncator
	rule toolpolicy.ToolPolicy
	tool *adk.ToolContext
	args *schema.ToolArgument
	text string // of args
}

// compacts reports whether the result may become shorter JSON. What a file holds stays: the model
// may be about to edit it by its text.
func (c truncation) compacts() bool { return c.rule.Compact && !namesFile(c.text) }

// callOf describes the truncation of a call's results, if any.
func (c *Truncator) callOf(ctx context.Context, called *adk.ToolContext) (truncation, bool) {
	if called == nil || programturn.IsProgramCall(ctx, called.CallID) { // a program reads all of it, and no model any
		return truncation{}, false
	}
	r := c.Rules.ForTruncation(called.Name, "", c.Reader.IsReadTool(ctx, called.Name))
	return truncation{Truncator: c, rule: r, tool: called}, r.SkipReason == "" || r.Compact || c.Report != nil && (r.SkipReason != toolpolicy.Exempt || r.Reads)
}

// Invoked is the call of a tool whose result is cut.
func WrapInvokable[A, R any](ctx context.Context, of *Truncator, called *adk.ToolContext, endpoint func(context.Context, A, ...tool.Option) (R, error)) func(context.Context, A, ...tool.Option) (R, error) {
	c, ok := of.callOf(ctx, called)
	if !ok {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (R, error) {
		out, err := endpoint(ctx, argument, opts...)
		if err != nil {
			return *new(R), err
		}
		cut, err := c.process(ctx, asArgument(argument), asResult(out))
		if err != nil || cut == nil {
			return out, err
		}
		return ofResult[R](cut), nil
	}
}

// with returns the truncation of the results of a call with these arguments.
func (c truncation) with(args *schema.ToolArgument) truncation {
	if c.args = args; args != nil {
		c.text = args.Text
	}
	c.rule = c.Rules.ForTruncation(c.tool.Name, c.text, c.rule.Reads)
	return c
}

func (c truncation) detail(result *schema.ToolResult) Detail {
	return Detail{Tool: c.tool, Args: c.args, Result: result}
}

func (c truncation) tell(ctx context.Context, o report.Outcome) {
	c.Report.Result(ctx, c.tool.Name, c.tool.CallID, o)
}

// reportKept reports a result that is passed on whole, if the model read it from the
// store or if it is longer than its limit.
func (c truncation) reportKept(ctx context.Context, o report.Outcome, answer string) {
	if c.Report == nil {
		return
	}
	o.Kind, o.After = einolean.KindResultKept, o.Before
	switch {
	case c.rule.Reads:
		_, own := c.Reader.Of(ctx)
		if o.Path = readtool.Path(c.text); o.Path == "" || !o.Stream && own && !readtool.HasContent(answer) {
			return
		}
		o.Kind, o.Reason = einolean.KindResultRead, ""
	case o.Before <= c.rule.Limit:
		return
	}
	c.tell(ctx, o)
}

// finished returns what replaces a result, nil if it stays.
func (c truncation) process(ctx context.Context, args *schema.ToolArgument, result *schema.ToolResult) (*schema.ToolResult, error) {
	c = c.with(args)
	if result == nil {
		return nil, nil
	}
	out, err := c.shortened(ctx, result)
	if out != nil || err != nil || !c.compacts() {
		return out, err
	}
	return c.compact(ctx, result, math.MaxInt), nil
}

// maxShrink is how many times longer than its limit a result may be that is compacted in the
// hope that it need not be cut.
const maxShrink = 4

// compact returns a result with its JSON in fewer bytes, nil if it has none or still has more than
// most bytes.
func (c truncation) compact(ctx context.Context, result *schema.ToolResult, most int) (out *schema.ToolResult) {
	for i := range result.Parts {
		if result.Parts[i].Type != schema.ToolPartTypeText {
			continue
		}
		text, ok := jsontext.Compact(result.Parts[i].Text)
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
	after := rounds.Bytes(out.Parts)
	if after > most {
		return nil
	}
	c.tell(ctx, report.Outcome{Kind: einolean.KindResultCompacted, Before: rounds.Bytes(result.Parts), After: after})
	return out
}

// shortened returns what replaces a result that is too long.
func (c truncation) shortened(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	switch {
	case c.rule.SkipReason != "":
		c.reportKept(ctx, report.Outcome{Reason: c.rule.SkipReason, Before: rounds.Bytes(result.Parts)}, firstText(result))
		return nil, nil
	case c.rule.Handled:
		return c.byHandler(ctx, result)
	}
	return c.cut(ctx, result)
}

const (
	// leastSaving is how many times smaller than a result its notice with a preview must be, if the result is
	// longer than the limit by at most one part in slightExcess. Reading such a result back would cost a
	// call, and more than the notice saves.
	leastSaving, slightExcess = 3, 4
)

// cut is the default handler.
func (c truncation) cut(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := rounds.Bytes(result.Parts)
	if size <= c.rule.Limit {
		c.reportKept(ctx, report.Outcome{Before: size}, "")
		return nil, nil
	}
	if c.compacts() && size <= maxShrink*c.rule.Limit {
		if short := c.compact(ctx, result, c.rule.Limit); short != nil {
			return short, nil
		}
	}
	at, err := c.place(ctx, func() *schema.ToolResult { return copyOf(result) })
	if err != nil {
		return nil, err
	}
	var texts []string
	eachString(result, func(text string) { texts = append(texts, text) })
	content, say, limit := strings.Join(texts, ""), notice.Current(), min(c.rule.Limit, size-1)
	data := notice.Data{Path: at.Path + offload.Padding}
	data.Tool, data.Finds = c.Reader.Of(ctx)
	if _, ok := say.Room(size, data, limit); !ok || !notice.Showable(at.Path) {
		at = c.defaultPlace() // the limit has room for this one
		data.Path = at.Path + offload.Padding
	}
	if _, ok := say.Room(size, data, limit); !ok {
		c.reportKept(ctx, report.Outcome{Reason: toolpolicy.NotSmaller, Before: size}, "")
		return nil, nil
	}
	shown := ""
	preview := say.Shortened(size, data, limit, func(room int) string {
		shown = c.previewOf(ctx, content, room)
		return shown
	})
	if preview != "" && size <= c.rule.Limit+c.rule.Limit/slightExcess && len(preview)*leastSaving > size {
		c.reportKept(ctx, report.Outcome{Reason: toolpolicy.NotSmaller, Before: size}, "")
		return nil, nil
	}
	if data.Path, err = c.save(ctx, at, content); err != nil {
		c.tell(ctx, report.Outcome{Kind: einolean.KindStoreFailed, Before: size, After: size, Err: err})
		return nil, nil
	}
	text := say.Shortened(size, data, limit, func(int) string { return shown })
	if text == "" {
		text = say.Excerpt(content, data, limit)
	}
	c.tell(ctx, report.Outcome{Kind: einolean.KindResultCut, By: report.ByLimit, Before: size, After: len(text), Path: data.Path})
	return &schema.ToolResult{Parts: withNotice(result.Parts, text)}, nil
}

// previewOf returns the preview of a result in at most room bytes, empty if it cannot be
// shown.
func (c truncation) previewOf(ctx context.Context, content string, room int) string {
	if !c.Previews(c.tool.Name) {
		return ""
	}
	shown := c.Preview(ctx, c.detail(nil), content, room)
	if len(shown) > room || !utf8.ValidString(shown) {
		return ""
	}
	return shown
}

// save returns the file of content: the one it was read from, or the one where it is
// stored now.
func (c truncation) save(ctx context.Context, at offload.Place, content string) (string, error) {
	p := c.rule.Store.ReadBack(ctx, c.Root, c.text, content)
	if p != "" && len(p) <= len(at.Path)+len(offload.Padding) {
		return p, nil
	}
	c.Files.ReservePaths(ctx, c.NoticePaths(ctx))
	got := c.Files.Save(ctx, offload.Item{Store: c.rule.Store, At: at, Content: content})
	return got.Path, got.Err
}

// place chooses the file of a result.
func (c truncation) place(ctx context.Context, result func() *schema.ToolResult) (offload.Place, error) {
	if c.Name == nil {
		return c.defaultPlace(), nil
	}
	p, err := c.Name(ctx, c.detail(result()))
	return offload.Place{Path: p}, err
}

func (c truncation) defaultPlace() offload.Place {
	return offload.Place{Path: offload.DefaultPath(c.Root, offload.TruncDir, c.tool.CallID)}
}

func (c truncation) byHandler(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := rounds.Bytes(result.Parts)
	got, err := c.TruncHandler(ctx, c.detail(copyOf(result)))
	switch {
	case err != nil:
		return nil, err
	case got.ByDefault:
		c.rule = c.rule.ByDefault()
		return c.shortened(ctx, result)
	case !got.Replaces || got.Result == nil || len(got.Result.Parts) == 0:
		c.reportKept(ctx, report.Outcome{Reason: toolpolicy.Handler, Before: size}, firstText(result))
		return nil, nil
	}
	if ok, err := c.offload(ctx, got, report.Outcome{Before: size, After: size}); !ok {
		return nil, err
	}
	after := rounds.Bytes(got.Result.Parts)
	c.tell(ctx, report.Outcome{Kind: einolean.KindResultCut, By: report.ByHandler, Before: size, After: after, Path: got.Path})
	return got.Result, nil
}

// offload stores the content that a handler returns. If ok is false, the original is
// passed on.
func (c truncation) offload(ctx context.Context, got Answer, o report.Outcome) (ok bool, err error) {
	if !got.Stores {
		return true, nil
	}
	if c.rule.Store == nil {
		return false, fmt.Errorf("reduction: truncating a result of %q: %w", c.tool.Name, toolpolicy.ErrNoStore)
	}
	at := offload.Place{Path: got.Path, Fixed: true}
	if saved := c.Files.Save(ctx, offload.Item{Store: c.rule.Store, At: at, Content: got.Content}); saved.Err != nil {
		o.Kind, o.Err = einolean.KindStoreFailed, saved.Err
		c.tell(ctx, o)
		return false, nil
	}
	return true, nil
}
