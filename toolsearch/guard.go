// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file wraps each hidden tool so that Eino reads its info without cost and no
// call runs that the gate does not let through.

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// guardTool wraps t in a tool of the same form. Eino prefers the enhanced forms where
// a tool has both, so the plain forms of such a tool need no wrapper.
func guardTool(t tool.BaseTool, e *entry) (tool.BaseTool, error) {
	g := guard{e, t}
	ei, isEI := t.(tool.EnhancedInvokableTool)
	es, isES := t.(tool.EnhancedStreamableTool)
	in, isIn := t.(tool.InvokableTool)
	st, isSt := t.(tool.StreamableTool)
	switch {
	case isEI && isES:
		return guardEnhancedBoth{guardEnhanced{g, ei}, guardEnhancedStream{g, es}}, nil
	case isEI:
		return guardEnhanced{g, ei}, nil
	case isES:
		return guardEnhancedStream{g, es}, nil
	case isIn && isSt:
		return guardBoth{guardInvokable{g, in}, guardStream{g, st}}, nil
	case isIn:
		return guardInvokable{g, in}, nil
	case isSt:
		return guardStream{g, st}, nil
	}
	return nil, fmt.Errorf("tool %q (%T) can neither be invoked nor streamed", e.info.Name, t)
}

// guard is what the wrappers of all forms share.
type guard struct {
	e     *entry
	inner tool.BaseTool
}

// Info returns the info that was read at construction.
func (g guard) Info(context.Context) (*schema.ToolInfo, error) { return g.e.info, nil }

// GetType and IsCallbacksEnabled answer for the wrapped tool, so that callbacks fire as
// they would without the wrapper.
func (g guard) GetType() string {
	typ, _ := components.GetType(g.inner)
	return typ
}

func (g guard) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(g.inner) }

// original is the tool as the user gave it.
func (g guard) original() tool.BaseTool { return g.inner }

type guardInvokable struct {
	guard
	run tool.InvokableTool
}

func (g guardInvokable) InvokableRun(ctx context.Context, args string, opts ...tool.Option) (string, error) {
	if answer, stop := gate(ctx, g.e, args); stop {
		return answer, ctx.Err()
	}
	return g.run.InvokableRun(ctx, args, opts...)
}

type guardStream struct {
	guard
	run tool.StreamableTool
}

func (g guardStream) StreamableRun(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
	if answer, stop := gate(ctx, g.e, args); stop {
		return schema.StreamReaderFromArray([]string{answer}), ctx.Err()
	}
	return g.run.StreamableRun(ctx, args, opts...)
}

type guardEnhanced struct {
	guard
	run tool.EnhancedInvokableTool
}

func (g guardEnhanced) InvokableRun(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
	if answer, stop := gate(ctx, g.e, argumentText(args)); stop {
		return textResult(answer), ctx.Err()
	}
	return g.run.InvokableRun(ctx, args, opts...)
}

type guardEnhancedStream struct {
	guard
	run tool.EnhancedStreamableTool
}

func (g guardEnhancedStream) StreamableRun(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	if answer, stop := gate(ctx, g.e, argumentText(args)); stop {
		return schema.StreamReaderFromArray([]*schema.ToolResult{textResult(answer)}), ctx.Err()
	}
	return g.run.StreamableRun(ctx, args, opts...)
}

type guardBoth struct {
	guardInvokable
	stream guardStream
}

func (g guardBoth) StreamableRun(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
	return g.stream.StreamableRun(ctx, args, opts...)
}

type guardEnhancedBoth struct {
	guardEnhanced
	stream guardEnhancedStream
}

func (g guardEnhancedBoth) StreamableRun(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return g.stream.StreamableRun(ctx, args, opts...)
}

func argumentText(a *schema.ToolArgument) string {
	if a == nil {
		return ""
	}
	return a.Text
}

func textResult(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}
