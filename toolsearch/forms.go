// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file runs a tool of any form, for call_tool.

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// runPlain runs a tool that is not enhanced.
func runPlain(p proxied, opts []tool.Option) (*schema.StreamReader[string], error) {
	switch t := p.tool.(type) {
	case tool.StreamableTool:
		return t.StreamableRun(p.ctx, p.args, opts...)
	case tool.InvokableTool:
		text, err := t.InvokableRun(p.ctx, p.args, opts...)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]string{text}), nil
	}
	return nil, fmt.Errorf("toolsearch: tool %T can neither be invoked nor streamed", unwrap(p.tool))
}

// runEnhanced runs a tool of any form.
func runEnhanced(p proxied, opts []tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	arg := &schema.ToolArgument{Text: p.args}
	switch t := p.tool.(type) {
	case tool.EnhancedStreamableTool:
		return t.StreamableRun(p.ctx, arg, opts...)
	case tool.EnhancedInvokableTool:
		res, err := t.InvokableRun(p.ctx, arg, opts...)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]*schema.ToolResult{res}), nil
	}
	s, err := runPlain(p, opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(s, func(text string) (*schema.ToolResult, error) {
		return textResult(text), nil
	}), nil
}

func joinText(s *schema.StreamReader[string]) (string, error) {
	defer s.Close()
	var b strings.Builder
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		b.WriteString(chunk)
	}
}

func joinResults(s *schema.StreamReader[*schema.ToolResult]) (*schema.ToolResult, error) {
	defer s.Close()
	var all []*schema.ToolResult
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return schema.ConcatToolResults(all)
		}
		if err != nil {
			return nil, err
		}
		if chunk != nil {
			all = append(all, chunk)
		}
	}
}
