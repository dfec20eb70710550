// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Helpers of several files: handlers, tools, sources and recorders of events.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
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
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// newHandler makes our middleware of a Config.
func newHandler[M adk.MessageType](t testing.TB, c *toolsearch.Config) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := toolsearch.NewTyped[M](context.Background(), c)
	require.NoError(t, err)
	return h
}

// toolAdder is a handler that adds tools to a run.
type toolAdder[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	tools []tool.BaseTool
	drops int // how many of the first tools it takes away
}

func (a toolAdder[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	rc.Tools = append(append([]tool.BaseTool(nil), rc.Tools[a.drops:]...), a.tools...)
	return ctx, nil
}

// contextToolAdder is a handler that brings tools of its own into each run.
type contextToolAdder[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	tools func(context.Context) []tool.BaseTool
}

func (b contextToolAdder[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	rc.Tools = append(append([]tool.BaseTool(nil), rc.Tools...), b.tools(ctx)...)
	return ctx, nil
}

// searchAnswer is the answer to one call of a search tool.
func searchAnswer(t testing.TB, cfg toolsearch.Config, name, args string) string {
	s := scene[*schema.Message]{t: t, cfg: cfg}
	return s.begin(oneCall("a", name, args)).answer(t, "a")
}

func reportTools(n int) []tool.BaseTool {
	var tools []tool.BaseTool
	for i := range n {
		tools = append(tools, adktest.Simple(fmt.Sprintf("report_%03d", i), "Makes a report"))
	}
	return tools
}

// brokenIndex fails in one way or another.
type brokenIndex func() ([]index.Result, error)

func (b brokenIndex) Search(context.Context, index.Query) ([]index.Result, error) {
	return b()
}

// notebookBackend is a Backend that keeps what it is given.
type notebookBackend struct {
	mu      sync.Mutex
	written map[string]string
	fail    func() error
}

func (n *notebookBackend) Write(_ context.Context, r *filesystem.WriteRequest) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		return n.fail()
	}
	if n.written == nil {
		n.written = map[string]string{}
	}
	n.written[r.FilePath] = r.Content
	return nil
}

// changingSource is a Source that a test changes.
type changingSource struct {
	mu    sync.Mutex
	set   *toolset.Set
	err   error
	asked int
}

func (c *changingSource) Tools(context.Context) (*toolset.Set, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.set, c.err
}

func (c *changingSource) have(tools ...tool.BaseTool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set, err := c.set.Update(context.Background(), tools...)
	if err != nil {
		panic(err)
	}
	c.set, c.err = set, nil
}

// actionTool is a tool of the agent's own that does something to the world.
func actionTool(name string, do func()) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "Does " + name}, func(context.Context, string) (string, error) {
		do()
		return name + " is done", nil
	})
}

// echoTool is a tool of the form that echoes its arguments, with its name.
func echoTool(form adktest.Form, name string) tool.BaseTool {
	return adktest.Tool(form, &schema.ToolInfo{Name: name, Desc: "Handles " + name}, func(_ context.Context, args string) (string, error) {
		return name + " got " + args, nil
	})
}

// liveScene is a scene whose hidden tools are those of a Source alone.
func liveScene[M adk.MessageType](t testing.TB, streaming bool) (scene[M], *changingSource) {
	source := &changingSource{}
	return scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source}}, source
}

// requireNoSlots fails if anything that a model was sent, or that came out, tells of a slot.
func requireNoSlots[M adk.MessageType](t testing.TB, p sceneResult[M]) {
	require.NotContains(t, p.text(), "__einolean_slot")
}

// recorder keeps events.
type recorder struct {
	mu     sync.Mutex
	events []einolean.Event
}

func (r *recorder) record(_ context.Context, e einolean.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) kinds() (kinds []einolean.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// lines are the events as short lines. It leaves out the start of the run, which is the same for all.
func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, e := range r.events {
		line := string(e.Kind)
		for _, part := range []string{e.CallID, e.Tool} {
			if part != "" {
				line += " " + part
			}
		}
		if c := e.Tools; c != nil {
			for _, part := range []string{strings.Join(c.Added, ","), c.Phase, c.Reason} {
				if part != "" {
					line += " " + part
				}
			}
			if len(c.Removed) > 0 {
				line += " -" + strings.Join(c.Removed, ",")
			}
		}
		if q := e.Search; q != nil {
			line += fmt.Sprintf(" %q", q.Query)
			for _, h := range q.Hits {
				line += fmt.Sprintf(" %s=%v", h.Name, h.Score)
			}
		}
		if e.Kind != einolean.KindCatalogChanged {
			lines = append(lines, line)
		}
	}
	return lines
}

// toolCallRecorder looks at what a handler is told.
type toolCallRecorder[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	before func([]tool.BaseTool)
	name   func(string)
}

func (w *toolCallRecorder[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	if w.before != nil {
		w.before(rc.Tools)
	}
	return ctx, nil
}

func (w *toolCallRecorder[M]) record(tc *adk.ToolContext) {
	if w.name != nil {
		w.name(tc.Name)
	}
}

func (w *toolCallRecorder[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	w.record(tc)
	return next, nil
}

func (w *toolCallRecorder[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	w.record(tc)
	return next, nil
}

func (w *toolCallRecorder[M]) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	w.record(tc)
	return next, nil
}

func (w *toolCallRecorder[M]) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	w.record(tc)
	return next, nil
}

// stateRewriter is a handler that changes the state before each model call.
type stateRewriter[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	rewrite func(context.Context, *adk.TypedChatModelAgentState[M])
}

func (r stateRewriter[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r.rewrite(ctx, state)
	return ctx, state, nil
}

// newRand is a source of randomness whose seed is printed, and can be given.
func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("EINOLEAN_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("EINOLEAN_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// chance is true in n of 100 cases.
func chance(r *rand.Rand, n int) bool { return r.IntN(100) < n }

// askApproval asks a person before it does anything.
func askApproval(ctx context.Context, args string) (string, error) {
	if was, _, _ := tool.GetInterruptState[string](ctx); !was {
		return "", tool.StatefulInterrupt(ctx, "may I?", args)
	}
	_, _, state := tool.GetInterruptState[string](ctx)
	is, has, answer := tool.GetResumeContext[string](ctx)
	if !is || !has {
		return "", tool.StatefulInterrupt(ctx, "may I, again?", state)
	}
	return "person said " + answer + " to " + state + " and " + args, nil
}

// resumeApproved goes on with the run "one" that askApproval interrupted: the person says yes, and the run ends well.
func resumeApproved[M adk.MessageType](t *testing.T, agent adktest.Agent[M], first adktest.Outcome[M]) adktest.Outcome[M] {
	t.Helper()
	require.NotNil(t, first.Interrupted)
	ctx := context.Background()
	runner, err := agent.Runner(ctx)
	require.NoError(t, err)
	answers := map[string]any{rootInterruptID(first.Interrupted): "yes"}
	events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: answers})
	require.NoError(t, err)
	out := adktest.Collect(events)
	require.NoError(t, out.Err)
	return out
}

func rootInterruptID(i *adk.InterruptInfo) string {
	for _, c := range i.InterruptContexts {
		if c.IsRootCause {
			return c.ID
		}
	}
	return ""
}
