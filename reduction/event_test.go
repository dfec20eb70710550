// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// told makes a middleware that puts its events into a list.
func told[M adk.MessageType](t *testing.T, c *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], *[]reduction.Event) {
	t.Helper()
	var events []reduction.Event
	c.OnEvent = func(_ context.Context, e reduction.Event) { events = append(events, e) }
	return typed(t, c), &events
}

func TestEveryResultThatReturnsIsReported(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			mw, events := told(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, TruncExcludeTools: []string{"excluded"},
				ToolConfig: map[string]*reduction.ToolReductionConfig{
					"skipped": {SkipTruncation: true},
					"handled": {TruncHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) { return nil, nil }},
					"cut": {TruncHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
						return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("short")}, nil
					}},
				}})
			run := func(tool string, size int) (string, reduction.Event) {
				*events = nil
				out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: tool, CallID: "id of " + tool}, `{}`, []string{strings.Repeat("x", size/2), strings.Repeat("y", size/2)})
				require.NoError(t, err)
				require.Len(t, *events, 1, tool)
				e := (*events)[0]
				require.Equal(t, reduction.PhaseTruncation, e.Phase)
				require.Equal(t, tool, e.Tool)
				require.Equal(t, "id of "+tool, e.CallID)
				require.EqualValues(t, e.BytesBefore/4, e.TokensBefore)
				require.EqualValues(t, e.BytesAfter/4, e.TokensAfter)
				return out, e
			}
			out, e := run("shell", 6000)
			require.Equal(t, reduction.EventTruncated, e.Kind)
			require.Equal(t, 6000, e.BytesBefore)
			require.Equal(t, len(out), e.BytesAfter)
			require.Equal(t, pathIn(out), e.Path)
			for tool, why := range map[string]reduction.Reason{
				"excluded": reduction.ReasonExcluded, "skipped": reduction.ReasonSkipped, "read_file": reduction.ReasonReadTool,
				"tool_search": reduction.ReasonReadTool, "handled": reduction.ReasonHandler,
			} {
				out, e := run(tool, 6000)
				require.Len(t, out, 6000)
				require.Equal(t, reduction.EventLeftAlone, e.Kind, tool)
				require.Equal(t, why, e.Reason, tool)
				if tool != "handled" || !f.stream { // a handler that does not read has not seen the size
					require.Equal(t, 6000, e.BytesBefore, tool)
					require.Equal(t, 6000, e.BytesAfter, tool)
				}
			}
			_, e = run("shell", 1000)
			require.Equal(t, reduction.ReasonWithinLimit, e.Reason)
			_, e = run("cut", 6000)
			require.Equal(t, reduction.EventTruncated, e.Kind)
		})
	}
}

func TestEveryOldResultIsReported(t *testing.T) {
	both(t, oldResults[*schema.Message], oldResults[*schema.AgenticMessage])
}

func oldResults[M adk.MessageType](t *testing.T) {
	var msgs []M
	size := map[string]int{"small": 3, "shell": 2000}
	for _, name := range []string{"shell", "small", "excluded", "skipped", "read_file", "handled", "broken"} {
		n := 900
		if s, ok := size[name]; ok {
			n = s
		}
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: name, Name: name}), adktest.Result[M](name, name, strings.Repeat("x", n)))
	}
	msgs = append(msgs, rounds[M](1, 10)...)
	broken := &failing{errors.New("down")}
	cfg := func() *reduction.TypedConfig[M] {
		return &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ClearExcludeTools: []string{"excluded"}, ToolConfig: map[string]*reduction.ToolReductionConfig{
			"skipped": {SkipClear: true}, "broken": {Backend: broken},
			"handled": {ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) { return nil, nil }},
		}}
	}
	mw, events := told(t, cfg())
	before(t, mw, msgs)
	got := map[string]reduction.Event{}
	for _, e := range *events {
		require.Equal(t, reduction.PhaseClear, e.Phase)
		got[e.Tool] = e
		require.Equal(t, e.Tool, e.CallID)
	}
	require.Len(t, got, 7)
	require.Len(t, *events, 7)
	require.Equal(t, reduction.EventCleared, got["shell"].Kind)
	require.Equal(t, 2000, got["shell"].BytesBefore)
	require.EqualValues(t, 500, got["shell"].TokensBefore)
	require.Less(t, got["shell"].BytesAfter, 200)
	require.Equal(t, "/tmp/clear/shell", got["shell"].Path)
	require.Equal(t, reduction.EventOffloadFailed, got["broken"].Kind)
	require.ErrorIs(t, got["broken"].Err, broken.err)
	for tool, why := range map[string]reduction.Reason{
		"small": reduction.ReasonNotSmaller, "excluded": reduction.ReasonExcluded, "skipped": reduction.ReasonSkipped,
		"read_file": reduction.ReasonReadTool, "handled": reduction.ReasonHandler,
	} {
		require.Equal(t, reduction.EventLeftAlone, got[tool].Kind, tool)
		require.Equal(t, why, got[tool].Reason, tool)
	}

	c := cfg()
	c.ClearAtLeastTokens, c.TokenCounter = 1, over[M] // it never gets less
	mw, events = told(t, c)
	require.Equal(t, msgs, before(t, mw, msgs))
	seen := false
	for _, e := range *events {
		require.NotEqual(t, reduction.EventCleared, e.Kind)
		seen = seen || e.Reason == reduction.ReasonTooFewTokens
	}
	require.True(t, seen)
}

func TestAnObserverThatPanicsEndsNothing(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, MaxTokensForClear: 1, OnEvent: func(context.Context, reduction.Event) { panic("observer") }})
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 3000)})
		require.NoError(t, err)
		require.Equal(t, "/tmp/trunc/c", pathIn(out))
	}
	require.Contains(t, before(t, mw, rounds[*schema.Message](3, 900))[2].Content, "/tmp/clear/call_0")
}
