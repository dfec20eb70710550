// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Stores that are down, and goroutines that must not be left behind.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

var faultModes = []backendtest.Mode{
	backendtest.OK, backendtest.Fail, backendtest.Short, backendtest.Torn,
	backendtest.Late, backendtest.Hang, backendtest.Panic,
}

func TestAStoreThatIsDownIsNotAskedAboutEveryResult(t *testing.T) {
	store := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
	mw := typed(t, &reduction.Config{Backend: store.WriteOnly(), MaxTokensForClear: 1})
	msgs := rounds[*schema.Message](100, 500)
	require.Equal(t, msgs, before(t, mw, msgs))
	require.Equal(t, 3, store.Count(backendtest.OpWrite))
}

// rounds is a history of n rounds with results of size bytes.
func rounds[M adk.MessageType](n, size int) []M {
	out := []M{adktest.User[M]("hello")}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		line := fmt.Sprintf("result %d of the tool\n", i)
		out = append(out, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
			adktest.Result[M](id, "shell", strings.Repeat(line, size/len(line)+1)[:size]))
	}
	return out
}

// settled waits for goroutines to end: it gives them every chance, and no time.
func settled(want int) int {
	n := 0
	for range 100_000 {
		runtime.Gosched()
		if n = runtime.NumGoroutine(); n <= want {
			return n
		}
		if n%1000 == 0 {
			runtime.GC()
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

func streamOf(t *testing.T, mw wrapper, src *schema.StreamReader[string]) *schema.StreamReader[string] {
	t.Helper()
	run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
		return src, nil
	}, &adk.ToolContext{Name: "t", CallID: "c"})
	require.NoError(t, err)
	out, err := run(context.Background(), `{}`)
	require.NoError(t, err)
	return out
}

func TestClosingAStreamEarlyStopsTheToolAndLeavesNothingRunning(t *testing.T) {
	for kind, open := range storeKinds {
		t.Run(kind, func(t *testing.T) {
			store, _ := open(t)
			mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
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

func TestAToolThatFailsAndForgetsToCloseBlocksNobody(t *testing.T) {
	boom := errors.New("boom")
	for kind, open := range storeKinds {
		for _, size := range []int{10, 900, 5000} { // passed on, held back, over the limit
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				store, memory := open(t)
				var last leanctx.Event
				mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000, OnEvent: func(_ context.Context, e leanctx.Event) { last = e }})
				at := runtime.NumGoroutine()
				src, w := schema.Pipe[string](3)
				content := strings.Repeat("日本語\n", size/10)
				w.Send(content[:len(content)/2], nil)
				w.Send(content[len(content)/2:], nil)
				w.Send("", boom)
				// It is never closed.
				out := streamOf(t, mw, src)
				got, err := drain(out)
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
					require.Equal(t, leanctx.KindResultCut, last.Kind)
					require.Equal(t, boom, last.Err)
					require.Equal(t, content, stored(t, memory, last.Output.Path), "what arrived is kept")
				}
				require.LessOrEqual(t, settled(at), at)
			})
		}
	}
}

func TestStreamsIntoABreakingStoreLeaveNothingRunning(t *testing.T) {
	for _, mode := range faultModes {
		for _, after := range []int64{0, 500, 100_000} {
			at := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			store := backendtest.NewFaulty(backend.NewMemory(0), func(backendtest.Call) backendtest.Fault {
				if mode == backendtest.Hang {
					defer cancel()
				}
				return backendtest.Fault{Mode: mode, After: after}
			})
			mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
			chunks := strings.SplitAfter(strings.Repeat(strings.Repeat("x", 999)+"\n", 300), "\n")
			_, err := runStreamable(ctx, mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			cancel()
			require.LessOrEqual(t, settled(at), at, "mode %d after %d", mode, after)
		}
	}
}
