// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

// TestAnEmptySearchNamesTheLanguageOfTheTools asks in vain under every protocol, in both languages.
func TestAnEmptySearchNamesTheLanguageOfTheTools(t *testing.T) {
	english := []string{"Sends a message to a channel.", "Lists the open issues of a project."}
	chinese := []string{"给频道发送消息", "列出项目中未解决的问题"}
	cases := []struct {
		tools                []string
		query                string
		english, zh, without string
	}{
		{english, "煮一杯浓缩咖啡给奶奶", "The tools are described in English, and the query is in Chinese: search in English", "工具的说明用的是英文，而查询用的是中文：请用英文搜索", "find more"},
		{chinese, "brew an espresso for my aunt", "The tools are described in Chinese, and the query is in English: search in Chinese", "工具的说明用的是中文，而查询用的是英文：请用中文搜索", "find more"},
		{chinese, "espresso", "The tools are described in Chinese: search in Chinese", "工具的说明用的是中文：请用中文搜索", "query is in"},
		{english, "brew espresso for you", "Words in the language of the tools' descriptions find more; so does the name of the server", "用工具说明所用的语言书写词语", "described in"},
	}
	for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for _, c := range cases {
			for p := toolsearch.Keyword; p.String() != "unknown"; p++ {
				for _, answer := range []string{
					askedInVain(on[*schema.Message](t, false, p), c.tools, c.query),
					askedInVain(on[*schema.AgenticMessage](t, true, p), c.tools, c.query),
				} {
					if language == adk.LanguageChinese {
						require.Contains(t, answer, c.zh, p)
						continue
					}
					require.Contains(t, answer, c.english, p)
					require.NotContains(t, answer, c.without, p)
				}
			}
		}
	}
}

// askedInVain is the answer to a search for what none of the tools does.
func askedInVain[M adk.MessageType](s scene[M], descriptions []string, query string) string {
	s.cfg.DynamicTools = nil
	for i, description := range descriptions {
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Simple(fmt.Sprintf("tool_%d", i), description))
	}
	name, argument := "tool_search", "query"
	switch s.cfg.Protocol {
	case toolsearch.SearchLoad:
		name = "search_tools"
	case toolsearch.Regexp:
		argument = "regex_pattern"
	}
	return s.begin(do("a", name, fmt.Sprintf(`{%q:%q}`, argument, query))).answer(s.t, "a")
}

// TestEveryProtocolSaysWhatFindsMore reads what the model is told of each search tool.
func TestEveryProtocolSaysWhatFindsMore(t *testing.T) {
	for language, want := range map[adk.Language][]string{
		adk.LanguageEnglish: {"language", "descriptions", "server", "where you know it"}, adk.LanguageChinese: {"语言", "说明", "知道服务器名称时"},
	} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for p := toolsearch.Keyword; p.String() != "unknown"; p++ {
			played := on[*schema.Message](t, false, p).begin()
			require.True(t, slices.ContainsFunc(played.wires[0].Tools, func(x *schema.ToolInfo) bool {
				return strings.Contains(x.Name, "search") && !slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(x.Desc, part) })
			}), p)
		}
	}
}
