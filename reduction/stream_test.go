// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Results that are streamed.

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
	"time"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/proctest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// endless is a stream of size bytes in chunks of 4 KB, which says how much the
// heap holds while it runs, without what is to be collected.
func endless(size int) (*schema.StreamReader[string], *uint64) {
	chunk := strings.Repeat("0123456789abcdef", 256)
	r, w := schema.Pipe[string](1)
	peak := new(uint64)
	go func() {
		defer w.Close()
		for sent := 0; sent < size; sent += len(chunk) {
			if w.Send(chunk, nil) {
				return
			}
			if sent%(4<<20) == 0 {
				runtime.GC()
				*peak = max(*peak, heap())
			}
		}
	}()
	return r, peak
}

func TestStream_PassesMediaAfterLimit_R20(t *testing.T) {
	image := &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &png}}}}}
	store := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
	run, err := mw.WrapEnhancedStreamableToolCall(context.Background(), func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return pipe(resultOf("head"), image, nil, resultOf(strings.Repeat("x", 800)), image, resultOf(strings.Repeat("y", 3000)), image, resultOf("tail")), nil
	}, callC)
	require.NoError(t, err)
	out, err := run(context.Background(), nil)
	require.NoError(t, err)
	got, err := adktest.Drain(out)
	require.NoError(t, err)
	images := 0
	for _, r := range got {
		if r == nil {
			continue
		}
		for _, p := range r.Parts {
			if p.Image != nil {
				images++
			}
		}
	}
	require.Equal(t, 3, images)
	require.Equal(t, "head"+strings.Repeat("x", 800)+strings.Repeat("y", 3000)+"tail", stored(t, store, "/tmp/trunc/c"))
}

func TestStream_ExactLimitIsWhole_R21(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000})
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 400), strings.Repeat("y", 600)})
		require.NoError(t, err)
		require.Len(t, out, 1000)
		out, err = f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 401), strings.Repeat("y", 600)})
		require.NoError(t, err)
		require.Contains(t, out, "/tmp/trunc/c")
	}
}

func TestStream_PassesChunksWhileSourceRuns_R21(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 2000})
	src, w := schema.Pipe[string](0)
	out := streamOf(t, mw, src)
	for i := range 5 {
		go w.Send(fmt.Sprintf("chunk %d", i), nil)
		chunk, err := out.Recv()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("chunk %d", i), chunk)
	}
	go func() {
		w.Send(strings.Repeat("x", 5000), nil)
		w.Close()
	}()
	last, err := out.Recv()
	require.NoError(t, err)
	require.Contains(t, last, "/tmp/trunc/c")
	require.True(t, utf8.ValidString(last))
	_, err = out.Recv()
	require.Equal(t, io.EOF, err)
}

//claim:security-22
func TestStream_TakesBoundedMemory_R23(t *testing.T) {
	const size = 64 << 20
	dir, err := store.NewDir(t.TempDir())
	require.NoError(t, err)
	defer dir.Close()
	for name, kept := range map[string]reduction.Backend{"directory": dir, "anything that takes streams": &drainStore{}} {
		runtime.GC()
		base := heap()
		src, peak := endless(size)
		out := streamOf(t, typed(t, &reduction.Config{Backend: kept}), src)
		got, err := adktest.Drain(out)
		require.NoError(t, err)
		require.LessOrEqual(t, len(strings.Join(got, "")), 50_000)
		require.Less(t, *peak-min(base, *peak), uint64(2<<20), name)
	}
	r, n, err := dir.ReadRange(context.Background(), "/tmp/trunc/c", 0, 16)
	require.NoError(t, err)
	defer r.Close()
	head, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", string(head))
	require.EqualValues(t, size, n)
}

func TestStream_UnreadByHandlerLeavesNoGoroutine_X01(t *testing.T) {
	for _, answer := range []func() (*reduction.TruncResult, error){
		func() (*reduction.TruncResult, error) { return nil, nil },
		func() (*reduction.TruncResult, error) { return nil, errors.New("no") },
		func() (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("short")}, nil
		},
		func() (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: pipe(resultOf("sh"), resultOf("ort"))}, nil
		},
		func() (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: pipe(resultOf("short")), NeedOffload: true, OffloadFilePath: "/x", OffloadContent: "y"}, nil
		},
	} {
		store := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
		mw := typed(t, &reduction.Config{Backend: store, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
			TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) { return answer() },
		}}})
		r, w := schema.Pipe[string](0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer w.Close()
			for i := 0; i < 100 && !w.Send("chunk", nil); i++ {
			}
		}()
		run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return r, nil }, callC)
		require.NoError(t, err)
		if out, err := run(context.Background(), `{}`); err == nil {
			_, err = adktest.Drain(out)
			require.NoError(t, err)
		}
		<-done
	}
}

func TestStream_EndsOnce(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000})
	for _, size := range []int{10, 900, 5000} {
		out := streamOf(t, mw, pipe(strings.Repeat("x", size/2), strings.Repeat("y", size/2)))
		for {
			if _, err := out.Recv(); err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
		}
		for range 3 {
			_, err := out.Recv()
			require.Equal(t, io.EOF, err)
		}
		out.Close()
	}
}

func TestStream_WithinLimitArrivesWhole(t *testing.T) {
	for seed := range 5 * histories() {
		g := newGen[*schema.Message](seed)
		chunks := g.chunks()
		content := strings.Join(chunks, "")
		if len(content) < 413 { // less is no limit
			more := strings.Repeat("more ", 100)
			chunks, content = append(chunks, more), content+more
		}
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: len(content)})
		for _, f := range forms {
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			require.Equal(t, content, out, "seed %d, %s", seed, f.name)
		}
	}
}

func TestStream_NeverSplitsCharacter(t *testing.T) {
	race.Skip(t, "streams millions of chunks")
	for _, size := range []int{1, 2, 3, 4, 5, 7, 64} {
		for _, unit := range []string{"€", "🙂", "é", "a€🙂"} {
			content := strings.Repeat(unit, 2000)
			var chunks []string
			for rest := content; rest != ""; {
				n := min(size, len(rest))
				chunks = append(chunks, rest[:n])
				rest = rest[n:]
			}
			for limit := 1000; limit < 1004; limit++ {
				files := backend.NewMemory(0)
				mw := typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: limit})
				for i, f := range forms {
					out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "t", CallID: fmt.Sprint("c", i)}, `{}`, chunks)
					require.NoError(t, err)
					require.True(t, utf8.ValidString(out), "%s, %q in chunks of %d", f.name, unit, size)
					require.LessOrEqual(t, len(out), limit)
					require.Equal(t, content, stored(t, files, pathIn(out)))
				}
			}
		}
	}
}

func TestStream_EarlyCloseStopsTool(t *testing.T) {
	for kind, open := range storeKinds {
		t.Run(kind, func(t *testing.T) {
			kept, _ := open(t)
			mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000})
			at := runtime.NumGoroutine()
			for range 20 {
				src, done := never("one", "two")
				out := streamOf(t, mw, src)
				chunk, err := out.Recv()
				require.NoError(t, err)
				require.Equal(t, "one", chunk)
				out.Close()
				<-done
			}
			require.LessOrEqual(t, settled(at), at)
		})
	}
}

// settled waits until no more than so many goroutines run, or for as long as a busy
// machine may need.
func settled(want int) int {
	n := 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for range 1000 {
			runtime.Gosched()
			if n = runtime.NumGoroutine(); n <= want {
				return n
			}
		}
	}
	return n
}

// never sends chunks and then neither closes nor fails, until it is told that
// nobody listens.
func never(chunks ...string) (r *schema.StreamReader[string], done chan struct{}) {
	r, w := schema.Pipe[string](0)
	done = make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range chunks {
			if w.Send(c, nil) {
				return
			}
		}
		for !w.Send("more", nil) {
		}
	}()
	return r, done
}

//claim:security-23
func TestStream_FailingToolBlocksNobody(t *testing.T) {
	boom := errors.New("boom")
	for kind, open := range storeKinds {
		for _, size := range []int{10, 900, 5000} { // passed on, held back, over the limit
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				kept, memory := open(t)
				var last einolean.Event
				mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000, OnEvent: func(_ context.Context, e einolean.Event) { last = e }})
				at := runtime.NumGoroutine()
				src, w := schema.Pipe[string](3)
				content := strings.Repeat("日本語\n", size/10)
				w.Send(content[:len(content)/2], nil)
				w.Send(content[len(content)/2:], nil)
				w.Send("", boom)
				// It is never closed.
				out := streamOf(t, mw, src)
				got, err := adktest.Drain(out)
				require.Equal(t, boom, err)
				text := strings.Join(got, "")
				require.True(t, strings.HasPrefix(content, text))
				require.NotContains(t, text, "persisted-output")
				require.GreaterOrEqual(t, len(text), min(len(content), 990), "more could have been passed on")
				require.LessOrEqual(t, len(text), 1000)
				_, err = out.Recv()
				require.Equal(t, io.EOF, err, "it has ended")
				require.True(t, w.Send("x", nil), "the tool is told")
				if len(content) > 1000 {
					require.Equal(t, einolean.KindResultTruncated, last.Kind)
					require.Equal(t, boom, last.Err)
					require.Equal(t, content, stored(t, memory, last.Output.Path), "what arrived is kept")
				}
				require.LessOrEqual(t, settled(at), at)
			})
		}
	}
}

func TestStream_FailingStoreLeavesNoGoroutine(t *testing.T) {
	for _, mode := range faultModes {
		for _, after := range []int64{0, 500, 100_000} {
			at := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			kept := backendtest.NewFaulty(backend.NewMemory(0), func(backendtest.Call) backendtest.Fault {
				if mode == backendtest.Hang {
					defer cancel()
				}
				return backendtest.Fault{Mode: mode, After: after}
			})
			mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000})
			chunks := strings.SplitAfter(strings.Repeat(strings.Repeat("x", 999)+"\n", 300), "\n")
			_, err := runStreamable(ctx, mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			cancel()
			require.LessOrEqual(t, settled(at), at, "mode %d after %d", mode, after)
		}
	}
}

//claim:security-24
func TestStream_UnreadFailureEndsNoProcess(t *testing.T) {
	if name := proctest.Case(); name != "" {
		c := crashCases[name]
		for n := range 40 {
			runtime.GOMAXPROCS(1 + n%2) // who comes first differs
			testStreamUnreadFailureEndsNoProcess[*schema.Message](t, c)
			testStreamUnreadFailureEndsNoProcess[*schema.AgenticMessage](t, c)
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

// testStreamUnreadFailureEndsNoProcess runs a case, streaming, and reads nothing of what comes out: the events
// with their streams become garbage.
func testStreamUnreadFailureEndsNoProcess[M adk.MessageType](t *testing.T, c crashCase) {
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

func TestStream_EndOfOneSourceEndsNoOther(t *testing.T) {
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

// renamed wraps a middleware so that streamOf's tool is called "shell".
type renamed struct{ wrapper }

func (r renamed) WrapStreamableToolCall(ctx context.Context, run adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return r.wrapper.WrapStreamableToolCall(ctx, run, &adk.ToolContext{Name: "shell", CallID: tc.CallID})
}

func named(w wrapper) wrapper { return renamed{w} }

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

func TestStream_ShowsErrorInMiddle(t *testing.T) {
	var chunks []string
	for i := range 4000 {
		chunks = append(chunks, fmt.Sprintf("line %d of the build, all of it as always\n", i))
	}
	chunks[2000] = "main.c:17:4: error: expected ';' before '}' token\n"
	for _, f := range forms {
		if !f.stream {
			continue
		}
		for _, p := range []reduction.Preview{nil, reduction.PreviewByKind} {
			files := store.NewMemory(0)
			mw := typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: 2000, Preview: p})
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "build", CallID: "c1"}, `{}`, chunks)
			require.NoError(t, err)
			require.LessOrEqual(t, len(out), 2000)
			require.Equal(t, p != nil, strings.Contains(out, "\n2001: main.c:17:4: error: expected ';' before '}' token\n"), "%s: %s", f.name, out)
			require.Contains(t, out, "line 3999 of")
			require.Equal(t, strings.Join(chunks, ""), stored(t, files, pathIn(out)))
		}
	}
}
