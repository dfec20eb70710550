// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// form is how a tool is called: at once, in pieces, or both; with and for text, or, which is
// enhanced, results of several parts.
type toolForm uint8

const (
	invokable toolForm = iota
	streamable
	invokableStreamable
	enhancedInvokable
	enhancedStreamable
	enhancedInvokableStreamable
	formCount
)

// formOf is the form of a tool; forms if it has none. Of a tool with plain and enhanced forms,
// Eino prefers the enhanced ones.
func formOf(t tool.BaseTool) toolForm {
	_, ei := t.(tool.EnhancedInvokableTool)
	_, es := t.(tool.EnhancedStreamableTool)
	_, in := t.(tool.InvokableTool)
	_, st := t.(tool.StreamableTool)
	switch {
	case ei && es:
		return enhancedInvokableStreamable
	case ei:
		return enhancedInvokable
	case es:
		return enhancedStreamable
	case in && st:
		return invokableStreamable
	case in:
		return invokable
	case st:
		return streamable
	}
	return formCount
}

// IsEnhanced reports whether a tool returns more than text.
func IsEnhanced(t tool.BaseTool) bool {
	f := formOf(t)
	return f >= enhancedInvokable && f < formCount
}

// instead are the forms for a tool of this form, the best first.
func (f toolForm) fallbacks() [3]toolForm {
	base := f - f%enhancedInvokable
	best := [...][3]toolForm{invokable: {invokable, invokableStreamable, streamable}, streamable: {streamable, invokableStreamable, invokable}, invokableStreamable: {invokableStreamable, streamable, invokable}}[f-base]
	return [3]toolForm{base + best[0], base + best[1], base + best[2]}
}

// asTool gives a slot a form.
func (s *slot) asTool(f toolForm) tool.BaseTool {
	if f >= enhancedInvokable {
		return newSlotTool[*schema.ToolArgument, *schema.ToolResult](s, f-enhancedInvokable)
	}
	return newSlotTool[string, string](s, f)
}

func newSlotTool[I, O any](s *slot, f toolForm) tool.BaseTool {
	switch f {
	case streamable:
		return streamSlot[I, O]{s}
	case invokableStreamable:
		return invokeStreamSlot[I, O]{invokeSlot[I, O]{s}}
	}
	return invokeSlot[I, O]{s}
}

// Call is a call of a hidden tool, or the answer in its place.
type Invocation struct {
	ctx      context.Context
	tool     tool.BaseTool // the user's; nil: answer
	typ      string        // as callbacks are told
	args     string
	answer   string
	isSilent bool // somebody else tells the callbacks
}

// Answering is an answer of which Eino tells the callbacks.
func NewAnswer(ctx context.Context, text string) Invocation {
	return Invocation{ctx: ctx, answer: text, isSilent: true}
}

// Running is a call of a tool.
func NewInvocation(ctx context.Context, t *catalog.Tool, args string) Invocation {
	return Invocation{ctx: ctx, tool: t.Value, typ: t.Type(), args: args, isSilent: einorun.RunsCallbacks(t.Value)}
}

type invokeSlot[I, O any] struct{ *slot }

func (s invokeSlot[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runCall[O](s.invocation(ctx, argumentText(args)), opts)
}

type streamSlot[I, O any] struct{ *slot }

func (s streamSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](s.invocation(ctx, argumentText(args)), opts)
}

type invokeStreamSlot[I, O any] struct{ invokeSlot[I, O] }

func (s invokeStreamSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](s.invocation(ctx, argumentText(args)), opts)
}

// callTool is call_tool for one kind of result.
type callTool[I, O any] struct {
	description tool.BaseTool
	host        Host
	slots       *Slots
}

// Calling lists call_tool, which is described by another tool, once for each kind of result. The one that a
// round does not need has the name of an unused slot.
func (s *Slots) CallTools(described tool.BaseTool) []tool.BaseTool {
	return []tool.BaseTool{callTool[string, string]{described, s.host, s}, callTool[*schema.ToolArgument, *schema.ToolResult]{described, s.host, s}}
}

func (c callTool[I, O]) isEnhanced() bool {
	_, plain := any(*new(I)).(string)
	return !plain
}

func (c callTool[I, O]) isSlot() {}

// GetType is the type that callbacks are told.
func (c callTool[I, O]) GetType() string {
	if c.isEnhanced() {
		return "enhancedCall"
	}
	return "plainCall"
}

// Info describes call_tool, or a slot.
func (c callTool[I, O]) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if c.slots.needsEnhancedCallTool(ctx) != c.isEnhanced() {
		return &schema.ToolInfo{Name: spareCallTool, Desc: unusedDesc}, nil
	}
	return c.description.Info(ctx)
}

// InvokableRun runs the named tool.
func (c callTool[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runCall[O](c.host.ResolveCallTool(ctx, argumentText(args)), opts)
}

// StreamableRun runs the named tool, passing on its chunks as they come.
func (c callTool[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](c.host.ResolveCallTool(ctx, argumentText(args)), opts)
}

// runCall runs a call for a text, or for a result of several parts.
func runCall[O any](c Invocation, opts []tool.Option) (out O, err error) {
	switch to := any(&out).(type) {
	case *string:
		*to, err = c.runText(opts)
	case **schema.ToolResult:
		*to, err = c.runResult(opts)
	}
	return out, err
}

// streamCall is runCall for a call that streams.
func streamCall[O any](c Invocation, opts []tool.Option) (out *schema.StreamReader[O], err error) {
	switch to := any(&out).(type) {
	case **schema.StreamReader[string]:
		*to, err = c.streamText(opts)
	case **schema.StreamReader[*schema.ToolResult]:
		*to, err = c.streamResult(opts)
	}
	return out, err
}

// report runs a call, and reports it to callbacks as Eino does.
func report[I, O any](c Invocation, args I, run func(context.Context) (O, error)) (O, error) {
	if c.isSilent {
		return run(c.ctx)
	}
	ctx := callbacks.OnStart(callbacks.EnsureRunInfo(c.ctx, c.typ, components.ComponentOfTool), args)
	out, err := run(ctx)
	if err != nil {
		callbacks.OnError(ctx, err)
		return out, err
	}
	callbacks.OnEnd(ctx, out)
	return out, nil
}

// reportStream is report for a call that streams.
func reportStream[I, O any](c Invocation, args I, run func(context.Context) (*schema.StreamReader[O], error)) (*schema.StreamReader[O], error) {
	if c.isSilent {
		return run(c.ctx)
	}
	ctx := callbacks.OnStart(callbacks.EnsureRunInfo(c.ctx, c.typ, components.ComponentOfTool), args)
	out, err := run(ctx)
	if err != nil {
		callbacks.OnError(ctx, err)
		return nil, err
	}
	_, out = callbacks.OnEndWithStreamOutput(ctx, out)
	return out, nil
}

// runText runs a tool that returns text.
func (c Invocation) runText(opts []tool.Option) (string, error) {
	switch t := c.tool.(type) {
	case nil:
		return report(c, c.args, func(ctx context.Context) (string, error) { return c.answer, ctx.Err() })
	case tool.InvokableTool:
		return report(c, c.args, func(ctx context.Context) (string, error) { return t.InvokableRun(ctx, c.args, opts...) })
	case tool.StreamableTool:
		s, err := c.streamText(opts)
		if err != nil {
			return "", err
		}
		chunks, err := readAll(s)
		return strings.Join(chunks, ""), err
	}
	return "", fmt.Errorf("toolsearch: tool %T can neither be invoked nor streamed", c.tool)
}

// streamText runs a tool that returns text, passing on its chunks as they come.
func (c Invocation) streamText(opts []tool.Option) (*schema.StreamReader[string], error) {
	switch t := c.tool.(type) {
	case nil:
		return reportStream(c, c.args, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return schema.StreamReaderFromArray([]string{c.answer}), ctx.Err()
		})
	case tool.StreamableTool:
		return reportStream(c, c.args, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return t.StreamableRun(ctx, c.args, opts...)
		})
	}
	text, err := c.runText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{text}), nil
}

// runResult runs a tool of any form.
func (c Invocation) runResult(opts []tool.Option) (*schema.ToolResult, error) {
	arg := &schema.ToolArgument{Text: c.args}
	switch t := c.tool.(type) {
	case nil:
		return report(c, arg, func(ctx context.Context) (*schema.ToolResult, error) { return textResult(c.answer), ctx.Err() })
	case tool.EnhancedInvokableTool:
		return report(c, arg, func(ctx context.Context) (*schema.ToolResult, error) { return t.InvokableRun(ctx, arg, opts...) })
	case tool.EnhancedStreamableTool:
		s, err := c.streamResult(opts)
		if err != nil {
			return nil, err
		}
		chunks, err := readAll(s)
		if err != nil {
			return nil, err
		}
		return schema.ConcatToolResults(chunks)
	}
	text, err := c.runText(opts)
	if err != nil {
		return nil, err
	}
	return textResult(text), nil
}

// streamResult runs a tool of any form, passing on its chunks as they come.
func (c Invocation) streamResult(opts []tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	arg := &schema.ToolArgument{Text: c.args}
	switch t := c.tool.(type) {
	case tool.EnhancedStreamableTool:
		return reportStream(c, arg, func(ctx context.Context) (*schema.StreamReader[*schema.ToolResult], error) {
			return t.StreamableRun(ctx, arg, opts...)
		})
	case nil, tool.EnhancedInvokableTool:
		res, err := c.runResult(opts)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]*schema.ToolResult{res}), nil
	}
	s, err := c.streamText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(s, func(text string) (*schema.ToolResult, error) { return textResult(text), nil }), nil
}

// readAll reads a stream to its end; the end of one of several merged streams is not the end.
//
// This is the only place in the package that closes a stream; others are passed on for their
// reader to close. Copies of a stream can reach Eino, which sets them to close automatically.
// Their finalizer would then close again what is closed here, and crash the process. Closing
// twice is harmless once automatic closing is set, which is why that comes before the first
// Close. The tool may have closed its stream, too.
func readAll[T any](s *schema.StreamReader[T]) (chunks []T, err error) {
	if s == nil {
		return nil, errors.New("toolsearch: the tool returned no stream")
	}
	s.SetAutomaticClose()
	defer func() { _ = safe.Call("closing a stream", func() error { s.Close(); return nil }) }()
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return chunks, nil
		}
		if _, ok := schema.GetSourceName(err); ok {
			continue
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk)
	}
}

func textResult(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

// argumentText is the text of the arguments of a call of either kind.
func argumentText(args any) string {
	switch a := args.(type) {
	case string:
		return a
	case *schema.ToolArgument:
		if a != nil {
			return a.Text
		}
	}
	return ""
}
