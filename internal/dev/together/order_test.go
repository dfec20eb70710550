// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

// The table of handlers in docs/tools.md, row by row: each test runs the handlers in both orders in
// an agent.

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	fsmiddleware "github.com/cloudwego/eino/adk/middlewares/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	"github.com/cloudwego/eino/adk/middlewares/plantask"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

type handler[M adk.MessageType] = adk.TypedChatModelAgentMiddleware[M]

func searchOf[M adk.MessageType](t testing.TB, cfg toolsearch.Config) handler[M] {
	t.Helper()
	h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
	require.NoError(t, err)
	return h
}

func reductionOf[M adk.MessageType](t testing.TB, cfg reduction.TypedConfig[M]) handler[M] {
	t.Helper()
	h, err := reduction.NewTyped(context.Background(), &cfg)
	require.NoError(t, err)
	return h
}

func filesOf[M adk.MessageType](t testing.TB, b filesystem.Backend) handler[M] {
	t.Helper()
	h, err := fsmiddleware.NewTyped[M](context.Background(), &fsmiddleware.MiddlewareConfig{Backend: b})
	require.NoError(t, err)
	return h
}

// summaryOf summarises as soon as there are more messages, or tokens, than that.
func summaryOf[M adk.MessageType](t testing.TB, messages, tokens int) (handler[M], *adktest.Model[M]) {
	t.Helper()
	m := &adktest.Model[M]{Respond: func(int, adktest.Wire[M]) adktest.Turn { return adktest.Say("THE SUMMARY") }}
	h, err := summarization.NewTyped(context.Background(), &summarization.TypedConfig[M]{
		Model: m, Trigger: &summarization.TriggerCondition{ContextMessages: messages, ContextTokens: tokens},
	})
	require.NoError(t, err)
	return h, m
}

// run plays the turns in an agent with the handlers in that order.
func run[M adk.MessageType](streaming bool, tools []tool.BaseTool, history []M, turns []adktest.Turn, h ...handler[M]) (adktest.Outcome[M], []adktest.Wire[M]) {
	m := adktest.Script[M](turns...)
	out := adktest.Agent[M]{Model: m, Tools: tools, Handlers: h, Streaming: streaming}.Run(context.Background(), history)
	return out, m.Wires()
}

func lists[M adk.MessageType](w adktest.Wire[M]) bool {
	return strings.Contains(strings.Join(w.MessagesDump, "\n"), "<available-deferred-tools>")
}

func call(id, name string, args map[string]any) adktest.Turn {
	return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: arguments(args)})
}

// both runs a test with the handlers in order, and in reverse.
func both[M adk.MessageType](t *testing.T, make func() []handler[M], test func(t *testing.T, inOrder bool, h []handler[M])) {
	for _, inOrder := range []bool{true, false} {
		h := make()
		if !inOrder {
			slices.Reverse(h)
		}
		t.Run(fmt.Sprint("in order ", inOrder), func(t *testing.T) { test(t, inOrder, h) })
	}
}

func user[M adk.MessageType]() []M { return []M{adktest.User[M]("update the items")} }

// Behind toolsearch, summarization takes the list of names out of the call that it shortens.
//
//claim:handlers-03
func TestSummarization_BelongsBeforeToolsearch(t *testing.T) {
	adktest.Both(t, summaryAndSearch[message], summaryAndSearch[agenticMessage])
}

func summaryAndSearch[M adk.MessageType](t *testing.T, streaming bool) {
	turns := []adktest.Turn{call("load", "tool_search", map[string]any{"query": "select:" + names()[7]}), call("b", "big", nil), call("use", names()[7], nil)}
	both(t, func() []handler[M] {
		summary, _ := summaryOf[M](t, 4, 1<<30)
		return adktest.Handlers(summary, searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()}))
	}, func(t *testing.T, inOrder bool, h []handler[M]) {
		out, wires := run(streaming, []tool.BaseTool{big()}, user[M](), turns, h...)
		require.NoError(t, out.Err)
		require.Len(t, wires, 4)
		var listed []bool
		for _, w := range wires {
			listed = append(listed, lists(w))
		}
		require.Contains(t, strings.Join(wires[2].MessagesDump, "\n"), "THE SUMMARY")
		require.Equal(t, []bool{true, true, inOrder, true}, listed)
		require.Contains(t, wires[3].ToolNames, names()[7], "what was loaded stays, although its result is summarised")
	})
}

// Behind reduction, summarization counts what is left after clearing.
//
//claim:handlers-04
func TestSummarization_BelongsAfterReduction(t *testing.T) {
	adktest.Both(t, summaryAndReduction[message], summaryAndReduction[agenticMessage])
}

func summaryAndReduction[M adk.MessageType](t *testing.T, streaming bool) {
	var asked *adktest.Model[M]
	turns := []adktest.Turn{call("a", "big", nil), call("b", "big", nil), call("c", "big", nil), call("d", "big", nil)}
	both(t, func() []handler[M] {
		var summary handler[M]
		summary, asked = summaryOf[M](t, 0, 2_300)
		return adktest.Handlers(reductionOf(t, reduction.TypedConfig[M]{
			Backend: store.NewMemory(0), ProvideReadTool: true, SkipTruncation: true, MaxTokensForClear: 1,
		}), summary)
	}, func(t *testing.T, inOrder bool, h []handler[M]) {
		out, wires := run(streaming, []tool.BaseTool{big()}, user[M](), turns, h...)
		require.NoError(t, out.Err)
		require.Len(t, wires, 5)
		require.Equal(t, inOrder, len(asked.Wires()) == 0, "%d summaries", len(asked.Wires()))
		require.Equal(t, inOrder, strings.Contains(resultIn(wires[4].Messages, "a"), "/clear/a"), "the path stays in sight")
	})
}

// Eino's filesystem over reduction's store is its read tool, in every order, also where reduction
// would provide one. Whether it reads that store is not known, so an event says that it is used.
//
//claim:handlers-05
func TestFilesystem_IsReadToolOfReduction(t *testing.T) {
	adktest.Both(t, filesAndReduction[message], filesAndReduction[agenticMessage])
}

func filesAndReduction[M adk.MessageType](t *testing.T, streaming bool) {
	for _, provide := range []bool{false, true} {
		var events []einolean.Event
		both(t, func() []handler[M] {
			kept := filesystem.NewInMemoryBackend()
			cfg := &reduction.TypedConfig[M]{Backend: kept}
			if provide {
				cfg = reduction.RecommendedTyped[M](kept)
			}
			cfg.MaxLengthForTrunc, events = 600, nil
			cfg.OnEvent = func(_ context.Context, e einolean.Event) {
				if e.Level() >= slog.LevelWarn {
					events = append(events, e)
				}
			}
			return adktest.Handlers(filesOf[M](t, kept), reductionOf(t, *cfg))
		}, func(t *testing.T, _ bool, h []handler[M]) {
			turns := []adktest.Turn{call("a", "big", nil), call("r", "read_file", map[string]any{"file_path": "/tmp/trunc/a"}), call("b", "big", nil)}
			out, wires := run(streaming, []tool.BaseTool{big()}, user[M](), turns, h...)
			require.NoError(t, out.Err)
			require.Contains(t, resultIn(wires[2].Messages, "a"), "Read it with read_file.")
			require.Equal(t, 200, strings.Count(resultIn(wires[2].Messages, "r"), "a long line of output"))
			for _, w := range wires {
				require.Equal(t, 1, strings.Count(strings.Join(w.ToolNames, " ")+" ", "read_file "))
			}
			if provide {
				require.Len(t, events, 1)
				require.Equal(t, einolean.KindReadToolNotAdded, events[0].Kind)
				require.Equal(t, "read_file", events[0].Tool)
			}
		})
	}
}

// Tools of a handler can be hidden by their names if the handler stands before toolsearch.
//
//claim:handlers-06
func TestSearchableTools_HidesToolsOfEarlierHandlers(t *testing.T) {
	adktest.Both(t, toolsOfHandlers[message], toolsOfHandlers[agenticMessage])
}

func toolsOfHandlers[M adk.MessageType](t *testing.T, streaming bool) {
	plan := func() handler[M] {
		h, err := plantask.NewTyped[M](context.Background(), &plantask.Config{Backend: taskStore{filesystem.NewInMemoryBackend()}, BaseDir: "/tasks"})
		require.NoError(t, err)
		return h
	}
	files := func() handler[M] { return filesOf[M](t, filesystem.NewInMemoryBackend()) }
	for hidden, c := range map[string]struct {
		handler func() handler[M]
		args    map[string]any
		answer  string
	}{
		"glob":       {files, map[string]any{"pattern": "*"}, "No files found"},
		"TaskCreate": {plan, map[string]any{"subject": "s", "description": "d"}, "created"},
	} {
		both(t, func() []handler[M] {
			return adktest.Handlers(c.handler(), searchOf[M](t, toolsearch.Config{SearchableTools: []string{hidden}}))
		}, func(t *testing.T, inOrder bool, h []handler[M]) {
			turns := []adktest.Turn{call("s", "tool_search", map[string]any{"query": "select:" + hidden}), call("use", hidden, c.args)}
			out, wires := run(streaming, nil, user[M](), turns, h...)
			if !inOrder {
				require.ErrorContains(t, out.Err, "SearchableTools")
				require.ErrorContains(t, out.Err, hidden)
				require.Empty(t, wires, "the error comes before the first model call")
				return
			}
			require.NoError(t, out.Err)
			require.NotContains(t, wires[0].ToolNames, hidden)
			require.Contains(t, wires[1].ToolNames, hidden)
			require.Contains(t, resultIn(wires[2].Messages, "use"), c.answer)
		})
		// Without such names, the order does not matter: all of the handler's tools are visible.
		both(t, func() []handler[M] {
			return adktest.Handlers(c.handler(), searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()}))
		}, func(t *testing.T, _ bool, h []handler[M]) {
			out, wires := run(streaming, nil, user[M](), []adktest.Turn{call("use", hidden, c.args)}, h...)
			require.NoError(t, out.Err)
			require.Contains(t, wires[0].ToolNames, hidden)
			require.Contains(t, resultIn(wires[1].Messages, "use"), c.answer)
		})
	}
}

type taskStore struct{ *filesystem.InMemoryBackend }

func (taskStore) Delete(context.Context, *plantask.DeleteRequest) error { return nil }

// Marks in Extra hide tools of earlier handlers; tools of later ones stay visible, which
// one event of each run reports.
//
//claim:handlers-07
func TestDeferMarkedTools_LaterHandlersStayVisible(t *testing.T) {
	adktest.Both(t, markedTools[message], markedTools[agenticMessage])
}

func markedTools[M adk.MessageType](t *testing.T, streaming bool) {
	for _, dynamic := range [][]tool.BaseTool{nil, dynamicTools()} {
		var events []einolean.Event
		both(t, func() []handler[M] {
			return adktest.Handlers[M](einorun.New(&bringsMarked[M]{TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{}}), searchOf[M](t, toolsearch.Config{
				DynamicTools: dynamic, DeferMarkedTools: true, OnEvent: func(_ context.Context, e einolean.Event) {
					if e.Kind == einolean.KindToolsNotHidden {
						events = append(events, e)
					}
				},
			}))
		}, func(t *testing.T, inOrder bool, h []handler[M]) {
			events = nil
			for runs := range 2 {
				out, wires := run(streaming, []tool.BaseTool{big()}, user[M](), []adktest.Turn{call("a", "big", nil), call("b", "big", nil)}, h...)
				require.NoError(t, out.Err)
				require.Len(t, wires, 3)
				require.Equal(t, !inOrder, slices.Contains(wires[0].ToolNames, "marked"))
				if inOrder {
					require.Empty(t, events)
					continue
				}
				require.Len(t, events, runs+1, "one for each run")
				require.Equal(t, []string{"marked"}, events[runs].Tools.Added)
				require.Equal(t, 1, events[runs].Tools.AddedCount)
				require.Positive(t, events[runs].Tools.Tokens)
				require.ErrorContains(t, events[runs].Err, "DeferMarkedTools")
			}
		})
	}
}

type bringsMarked[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (*bringsMarked[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	rc.Tools = append(slices.Clone(rc.Tools), adktest.Tool(adktest.Invokable, &schemaInfo{Name: "marked", Desc: "d", Extra: map[string]any{"defer_loading": true}}, nil))
	return ctx, nil
}

// Calls that a crash left without a result are answered, in every order: an invented result
// loads no tool.
//
//claim:handlers-08
func TestPatchToolCalls_LoadsNothingInAnyOrder(t *testing.T) {
	adktest.Both(t, patchedCalls[message], patchedCalls[agenticMessage])
}

func patchedCalls[M adk.MessageType](t *testing.T, streaming bool) {
	history := []M{adktest.User[M]("update"), adktest.Assistant[M]("",
		adktest.ToolCall{ID: "x", Name: "tool_search", Args: arguments(map[string]any{"query": "select:" + names()[1]})},
		adktest.ToolCall{ID: "y", Name: names()[2], Args: "{}"}, adktest.ToolCall{ID: "z", Name: "big", Args: "{}"}), adktest.User[M]("go on")}
	both(t, func() []handler[M] {
		patch, err := patchtoolcalls.NewTyped[M](context.Background(), nil)
		require.NoError(t, err)
		return adktest.Handlers(patch, searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()}),
			reductionOf(t, reduction.TypedConfig[M]{Backend: store.NewMemory(0), ProvideReadTool: true, MaxTokensForClear: 1}))
	}, func(t *testing.T, _ bool, h []handler[M]) {
		out, wires := run(streaming, []tool.BaseTool{big()}, history, []adktest.Turn{call("a", "big", nil), call("b", "big", nil), call("c", names()[2], nil)}, h...)
		require.NoError(t, out.Err)
		for _, w := range wires {
			for _, id := range []string{"x", "y", "z"} {
				require.Contains(t, resultIn(w.Messages, id), "canceled")
			}
			require.NotContains(t, w.ToolNames, names()[1])
			require.Contains(t, w.ToolNames, names()[2], "the history shows it in use")
		}
		require.Contains(t, resultIn(wires[3].Messages, "a"), "/clear/a")
		require.Contains(t, resultIn(wires[3].Messages, "c"), "echo")
	})
}

// The order that docs/tools.md recommends.
//
//claim:handlers-01
func TestHandlers_DocumentedOrderWorks(t *testing.T) {
	adktest.Both(t, allHandlers[message], allHandlers[agenticMessage])
}

func allHandlers[M adk.MessageType](t *testing.T, streaming bool) {
	kept := filesystem.NewInMemoryBackend()
	patch, err := patchtoolcalls.NewTyped[M](context.Background(), nil)
	require.NoError(t, err)
	reduce := reductionOf(t, reduction.TypedConfig[M]{Backend: kept, MaxLengthForTrunc: 600, MaxTokensForClear: 1})
	summary, asked := summaryOf[M](t, 12, 1<<30)
	search := searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools(), SearchableTools: []string{"glob"}})
	turns := []adktest.Turn{
		call("load", "tool_search", map[string]any{"query": "select:glob," + names()[7]}), call("a", "big", nil), call("b", "big", nil),
		call("r", "read_file", map[string]any{"file_path": "/tmp/trunc/a"}), call("g", "glob", map[string]any{"pattern": "*"}), call("c", "big", nil), call("use", names()[7], nil),
	}
	history := []M{adktest.User[M]("update"), adktest.Assistant[M]("", adktest.ToolCall{ID: "x", Name: "big", Args: "{}"}), adktest.User[M]("go on")}
	out, wires := run(streaming, []tool.BaseTool{big()}, history, turns, patch, filesOf[M](t, kept), reduce, summary, search)
	require.NoError(t, out.Err)
	require.Len(t, wires, 8)
	require.NotEmpty(t, asked.Wires())
	for i, w := range wires {
		require.True(t, lists(w), "model call %d", i)
		require.Equal(t, i > 0, slices.Contains(w.ToolNames, names()[7]), "model call %d", i)
		require.Equal(t, i > 0, slices.Contains(w.ToolNames, "glob"), "model call %d", i)
	}
	require.Contains(t, resultIn(wires[0].Messages, "x"), "canceled")
	require.Contains(t, resultIn(wires[2].Messages, "a"), "/trunc/a")
	require.Contains(t, resultIn(out.Messages, "r"), "a long line of output")
	require.Contains(t, resultIn(out.Messages, "use"), "echo")
}
