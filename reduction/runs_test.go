// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Several runs and processes at once.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/proctest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

//claim:migration-11
func TestRuns_MayShareHistory_R04(t *testing.T) {
	adktest.Both(t, testRunsMayShareHistory[*schema.Message], testRunsMayShareHistory[*schema.AgenticMessage])
}

func testRunsMayShareHistory[M adk.MessageType](t *testing.T, streaming bool) {
	history := append(rounds[M](10, 900), adktest.User[M]("and now?"))
	for i := 1; i < len(history)-1; i += 2 { // as messages from events have it
		history[i] = withExtra(history[i], "id", fmt.Sprint(i))
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

// subject is the middleware under test.
func subject[M adk.MessageType](t *testing.T) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	if os.Getenv("EINOLEAN_SUBJECT") == "eino" {
		mw, err := theirs.NewTyped(context.Background(), &theirs.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1})
		require.NoError(t, err)
		return mw
	}
	return typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1})
}

//claim:migration-11
func TestRuns_EventsMayBeEncodedDuringRun_R04(t *testing.T) {
	adktest.Both(t, testRunsEventsMayBeEncodedDuringRun[*schema.Message], testRunsEventsMayBeEncodedDuringRun[*schema.AgenticMessage])
}

func testRunsEventsMayBeEncodedDuringRun[M adk.MessageType](t *testing.T, streaming bool) {
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

func TestRuns_ShareMiddleware(t *testing.T) {
	adktest.Both(t, testRunsShareMiddleware[*schema.Message], testRunsShareMiddleware[*schema.AgenticMessage])
}

func testRunsShareMiddleware[M adk.MessageType](t *testing.T, streaming bool) {
	kept := backend.NewMemory(0)
	var events sync.Map
	mw := typed(t, &reduction.TypedConfig[M]{Backend: kept, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, ProvideReadTool: true,
		OnEvent: func(_ context.Context, e einolean.Event) { events.Store(e.CallID, e) }})
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
					if got := stored(t, kept, pathIn(a.joined())); got != content {
						t.Errorf("run %d reads what another run stored", i)
					}
				}
			}
		}()
	}
	wg.Wait()
}

func TestRuns_ProcessesStreamingUnderOneCallID(t *testing.T) {
	if job := proctest.Case(); job != "" {
		testRunsProcessesStreamingUnderOneCallID(t, strings.Split(job, "|"))
		os.Exit(0)
	}
	for kind := range sharedDirs {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			var ins []io.Writer
			var outs []*bufio.Reader
			for i := range 2 {
				cmd := proctest.Command(t, fmt.Sprintf("%s|%s|%d", kind, dir, i))
				in, err := cmd.StdinPipe()
				require.NoError(t, err)
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				t.Cleanup(func() { _ = cmd.Wait() })
				ins, outs = append(ins, in), append(outs, bufio.NewReader(out))
			}
			line := func(i int) string {
				s, err := outs[i].ReadString('\n')
				require.NoError(t, err, s)
				return strings.TrimSpace(s)
			}
			for i := range outs {
				require.Equal(t, "streaming", line(i))
			}
			kept, err := store.NewDir(dir)
			require.NoError(t, err)
			defer kept.Close()
			for i := range ins {
				fmt.Fprintln(ins[i], "go on")
				path := line(i)
				require.NotEmpty(t, path, "not saved")
				require.Equal(t, strings.Repeat(fmt.Sprint(i), 5000), stored(t, kept, path), path)
			}
		})
	}
}

// testRunsProcessesStreamingUnderOneCallID streams more than the limit, and its end when it is told to.
func testRunsProcessesStreamingUnderOneCallID(t *testing.T, job []string) {
	dir, err := store.NewDir(job[1])
	require.NoError(t, err)
	mw := typed(t, &reduction.Config{Backend: sharedDirs[job[0]](dir), MaxLengthForTrunc: 1000})
	src, w := schema.Pipe[string](0)
	go func() {
		defer w.Close()
		w.Send(strings.Repeat(job[2], 4000), nil)
		w.Send(strings.Repeat(job[2], 500), nil)
		fmt.Println("streaming")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		w.Send(strings.Repeat(job[2], 500), nil)
	}()
	got, err := adktest.Drain(streamOf(t, mw, src))
	require.NoError(t, err)
	fmt.Println(pathIn(strings.Join(got, "")))
}

// sharedDirs are the ways in which processes may share a directory.
var sharedDirs = map[string]func(*store.Dir) reduction.Backend{
	"all interfaces": func(d *store.Dir) reduction.Backend { return d },
	"create only": func(d *store.Dir) reduction.Backend {
		return struct {
			reduction.Backend
			store.Creator
		}{d, d}
	},
	"create and read": func(d *store.Dir) reduction.Backend {
		return struct {
			reduction.Backend
			store.Creator
			store.RangeReader
		}{d, d, d}
	},
}
