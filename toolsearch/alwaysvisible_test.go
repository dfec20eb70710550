// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field AlwaysVisible.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

func TestAlwaysVisible_ShownFromStart(t *testing.T) {
	adktest.Both(t, testAlwaysVisibleShownFromStart[*schema.Message], testAlwaysVisibleShownFromStart[*schema.AgenticMessage])
}

func testAlwaysVisibleShownFromStart[M adk.MessageType](t *testing.T, streaming bool) {
	marked := adktest.Tool(0, &schema.ToolInfo{Name: "marked", Desc: "d", Extra: map[string]any{"defer_loading": false}}, nil)
	for protocol, tools := range map[toolsearch.Protocol]string{
		toolsearch.Keyword: "own tool_search github__create_issue github__close_issue marked", toolsearch.SearchCall: "own tool_search call_tool github__create_issue github__close_issue marked",
	} {
		s := newScene[M](t, streaming, protocol)
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, marked)
		s.cfg.AlwaysVisible = []string{"github__*", "nobody"}
		p := s.begin(oneCall("1", "github__close_issue", `{"number":1}`))
		require.Equal(t, tools+"\n"+tools, p.tools())
		require.Contains(t, p.answer(t, "1"), `got {"number":1}`)
	}

	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.cfg.AlwaysVisible, s.cfg.UnloadAfter = []string{"weather__get_forecast"}, 1
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Tool.Name != "slack__send_message", nil
	}
	s.cfg.AlwaysVisible = append(s.cfg.AlwaysVisible, "slack__send_message")
	p := s.begin(oneCall("1", "tool_search", `{"query":"select:github__close_issue"}`), oneCall("2", "own", "{}"), oneCall("3", "own", "{}"))
	require.Equal(t, "own tool_search weather__get_forecast\nown tool_search weather__get_forecast github__close_issue\nown tool_search weather__get_forecast\nown tool_search weather__get_forecast", p.tools())
}

func TestAlwaysVisible_AppliesToLateTools(t *testing.T) {
	adktest.Both(t, testAlwaysVisibleAppliesToLateTools[*schema.Message], testAlwaysVisibleAppliesToLateTools[*schema.AgenticMessage])
}

func testAlwaysVisibleAppliesToLateTools[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	s.cfg.AlwaysVisible = []string{"jira__*"}
	s.mine = []tool.BaseTool{actionTool("connect", func() { source.have(echoTool(0, "jira__a"), echoTool(0, "slack__b")) })}
	p := s.begin(oneCall("1", "connect", "{}"), oneCall("2", "jira__a", "{}"))
	require.Equal(t, "own connect tool_search\nown connect tool_search jira__a\nown connect tool_search jira__a", p.tools())
	require.Equal(t, "jira__a got {}", p.answer(t, "2"))
}

func TestAlwaysVisible_NativeModeShowsFullDefinition(t *testing.T) {
	for _, native := range []toolsearch.Adapter{"", toolsearch.ClaudeHosted, toolsearch.ClaudeClient} {
		s := newScene[*schema.Message](t, false, toolsearch.Keyword)
		s.cfg.UseModelToolSearch, s.cfg.Native = true, native
		s.cfg.AlwaysVisible = []string{"weather__*"}
		p := s.begin(oneCall("1", "weather__get_forecast", `{"city":"Oslo"}`))
		require.Equal(t, "own weather__get_forecast\nown weather__get_forecast", p.tools(), native)
		require.NotContains(t, p.wires[0].DeferredNames, "weather__get_forecast", native)
		require.Contains(t, p.answer(t, "1"), "Oslo")
	}
}

// New names the index of every empty name, wherever it stands.
func TestAlwaysVisible_RejectsEmptyNames(t *testing.T) {
	for want, names := range map[string][]string{"AlwaysVisible[0]": {"", "a"}, "AlwaysVisible[1]": {"a", ""}} {
		_, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: officeTools(), AlwaysVisible: names})
		require.ErrorContains(t, err, want)
	}
}
