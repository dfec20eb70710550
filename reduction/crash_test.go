// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Whole agents whose streamed tools fail, whose events are forgotten and whose
// garbage is collected. A stream that is closed twice ends the process in a
// finalizer, which no test can catch: so each case runs in a process of its own.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/reduction"
)

// childCase is the environment variable that tells a process which case it is to
// run.
const childCase = "LEANCTX_TEST_CASE"

// asChild runs the current test in a process of its own, for the case of this
// name, and returns what it printed.
func asChild(t *testing.T, test, name string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	// Eino reads a merged stream while it sets it to be closed, which the race
	// detector sees; this is not about that.
	cmd.Env = append(os.Environ(), childCase+"="+name, "GORACE=exitcode=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// collect runs all finalizers of what is garbage by now. They run one after
// another, so that the last of a round says that the others have run.
func collect() {
	for range 4 {
		done := make(chan struct{})
		runtime.SetFinalizer(&struct{ b [64]byte }{}, func(*struct{ b [64]byte }) { close(done) })
		for waiting := true; waiting; {
			runtime.GC()
			select {
			case <-done:
				waiting = false
			default:
				runtime.Gosched()
			}
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
	"behind the limit": {tool: failingTool(5000)},
	"no end":           {tool: texts(source{size: 5000, fail: errTool, open: true}.texts)},
	"parts within":     {tool: &partStreamer{"shell", source{size: 200, fail: errTool}.parts}},
	"parts behind":     {tool: &partStreamer{"shell", source{size: 5000, fail: errTool}.parts}},
	"excluded and watched": {tool: failingTool(5000), set: func(c *reduction.Config) {
		c.TruncExcludeTools, c.OnEvent = []string{"shell"}, func(context.Context, leanctx.Event) {}
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

func TestAStreamThatFailsEndsNoProcess(t *testing.T) {
	if name := os.Getenv(childCase); name != "" {
		c := crashCases[name]
		for n := range 40 {
			runtime.GOMAXPROCS(1 + n%2) // who comes first differs
			crash[*schema.Message](t, c)
			crash[*schema.AgenticMessage](t, c)
		}
		collect()
		fmt.Println("survived", name)
		os.Exit(0)
	}
	race.Skip(t, "starts a process for each case, and ignores data races there")
	for name := range crashCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := asChild(t, "TestAStreamThatFailsEndsNoProcess", name)
			require.NoError(t, err, out)
			require.Contains(t, out, "survived "+name)
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
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: toolsOf(inner.Tools...)},
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

func toolsOf(tools ...tool.BaseTool) compose.ToolsNodeConfig {
	return compose.ToolsNodeConfig{Tools: tools}
}
