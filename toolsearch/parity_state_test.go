// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file shows the differences in what is shared, what panics, and what a checkpoint holds.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

func panicScenarios() []scenario {
	return []scenario{
		{"TS-13", "a nil tool", builds[*schema.Message](nil), builds[*schema.AgenticMessage](nil), "a panic", "toolsearch: DynamicTools[0]: the tool is nil"},
		{"TS-13", "a tool whose info is nil", builds[*schema.Message](adktest.Tool(adktest.Invokable, nil, nil)), builds[*schema.AgenticMessage](adktest.Tool(adktest.Invokable, nil, nil)),
			"a panic", "toolsearch: DynamicTools[0]: Info of adktest.invokable returned nil"},
		{"TS-13", "a tool without a name", builds[*schema.Message](adktest.Simple("", "nameless")), builds[*schema.AgenticMessage](adktest.Simple("", "nameless")),
			"no error", `toolsearch: DynamicTools[0]: Info of adktest.invokable has an empty Name (description "nameless")`},
		{"TS-13", "a nil state", hooksOn[*schema.Message](nil), hooksOn[*schema.AgenticMessage](nil), "a panic", "no tools"},
		{"TS-13", "a nil info in the state", hooksOn(&adk.TypedChatModelAgentState[*schema.Message]{ToolInfos: []*schema.ToolInfo{nil, {Name: "own"}}}),
			hooksOn(&adk.TypedChatModelAgentState[*schema.AgenticMessage]{ToolInfos: []*schema.ToolInfo{nil, {Name: "own"}}}), "a panic", "own"},
		{"TS-13", "a nil message", hooksOn(&adk.TypedChatModelAgentState[*schema.Message]{Messages: []*schema.Message{nil}}),
			hooksOn(&adk.TypedChatModelAgentState[*schema.AgenticMessage]{Messages: []*schema.AgenticMessage{nil}}), "a panic", "no tools"},
		{"TS-13", "no arguments at all for the model's own search", nilArgument[*schema.Message], nilArgument[*schema.AgenticMessage], "a panic", "an answer"},
	}
}

func builds[M adk.MessageType](tools ...tool.BaseTool) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		return trying(func() string {
			_, err := s.build(tools, false)
			return failure(err)
		})
	}
}

// hooksOn calls the hook by hand, and says which tools it shows.
func hooksOn[M adk.MessageType](state *adk.TypedChatModelAgentState[M]) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		h := s.mustBuild(t, simples("a1")...)
		return trying(func() string {
			own := state
			if state != nil {
				c := *state
				own = &c
			}
			_, next, err := h.BeforeModelRewriteState(context.Background(), own, nil)
			require.NoError(t, err)
			if next == nil || len(next.ToolInfos) == 0 {
				return "no tools"
			}
			return strings.Join(adktest.Names(next.ToolInfos), ",")
		})
	}
}

func nilArgument[M adk.MessageType](t *testing.T, s side[M]) string {
	search := searchToolOf(t, s.mustBuildNative(t, simples("a1")...)).(tool.EnhancedInvokableTool)
	return trying(func() string {
		res, err := search.InvokableRun(context.Background(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, res.Parts)
		return "an answer"
	})
}

func sharingScenarios() []scenario {
	return []scenario{
		{"TS-14", "the caller's slice changes after New", slicesChange[*schema.Message], slicesChange[*schema.AgenticMessage], "0:tool_search,intruder", "0:tool_search"},
		{"TS-15", "a handler edits the description of a loaded tool", editsInfo[*schema.Message], editsInfo[*schema.AgenticMessage],
			"the edit is seen in another run", "the edit is seen in its run only"},
		{"TS-32", "the hook is called by hand", handsIn[*schema.Message], handsIn[*schema.AgenticMessage], "the state handed in is changed", "the state handed in is as it was"},
		{"TS-31", "what is kept in the run", keepsInRun[*schema.Message], keepsInRun[*schema.AgenticMessage], "__toolsearch_initialized__", "__leanctx_toolsearch_visible__"},
	}
}

func slicesChange[M adk.MessageType](t *testing.T, s side[M]) string {
	tools := simples("a1", "a2")
	h := s.mustBuild(t, tools...)
	tools[0] = adktest.Simple("intruder", "")
	tr := s.run(ask[M](), nil, nil, h)
	require.NoError(t, tr.Err)
	return tr.tools()
}

func handsIn[M adk.MessageType](t *testing.T, s side[M]) string {
	state := &adk.TypedChatModelAgentState[M]{Messages: ask[M](), ToolInfos: []*schema.ToolInfo{{Name: "own"}, {Name: "tool_search"}, {Name: "a1"}}}
	_, next, err := s.mustBuild(t, simples("a1")...).BeforeModelRewriteState(context.Background(), state, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"own", "tool_search"}, adktest.Names(next.ToolInfos))
	require.Len(t, next.Messages, 2)
	if len(state.Messages) == 1 && len(state.ToolInfos) == 3 {
		return "the state handed in is as it was"
	}
	return "the state handed in is changed"
}

// rewriting is a handler that changes the state before each model call.
type rewriting[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	rewrite func(context.Context, *adk.TypedChatModelAgentState[M])
}

func (r rewriting[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r.rewrite(ctx, state)
	return ctx, state, nil
}

func editsInfo[M adk.MessageType](t *testing.T, s side[M]) string {
	h := s.mustBuild(t, simples("a1")...)
	edit := rewriting[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
		for _, i := range state.ToolInfos {
			if i.Name == "a1" {
				i.Desc = "edited"
			}
		}
	}}
	turns := []adktest.Turn{adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1"))}
	desc := func(w adktest.Wire[M]) string {
		for _, i := range w.Tools {
			if i.Name == "a1" {
				return i.Desc
			}
		}
		return ""
	}
	first := s.run(ask[M](), nil, turns, h, edit)
	require.NoError(t, first.Err)
	require.Equal(t, "edited", desc(first.wires[1]))
	require.Equal(t, "edited", desc(first.wires[2]))
	then := s.run(ask[M](), nil, turns, h)
	require.NoError(t, then.Err)
	if desc(then.wires[1]) == "edited" {
		return "the edit is seen in another run"
	}
	return "the edit is seen in its run only"
}

func keepsInRun[M adk.MessageType](t *testing.T, s side[M]) string {
	var kept []string
	look := rewriting[M]{rewrite: func(ctx context.Context, _ *adk.TypedChatModelAgentState[M]) {
		for _, key := range []string{"__toolsearch_initialized__", "__leanctx_toolsearch_visible__"} {
			if _, ok, err := adk.GetRunLocalValue(ctx, key); err == nil && ok {
				kept = append(kept, key)
			}
		}
	}}
	require.NoError(t, s.run(ask[M](), nil, nil, s.mustBuild(t, simples("a1")...), look).Err)
	return strings.Join(kept, ",")
}

func checkpointScenarios() []scenario {
	return []scenario{
		{"TS-33", "what a provider's own search left in a message", leftBySearch, nil, "the adapter's type", "text"},
		{"TS-16", "a checkpoint of native search over 300 tools", checkpointSize[*schema.Message], checkpointSize[*schema.AgenticMessage], "holds the definitions", "holds no definition"},
		{"TS-16", "a loaded tool with nested annotations", nestedExtra[*schema.Message], nestedExtra[*schema.AgenticMessage], "cannot be saved", "saved, and the run goes on"},
		{"M-02", "a resume with other tools", resumesWithOthers[*schema.Message], resumesWithOthers[*schema.AgenticMessage],
			"1 reminder: a1,gone shows tool_search,a1,gone", "1 reminder: a1,new shows tool_search,a1"},
		{"M-02", "a resume with another description", resumesWithWords[*schema.Message], resumesWithWords[*schema.AgenticMessage], "old words", "new words"},
	}
}

// leftBySearch asks what the state holds after a model call in which the provider searched.
func leftBySearch(t *testing.T, s side[*schema.Message]) string {
	type event struct{ Name string }
	m := adktest.Assistant[*schema.Message]("found")
	m.Extra = map[string]any{"_eino_claude_tool_search_events": []event{{"a1"}}}
	state := &adk.ChatModelAgentState{Messages: []*schema.Message{m}}
	_, next, err := s.mustBuildNative(t, simples("a1")...).AfterModelRewriteState(context.Background(), state, nil)
	require.NoError(t, err)
	require.IsType(t, []event{}, m.Extra["_eino_claude_tool_search_events"], "the message itself is as it was")
	if _, is := next.Messages[0].Extra["_eino_claude_tool_search_events"].(string); is {
		return "text"
	}
	return "the adapter's type"
}

// waits is what a tool does that interrupts the run once.
func waits(ctx context.Context, args string) (string, error) {
	if was, _, _ := tool.GetInterruptState[any](ctx); !was {
		return "", tool.Interrupt(ctx, "wait")
	}
	return "resumed with " + args, nil
}

// interrupts runs an agent until one of its tools interrupts it. The returned function
// makes another agent go on from the checkpoint.
func (s side[M]) interrupts(t *testing.T, a adktest.Agent[M], turns ...adktest.Turn) (trial[M], *adktest.Store, func(adktest.Agent[M]) trial[M]) {
	t.Helper()
	store, ctx := &adktest.Store{}, context.Background()
	a.Store, a.Streaming, a.Model = store, s.streaming, adktest.Script[M](turns...)
	out := a.Run(ctx, ask[M](), adk.WithCheckPointID("c"))
	return trial[M]{out, a.Model.Wires()}, store, func(b adktest.Agent[M]) trial[M] {
		b.Store, b.Streaming, b.Model = store, s.streaming, adktest.Script[M]()
		r, err := b.Runner(ctx)
		require.NoError(t, err)
		it, err := r.Resume(ctx, "c")
		require.NoError(t, err)
		return trial[M]{adktest.Collect(it), b.Model.Wires()}
	}
}

func checkpointSize[M adk.MessageType](t *testing.T, s side[M]) string {
	tools := append(simples(numbered(300)...), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, waits))
	a := adktest.Agent[M]{Tools: simples("own"), Handlers: adktest.Handlers(s.mustBuildNative(t, tools...))}
	tr, store, resume := s.interrupts(t, a, adktest.Do(searchFor("1", "waits")), adktest.Do(callOf("2", "waits")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	saved, _, _ := store.Get(context.Background(), "c")
	after := resume(a)
	require.NoError(t, after.Err)
	require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
	require.Len(t, after.wires[0].Deferred, 301)
	if strings.Count(string(saved), "any value") >= 300 {
		return "holds the definitions"
	}
	return "holds no definition"
}

func nestedExtra[M adk.MessageType](t *testing.T, s side[M]) string {
	info := &schema.ToolInfo{Name: "waits", Extra: map[string]any{"annotations": map[string]any{"title": map[string]any{"en": "Waits"}}, "plain": "kept"}}
	a := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, adktest.Tool(adktest.Invokable, info, waits)))}
	tr, _, resume := s.interrupts(t, a, adktest.Do(searchFor("1", "waits")), adktest.Do(callOf("2", "waits")))
	require.Contains(t, info.Extra, "annotations", "the tool's own info is not touched")
	if tr.Err != nil {
		require.ErrorContains(t, tr.Err, "gob")
		return "cannot be saved"
	}
	require.NotNil(t, tr.Interrupted)
	after := resume(a)
	require.NoError(t, after.Err)
	require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
	require.Equal(t, map[string]any{"plain": "kept"}, after.wires[0].Tools[1].Extra)
	return "saved, and the run goes on"
}

func resumesWithOthers[M adk.MessageType](t *testing.T, s side[M]) string {
	agent := func(names ...string) adktest.Agent[M] {
		tools := append([]tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "a1"}, waits)}, simples(names...)...)
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, tools...))}
	}
	tr, _, resume := s.interrupts(t, agent("gone"), adktest.Do(searchFor("1", "select:a1,gone")), adktest.Do(callOf("2", "a1")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	after := resume(agent("new"))
	require.NoError(t, after.Err)
	require.Equal(t, `resumed with {"value":"x"}`, after.result("2"))
	return fmt.Sprintf("%s shows %s", announced(after.wires[0]), strings.Join(after.wires[0].ToolNames, ","))
}

func resumesWithWords[M adk.MessageType](t *testing.T, s side[M]) string {
	agent := func(words string) adktest.Agent[M] {
		return adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "a1", Desc: words}, waits)))}
	}
	tr, _, resume := s.interrupts(t, agent("old words"), adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1")))
	require.NoError(t, tr.Err)
	after := resume(agent("new words"))
	require.NoError(t, after.Err)
	return after.wires[0].Tools[1].Desc
}

func TestTS13_NothingThatIsNilPanics(t *testing.T)                     { playAll(t, "TS-13") }
func TestTS14_TheCallersSliceIsItsOwn(t *testing.T)                    { playAll(t, "TS-14") }
func TestTS15_AnEditOfAnInfoStaysInItsRun(t *testing.T)                { playAll(t, "TS-15") }
func TestTS16_CheckpointsAreSmallAndCanBeSaved(t *testing.T)           { playAll(t, "TS-16") }
func TestTS31_WhatIsKeptInARun(t *testing.T)                           { playAll(t, "TS-31") }
func TestTS32_TheStateIsNotChangedInPlace(t *testing.T)                { playAll(t, "TS-32") }
func TestTS33_WhatAProvidersSearchLeftCanBeSaved(t *testing.T)         { playAll(t, "TS-33") }
func TestM02_AResumeWithOtherToolsShowsAndAnnouncesThose(t *testing.T) { playAll(t, "M-02") }
