// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file gives the runs of one instance tools that look the same and are not: what is
// asked about, shown and called is the run's own, and nothing is shared between runs.

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// brings is a handler that brings tools of its own into each run.
type brings[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	tools func(context.Context) []tool.BaseTool
}

func (b brings[M]) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	next := *rc
	next.Tools = append(append([]tool.BaseTool(nil), rc.Tools...), b.tools(ctx)...)
	return ctx, &next, nil
}

type ownerKey struct{}

func owner(ctx context.Context) string { s, _ := ctx.Value(ownerKey{}).(string); return s }

// ofOwner is a tool that differs from another owner's in Extra alone.
func ofOwner(name string) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "reset", Desc: "Resets everything", Extra: map[string]any{
		"owner": name, "defer_loading": true, "nested": map[string]any{"list": []any{name}},
	}}, func(context.Context, string) (string, error) { return "reset by " + name, nil })
}

func TestEachRunIsAskedAboutItsOwnTools(t *testing.T) {
	everywhere(t, asksAboutOwn[*schema.Message], asksAboutOwn[*schema.AgenticMessage])
}

func asksAboutOwn[M adk.MessageType](t *testing.T, streaming bool) {
	for name, hide := range map[string]func(*toolsearch.Config){
		"SearchableTools":  func(c *toolsearch.Config) { c.SearchableTools = []string{"reset"} },
		"DeferMarkedTools": func(c *toolsearch.Config) { c.DeferMarkedTools = true },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := toolsearch.Config{Filter: func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
				return r.Tool.Extra["owner"] != "guest", nil
			}}
			hide(&cfg)
			h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
			require.NoError(t, err)
			for i, user := range []string{"root", "guest", "staff", "root"} {
				ctx := context.WithValue(context.Background(), ownerKey{}, user)
				m := adktest.Script[M](do("a", "tool_search", `{"query":"select:reset"}`), do("b", "reset", `{}`))
				out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers[M](
					brings[M]{tools: func(ctx context.Context) []tool.BaseTool { return []tool.BaseTool{ofOwner(owner(ctx))} }}, h,
				)}.Run(ctx, []M{adktest.User[M]("please")})
				p := played[M]{Outcome: out}
				require.NoError(t, out.Err)
				if user == "guest" {
					require.Contains(t, p.answer(t, "b"), `There is no tool named "reset".`, "run %d", i)
					require.Equal(t, []string{"tool_search"}, m.Wires()[1].ToolNames)
					continue
				}
				require.Equal(t, "reset by "+user, p.answer(t, "b"), "run %d", i)
				tools := m.Wires()[1].Tools
				require.Equal(t, user, tools[len(tools)-1].Extra["owner"], "run %d", i)
			}
		})
	}
}

// A tool of a run that is over can be collected, whatever the instance remembers.
func TestToolsOfAnEarlierRunAreLetGo(t *testing.T) {
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DeferMarkedTools: true, NewIndex: toolsearch.BM25Index})
	require.NoError(t, err)
	type held struct{ text string }
	run := func() weak.Pointer[held] {
		x := &held{"something large"}
		mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "reset", Desc: "Resets everything", Extra: map[string]any{"defer_loading": true}},
			func(context.Context, string) (string, error) { return x.text, nil })
		out := adktest.Agent[*schema.Message]{
			Model: adktest.Script[*schema.Message](do("a", "tool_search", `{"query":"resets"}`), do("b", "reset", `{}`)),
			Tools: []tool.BaseTool{mine}, Handlers: adktest.Handlers(h),
		}.Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
		require.NoError(t, out.Err)
		return weak.Make(x)
	}
	first := run()
	run()
	require.Eventually(t, func() bool { runtime.GC(); return first.Value() == nil }, finalizing, finalizing/500, "a run that is over holds on")
}

// scribbles is a handler that writes into everything which the tool lists reach.
type scribbles[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (s scribbles[M]) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	for _, t := range rc.Tools {
		if info, err := t.Info(ctx); err == nil && info.Extra != nil {
			info.Extra["seen"] = true
			info.Extra["nested"].(map[string]any)["seen"] = true
			info.Extra["nested"].(map[string]any)["list"].([]any)[0] = "seen"
			info.Desc += "!"
		}
	}
	return ctx, rc, nil
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

func TestHandlersMayWriteIntoWhatTheyAreShown(t *testing.T) {
	everywhere(t, handlersWrite[*schema.Message], handlersWrite[*schema.AgenticMessage])
}

// handlersWrite runs agents of one instance at once whose handlers write into infos: the
// race detector, or the runtime itself, would tell of a map that two of them share.
func handlersWrite[M adk.MessageType](t *testing.T, streaming bool) {
	js, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"value": {Type: schema.String, Desc: "any"}, "other": {Type: schema.Integer, Desc: "another"},
	}).ToJSONSchema()
	require.NoError(t, err)
	js.Extras = map[string]any{"x-order": 1}
	extra := map[string]any{"a": 1, "nested": map[string]any{"list": []any{"x"}}}
	mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shared", Desc: "A shared tool", Extra: extra, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(js)}, nil)
	before := fmt.Sprint(extra) + onWire(must(mine.Info(context.Background())))
	h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: []tool.BaseTool{mine}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			m := adktest.Script[M](do("a", "tool_search", `{"query":"shared"}`), do("b", "shared", `{"value":"x"}`), do("c", "tool_search", `{"query":"shared"}`))
			out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers[M](h, scribbles[M]{})}.Run(context.Background(), []M{adktest.User[M]("please")})
			if out.Err != nil {
				t.Error(out.Err)
				return
			}
			for _, w := range m.Wires()[1:] {
				if text := onWire(w.Tools...); !strings.Contains(text, `"written":true`) {
					t.Errorf("the run's own handler is not heard: %s", text)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, before, fmt.Sprint(extra)+onWire(must(mine.Info(context.Background()))), "the user's own info")
	p := adktest.Script[M](do("a", "tool_search", `{"query":"shared"}`))
	require.NoError(t, adktest.Agent[M]{Model: p, Streaming: streaming, Handlers: adktest.Handlers(h)}.Run(context.Background(), []M{adktest.User[M]("please")}).Err)
	later := p.Wires()[1].Tools
	require.NotContains(t, onWire(later...), "written")
	require.Equal(t, must(mine.Info(context.Background())).Desc, later[len(later)-1].Desc)
}
