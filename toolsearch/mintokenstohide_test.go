// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field MinTokensToHide.

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Up to MinTokensToHide, an agent is sent what it is sent without the middleware, by every protocol.
//
//claim:bench-04
func TestMinTokensToHide_FewToolsAreShownUnchanged(t *testing.T) {
	adktest.Both(t, testMinTokensToHideFewToolsAreShownUnchanged[*schema.Message],
		testMinTokensToHideFewToolsAreShownUnchanged[*schema.AgenticMessage])
}

func testMinTokensToHideFewToolsAreShownUnchanged[M adk.MessageType](t *testing.T, streaming bool) {
	turns := []adktest.Turn{oneCall("1", "b", `{"city":"Oslo"}`), adktest.Do(toolCall("2", "c"), toolCall("3", "a"), toolCall("4", "own"))}
	for protocol, set := range waysToSearch[M]() {
		for way, s := range waysToHide[M](t, streaming) {
			set(&s.cfg)
			with := s.begin(turns...)

			plain := adktest.Script[M](turns...)
			tools := append([]tool.BaseTool{adktest.Simple("own", "A tool that is always there")}, s.mine...)
			switch {
			case s.mine == nil:
				tools = append(tools, sized("a", "b", "c")...)
			case s.cfg.DynamicTools != nil: // what was hidden of the agent's own comes last
				tools = append(append(tools[:1:1], sized("b")...), append(sized("last"), sized("a", "c")...)...)
			default:
				tools = []tool.BaseTool{tools[0], s.mine[0], s.mine[2], s.mine[1]}
			}
			out := adktest.Agent[M]{Model: plain, Streaming: streaming, Tools: tools, Handlers: adktest.Handlers[M](einorun.New(&toolCallRecorder[M]{}))}.
				Run(context.Background(), []M{adktest.User[M]("please")})
			require.NoError(t, out.Err)
			without := sceneResult[M]{out, plain.Wires(), nil}
			require.Equal(t, without.text(), with.text(), "%s, %s", protocol, way)
		}
	}
}

// sized are tools of about a hundred tokens each.
func sized(names ...string) (tools []tool.BaseTool) {
	for _, name := range names {
		tools = append(tools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: strings.Repeat("word ", 60), ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"city": {Type: schema.String, Desc: "The city", Required: true},
		})}, nil))
	}
	return tools
}

// waysToHide are configurations that hide the tools, and the agent's own list with them.
func waysToHide[M adk.MessageType](t testing.TB, streaming bool) map[string]scene[M] {
	set, err := toolset.New(context.Background(), sized("a", "b", "c")...)
	require.NoError(t, err)
	ways := map[string]scene[M]{
		"dynamic tools":    {cfg: toolsearch.Config{DynamicTools: sized("a", "b", "c")}},
		"a source":         {cfg: toolsearch.Config{Source: set}},
		"searchable tools": {cfg: toolsearch.Config{SearchableTools: []string{"a", "c"}, DynamicTools: sized("last")}, mine: sized("a", "b", "c")},
		"marked tools":     {cfg: toolsearch.Config{DeferMarkedTools: true}, mine: append(sized("a"), marked("b", true), marked("c", nil))},
	}
	for name, s := range ways {
		s.t, s.streaming, s.cfg.MinTokensToHide = t, streaming, 1000
		ways[name] = s
	}
	return ways
}

// waysToSearch are all ways in which a model of the message type can search.
func waysToSearch[M adk.MessageType]() map[string]func(*toolsearch.Config) {
	all := map[string]func(*toolsearch.Config){"Eino's native": func(c *toolsearch.Config) { c.UseModelToolSearch = true }}
	for p := toolsearch.Keyword; p.String() != "unknown"; p++ {
		all[p.String()] = func(c *toolsearch.Config) { c.Protocol = p }
	}
	adapters := []toolsearch.Adapter{toolsearch.ClaudeHosted, toolsearch.ClaudeClient}
	if _, agentic := any(*new(M)).(*schema.AgenticMessage); agentic {
		adapters = []toolsearch.Adapter{toolsearch.OpenAIHosted, toolsearch.OpenAIClient, toolsearch.AgenticClaudeClient}
	}
	for _, a := range adapters {
		all[string(a)] = func(c *toolsearch.Config) { c.UseModelToolSearch, c.Native = true, a }
	}
	return all
}

// What an earlier run left in the history is as that of an agent without the middleware, and
// a search that the model copies from it is answered.
func TestMinTokensToHide_AnswersSearchWhenNothingIsHidden(t *testing.T) {
	adktest.Both(t, testMinTokensToHideAnswersSearchWhenNothingIsHidden[*schema.Message],
		testMinTokensToHideAnswersSearchWhenNothingIsHidden[*schema.AgenticMessage])
}

func testMinTokensToHideAnswersSearchWhenNothingIsHidden[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, set := range waysToSearch[M]() {
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: sized("a", "b")}}
		set(&s.cfg)
		name := "tool_search"
		if s.cfg.Protocol == toolsearch.SearchLoad {
			name = "search_tools"
		}
		history := []M{adktest.User[M]("please"), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: name, Args: `{"query":"select:a"}`}), adktest.Result[M]("1", name, `{"matches":["a"]}`), adktest.Assistant[M]("done"),
			adktest.User[M]("<available-deferred-tools>\na\nb\n</available-deferred-tools>"), adktest.User[M]("again")}
		s.cfg.MinTokensToHide = 1000
		call := oneCall("3", "b", `{"city":"Oslo"}`)
		if s.cfg.Protocol == toolsearch.SearchCall {
			call = oneCall("3", "call_tool", `{"name":"b","arguments":{"city":"Oslo"}}`)
		}
		p := s.play(history, oneCall("2", name, `{"query":"select:b","regex_pattern":"b"}`), call)
		require.Equal(t, "own a b\nown a b\nown a b", p.tools(), protocol)
		require.Equal(t, `echo {"city":"Oslo"}`, p.answer(t, "3"))
		count, _ := reminders(p.wires[2])
		require.Zero(t, count, protocol)
		require.Nil(t, p.wires[0].ToolSearch, protocol)
		require.NotContains(t, fmt.Sprint(p.Messages), "not found", protocol)
		if s.cfg.Protocol == toolsearch.SearchCall {
			require.Contains(t, p.answer(t, "2"), `"name":"b"`)
		}
	}
}

// A run that shows all tools hides them once they are too many, and goes on hiding when few are left.
//
//claim:mcp-02
func TestMinTokensToHide_KeepsHidingOnceExceeded(t *testing.T) {
	adktest.Both(t, testMinTokensToHideKeepsHidingOnceExceeded[*schema.Message],
		testMinTokensToHideKeepsHidingOnceExceeded[*schema.AgenticMessage])
}

func testMinTokensToHideKeepsHidingOnceExceeded[M adk.MessageType](t *testing.T, streaming bool) {
	few, many := sized("a", "b"), append(sized("a", "b"), sized("late1", "late2", "late3")...)
	for protocol, set := range waysToSearch[M]() {
		for _, begin := range [][]tool.BaseTool{few, many} {
			source := &changingSource{}
			source.have(begin...)
			s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, MinTokensToHide: 300}}
			set(&s.cfg)
			s.mine = []tool.BaseTool{actionTool("grow", func() { source.have(many...) }), actionTool("shrink", func() { source.have(few...) })}
			p := s.begin(oneCall("1", "grow", "{}"), oneCall("2", "shrink", "{}"))
			got := strings.Split(p.tools(), "\n")
			if len(begin) == len(many) {
				for i, w := range p.wires {
					require.NotContains(t, got[i], " a b", "%s, request %d", protocol, i)
					require.NotNil(t, append(w.ToolNames[3:], w.DeferredNames...), protocol)
				}
				continue
			}
			require.Equal(t, "own grow shrink a b", got[0], protocol)
			require.Nil(t, p.wires[0].ToolSearch)
			require.Empty(t, p.wires[0].DeferredNames)
			for i, w := range p.wires[1:] {
				require.NotContains(t, got[i+1], " a b", "%s, request %d", protocol, i+1)
				require.NotNil(t, append(w.ToolNames[3:], w.DeferredNames...), protocol)
			}
		}
	}
}

// Servers that connect late do not make a run show all of their tools.
func TestMinTokensToHide_HidesWhileServersAreMissing(t *testing.T) {
	adktest.Both(t, testMinTokensToHideHidesWhileServersAreMissing[*schema.Message],
		testMinTokensToHideHidesWhileServersAreMissing[*schema.AgenticMessage])
}

func testMinTokensToHideHidesWhileServersAreMissing[M adk.MessageType](t *testing.T, streaming bool) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("t%02d", i))
	}
	for protocol, set := range waysToSearch[M]() {
		source := &late{}
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, MinTokensToHide: 300}}
		set(&s.cfg)
		s.mine = []tool.BaseTool{actionTool("connect", func() {
			source.have(sized(names...)...)
			source.connected.Store(true)
		})}
		p := s.begin(oneCall("1", "connect", "{}"), oneCall("2", "connect", "{}"))
		require.NoError(t, p.Err, protocol)
		for i, w := range p.wires {
			require.NotContains(t, strings.Join(w.ToolNames, " "), "t07", "%s, request %d", protocol, i)
		}
	}
}

// late is a source whose servers connect after the first model call.
type late struct {
	changingSource
	connected atomic.Bool
}

func (l *late) Tools(ctx context.Context) (*toolset.Set, error) {
	set, err := l.changingSource.Tools(ctx)
	if err == nil && !l.connected.Load() {
		err = &toolset.Missing{Servers: []string{"files"}}
	}
	return set, err
}

// An answer names no search tool where there is none.
func TestMinTokensToHide_AnswersNameNoSearchTool(t *testing.T) {
	adktest.Both(t, testMinTokensToHideAnswersNameNoSearchTool[*schema.Message],
		testMinTokensToHideAnswersNameNoSearchTool[*schema.AgenticMessage])
}

func testMinTokensToHideAnswersNameNoSearchTool[M adk.MessageType](t *testing.T, streaming bool) {
	source := &changingSource{}
	source.have(sized("a", "b")...)
	s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, MinTokensToHide: 300}}
	s.mine = []tool.BaseTool{actionTool("shrink", func() { source.have(sized("a")...) })}
	p := s.begin(oneCall("1", "shrink", "{}"), oneCall("2", "b", "{}"))
	require.Contains(t, p.answer(t, "2"), `There is no tool named "b"`)
	require.NotContains(t, strings.ToLower(p.answer(t, "2")), "search")
}

// A resumed run goes on as it was: it shows all, or hides, with the same tools in place.
func TestMinTokensToHide_ResumedRunKeepsDecision(t *testing.T) {
	adktest.Both(t, testMinTokensToHideResumedRunKeepsDecision[*schema.Message],
		testMinTokensToHideResumedRunKeepsDecision[*schema.AgenticMessage])
}

func testMinTokensToHideResumedRunKeepsDecision[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, meta := range map[toolsearch.Protocol]string{toolsearch.Keyword: " tool_search", toolsearch.SearchCall: " tool_search call_tool"} {
		for grown, want := range map[bool]string{false: "own grow pay a b", true: "own grow pay" + meta} {
			store, ctx := &adktest.Store{}, context.Background()
			make := func(tools []tool.BaseTool) (scene[M], *changingSource) {
				source := &changingSource{}
				source.have(tools...)
				s := scene[M]{t: t, streaming: streaming, store: store,
					cfg: toolsearch.Config{Source: source, MinTokensToHide: 300, Protocol: protocol}}
				s.mine = []tool.BaseTool{actionTool("grow", func() {
					if grown {
						source.have(append(sized("a", "b"), sized("c", "d", "e")...)...)
					}
				}), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "pay", Desc: "Pays"}, askApproval)}
				return s, source
			}
			start := sized("a", "b")
			if grown {
				start = append(start, sized("c", "d", "e")...)
			}
			s, _ := make(start)
			agent, _ := s.agent(oneCall("1", "grow", "{}"), oneCall("2", "pay", "{}"))
			first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
			require.NoError(t, first.Err)
			require.NotNil(t, first.Interrupted)

			// Few tools are left when it is resumed: a run that hides goes on hiding.
			s, _ = make(sized("a", "b"))
			agent, m := s.agent(oneCall("3", "a", `{"city":"Oslo"}`))
			second := resumeApproved(t, agent, first)
			p := sceneResult[M]{second, m.Wires(), nil}
			then := want
			if grown && protocol == toolsearch.Keyword {
				then += " a" // the call that did not run loads it
			}
			require.Equal(t, want+"\n"+then, p.tools(), "%v, %v", protocol, grown)
			runs := !grown || protocol == toolsearch.SearchCall // under SearchCall, arguments that fit are enough
			require.Equal(t, runs, p.answer(t, "3") == `echo {"city":"Oslo"}`)
		}
	}
}

// What the Filter denies is neither shown nor counted.
func TestMinTokensToHide_DeniedToolsDoNotCount(t *testing.T) {
	adktest.Both(t, testMinTokensToHideDeniedToolsDoNotCount[*schema.Message],
		testMinTokensToHideDeniedToolsDoNotCount[*schema.AgenticMessage])
}

func testMinTokensToHideDeniedToolsDoNotCount[M adk.MessageType](t *testing.T, streaming bool) {
	searched := []M{adktest.User[M]("please"), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "tool_search", Args: `{"query":"a"}`}), adktest.Result[M]("1", "tool_search", `{"matches":[]}`), adktest.Assistant[M]("done"), adktest.User[M]("again")}
	denying := func(phase toolsearch.Phase) toolsearch.Filter {
		return func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
			return req.Tool.Name != "c" || req.Phase != phase, nil
		}
	}
	const each = 101 // tokens
	for _, c := range []struct {
		name    string
		limit   int
		cfg     toolsearch.Config
		history []M
		tools   string
	}{
		{"exactly as many", 3 * each, toolsearch.Config{}, searched[:1], "own a b c"},
		{"one more", 3*each - 1, toolsearch.Config{}, searched[:1], "own tool_search"},
		{"always visible", 3*each - 1, toolsearch.Config{AlwaysVisible: []string{"b"}}, searched[:1], "own a b c"},
		{"searched", 3 * each, toolsearch.Config{}, searched, "own a b c"},
		{"not to be found", 2 * each, toolsearch.Config{Filter: denying(toolsearch.PhaseSearch)}, searched[:1], "own a b"},
		{"not to be loaded", 2 * each, toolsearch.Config{Filter: denying(toolsearch.PhaseLoad)}, searched[:1], "own a b"},
		{"not to be shown", 2 * each, toolsearch.Config{Filter: denying(toolsearch.PhaseActive)}, searched[:1], "own a b"},
	} {
		c.cfg.DynamicTools, c.cfg.MinTokensToHide = sized("a", "b", "c"), c.limit
		p := scene[M]{t: t, streaming: streaming, cfg: c.cfg}.play(c.history)
		require.Equal(t, c.tools, p.tools(), c.name)
	}
	_, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: simpleTools("a"), MinTokensToHide: -1})
	require.ErrorContains(t, err, "MinTokensToHide: -1 is negative")
}

// People who try the middleware with three tools see nothing happen, and the log says why.
func TestMinTokensToHide_ReportsNothingHiddenOnce(t *testing.T) {
	adktest.Both(t, testMinTokensToHideReportsNothingHiddenOnce[*schema.Message],
		testMinTokensToHideReportsNothingHiddenOnce[*schema.AgenticMessage])
}

func testMinTokensToHideReportsNothingHiddenOnce[M adk.MessageType](t *testing.T, streaming bool) {
	was, out := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(out, nil)))
	defer slog.SetDefault(was)
	run := func(cfg toolsearch.Config, runs int) {
		h, err := toolsearch.NewTyped[M](t.Context(), &cfg)
		require.NoError(t, err)
		for range runs {
			m := adktest.Script[M](oneCall("1", "b", `{"city":"Oslo"}`), adktest.Say("done"))
			require.NoError(t, adktest.Agent[M]{Model: m, Streaming: streaming,
				Handlers: adktest.Handlers(h)}.Run(t.Context(), []M{adktest.User[M]("please")}).Err)
		}
	}
	for range 2 {
		run(toolsearch.Config{DynamicTools: sized("a", "b", "c"), MinTokensToHide: 3000}, 2)
	}
	require.Equal(t, 1, strings.Count(out.String(), "level=INFO msg=nothing_hidden"), out)
	require.Contains(t, out.String(), "MinTokensToHide is 3000")

	out.Reset()
	var events []einolean.Event
	note := func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindNothingHidden {
			events = append(events, e)
		}
	}
	run(toolsearch.Config{DynamicTools: sized("a", "b", "c"), MinTokensToHide: 3000, OnEvent: note}, 2)
	require.Len(t, events, 1)
	require.InDelta(t, 300, events[0].Tools.Tokens, 100)
	run(toolsearch.Config{DynamicTools: sized("a", "b", "c"), MinTokensToHide: 100, OnEvent: note}, 1)
	run(toolsearch.Config{DynamicTools: sized("a", "b", "c"), OnEvent: note}, 1)
	require.Len(t, events, 1, "tools are hidden")
	require.Empty(t, out.String(), "OnEvent has it")
}
