// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What call_tool runs, refuses, and passes on.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

func TestCallToolRunsToolsOfEveryForm(t *testing.T) {
	everywhere(t, callsEveryForm[*schema.Message], callsEveryForm[*schema.AgenticMessage])
}

func callsEveryForm[M adk.MessageType](t *testing.T, streaming bool) {
	for form, f := range adktest.Forms {
		for _, others := range []adktest.Form{adktest.Invokable, adktest.Enhanced} {
			t.Run(fmt.Sprintf("%s beside %d", form, others), func(t *testing.T) {
				s := on[M](t, streaming, toolsearch.SearchCall)
				s.cfg.DynamicTools = []tool.BaseTool{
					adktest.Tool(f, &schema.ToolInfo{Name: "t", Desc: "d"}, nil),
					adktest.Tool(others, &schema.ToolInfo{Name: "other", Desc: "d"}, nil),
				}
				p := s.begin(do("a", "call_tool", `{"name":"t","arguments":{"x":[1,{"y":null}]}}`), do("b", "call_tool", `{"name":"nope"}`))
				require.Equal(t, `echo {"x":[1,{"y":null}]}`, p.answer(t, "a"))
				require.Contains(t, p.answer(t, "b"), `There is no tool named "nope"`)
			})
		}
	}
}

// both runs as a stream and at once, and says which.
type both struct{ info *schema.ToolInfo }

func (b both) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

func (b both) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "invoked", nil
}

func (b both) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return schema.StreamReaderFromArray([]string{"stre", "amed"}), nil
}

type enhancedBoth struct{ info *schema.ToolInfo }

func (b enhancedBoth) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

func (b enhancedBoth) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return textParts("invoked"), nil
}

func (b enhancedBoth) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderFromArray([]*schema.ToolResult{textParts("stre"), textParts("amed")}), nil
}

func textParts(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

// Directly called and under call_tool alike, a tool of two forms runs in the one that Eino
// chooses.
func TestToolsOfTwoFormsRunInTheOneThatEinoChooses(t *testing.T) {
	everywhere(t, runsInTheChosenForm[*schema.Message], runsInTheChosenForm[*schema.AgenticMessage])
}

func runsInTheChosenForm[M adk.MessageType](t *testing.T, streaming bool) {
	want := map[bool]string{false: "invoked", true: "streamed"}[streaming]
	for name, two := range map[string]tool.BaseTool{
		"plain": both{&schema.ToolInfo{Name: "t", Desc: "d"}}, "enhanced": enhancedBoth{&schema.ToolInfo{Name: "t", Desc: "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := on[M](t, streaming, toolsearch.Keyword)
			s.cfg.DynamicTools = []tool.BaseTool{two}
			require.Equal(t, want, s.begin(do("a", "tool_search", `{"query":"select:t"}`), do("b", "t", `{}`)).answer(t, "b"))
			s.cfg.Protocol = toolsearch.SearchCall
			require.Equal(t, want, s.begin(do("b", "call_tool", `{"name":"t"}`)).answer(t, "b"))
		})
	}
}

func TestCallToolChecksArguments(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"arguments that fit run the tool", `{"name":"github__create_issue","arguments":{"title":"a","votes":3}}`, `github__create_issue got {"title":"a","votes":3}`},
		{"arguments as text run the tool", `{"name":"github__create_issue","arguments":"{\"title\":\"a\"}"}`, `github__create_issue got {"title":"a"}`},
		{"other keys are understood", `{"Tool_Name":"github__create_issue","Parameters":{"title":"a"}}`, `github__create_issue got {"title":"a"}`},
		{"the name may be written otherwise", `{"name":"GitHub-create-issue","arguments":{"title":"a"}}`, `github__create_issue got {"title":"a"}`},
		{"a missing argument is named", `{"name":"github__create_issue","arguments":{"votes":3}}`, `The arguments do not fit "github__create_issue", which did not run: required: missing properties: ["title"]. Its JSON schema: {"properties"`},
		{"no arguments are an empty object", `{"name":"github__create_issue"}`, `missing properties: ["title"]`},
		{"null is no arguments", `{"name":"github__create_issue","arguments":null}`, `missing properties: ["title"]`},
		{"a wrong type is named", `{"name":"github__create_issue","arguments":{"title":"a","votes":"three"}}`, `validating /properties/votes: type: three has type "string", want "integer"`},
		{"a list is no arguments", `{"name":"github__create_issue","arguments":[1]}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"a number is no arguments", `{"name":"github__create_issue","arguments":7}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"a truth value is no arguments", `{"name":"github__create_issue","arguments":true}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"text that is no object is no arguments", `{"name":"github__create_issue","arguments":"\"a\""}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"broken text is no arguments", `{"name":"github__create_issue","arguments":"{\"title\":"}`, `"arguments" must be a JSON object`},
		{"empty text is no arguments at all", `{"name":"github__create_issue","arguments":" "}`, `missing properties: ["title"]`},
		{"a null where text must be says so", `{"name":"github__create_issue","arguments":{"title":null}}`, `type: null has type "null", want "string"`},
		{"no name", `{"arguments":{}}`, `call_tool needs the "name" of a tool`},
		{"no JSON", `{"name":`, `call_tool needs the "name" of a tool`},
		{"nothing", ``, `call_tool needs the "name" of a tool`},
		{"an unknown name gets near ones", `{"name":"github__create_isue","arguments":{}}`, `There is no tool named "github__create_isue". Nearest names: github__create_issue`},
		{"one of the agent's own tools is none of these", `{"name":"own","arguments":{}}`, `There is no tool named "own"`},
		{"a search tool is none of these", `{"name":"call_tool","arguments":{"name":"call_tool"}}`, `There is no tool named "call_tool"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := on[*schema.Message](t, false, toolsearch.SearchCall).begin(do("a", "call_tool", c.args))
			require.Contains(t, p.answer(t, "a"), c.want)
		})
	}
}

// What was checked is what runs, digit for digit.
func TestCallToolPassesOnWhatItChecked(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"long numbers", `{"name":"t","arguments":{"id":12345678901234567890123,"x":0.10000000000000000555}}`, `echo {"id":12345678901234567890123,"x":0.10000000000000000555}`},
		{"long numbers under another key", `{"name":"t","ARGS":{"id":9007199254740993}}`, `echo {"id":9007199254740993}`},
		{"spaces and order", `{"name":"t","arguments": { "b" : 1 , "a" : 2 } }`, `echo { "b" : 1 , "a" : 2 }`},
		{"the last of two", `{"name":"t","arguments":{"id":"x"},"arguments":{"id":1}}`, `echo {"id":1}`},
		{"the last of two, and only it is checked", `{"name":"t","arguments":{"id":1},"arguments":{"id":"x"}}`, `want "integer"`},
		{"the key in lower case of two", `{"name":"t","arguments":{"id":1},"Arguments":{"id":"x"}}`, `echo {"id":1}`},
		{"escapes", `{"name":"t","arguments":{"text":"\u00e9\n<b>"}}`, `echo {"text":"\u00e9\n<b>"}`},
		{"text as it was written", `{"name":"t","arguments":" {\"id\": 18446744073709551616} "}`, `echo {"id": 18446744073709551616}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := on[*schema.Message](t, false, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "t", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByParams(
				map[string]*schema.ParameterInfo{"id": {Type: schema.Integer}, "text": {Type: schema.String}})}, nil)}
			require.Contains(t, s.begin(do("a", "call_tool", c.args)).answer(t, "a"), c.want)
		})
	}
}

// witness is a middleware that writes down the calls that pass it.
type witness[M adk.MessageType] struct {
	adk.TypedBaseChatModelAgentMiddleware[M]
	mu   sync.Mutex
	seen []string
}

func (w *witness[M]) note(tc *adk.ToolContext, args string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, tc.Name+" "+args)
}

func (w *witness[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		w.note(tc, args)
		text, err := next(ctx, args, opts...)
		return "<" + text + ">", err
	}, nil
}

func (w *witness[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		w.note(tc, args)
		s, err := next(ctx, args, opts...)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderWithConvert(s, func(text string) (string, error) { return "<" + text + ">", nil }), nil
	}, nil
}

// Eino calls the middlewares around call_tool, under its name; the tool that it runs is in
// the arguments.
func TestOtherMiddlewaresSeeCallTool(t *testing.T) {
	everywhere(t, middlewaresSeeCallTool[*schema.Message], middlewaresSeeCallTool[*schema.AgenticMessage])
}

func middlewaresSeeCallTool[M adk.MessageType](t *testing.T, streaming bool) {
	before, after := &witness[M]{}, &witness[M]{}
	s := on[M](t, streaming, toolsearch.SearchCall)
	s.around, s.behind = adktest.Handlers[M](before), adktest.Handlers[M](after)
	const args = `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`
	p := s.begin(do("a", "call_tool", args))
	require.Equal(t, `<<weather__get_forecast got {"city":"Oslo"}>>`, p.answer(t, "a"))
	require.Equal(t, []string{"call_tool " + args}, before.seen)
	require.Equal(t, []string{"call_tool " + args}, after.seen)
}

func TestCallToolReturnsTheToolsError(t *testing.T) {
	everywhere(t, returnsTheError[*schema.Message], returnsTheError[*schema.AgenticMessage])
}

func returnsTheError[M adk.MessageType](t *testing.T, streaming bool) {
	broken := errors.New("the printer is on fire")
	for form, f := range adktest.Forms {
		t.Run(form, func(t *testing.T) {
			s := on[M](t, streaming, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{adktest.Tool(f, &schema.ToolInfo{Name: "t", Desc: "d"}, func(context.Context, string) (string, error) { return "", broken })}
			p := s.try([]M{adktest.User[M]("please")}, do("a", "call_tool", `{"name":"t"}`))
			require.ErrorIs(t, p.Err, broken)
		})
	}
}

type toolOption struct{ word string }

// Options of the run reach a tool whether it is called directly or not.
func TestOptionsReachHiddenTools(t *testing.T) {
	for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		s := on[*schema.Message](t, false, protocol)
		s.cfg.AllowUnloadedCalls = true
		s.cfg.DynamicTools = []tool.BaseTool{optioned{&schema.ToolInfo{Name: "t", Desc: "d"}}}
		turn := map[toolsearch.Protocol]adktest.Turn{
			toolsearch.Keyword: do("a", "t", `{}`), toolsearch.SearchCall: do("a", "call_tool", `{"name":"t"}`),
		}[protocol]
		agent, _ := s.agent(turn)
		out := agent.Run(context.Background(), []*schema.Message{schema.UserMessage("please")},
			adk.WithToolOptions([]tool.Option{tool.WrapImplSpecificOptFn(func(o *toolOption) { o.word = "aloha" })}))
		require.NoError(t, out.Err)
		require.Equal(t, "aloha a", played[*schema.Message]{Outcome: out}.answer(t, "a"))
	}
}

type optioned struct{ info *schema.ToolInfo }

func (o optioned) Info(context.Context) (*schema.ToolInfo, error) { return o.info, nil }

func (o optioned) InvokableRun(ctx context.Context, _ string, opts ...tool.Option) (string, error) {
	return tool.GetImplSpecificOptions(&toolOption{}, opts...).word + " " + compose.GetToolCallID(ctx), nil
}

// Callbacks are told of hidden tools as of any other, also inside call_tool.
func TestCallbacksAreToldOfHiddenTools(t *testing.T) {
	for _, c := range []struct {
		name     string
		protocol toolsearch.Protocol
		turns    []adktest.Turn
		want     string
	}{
		{"called directly", toolsearch.Keyword, []adktest.Turn{do("a", "tool_search", `{"query":"select:t"}`), do("b", "t", `{}`)},
			"tool_search/metaTool start, tool_search/metaTool end, t/%[1]s start, t/%[1]s end"},
		{"stopped by the gate", toolsearch.Keyword, []adktest.Turn{do("b", "t", `{}`)}, "t/%[1]s start, t/%[1]s end"},
		{"through call_tool", toolsearch.SearchCall, []adktest.Turn{do("b", "call_tool", `{"name":"t"}`)},
			"call_tool/%[2]s start, t/%[1]s start, t/%[1]s end, call_tool/%[2]s end"},
	} {
		for form, f := range adktest.Forms {
			t.Run(c.name+"/"+form, func(t *testing.T) {
				tools := []tool.BaseTool{adktest.Tool(f, &schema.ToolInfo{Name: "t", Desc: "d"}, nil)}
				own := toldBy(t, tools[0])
				call := map[bool]string{false: "plainCall", true: "enhancedCall"}[strings.HasPrefix(form, "enhanced")]
				s := on[*schema.Message](t, strings.Contains(form, "streamable"), c.protocol)
				s.cfg.DynamicTools = tools
				require.Equal(t, fmt.Sprintf(c.want, own, call), callbacksOf(t, s, c.turns...))
			})
		}
	}
}

// A handler that wraps hidden tools once more, without a word on callbacks, does not make
// callbacks go wrong.
func TestCallbacksAreToldOfHiddenToolsThatAreWrapped(t *testing.T) {
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.behind = adktest.Handlers[*schema.Message](&wraps{})
	require.Contains(t, callbacksOf(t, s, do("a", "weather__get_forecast", `{}`)), "weather__get_forecast/wrapped start")
}

type wraps struct {
	adk.BaseChatModelAgentMiddleware
}

type wrapped struct{ tool.InvokableTool }

func (*wraps) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	next := *rc
	next.Tools = nil
	for _, x := range rc.Tools {
		next.Tools = append(next.Tools, wrapped{x.(tool.InvokableTool)})
	}
	return ctx, &next, nil
}

// toldBy is the type under which Eino itself tells callbacks of a tool.
func toldBy(t *testing.T, own tool.BaseTool) string {
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.mine = []tool.BaseTool{own}
	typ, _, _ := strings.Cut(strings.TrimPrefix(callbacksOf(t, s, do("a", "t", `{}`)), "t/"), " ")
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
