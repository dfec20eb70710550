// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Measurements of Eino's package and ours on the same work. Every pair of
// benchmarks ends in /eino and /leanctx, and `make compare` puts them side by side.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
)

// discard is a store that takes everything and keeps nothing.
type discard struct{}

func (*discard) Write(context.Context, *filesystem.WriteRequest) error { return nil }

// drainStore is the same for streams.
type drainStore struct{ discard }

func (*drainStore) Create(_ context.Context, _ string, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// side is one of the two packages, with the settings that the benchmarks need.
type side[M adk.MessageType] struct {
	name string
	make func(b *testing.B, s settings) adk.TypedChatModelAgentMiddleware[M]
}

type settings struct {
	store     reduction.Backend
	maxTokens int64
}

func sides[M adk.MessageType]() []side[M] {
	return []side[M]{
		{"eino", func(b *testing.B, s settings) adk.TypedChatModelAgentMiddleware[M] {
			mw, err := theirs.NewTyped(context.Background(), &theirs.TypedConfig[M]{Backend: s.store, MaxTokensForClear: s.maxTokens})
			require.NoError(b, err)
			return mw
		}},
		{"leanctx", func(b *testing.B, s settings) adk.TypedChatModelAgentMiddleware[M] {
			return typed(b, &reduction.TypedConfig[M]{Backend: s.store, MaxTokensForClear: s.maxTokens})
		}},
	}
}

// talk is n messages of size bytes: questions, calls and results.
func talk[M adk.MessageType](n, size int) []M {
	filler := strings.Repeat("some words of a conversation ", size/29+1)[:size]
	var out []M
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		out = append(out, adktest.User[M](filler), adktest.Assistant[M](filler, adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), adktest.Result[M](id, "shell", filler))
	}
	return out[:n]
}

func benchTools(n int) (out []*schema.ToolInfo) {
	for i := range n {
		out = append(out, &schema.ToolInfo{Name: fmt.Sprint("tool_", i), Desc: "does one thing and does it well", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"path": {Type: schema.String, Desc: "where"}, "count": {Type: schema.Integer, Desc: "how many"}, "deep": {Type: schema.Boolean},
		})})
	}
	return out
}

func BenchmarkHookBelowThreshold(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, tools := range []int{0, 50} {
			b.Run(fmt.Sprintf("Message/%d/tools=%d", n, tools), func(b *testing.B) { belowThreshold[*schema.Message](b, n, tools) })
			b.Run(fmt.Sprintf("AgenticMessage/%d/tools=%d", n, tools), func(b *testing.B) { belowThreshold[*schema.AgenticMessage](b, n, tools) })
		}
	}
}

func belowThreshold[M adk.MessageType](b *testing.B, n, tools int) {
	state := &adk.TypedChatModelAgentState[M]{Messages: talk[M](n, 4096), ToolInfos: benchTools(tools)}
	for _, s := range sides[M]() {
		b.Run(s.name, func(b *testing.B) {
			mw := s.make(b, settings{&discard{}, 1 << 40})
			ctx, _, err := mw.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{Tools: []tool.BaseTool{readerFor(b)}})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := mw.BeforeModelRewriteState(ctx, state, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// readerFor is a read tool, so that it need not be looked for.
func readerFor(b *testing.B) tool.BaseTool {
	t, err := reduction.NewReadTool(context.Background(), &reduction.ReadToolConfig{Backend: reduction.NewMemoryBackend(0)})
	require.NoError(b, err)
	return t
}

func BenchmarkFirstClear(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("Message/%d", n), func(b *testing.B) { firstClear[*schema.Message](b, n) })
		b.Run(fmt.Sprintf("AgenticMessage/%d", n), func(b *testing.B) { firstClear[*schema.AgenticMessage](b, n) })
	}
}

func firstClear[M adk.MessageType](b *testing.B, n int) {
	msgs := rounds[M](n/2, 4096)
	for _, s := range sides[M]() {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				mw := s.make(b, settings{filesystem.NewInMemoryBackend(), 1})
				state := &adk.TypedChatModelAgentState[M]{Messages: copyAll(msgs)} // Eino writes to them
				b.StartTimer()
				_, out, err := mw.BeforeModelRewriteState(context.Background(), state, nil)
				if err != nil || !strings.Contains(adktest.Text(out.Messages[2]), "persisted-output") {
					b.Fatal("not cleared", err)
				}
			}
		})
	}
}

// BenchmarkHookAfterClearing is every further model call of a conversation that is
// still above the threshold, with one plain answer in it.
func BenchmarkHookAfterClearing(b *testing.B) {
	b.Run("Message/1000", func(b *testing.B) { afterClearing[*schema.Message](b, 1000) })
	b.Run("AgenticMessage/1000", func(b *testing.B) { afterClearing[*schema.AgenticMessage](b, 1000) })
}

func afterClearing[M adk.MessageType](b *testing.B, n int) {
	for _, s := range sides[M]() {
		b.Run(s.name, func(b *testing.B) {
			mw := s.make(b, settings{filesystem.NewInMemoryBackend(), 1})
			_, state, err := mw.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{
				Messages: append([]M{adktest.Assistant[M]("hello")}, copyAll(rounds[M](n/2, 4096))...)}, nil)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := mw.BeforeModelRewriteState(context.Background(), state, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTruncate cuts results of calls of their own. Under "again" all have one
// call id, as with models that count their calls from zero: in a store that cannot be
// read, content is then named by its sum, where Eino writes over what is there.
func BenchmarkTruncate(b *testing.B) {
	for _, size := range []int{100, 1 << 20, 50 << 20} {
		content := strings.Repeat("a line of some tool's output\n", size/29+1)
		for _, s := range sides[*schema.Message]() {
			b.Run(fmt.Sprintf("%d/%s", size, s.name), func(b *testing.B) {
				benchTruncate(b, s.make(b, settings{&discard{}, 0}), content, func(int) string { return fmt.Sprint("call_", benchCalls.Add(1)) })
			})
			b.Run(fmt.Sprintf("%d again/%s", size, s.name), func(b *testing.B) {
				benchTruncate(b, s.make(b, settings{&discard{}, 0}), content, func(int) string { return "call_0" })
			})
		}
	}
}

// benchCalls numbers calls over all benchmarks, since equal stores share what they know.
var benchCalls atomic.Int64

func benchTruncate(b *testing.B, mw wrapper, content string, id func(n int) string) {
	returns := func(context.Context, string, ...tool.Option) (string, error) { return content, nil }
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		run, err := mw.WrapInvokableToolCall(context.Background(), returns, &adk.ToolContext{Name: "shell", CallID: id(n)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run(context.Background(), `{}`); err != nil {
			b.Fatal(err)
		}
	}
}

const streamSize = 100 << 20

// BenchmarkStream truncates 100 MB that come in chunks of 4 KB. peak-MB is how much
// more the heap held at its largest than before.
func BenchmarkStream(b *testing.B) {
	for _, s := range sides[*schema.Message]() {
		b.Run("100MB/"+s.name, func(b *testing.B) { benchStream(b, s.make(b, settings{&drainStore{}, 0})) })
	}
}

// BenchmarkStreamIntoDirectory does the same with files of the machine as the store.
func BenchmarkStreamIntoDirectory(b *testing.B) {
	for _, s := range sides[*schema.Message]() {
		b.Run("100MB/"+s.name, func(b *testing.B) {
			dir, err := reduction.NewDirBackend(b.TempDir())
			require.NoError(b, err)
			defer dir.Close()
			benchStream(b, s.make(b, settings{dir, 0}))
		})
	}
}

func benchStream(b *testing.B, mw wrapper) {
	chunk := strings.Repeat("a line of 4 KB of output, or so\n", 128)
	peak, n := uint64(0), 0
	b.ReportAllocs()
	b.SetBytes(streamSize)
	for b.Loop() {
		n++
		runtime.GC()
		base := heap()
		r, w := schema.Pipe[string](1)
		go func() {
			defer w.Close()
			for sent := 0; sent < streamSize; sent += len(chunk) {
				w.Send(chunk, nil)
				if sent%(4<<20) == 0 {
					peak = max(peak, heap()-min(base, heap()))
				}
			}
		}()
		run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return r, nil },
			&adk.ToolContext{Name: "t", CallID: fmt.Sprint("c", n)})
		require.NoError(b, err)
		out, err := run(context.Background(), `{}`)
		require.NoError(b, err)
		_, err = drain(out)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkWriteFile is what writing and syncing 100 MB takes by itself.
func BenchmarkWriteFile(b *testing.B) {
	chunk := []byte(strings.Repeat("a line of 4 KB of output, or so\n", 128))
	b.SetBytes(streamSize)
	for n := 0; b.Loop(); n++ {
		f, err := os.Create(filepath.Join(b.TempDir(), fmt.Sprint(n)))
		require.NoError(b, err)
		for sent := 0; sent < streamSize; sent += 16 * len(chunk) {
			for range 16 {
				_, err = f.Write(chunk)
			}
		}
		require.NoError(b, err)
		require.NoError(b, f.Sync())
		require.NoError(b, f.Close())
	}
}
