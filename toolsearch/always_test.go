// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Hidden tools that are shown before anything was searched.

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

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
