// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field OnEvent.

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction"
)

// told makes a middleware that puts its events into a list.
func told[M adk.MessageType](t *testing.T, c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], *[]einolean.Event) {
	t.Helper()
	var events []einolean.Event
	c.OnEvent = func(_ context.Context, e einolean.Event) { events = append(events, e) }
	return typed(t, c), &events
}

func ofKind(events []einolean.Event, kind einolean.Kind) (out []einolean.Event) {
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

func TestOnEvent_ReportsTruncatedAndLongResults(t *testing.T) {
	keep := func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) { return nil, nil }
	cut := func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
		return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("short")}, nil
	}
	own := map[string]*reduction.ToolReductionConfig{
		"skipped": {SkipTruncation: true}, "handled": {TruncHandler: keep}, "cut": {TruncHandler: cut}, "broken": {Backend: &failing{errors.New("down")}},
	}
	size := func(bytes int) einolean.Size { return einolean.Size{Bytes: bytes, Tokens: int64(bytes / 4)} }
	for _, f := range forms {
		mw, events := told(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, TruncExcludeTools: []string{"excluded"}, ToolConfig: own})
		run := func(tool string, size int) (string, []einolean.Event) {
			*events = nil
			began := time.Now()
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: tool, CallID: "id of " + tool}, `{"file_path":"/tmp/trunc/c"}`, []string{strings.Repeat("x", size/2), strings.Repeat("y", size/2)})
			require.NoError(t, err)
			for _, e := range *events {
				require.Equal(t, tool, e.Tool)
				require.Equal(t, "id of "+tool, e.CallID)
				require.Equal(t, f.stream, e.Output.Stream)
				require.WithinRange(t, e.Time, began, time.Now())
			}
			return out, *events
		}
		out, got := run("shell", 6000)
		require.Len(t, got, 1)
		require.Equal(t, einolean.KindResultTruncated, got[0].Kind)
		require.Equal(t, &einolean.OutputChange{Before: size(6000), After: size(len(out)), Path: pathIn(out), Rule: "limit", Stream: f.stream}, got[0].Output)
		for tool, why := range map[string]reduction.Reason{
			"excluded": reduction.ReasonExcluded, "skipped": reduction.ReasonSkipped, "handled": reduction.ReasonHandler,
		} {
			_, got := run(tool, 6000)
			require.Len(t, got, 1, "%s, %s", f.name, tool)
			require.Equal(t, einolean.KindResultKept, got[0].Kind)
			require.Equal(t, &einolean.OutputChange{Before: size(6000), After: size(6000), Reason: string(why), Stream: f.stream}, got[0].Output)
			_, got = run(tool, 1000)
			require.Empty(t, got, "%s: within the limit", tool)
		}
		for _, tool := range []string{"shell", "handled"} {
			_, got = run(tool, 1000)
			require.Empty(t, got)
		}
		_, got = run("tool_search", 6000)
		require.Empty(t, got)
		_, got = run("read_file", 6000)
		require.Len(t, got, 1)
		require.Equal(t, einolean.KindResultRead, got[0].Kind)
		require.Equal(t, &einolean.OutputChange{Before: size(6000), After: size(6000), Path: "/tmp/trunc/c", Stream: f.stream}, got[0].Output)
		_, got = run("cut", 6000)
		require.Len(t, got, 1)
		require.Equal(t, einolean.KindResultTruncated, got[0].Kind)
		require.Equal(t, "handler", got[0].Output.Rule)
		require.Equal(t, size(5), got[0].Output.After)
		out, got = run("broken", 6000)
		require.Len(t, got, 1)
		require.Equal(t, einolean.KindStoreFailed, got[0].Kind)
		require.ErrorContains(t, got[0].Err, "down")
		require.Equal(t, size(6000), got[0].Output.Before)
		require.Equal(t, size(len(out)), got[0].Output.After)
	}
}

func TestOnEvent_ReportsOnlyContentThatWasRead(t *testing.T) {
	mw, events := told(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, ProvideReadTool: true})
	_, err := runInvokable(context.Background(), mw, callC, `{}`, []string{strings.Repeat("a line\n", 500)})
	require.NoError(t, err)
	run := &einorun.RunContext{}
	ctx, err := einorun.Begin(context.Background(), mw, run)
	require.NoError(t, err)
	read, err := mw.WrapInvokableToolCall(ctx, run.Tools[0].(tool.InvokableTool).InvokableRun, &adk.ToolContext{Name: "read_file", CallID: "r"})
	require.NoError(t, err)
	for args, content := range map[string]bool{
		`{"file_path":"/tmp/trunc/c"}`: true, `{"file_path":"/tmp/trunc/c","pattern":"line"}`: true, `{"file_path":"/tmp/trunc/c","query":"line"}`: true,
		`{"file_path":"/tmp/trunc/c","tail":3}`: true, `{"file_path":"/tmp/trunc/c","byte_offset":9}`: true,
		`{"file_path":"/tmp/trunc/missing"}`: false, `{"file_path":"/etc/passwd"}`: false, `{}`: false, `{"file_path":"/tmp/trunc/c","offset":9999}`: false,
		`{"file_path":"/tmp/trunc/c","pattern":"nowhere"}`: false,
	} {
		*events = nil
		answer, err := read(ctx, args)
		require.NoError(t, err)
		require.Equal(t, content, len(*events) == 1, "%s: %s", args, answer)
		if content {
			require.Equal(t, einolean.KindResultRead, (*events)[0].Kind)
			require.Equal(t, "/tmp/trunc/c", (*events)[0].Output.Path)
			require.Equal(t, len(answer), (*events)[0].Output.After.Bytes)
		}
	}
}

func TestOnEvent_ClearingPassCountsKeptResults(t *testing.T) {
	adktest.EachType(t, testOnEventClearingPassCountsKeptResults[*schema.Message], testOnEventClearingPassCountsKeptResults[*schema.AgenticMessage])
}

func testOnEventClearingPassCountsKeptResults[M adk.MessageType](t *testing.T) {
	var msgs []M
	size := map[string]int{"small": 3, "shell": 2000}
	for _, name := range []string{"shell", "small", "excluded", "skipped", "load_tool", "tool_search", "handled", "broken"} {
		n := 900
		if s, ok := size[name]; ok {
			n = s
		}
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: name, Name: name}), adktest.Result[M](name, name, strings.Repeat("x", n)))
	}
	msgs = append(msgs, rounds[M](1, 10)...)
	broken := &failing{errors.New("down")}
	cfg := func() *reduction.TypedConfig[M] {
		return &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1000, ClearExcludeTools: []string{"excluded"}, ToolConfig: map[string]*reduction.ToolReductionConfig{
			"skipped": {SkipClear: true}, "broken": {Backend: broken},
			"handled": {ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) { return nil, nil }},
		}}
	}
	mw, events := told(t, cfg())
	out := grown(t, mw, msgs)
	require.Len(t, *events, 3)
	failed, cleared, done := (*events)[0], (*events)[1], (*events)[2]
	require.Equal(t, einolean.KindStoreFailed, failed.Kind)
	require.Equal(t, "broken", failed.CallID)
	require.ErrorIs(t, failed.Err, broken.err)
	require.Equal(t, einolean.KindResultCleared, cleared.Kind)
	require.Equal(t, "shell", cleared.Tool)
	notice := len(shapeOf[M]().answers(out[1])[0].joined())
	require.Equal(t, &einolean.OutputChange{Before: einolean.Size{Bytes: 2000, Tokens: 500}, After: einolean.Size{Bytes: notice, Tokens: int64(notice / 4)},
		Path: "/tmp/clear/shell", Rule: "threshold"}, cleared.Output)
	require.Equal(t, einolean.KindClearDone, done.Kind)
	require.Equal(t, map[string]int{"not_smaller": 1, "excluded": 1, "skipped": 1, "exempt": 2, "handler": 1, "not_stored": 1}, done.Pass.Kept)
	require.Equal(t, []int{8, 1, 0}, []int{done.Pass.Looked, done.Pass.Cleared, done.Pass.Repeated})
	require.EqualValues(t, 1000, done.Pass.Threshold)
	require.Greater(t, done.Pass.Before, done.Pass.After)

	*events = nil
	before(t, mw, out[:1])
	require.Empty(t, *events, "below the threshold nobody looks")

	c := cfg()
	c.ClearAtLeastTokens, c.TokenCounter = 1, over[M] // it never gets less
	mw, events = told(t, c)
	require.Equal(t, msgs, grown(t, mw, msgs))
	require.Empty(t, ofKind(*events, einolean.KindResultCleared))
	last := (*events)[len(*events)-1].Pass
	require.Equal(t, 2, last.Kept["too_few_tokens"], "the pass would have cleared shell and broken")
	require.Zero(t, last.Cleared)
	require.Equal(t, last.Before, last.After)
}

func TestOnEvent_OneEventPerHistoryChange(t *testing.T) {
	adktest.EachType(t, testOnEventOneEventPerHistoryChange[*schema.Message], testOnEventOneEventPerHistoryChange[*schema.AgenticMessage])
}

func testOnEventOneEventPerHistoryChange[M adk.MessageType](t *testing.T) {
	for range race.Cases(150) {
		seed := rand.Uint64()
		g := newGen[M](seed)
		memory := backend.NewMemory(0)
		var store reduction.Backend = memory
		if g.chance(30) {
			store = backendtest.NewFaulty(memory, func(backendtest.Call) backendtest.Fault {
				if g.chance(50) {
					return backendtest.Fault{Mode: backendtest.Fail}
				}
				return backendtest.Fault{}
			})
		}
		mw, events := told(t, &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1})
		n := &noisy{t: t, seed: seed, events: events}
		history := g.history()
		for range 3 { // a caller that keeps the history whole
			out := before(t, mw, history)
			first, _ := n.explained(changedIn(g.shape, message.InCallOrder(history), out))
			*events = nil
			again := before(t, mw, out)
			n.explained(changedIn(g.shape, out, again))
			*events = nil
			if n.passes > 2 && store == reduction.Backend(memory) {
				require.Zero(t, first, "seed %d: cleared for the first time twice", seed)
			}
		}
		if store != reduction.Backend(memory) {
			continue
		}
		mw, events = told(t, &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1})
		before(t, mw, history)
		for _, e := range ofKind(*events, einolean.KindResultCleared) {
			require.NotContains(t, e.Output.Path, "/tmp/clear/", "seed %d: the store has it", seed)
		}
	}
}

// noisy checks the events of model calls that saw given and passed on out.
type noisy struct {
	t      *testing.T
	seed   uint64
	events *[]einolean.Event
	passes int
}

// explained checks that each changed result has its event, and returns how many were
// cleared for the first time and again.
func (n *noisy) explained(changed []string) (cleared, repeated int) {
	var ids []string
	for _, e := range ofKind(*n.events, einolean.KindResultCleared) {
		ids = append(ids, e.CallID)
		require.Greater(n.t, e.Output.Before.Bytes, e.Output.After.Bytes, "seed %d", n.seed)
	}
	passes := ofKind(*n.events, einolean.KindClearDone)
	require.Len(n.t, passes, 1, "seed %d", n.seed)
	p := passes[0].Pass
	kept := 0
	for _, count := range p.Kept {
		kept += count
	}
	require.Equal(n.t, p.Looked, p.Cleared+p.Repeated+kept, "seed %d", n.seed)
	require.Len(n.t, ids, p.Cleared, "seed %d", n.seed)
	require.Len(n.t, changed, p.Cleared+p.Repeated, "seed %d", n.seed)
	failed := ofKind(*n.events, einolean.KindStoreFailed)
	require.LessOrEqual(n.t, len(passes)+len(failed), 4, "seed %d", n.seed)
	require.Len(n.t, *n.events, len(passes)+len(failed)+p.Cleared, "seed %d", n.seed)
	for _, id := range changed { // results without an id belong to calls that have one
		if i := slices.Index(ids, id); i >= 0 {
			ids = slices.Delete(ids, i, i+1)
		}
	}
	n.passes++
	return p.Cleared, p.Repeated
}

func changedIn[M adk.MessageType](s shape[M], given, out []M) (ids []string) {
	for i := range out {
		was := s.answers(given[i])
		for j, is := range s.answers(out[i]) {
			if is.joined() != was[j].joined() {
				ids = append(ids, is.id)
			}
		}
	}
	return ids
}

func TestOnEvent_AtMostOneEventPerToolCall(t *testing.T) {
	for range race.Cases(100) {
		seed := rand.Uint64()
		g := newGen[*schema.Message](seed)
		var store reduction.Backend = backend.NewMemory(0)
		if g.chance(30) {
			store = &failing{errors.New("down")}
		}
		mw, events := told(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
		for i, f := range forms {
			content := strings.Repeat(g.content(), 1+g.IntN(3))
			*events = nil
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: g.id()}, `{}`, []string{content[:len(content)/2], content[len(content)/2:]})
			require.NoError(t, err)
			require.Equal(t, out != content || len(content) > 1000, len(*events) == 1, "seed %d, form %d, %d bytes: %v", seed, i, len(content), *events)
			require.LessOrEqual(t, len(*events), 1)
		}
	}
}

func TestOnEvent_WithoutListenerAllocatesNothing(t *testing.T) {
	allocations := func(onEvent func(context.Context, einolean.Event), tool string, size int) float64 {
		content := strings.Repeat("x", size)
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), TruncExcludeTools: []string{"excluded"}, OnEvent: onEvent, MaxLengthForTrunc: 1000})
		ctx := context.Background()
		run, err := mw.WrapInvokableToolCall(ctx, func(context.Context, string, ...option) (string, error) { return content, nil }, &adk.ToolContext{Name: tool, CallID: "c"})
		require.NoError(t, err)
		return race.Allocations(50, func() { _, _ = run(ctx, `{}`) })
	}
	none := allocations(nil, "excluded", 2000)
	require.Zero(t, none, "a tool that is left alone is not even wrapped")
	require.Positive(t, allocations(func(context.Context, einolean.Event) {}, "excluded", 2000))

	histories := func(onEvent func(context.Context, einolean.Event)) float64 {
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxTokensForClear: 1, OnEvent: onEvent, ClearExcludeTools: []string{"shell"}})
		state := &adk.ChatModelAgentState{Messages: rounds[*schema.Message](20, 900)}
		return race.Allocations(50, func() { _, _, _ = mw.BeforeModelRewriteState(context.Background(), state, nil) })
	}
	require.Less(t, histories(nil), histories(func(context.Context, einolean.Event) {}))
}

type option = tool.Option

func TestOnEvent_PanicIsIgnored(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, MaxTokensForClear: 1, OnEvent: func(context.Context, einolean.Event) { panic("observer") }})
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 3000)})
		require.NoError(t, err)
		require.Equal(t, "/tmp/trunc/c", pathIn(out))
	}
	require.Contains(t, before(t, mw, rounds[*schema.Message](3, 900))[2].Content, "/tmp/clear/call_0")
}
