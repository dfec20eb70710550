// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field ClearMessageRewriter.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/claude"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
)

func TestClearMessageRewriter_GetsResultsOfItsRound_R19(t *testing.T) {
	adktest.EachType(t, testClearMessageRewriterGetsResultsOfItsRound[*schema.Message], testClearMessageRewriterGetsResultsOfItsRound[*schema.AgenticMessage])
}

func testClearMessageRewriterGetsResultsOfItsRound[M adk.MessageType](t *testing.T) {
	var got []string
	mw := typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1, ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
		line := fmt.Sprint(adktest.Calls(call)[0].ID, ":")
		for _, r := range results {
			for _, a := range adktest.Results(r) {
				line += " " + a.ID
			}
		}
		if results == nil {
			line += " nil"
		}
		got = append(got, line)
		adktest.Extra(call) // what it gets is its own
		return []M{adktest.User[M]("was: " + line)}, nil
	}})
	s := shapeOf[M]()
	call := func(ids ...string) M {
		var calls []adktest.ToolCall
		for _, id := range ids {
			calls = append(calls, adktest.ToolCall{ID: id, Name: "shell"})
		}
		return adktest.Assistant[M]("", calls...)
	}
	msgs := []M{
		call("1", "2"), s.result("2", "shell", text("two")), adktest.User[M]("do not lose me"),
		call("3"),
		call("4"), adktest.User[M]("nor me"), s.result("4", "shell", text("four")),
		call("5"), s.result("orphan", "shell", text("orphan")), s.result("5", "shell", text("five")),
		call("6"),
	}
	given := copyAll(msgs)
	out := before(t, mw, msgs)
	require.Equal(t, given, msgs)
	require.Equal(t, []string{"1: 2", "3: nil", "4: 4", "5: 5"}, got)
	var texts []string
	for _, m := range out {
		texts = append(texts, adktest.Text(m))
	}
	require.Equal(t, []string{"was: 1: 2", "do not lose me", "was: 3: nil", "was: 4: 4", "nor me", "was: 5: 5", "orphan", ""}, texts)
}

func TestClearMessageRewriter_WorksWithClearing(t *testing.T) {
	adktest.EachType(t, testClearMessageRewriterWorksWithClearing[*schema.Message], testClearMessageRewriterWorksWithClearing[*schema.AgenticMessage])
}

func testClearMessageRewriterWorksWithClearing[M adk.MessageType](t *testing.T) {
	store := backend.NewMemory(0)
	calls := 0
	cfg := &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1, ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
		calls++
		if adktest.Calls(call)[0].ID == "call_0" {
			return nil, nil
		}
		return append([]M{adktest.User[M]("a reminder"), call}, results...), nil
	}}
	msgs := rounds[M](4, 900)
	given := copyAll(msgs)
	mw := typed(t, cfg)
	out := before(t, mw, msgs)
	require.Equal(t, given, msgs)
	require.Len(t, out, len(msgs)) // two less, two more
	require.Equal(t, "a reminder", adktest.Text(out[1]))
	require.Equal(t, adktest.Text(given[4]), stored(t, store, pathIn(adktest.Text(out[3]))))
	require.Equal(t, 3, calls)
	require.Equal(t, out, before(t, mw, out))
	require.Equal(t, 3, calls)

	cfg.ClearAtLeastTokens, cfg.TokenCounter = 1, over[M]
	require.Equal(t, given, before(t, typed(t, cfg), copyAll(given)), "a rewriting that saves too little is undone")
	cfg.ClearAtLeastTokens, cfg.ClearTargetTokens, cfg.TokenCounter = 0, 1, nil
	require.Len(t, before(t, typed(t, cfg), copyAll(given)), len(msgs))
}

func TestClearMessageRewriter_SkipsSpreadRounds(t *testing.T) {
	s := shapeOf[*schema.AgenticMessage]()
	type M = *schema.AgenticMessage
	mixed, _ := s.merge(s.result("1", "a", text("one")), s.result("2", "a", text("two")))
	msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}), adktest.Assistant[M]("", adktest.ToolCall{ID: "2", Name: "a"}), mixed,
		adktest.Assistant[M]("", adktest.ToolCall{ID: "3", Name: "a"})}, append(rounds[M](1, 10), s.result("3", "a", text("three")))...)
	mw := typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1, ClearMessageRewriter: func(context.Context, M, []M) ([]M, error) {
		return nil, errors.New("called")
	}})
	require.Equal(t, msgs, before(t, mw, msgs))
}

// An agentic message may hold results and what the user said. The rewriter decides
// on the round; what the user said is not of the round.
func TestClearMessageRewriter_KeepsContentBesideResults(t *testing.T) {
	type M = *schema.AgenticMessage
	s := shapeOf[M]()
	for _, keep := range []bool{false, true} {
		mixed := s.result("1", "a", text("the result"))
		mixed.ContentBlocks = append([]*schema.ContentBlock{schema.NewContentBlock(&schema.UserInputText{Text: "before"}), nil}, mixed.ContentBlocks...)
		mixed.ContentBlocks = append(mixed.ContentBlocks,
			schema.NewContentBlock(&schema.UserInputText{Text: "after"}),
			schema.NewContentBlock(&schema.UserInputImage{URL: "https://example.com/a.png"}))
		mixed.Extra = map[string]any{"from": "user"}
		history := append([]M{adktest.User[M]("start"), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}), mixed}, rounds[M](1, 10)...)
		given := copyAll(history)
		mw := typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1,
			ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
				require.Len(t, results, 1)
				require.Len(t, results[0].ContentBlocks, 1, "the result alone")
				require.NotNil(t, results[0].ContentBlocks[0].FunctionToolResult)
				results[0].ContentBlocks[0].FunctionToolResult.Name = "changed"
				results[0].Extra["from"] = "changed"
				if keep {
					return append([]M{call}, results...), nil
				}
				return nil, nil
			}})
		out := before(t, mw, history)
		require.Equal(t, given, history, "the caller's messages do not change")
		rest := out[1]
		if keep {
			require.Len(t, out, len(history)+1)
			require.Equal(t, "1", adktest.Calls(out[1])[0].ID)
			require.Len(t, s.answers(out[2]), 1)
			rest = out[3]
		} else {
			require.Len(t, out, len(history)-1)
		}
		require.Equal(t, map[string]any{"from": "user"}, rest.Extra)
		require.Equal(t, schema.AgenticRoleTypeUser, rest.Role)
		var said []string
		for _, b := range rest.ContentBlocks {
			require.False(t, b != nil && b.FunctionToolResult != nil)
			if b != nil && b.UserInputText != nil {
				said = append(said, b.UserInputText.Text)
			}
		}
		require.Equal(t, []string{"before", "after"}, said)
		require.NotNil(t, rest.ContentBlocks[len(rest.ContentBlocks)-1].UserInputImage)
		require.Equal(t, out, before(t, mw, out), "a second pass changes nothing")
	}
}

// A rewriter may take whole rounds out, of which no trace is left.
func TestClearMessageRewriter_RemovesThinkingAfterRewrittenRound(t *testing.T) {
	adktest.Both(t, testClearMessageRewriterRemovesThinkingAfterRewrittenRound[*schema.Message], testClearMessageRewriterRemovesThinkingAfterRewrittenRound[*schema.AgenticMessage])
}

func testClearMessageRewriterRemovesThinkingAfterRewrittenRound[M adk.MessageType](t *testing.T, streaming bool) {
	for name, instead := range map[string][]M{"nothing": nil, "a message": {adktest.User[M]("tools ran")}} {
		history := []M{adktest.User[M]("begin")}
		for i := range 5 {
			id := fmt.Sprint("call_", i)
			history = append(history, thinks(adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: "{}"})), adktest.Result[M](id, "shell", strings.Repeat("line ", 300)))
		}
		history = append(history, adktest.User[M]("go on"))
		given := deepCopy(history)
		for _, rewrites := range []bool{false, true} {
			cfg := &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1 << 40}
			if rewrites {
				cfg.MaxTokensForClear = 1
				first := true
				cfg.ClearMessageRewriter = func(_ context.Context, said M, results []M) ([]M, error) {
					if !first {
						return append([]M{said}, results...), nil
					}
					first = false
					return instead, nil
				}
				cfg.ClearExcludeTools = []string{"shell"}
			}
			model := adktest.Script[M]()
			require.NoError(t, adktest.Agent[M]{Model: model, Handlers: adktest.Handlers[M](typed(t, cfg)), Streaming: streaming}.Run(t.Context(), history).Err)
			got := bound(model.Wires()[0].Messages)
			if rewrites {
				require.Zero(t, got, name)
			} else {
				require.Equal(t, 5, got)
			}
			require.Equal(t, given, history, "what was handed in never changes")
		}
	}
}

// thinks makes an answer one of Claude with bound thinking.
func thinks[M adk.MessageType](m M) M {
	switch m := any(m).(type) {
	case *schema.Message:
		m.Extra = map[string]any{"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": "s"}
	case *schema.AgenticMessage:
		m.ResponseMeta = &schema.AgenticResponseMeta{ClaudeExtension: &claude.ResponseMetaExtension{ID: "m"}}
		m.ContentBlocks = append([]*schema.ContentBlock{schema.NewContentBlock(&schema.Reasoning{Text: "hm", Signature: "s"})}, m.ContentBlocks...)
	}
	return m
}

// bound counts the messages of a request that bring their thinking.
func bound[M adk.MessageType](msgs []M) (n int) {
	for i := range msgs {
		if continuation.Any(msgs[i : i+1]) {
			n++
		}
	}
	return n
}

// A pass whose rewriter took a round out counts each result that is left once.
func TestClearMessageRewriter_CountsEachResultOnce(t *testing.T) {
	adktest.EachType(t, testClearMessageRewriterCountsEachResultOnce[*schema.Message], testClearMessageRewriterCountsEachResultOnce[*schema.AgenticMessage])
}

func testClearMessageRewriterCountsEachResultOnce[M adk.MessageType](t *testing.T) {
	var msgs []M
	for _, name := range []string{"first", "excluded", "shell", "excluded"} {
		id := name + strconv.Itoa(len(msgs))
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: name}), adktest.Result[M](id, name, strings.Repeat(name, 400)))
	}
	msgs = append(msgs, rounds[M](1, 10)...)
	c := &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 100, ClearExcludeTools: []string{"excluded"},
		ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
			if adktest.Calls(call)[0].Name == "first" {
				return nil, nil
			}
			return append([]M{call}, results...), nil
		}}
	mw, events := told(t, c)
	before(t, mw, msgs)
	done := ofKind(*events, einolean.KindClearDone)
	require.Len(t, done, 1)
	require.Equal(t, map[string]int{"excluded": 2}, done[0].Pass.Kept)
	require.Equal(t, []int{3, 1}, []int{done[0].Pass.Looked, done[0].Pass.Cleared})
}
