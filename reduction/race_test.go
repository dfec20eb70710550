// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Data races. The tests say something only under -race. To
// see them fail on Eino's package, run them with LEANCTX_SUBJECT=eino.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// subject is the middleware under test.
func subject[M adk.MessageType](t *testing.T) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	if os.Getenv("LEANCTX_SUBJECT") == "eino" {
		mw, err := theirs.NewTyped(context.Background(), &theirs.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1})
		require.NoError(t, err)
		return mw
	}
	return typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1})
}

func TestR04_TwoRunsMayShareOneHistory(t *testing.T) {
	adktest.Both(t, sharedHistory[*schema.Message], sharedHistory[*schema.AgenticMessage])
}

func sharedHistory[M adk.MessageType](t *testing.T, streaming bool) {
	history := append(rounds[M](10, 900), adktest.User[M]("and now?"))
	for i := 1; i < len(history)-1; i += 2 { // as messages from events have it
		history[i] = shapeOf[M]().withExtra(history[i], "id", fmt.Sprint(i))
	}
	given := copyAll(history)
	mw := subject[M](t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a := adktest.Agent[M]{Model: adktest.Script[M](adktest.Say("done")), Streaming: streaming, Handlers: adktest.Handlers(mw)}
			if out := a.Run(context.Background(), history); out.Err != nil {
				t.Error(out.Err)
			}
		}()
	}
	wg.Wait()
	require.Equal(t, given, history, "the caller's history changed")
}

func TestR04_AConsumerMayEncodeEventsWhileTheRunGoesOn(t *testing.T) {
	adktest.Both(t, encodingConsumer[*schema.Message], encodingConsumer[*schema.AgenticMessage])
}

func encodingConsumer[M adk.MessageType](t *testing.T, streaming bool) {
	var turns []adktest.Turn
	for i := range 12 {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "shell", Args: `{}`}))
	}
	a := adktest.Agent[M]{Model: adktest.Script[M](turns...), Streaming: streaming, Max: 20, Handlers: adktest.Handlers(subject[M](t)),
		Tools: []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shell"}, func(context.Context, string) (string, error) {
			return strings.Repeat("a line\n", 100), nil
		})}}
	r, err := a.Runner(context.Background())
	require.NoError(t, err)
	events := r.Run(context.Background(), []M{adktest.User[M]("hello")})
	var seen []M
	for {
		e, ok := events.Next()
		if !ok {
			break
		}
		require.NoError(t, e.Err)
		if e.Output == nil || e.Output.MessageOutput == nil {
			continue
		}
		m, err := e.Output.MessageOutput.GetMessage()
		require.NoError(t, err)
		seen = append(seen, m)
		for _, m := range seen {
			_, err := json.Marshal(m)
			require.NoError(t, err)
		}
	}
	for _, m := range seen {
		require.NotContains(t, adktest.Extra(m), processedKey, "a mark leaked into an event")
		require.NotContains(t, adktest.Text(m), "persisted-output")
	}
}

func TestOneMiddlewareServesManyRunsAtOnce(t *testing.T) {
	adktest.Both(t, manyRuns[*schema.Message], manyRuns[*schema.AgenticMessage])
}

func manyRuns[M adk.MessageType](t *testing.T, streaming bool) {
	store := backend.NewMemory(0)
	var events sync.Map
	mw := typed(t, &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, ProvideReadTool: true,
		OnEvent: func(_ context.Context, e leanctx.Event) { events.Store(e.CallID, e) }})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			content := strings.Repeat(fmt.Sprintf("run %d\n", i), 400)
			m := adktest.Script[M](
				adktest.Do(adktest.ToolCall{ID: "functions.shell:0", Name: "shell"}, adktest.ToolCall{ID: "functions.shell:0", Name: "stream"}),
				adktest.Do(adktest.ToolCall{ID: "functions.shell:1", Name: "shell"}))
			tools := []tool.BaseTool{}
			for name, f := range map[string]adktest.Form{"shell": adktest.Invokable, "stream": adktest.EnhancedStreamable} {
				tools = append(tools, adktest.Tool(f, &schema.ToolInfo{Name: name}, func(context.Context, string) (string, error) { return content, nil }))
			}
			a := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers(mw), Tools: tools}
			out := a.Run(context.Background(), []M{adktest.User[M]("hello")})
			if out.Err != nil {
				t.Error(out.Err)
				return
			}
			wires := m.Wires()
			for _, msg := range wires[2].Messages {
				for _, a := range shapeOf[M]().answers(msg) {
					if got := stored(t, store, pathIn(a.joined())); got != content {
						t.Errorf("run %d reads what another run stored", i)
					}
				}
			}
		}()
	}
	wg.Wait()
}
