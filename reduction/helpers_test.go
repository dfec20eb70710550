// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// What the tests share: stores, runs of hooks, reading back.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

// deepCopy copies a value with all it points to. Functions and channels stay.
func deepCopy[T any](v T) T { return copyValue(reflect.ValueOf(&v).Elem()).Interface().(T) }

func copyValue(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copyValue(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(copyValue(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copyValue(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for _, k := range v.MapKeys() {
				out.SetMapIndex(k, copyValue(v.MapIndex(k)))
			}
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(copyValue(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// storeKinds are the ways in which a store can be able or unable.
var storeKinds = map[string]func(*testing.T) (reduction.Backend, *backend.Memory){
	"all powers": func(*testing.T) (reduction.Backend, *backend.Memory) {
		m := backend.NewMemory(0)
		return m, m
	},
	"read and write": func(*testing.T) (reduction.Backend, *backend.Memory) {
		m := backend.NewMemory(0)
		return backendtest.NewFaulty(m, nil).ReadWrite(), m
	},
	"write only": func(*testing.T) (reduction.Backend, *backend.Memory) {
		m := backend.NewMemory(0)
		return backendtest.NewFaulty(m, nil).WriteOnly(), m
	},
}

// stored reads a content from under a path, byte for byte.
func stored(t testing.TB, m reduction.RangeReader, path string) string {
	t.Helper()
	r, _, err := m.ReadRange(context.Background(), path, 0, -1)
	require.NoError(t, err, "the path %q is shown", path)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

var pageHead = regexp.MustCompile(`bytes (\d+) to (\d+) of (\d+), between the two lines (\S+)\n`)

// readBack reads a content through the read tool, page by page.
func readBack(t testing.TB, reader tool.InvokableTool, path string) string {
	t.Helper()
	var out strings.Builder
	for next := 0; ; {
		answer, err := reader.InvokableRun(context.Background(), fmt.Sprintf(`{"file_path":%q,"byte_offset":%d}`, path, next))
		require.NoError(t, err)
		if strings.Contains(answer, "is empty: 0 bytes") {
			return ""
		}
		m := pageHead.FindStringSubmatchIndex(answer)
		require.NotNil(t, m, "a page of %q: %s", path, answer)
		number := func(i int) int {
			n, err := strconv.Atoi(answer[m[2*i]:m[2*i+1]])
			require.NoError(t, err)
			return n
		}
		from, to, size := number(1), number(2), number(3)
		require.Equal(t, next, from)
		fence := answer[m[8]:m[9]] + "\n"
		body := answer[m[1]+len(fence):]
		out.WriteString(body[:to-from])
		if next = to; to == size {
			return out.String()
		}
	}
}

func readTool(t testing.TB, store reduction.Backend) tool.InvokableTool {
	t.Helper()
	r, err := reduction.NewReadTool(context.Background(), &reduction.ReadToolConfig{Backend: store})
	require.NoError(t, err)
	return r
}

// typed makes a middleware.
func typed[M adk.MessageType](t testing.TB, c *reduction.TypedConfig[M]) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	mw, err := reduction.NewTyped(context.Background(), c)
	require.NoError(t, err)
	return mw
}

// before runs the clear phase on messages.
func before[M adk.MessageType](t testing.TB, mw adk.TypedChatModelAgentMiddleware[M], msgs []M) []M {
	t.Helper()
	_, state, err := mw.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	require.NoError(t, err)
	return state.Messages
}

// over is a token counter that says the context is full, and counts for real
// where a target asks.
func over[M adk.MessageType](context.Context, []M, []*schema.ToolInfo) (int64, error) {
	return 1 << 40, nil
}

var shownPath = regexp.MustCompile(`(?:saved in full to|saved to|saved at|read from|保存到|已保存到|读取自): ([^\n]+)\n`)

// pathIn is the path that a notice names, empty if there is none.
func pathIn(notice string) string {
	m := shownPath.FindStringSubmatch(notice[max(0, strings.LastIndex(notice, "<persisted-output>")):])
	if m == nil {
		return ""
	}
	return m[1]
}

// form is how a tool returns; it runs a wrapper of the middleware over a tool.
type form struct {
	name   string
	stream bool
	run    func(ctx context.Context, mw wrapper, tc *adk.ToolContext, args string, chunks []string) (string, error)
}

// wrapper is the part of a middleware that does not depend on the message type.
type wrapper interface {
	WrapInvokableToolCall(context.Context, adk.InvokableToolCallEndpoint, *adk.ToolContext) (adk.InvokableToolCallEndpoint, error)
	WrapStreamableToolCall(context.Context, adk.StreamableToolCallEndpoint, *adk.ToolContext) (adk.StreamableToolCallEndpoint, error)
	WrapEnhancedInvokableToolCall(context.Context, adk.EnhancedInvokableToolCallEndpoint, *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error)
	WrapEnhancedStreamableToolCall(context.Context, adk.EnhancedStreamableToolCallEndpoint, *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error)
}

var forms = []form{
	{"invokable", false, runInvokable},
	{"streamable", true, runStreamable},
	{"enhanced", false, runEnhanced},
	{"enhanced streamable", true, runEnhancedStreamable},
}

func runInvokable(ctx context.Context, mw wrapper, tc *adk.ToolContext, args string, chunks []string) (string, error) {
	run, err := mw.WrapInvokableToolCall(ctx, func(context.Context, string, ...tool.Option) (string, error) {
		return strings.Join(chunks, ""), nil
	}, tc)
	if err != nil {
		return "", err
	}
	return run(ctx, args)
}

func runStreamable(ctx context.Context, mw wrapper, tc *adk.ToolContext, args string, chunks []string) (string, error) {
	run, err := mw.WrapStreamableToolCall(ctx, func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
		return pipe(chunks...), nil
	}, tc)
	if err != nil {
		return "", err
	}
	out, err := run(ctx, args)
	if err != nil {
		return "", err
	}
	got, err := drain(out)
	return strings.Join(got, ""), err
}

func runEnhanced(ctx context.Context, mw wrapper, tc *adk.ToolContext, args string, chunks []string) (string, error) {
	run, err := mw.WrapEnhancedInvokableToolCall(ctx, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
		return resultOf(chunks...), nil
	}, tc)
	if err != nil {
		return "", err
	}
	out, err := run(ctx, &schema.ToolArgument{Text: args})
	return textsIn(out), err
}

func runEnhancedStreamable(ctx context.Context, mw wrapper, tc *adk.ToolContext, args string, chunks []string) (string, error) {
	run, err := mw.WrapEnhancedStreamableToolCall(ctx, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		var rs []*schema.ToolResult
		for _, c := range chunks {
			rs = append(rs, resultOf(c))
		}
		return pipe(rs...), nil
	}, tc)
	if err != nil {
		return "", err
	}
	out, err := run(ctx, &schema.ToolArgument{Text: args})
	if err != nil {
		return "", err
	}
	got, err := drain(out)
	return textsIn(got...), err
}

// pipe is a stream as a tool makes it: sent by a goroutine, then closed.
func pipe[T any](chunks ...T) *schema.StreamReader[T] {
	r, w := schema.Pipe[T](0)
	go func() {
		defer w.Close()
		for _, c := range chunks {
			if w.Send(c, nil) {
				return
			}
		}
	}()
	return r
}

// drain reads a stream to its end, which may be an error.
func drain[T any](r *schema.StreamReader[T]) (out []T, err error) {
	defer r.Close()
	for {
		chunk, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, chunk)
	}
}

func resultOf(texts ...string) *schema.ToolResult {
	r := &schema.ToolResult{}
	for _, s := range texts {
		r.Parts = append(r.Parts, schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: s})
	}
	return r
}

func textsIn(rs ...*schema.ToolResult) string {
	var b strings.Builder
	for _, r := range rs {
		if r == nil {
			continue
		}
		for _, p := range r.Parts {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

type invoker = tool.InvokableTool

// failing is a store whose writes fail.
type failing struct{ err error }

func (f *failing) Write(context.Context, *filesystem.WriteRequest) error { return f.err }

func partsOf(r *schema.ToolResult) []schema.ToolOutputPart {
	if r == nil {
		return nil
	}
	return r.Parts
}
