// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Wrappers of hidden tools, one for each form, that ask the run's gate before a call and report
// the call to callbacks.

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// newEntry hides a tool.
func newEntry(t tool.BaseTool, info *schema.ToolInfo) (*entry, error) {
	e := &entry{}
	return e, e.fill(t, info)
}

// fill sets the fields of a new entry from a tool.
func (e *entry) fill(t tool.BaseTool, info *schema.ToolInfo) (err error) {
	e.held = *info
	e.held.Extra = copyExtra(info.Extra)
	e.info, e.safe = &e.held, gobSafe(&e.held)
	e.tool, err = guardTool(t, e)
	return err
}

// guardTool wraps t in a tool of the same form. For a tool with both, Eino prefers the enhanced
// forms, so the plain ones need no wrapper.
func guardTool(t tool.BaseTool, e *entry) (tool.BaseTool, error) {
	g := guard{e: e, inner: t, tellsCallbacks: runsCallbacks(t)}
	if e.tool != nil {
		g.typ = typeOf(t) // one run's instance of the tool
	}
	ei, isEI := t.(tool.EnhancedInvokableTool)
	es, isES := t.(tool.EnhancedStreamableTool)
	in, isIn := t.(tool.InvokableTool)
	st, isSt := t.(tool.StreamableTool)
	switch {
	case isEI && isES:
		return &guardEnhancedBoth{guardEnhanced{g, ei, textResult}, es}, nil
	case isEI:
		return &guardEnhanced{g, ei, textResult}, nil
	case isES:
		return &guardEnhancedStream{g, es, textResult}, nil
	case isIn && isSt:
		return &guardBoth{guardInvokable{g, in, asText}, st}, nil
	case isIn:
		return &guardInvokable{g, in, asText}, nil
	case isSt:
		return &guardStream{g, st, asText}, nil
	}
	return nil, fmt.Errorf("tool %q (%T) can neither be invoked nor streamed", e.info.Name, t)
}

// guard is common to the wrappers of all forms. Eino asks every tool for its info and type
// before each round of calls, so both are ready.
type guard struct {
	e              *entry
	inner          tool.BaseTool
	typ            string // if empty, the entry's
	tellsCallbacks bool   // the tool runs its own callbacks
}

// HiddenTool tells package window that toolsearch hides this tool.
func (g *guard) HiddenTool() {}

// Info returns a copy of the info that was read at construction: callers may write
// into it, and Extra is what the runs of all agents share.
func (g *guard) Info(context.Context) (*schema.ToolInfo, error) {
	return shallowInfo(g.e.info), nil
}

// GetType is the type of the wrapped tool.
func (g *guard) GetType() string {
	if g.typ != "" {
		return g.typ
	}
	return g.e.typ()
}

// IsCallbacksEnabled keeps Eino from wrapping the tool again, as it would in every round:
// runGuarded calls the callbacks.
func (g *guard) IsCallbacksEnabled() bool { return true }

// describes is the info read at construction. It is read only.
func (g *guard) describes() *schema.ToolInfo { return g.e.info }

// original is the user's tool.
func (g *guard) original() tool.BaseTool { return g.inner }

// form is how a tool is called. The enhanced ones come last.
type form int

const (
	invokable form = iota
	streamable
	both
	enhancedInvokable
	enhancedStreamable
	enhancedBoth
	forms
)

// formOf is the form of a guarded tool.
func formOf(t tool.BaseTool) form {
	switch t.(type) {
	case *guardStream:
		return streamable
	case *guardBoth:
		return both
	case *guardEnhanced:
		return enhancedInvokable
	case *guardEnhancedStream:
		return enhancedStreamable
	case *guardEnhancedBoth:
		return enhancedBoth
	}
	return invokable
}

// isEnhanced reports whether a hidden tool returns more than text.
func isEnhanced(t tool.BaseTool) bool { return formOf(t) >= enhancedInvokable }

// The wrappers of the forms: of tools that take and return text, and of enhanced ones.
type (
	guardInvokable      = invokeGuard[string, string]
	guardStream         = streamGuard[string, string]
	guardBoth           = bothGuard[string, string]
	guardEnhanced       = invokeGuard[*schema.ToolArgument, *schema.ToolResult]
	guardEnhancedStream = streamGuard[*schema.ToolArgument, *schema.ToolResult]
	guardEnhancedBoth   = bothGuard[*schema.ToolArgument, *schema.ToolResult]
)

type invoker[I, O any] interface {
	InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error)
}

type streamer[I, O any] interface {
	StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error)
}

type invokeGuard[I, O any] struct {
	guard
	inner invoker[I, O]
	word  func(string) O // turns the gate's answer into a result
}

func (g *invokeGuard[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runGuarded(ctx, &g.guard, args, g.word, func(ctx context.Context) (O, error) {
		return g.inner.InvokableRun(ctx, args, opts...)
	})
}

type streamGuard[I, O any] struct {
	guard
	inner streamer[I, O]
	word  func(string) O
}

func (g *streamGuard[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamGuarded(ctx, &g.guard, args, g.word, func(ctx context.Context) (*schema.StreamReader[O], error) {
		return g.inner.StreamableRun(ctx, args, opts...)
	})
}

type bothGuard[I, O any] struct {
	invokeGuard[I, O]
	stream streamer[I, O]
}

func (g *bothGuard[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return (&streamGuard[I, O]{g.guard, g.stream, g.word}).StreamableRun(ctx, args, opts...)
}

// runKey is the key of the run in a context.
type runKey struct{}

// gatekeeper is a run, as the tools see it: gate reports whether a call must not run, and the
// answer to it.
type gatekeeper interface {
	gate(ctx context.Context, e *entry) (answer string, stop bool)
}

// ask asks the gate of the call's run. Outside a run, every call may run.
func (g *guard) ask(ctx context.Context) (answer string, stop bool) {
	if r, ok := ctx.Value(runKey{}).(gatekeeper); ok {
		return r.gate(ctx, g.e)
	}
	return "", false
}

// runGuarded runs a call that the gate allows, and answers one that it does not. It reports
// both to callbacks, as Eino does.
func runGuarded[I, O any](ctx context.Context, g *guard, args I, word func(string) O, call func(context.Context) (O, error)) (O, error) {
	answer, stop := g.ask(ctx)
	if stop {
		call = func(ctx context.Context) (O, error) { return word(answer), ctx.Err() }
	} else if g.tellsCallbacks {
		return call(ctx)
	}
	ctx = callbacks.OnStart(callbacks.EnsureRunInfo(ctx, g.GetType(), components.ComponentOfTool), args)
	out, err := call(ctx)
	if err != nil {
		callbacks.OnError(ctx, err)
		return out, err
	}
	callbacks.OnEnd(ctx, out)
	return out, nil
}

// streamGuarded is runGuarded for a call that streams.
func streamGuarded[I, O any](ctx context.Context, g *guard, args I, word func(string) O, call func(context.Context) (*schema.StreamReader[O], error)) (*schema.StreamReader[O], error) {
	answer, stop := g.ask(ctx)
	if stop {
		call = func(ctx context.Context) (*schema.StreamReader[O], error) {
			return schema.StreamReaderFromArray([]O{word(answer)}), ctx.Err()
		}
	} else if g.tellsCallbacks {
		return call(ctx)
	}
	ctx = callbacks.OnStart(callbacks.EnsureRunInfo(ctx, g.GetType(), components.ComponentOfTool), args)
	out, err := call(ctx)
	if err != nil {
		callbacks.OnError(ctx, err)
		return nil, err
	}
	_, out = callbacks.OnEndWithStreamOutput(ctx, out)
	return out, nil
}

func asText(s string) string { return s }

func textResult(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

func argumentText(a *schema.ToolArgument) string {
	if a == nil {
		return ""
	}
	return a.Text
}
