// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config fields SearchableTools and DeferMarkedTools.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// marked is a tool with the mark that other frameworks use.
func marked(name string, value any) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "Marked", Extra: map[string]any{"defer_loading": value}}, nil)
}

func TestSearchableTools_HiddenUntilFound(t *testing.T) {
	adktest.Both(t, testSearchableToolsHiddenUntilFound[*schema.Message], testSearchableToolsHiddenUntilFound[*schema.AgenticMessage])
}

func testSearchableToolsHiddenUntilFound[M adk.MessageType](t *testing.T, streaming bool) {
	for _, c := range []struct {
		protocol toolsearch.Protocol
		find     adktest.Turn
		call     adktest.Turn
		tools    string
	}{
		{toolsearch.Keyword, oneCall("a", "tool_search", `{"query":"select:two"}`), oneCall("b", "two", `{}`), "own one|own one two|own one two"},
		{toolsearch.Regexp, oneCall("a", "tool_search", `{"regex_pattern":"^two$"}`), oneCall("b", "two", `{}`), "own one|own one two|own one two"},
		{toolsearch.SearchLoad, oneCall("a", "load_tool", `{"tool_name":"two"}`), oneCall("b", "two", `{}`), "own one|own one two|own one two"},
		{toolsearch.SearchCall, oneCall("a", "tool_search", `{"query":"two"}`), oneCall("b", "call_tool", `{"name":"two","arguments":{}}`), "own one|own one|own one"},
	} {
		t.Run(c.protocol.String(), func(t *testing.T) {
			s := newScene[M](t, streaming, c.protocol)
			s.mine = simpleTools("one", "two", "three")
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

func TestSearchableTools_SearchedWithDynamicTools(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.mine, s.cfg.SearchableTools = simpleTools("gitlab__create_issue"), []string{"gitlab__create_issue"}
	p := s.begin(oneCall("a", "tool_search", `{"query":"create issue"}`), oneCall("b", "gitlab__create_issue", `{}`))
	require.Contains(t, p.answer(t, "a"), `{"matches":["github__create_issue","gitlab__create_issue",`)
	require.Equal(t, "echo {}", p.answer(t, "b"))
}

func TestSearchableTools_UnknownNameIsError(t *testing.T) {
	adktest.Both(t, testSearchableToolsUnknownNameIsError[*schema.Message], testSearchableToolsUnknownNameIsError[*schema.AgenticMessage])
}

func testSearchableToolsUnknownNameIsError[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.cfg.SearchableTools = []string{"own", "nobody", "knows this"}
	p := s.try([]M{adktest.User[M]("please")})
	require.ErrorContains(t, p.Err, `toolsearch: SearchableTools: the agent does not have the tools "nobody", "knows this"`)
	require.Empty(t, p.wires)
}

func TestSearchableTools_AcceptsPatterns(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.SearchableTools = nil, []string{"jira__*", "nobody__*"}
	s.mine = simpleTools("jira__a", "slack__b", "jira__c")
	p := s.begin()
	require.Equal(t, "own slack__b tool_search", p.tools())
	_, list := reminders(p.wires[0])
	require.Equal(t, "jira__a jira__c", strings.Join(strings.Split(list, "\n")[1:3], " "))
}

// An agent that rebuilds its tools for each run, with what belongs to the run inside,
// has them called and no others.
func TestSearchableTools_CallsToolsOfTheRun(t *testing.T) {
	for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		t.Run(protocol.String(), func(t *testing.T) {
			h, err := toolsearch.New(context.Background(), &toolsearch.Config{SearchableTools: []string{"whoami"}, Protocol: protocol})
			require.NoError(t, err)
			for run := range 3 {
				whoami := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "whoami", Desc: "Says who asks"}, func(context.Context, string) (string, error) {
					return fmt.Sprint("user ", run), nil
				})
				turns := []adktest.Turn{oneCall("a", "tool_search", `{"query":"whoami"}`), oneCall("b", "whoami", `{}`)}
				if protocol == toolsearch.SearchCall {
					turns[1] = oneCall("b", "call_tool", `{"name":"whoami"}`)
				}
				m := adktest.Script[*schema.Message](turns...)
				out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{whoami}, Handlers: adktest.Handlers(h)}.
					Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
				require.NoError(t, out.Err)
				p := sceneResult[*schema.Message]{out, m.Wires(), nil}
				require.Equal(t, fmt.Sprint("user ", run), p.answer(t, "b"))
			}
		})
	}
}

// A request that does not declare a hidden tool shows direct calls of it as calls of call_tool, as for a dynamic tool:
// providers reject calls of undeclared tools.
func TestSearchableTools_DirectCallsAreShownAsCallTool(t *testing.T) {
	adktest.Both(t, testSearchableToolsDirectCallsAreShownAsCallTool[*schema.Message],
		testSearchableToolsDirectCallsAreShownAsCallTool[*schema.AgenticMessage])
}

func testSearchableToolsDirectCallsAreShownAsCallTool[M adk.MessageType](t *testing.T, streaming bool) {
	shown := map[bool]string{}
	for _, isOwn := range []bool{true, false} {
		s := newScene[M](t, streaming, toolsearch.SearchCall)
		if filed := simpleTools("filed"); isOwn {
			s.cfg.DynamicTools, s.cfg.SearchableTools, s.mine = nil, []string{"filed"}, filed
		} else {
			s.cfg.DynamicTools = filed
		}
		p := s.begin(oneCall("a", "filed", `{}`))
		require.Equal(t, "echo {}", p.answer(t, "a"))
		wires := append(p.wires[1:], s.play(p.history).wires[0])
		for _, w := range wires {
			for _, m := range w.MessagesDump {
				shown[isOwn] += m + "\n"
			}
		}
		require.Equal(t, 2, strings.Count(shown[isOwn], `call(a call_tool {"name":"filed"`), shown[isOwn])
	}
	require.Equal(t, shown[false], shown[true])
}

// A name that differs only in case or separators is corrected to that of a hidden tool of the agent.
func TestSearchableTools_NearNameIsCorrected(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.SearchCall)
	s.cfg.DynamicTools, s.cfg.SearchableTools, s.mine = nil, []string{"file_it"}, simpleTools("file_it")
	require.Equal(t, "echo {}", s.begin(oneCall("a", "fileIt", `{}`)).answer(t, "a"))
	s.cfg.Filter = deny("file_it")
	require.NotContains(t, s.begin(oneCall("a", "fileIt", `{}`)).answer(t, "a"), "file_it")
}

// Tools that an earlier handler adds can be hidden as well.
func TestSearchableTools_HidesToolsOfOtherHandlers(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.around = adktest.Handlers[*schema.Message](einorun.New(&adds{tools: simpleTools("added")}))
	s.cfg.SearchableTools = []string{"added"}
	p := s.begin(oneCall("a", "tool_search", `{"query":"select:added"}`), oneCall("b", "added", `{}`))
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

func TestDeferMarkedTools_HidesMarkedTools(t *testing.T) {
	adktest.Both(t, testDeferMarkedToolsHidesMarkedTools[*schema.Message], testDeferMarkedToolsHidesMarkedTools[*schema.AgenticMessage])
}

func testDeferMarkedToolsHidesMarkedTools[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.DeferMarkedTools = nil, true
	s.mine = []tool.BaseTool{marked("yes", true), marked("no", false), marked("text", "true"), marked("too", true)}
	p := s.begin(oneCall("a", "tool_search", `{"query":"select:too"}`), oneCall("b", "too", `{}`), oneCall("c", "yes", `{}`))
	require.Equal(t, "own no text tool_search\nown no text tool_search too\nown no text tool_search too\nown no text tool_search too yes", p.tools())
	require.Equal(t, "echo {}", p.answer(t, "b"))
	require.Contains(t, p.answer(t, "c"), "did not run")

	s.cfg.DeferMarkedTools, s.cfg.DynamicTools = false, officeTools()
	require.Equal(t, "own yes no text too tool_search", s.begin().tools())
}

// Of two tools of the agent with one name, hiding one does not take the other out of the list.
func TestDeferMarkedTools_NameBothHiddenAndShownIsError(t *testing.T) {
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{DeferMarkedTools: true})
	require.NoError(t, err)
	_, err = einorun.Begin(context.Background(), search, &einorun.RunContext{Tools: []tool.BaseTool{marked("both", true), marked("both", false)}})
	require.ErrorContains(t, err, `has the name of the agent's own tool "both"`)
}

func TestDeferMarkedTools_NameOfSearchToolIsError(t *testing.T) {
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{DeferMarkedTools: true})
	require.NoError(t, err)
	_, err = einorun.Begin(context.Background(), search, &einorun.RunContext{Tools: []tool.BaseTool{marked("tool_search", true)}})
	require.ErrorContains(t, err, `the agent's own tool "tool_search"`)
	require.ErrorContains(t, err, `has the name of the search tool "tool_search"`)
}

// The result of a hidden tool with the name of another protocol's search tool loads nothing.
func TestDeferMarkedTools_ResultOfOtherProtocolsNameLoadsNothing(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DeferMarkedTools, s.cfg.AllowUnloadedCalls = true, true
	info := &schema.ToolInfo{Name: "load_tool", Desc: "Marked", Extra: map[string]any{"defer_loading": true}}
	s.mine = []tool.BaseTool{adktest.Tool(adktest.Invokable, info, func(context.Context, string) (string, error) {
		return `{"loaded":["slack__send_message"],"matches":["slack__send_message"]}`, nil
	})}
	first := s.begin(oneCall("a", "load_tool", `{"tool_name":"slack__send_message"}`))
	require.Equal(t, "own tool_search load_tool", s.play(first.history).tools())
}

// With nothing to hide, the request is what it would be without the middleware: also in
// native mode, and whatever the model.
func TestDeferMarkedTools_NothingMarkedChangesNothing(t *testing.T) {
	adktest.Both(t, testDeferMarkedToolsNothingMarkedChangesNothing[*schema.Message], testDeferMarkedToolsNothingMarkedChangesNothing[*schema.AgenticMessage])
}

func testDeferMarkedToolsNothingMarkedChangesNothing[M adk.MessageType](t *testing.T, streaming bool) {
	turn := oneCall("a", "own", `{}`)
	history := []M{adktest.System[M]("be brief"), adktest.User[M]("please")}
	plain := adktest.Script[M](turn)
	out := adktest.Agent[M]{Model: plain, Streaming: streaming, Tools: simpleTools("own", "one")}.Run(context.Background(), history)
	require.NoError(t, out.Err)
	for name, change := range map[string]func(*toolsearch.Config){
		"client":                func(*toolsearch.Config) {},
		"as Eino searches":      func(c *toolsearch.Config) { c.UseModelToolSearch = true },
		"a model that does not": func(c *toolsearch.Config) { c.UseModelToolSearch, c.Model = true, plain },
		"call_tool":             func(c *toolsearch.Config) { c.Protocol = toolsearch.SearchCall },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene[M](t, streaming, toolsearch.Keyword)
			s.mine = simpleTools("one")
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

func TestDeferMarkedTools_NothingMarkedLeavesOtherInstance(t *testing.T) {
	adktest.Both(t, testDeferMarkedToolsNothingMarkedLeavesOtherInstance[*schema.Message], testDeferMarkedToolsNothingMarkedLeavesOtherInstance[*schema.AgenticMessage])
}

func testDeferMarkedToolsNothingMarkedLeavesOtherInstance[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	idle := newHandler[M](t, &toolsearch.Config{DeferMarkedTools: true})
	require.Equal(t, "0:own", s.run(userRequest[M](), simpleTools("own"), nil, idle).tools())
	_, text := reminders(s.run(userRequest[M](), nil, nil, s.mustBuild(t, simpleTools("a1")...)).wires[0])
	history := []M{adktest.User[M](text), adktest.User[M]("please")}
	require.Equal(t, 2, len(s.run(history, simpleTools("own"), nil, idle).wires[0].Messages), "what looks like a reminder is not its own")
	for _, handlers := range [][]adk.TypedChatModelAgentMiddleware[M]{{idle, s.mustBuild(t, simpleTools("a1")...)}, {s.mustBuild(t, simpleTools("a1")...), idle}} {
		tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(searchCall("1", "a1"))}, handlers...)
		require.NoError(t, tr.Err)
		require.Equal(t, "0:own,tool_search 1:own,tool_search,a1", tr.tools())
		require.Equal(t, "1 reminder: a1", announcedTools(tr.wires[1]))
	}
}

// An instance that hides nothing of an agent has nothing to do in it, although it hides tools of the
// agent that runs it.
func TestDeferMarkedTools_NothingMarkedInInnerAgent(t *testing.T) {
	adktest.Both(t, testDeferMarkedToolsNothingMarkedInInnerAgent[*schema.Message], testDeferMarkedToolsNothingMarkedInInnerAgent[*schema.AgenticMessage])
}

func testDeferMarkedToolsNothingMarkedInInnerAgent[M adk.MessageType](t *testing.T, streaming bool) {
	ctx, s := context.Background(), ourSide[M](streaming)
	events := &recorder{}
	h, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DeferMarkedTools: true, OnEvent: events.record})
	require.NoError(t, err)
	marked := func(name string) tool.BaseTool {
		return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "does " + name, Extra: map[string]any{"defer_loading": true}}, adktest.Echo)
	}
	inside := adktest.Script[M](adktest.Do(toolCall("i1", "a1")), adktest.Do(toolCall("i2", "plain")), adktest.Say("inner done"))
	late := einorun.New(toolAdder[M]{&adk.TypedBaseChatModelAgentMiddleware[M]{}, []tool.BaseTool{marked("a1")}, 0})
	sub, err := adk.NewTypedChatModelAgent[M](ctx, &adk.TypedChatModelAgentConfig[M]{Name: "sub", Description: "a sub agent", Model: inside, Handlers: adktest.Handlers(h, late),
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: simpleTools("plain")}}})
	require.NoError(t, err)
	own := []tool.BaseTool{adk.NewTypedAgentTool[M](ctx, sub), marked("a1"), marked("a2")}
	ask2 := adktest.ToolCall{ID: "2", Name: "sub", Args: `{"request":"do it"}`}
	tr := s.run(userRequest[M](), own, []adktest.Turn{adktest.Do(searchCall("1", "a2")), adktest.Do(ask2, toolCall("3", "a2"))}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, "inner done", tr.result("2"))
	require.Equal(t, "0:sub,tool_search 1:sub,tool_search,a2 2:sub,tool_search,a2", tr.tools())
	require.Equal(t, "0:plain,a1 1:plain,a1 2:plain,a1", runResult[M]{wires: inside.Wires()}.tools())
	notHidden := slices.DeleteFunc(events.events, func(e einolean.Event) bool { return e.Kind != einolean.KindToolsNotHidden })
	require.Len(t, notHidden, 1)
}
