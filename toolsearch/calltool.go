// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// call_tool of the SearchCall protocol: it checks arguments against a schema, and runs a tool of
// any form.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/toolschema"
)

// newCallTool makes call_tool. It returns plain text if no hidden tool is enhanced, since some
// providers accept nothing else.
func newCallTool(m *metaTool) tool.BaseTool {
	for e := range m.group.cat.entries() {
		if isEnhanced(e.tool) {
			return enhancedCall{m, enhancedForm}
		}
	}
	return plainCall{m, plainForm}
}

// target is a call that may run, or the answer or error of one that may not.
type target struct {
	ctx    context.Context
	tool   tool.BaseTool // nil: answer
	args   string
	answer string
	err    error
}

// targetOf reads the arguments of call_tool.
func (t *metaTool) targetOf(ctx context.Context, args string) target {
	if err := ctx.Err(); err != nil {
		return target{err: err}
	}
	r, a := t.runFor(ctx), decodeArguments(args)
	now := r.turn()
	name := calledName(a)
	if name == "" {
		return target{answer: render("no-call-name", promptData{})}
	}
	e := now.group.cat.resolve(name, func(e *entry) bool { return now.callable(ctx, e) })
	if e == nil {
		if denied := now.group.cat.resolve(name, func(*entry) bool { return true }); denied != nil {
			now.emitDeniedCall(ctx, denied, PhaseCall, PhaseLoad)
		}
		return target{answer: r.noSuchTool(ctx, name)}
	}
	text, problem := e.checkArguments(a.raw(argumentKeys...))
	if problem != "" {
		return target{answer: render("bad-arguments", e.schemaHint(problem))}
	}
	p := target{tool: e.tool, args: text}
	typ := reportedType(p.tool)
	p.ctx = callbacks.ReuseHandlers(context.WithValue(ctx, passedKey{}, e.info.Name), &callbacks.RunInfo{
		Name: e.info.Name, Type: typ, Component: components.ComponentOfTool,
	})
	return p
}

// callForm is how calls arrive and what they return: text, or results of several parts.
type callForm[I, O any] struct {
	typ    string // of call_tool, as reported to callbacks
	text   func(args I) string
	run    func(target, []tool.Option) (O, error)
	stream func(target, []tool.Option) (*schema.StreamReader[O], error)
}

var (
	plainForm    = &callForm[string, string]{"plainCall", asText, target.runText, target.streamText}
	enhancedForm = &callForm[*schema.ToolArgument, *schema.ToolResult]{"enhancedCall", argumentText, target.runResult, target.streamResult}
)

// callTool is call_tool.
type callTool[I, O any] struct {
	*metaTool
	form *callForm[I, O]
}

type (
	plainCall    = callTool[string, string]
	enhancedCall = callTool[*schema.ToolArgument, *schema.ToolResult]
)

// GetType is the type that callbacks are told.
func (c callTool[I, O]) GetType() string { return c.form.typ }

// InvokableRun runs the named tool.
func (c callTool[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return c.form.run(c.targetOf(ctx, c.form.text(args)), opts)
}

// StreamableRun runs the named tool, passing on its chunks as they come.
func (c callTool[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return c.form.stream(c.targetOf(ctx, c.form.text(args)), opts)
}

// runText runs a tool that returns text.
func (p target) runText(opts []tool.Option) (string, error) {
	switch t := p.tool.(type) {
	case nil:
		return p.answer, p.err
	case tool.InvokableTool:
		return t.InvokableRun(p.ctx, p.args, opts...)
	case tool.StreamableTool:
		s, err := t.StreamableRun(p.ctx, p.args, opts...)
		if err != nil {
			return "", err
		}
		chunks, err := readAll(s)
		return strings.Join(chunks, ""), err
	}
	return "", fmt.Errorf("toolsearch: tool %T can neither be invoked nor streamed", unwrap(p.tool))
}

// streamText runs a tool that returns text, passing on its chunks as they come.
func (p target) streamText(opts []tool.Option) (*schema.StreamReader[string], error) {
	if t, ok := p.tool.(tool.StreamableTool); ok {
		return t.StreamableRun(p.ctx, p.args, opts...)
	}
	text, err := p.runText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{text}), nil
}

// runResult runs a tool of any form.
func (p target) runResult(opts []tool.Option) (*schema.ToolResult, error) {
	arg := &schema.ToolArgument{Text: p.args}
	switch t := p.tool.(type) {
	case tool.EnhancedInvokableTool:
		return t.InvokableRun(p.ctx, arg, opts...)
	case tool.EnhancedStreamableTool:
		s, err := t.StreamableRun(p.ctx, arg, opts...)
		if err != nil {
			return nil, err
		}
		chunks, err := readAll(s)
		if err != nil {
			return nil, err
		}
		return schema.ConcatToolResults(chunks)
	}
	text, err := p.runText(opts)
	if err != nil {
		return nil, err
	}
	return textResult(text), nil
}

// streamResult runs a tool of any form, passing on its chunks as they come.
func (p target) streamResult(opts []tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	switch t := p.tool.(type) {
	case tool.EnhancedStreamableTool:
		return t.StreamableRun(p.ctx, &schema.ToolArgument{Text: p.args}, opts...)
	case tool.EnhancedInvokableTool:
		res, err := p.runResult(opts)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]*schema.ToolResult{res}), nil
	}
	s, err := p.streamText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(s, func(text string) (*schema.ToolResult, error) {
		return textResult(text), nil
	}), nil
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

// checkArguments returns the arguments to pass to the tool, or the problem with them. raw is
// their text as the model wrote it: an object, or a text that holds one. No arguments at all
// are an empty object.
func (e *entry) checkArguments(raw string) (args, problem string) {
	v, raw, ok := readArguments(raw)
	if !ok {
		return "", render("no-object", promptData{})
	}
	e.checkOnce.Do(func() { e.check = toolschema.Compile(e.parameters()) })
	if err := e.check.Validate(v); err != nil {
		return "", validationText(err)
	}
	return raw, ""
}

// exactJSON decodes numbers without losing digits.
var exactJSON = sonic.Config{UseInt64: true, CopyString: true}.Froze()

func readArguments(raw string) (object map[string]any, text string, ok bool) {
	for range 2 { // an object, or a text that holds one
		if raw = strings.TrimSpace(raw); raw == "" || raw == "null" {
			return map[string]any{}, "{}", true
		}
		var v any
		if exactJSON.UnmarshalFromString(raw, &v) != nil {
			return nil, "", false
		}
		if object, ok = v.(map[string]any); ok {
			return object, raw, true
		}
		if raw, ok = v.(string); !ok {
			return nil, "", false
		}
	}
	return nil, "", false
}

// validationText words a validation error for the model.
func validationText(err error) string {
	const most = 400 // runes
	s := strings.ToValidUTF8(err.Error(), "\uFFFD")
	s = strings.ReplaceAll(strings.TrimPrefix(s, "validating root: "), "<invalid reflect.Value>", "null")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
