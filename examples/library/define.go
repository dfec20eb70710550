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

// maker makes a tool, over the folder of files if it works on files.
type maker func(folder) tool.BaseTool

// group is a server before it has its folder.
type group struct {
	name, title string
	tools       []maker
}

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
func define[T any](name, desc string, run func(T) (string, error)) maker {
	return func(folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewTool(info, func(_ context.Context, r request[T]) (string, error) {
			text, err := answered(r, run)
			if err != nil {
				return refusal(err), nil
			}
			return bounded(text), nil
		}, decode)
	}
}

// defineStream makes a tool that answers piece by piece. run stops when emit
// says that the reader is gone.
func defineStream[T any](name, desc string, run func(in T, emit func(string) bool) error) maker {
	return func(folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewStreamTool(info, func(_ context.Context, r request[T]) (*schema.StreamReader[string], error) {
			return stream(r, run, refusal), nil
		}, decode)
	}
}

// A located argument struct names the path that its tool works at.
type located interface{ path() string }

// defineAt is define for a tool that works in the folder of files.
func defineAt[T located](name, desc string, run func(at place, in T) (string, error)) maker {
	return func(f folder) tool.BaseTool {
		return define(name, desc, opened(f, run))(f)
	}
}

// defineStreamAt is defineStream for a tool that works in the folder of files.
func defineStreamAt[T located](name, desc string, run func(at place, in T, emit func(string) bool) error) maker {
	return func(f folder) tool.BaseTool {
		return defineStream(name, desc, func(in T, emit func(string) bool) error {
			return f.open(in.path(), func(at place) error { return run(at, in, emit) })
		})(f)
	}
}

// defineEnhancedAt makes a tool that answers with parts, such as an image beside a text.
func defineEnhancedAt[T located](name, desc string, run func(at place, in T) ([]schema.ToolOutputPart, error)) maker {
	return func(f folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewEnhancedTool(info, func(_ context.Context, r request[T]) (*schema.ToolResult, error) {
			out, err := answered(r, opened(f, run))
			if err != nil {
				return parts(textPart(refusal(err))), nil
			}
			return parts(out...), nil
		}, decode)
	}
}

// defineEnhancedStreamAt makes a tool that answers with parts, one after the other.
func defineEnhancedStreamAt[T located](name, desc string, run func(at place, in T, emit func(*schema.ToolResult) bool) error) maker {
	return func(f folder) tool.BaseTool {
		info, decode := describe[T](name, desc)
		return utils.NewEnhancedStreamTool(info, func(_ context.Context, r request[T]) (*schema.StreamReader[*schema.ToolResult], error) {
			return stream(r, func(in T, emit func(*schema.ToolResult) bool) error {
				return f.open(in.path(), func(at place) error { return run(at, in, emit) })
			}, func(err error) *schema.ToolResult { return parts(textPart(refusal(err))) }), nil
		}, decode)
	}
}

// answered runs a tool unless its arguments are wrong.
func answered[T, R any](r request[T], run func(T) (R, error)) (out R, err error) {
	if r.err != nil {
		return out, r.err
	}
	return run(r.in)
}

// opened runs a tool with the folder open at the path in its arguments.
func opened[T located, R any](f folder, run func(at place, in T) (R, error)) func(T) (R, error) {
	return func(in T) (out R, err error) {
		err = f.open(in.path(), func(at place) error {
			out, err = run(at, in)
			return err
		})
		return out, err
	}
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
