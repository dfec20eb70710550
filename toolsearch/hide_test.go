// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Hiding tools that the agent already has: by name, and by their own mark.

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
	"github.com/leanctx/leanctx/toolsearch"
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

// An agent that makes its tools anew for each run, with what belongs to the run inside,
// has them called and no others.
func TestToolsOfTheRunAreTheOnesThatRun(t *testing.T) {
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
	s.around = adktest.Handlers[*schema.Message](&adds{tools: simples("added")})
	s.cfg.SearchableTools = []string{"added"}
	p := s.begin(do("a", "tool_search", `{"query":"select:added"}`), do("b", "added", `{}`))
	require.Equal(t, "own tool_search\nown tool_search added\nown tool_search added", p.tools())
	require.Equal(t, "echo {}", p.answer(t, "b"))
}

type adds struct {
	adk.BaseChatModelAgentMiddleware
	tools []tool.BaseTool
}

func (a *adds) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	next := *rc
	next.Tools = append(append([]tool.BaseTool(nil), rc.Tools...), a.tools...)
	return ctx, &next, nil
}
