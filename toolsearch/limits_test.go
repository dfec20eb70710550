// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Limits: of answers, of one call of a search tool, and of reading schemas. Answers stay
// within them whatever strangers call and describe their tools.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/race"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// answerRoom is what an answer may hold beside its tools: hints and keys.
const answerRoom = 24 << 10

func toolWith(t testing.TB, name, desc, params string) tool.BaseTool {
	t.Helper()
	s, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}).ToJSONSchema()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(params), s))
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(s)}, nil)
}

// agentTools are the tools of an agent without tools of its own.
func agentTools(t testing.TB, cfg Config) []tool.BaseTool {
	t.Helper()
	h, err := New(context.Background(), &cfg)
	require.NoError(t, err)
	rc := &adkrun.Run{}
	_, err = adkrun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	return rc.Tools
}

// ask runs one call of a search tool, outside of a run.
func ask(t testing.TB, cfg Config, name, args string) string {
	t.Helper()
	for _, x := range agentTools(t, cfg) {
		if info, err := x.Info(context.Background()); err == nil && info.Name == name {
			answer, err := x.(tool.InvokableTool).InvokableRun(context.Background(), args)
			require.NoError(t, err)
			return answer
		}
	}
	t.Fatalf("no tool %q", name)
	return ""
}

// isShortened is the data of an answer with a shortened schema.
var isShortened = say.Data{Shown: say.Shown{Shortened: true}}

func described(t testing.TB, text string) (a answer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &a), "%.300s", text)
	return a
}

// properties is a schema of n parameters that take about that many bytes together.
func properties(n, bytes int, words string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"p%04d":{"type":"string","%s":"%s"}`, i, words, strings.Repeat("x", max(0, bytes/n-40)))
	}
	return `{"type":"object","properties":{` + b.String()[1:] + `},"required":["p0001"]}`
}

func TestToolsThatDoNotFitIntoAnAnswerAreNamed(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		size := func(name string) int {
			e := &hidden.Tool{Info: &schema.ToolInfo{Name: name}}
			return describedSize(e)
		}
		names := []string{"send_a", "send_b", "send_c"}
		rest := maxAnswerBytes - 3*size("send_a")
		tools := func(over int) (list []tool.BaseTool) {
			for i, n := range []int{rest / 3, rest / 3, rest - 2*(rest/3) + over} {
				list = append(list, adktest.Simple(names[i], strings.Repeat("d", n)))
				info, err := list[i].Info(context.Background())
				require.NoError(t, err)
				info.ParamsOneOf = nil
			}
			return list
		}
		fits := ask(t, Config{Protocol: SearchCall, DynamicTools: tools(0)}, "tool_search", `{"query":"send"}`)
		require.Len(t, described(t, fits).Tools, 3)
		require.Empty(t, described(t, fits).Hint)
		require.LessOrEqual(t, len(fits), maxAnswerBytes+len(`{"tools":[]}`))
		require.Greater(t, len(fits), maxAnswerBytes-100)

		over := described(t, ask(t, Config{Protocol: SearchCall, DynamicTools: tools(1)}, "tool_search", `{"query":"send"}`))
		require.Len(t, over.Tools, 2)
		require.Equal(t, all.Say("cut-answer", say.Data{Total: 1, Words: []string{"send_c"}}), over.Hint)
		alone := described(t, ask(t, Config{Protocol: SearchCall, DynamicTools: tools(1)}, "tool_search", `{"query":"select:send_c"}`))
		require.Len(t, alone.Tools, 1, "the hint leads to the rest")
		require.Len(t, *alone.Tools[0].Description, rest-2*(rest/3)+1)
		require.Empty(t, alone.Hint)
	})
}

func TestALongSchemaIsShortened(t *testing.T) {
	race.Skip(t, "reads long schemas")
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		exact := func(n int) string {
			return strings.Replace(properties(2, 0, "description"), `"description":""`, `"description":"`+strings.Repeat("x", n)+`"`, 1)
		}
		one, err := toolWith(t, "t", "", exact(1)).Info(context.Background())
		require.NoError(t, err)
		pad := hidden.MaxShown - len((&hidden.Tool{Info: one}).Parameters()) + 1
		for _, c := range []struct {
			name, schema  string
			shortened     bool
			params, least int
		}{
			{"as long as is shown", exact(pad), false, 2, 2},
			{"one byte longer", exact(pad + 1), true, 2, 2},
			{"words of 256 KB", properties(20, 1<<18, "description"), true, 20, 20},
			{"data of 256 KB", properties(1000, 1<<18, "const"), true, 1000, 1000},
			{"parameters of 256 KB", properties(1999, 1<<18, "const"), true, 1900, 1000},
		} {
			t.Run(c.name, func(t *testing.T) {
				x := toolWith(t, "huge", "Does it.", c.schema)
				a := described(t, ask(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{x}}, "tool_search", `{"query":"huge"}`))
				require.Len(t, a.Tools, 1)
				require.LessOrEqual(t, len(a.Tools[0].Parameters), hidden.MaxShown)
				var shown struct {
					Properties map[string]struct{ Type string }
					Required   []string
				}
				require.NoError(t, json.Unmarshal(a.Tools[0].Parameters, &shown))
				require.GreaterOrEqual(t, len(shown.Properties), c.least)
				require.LessOrEqual(t, len(shown.Properties), c.params)
				require.Equal(t, "string", shown.Properties["p0001"].Type, "a required parameter is among those that are shown")
				require.Equal(t, []string{"p0001"}, shown.Required)

				wrong := ask(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{x}}, "call_tool", `{"name":"huge","arguments":{"p0001":7}}`)
				require.LessOrEqual(t, len(wrong), hidden.MaxShown+answerRoom)
				if c.shortened {
					require.Equal(t, all.Say("shortened-tool", say.Data{Name: "huge"}), a.Hint)
				} else {
					require.Empty(t, a.Hint)
				}
				if len(c.schema) <= toolschema.MaxCheckedBytes {
					require.Equal(t, c.shortened, strings.Contains(wrong, all.Say("shortened", isShortened)), "%.200s", wrong)
				}
			})
		}
	})
}

func TestALongDescriptionIsShortened(t *testing.T) {
	race.Skip(t, "reads long descriptions")
	for _, c := range []struct {
		name, desc string
		most       int
	}{
		{"letters", strings.Repeat("ü", 1<<18), maxAnswerBytes},
		{"what JSON escapes", strings.Repeat("\x01\"\\\n", 1<<18), maxAnswerBytes},
		{"what is not text", strings.Repeat("\xff", 1<<18), maxAnswerBytes},
	} {
		a := ask(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{adktest.Simple("huge", c.desc)}}, "tool_search", `{"query":"huge"}`)
		require.LessOrEqual(t, len(a), maxAnswerBytes+answerRoom, c.name)
		d := described(t, a)
		require.Len(t, d.Tools, 1, c.name)
		require.True(t, utf8.ValidString(*d.Tools[0].Description), c.name)
		require.Greater(t, len(*d.Tools[0].Description), 8<<10, c.name)
		require.True(t, strings.HasSuffix(*d.Tools[0].Description, "…"), c.name)
		require.NotEmpty(t, d.Hint, c.name)
	}
}

// Whatever is called: the answer is bounded, and it is JSON where it should be.
func TestEveryAnswerIsBounded(t *testing.T) {
	race.Skip(t, "ranks tools of megabytes")
	all := []string{strings.Repeat("n", 5_000), strings.Repeat("n", 1<<20), strings.Repeat("\x01", 40_000), "short"}
	if testing.Short() {
		all = all[:1]
	}
	for _, name := range all {
		var tools []tool.BaseTool
		var names []string
		for i := range 120 {
			if len(name) > 100_000 && i == 5 {
				break
			}
			names = append(names, fmt.Sprintf("%s_%03d", name, i))
			tools = append(tools, toolWith(t, names[i], strings.Repeat("send word ", 500), properties(40, 4_000, "description")))
		}
		set, err := toolset.New(t.Context(), tools...) // read and indexed once
		require.NoError(t, err)
		inBothLanguages(t, func(t *testing.T, _ *texts.Texts) { answersAreBounded(t, set, names, name) })
	}
}

func answersAreBounded(t *testing.T, set *toolset.Set, names []string, name string) {
	list, err := json.Marshal(names[:min(len(names), 100)])
	require.NoError(t, err)
	for _, c := range []struct {
		protocol   Protocol
		tool, args string
	}{
		{Keyword, "tool_search", `{"query":["send","word","send word"],"max_results":100}`},
		{Keyword, "tool_search", `{"query":"select:nothing,nobody,none,` + name[:min(len(name), 99)] + `"}`},
		{Regexp, "tool_search", `{"regex_pattern":"."}`},
		{Regexp, "tool_search", `{"regex_pattern":"nnnnnnx"}`},
		{SearchLoad, "search_tools", `{"query":["send","word","send word"],"max_results":100}`},
		{SearchLoad, "load_tool", `{"tool_names":` + string(list) + `}`},
		{SearchCall, "tool_search", `{"query":["send","word","send word"],"max_results":100}`},
		{SearchCall, "call_tool", `{"name":"nobody","arguments":{}}`},
		{SearchCall, "call_tool", `{"name":` + say.JSON(names[0]) + `,"arguments":{"p0001":7}}`},
	} {
		answer := ask(t, Config{Protocol: c.protocol, Source: set}, c.tool, c.args)
		require.LessOrEqual(t, len(answer), maxAnswerBytes+answerRoom, "%v %.200s: %.300s", c.protocol, c.args, answer)
		if c.tool != "call_tool" {
			require.True(t, json.Valid([]byte(answer)), "%v %.200s: %.300s", c.protocol, c.args, answer)
		}
	}
}

// reports are tools of which each has a word of its own, and all share one.
func reports(n int) (tools []tool.BaseTool) {
	for i := range n {
		tools = append(tools, adktest.Simple(fmt.Sprintf("report_%03d", i), "Shared words."))
	}
	return tools
}

// numbered joins n texts.
func numbered(n int, format, sep string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, sep)
}

func TestTheLimitsOfACall(t *testing.T) {
	query := func(q string) string { return `{"query":` + say.JSON(q) + `}` }
	list := func(key, items string) string { return `{"` + key + `":[` + items + `]}` }
	most := func(q string, n int) string { return fmt.Sprintf(`{"query":%q,"max_results":%d}`, q, n) }
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		text := func(name string, limit int) string { return all.Say(name, say.Data{Limit: limit}) }
		for _, c := range []struct {
			name     string
			cfg      Config
			args     string
			found    int
			note     string // the whole hint
			fewTools int
		}{
			{"names", Config{}, query("select:" + numbered(maxNames, "report_%03d", ",")), maxNames, "", 0},
			{"more names", Config{}, query("select:" + numbered(maxNames+1, "report_%03d", ",")), maxNames, text("cut-names", maxNames), 0},
			{"names to load", Config{Protocol: SearchLoad}, list("tool_names", numbered(maxNames, `"report_%03d"`, ",")), maxNames, "", 0},
			{"more names to load", Config{Protocol: SearchLoad}, list("tool_names", numbered(maxNames+1, `"report_%03d"`, ",")), maxNames, text("cut-names", maxNames), 0},
			{"queries", Config{}, list("query", numbered(maxQueries, `"report_%03d"`, ",")), maxQueries, "", 0},
			{"more queries", Config{}, list("query", numbered(maxQueries+1, `"report_%03d"`, ",")), maxQueries, text("cut-queries", maxQueries), 0},
			{"results", Config{}, most("shared", maxResultsCap), maxResultsCap, "", maxResultsCap},
			{"more results than there are", Config{}, most("shared", maxResultsCap+1), maxResultsCap, "", maxResultsCap},
			{"as many as asked for", Config{}, most("shared", maxResultsCap), maxResultsCap, "", 0},
			{"more results", Config{}, most("shared", maxResultsCap+1), maxResultsCap, text("cut-results", maxResultsCap), maxResultsCap + 1},
			{"results where more are set", Config{MaxResults: maxResultsCap + 1}, most("shared", maxResultsCap+1), maxResultsCap + 1, "", maxResultsCap + 1},
			{"more where more are set", Config{MaxResults: maxResultsCap + 1}, most("shared", maxResultsCap+2), maxResultsCap + 1, text("cut-results", maxResultsCap+1), 0},
			{"results of a pattern", Config{Protocol: Regexp}, `{"regex_pattern":"."}`, maxResultsCap, "", maxResultsCap},
			{"more results of a pattern", Config{Protocol: Regexp}, `{"regex_pattern":"."}`, maxResultsCap, text("cut-results", maxResultsCap), maxResultsCap + 1},
			{"the longest pattern", Config{Protocol: Regexp}, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPatternBytes/2-5) + `"}`, 1, "", 0},
			{"a longer pattern", Config{Protocol: Regexp}, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPatternBytes/2-4) + `"}`, 0, text("long-pattern", maxPatternBytes), 0},
			{"words", Config{}, query(strings.Repeat("zzz ", maxWords-1) + "report_007"), 1, "", 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				n := 200
				if c.fewTools > 0 {
					n = c.fewTools
				}
				c.cfg.DynamicTools = reports(n)
				name := toolnames.Search
				if c.cfg.Protocol == SearchLoad {
					name = toolnames.Load
				}
				var a struct {
					Matches, Loaded, SelectedTools []string
					Hint                           string
				}
				require.NoError(t, json.Unmarshal([]byte(ask(t, c.cfg, name, c.args)), &a))
				require.Len(t, append(append(a.Matches, a.Loaded...), a.SelectedTools...), c.found)
				require.Equal(t, c.note, a.Hint)
			})
		}
		words := matchesOf(t, ask(t, Config{DynamicTools: reports(200)}, toolnames.Search, query(strings.Repeat("zzz ", maxWords)+"report_007")))
		require.Empty(t, words.Matches, "the word after the last that counts")
	})
}

func matchesOf(t testing.TB, text string) (a answer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &a), text)
	return a
}

// What an answer suggests is bounded too.
func TestTheLimitsOfSuggestions(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		tools := Config{DynamicTools: reports(200)}
		count := func(a answer) int { return strings.Count(a.Hint, "report_") }
		near := matchesOf(t, ask(t, tools, toolnames.Search, `{"query":"reportt"}`))
		require.Equal(t, maxSuggestions, count(near), near.Hint)
		few := Config{DynamicTools: reports(maxSuggestions - 1)}
		require.Equal(t, maxSuggestions-1, count(matchesOf(t, ask(t, few, toolnames.Search, `{"query":"reportt"}`))))

		unknown := func(n int) answer {
			return matchesOf(t, ask(t, tools, toolnames.Search, `{"query":"select:`+numbered(n, "nothing%02dlikeit", ",")+`"}`))
		}
		require.Equal(t, 10, strings.Count(unknown(10).Hint, "likeit"))
		require.NotContains(t, unknown(10).Hint, all.Say("more-unknown", say.Data{Total: 1}))
		require.Equal(t, 10, strings.Count(unknown(11).Hint, "likeit"))
		require.Contains(t, unknown(11).Hint, all.Say("more-unknown", say.Data{Total: 1}))
		require.Contains(t, unknown(13).Hint, all.Say("more-unknown", say.Data{Total: 3}))

		lookedUp := func(n int) string {
			return matchesOf(t, ask(t, tools, toolnames.Search, `{"query":"`+numbered(n, "qq%dxx", " ")+`"}`)).Hint
		}
		require.Equal(t, maxLookups, strings.Count(lookedUp(maxLookups), "xx"))
		require.Equal(t, maxLookups, strings.Count(lookedUp(maxLookups+1), "xx"), "words that are said to match nothing")
	})
}
