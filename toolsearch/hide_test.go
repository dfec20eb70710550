// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What is hidden, what is visible from the start, and what a user's words load.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// marked is a tool with the mark that other frameworks use.
func marked(name string, value any) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "Marked", Extra: map[string]any{"defer_loading": value}}, nil)
}

func TestSearchableToolsAreHiddenUntilFound(t *testing.T) {
	everywhere(t, searchableHidden[*schema.Message], searchableHidden[*schema.AgenticMessage])
}

func searchableHidden[M adk.MessageType](t *testing.T, streaming bool) {
	for _, c := range []struct {
		protocol toolsearch.Protocol
		find     adktest.Turn
		call     adktest.Turn
		tools    string
	}{
		{toolsearch.Keyword, do("a", "tool_search", `{"query":"select:two"}`), do("b", "two", `{}`), "own one|own one two|own one two"},
		{toolsearch.Regexp, do("a", "tool_search", `{"regex_pattern":"^two$"}`), do("b", "two", `{}`), "own one|own one two|own one two"},
		{toolsearch.SearchLoad, do("a", "load_tool", `{"tool_name":"two"}`), do("b", "two", `{}`), "own one|own one two|own one two"},
		{toolsearch.SearchCall, do("a", "tool_search", `{"query":"two"}`), do("b", "call_tool", `{"name":"two","arguments":{}}`), "own one|own one|own one"},
	} {
		t.Run(c.protocol.String(), func(t *testing.T) {
			s := on[M](t, streaming, c.protocol)
			s.mine = simples("one", "two", "three")
			s.cfg.DynamicTools, s.cfg.SearchableTools = nil, []string{"three", "two"}
			p := s.begin(c.find, c.call)
			lines := strings.Split(p.tools(), "\n")
			for i, line := range lines {
				for _, meta := range []string{" tool_search", " search_tools", " load_tool", " call_tool"} {
					line = strings.Replace(line, meta, "", 1)
				}
				lines[i] = line
			}
			require.Equal(t, c.tools, strings.Join(lines, "|"))
			require.Equal(t, "echo {}", p.answer(t, "b"))
			require.Contains(t, p.wires[0].MessagesDump[0], "\ntwo\nthree\n")
		})
	}
}

func TestSearchableAndDynamicToolsAreSearchedTogether(t *testing.T) {
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.mine, s.cfg.SearchableTools = simples("gitlab__create_issue"), []string{"gitlab__create_issue"}
	p := s.begin(do("a", "tool_search", `{"query":"create issue"}`), do("b", "gitlab__create_issue", `{}`))
	require.Contains(t, p.answer(t, "a"), `{"matches":["github__create_issue","gitlab__create_issue",`)
	require.Equal(t, "echo {}", p.answer(t, "b"))
}

func TestSearchableToolsThatTheAgentDoesNotHaveAreAnError(t *testing.T) {
	everywhere(t, searchableUnknown[*schema.Message], searchableUnknown[*schema.AgenticMessage])
}

func searchableUnknown[M adk.MessageType](t *testing.T, streaming bool) {
	s := on[M](t, streaming, toolsearch.Keyword)
	s.cfg.SearchableTools = []string{"own", "nobody", "knows this"}
	p := s.try([]M{adktest.User[M]("please")})
	require.ErrorContains(t, p.Err, `toolsearch: SearchableTools: the agent does not have the tools "nobody", "knows this"`)
	require.Empty(t, p.wires)
}

func TestMarkedToolsAreHiddenWhereThatIsWanted(t *testing.T) {
	everywhere(t, markedHidden[*schema.Message], markedHidden[*schema.AgenticMessage])
}

func markedHidden[M adk.MessageType](t *testing.T, streaming bool) {
	s := on[M](t, streaming, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.DeferMarkedTools = nil, true
	s.mine = []tool.BaseTool{marked("yes", true), marked("no", false), marked("text", "true"), marked("too", true)}
	p := s.begin(do("a", "tool_search", `{"query":"select:too"}`), do("b", "too", `{}`), do("c", "yes", `{}`))
	require.Equal(t, "own no text tool_search\nown no text tool_search too\nown no text tool_search too\nown no text tool_search too yes", p.tools())
	require.Equal(t, "echo {}", p.answer(t, "b"))
	require.Contains(t, p.answer(t, "c"), "did not run")

	s.cfg.DeferMarkedTools, s.cfg.DynamicTools = false, office()
	require.Equal(t, "own yes no text too tool_search", s.begin().tools())
}

// Of two tools of the agent with one name, hiding one does not take the other out of the list.
func TestOneNameMayNotBeHiddenAndShown(t *testing.T) {
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{DeferMarkedTools: true})
	require.NoError(t, err)
	_, err = einorun.Begin(context.Background(), search, &einorun.RunContext{Tools: []tool.BaseTool{marked("both", true), marked("both", false)}})
	require.ErrorContains(t, err, `has the name of the agent's own tool "both"`)
}

// With nothing to hide, the request is what it would be without the middleware: also in
// native mode, and whatever the model.
func TestNothingToHideChangesNothing(t *testing.T) {
	everywhere(t, changesNothing[*schema.Message], changesNothing[*schema.AgenticMessage])
}

func changesNothing[M adk.MessageType](t *testing.T, streaming bool) {
	turn := do("a", "own", `{}`)
	history := []M{adktest.System[M]("be brief"), adktest.User[M]("please")}
	plain := adktest.Script[M](turn)
	out := adktest.Agent[M]{Model: plain, Streaming: streaming, Tools: simples("own", "one")}.Run(context.Background(), history)
	require.NoError(t, out.Err)
	for name, change := range map[string]func(*toolsearch.Config){
		"client":                func(*toolsearch.Config) {},
		"as Eino searches":      func(c *toolsearch.Config) { c.UseModelToolSearch = true },
		"a model that does not": func(c *toolsearch.Config) { c.UseModelToolSearch, c.Model = true, plain },
		"call_tool":             func(c *toolsearch.Config) { c.Protocol = toolsearch.SearchCall },
	} {
		t.Run(name, func(t *testing.T) {
			s := on[M](t, streaming, toolsearch.Keyword)
			s.mine = simples("one")
			s.cfg.DynamicTools, s.cfg.DeferMarkedTools = nil, true
			change(&s.cfg)
			p := s.play(history, turn)
			for i, want := range plain.Wires() {
				got := p.wires[i]
				require.Equal(t, want.MessagesDump, got.MessagesDump)
				require.Equal(t, want.ToolNames, got.ToolNames)
				require.Equal(t, want.Deferred == nil, got.Deferred == nil)
				require.Nil(t, got.ToolSearch)
			}
		})
	}
}

// An agent that rebuilds its tools for each run, with what belongs to the run inside,
// has them called and no others.
func TestToolsMadeForARunAreTheOnesThatRunInIt(t *testing.T) {
	for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		t.Run(protocol.String(), func(t *testing.T) {
			h, err := toolsearch.New(context.Background(), &toolsearch.Config{SearchableTools: []string{"whoami"}, Protocol: protocol})
			require.NoError(t, err)
			for run := range 3 {
				whoami := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "whoami", Desc: "Says who asks"}, func(context.Context, string) (string, error) {
					return fmt.Sprint("user ", run), nil
				})
				turns := []adktest.Turn{do("a", "tool_search", `{"query":"whoami"}`), do("b", "whoami", `{}`)}
				if protocol == toolsearch.SearchCall {
					turns[1] = do("b", "call_tool", `{"name":"whoami"}`)
				}
				m := adktest.Script[*schema.Message](turns...)
				out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{whoami}, Handlers: adktest.Handlers(h)}.
					Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
				require.NoError(t, out.Err)
				p := played[*schema.Message]{out, m.Wires(), nil}
				require.Equal(t, fmt.Sprint("user ", run), p.answer(t, "b"))
			}
		})
	}
}

// Tools that an earlier handler adds can be hidden as well.
func TestToolsOfOtherHandlersCanBeHidden(t *testing.T) {
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.around = adktest.Handlers[*schema.Message](einorun.New(&adds{tools: simples("added")}))
	s.cfg.SearchableTools = []string{"added"}
	p := s.begin(do("a", "tool_search", `{"query":"select:added"}`), do("b", "added", `{}`))
	require.Equal(t, "own tool_search\nown tool_search added\nown tool_search added", p.tools())
	require.Equal(t, "echo {}", p.answer(t, "b"))
}

type adds struct {
	adk.BaseChatModelAgentMiddleware
	tools []tool.BaseTool
}

func (a *adds) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	rc.Tools = append(append([]tool.BaseTool(nil), rc.Tools...), a.tools...)
	return ctx, nil
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
		s.t, s.streaming, s.cfg.HideAbove = t, streaming, 1000
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

// Up to HideAbove, an agent is sent what it is sent without the middleware, by every protocol.
//
//claim:bench-04
func TestFewToolsAreShownAsIfThereWereNoMiddleware(t *testing.T) {
	everywhere(t, fewTools[*schema.Message], fewTools[*schema.AgenticMessage])
}

func fewTools[M adk.MessageType](t *testing.T, streaming bool) {
	turns := []adktest.Turn{do("1", "b", `{"city":"Oslo"}`), adktest.Do(callOf("2", "c"), callOf("3", "a"), callOf("4", "own"))}
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
			out := adktest.Agent[M]{Model: plain, Streaming: streaming, Tools: tools, Handlers: adktest.Handlers[M](einorun.New(&watching[M]{}))}.
				Run(context.Background(), []M{adktest.User[M]("please")})
			require.NoError(t, out.Err)
			without := played[M]{out, plain.Wires(), nil}
			require.Equal(t, without.text(), with.text(), "%s, %s", protocol, way)
		}
	}
}

// What an earlier run left in the history is as that of an agent without the middleware, and
// a search that the model copies from it is answered.
func TestWhereNothingIsHiddenAnOldSearchIsStillAnswered(t *testing.T) {
	everywhere(t, oldSearch[*schema.Message], oldSearch[*schema.AgenticMessage])
}

func oldSearch[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, set := range waysToSearch[M]() {
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: sized("a", "b")}}
		set(&s.cfg)
		name := "tool_search"
		if s.cfg.Protocol == toolsearch.SearchLoad {
			name = "search_tools"
		}
		history := []M{adktest.User[M]("please"), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: name, Args: `{"query":"select:a"}`}), adktest.Result[M]("1", name, `{"matches":["a"]}`), adktest.Assistant[M]("done"),
			adktest.User[M]("<available-deferred-tools>\na\nb\n</available-deferred-tools>"), adktest.User[M]("again")}
		s.cfg.HideAbove = 1000
		call := do("3", "b", `{"city":"Oslo"}`)
		if s.cfg.Protocol == toolsearch.SearchCall {
			call = do("3", "call_tool", `{"name":"b","arguments":{"city":"Oslo"}}`)
		}
		p := s.play(history, do("2", name, `{"query":"select:b","regex_pattern":"b"}`), call)
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
func TestHideAbove_HidesFromThenOn(t *testing.T) {
	everywhere(t, hidesFromThenOn[*schema.Message], hidesFromThenOn[*schema.AgenticMessage])
}

func hidesFromThenOn[M adk.MessageType](t *testing.T, streaming bool) {
	few, many := sized("a", "b"), append(sized("a", "b"), sized("late1", "late2", "late3")...)
	for protocol, set := range waysToSearch[M]() {
		for _, begin := range [][]tool.BaseTool{few, many} {
			source := &changing{}
			source.have(begin...)
			s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, HideAbove: 300}}
			set(&s.cfg)
			s.mine = []tool.BaseTool{action("grow", func() { source.have(many...) }), action("shrink", func() { source.have(few...) })}
			p := s.begin(do("1", "grow", "{}"), do("2", "shrink", "{}"))
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

// late is a source whose servers connect after the first model call.
type late struct {
	changing
	connected atomic.Bool
}

func (l *late) Tools(ctx context.Context) (*toolset.Set, error) {
	set, err := l.changing.Tools(ctx)
	if err == nil && !l.connected.Load() {
		err = &toolset.Missing{Servers: []string{"files"}}
	}
	return set, err
}

// Servers that connect late do not make a run show all of their tools.
func TestHideAbove_HidesWhileServersAreMissing(t *testing.T) {
	everywhere(t, hidesWhileMissing[*schema.Message], hidesWhileMissing[*schema.AgenticMessage])
}

func hidesWhileMissing[M adk.MessageType](t *testing.T, streaming bool) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("t%02d", i))
	}
	for protocol, set := range waysToSearch[M]() {
		source := &late{}
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, HideAbove: 300}}
		set(&s.cfg)
		s.mine = []tool.BaseTool{action("connect", func() {
			source.have(sized(names...)...)
			source.connected.Store(true)
		})}
		p := s.begin(do("1", "connect", "{}"), do("2", "connect", "{}"))
		require.NoError(t, p.Err, protocol)
		for i, w := range p.wires {
			require.NotContains(t, strings.Join(w.ToolNames, " "), "t07", "%s, request %d", protocol, i)
		}
	}
}

// An answer names no search tool where there is none.
func TestHideAbove_AnswersNameNoSearchTool(t *testing.T) {
	everywhere(t, namesNoSearchTool[*schema.Message], namesNoSearchTool[*schema.AgenticMessage])
}

func namesNoSearchTool[M adk.MessageType](t *testing.T, streaming bool) {
	source := &changing{}
	source.have(sized("a", "b")...)
	s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, HideAbove: 300}}
	s.mine = []tool.BaseTool{action("shrink", func() { source.have(sized("a")...) })}
	p := s.begin(do("1", "shrink", "{}"), do("2", "b", "{}"))
	require.Contains(t, p.answer(t, "2"), `There is no tool named "b"`)
	require.NotContains(t, strings.ToLower(p.answer(t, "2")), "search")
}

// A resumed run goes on as it was: it shows all, or hides, with the same tools in place.
func TestAResumedRunHidesAsItDid(t *testing.T) {
	everywhere(t, resumedHiding[*schema.Message], resumedHiding[*schema.AgenticMessage])
}

func resumedHiding[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, meta := range map[toolsearch.Protocol]string{toolsearch.Keyword: " tool_search", toolsearch.SearchCall: " tool_search call_tool"} {
		for grown, want := range map[bool]string{false: "own grow pay a b", true: "own grow pay" + meta} {
			store, ctx := &adktest.Store{}, context.Background()
			make := func(tools []tool.BaseTool) (scene[M], *changing) {
				source := &changing{}
				source.have(tools...)
				s := scene[M]{t: t, streaming: streaming, store: store, cfg: toolsearch.Config{Source: source, HideAbove: 300, Protocol: protocol}}
				s.mine = []tool.BaseTool{action("grow", func() {
					if grown {
						source.have(append(sized("a", "b"), sized("c", "d", "e")...)...)
					}
				}), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "pay", Desc: "Pays"}, approval)}
				return s, source
			}
			start := sized("a", "b")
			if grown {
				start = append(start, sized("c", "d", "e")...)
			}
			s, _ := make(start)
			agent, _ := s.agent(do("1", "grow", "{}"), do("2", "pay", "{}"))
			first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
			require.NoError(t, first.Err)
			require.NotNil(t, first.Interrupted)

			// Few tools are left when it is resumed: a run that hides goes on hiding.
			s, _ = make(sized("a", "b"))
			agent, m := s.agent(do("3", "a", `{"city":"Oslo"}`))
			runner, err := agent.Runner(ctx)
			require.NoError(t, err)
			events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{rootCause(first.Interrupted): "yes"}})
			require.NoError(t, err)
			second := adktest.Collect(events)
			require.NoError(t, second.Err)
			p := played[M]{second, m.Wires(), nil}
			then := want
			if grown && protocol == toolsearch.Keyword {
				then += " a" // the call that did not run loads it
			}
			require.Equal(t, want+"\n"+then, p.tools(), "%v, %v", protocol, grown)
			require.Equal(t, !grown, p.answer(t, "3") == `echo {"city":"Oslo"}`)
		}
	}
}

// What the Filter denies is neither shown nor counted.
func TestDeniedToolsDoNotCountForHiding(t *testing.T) {
	everywhere(t, countsForHiding[*schema.Message], countsForHiding[*schema.AgenticMessage])
}

func countsForHiding[M adk.MessageType](t *testing.T, streaming bool) {
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
		c.cfg.DynamicTools, c.cfg.HideAbove = sized("a", "b", "c"), c.limit
		p := scene[M]{t: t, streaming: streaming, cfg: c.cfg}.play(c.history)
		require.Equal(t, c.tools, p.tools(), c.name)
	}
	_, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: simples("a"), HideAbove: -1})
	require.ErrorContains(t, err, "HideAbove: -1 is negative")
}

func TestToolsThatAreAlwaysVisibleAreShownFromTheStart(t *testing.T) {
	everywhere(t, alwaysVisible[*schema.Message], alwaysVisible[*schema.AgenticMessage])
}

func alwaysVisible[M adk.MessageType](t *testing.T, streaming bool) {
	marked := adktest.Tool(0, &schema.ToolInfo{Name: "marked", Desc: "d", Extra: map[string]any{"defer_loading": false}}, nil)
	for protocol, tools := range map[toolsearch.Protocol]string{
		toolsearch.Keyword: "own tool_search github__create_issue github__close_issue marked", toolsearch.SearchCall: "own tool_search call_tool github__create_issue github__close_issue marked",
	} {
		s := on[M](t, streaming, protocol)
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, marked)
		s.cfg.AlwaysVisible = []string{"github__*", "nobody"}
		p := s.begin(do("1", "github__close_issue", `{"number":1}`))
		require.Equal(t, tools+"\n"+tools, p.tools())
		require.Contains(t, p.answer(t, "1"), `got {"number":1}`)
	}

	s := on[M](t, streaming, toolsearch.Keyword)
	s.cfg.AlwaysVisible, s.cfg.UnloadAfter = []string{"weather__get_forecast"}, 1
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Tool.Name != "slack__send_message", nil
	}
	s.cfg.AlwaysVisible = append(s.cfg.AlwaysVisible, "slack__send_message")
	p := s.begin(do("1", "tool_search", `{"query":"select:github__close_issue"}`), do("2", "own", "{}"), do("3", "own", "{}"))
	require.Equal(t, "own tool_search weather__get_forecast\nown tool_search weather__get_forecast github__close_issue\nown tool_search weather__get_forecast\nown tool_search weather__get_forecast", p.tools())
}

func TestALateToolIsVisibleIfItsNameAlwaysIs(t *testing.T) {
	everywhere(t, lateVisible[*schema.Message], lateVisible[*schema.AgenticMessage])
}

func lateVisible[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	s.cfg.AlwaysVisible = []string{"jira__*"}
	s.mine = []tool.BaseTool{action("connect", func() { source.have(formed(0, "jira__a"), formed(0, "slack__b")) })}
	p := s.begin(do("1", "connect", "{}"), do("2", "jira__a", "{}"))
	require.Equal(t, "own connect tool_search\nown connect tool_search jira__a\nown connect tool_search jira__a", p.tools())
	require.Equal(t, "jira__a got {}", p.answer(t, "2"))
}

func TestNativeModeShowsWhatIsAlwaysVisibleInFull(t *testing.T) {
	for _, native := range []toolsearch.Adapter{"", toolsearch.ClaudeHosted, toolsearch.ClaudeClient} {
		s := on[*schema.Message](t, false, toolsearch.Keyword)
		s.cfg.UseModelToolSearch, s.cfg.Native = true, native
		s.cfg.AlwaysVisible = []string{"weather__*"}
		p := s.begin(do("1", "weather__get_forecast", `{"city":"Oslo"}`))
		require.Equal(t, "own weather__get_forecast\nown weather__get_forecast", p.tools(), native)
		require.NotContains(t, p.wires[0].DeferredNames, "weather__get_forecast", native)
		require.Contains(t, p.answer(t, "1"), "Oslo")
	}
}

func TestSearchableToolsAreNamedByPatterns(t *testing.T) {
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.SearchableTools = nil, []string{"jira__*", "nobody__*"}
	s.mine = simples("jira__a", "slack__b", "jira__c")
	p := s.begin()
	require.Equal(t, "own slack__b tool_search", p.tools())
	_, list := reminders(p.wires[0])
	require.Equal(t, "jira__a jira__c", strings.Join(strings.Split(list, "\n")[1:3], " "))
}

func prefetching[M adk.MessageType](t testing.TB, streaming bool, protocol toolsearch.Protocol) scene[M] {
	s := on[M](t, streaming, protocol)
	s.cfg.Prefetch, s.cfg.NewIndex = 2, index.BM25
	return s
}

func TestTheToolThatAUserNeedsIsThereBeforeTheFirstModelCall(t *testing.T) {
	everywhere(t, isPrefetched[*schema.Message], isPrefetched[*schema.AgenticMessage])
}

func isPrefetched[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, search := range map[toolsearch.Protocol]string{toolsearch.Keyword: "tool_search", toolsearch.SearchLoad: "search_tools load_tool"} {
		events := &recorder{}
		s := prefetching[M](t, streaming, protocol)
		s.cfg.OnEvent = events.on
		p := s.play([]M{adktest.User[M]("What will the weather be in Oslo? I need the forecast.")}, do("1", "weather__get_forecast", `{"city":"Oslo"}`))
		require.Equal(t, "own "+search+" weather__get_forecast\nown "+search+" weather__get_forecast", p.tools())
		require.Contains(t, p.answer(t, "1"), `got {"city":"Oslo"}`)
		var told []einolean.Event
		for _, e := range events.all {
			if e.Kind == einolean.KindToolsPrefetched {
				told = append(told, e)
			}
		}
		require.Len(t, told, 1, "once, not in every model call")
		require.Equal(t, []string{"weather__get_forecast"}, told[0].Tools.Added)
		require.Equal(t, "What will the weather be in Oslo? I need the forecast.", told[0].Search.Query)

		// The next run loads it again, after what the history says came before.
		p = s.play(append(p.history, adktest.User[M]("Now send a message to the channel.")))
		require.Equal(t, "own "+search+" weather__get_forecast slack__send_message", p.tools())
	}
}

// Where a protocol never loads tools, a message after the user's describes them: every time
// the same one, at the same place, and each tool once.
func TestUnderSearchCallPrefetchDescribesToolsAfterTheUsersMessage(t *testing.T) {
	everywhere(t, offersTools[*schema.Message], offersTools[*schema.AgenticMessage])
}

func offersTools[M adk.MessageType](t *testing.T, streaming bool) {
	events := &recorder{}
	s := prefetching[M](t, streaming, toolsearch.SearchCall)
	s.cfg.OnEvent = events.on
	call := func(id string) adktest.Turn {
		return do(id, "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`)
	}
	p := s.play([]M{adktest.User[M]("What will the weather be in Oslo? I need the forecast.")}, call("1"))
	require.Equal(t, "own tool_search call_tool\nown tool_search call_tool", p.tools())
	require.Contains(t, p.answer(t, "1"), `got {"city":"Oslo"}`)
	sent := p.wires[0].MessagesDump
	require.Len(t, sent, 3)
	require.True(t, strings.HasPrefix(sent[2], "user: <tools-for-this-request>\n{\"tools\":[{\"name\":\"weather__get_forecast\",\"description\":\""), sent[2])
	require.True(t, strings.HasSuffix(sent[2], "Run one with call_tool; if none fits, use tool_search.\"}\n</tools-for-this-request>"), sent[2])
	require.Equal(t, sent, p.wires[1].MessagesDump[:3])
	kinds := 0
	for _, e := range events.all {
		if e.Kind == einolean.KindToolsPrefetched {
			kinds++
			require.Equal(t, []string{"weather__get_forecast"}, e.Tools.Added)
		}
	}
	require.Equal(t, 1, kinds)

	// A later run describes it again at its place, and not twice. Whoever keeps the messages
	// of a request, without Extra, has the same.
	history := append(p.history, adktest.User[M]("Now send a message to the channel. What about the weather forecast?"))
	p = s.play(history)
	all := strings.Join(p.wires[0].MessagesDump, "\n")
	require.Equal(t, sent, p.wires[0].MessagesDump[:3])
	require.Equal(t, 2, strings.Count(all, "<tools-for-this-request>"))
	require.Equal(t, 1, strings.Count(all, `{"name":"weather__get_forecast","description"`))
	require.Equal(t, 1, strings.Count(all, `{"name":"slack__send_message","description"`))
	var kept []M
	for _, m := range p.wires[0].Messages {
		kept = append(kept, adktest.WithExtra(m, nil))
	}
	require.Equal(t, p.wires[0].MessagesDump, s.play(kept).wires[0].MessagesDump)

	// What may not be loaded is not described, and what takes too much is left out.
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Phase != toolsearch.PhaseLoad || !strings.HasPrefix(req.Tool.Name, "slack"), nil
	}
	require.Equal(t, 1, strings.Count(strings.Join(s.play(history).wires[0].MessagesDump, "\n"), "<tools-for-this-request>"))
	s.cfg.Filter = nil
	s.cfg.DynamicTools = []tool.BaseTool{adktest.Simple("weather__get_forecast", "The weather forecast. "+strings.Repeat("More. ", 2000))}
	require.NotContains(t, strings.Join(s.play(history).wires[0].MessagesDump, "\n"), "<tools-for-this-request>")
}

func TestEveryProtocolPrefetches(t *testing.T) {
	for _, c := range []struct {
		protocol toolsearch.Protocol
		index    index.Func
		tools    string
	}{
		{toolsearch.Keyword, nil, "own tool_search weather__get_forecast"},
		{toolsearch.Regexp, nil, "own tool_search weather__get_forecast"},
		{toolsearch.SearchLoad, nil, "own search_tools load_tool weather__get_forecast"},
		{toolsearch.SearchLoad, index.BM25, "own search_tools load_tool weather__get_forecast"},
		{toolsearch.SearchCall, nil, "own tool_search call_tool"},
	} {
		s := prefetching[*schema.Message](t, false, c.protocol)
		s.cfg.NewIndex = c.index
		p := s.play([]*schema.Message{schema.UserMessage("get the weather forecast")})
		require.Equal(t, c.tools, p.tools(), c.protocol)
		require.Equal(t, c.protocol == toolsearch.SearchCall, strings.Contains(strings.Join(p.wires[0].MessagesDump, "\n"), "<tools-for-this-request>"))
	}
}

func TestNothingIsPrefetchedForSmallTalkOrWhatHandlersSay(t *testing.T) {
	everywhere(t, notPrefetched[*schema.Message], notPrefetched[*schema.AgenticMessage])
}

func notPrefetched[M adk.MessageType](t *testing.T, streaming bool) {
	wrote := adktest.WithExtra(adktest.User[M]("Send a message to the slack channel"), map[string]any{"_eino_summarization_content_type": "summary"})
	for name, m := range map[string]M{"small talk": adktest.User[M]("Hello there, how are you?"), "a handler": wrote, "nothing": adktest.User[M](""), "an answer": adktest.Assistant[M]("I could send a message to the slack channel")} {
		s := prefetching[M](t, streaming, toolsearch.Keyword)
		p := s.play([]M{m})
		require.Equal(t, "own tool_search", p.tools(), name)
	}
	s := prefetching[M](t, streaming, toolsearch.Keyword)
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Phase != toolsearch.PhaseLoad || !strings.HasPrefix(req.Tool.Name, "slack"), nil
	}
	require.Equal(t, "own tool_search", s.play([]M{adktest.User[M]("Send a message to the slack channel")}).tools(), "denied")
	s = prefetching[M](t, streaming, toolsearch.Keyword)
	s.cfg.NewIndex = func(context.Context, []*schema.ToolInfo) (index.Index, error) {
		return brokenIndex(func() ([]index.Result, error) { panic("broken") }), nil
	}
	require.Equal(t, "own tool_search", s.play([]M{adktest.User[M]("qwertz")}).tools(), "an index that fails")
}

// What is prefetched follows from the messages: an instance of another process loads the
// same, and a longer history loads the same first, in the same order.
func TestALongerHistoryPrefetchesTheSameFirst(t *testing.T) {
	everywhere(t, prefetchLaw[*schema.Message], prefetchLaw[*schema.AgenticMessage])
}

func prefetchLaw[M adk.MessageType](t *testing.T, streaming bool) {
	says := []string{"Send a message to the slack channel", "What will the weather be?", "Create an issue in the repository", "Close the issue please", "Thanks!"}
	for seed := range uint64(race.Cases(20)) {
		random := rand.New(rand.NewPCG(seed, 2))
		var history []M
		before := ""
		for n := range 80 {
			history = append(history, adktest.User[M](says[random.IntN(len(says))]))
			if random.IntN(3) > 0 || n > 70 {
				history = append(history, adktest.Assistant[M]("fine"))
			}
			if n%8 != 7 {
				continue
			}
			tools := prefetching[M](t, streaming, toolsearch.Keyword).play(history).tools()
			require.Equal(t, tools, prefetching[M](t, streaming, toolsearch.Keyword).play(history).tools(), "seed %d", seed)
			require.True(t, strings.HasPrefix(tools, before), "seed %d: %q, %q", seed, before, tools)
			before = tools
		}
	}
}

func TestPrefetchingIsBounded(t *testing.T) {
	s := prefetching[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools = nil
	var history []*schema.Message
	for i := range 80 {
		word := fmt.Sprintf("wo%crd%c", 'a'+i%26, 'a'+i/26)
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Simple(word+"__run", "Runs the "+word))
		history = append(history, schema.UserMessage("please run the "+word))
	}
	s.cfg.Prefetch = 1
	require.Len(t, s.play(history).wires[0].ToolNames, 2+50)
	late := append(make([]*schema.Message, 0), history[:1]...)
	for range 63 {
		late = append(late, schema.UserMessage("qwertz"))
	}
	require.Len(t, s.play(append(late, history[1])).wires[0].ToolNames, 2+1, "the 65th message")
}
