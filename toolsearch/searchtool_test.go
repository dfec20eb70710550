// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What the search tools answer.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

// accounts are tools of which one is what "delete user admin" asks for.
func accounts() []tool.BaseTool {
	tools := []tool.BaseTool{describedTool("admin__delete_user", "Deletes a user of the admin panel.", nil)}
	for i := range 12 {
		tools = append(tools, describedTool(fmt.Sprintf("shop%02d__delete_user", i), "Deletes a user of a shop.", nil))
	}
	return tools
}

func TestSearchTool_BadArgumentsDoNotEndRun_TS01(t *testing.T) {
	playAll(t, scenariosTS01())
}

func scenariosTS01() []scenario {
	const died = "an error ends the run after 1 requests"
	const hint = `[] with a hint`
	const found = `["get_weather"]`
	return []scenario{
		search("TS-01", "no arguments", ``, died, hint),
		search("TS-01", "no query", `{}`, died, hint),
		search("TS-01", "an empty query", `{"query":""}`, died, hint),
		search("TS-01", "a blank query", `{"query":" \n\t"}`, died, hint),
		search("TS-01", "null", `null`, died, hint),
		search("TS-01", "half an object", `{"query":"weather`, died, hint),
		search("TS-01", "a number as text", `{"query":"weather","max_results":"5"}`, died, found),
		search("TS-01", "a number with decimals", `{"query":"weather","max_results":5.5}`, died, found),
		search("TS-01", "a list of queries", `{"query":["weather","mail"]}`, died, `["get_weather","send_mail"]`),
		search("TS-01", "a list", `["weather"]`, died, found),
		search("TS-01", "a bare text", `"weather"`, died, found),
		search("TS-01", "no JSON", `weather`, died, found),
		search("TS-01", "a number", `{"query":7}`, died, hint),
		search("TS-01", "another key", `{"keywords":"weather"}`, died, found),
		search("TS-01", "a key in two spellings", `{"query":"weather","QUERY":"mail"}`, `["send_mail"]`, found),
		search("TS-01", "another key for the number", `{"query":"get send","limit":1}`, `["get_weather","send_mail"]`, `["get_weather"]`),
		{"TS-01", "the model's own search has no query", searchesNatively[*schema.Message](`{}`), searchesNatively[*schema.AgenticMessage](`{}`),
			"an error ends the run after 1 requests", "a text"},
	}
}

// search is a scenario of one search in an agent.
func search(id, what, args, eino, ours string) scenario {
	tools := []string{"get_weather", "send_mail"}
	return scenario{id, what, searchesOnce[*schema.Message](args, tools...), searchesOnce[*schema.AgenticMessage](args, tools...), eino, ours}
}

func TestSearchTool_ReportsWhatIsNotFound_TS02(t *testing.T) {
	playAll(t, scenariosTS02())
}

func scenariosTS02() []scenario {
	const found = `["get_weather"]`
	return []scenario{
		search("TS-02", "nothing matches", `{"query":"volcano"}`, `null`, `[] with a hint`),
		search("TS-02", "an unknown name", `{"query":"select:get_weather,volcano"}`, found, found+` with a hint`),
		search("TS-02", "a name in another case", `{"query":"select:GET_WEATHER"}`, `null`, found),
		search("TS-02", "select in another case", `{"query":"SELECT:get_weather"}`, `null`, found),
		search("TS-02", "a name in quotes", `{"query":"select:\"get_weather\""}`, `null`, found),
		search("TS-02", "names without a comma", `{"query":"select:get_weather send_mail"}`, `null`, `["get_weather","send_mail"]`),
		search("TS-02", "a name with other separators", `{"query":"select:get-weather"}`, `null`, found),
		search("TS-02", "a name twice", `{"query":"select:get_weather,get_weather"}`, `["get_weather","get_weather"]`, found),
	}
}

func TestSearchTool_LoadsBoundedNumber_TS22(t *testing.T) {
	playAll(t, scenariosTS22())
}

func scenariosTS22() []scenario {
	return []scenario{
		{"TS-22", "more results than a request can bear", manyResults[*schema.Message]("tool", 1000), manyResults[*schema.AgenticMessage]("tool", 1000), "150", "100"},
		{"TS-22", "more names than a request can bear", manyResults[*schema.Message]("select:"+strings.Join(numberedNames(150), ","), 5), manyResults[*schema.AgenticMessage]("select:"+strings.Join(numberedNames(150), ","), 5), "150", "100"},
	}
}

// manyResults counts what one search returns and loads.
func manyResults[M adk.MessageType](query string, limit int) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		args := fmt.Sprintf(`{"query":%q,"max_results":%d}`, query, limit)
		tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simpleTools(numberedNames(150)...)...))
		require.NoError(t, tr.Err)
		return fmt.Sprint(len(tr.wires[1].ToolNames) - 1)
	}
}

func TestSearchTool_ReportsLoadedTools_TS23(t *testing.T) {
	playAll(t, scenariosTS23())
}

func scenariosTS23() []scenario {
	const found = `["get_weather"]`
	return []scenario{
		{"TS-23", "a search for a tool that is loaded", searchesAgain[*schema.Message], searchesAgain[*schema.AgenticMessage], found, found + ` already ["get_weather"]`},
	}
}

func searchesAgain[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(searchCall("1", "weather")), adktest.Do(searchCall("2", "weather"))}, s.mustBuild(t, simpleTools("get_weather")...))
	require.NoError(t, tr.Err)
	return summarizeAnswer(tr.result("2"))
}

func TestSearchTool_LoadedToolsDoNotCount_TS34(t *testing.T) {
	playAll(t, scenariosTS34())
}

func scenariosTS34() []scenario {
	const found = `["get_weather"]`
	return []scenario{
		{"TS-34", "a search whose best tool is loaded", searchesBeside[*schema.Message], searchesBeside[*schema.AgenticMessage], found, `["get_weather","set_weather"] already ["get_weather"]`},
	}
}

// searchesBeside searches for one tool where the best is loaded already.
func searchesBeside[M adk.MessageType](t *testing.T, s implementation[M]) string {
	again := adktest.ToolCall{ID: "2", Name: "tool_search", Args: `{"query":"weather","max_results":1}`}
	tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(searchCall("1", "select:get_weather")), adktest.Do(again)}, s.mustBuild(t, simpleTools("get_weather", "set_weather")...))
	require.NoError(t, tr.Err)
	return summarizeAnswer(tr.result("2"))
}

func TestSearchTool_HasOwnDescription_TS24(t *testing.T) {
	playAll(t, scenariosTS24())
}

func scenariosTS24() []scenario {
	return []scenario{
		{"TS-24", "the words that describe tool_search", describes[*schema.Message], describes[*schema.AgenticMessage], "Eino's words", "our words"},
	}
}

// describes tells whose words describe the search tool.
func describes[M adk.MessageType](t *testing.T, s implementation[M]) string {
	words := func(s implementation[M]) string {
		info, err := searchToolOf(t, s.mustBuild(t, simpleTools("x")...)).Info(context.Background())
		require.NoError(t, err)
		schema, err := info.ToJSONSchema()
		require.NoError(t, err)
		query, _ := schema.Properties.Get("query")
		return info.Desc + "\n" + query.Description
	}
	if words(s) == words(einoSide[M](false)) {
		return "Eino's words"
	}
	return "our words"
}

func TestSearchTool_DoesNotEscapeHTML_TS26(t *testing.T) {
	playAll(t, scenariosTS26())
}

func scenariosTS26() []scenario {
	return []scenario{
		{"TS-26", "marks in a name", rawSearch[*schema.Message](`{"query":"select:a<b>&c"}`, "a<b>&c"), rawSearch[*schema.AgenticMessage](`{"query":"select:a<b>&c"}`, "a<b>&c"),
			`{"matches":["a\u003cb\u003e\u0026c"]}`, `{"matches":["a<b>&c"]}`},
	}
}

func rawSearch[M adk.MessageType](args string, dynamic ...string) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simpleTools(dynamic...)...))
		require.NoError(t, tr.Err)
		return tr.result("1")
	}
}

func TestSearchTool_BoundsQueryAndChecksContext_X04(t *testing.T) {
	playAll(t, scenariosX04())
}

func scenariosX04() []scenario {
	return []scenario{
		{"X-04", "the only word that matches is the 1,500th", searchesOnce[*schema.Message](lateWord(), "get_weather"), searchesOnce[*schema.AgenticMessage](lateWord(), "get_weather"),
			`["get_weather"]`, `[] with a hint`},
		{"X-04", "a search whose context has ended", searchesTooLate[*schema.Message], searchesTooLate[*schema.AgenticMessage], `{"matches":["get_weather"]}`, "context canceled"},
	}
}

func lateWord() string {
	words := make([]string, 1500)
	for i := range words {
		words[i] = fmt.Sprintf("nothing%d", i)
	}
	words[1499] = "weather"
	return fmt.Sprintf(`{"query":%q}`, strings.Join(words, " "))
}

func searchesTooLate[M adk.MessageType](t *testing.T, s implementation[M]) string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text, err := searchToolOf(t, s.mustBuild(t, simpleTools("get_weather")...)).(tool.InvokableTool).InvokableRun(ctx, `{"query":"weather"}`)
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
		return errorText(err)
	}
	return text
}

// The bounds hold for every protocol and for a list of queries too.
func TestSearchTool_BoundsListOfQueries(t *testing.T) {
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: simpleTools(numberedNames(150)...)})
	require.NoError(t, err)
	text, err := searchToolOf(t, h).(tool.InvokableTool).InvokableRun(context.Background(),
		fmt.Sprintf(`{"query":["%s"],"max_results":100}`, strings.Join(numberedNames(150), `","`)))
	require.NoError(t, err)
	require.Equal(t, 20, strings.Count(text, "tool_"), text)
	require.Contains(t, summarizeAnswer(text), "with a hint")
}

func TestSearchTool_LoadedToolsKeepRank(t *testing.T) {
	adktest.Both(t, testSearchToolLoadedToolsKeepRank[*schema.Message], testSearchToolLoadedToolsKeepRank[*schema.AgenticMessage])
}

func testSearchToolLoadedToolsKeepRank[M adk.MessageType](t *testing.T, streaming bool) {
	for name, x := range rankers() {
		for protocol, search := range map[toolsearch.Protocol]string{toolsearch.Keyword: "tool_search", toolsearch.SearchLoad: "search_tools"} {
			t.Run(name+"/"+protocol.String(), func(t *testing.T) {
				load := oneCall("load", "tool_search", `{"query":"select:admin__delete_user"}`)
				if protocol == toolsearch.SearchLoad {
					load = oneCall("load", "load_tool", `{"tool_name":"admin__delete_user"}`)
				}
				s := newScene[M](t, streaming, protocol)
				s.cfg.NewIndex, s.cfg.DynamicTools = x, accounts()
				query := oneCall("search", search, `{"query":"delete user admin","max_results":5}`)
				before, none := namesIn(t, s.begin(query).answer(t, "search"))
				require.Len(t, before, 5)
				require.Equal(t, "admin__delete_user", before[0])
				require.Empty(t, none)

				after, loaded := namesIn(t, s.begin(load, query).answer(t, "search"))
				require.Equal(t, []string{"admin__delete_user"}, loaded)
				require.Equal(t, before, after[:5], "the same tools at the same places")
				require.Len(t, after, 6, "and as many that are not loaded as were asked for")
			})
		}
	}
}

// rankers are the indexes of the package, without a time limit that a busy machine could reach.
func rankers() map[string]index.Func {
	return map[string]index.Func{
		"index.Keyword": index.Keyword, "index.BM25": index.BM25,
		"Fuse": index.Fuse(index.TimeLimit(time.Minute, index.Keyword), index.TimeLimit(time.Minute, index.BM25)),
	}
}

// namesIn are the tools of an answer, and those of them that it says are loaded.
func namesIn(t testing.TB, answer string) (found, loaded []string) {
	var a struct {
		Matches, Results json.RawMessage
		AlreadyLoaded    []string `json:"already_loaded"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &a), answer)
	if a.Matches != nil {
		require.NoError(t, json.Unmarshal(a.Matches, &found))
		return found, a.AlreadyLoaded
	}
	var results []struct{ Name string }
	require.NoError(t, json.Unmarshal(a.Results, &results), answer)
	for _, r := range results {
		found = append(found, r.Name)
	}
	return found, a.AlreadyLoaded
}

// However many tools are loaded, an answer holds at most twice what was asked for, in the
// order of the ranking, and the loaded ones among the first are in it.
//
//claim:security-20
func TestSearchTool_BoundsAnswerWhateverIsLoaded(t *testing.T) {
	for name, x := range rankers() {
		t.Run(name, func(t *testing.T) {
			s := newScene[*schema.Message](t, false, toolsearch.Keyword)
			s.cfg.NewIndex, s.cfg.DynamicTools = x, accounts()
			everything, _ := namesIn(t, s.begin(oneCall("all", "tool_search", `{"query":"delete user","max_results":13}`)).answer(t, "all"))
			require.Len(t, everything, 13)
			for n := range 14 {
				load := oneCall("load", "tool_search", `{"query":"select:`+strings.Join(everything[:n], ",")+`"}`)
				found, loaded := namesIn(t, s.begin(load, oneCall("s", "tool_search", `{"query":"delete user","max_results":3}`)).answer(t, "s"))
				top := min(n, 3)
				require.Equal(t, nonNil(everything[:top]), nonNil(loaded), "%d loaded", n)
				fresh := everything[n:min(n+3, 13)]
				require.Equal(t, append(append([]string{}, everything[:top]...), fresh...), found, "%d loaded", n)
			}
		})
	}
}

func nonNil(list []string) []string { return append([]string{}, list...) }

// A pattern finds what is loaded as well: it is named, and uses up no place.
func TestSearchTool_RegexpReportsLoadedTools(t *testing.T) {
	adktest.Both(t, testSearchToolRegexpReportsLoadedTools[*schema.Message], testSearchToolRegexpReportsLoadedTools[*schema.AgenticMessage])
}

func testSearchToolRegexpReportsLoadedTools[M adk.MessageType](t *testing.T, streaming bool) {
	var names []string
	for i := range 103 {
		names = append(names, fmt.Sprintf("mail_%03d", i))
	}
	selected := func(answer string) (a struct {
		SelectedTools []string
		AlreadyLoaded []string `json:"already_loaded"`
		Hint          string
	}) {
		require.NoError(t, json.Unmarshal([]byte(answer), &a))
		return a
	}
	s := newScene[M](t, streaming, toolsearch.Regexp)
	s.cfg.DynamicTools = simpleTools(names...)
	p := s.begin(
		oneCall("load", "tool_search", `{"regex_pattern":"_00[01]$"}`), oneCall("more", "tool_search", `{"regex_pattern":"mail"}`),
		oneCall("rest", "tool_search", `{"regex_pattern":"mail"}`), oneCall("known", "tool_search", `{"regex_pattern":"_000$"}`))
	require.Equal(t, names[:2], selected(p.answer(t, "load")).SelectedTools)

	more := selected(p.answer(t, "more"))
	require.Equal(t, names[:102], more.SelectedTools, "100 that are not loaded, and two that are")
	require.Equal(t, names[:2], more.AlreadyLoaded)
	require.Contains(t, more.Hint, "More tools match than the 100")

	rest := selected(p.answer(t, "rest"))
	require.Equal(t, append(append([]string{}, names[:100]...), names[102]), rest.SelectedTools)
	require.Equal(t, names[:100], rest.AlreadyLoaded)
	require.Empty(t, rest.Hint)
	require.Equal(t, `{"selectedTools":["mail_000"],"already_loaded":["mail_000"]}`, p.answer(t, "known"))
	require.Contains(t, p.wires[4].ToolNames, "mail_102")
}

func TestMaxResults_BoundsResults(t *testing.T) {
	for _, c := range []struct {
		name         string
		max          int
		args         string
		want         int
		hint, noHint string
	}{
		{"five by default", 0, `{"query":"report"}`, 5, "", "hint"},
		{"as configured", 2, `{"query":"report"}`, 2, "", "hint"},
		{"as the model says", 2, `{"query":"report","max_results":7}`, 7, "", "hint"},
		{"as the model says in words", 2, `{"query":"report","max_results":"7"}`, 7, "", "hint"},
		{"as the model says with decimals", 2, `{"query":"report","max_results":7.9}`, 7, "", "hint"},
		{"zero is no number", 2, `{"query":"report","max_results":0}`, 2, "", "hint"},
		{"less than zero is none", 2, `{"query":"report","max_results":-3}`, 2, "", "hint"},
		{"nonsense is none", 2, `{"query":"report","max_results":[]}`, 2, "", "hint"},
		{"no more than a hundred", 0, `{"query":"report","max_results":1000000}`, 100, "More tools match than the 100 that one search returns", ""},
		{"more than a hundred where that is configured", 110, `{"query":"report","max_results":1000000}`, 110, "More tools match than the 110", ""},
		{"all there are where there is no limit", math.MaxInt, `{"query":"report"}`, 120, "", "hint"},
		{"all there are", 0, `{"query":"report_01","max_results":1e300}`, 10, "", "hint"},
		{"exactly as many as there may be", 0, `{"query":"+report_0","max_results":100}`, 100, "", "hint"},
		{"each of several searches", 0, `{"query":["report_00","report_01","report_02"],"max_results":2}`, 6, "", "hint"},
		{"no limit for names", 1, `{"query":"select:report_001,report_002,report_003"}`, 3, "", "hint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := searchAnswer(t, toolsearch.Config{DynamicTools: reportTools(120), MaxResults: c.max}, "tool_search", c.args)
			require.Equal(t, c.want, strings.Count(answer, `"report_`), answer)
			require.Contains(t, answer, c.hint)
			if c.noHint != "" {
				require.NotContains(t, answer, c.noHint)
			}
		})
	}
}

func TestMaxResults_BoundsPatternMatches(t *testing.T) {
	answer := searchAnswer(t, toolsearch.Config{DynamicTools: reportTools(120), Protocol: toolsearch.Regexp}, "tool_search", `{"regex_pattern":"report"}`)
	require.Equal(t, 100, strings.Count(answer, `"report_`))
	require.Contains(t, answer, "More tools match than the 100")
}

func TestSearchLoad_ShortensDescriptions(t *testing.T) {
	long := strings.Repeat("查", 151)
	cfg := toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("a", long), adktest.Simple("b", long[:3*150])}, Protocol: toolsearch.SearchLoad}
	answer := searchAnswer(t, cfg, "search_tools", `{"query":"select:a,b"}`)
	require.Contains(t, answer, `{"results":[{"name":"a","description":"`+long[:3*150]+`…","score":0},{"name":"b","description":"`+long[:3*150]+`","score":0}]}`)
}

// TestSearchTool_EmptyResultNamesToolLanguage asks in vain under every protocol, in both languages.
func TestSearchTool_EmptyResultNamesToolLanguage(t *testing.T) {
	english := []string{"Sends a message to a channel.", "Lists the open issues of a project."}
	chinese := []string{"给频道发送消息", "列出项目中未解决的问题"}
	cases := []struct {
		tools                []string
		query                string
		english, zh, without string
	}{
		{english, "煮一杯浓缩咖啡给奶奶", "Most tools are described in English, and the query is in Chinese: search in English", "多数工具的说明用的是英文，而查询用的是中文：请用英文搜索", "find more"},
		{chinese, "brew an espresso for my aunt", "Most tools are described in Chinese, and the query is in English: search in Chinese", "多数工具的说明用的是中文，而查询用的是英文：请用中文搜索", "find more"},
		{chinese, "espresso", "Most tools are described in Chinese: search in Chinese", "多数工具的说明用的是中文：请用中文搜索", "query is in"},
		{english, "brew espresso for you", "The name of the server, where you know it", "知道服务器名就一并写上", "described in"},
	}
	for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for _, c := range cases {
			for p := toolsearch.Keyword; p.String() != "unknown"; p++ {
				for _, answer := range []string{
					askedInVain(newScene[*schema.Message](t, false, p), c.tools, c.query),
					askedInVain(newScene[*schema.AgenticMessage](t, true, p), c.tools, c.query),
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
	return s.begin(oneCall("a", name, fmt.Sprintf(`{%q:%q}`, argument, query))).answer(s.t, "a")
}

// TestSearchTool_DescriptionRecommendsQueries reads what the model is told of each search tool.
func TestSearchTool_DescriptionRecommendsQueries(t *testing.T) {
	for language, want := range map[adk.Language][]string{
		adk.LanguageEnglish: {"server", "where you know it"}, adk.LanguageChinese: {"知道服务器名"},
	} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for p := toolsearch.Keyword; p.String() != "unknown"; p++ {
			played := newScene[*schema.Message](t, false, p).begin()
			require.True(t, slices.ContainsFunc(played.wires[0].Tools, func(x *schema.ToolInfo) bool {
				return strings.Contains(x.Name, "search") && !slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(x.Desc, part) })
			}), p)
		}
	}
}

// Where no name may be listed, no hint points to a list, nor does one name a tool.
func TestSearchTool_HintsMentionOnlyShownList(t *testing.T) {
	for _, proto := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		for listed, filter := range map[bool]toolsearch.Filter{true: nil, false: func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
			return req.Phase != toolsearch.PhaseList, nil
		}} {
			s := newScene[*schema.Message](t, false, proto)
			s.cfg.Filter = filter
			p := s.begin(oneCall("a", "tool_search", `{"query":"wether"}`), oneCall("b", "tool_search", `{"query":"select:github__create_issues"}`))
			require.Equal(t, listed, strings.Contains(p.answer(t, "a"), "<available-deferred-tools>"))
			require.Equal(t, listed, strings.Contains(p.answer(t, "b"), "Nearest names: github__create_issue"), p.answer(t, "b"))
		}
	}
}
