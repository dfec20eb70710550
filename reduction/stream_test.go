// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Streams that fail, and those of merged sources whose ends have names. A stream that is closed
// twice ends the process.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/proctest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
)

var errTool = errors.New("the tool failed")

// source is what a tool streams before it fails.
type source struct {
	size int  // bytes
	open bool // the tool never closes its end
	fail error
}

func (s source) texts() *schema.StreamReader[string] {
	r, w := schema.Pipe[string](1)
	go func() {
		if !s.open {
			defer w.Close()
		}
		for left := s.size; left > 0; left -= 100 {
			if w.Send(strings.Repeat("x", min(left, 99))+"\n", nil) {
				return
			}
		}
		if s.fail != nil {
			w.Send("", s.fail)
		}
	}()
	return r
}

func (s source) parts() *schema.StreamReader[*schema.ToolResult] {
	return schema.StreamReaderWithConvert(s.texts(), func(text string) (*schema.ToolResult, error) { return resultOf(text), nil })
}

// streamer is a tool that streams texts.
type streamer struct {
	name string
	make func() *schema.StreamReader[string]
}

func (s *streamer) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "streams"}, nil
}

func (s *streamer) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return s.make(), nil
}

// partStreamer is a tool that streams parts.
type partStreamer struct {
	name string
	make func() *schema.StreamReader[*schema.ToolResult]
}

func (s *partStreamer) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "streams parts"}, nil
}

func (s *partStreamer) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return s.make(), nil
}

// crashCase is a tool with the settings of the middleware around it.
type crashCase struct {
	tool tool.BaseTool
	set  func(*reduction.Config)
	// nested runs the tool in an agent that is a tool itself.
	nested bool
}

func texts(make func() *schema.StreamReader[string]) tool.BaseTool {
	return &streamer{name: "shell", make: make}
}

func failingTool(size int) tool.BaseTool { return texts(source{size: size, fail: errTool}.texts) }

var passThrough = func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
	return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: d.StreamToolResult}, nil
}

var crashCases = map[string]crashCase{
	"within the limit": {tool: failingTool(200)},
	"held back":        {tool: failingTool(900)},
	"after the limit":  {tool: failingTool(5000)},
	"no end":           {tool: texts(source{size: 5000, fail: errTool, open: true}.texts)},
	"parts within":     {tool: &partStreamer{"shell", source{size: 200, fail: errTool}.parts}},
	"parts after":      {tool: &partStreamer{"shell", source{size: 5000, fail: errTool}.parts}},
	"excluded and watched": {tool: failingTool(5000), set: func(c *reduction.Config) {
		c.TruncExcludeTools, c.OnEvent = []string{"shell"}, func(context.Context, einolean.Event) {}
	}},
	"generator fails": {tool: texts(source{size: 5000}.texts), set: func(c *reduction.Config) {
		c.GenTruncOffloadFilePath = func(context.Context, *reduction.ToolDetail) (string, error) { return "", errTool }
	}},
	"generator panics": {tool: texts(source{size: 5000}.texts), set: func(c *reduction.Config) {
		c.GenTruncOffloadFilePath = func(context.Context, *reduction.ToolDetail) (string, error) { panic("generator") }
	}},
	"merged": {tool: texts(func() *schema.StreamReader[string] {
		return schema.MergeStreamReaders([]*schema.StreamReader[string]{source{size: 300}.texts(), source{size: 5000, fail: errTool}.texts()})
	})},
	"merged and named": {tool: texts(func() *schema.StreamReader[string] {
		return schema.MergeNamedStreamReaders(map[string]*schema.StreamReader[string]{"a": source{size: 300}.texts(), "b": source{size: 5000, fail: errTool}.texts()})
	})},
	"copied": {tool: texts(func() *schema.StreamReader[string] { return source{size: 5000, fail: errTool}.texts().Copy(2)[0] })},
	"handler passes on": {tool: failingTool(5000), set: func(c *reduction.Config) {
		c.ToolConfig = map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: passThrough}}
	}},
	"handler fails": {tool: failingTool(5000), set: func(c *reduction.Config) {
		c.ToolConfig = map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) { return nil, errTool }}}
	}},
	"agent as tool": {tool: failingTool(5000), nested: true},
	"no failure":    {tool: texts(source{size: 5000}.texts)},
}

//claim:security-24
func TestAStreamThatFailsEndsNoProcess(t *testing.T) {
	if name := proctest.Case(); name != "" {
		c := crashCases[name]
		for n := range 40 {
			runtime.GOMAXPROCS(1 + n%2) // who comes first differs
			crash[*schema.Message](t, c)
			crash[*schema.AgenticMessage](t, c)
		}
		adktest.Finalize()
		fmt.Println("survived", name)
		os.Exit(0)
	}
	race.Skip(t, "starts a process for each case, and ignores data races there")
	for name := range crashCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := proctest.Command(t, name).CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "survived "+name)
		})
	}
}

// crash runs a case, streaming, and reads nothing of what comes out: the events
// with their streams become garbage.
func crash[M adk.MessageType](t *testing.T, c crashCase) {
	ctx := context.Background()
	cfg := &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000}
	if c.set != nil {
		c.set(cfg)
	}
	mw := typed(t, &reduction.TypedConfig[M]{
		Backend: cfg.Backend, MaxLengthForTrunc: cfg.MaxLengthForTrunc, TruncExcludeTools: cfg.TruncExcludeTools,
		GenTruncOffloadFilePath: cfg.GenTruncOffloadFilePath, ToolConfig: cfg.ToolConfig, OnEvent: cfg.OnEvent,
	})
	a := adktest.Agent[M]{
		Model: adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c", Name: "shell", Args: `{}`}), adktest.Say("done")),
		Tools: []tool.BaseTool{c.tool}, Handlers: adktest.Handlers(mw), Streaming: true,
	}
	if c.nested {
		a = nest(t, ctx, a)
	}
	r, err := a.Runner(ctx)
	require.NoError(t, err)
	it := r.Run(ctx, []M{adktest.User[M]("go")})
	for {
		if _, ok := it.Next(); !ok {
			return
		}
	}
}

// nest is an agent that has another one as its tool, and shows its events.
func nest[M adk.MessageType](t *testing.T, ctx context.Context, inner adktest.Agent[M]) adktest.Agent[M] {
	child, err := adk.NewTypedChatModelAgent[M](ctx, &adk.TypedChatModelAgentConfig[M]{
		Name: "inner", Description: "an agent that is a tool", Model: inner.Model, Handlers: inner.Handlers,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: inner.Tools}},
	})
	require.NoError(t, err)
	return adktest.Agent[M]{
		Model:     adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "o", Name: "inner", Args: `{"request":"go"}`}), adktest.Say("done")),
		Tools:     []tool.BaseTool{adk.NewTypedAgentTool[M](ctx, child)},
		Handlers:  slices.Clone(inner.Handlers),
		Streaming: true,
		Configure: func(c *adk.TypedChatModelAgentConfig[M]) { c.ToolsConfig.EmitInternalEvents = true },
	}
}

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
// ended, the error, and whether the last name came after the last chunk.
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
					c := &reduction.Config{Backend: memory, MaxLengthForTrunc: 1000, OnEvent: func(context.Context, einolean.Event) {}}
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
							require.True(t, last, "the last source ends after everything")
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
