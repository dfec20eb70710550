// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Streams from merged sources whose ends have names.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// mergedSizes are the bytes of the sources of a merged stream, in the order in
// which they end.
var mergedSizes = map[string][]int{
	"all within":      {100, 200, 100},
	"held back":       {100, 700, 150},
	"first ends late": {0, 4000, 900},
	"all beyond":      {3000, 0, 2000, 10},
	"empty":           {0, 0},
}

// inTurn is a merged stream whose sources end one after another.
func inTurn[T any](sizes []int, chunk func(string) T, fail error) *schema.StreamReader[T] {
	sources := map[string]*schema.StreamReader[T]{}
	gate := make(chan struct{})
	close(gate)
	for i, size := range sizes {
		r, w := schema.Pipe[T](0)
		wait, next := gate, make(chan struct{})
		gate = next
		go func() {
			<-wait
			defer close(next)
			defer w.Close()
			for left := size; left > 0; left -= 100 {
				if w.Send(chunk(strings.Repeat(fmt.Sprint(i), min(left, 100))), nil) {
					return
				}
			}
			if i == len(sizes)-1 && fail != nil {
				w.Send(chunk(""), fail)
			}
		}()
		sources[fmt.Sprint("source ", i)] = r
	}
	return schema.MergeNamedStreamReaders(sources)
}

// readMerged reads a stream to its end: its chunks, the names of the sources that
// ended, the error, and whether the last name came behind the last chunk.
func readMerged[T any](t *testing.T, r *schema.StreamReader[T]) (chunks []T, names []string, last bool, err error) {
	t.Helper()
	defer r.Close()
	for range 1000 {
		chunk, e := r.Recv()
		name, named := schema.GetSourceName(e)
		switch {
		case named:
			names, last = append(names, name), true
		case e == nil:
			chunks, last = append(chunks, chunk), false
		case errors.Is(e, io.EOF):
			return chunks, names, last, err
		default:
			require.NoError(t, err, "a second error")
			err = e
		}
	}
	require.Fail(t, "the stream does not end")
	return nil, nil, false, nil
}

var mergedConfigs = map[string]func(*reduction.Config){
	"default":              func(*reduction.Config) {},
	"excluded and watched": func(c *reduction.Config) { c.TruncExcludeTools = []string{"shell"} },
	"path of a generator": func(c *reduction.Config) {
		c.GenTruncOffloadFilePath = func(context.Context, *reduction.ToolDetail) (string, error) { return "/p", nil }
	},
	"path that cannot be shown": func(c *reduction.Config) {
		c.GenTruncOffloadFilePath = func(context.Context, *reduction.ToolDetail) (string, error) { return "/p\n", nil }
	},
	"handler passes on": func(c *reduction.Config) {
		c.ToolConfig = map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: passThrough}}
	},
	"handler declines": func(c *reduction.Config) {
		c.ToolConfig = map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) { return nil, nil }}}
	},
}

func TestTheEndOfOneSourceEndsNoOther(t *testing.T) {
	for setting, set := range mergedConfigs {
		for kind, sizes := range mergedSizes {
			for _, fail := range []error{nil, errTool} {
				t.Run(fmt.Sprintf("%s/%s/%v", setting, kind, fail), func(t *testing.T) {
					memory := backend.NewMemory(0)
					c := &reduction.Config{Backend: memory, MaxLengthForTrunc: 1000, OnEvent: func(context.Context, leanctx.Event) {}}
					set(c)
					mw := typed(t, c)
					whole := setting == "excluded and watched" || strings.HasPrefix(setting, "handler")
					check := func(text string, names []string, last bool, err error) {
						content := ""
						for i, size := range sizes {
							content += strings.Repeat(fmt.Sprint(i), size)
						}
						want := make([]string, len(sizes))
						for i := range sizes {
							want[i] = fmt.Sprint("source ", i)
						}
						require.Equal(t, fail, err)
						if fail == nil { // else the failure may come before any end
							require.ElementsMatch(t, want, names)
							require.True(t, last, "the last source ends behind all there is")
						}
						switch {
						case whole || len(content) <= 1000:
							require.Equal(t, runs(content), runs(text))
						case fail != nil:
							require.True(t, strings.HasPrefix(content, text))
							require.Len(t, text, 1000)
						default:
							require.LessOrEqual(t, len(text), 1000)
							require.Equal(t, content, stored(t, memory, pathIn(text)))
						}
					}
					got, names, last, err := readMerged(t, streamOf(t, named(mw), inTurn(sizes, func(s string) string { return s }, fail)))
					check(strings.Join(got, ""), names, last, err)
					parts, names, last, err := readMerged(t, partsStreamOf(t, mw, inTurn(sizes, func(s string) *schema.ToolResult { return resultOf(s) }, fail)))
					check(textsIn(parts...), names, last, err)
				})
			}
		}
	}
}

// renamed wraps a middleware so that streamOf's tool is called "shell".
type renamed struct{ wrapper }

func named(w wrapper) wrapper { return renamed{w} }

func (r renamed) WrapStreamableToolCall(ctx context.Context, run adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return r.wrapper.WrapStreamableToolCall(ctx, run, &adk.ToolContext{Name: "shell", CallID: tc.CallID})
}

func partsStreamOf(t *testing.T, mw wrapper, src *schema.StreamReader[*schema.ToolResult]) *schema.StreamReader[*schema.ToolResult] {
	t.Helper()
	run, err := mw.WrapEnhancedStreamableToolCall(context.Background(), func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return src, nil
	}, &adk.ToolContext{Name: "shell", CallID: "c2"})
	require.NoError(t, err)
	out, err := run(context.Background(), &schema.ToolArgument{Text: `{}`})
	require.NoError(t, err)
	return out
}

// runs writes a text of repeated characters shortly.
func runs(s string) (out []string) {
	for s != "" {
		n := len(s) - len(strings.TrimLeft(s, s[:1]))
		out = append(out, fmt.Sprint(n, " times ", s[:1]))
		s = s[n:]
	}
	return out
}
