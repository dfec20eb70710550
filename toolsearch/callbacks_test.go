// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Callbacks for hidden tools.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// Callbacks are told of hidden tools as of any other, also of those that a model runs with call_tool.
func TestCallbacks_SeeHiddenTools(t *testing.T) {
	for _, c := range []struct {
		name     string
		protocol toolsearch.Protocol
		turns    []adktest.Turn
		want     string
	}{
		{"called directly", toolsearch.Keyword, []adktest.Turn{oneCall("a", "tool_search", `{"query":"select:t"}`), oneCall("b", "t", `{}`)},
			"tool_search/metaTool start, tool_search/metaTool end, t/%[1]s start, t/%[1]s end"},
		{"stopped by the gate", toolsearch.Keyword, []adktest.Turn{oneCall("b", "t", `{}`)}, "t/%[1]s start, t/%[1]s end"},
		{"through call_tool", toolsearch.SearchCall, []adktest.Turn{oneCall("b", "call_tool", `{"name":"t"}`)},
			"t/%[1]s start, t/%[1]s end"},
	} {
		for form, f := range adktest.Forms {
			t.Run(c.name+"/"+form, func(t *testing.T) {
				tools := []tool.BaseTool{adktest.Tool(f, &schema.ToolInfo{Name: "t", Desc: "d"}, nil)}
				own := toldBy(t, tools[0])
				s := newScene[*schema.Message](t, strings.Contains(form, "streamable"), c.protocol)
				s.cfg.DynamicTools = tools
				require.Equal(t, fmt.Sprintf(c.want, own), callbacksOf(t, s, c.turns...))
			})
		}
	}
}

// toldBy is the type under which Eino itself tells callbacks of a tool.
func toldBy(t *testing.T, own tool.BaseTool) string {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.mine = []tool.BaseTool{own}
	typ, _, _ := strings.Cut(strings.TrimPrefix(callbacksOf(t, s, oneCall("a", "t", `{}`)), "t/"), " ")
	return typ
}

// callbacksOf is what callbacks are told of tools.
func callbacksOf(t *testing.T, s scene[*schema.Message], turns ...adktest.Turn) string {
	var mu sync.Mutex
	var seen []string
	note := func(info *callbacks.RunInfo, what string) {
		if info.Component == components.ComponentOfTool {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, info.Name+"/"+info.Type+" "+what)
		}
	}
	h := callbacks.NewHandlerBuilder().
		OnStartFn(func(ctx context.Context, info *callbacks.RunInfo, _ callbacks.CallbackInput) context.Context {
			note(info, "start")
			return ctx
		}).
		OnEndFn(func(ctx context.Context, info *callbacks.RunInfo, _ callbacks.CallbackOutput) context.Context {
			note(info, "end")
			return ctx
		}).
		OnEndWithStreamOutputFn(func(ctx context.Context, info *callbacks.RunInfo, s *schema.StreamReader[callbacks.CallbackOutput]) context.Context {
			s.Close()
			note(info, "end")
			return ctx
		}).Build()
	agent, _ := s.agent(turns...)
	require.NoError(t, agent.Run(context.Background(), []*schema.Message{schema.UserMessage("please")}, adk.WithCallbacks(h)).Err)
	return strings.Join(seen, ", ")
}

// A handler that wraps hidden tools once more, without a word on callbacks, does not make
// callbacks go wrong.
func TestCallbacks_SeeWrappedHiddenTools(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.behind = adktest.Handlers[*schema.Message](einorun.New(&wraps{}))
	require.Contains(t, callbacksOf(t, s, oneCall("a", "weather__get_forecast", `{}`)), "weather__get_forecast/wrapped start")
}

type wraps struct {
	adk.BaseChatModelAgentMiddleware
}

func (*wraps) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	tools := rc.Tools
	rc.Tools = nil
	for _, x := range tools {
		if inner, ok := x.(tool.InvokableTool); ok {
			x = wrapped{inner}
		}
		rc.Tools = append(rc.Tools, x)
	}
	return ctx, nil
}

type wrapped struct{ tool.InvokableTool }

func TestCallbacks_SelfReportingToolsAreReportedOnce(t *testing.T) {
	const once = "t/selfMade start, t/selfMade end"
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.AllowUnloadedCalls = []tool.BaseTool{selfMade{}}, true
	require.Equal(t, once, callbacksOf(t, s, oneCall("a", "t", `{}`)))
	s.cfg.AllowUnloadedCalls = false
	require.Equal(t, once, callbacksOf(t, s, oneCall("a", "t", `{}`)), "stopped by the gate")
	s.cfg.Protocol = toolsearch.SearchCall
	require.Equal(t, once, callbacksOf(t, s, oneCall("a", "call_tool", `{"name":"t"}`)))
}

// selfMade tells callbacks by itself.
type selfMade struct{}

func (selfMade) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "t", Desc: "d"}, nil
}

func (selfMade) IsCallbacksEnabled() bool { return true }

func (selfMade) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	ctx = callbacks.OnStart(ctx, args)
	callbacks.OnEnd(ctx, "done")
	return "done", nil
}
