// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The texts that a model reads, in both languages, and the search tools on the wire: those of
// testdata/tools.en.json and tools.zh.json.

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolnames"
)

// inBothLanguages runs a test in English and in Chinese.
func inBothLanguages(t *testing.T, test func(*testing.T, *texts.Texts)) {
	for _, l := range []struct {
		name     string
		language adk.Language
		texts    *texts.Texts
	}{{"en", adk.LanguageEnglish, prompts.English()}, {"zh", adk.LanguageChinese, prompts.Chinese()}} {
		t.Run(l.name, func(t *testing.T) {
			require.NoError(t, adk.SetLanguage(l.language))
			t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
			require.Same(t, l.texts, prompts.Current())
			test(t, l.texts)
		})
	}
}

// full has something in every field.
var full = promptData{
	Name: "the_name", Words: []string{"word_a", "word_b"}, Near: []string{"near_a", "near_b"},
	Limit: 17, Total: 4711, Path: "/the/path", Reason: "the reason", Listed: true,
	shown: shown{`{"the":"schema"}`, true}, languages: languages{"German", "Japanese"},
}

var fullOfTools = toolData{Limit: 17, Total: 4711, Calls: true}

// isOfTool reports whether a text describes a search tool.
func isOfTool(name string) bool {
	for _, tool := range []string{"tool_search", "search_tools", "load_tool", "call_tool", "where-names"} {
		if strings.HasPrefix(name, tool) {
			return true
		}
	}
	return false
}

// say renders a text with its kind of data.
func say(all *texts.Texts, name string, h promptData, of toolData) string {
	if isOfTool(name) {
		return all.Say(name, of)
	}
	return all.Say(name, h)
}

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	require.Equal(t, prompts.English().Names(), prompts.Chinese().Names())
	require.Greater(t, len(prompts.English().Names()), 30)
}

func TestEveryTextIsInItsLanguage(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		for _, name := range all.Names() {
			for i, of := range []toolData{fullOfTools, {}, {Limit: 1, Native: true, Unloads: true, Ungated: true, Partial: true}} {
				h := []promptData{full, {}, {Limit: 1}}[i]
				text := say(all, name, h, of)
				if name == "near" && h.Near == nil || name == "shortened" && !h.Shortened || strings.HasSuffix(name, "-language") && h.Language == "" {
					require.Empty(t, text)
					continue
				}
				require.NotEmpty(t, text, name)
				require.NotContains(t, text, "<no value>", name)
				require.NotContains(t, text, "{{", name)
				require.Equal(t, all == prompts.Chinese(), strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }), "%s: %s", name, text)
			}
		}
	})
}

func TestTextsHoldTheirDataAndKeywords(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		table := map[string][]string{
			"near":                             {"near_a", "near_b"},
			"empty-query":                      {`"query"`, `select:`},
			"no-match":                         {"word_a", "word_b", "near_a", "near_b", "select:", "<available-deferred-tools>"},
			"not-sure":                         {"near_a", "near_b", "select:"},
			"missing-servers":                  {"word_a", "word_b"},
			"unknown-name":                     {"the_name", "near_a", "near_b"},
			"more-unknown":                     {"4711"},
			"cut-results":                      {"17"},
			"cut-names":                        {"17"},
			"cut-queries":                      {"17"},
			"not-allowed":                      {"the_name"},
			"too-many-tools":                   {"the_name"},
			"from-next-run":                    {"the_name"},
			"no-such-tool":                     {"the_name", "near_a"},
			"gate":                             {"the_name", `{"the":"schema"}`},
			"gate-call":                        {"the_name", `{"the":"schema"}`, "call_tool"},
			"rest":                             {"17", "4711", "word_a", "word_b", "/the/path"},
			"cut-answer":                       {"4711", "word_a", "word_b"},
			"shortened-tool":                   {"the_name"},
			"shortened":                        {"schema"},
			"already-loaded":                   {"word_a", "word_b"},
			"offer":                            {"call_tool", "tool_search"},
			"offer-code":                       {"run_code", "tool_search"},
			"changed-added":                    {"word_a, word_b"},
			"changed-removed":                  {"word_a, word_b"},
			"changed-counted":                  {"4711", "word_a", "word_b", "/the/path"},
			"empty-pattern":                    {`"regex_pattern"`},
			"long-pattern":                     {"17"},
			"bad-pattern":                      {"the reason", "RE2"},
			"no-name-matches":                  {"near_a", "(?i)"},
			"no-name":                          {`"tool_name"`, `"tool_names"`, "search_tools"},
			"no-call-name":                     {`"name"`, `"arguments"`, "tool_search"},
			"no-object":                        {`"arguments"`, "JSON"},
			"bad-arguments":                    {"the_name", "the reason", `{"the":"schema"}`},
			"tool_search":                      {"<available-deferred-tools>", "select:", "+github", "max_results", "17", `"matches"`, `"hint"`},
			"tool_search.query":                {"select:", "+"},
			"tool_search.max_results":          {"17", "4711", "select:"},
			"tool_search_regexp":               {"<available-deferred-tools>", "RE2", `"selectedTools"`, `"hint"`, "4711"},
			"tool_search_regexp.regex_pattern": {"RE2", "(?i)"},
			"search_tools":                     {"<available-deferred-tools>", "load_tool", `"results"`, `"hint"`, `"already_loaded"`},
			"search_tools.query":               {"select:"},
			"search_tools.max_results":         {"17", "4711"},
			"load_tool":                        {"<available-deferred-tools>", "search_tools", `"tool_name"`, `"tool_names"`, `"loaded"`, `"already_loaded"`, `"hint"`},
			"load_tool.tool_name":              {},
			"load_tool.tool_names":             {},
			"tool_search_call":                 {"<available-deferred-tools>", "call_tool", `"tools"`, `"hint"`},
			"tool_search_call.query":           {"select:"},
			"tool_search_call.max_results":     {"17", "4711"},
			"call_tool":                        {"tool_search", `"name"`, `"arguments"`},
			"call_tool.name":                   {"tool_search"},
			"call_tool.arguments":              {"tool_search"},
			"tool_search_code":                 {"<available-deferred-tools>", "run_code", "call_tool", "TypeScript", `"tools"`, `"hint"`},
			"tool_search_code.query":           {"select:"},
			"tool_search_code.max_results":     {"17", "4711"},
			"program-meta":                     {"the_name", "run_code"},
			"what-finds-more":                  {},
			"ask-in":                           {},
			"tools-language":                   {},
			"query-language":                   {},
			"where-names":                      {"<available-deferred-tools>"},
		}
		require.ElementsMatch(t, all.Names(), slices.Collect(maps.Keys(table)), "the table holds every text")
		for name, must := range table {
			text := say(all, name, full, fullOfTools)
			for _, part := range must {
				require.Contains(t, text, part, name)
			}
		}
	})
}

var saysName = regexp.MustCompile(`\b(?:render|cut)\(\s*"([^"]+)"`)

func TestEveryTextThatIsRenderedExists(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	said := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		source, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range saysName.FindAllStringSubmatch(string(source), -1) {
			require.Contains(t, prompts.English().Names(), m[1], f)
			said++
		}
	}
	require.Greater(t, said, 15)
}

// searchTools are the search tools of a protocol over one tool.
func searchToolsOf(t *testing.T, p Protocol) map[string]tool.InvokableTool {
	h, err := New(context.Background(), &Config{Protocol: p, DynamicTools: []tool.BaseTool{
		adktest.Simple("send_email", "Sends an email"), adktest.Simple("name_of_tool", "Has a name"),
		adktest.Simple("github__create_issue", "Creates an issue"), adktest.Simple("weather__forecast", "Says what the weather will be"),
		adktest.Simple("calendar__add_event", "Adds an event"), adktest.Simple("read_file", "Reads"), adktest.Simple("write_file", "Writes"),
		adktest.Simple("clock__convert_zone", "Converts a time zone (时区 转换)"),
	}})
	require.NoError(t, err)
	rc := &adkrun.Run{}
	_, err = adkrun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	found := map[string]tool.InvokableTool{}
	for _, x := range rc.Tools {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		if toolnames.IsSearchTool(info.Name) {
			found[info.Name] = x.(tool.InvokableTool)
		}
	}
	return found
}

// A model that follows an example of a text gets what the text promises.
func TestExamplesInTextsWork(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		jsonExample := regexp.MustCompile(`\{"(?:[^{}]|\{[^{}]*\})*\}`)
		for _, c := range []struct {
			text     string
			protocol Protocol
			tool     string
			want     int
		}{
			{"empty-query", Keyword, "tool_search", 2}, {"empty-query", SearchLoad, "search_tools", 2}, {"empty-query", SearchCall, "tool_search", 2},
			{"empty-pattern", Regexp, "tool_search", 1}, {"no-name", SearchLoad, "load_tool", 1}, {"no-call-name", SearchCall, "call_tool", 1},
		} {
			examples := jsonExample.FindAllString(all.Say(c.text, toolData{}), -1)
			require.Len(t, examples, c.want, c.text)
			for _, args := range examples {
				require.True(t, json.Valid([]byte(args)), args)
				answer, err := searchToolsOf(t, c.protocol)[c.tool].InvokableRun(context.Background(), args)
				require.NoError(t, err)
				require.NotContains(t, answer, `"hint"`, "%s: %s", args, answer)
				require.Regexp(t, "send_email|name_of_tool|echo", answer)
			}
		}
		queries := regexp.MustCompile(`"((?:select:|\+|\^|\(\?i\))[^"]*|send email|convert time zone|weather forecast|时区 转换)"`)
		for name, c := range map[string]struct {
			protocol Protocol
			key      string
			least    int
		}{
			"tool_search": {Keyword, "query", 8}, "search_tools": {SearchLoad, "query", 2}, "tool_search_call": {SearchCall, "query", 2}, "tool_search_regexp": {Regexp, "regex_pattern", 2},
		} {
			found := queries.FindAllStringSubmatch(say(all, name, full, fullOfTools), -1)
			require.GreaterOrEqual(t, len(found), c.least, name)
			for _, q := range found {
				if q[1] == "select:" {
					continue // it speaks of the mark
				}
				args, _ := json.Marshal(map[string]string{c.key: strings.ReplaceAll(q[1], "mail", "email")})
				meta := strings.Split(name, "_regexp")[0]
				meta = strings.TrimSuffix(meta, "_call")
				answer, err := searchToolsOf(t, c.protocol)[meta].InvokableRun(context.Background(), string(args))
				require.NoError(t, err)
				require.NotContains(t, answer, `"hint"`, "%s: %s: %s", name, q[1], answer)
			}
		}
	})
}

// In a language, everything that a model reads is in that language.
func TestAgentsSpeakTheLanguageThatIsSet(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		for _, p := range []Protocol{Keyword, Regexp, SearchLoad, SearchCall} {
			for name, x := range searchToolsOf(t, p) {
				info, err := x.Info(context.Background())
				require.NoError(t, err)
				params, err := info.ToJSONSchema()
				require.NoError(t, err)
				answer, err := x.InvokableRun(context.Background(), "")
				require.NoError(t, err)
				for _, text := range append([]string{info.Desc, answer}, descriptions(params)...) {
					require.Equal(t, all == prompts.Chinese(), strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }), "%v %s: %s", p, name, text)
				}
			}
		}
	})
}

func descriptions(s any) []string {
	text, _ := json.Marshal(s)
	var out []string
	for _, m := range regexp.MustCompile(`"description":"([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

func TestTheSearchToolsOfEveryProtocolStayAsTheyAre(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		type wire struct {
			Protocol    string
			Name        string
			Description string
			Parameters  any
		}
		var got []wire
		for p := Keyword; p <= SearchCall; p++ {
			cfg := Config{Protocol: p, DynamicTools: []tool.BaseTool{adktest.Simple("send_email", "Sends an email.")}}
			for _, x := range offeredBy(t, cfg) {
				info, err := x.Info(context.Background())
				require.NoError(t, err)
				params, err := info.ToJSONSchema()
				require.NoError(t, err)
				got = append(got, wire{p.String(), info.Name, info.Desc, params})
			}
		}
		require.Len(t, got, 6)
		text, err := json.MarshalIndent(got, "", "\t")
		require.NoError(t, err)
		file := filepath.Join("testdata", "tools.en.json")
		if all == prompts.Chinese() {
			file = filepath.Join("testdata", "tools.zh.json")
		}
		if os.Getenv("EINOLEAN_UPDATE") != "" {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(text))
		require.Equal(t, string(want), string(text)+"\n", "the order too is part of what a prompt cache keeps")
	})
}

// offeredBy are the search tools that an agent gets, in order.
func offeredBy(t testing.TB, cfg Config) (found []tool.BaseTool) {
	t.Helper()
	for _, x := range agentTools(t, cfg) {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		if toolnames.IsSearchTool(info.Name) {
			found = append(found, x)
		}
	}
	return found
}
