// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file runs a tool of any form, for call_tool: in the form in which Eino would run
// it, and converted where the tool has only the other one.

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
)

// text runs a tool that returns text.
func (p proxied) text(opts []tool.Option) (string, error) {
	switch t := p.tool.(type) {
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
	return "", p.noForm()
}

// textStream runs a tool that returns text, passing on its chunks as they come.
func (p proxied) textStream(opts []tool.Option) (*schema.StreamReader[string], error) {
	if t, ok := p.tool.(tool.StreamableTool); ok {
		return t.StreamableRun(p.ctx, p.args, opts...)
	}
	text, err := p.text(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{text}), nil
}

// result runs a tool of any form.
func (p proxied) result(opts []tool.Option) (*schema.ToolResult, error) {
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
	text, err := p.text(opts)
	if err != nil {
		return nil, err
	}
	return textResult(text), nil
}

// resultStream runs a tool of any form, passing on its chunks as they come.
func (p proxied) resultStream(opts []tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	switch t := p.tool.(type) {
	case tool.EnhancedStreamableTool:
		return t.StreamableRun(p.ctx, &schema.ToolArgument{Text: p.args}, opts...)
	case tool.EnhancedInvokableTool:
		res, err := p.result(opts)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]*schema.ToolResult{res}), nil
	}
	s, err := p.textStream(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(s, func(text string) (*schema.ToolResult, error) {
		return textResult(text), nil
	}), nil
}

func (p proxied) noForm() error {
	return fmt.Errorf("toolsearch: tool %T can neither be invoked nor streamed", unwrap(p.tool))
}

// readAll reads a stream to its end; that of one of several merged streams is not the end.
//
// This is the only place of the package that closes a stream: what else it gets it passes
// on, for whoever reads it to close. A stream can have copies that reach Eino, which sets
// them to close by themselves; the finalizer then closes once more what is closed here, and
// the process dies. Closing twice is harmless once a stream is set to close by itself, so
// that this comes before the first Close. The tool may have closed its stream, too.
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
