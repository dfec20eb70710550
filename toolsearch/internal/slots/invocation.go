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

// Invocation is a call of a hidden tool, or the answer in its place.
type Invocation struct {
	ctx      context.Context
	tool     tool.BaseTool // the user's; nil if there is an answer
	typ      string        // for callbacks
	args     string
	answer   string
	isSilent bool // the tool or Eino runs the callbacks
}

// NewAnswer returns an answer in place of a call. Eino runs the callbacks.
func NewAnswer(ctx context.Context, text string) Invocation {
	return Invocation{ctx: ctx, answer: text, isSilent: true}
}

// NewInvocation returns a call of a tool.
func NewInvocation(ctx context.Context, t *catalog.Tool, args string) Invocation {
	return Invocation{
		ctx: ctx, tool: t.Value, typ: t.Type(), args: args, isSilent: einorun.RunsCallbacks(t.Value),
	}
}

// runCall runs a call that returns text or a *schema.ToolResult.
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
func reportStream[I, O any](
	c Invocation, args I, run func(context.Context) (*schema.StreamReader[O], error),
) (*schema.StreamReader[O], error) {
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

// runText runs a tool that returns text. Of a tool that only streams, it joins the chunks.
func (c Invocation) runText(opts []tool.Option) (string, error) {
	switch t := c.tool.(type) {
	case nil:
		return report(c, c.args, func(ctx context.Context) (string, error) { return c.answer, ctx.Err() })
	case tool.InvokableTool:
		return report(c, c.args, func(ctx context.Context) (string, error) {
			return t.InvokableRun(ctx, c.args, opts...)
		})
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

// streamText runs a tool that returns text, as a stream.
func (c Invocation) streamText(opts []tool.Option) (*schema.StreamReader[string], error) {
	switch t := c.tool.(type) {
	case nil:
		return reportStream(c, c.args, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return schema.StreamReaderFromArray([]string{c.answer}), ctx.Err()
		})
	case tool.StreamableTool:
		return reportStream(c, c.args, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return safeStream(t.StreamableRun(ctx, c.args, opts...))
		})
	}
	text, err := c.runText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{text}), nil
}

// runResult runs a tool of any form. Text becomes a result of one part.
func (c Invocation) runResult(opts []tool.Option) (*schema.ToolResult, error) {
	arg := &schema.ToolArgument{Text: c.args}
	switch t := c.tool.(type) {
	case nil:
		return report(c, arg, func(ctx context.Context) (*schema.ToolResult, error) {
			return textResult(c.answer), ctx.Err()
		})
	case tool.EnhancedInvokableTool:
		return report(c, arg, func(ctx context.Context) (*schema.ToolResult, error) {
			return t.InvokableRun(ctx, arg, opts...)
		})
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

// streamResult runs a tool of any form, as a stream.
func (c Invocation) streamResult(opts []tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	arg := &schema.ToolArgument{Text: c.args}
	switch t := c.tool.(type) {
	case tool.EnhancedStreamableTool:
		return reportStream(c, arg, func(ctx context.Context) (*schema.StreamReader[*schema.ToolResult], error) {
			return safeStream(t.StreamableRun(ctx, arg, opts...))
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
	return schema.StreamReaderWithConvert(s, func(text string) (*schema.ToolResult, error) {
		return textResult(text), nil
	}), nil
}

// safeStream returns what a tool streams in a stream that may be closed, whatever the tool does with its own: Eino ends
// the process where it closes a stream that is closed already.
func safeStream[T any](s *schema.StreamReader[T], err error) (*schema.StreamReader[T], error) {
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, errors.New("toolsearch: the tool returned no stream")
	}
	out, w := schema.Pipe[T](1)
	go func() {
		defer w.Close()
		defer closeOnce(s)()
		err := safe.Call("reading a tool's stream", func() error { return forward(s, w) })
		if err != nil {
			w.Send(*new(T), err)
		}
	}()
	return out, nil
}

// forward hands on a stream until it ends or nobody reads. It does not wait for the end of each of several streams.
func forward[T any](s *schema.StreamReader[T], w *schema.StreamWriter[T]) error {
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if _, isSource := schema.GetSourceName(err); err != nil && !isSource {
			return err
		}
		if w.Send(chunk, err) {
			return nil
		}
	}
}

// closeOnce returns a function that closes a stream of a tool. This is the only place in the package that closes one.
//
// Eino may have copies of the stream, which it sets to close automatically: their finalizer would close the stream again
// and crash the process. With automatic closing set first, closing twice is harmless. The tool may have closed its
// stream, too.
func closeOnce[T any](s *schema.StreamReader[T]) func() {
	s.SetAutomaticClose()
	return func() { _ = safe.Call("closing a stream", func() error { s.Close(); return nil }) }
}

// readAll reads a stream to its end. In a merged stream, the end of one of its streams is not the end.
func readAll[T any](s *schema.StreamReader[T]) (chunks []T, err error) {
	defer closeOnce(s)()
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
