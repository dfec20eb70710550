// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The benchmarks, and a limit on allocations.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func BenchmarkHookBelowThreshold(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		for _, tools := range []int{0, 50} {
			b.Run(fmt.Sprintf("Message/%d/tools=%d", n, tools), func(b *testing.B) { belowThreshold[*schema.Message](b, n, tools) })
			b.Run(fmt.Sprintf("AgenticMessage/%d/tools=%d", n, tools), func(b *testing.B) { belowThreshold[*schema.AgenticMessage](b, n, tools) })
		}
	}
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
		{"einolean", func(b *testing.B, s settings) adk.TypedChatModelAgentMiddleware[M] {
			return typed(b, &reduction.TypedConfig[M]{Backend: s.store, MaxTokensForClear: s.maxTokens})
		}},
	}
}

func benchTools(n int) (out []*schema.ToolInfo) {
	for i := range n {
		out = append(out, &schema.ToolInfo{Name: fmt.Sprint("tool_", i), Desc: "does one thing and does it well", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"path": {Type: schema.String, Desc: "where"}, "count": {Type: schema.Integer, Desc: "how many"}, "deep": {Type: schema.Boolean},
		})})
	}
	return out
}

func belowThreshold[M adk.MessageType](b *testing.B, n, tools int) {
	state := &adk.TypedChatModelAgentState[M]{Messages: talk[M](n, 4096), ToolInfos: benchTools(tools)}
	for _, s := range sides[M]() {
		b.Run(s.name, func(b *testing.B) {
			mw := s.make(b, settings{&discard{}, 1 << 40})
			ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{Tools: []tool.BaseTool{readerFor(b)}})
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
	t, err := reduction.NewReadTool(context.Background(), &reduction.ReadToolConfig{Backend: store.NewMemory(0)})
	require.NoError(b, err)
	return t
}

// BenchmarkHookOfANewRun is the first model call of a run. Under "seen" an earlier run of the
// process had the same history, and the threshold is so near that it must be read.
func BenchmarkHookOfANewRun(b *testing.B) {
	b.Run("Message", firstHooks[*schema.Message])
	b.Run("AgenticMessage", firstHooks[*schema.AgenticMessage])
}

func firstHooks[M adk.MessageType](b *testing.B) {
	msgs := distinctTalk[M](1000, 4096)
	for _, s := range sides[M]() {
		// The texts have 1.0 million tokens by four bytes each and .9 by estimate.
		for name, most := range map[string]int64{"far": 1 << 40, "unread": 1_500_000, "seen": 1_100_000} {
			b.Run(name+"/"+s.name, func(b *testing.B) {
				mw, reader := s.make(b, settings{&discard{}, most}), readerFor(b)
				first := func() {
					ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{Tools: []tool.BaseTool{reader}})
					if err != nil {
						b.Fatal(err)
					}
					state := &adk.TypedChatModelAgentState[M]{Messages: msgs}
					if _, out, err := mw.BeforeModelRewriteState(ctx, state, nil); err != nil || out != state {
						b.Fatal("changed", err)
					}
				}
				if name == "seen" {
					first()
				}
				b.ReportAllocs()
				for b.Loop() {
					first()
				}
			})
		}
	}
}

// distinctTalk is talk in which no two texts are equal.
func distinctTalk[M adk.MessageType](n, size int) []M {
	r := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("the store keeps every result that a tool returned and shows its beginning and its end to the model 2026-03-04 status=200 id:4711")
	text := func() string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		return b.String()[:size]
	}
	var out []M
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		out = append(out, adktest.User[M](text()), adktest.Assistant[M](text(), adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), adktest.Result[M](id, "shell", text()))
	}
	return out[:n]
}

// BenchmarkRun is a whole run of an agent on a long history of which nothing is cleared.
func BenchmarkRun(b *testing.B) {
	for _, calls := range []int{1, 3, 10} {
		b.Run(fmt.Sprintf("Message/calls=%d", calls), func(b *testing.B) { wholeRun[*schema.Message](b, calls) })
		b.Run(fmt.Sprintf("AgenticMessage/calls=%d", calls), func(b *testing.B) { wholeRun[*schema.AgenticMessage](b, calls) })
	}
}

func wholeRun[M adk.MessageType](b *testing.B, calls int) {
	history := distinctTalk[M](1000, 4096)
	for _, s := range sides[M]() {
		b.Run(s.name, func(b *testing.B) {
			mw, reader := s.make(b, settings{&discard{}, 1_500_000}), readerFor(b)
			b.ReportAllocs()
			for b.Loop() {
				agent, err := adk.NewTypedChatModelAgent(context.Background(), &adk.TypedChatModelAgentConfig[M]{
					Name: "agent", Description: "works", Model: &caller[M]{calls: calls}, MaxIterations: calls + 1,
					ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{adktest.Simple("shell", "runs"), reader}}},
					Handlers:    []adk.TypedChatModelAgentMiddleware[M]{mw},
				})
				if err != nil {
					b.Fatal(err)
				}
				if err := adktest.Collect(agent.Run(context.Background(), &adk.TypedAgentInput[M]{Messages: history})).Err; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// caller is a model that calls a tool in all its answers but the last.
type caller[M adk.MessageType] struct{ calls, made int }

func (c *caller[M]) Generate(context.Context, []M, ...model.Option) (M, error) {
	if c.made++; c.made >= c.calls {
		return adktest.Assistant[M]("done"), nil
	}
	return adktest.Assistant[M]("", adktest.ToolCall{ID: fmt.Sprint("new_", c.made), Name: "shell", Args: `{}`}), nil
}

func (c *caller[M]) Stream(ctx context.Context, in []M, o ...model.Option) (*schema.StreamReader[M], error) {
	m, err := c.Generate(ctx, in, o...)
	return schema.StreamReaderFromArray([]M{m}), err
}

func BenchmarkFirstClear(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
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
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("Message/%d", n), func(b *testing.B) { afterClearing[*schema.Message](b, n) })
		b.Run(fmt.Sprintf("AgenticMessage/%d", n), func(b *testing.B) { afterClearing[*schema.AgenticMessage](b, n) })
	}
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

// BenchmarkStream truncates 100 MB that come in chunks of 4 KB. peak-MB is how much
// more the heap held at its largest than before.
func BenchmarkStream(b *testing.B) {
	for _, s := range sides[*schema.Message]() {
		b.Run("100MB/"+s.name, func(b *testing.B) { benchStream(b, s.make(b, settings{&drainStore{}, 0})) })
	}
}

const streamSize = 100 << 20

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
		_, err = adktest.Drain(out)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
}

// BenchmarkStreamIntoDirectory does the same with files of the machine as the store.
func BenchmarkStreamIntoDirectory(b *testing.B) {
	for _, s := range sides[*schema.Message]() {
		b.Run("100MB/"+s.name, func(b *testing.B) {
			dir, err := store.NewDir(b.TempDir())
			require.NoError(b, err)
			defer dir.Close()
			benchStream(b, s.make(b, settings{dir, 0}))
		})
	}
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

func TestClear_FirstPassAllocatesLittlePerResult(t *testing.T) {
	race.Skip(t, "it allocates by itself")
	adktest.EachType(t, testClearFirstPassAllocatesLittlePerResult[*schema.Message], testClearFirstPassAllocatesLittlePerResult[*schema.AgenticMessage])
}

func testClearFirstPassAllocatesLittlePerResult[M adk.MessageType](t *testing.T) {
	const results, most = 200, 36
	msgs := rounds[M](results, 4096)
	var fresh []adk.TypedChatModelAgentMiddleware[M] // AllocsPerRun calls once more
	for range 2 {
		fresh = append(fresh, typed(t, &reduction.TypedConfig[M]{Backend: filesystem.NewInMemoryBackend(), MaxTokensForClear: 1}))
	}
	allocated := testing.AllocsPerRun(len(fresh)-1, func() {
		mw := fresh[0]
		fresh = fresh[1:]
		require.Contains(t, adktest.Text(grown(t, mw, msgs)[2]), "persisted-output")
	})
	t.Logf("%.1f allocations for each result", allocated/results)
	require.Less(t, allocated/results, float64(most))
}

// A history that an application has kept whole is cleared as it was, with a pass for each of its requests.
func TestRepeatPasses_AllocateLittlePerResult(t *testing.T) {
	race.Skip(t, "it allocates by itself")
	adktest.EachType(t, testRepeatPassesAllocateLittlePerResult[*schema.Message],
		testRepeatPassesAllocateLittlePerResult[*schema.AgenticMessage])
}

func testRepeatPassesAllocateLittlePerResult[M adk.MessageType](t *testing.T) {
	perResult := func(results int) float64 {
		msgs := rounds[M](results, 4096)
		allocated := testing.AllocsPerRun(1, func() {
			mw := typed(t, &reduction.TypedConfig[M]{Backend: filesystem.NewInMemoryBackend(), MaxTokensForClear: 1})
			require.Contains(t, adktest.Text(before(t, mw, msgs)[2]), "persisted-output")
		})
		return allocated / float64(results)
	}
	few, many := perResult(200), perResult(1000)
	t.Logf("%.1f allocations for each of 200 results, %.1f for each of 1,000", few, many)
	require.Less(t, few, 70.)
	require.Less(t, many, 1.1*few, "the work for a result grows with the history")
}
