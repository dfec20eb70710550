// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

// What a call is counted as, and what a collector lets go of first.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/window"
)

// A call that names a stored file reads it back, with any tool and any form of arguments. Similar paths of other
// files do not count.
func TestReadBack_RecognizesPathsInArguments(t *testing.T) {
	for arguments, page := range map[string]bool{
		`{"file_path":"/tmp/clear/c1"}`:                    true,
		`{"command":"cat /tmp/clear/c1"}`:                  true,
		`{"command":"cat '/tmp/clear/c1' | head"}`:         true,
		`{"command":"wc -l </tmp/clear/c1;date"}`:          true,
		`{"command":"head --file=/tmp/clear/c1"}`:          true,
		`{"question":"What is in /tmp/clear/c1."}`:         true,
		`{"files":["/etc/hosts","/tmp/clear/c1"]}`:         true,
		`{"command":"cat \"/tmp/clear/c1\""}`:              true,
		`{"file_path":"/tmp/clear/c10"}`:                   false,
		`{"file_path":"/home/tmp/clear/c1"}`:               false,
		`{"command":"cat /tmp/clear/c1.txt"}`:              false,
		`{"command":"cat /tmp/clear"}`:                     false,
		`{"question":"What is c1?"}`:                       false,
		`{"command":"` + strings.Repeat("a/b ", 70) + `"}`: false,
	} {
		see := window.New(window.Config{Conversation: named("c")})
		c := newChat(t, see)
		c.result(900)
		c.clear(0)
		c.ask(t)
		c.history = append(c.history, schema.AssistantMessage("", []schema.ToolCall{{ID: "r", Function: schema.FunctionCall{Name: "shell", Arguments: arguments}}}),
			schema.ToolMessage(strings.Repeat("y", 400), "r", schema.WithToolName("shell")))
		c.ask(t)
		by := see.Conversation("c").Calls[1].By
		require.Equal(t, page, by[window.Page] > 0, arguments)
		require.Equal(t, !page, by[window.Result] > 0, arguments)
	}
}

// Arguments that become shorter, as cleared ones do, are the same part with another text. What follows has moved,
// and is not new.
func TestParts_OnlyShortenedPartIsNew(t *testing.T) {
	see := window.New(window.Config{Conversation: named("c")})
	c := newChat(t, see)
	for range 3 {
		c.result(300)
	}
	c.ask(t)
	history := append([]*schema.Message(nil), c.history...)
	history[2] = schema.AssistantMessage("", []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: "read_day", Arguments: `{}`}}})
	c.history = history
	c.ask(t)
	second := see.Conversation("c").Calls[1]
	states := map[string]int{}
	for _, p := range second.Parts() {
		states[p.State]++
	}
	require.Equal(t, map[string]int{"same": 2, "new": 1, "moved": 5}, states)
	require.Equal(t, 2, second.Prefix.Part)
	require.Equal(t, "other", second.Prefix.Cause)
	require.Len(t, second.NewParts(), 1)
	require.Equal(t, "c1", second.NewParts()[0].CallID)
}

// Paths and reasons of omissions take memory as well.
func TestKept_CountsOmissions(t *testing.T) {
	kept := func(path string) int64 {
		see := window.New(window.Config{Conversation: named("c"), Texts: window.TextsNone})
		c := newChat(t, see)
		for range 100 {
			c.result(900)
		}
		history := append([]*schema.Message(nil), c.history...)
		for i, m := range history {
			if m.Role == schema.Tool {
				history[i] = schema.ToolMessage("[Earlier result removed. It was not saved.]", m.ToolCallID, schema.WithToolName(m.ToolName))
				if path != "" {
					c.see.Event(c.ctx, einolean.Event{Kind: einolean.KindResultCleared, CallID: m.ToolCallID, Output: &einolean.OutputChange{Path: path}})
				}
			}
		}
		c.history = history
		c.ask(t)
		n, err := see.Kept()
		require.NoError(t, err)
		return n
	}
	plain := func() int64 {
		see := window.New(window.Config{Conversation: named("c"), Texts: window.TextsNone})
		c := newChat(t, see)
		for range 100 {
			c.result(900)
		}
		c.ask(t)
		n, err := see.Kept()
		require.NoError(t, err)
		return n
	}()
	require.GreaterOrEqual(t, kept("")-plain, int64(100*100), "each result that was cleared has a record of what is missing")
	require.Greater(t, kept("/tmp/clear/x"), kept(""))
}

// The newest call stays, however many conversations start without a model call.
func TestMaxBytes_KeepsNewestCall(t *testing.T) {
	for _, first := range []bool{true, false} {
		name := "empty 0"
		n := 0
		see := window.New(window.Config{MaxBytes: 16_000, Conversation: func(ctx context.Context) (string, error) { return name, nil }})
		begin := func() {
			for range 20 {
				n++
				name = fmt.Sprint("empty ", n)
				newChat(t, see)
			}
		}
		if !first {
			begin()
		}
		name = "asks"
		c := newChat(t, see)
		c.ask(t)
		if first {
			begin()
		}
		kept, err := see.Kept()
		require.NoError(t, err)
		require.LessOrEqual(t, kept, int64(16_000))
		asks := see.Conversation("asks")
		require.NotNil(t, asks, "asked first: %t", first)
		require.Len(t, asks.Calls, 1)
		require.Nil(t, see.Conversation("empty 1"), "the oldest goes first")
		require.NotNil(t, see.Conversation("empty 20"))
	}
}

// Totals add up every figure of every call, whatever the providers report.
func TestTotals_AddUpEveryFigure(t *testing.T) {
	small, large := 900, 200_001
	c := &window.Conversation{Calls: []*window.ModelCall{
		{N: 1, Tokens: window.Tokens{Estimated: 100}, Without: &small},
		{N: 2, Tokens: window.Tokens{Estimated: 400, Reported: &schema.TokenUsage{PromptTokens: 200, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 50}}}, Prefix: window.Prefix{Same: 90}, Kept: true},
		{N: 3, Tokens: window.Tokens{Estimated: 300, Reported: &schema.TokenUsage{}}, Prefix: window.Prefix{Same: 250}, Without: &large},
		{N: 4, Tokens: window.Tokens{Estimated: 10, Reported: &schema.TokenUsage{PromptTokens: 10, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 99}}}, Without: &large},
	}}
	got := c.Totals()
	require.Equal(t, []int{4, 810, 340, 3, 210, 149, 100 + 250 + 10, 400, 2, 1, 900 + 2*large, 900 + large, large, 2},
		[]int{got.Calls, got.Sent, got.Same, got.ReportedCalls, got.Reported, got.Cached, got.SentHits, got.Largest, got.LargestCall, got.Helped, got.Without, got.WithoutHits, got.LargestWithout, got.TooLarge})
	require.True(t, got.Kept)
	c.Calls[1].Kept = false
	require.False(t, c.Totals().Kept)
}

// What only einolean needs would not have been sent without it.
func TestWithout_ExcludesWhatEinoleanAdds(t *testing.T) {
	see := window.New(window.Config{Conversation: named("c")})
	c := newChat(t, see)
	tools := model.WithTools([]*schema.ToolInfo{{Name: "tool_search", Desc: strings.Repeat("finds ", 100)}, {Name: "own", Desc: "does it"}})
	c.history = append(c.history, schema.AssistantMessage("", []schema.ToolCall{{ID: "s", Function: schema.FunctionCall{Name: "tool_search", Arguments: `{"query":"day"}`}}}),
		schema.ToolMessage(`{"matches":["read_day"]}`, "s", schema.WithToolName("tool_search")))
	_, err := c.model.Generate(c.ctx, c.history, tools)
	require.NoError(t, err)
	call := see.Conversation("c").Calls[0]
	asked := 0 // tokens of the call of the search
	for _, p := range call.Parts() {
		if p.CallID == "s" && p.Category == window.Assistant {
			asked = p.Tokens
		}
	}
	require.Positive(t, asked)
	require.Greater(t, call.By[window.HelpTools], 100)
	require.Equal(t, call.Tokens.Estimated-call.By[window.HelpTools]-call.By[window.Found]-asked, *call.Without)
	require.Equal(t, call.By[window.OwnTools]+call.By[window.System]+call.By[window.User], *call.Without)
}

// hides is, to a collector, the search tool of tools that are hidden.
type hides []*schema.ToolInfo

func (h hides) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "tool_search"}, nil
}

func (h hides) HiddenTools(context.Context) []*schema.ToolInfo { return slices.Clone(h) }

// Measuring a definition reads its whole schema, which takes a sixth of a second for 10,000 tools.
func TestHidden_ToolsAreMeasuredOnce(t *testing.T) {
	var hidden hides
	for i := range 1000 {
		hidden = append(hidden, &schema.ToolInfo{Name: fmt.Sprint("tool_", i), Desc: "Does it."})
	}
	h := window.New(window.Config{}).Handler()
	allocs := testing.AllocsPerRun(5, func() {
		_, err := einorun.Begin(context.Background(), h, &einorun.RunContext{Tools: []tool.BaseTool{hidden}})
		require.NoError(t, err)
	})
	require.Less(t, allocs, 100.0)
}
