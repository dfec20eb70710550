// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field StoreTimeout: stores that hang.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/store"
)

// hangingStore is a store whose calls hang from the nth on, whatever their context says, until it is released.
type hangingStore struct {
	memory   *store.Memory
	from     int
	released chan struct{}

	mu           sync.Mutex
	calls, hangs int
	running      sync.WaitGroup
}

func newHangingStore(t *testing.T, from int) *hangingStore {
	h := &hangingStore{memory: store.NewMemory(0), from: from, released: make(chan struct{})}
	t.Cleanup(h.release)
	return h
}

// release lets the calls that hang end, and waits for them.
func (h *hangingStore) release() {
	h.mu.Lock()
	select {
	case <-h.released:
	default:
		close(h.released)
	}
	h.mu.Unlock()
	h.running.Wait()
}

func (h *hangingStore) mayHang() {
	h.mu.Lock()
	h.running.Add(1)
	h.calls++
	hangs := h.calls >= h.from
	if hangs {
		h.hangs++
	}
	h.mu.Unlock()
	defer h.running.Done()
	if hangs {
		<-h.released
	}
}

func (h *hangingStore) numHangs() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hangs
}

func (h *hangingStore) Write(ctx context.Context, r *filesystem.WriteRequest) error {
	h.mayHang()
	return h.memory.Write(ctx, r)
}

func (h *hangingStore) Create(ctx context.Context, name string, content io.Reader) error {
	h.mayHang()
	return h.memory.Create(ctx, name, content)
}

func (h *hangingStore) ReadRange(ctx context.Context, name string, offset, length int64) (io.ReadCloser, int64, error) {
	h.mayHang()
	return h.memory.ReadRange(ctx, name, offset, length)
}

// A store that hangs costs one timeout a pass, and no content.
func TestStoreTimeout_HangingStoreCostsOneTimeout(t *testing.T) {
	adktest.EachType(t, testStoreTimeoutHangingStoreCostsOneTimeout[*schema.Message], testStoreTimeoutHangingStoreCostsOneTimeout[*schema.AgenticMessage])
}

func testStoreTimeoutHangingStoreCostsOneTimeout[M adk.MessageType](t *testing.T) {
	const results = 30
	content := func(n int) string { return strings.Repeat(fmt.Sprintf("line of result %d\n", n), 300) }
	for from := 1; from <= 20; from++ {
		h := newHangingStore(t, from)
		failures, cleared := 0, 0
		cfg := &reduction.TypedConfig[M]{
			Backend: h, MaxTokensForClear: 1000, StoreTimeout: 20 * time.Millisecond, ProvideReadTool: true,
			OnEvent: func(_ context.Context, e einolean.Event) {
				switch e.Kind {
				case einolean.KindStoreFailed:
					failures++
				case einolean.KindResultCleared:
					cleared++
				}
			},
		}
		mw := typed(t, cfg)
		ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{})
		require.NoError(t, err)
		msgs := []M{adktest.User[M]("look at everything")}
		for n := range results {
			id := fmt.Sprint("c", n)
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: "{}"}), adktest.Result[M](id, "shell", content(n)))
		}
		state := &adk.TypedChatModelAgentState[M]{Messages: msgs}
		for pass := 1; pass <= 2; pass++ {
			before := h.numHangs()
			_, next, err := mw.BeforeModelRewriteState(ctx, state, nil)
			require.NoError(t, err)
			require.LessOrEqual(t, h.numHangs()-before, 1, "from call %d, pass %d", from, pass)
			require.NotZero(t, failures, "the failure is reported")
			for n := range results {
				text := adktest.Text(next.Messages[2+2*n])
				if text == content(n) {
					continue
				}
				read, err := h.memory.Read(context.Background(), &filesystem.ReadRequest{FilePath: notice.Parse(text).Path})
				require.NoError(t, err, "from call %d, pass %d: result %d is nowhere", from, pass, n)
				require.Equal(t, content(n), read.Content)
			}
			state = next
		}
		require.LessOrEqual(t, cleared, from)
		h.release()
	}
}

// A result that is truncated when it returns stays whole if the store hangs, also if it is streamed.
func TestStoreTimeout_ResultOfHangingStoreStays(t *testing.T) {
	adktest.Both(t, testStoreTimeoutResultOfHangingStoreStays[*schema.Message], testStoreTimeoutResultOfHangingStoreStays[*schema.AgenticMessage])
}

func testStoreTimeoutResultOfHangingStoreStays[M adk.MessageType](t *testing.T, streaming bool) {
	long := strings.Repeat("a line of a long result\n", 1000)
	for _, form := range []adktest.Form{adktest.Invokable, adktest.Streamable} {
		for _, from := range []int{1, 2, 3} {
			h := newHangingStore(t, from)
			failed := 0
			cfg := &reduction.TypedConfig[M]{
				Backend: h, MaxLengthForTrunc: 2000, StoreTimeout: 20 * time.Millisecond, SkipClear: true,
				OnEvent: func(_ context.Context, e einolean.Event) {
					if e.Kind == einolean.KindStoreFailed {
						failed++
					}
				},
			}
			shell := adktest.Tool(form, &schema.ToolInfo{Name: "shell", Desc: "runs"}, func(context.Context, string) (string, error) { return long, nil })
			out := adktest.Agent[M]{
				Model: adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "a", Name: "shell", Args: "{}"}), adktest.Say("the answer")),
				Tools: []tool.BaseTool{shell}, Streaming: streaming, Handlers: adktest.Handlers(typed(t, cfg)),
			}.Run(context.Background(), []M{adktest.User[M]("go")})
			require.NoError(t, out.Err)
			require.Equal(t, "the answer", out.Answer())
			require.LessOrEqual(t, h.numHangs(), 1)
			if from == 1 {
				require.NotZero(t, failed)
			}
			h.release()
		}
	}
}

// The time counts since the last byte that the store has accepted or returned.
func TestStoreTimeout_SlowStoreMakesProgress(t *testing.T) {
	memory := store.NewMemory(0)
	slow := &slowStore{Memory: memory}
	cfg := &reduction.Config{Backend: slow, MaxTokensForClear: 1000, StoreTimeout: 200 * time.Millisecond, ProvideReadTool: true}
	mw := typed(t, cfg)
	ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{})
	require.NoError(t, err)
	long := strings.Repeat("a line of a long result\n", 1000)
	_, state, err := mw.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{Messages: []*schema.Message{
		schema.UserMessage("go"),
		adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "a", Name: "shell", Args: "{}"}), adktest.Result[*schema.Message]("a", "shell", long),
		adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "b", Name: "shell", Args: "{}"}), adktest.Result[*schema.Message]("b", "shell", "short"),
	}}, nil)
	require.NoError(t, err)
	require.Contains(t, state.Messages[2].Content, "saved in full", "it took %v", slow.took)
	require.Greater(t, slow.took, 200*time.Millisecond, "longer than the timeout")
}

// slowStore reads what it stores in small pieces.
type slowStore struct {
	*store.Memory
	took time.Duration
}

func (s *slowStore) Create(ctx context.Context, name string, content io.Reader) error {
	begin := time.Now()
	var all strings.Builder
	buf := make([]byte, 1000)
	for {
		n, err := content.Read(buf)
		all.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.took = time.Since(begin)
	return s.Memory.Create(ctx, name, strings.NewReader(all.String()))
}
