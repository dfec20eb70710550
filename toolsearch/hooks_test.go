// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The hooks of the middleware, called by Eino and by hand.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

func TestBeforeAgent_WithoutRunContextDoesNothing(t *testing.T) {
	ctx := context.Background()
	m, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("a", "b")}})
	require.NoError(t, err)
	next, rc, err := m.BeforeAgent(ctx, nil)
	require.NoError(t, err)
	require.Nil(t, rc)
	require.Equal(t, ctx, next)
}

// Who calls the hooks by hand may use one state all along.
func TestBeforeModelRewriteState_AcceptsSameStateAgain(t *testing.T) {
	adktest.Both(t, testBeforeModelRewriteStateAcceptsSameStateAgain[*schema.Message], testBeforeModelRewriteStateAcceptsSameStateAgain[*schema.AgenticMessage])
}

func testBeforeModelRewriteStateAcceptsSameStateAgain[M adk.MessageType](t *testing.T, streaming bool) {
	h := newHandler[M](t, &toolsearch.Config{DynamicTools: simpleTools("a1")})
	rc := &einorun.RunContext{}
	ctx, err := einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	state := &adk.TypedChatModelAgentState[M]{Messages: userRequest[M]()}
	for _, tl := range rc.Tools {
		info, err := tl.Info(ctx)
		require.NoError(t, err)
		state.ToolInfos = append(state.ToolInfos, info)
	}
	_, state, err = h.BeforeModelRewriteState(ctx, state, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"tool_search"}, adktest.Names(state.ToolInfos))
	state.Messages = append(state.Messages, adktest.Assistant[M]("", searchCall("1", "a1")), adktest.Result[M]("1", "tool_search", `{"matches":["a1"]}`))
	_, state, err = h.BeforeModelRewriteState(ctx, state, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"tool_search", "a1"}, adktest.Names(state.ToolInfos))
}

func TestBeforeModelRewriteState_CopiesState_TS32(t *testing.T) {
	playAll(t, scenariosTS32())
}

func scenariosTS32() []scenario {
	return []scenario{
		{"TS-32", "the hook is called by hand", handsIn[*schema.Message], handsIn[*schema.AgenticMessage], "the state handed in is changed", "the state handed in is as it was"},
	}
}

func handsIn[M adk.MessageType](t *testing.T, s implementation[M]) string {
	state := &adk.TypedChatModelAgentState[M]{Messages: userRequest[M](), ToolInfos: []*schema.ToolInfo{{Name: "own"}, {Name: "tool_search"}, {Name: "a1"}}}
	_, next, err := s.mustBuild(t, simpleTools("a1")...).BeforeModelRewriteState(context.Background(), state, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"own", "tool_search"}, adktest.Names(next.ToolInfos))
	require.Len(t, next.Messages, 2)
	if len(state.Messages) == 1 && len(state.ToolInfos) == 3 {
		return "the state handed in is as it was"
	}
	return "the state handed in is changed"
}

func TestBeforeModelRewriteState_InfoEditsStayInRun_TS15(t *testing.T) {
	playAll(t, scenariosTS15())
}

func scenariosTS15() []scenario {
	return []scenario{
		{"TS-15", "a handler edits the description of a loaded tool", editsInfo[*schema.Message], editsInfo[*schema.AgenticMessage],
			"the edit is seen in another run", "the edit is seen in its run only"},
	}
}

func editsInfo[M adk.MessageType](t *testing.T, s implementation[M]) string {
	h := s.mustBuild(t, simpleTools("a1")...)
	edit := stateRewriter[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
		for _, i := range state.ToolInfos {
			if i.Name == "a1" {
				i.Desc = "edited"
			}
		}
	}}
	turns := []adktest.Turn{adktest.Do(searchCall("1", "a1")), adktest.Do(toolCall("2", "a1"))}
	desc := func(w adktest.Wire[M]) string {
		for _, i := range w.Tools {
			if i.Name == "a1" {
				return i.Desc
			}
		}
		return ""
	}
	first := s.run(userRequest[M](), nil, turns, h, edit)
	require.NoError(t, first.Err)
	require.Equal(t, "edited", desc(first.wires[1]))
	require.Equal(t, "edited", desc(first.wires[2]))
	then := s.run(userRequest[M](), nil, turns, h)
	require.NoError(t, then.Err)
	if desc(then.wires[1]) == "edited" {
		return "the edit is seen in another run"
	}
	return "the edit is seen in its run only"
}

func TestHooks_OtherHandlersMayModifyTheirInput(t *testing.T) {
	adktest.Both(t, testHooksOtherHandlersMayModifyTheirInput[*schema.Message], testHooksOtherHandlersMayModifyTheirInput[*schema.AgenticMessage])
}

// testHooksOtherHandlersMayModifyTheirInput runs agents of one instance at once whose handlers write into infos: the
// race detector, or the runtime itself, would tell of a map that two of them share.
func testHooksOtherHandlersMayModifyTheirInput[M adk.MessageType](t *testing.T, streaming bool) {
	js, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"value": {Type: schema.String, Desc: "any"}, "other": {Type: schema.Integer, Desc: "another"},
	}).ToJSONSchema()
	require.NoError(t, err)
	js.Extras = map[string]any{"x-order": 1}
	extra := map[string]any{"a": 1, "nested": map[string]any{"list": []any{"x"}}}
	mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shared", Desc: "A shared tool", Extra: extra, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(js)}, nil)
	before := fmt.Sprint(extra) + providerJSON(must(mine.Info(context.Background())))
	h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: []tool.BaseTool{mine}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			m := adktest.Script[M](oneCall("a", "tool_search", `{"query":"shared"}`), oneCall("b", "shared", `{"value":"x"}`), oneCall("c", "tool_search", `{"query":"shared"}`))
			out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers[M](h, einorun.New(scribbles[M]{}))}.Run(context.Background(), []M{adktest.User[M]("please")})
			if out.Err != nil {
				t.Error(out.Err)
				return
			}
			for _, w := range m.Wires()[1:] {
				if text := providerJSON(w.Tools...); !strings.Contains(text, `"written":true`) {
					t.Errorf("the run's own handler is not heard: %s", text)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, before, fmt.Sprint(extra)+providerJSON(must(mine.Info(context.Background()))), "the user's own info")
	p := adktest.Script[M](oneCall("a", "tool_search", `{"query":"shared"}`))
	require.NoError(t, adktest.Agent[M]{Model: p, Streaming: streaming, Handlers: adktest.Handlers(h)}.Run(context.Background(), []M{adktest.User[M]("please")}).Err)
	later := p.Wires()[1].Tools
	require.NotContains(t, providerJSON(later...), "written")
	require.Equal(t, must(mine.Info(context.Background())).Desc, later[len(later)-1].Desc)
}

// scribbles is a handler that writes into everything which the tool lists reach.
type scribbles[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (s scribbles[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	for _, t := range rc.Tools {
		if info, err := t.Info(ctx); err == nil && info.Extra != nil {
			info.Extra["seen"] = true
			info.Extra["nested"].(map[string]any)["seen"] = true
			info.Extra["nested"].(map[string]any)["list"].([]any)[0] = "seen"
			info.Desc += "!"
		}
	}
	return ctx, nil
}

func (s scribbles[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	for _, info := range state.ToolInfos {
		scribble(info)
	}
	return ctx, state, nil
}

func scribble(info *schema.ToolInfo) {
	if info.Extra == nil {
		return
	}
	info.Extra["written"] = true
	if nested, ok := info.Extra["nested"].(map[string]any); ok {
		nested["written"] = true
		if list, ok := nested["list"].([]any); ok {
			list[0] = "written"
		}
	}
	js, err := info.ToJSONSchema()
	if err != nil || js == nil || js.Properties == nil {
		return
	}
	for p := js.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value.Description = "written"
	}
	js.Properties.Delete("value")
	if js.Extras != nil {
		js.Extras["x-written"] = true
	}
}

func TestHooks_EarlierHandlersSeeNoHiddenTools_TS08(t *testing.T) {
	bothSides(t, testHooksEarlierHandlersSeeNoHiddenTools[*schema.Message], testHooksEarlierHandlersSeeNoHiddenTools[*schema.AgenticMessage])
}

// testHooksEarlierHandlersSeeNoHiddenTools asks a handler before this one what it is shown in the second model call:
// Eino's core fills a list that is nil with all tools.
func testHooksEarlierHandlersSeeNoHiddenTools[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for s, want := range map[*implementation[M]]string{&eino: "tool_search,a1,a2", &ours: ""} {
		var seen string
		look := stateRewriter[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			seen = strings.Join(adktest.Names(state.ToolInfos), ",")
		}}
		tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(searchCall("1", "a1"))}, look, s.mustBuildNative(t, simpleTools("a1", "a2")...))
		require.NoError(t, tr.Err)
		require.Equal(t, want, seen, s.name)
	}
}

func TestHooks_RetriedModelCallShowsSameTools(t *testing.T) {
	bothSides(t, testHooksRetriedModelCallShowsSameTools[*schema.Message], testHooksRetriedModelCallShowsSameTools[*schema.AgenticMessage])
}

// testHooksRetriedModelCallShowsSameTools lets model calls fail: with a retry, and with another model instead.
func testHooksRetriedModelCallShowsSameTools[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	failed := errors.New("overloaded")
	turns := []adktest.Turn{{Err: failed}, adktest.Do(searchCall("1", "a1")), {Err: failed}, adktest.Do(toolCall("2", "a1")), adktest.Say("done")}
	for _, s := range []implementation[M]{eino, ours} {
		retry := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, simpleTools("a1", "a2")...)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ModelRetryConfig = &adk.TypedModelRetryConfig[M]{MaxRetries: 2, BackoffFunc: func(context.Context, int) time.Duration { return 0 }}
		}}
		tr := s.runAgent(retry, userRequest[M](), turns...)
		const all = "0:tool_search 1:tool_search 2:tool_search,a1 3:tool_search,a1 4:tool_search,a1"
		require.Equal(t, all, tr.tools(), s.name)
		require.Equal(t, "done", tr.Answer())

		spare := adktest.Script[M](turns[1], turns[3], turns[4])
		over := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, simpleTools("a1", "a2")...)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ModelFailoverConfig = &adk.ModelFailoverConfig[M]{MaxRetries: 1, ShouldFailover: func(context.Context, M, error) bool { return true },
				GetFailoverModel: func(context.Context, *adk.FailoverContext[M]) (model.BaseModel[M], []M, error) {
					return spare, nil, nil
				}}
		}}
		tr = s.runAgent(over, userRequest[M](), turns[0])
		require.Equal(t, "done", tr.Answer(), s.name)
		require.Equal(t, "0:tool_search 1:tool_search,a1 2:tool_search,a1", runResult[M]{wires: spare.Wires()}.tools())
	}
}

func TestHooks_EmptyResultsAreReported_X12(t *testing.T) {
	playAll(t, scenariosX12())
}

func scenariosX12() []scenario {
	return []scenario{
		{"X-12", "a tool that returns nothing", readsEmpty[*schema.Message], readsEmpty[*schema.AgenticMessage], `""`, `"(no output)"`},
		{"X-12", "a tool that streams nothing", streamsNothing[*schema.Message], streamsNothing[*schema.AgenticMessage], "an error ends the run after 1 requests", "an answer after 2 requests"},
	}
}

// readsEmpty says what the model reads of a result that is empty.
func readsEmpty[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.run(searchedHistory(adktest.Result[M]("1", "own", "")), simpleTools("own"), nil, s.mustBuild(t, simpleTools("get_weather")...))
	require.NoError(t, tr.Err)
	return fmt.Sprintf("%q", tr.result("1"))
}

// silentStream is a tool that streams no chunk.
type silentStream struct{ tool.BaseTool }

func (silentStream) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return schema.StreamReaderFromArray[string](nil), nil
}

// streamsNothing says how a run ends whose tool streams no chunk.
func streamsNothing[M adk.MessageType](t *testing.T, s implementation[M]) string {
	own := silentStream{simpleTools("own")[0]}
	return s.run(userRequest[M](), []tool.BaseTool{own}, []adktest.Turn{adktest.Do(toolCall("1", "own"))}, s.mustBuild(t, simpleTools("get_weather")...)).ended()
}
