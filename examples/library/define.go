// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file makes a tool of each of Eino's four forms from a typed function.

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
)

// maxAnswer is the most bytes that one tool answers with.
const maxAnswer = 1 << 20

// request is what a tool's run receives: its arguments, or what is wrong with
// them. Eino ends a run on an error, so the error travels as a value and
// becomes the answer.
type request[T any] struct {
	in  T
	err error
}

// describe infers the tool's schema from T, and a decoder that checks
// what a model sends against it.
func describe[T any](name, desc string) (*schema.ToolInfo, utils.Option) {
	info, err := utils.GoStruct2ToolInfo[T](name, desc)
	if err != nil {
		panic(fmt.Sprintf("library: describing %q: %v", name, err))
	}
	params := parametersOf(info)
	return info, utils.WithUnmarshalArguments(func(_ context.Context, arguments string) (any, error) {
		var r request[T]
		r.err = params.decode(arguments, &r.in)
		return r, nil
	})
}

// define makes a tool that answers with one text.
func define[T any](name, desc string, run func(T) (string, error)) tool.BaseTool {
	info, decode := describe[T](name, desc)
	return utils.NewTool(info, func(_ context.Context, r request[T]) (string, error) {
		if r.err != nil {
			return refusal(r.err), nil
		}
		text, err := run(r.in)
		if err != nil {
			return refusal(err), nil
		}
		return bounded(text), nil
	}, decode)
}

// defineStream makes a tool that answers piece by piece. run stops when emit
// says that the reader is gone.
func defineStream[T any](name, desc string, run func(in T, emit func(string) bool) error) tool.BaseTool {
	info, decode := describe[T](name, desc)
	return utils.NewStreamTool(info, func(_ context.Context, r request[T]) (*schema.StreamReader[string], error) {
		return stream(r, run, func(err error) string { return refusal(err) }), nil
	}, decode)
}

// defineEnhanced makes a tool that answers with parts, such as an image beside a text.
func defineEnhanced[T any](name, desc string, run func(T) ([]schema.ToolOutputPart, error)) tool.BaseTool {
	info, decode := describe[T](name, desc)
	return utils.NewEnhancedTool(info, func(_ context.Context, r request[T]) (*schema.ToolResult, error) {
		if r.err != nil {
			return parts(textPart(refusal(r.err))), nil
		}
		out, err := run(r.in)
		if err != nil {
			return parts(textPart(refusal(err))), nil
		}
		return parts(out...), nil
	}, decode)
}

// defineEnhancedStream makes a tool that answers with parts, one after the other.
func defineEnhancedStream[T any](name, desc string, run func(in T, emit func(*schema.ToolResult) bool) error) tool.BaseTool {
	info, decode := describe[T](name, desc)
	return utils.NewEnhancedStreamTool(info, func(_ context.Context, r request[T]) (*schema.StreamReader[*schema.ToolResult], error) {
		return stream(r, run, func(err error) *schema.ToolResult { return parts(textPart(refusal(err))) }), nil
	}, decode)
}

// stream runs in the background and gives the reading end.
func stream[T, C any](r request[T], run func(T, func(C) bool) error, refuse func(error) C) *schema.StreamReader[C] {
	reader, writer := schema.Pipe[C](4)
	go func() {
		defer writer.Close()
		err := r.err
		if err == nil {
			err = run(r.in, func(c C) bool { return !writer.Send(c, nil) })
		}
		if err != nil {
			writer.Send(refuse(err), nil)
		}
	}()
	return reader
}

func refusal(err error) string { return "error: " + err.Error() }

func parts(p ...schema.ToolOutputPart) *schema.ToolResult { return &schema.ToolResult{Parts: p} }

func textPart(text string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: bounded(text)}
}

// bounded keeps an answer readable: valid UTF-8, and at most maxAnswer bytes.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxAnswer {
		return text
	}
	cut := maxAnswer
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[cut here: the first %d of %d bytes]", text[:cut], cut, len(text))
}
