// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

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

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/dev/textstest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
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

// answering is the answer of a protocol's search tool.
type answering func(context.Context, Searcher, jsontext.Arguments) (string, error)

// over searches tools that nobody is denied, and of which none is shown yet.
func over(t testing.TB, tools ...tool.BaseTool) Searcher {
	t.Helper()
	entries := make([]*catalog.Tool, len(tools))
	names := make([]string, len(tools))
	for i, x := range tools {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		entries[i], err = catalog.NewTool(x, info)
		require.NoError(t, err)
		names[i] = info.Name
	}
	set := catalog.New(entries)
	s := Searcher{Tools: Tools{set, NewRanks(set)}, Limits: Limits{MaxResults: 5}, For: &anybody{names: names}}
	s.BuildIndex(context.Background(), nil)
	return s
}

// anybody may use and know of every tool but some.
type anybody struct {
	names               []string
	denied, known, sees toolnames.Set
}

func (a *anybody) May(e *catalog.Tool) bool     { return !a.denied[e.Info.Name] }
func (a *anybody) MayHint(e *catalog.Tool) bool { return a.May(e) }
func (a *anybody) Knows(name string) bool       { return a.denied[name] && a.known[name] }
func (a *anybody) Sees() toolnames.Set          { return a.sees }

func (a *anybody) Listed() (names []string) {
	for _, name := range a.names {
		if !a.denied[name] || a.known[name] {
			names = append(names, name)
		}
	}
	return names
}

// ask runs one call of a search tool.
func ask(t testing.TB, s Searcher, by answering, args string) string {
	t.Helper()
	answer, err := by(context.Background(), s, jsontext.DecodeArguments(args))
	require.NoError(t, err)
	return answer
}

func described(t testing.TB, text string) (a protocol.Answer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &a), "%.300s", text)
	return a
}

func TestToolsThatDoNotFitIntoAnAnswerAreNamed(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		size := func(name string) int {
			e := &catalog.Tool{Info: &schema.ToolInfo{Name: name}}
			d, _ := protocol.Describe(e)
			return d.Size()
		}
		names := []string{"send_a", "send_b", "send_c"}
		rest := protocol.MaxAnswer - 3*size("send_a")
		tools := func(over int) (list []tool.BaseTool) {
			for i, n := range []int{rest / 3, rest / 3, rest - 2*(rest/3) + over} {
				list = append(list, adktest.Simple(names[i], strings.Repeat("d", n)))
				info, err := list[i].Info(context.Background())
				require.NoError(t, err)
				info.ParamsOneOf = nil
			}
			return list
		}
		fits := ask(t, over(t, tools(0)...), Describe, `{"query":"send"}`)
		require.Len(t, described(t, fits).Tools, 3)
		require.Empty(t, described(t, fits).Hint)
		require.LessOrEqual(t, len(fits), protocol.MaxAnswer+len(`{"tools":[]}`))
		require.Greater(t, len(fits), protocol.MaxAnswer-100)

		more := described(t, ask(t, over(t, tools(1)...), Describe, `{"query":"send"}`))
		require.Len(t, more.Tools, 2)
		require.Equal(t, all.Say("cut-answer", protocol.Data{Total: 1, Words: []string{"send_c"}}), more.Hint)
		alone := described(t, ask(t, over(t, tools(1)...), Describe, `{"query":"select:send_c"}`))
		require.Len(t, alone.Tools, 1, "the hint leads to the rest")
		require.Len(t, *alone.Tools[0].Description, rest-2*(rest/3)+1)
		require.Empty(t, alone.Hint)
	})
}

func TestSignaturesThatDoNotFitIntoAnAnswerAreNamed(t *testing.T) {
	var fields strings.Builder
	for i := range 12 {
		fmt.Fprintf(&fields, `,"parameter_with_a_long_name_%02d":{"type":"string","description":"what it is for"}`, i)
	}
	var tools []tool.BaseTool
	for i := range 90 {
		tools = append(tools, toolWith(t, fmt.Sprintf("report_%03d", i), strings.Repeat("Sends a report. ", 20), `{"type":"object","properties":{`+fields.String()[1:]+`}}`))
	}
	s := over(t, tools...)
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		words := described(t, ask(t, s, AnswerSignatures, `{"query":"report","max_results":90}`))
		require.Less(t, len(words.Tools), 90)
		var names []string
		for i := range maxLeftOut {
			names = append(names, fmt.Sprintf("report_%03d", len(words.Tools)+i))
		}
		require.Equal(t, all.Say("cut-answer", protocol.Data{Total: 90 - len(words.Tools), Words: names}), words.Hint)
		matches := described(t, ask(t, s, SignMatches, `{"regex_pattern":"."}`))
		require.Len(t, matches.Tools, len(words.Tools))
		require.Equal(t, words.Hint, matches.Hint)
	})
}

//claim:security-18
func TestALongSchemaIsShortened(t *testing.T) {
	race.Skip(t, "reads long schemas")
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		exact := func(n int) string {
			return strings.Replace(adktest.Properties(2, 0, "description"), `"description":""`, `"description":"`+strings.Repeat("x", n)+`"`, 1)
		}
		one, err := toolWith(t, "t", "", exact(1)).Info(context.Background())
		require.NoError(t, err)
		pad := catalog.MaxShown - len((&catalog.Tool{Info: one}).Parameters()) + 1
		for _, c := range []struct {
			name, schema  string
			shortened     bool
			params, least int
		}{
			{"as long as is shown", exact(pad), false, 2, 2},
			{"one byte longer", exact(pad + 1), true, 2, 2},
			{"words of 256 KB", adktest.Properties(20, 1<<18, "description"), true, 20, 20},
			{"data of 256 KB", adktest.Properties(1000, 1<<18, "const"), true, 1000, 1000},
			{"parameters of 256 KB", adktest.Properties(1999, 1<<18, "const"), true, 1900, 1000},
		} {
			t.Run(c.name, func(t *testing.T) {
				x := toolWith(t, "huge", "Does it.", c.schema)
				a := described(t, ask(t, over(t, x), Describe, `{"query":"huge"}`))
				require.Len(t, a.Tools, 1)
				require.LessOrEqual(t, len(a.Tools[0].Parameters), catalog.MaxShown)
				var shown struct {
					Properties map[string]struct{ Type string }
					Required   []string
				}
				require.NoError(t, json.Unmarshal(a.Tools[0].Parameters, &shown))
				require.GreaterOrEqual(t, len(shown.Properties), c.least)
				require.LessOrEqual(t, len(shown.Properties), c.params)
				require.Equal(t, "string", shown.Properties["p0001"].Type, "a required parameter is among those that are shown")
				require.Equal(t, []string{"p0001"}, shown.Required)

				if c.shortened {
					require.Equal(t, all.Say("shortened-tool", protocol.Data{Name: "huge"}), a.Hint)
				} else {
					require.Empty(t, a.Hint)
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
		{"letters", strings.Repeat("ü", 1<<18), protocol.MaxAnswer},
		{"what JSON escapes", strings.Repeat("\x01\"\\\n", 1<<18), protocol.MaxAnswer},
		{"what is not text", strings.Repeat("\xff", 1<<18), protocol.MaxAnswer},
	} {
		a := ask(t, over(t, adktest.Simple("huge", c.desc)), Describe, `{"query":"huge"}`)
		require.LessOrEqual(t, len(a), protocol.MaxAnswer+answerRoom, c.name)
		d := described(t, a)
		require.Len(t, d.Tools, 1, c.name)
		require.True(t, utf8.ValidString(*d.Tools[0].Description), c.name)
		require.Greater(t, len(*d.Tools[0].Description), 8<<10, c.name)
		require.True(t, strings.HasSuffix(*d.Tools[0].Description, "…"), c.name)
		require.NotEmpty(t, d.Hint, c.name)
	}
}

// Whatever is called: the answer is bounded, and it is JSON where it should be.
//
//claim:security-18
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
			tools = append(tools, toolWith(t, names[i], strings.Repeat("send word ", 500), adktest.Properties(40, 4_000, "description")))
		}
		all := over(t, tools...) // read and indexed once
		textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, _ *prompt.Texts) { answersAreBounded(t, all, names, name) })
	}
}

func answersAreBounded(t *testing.T, s Searcher, names []string, name string) {
	list, err := json.Marshal(names[:min(len(names), 100)])
	require.NoError(t, err)
	for _, c := range []struct {
		by   answering
		args string
	}{
		{AnswerNames, `{"query":["send","word","send word"],"max_results":100}`},
		{AnswerNames, `{"query":"select:nothing,nobody,none,` + name[:min(len(name), 99)] + `"}`},
		{Regexp, `{"regex_pattern":"."}`},
		{Regexp, `{"regex_pattern":"nnnnnnx"}`},
		{Candidates, `{"query":["send","word","send word"],"max_results":100}`},
		{AnswerLoad, `{"tool_names":` + string(list) + `}`},
		{Describe, `{"query":["send","word","send word"],"max_results":100}`},
		{AnswerSignatures, `{"query":["send","word","send word"],"max_results":100}`},
		{SignMatches, `{"regex_pattern":"."}`},
	} {
		answer := ask(t, s, c.by, c.args)
		require.LessOrEqual(t, len(answer), protocol.MaxAnswer+answerRoom, "%.200s: %.300s", c.args, answer)
		require.True(t, json.Valid([]byte(answer)), "%.200s: %.300s", c.args, answer)
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
	query := func(q string) string { return `{"query":` + protocol.JSON(q) + `}` }
	list := func(key, items string) string { return `{"` + key + `":[` + items + `]}` }
	most := func(q string, n int) string { return fmt.Sprintf(`{"query":%q,"max_results":%d}`, q, n) }
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		text := func(name string, limit int) string { return all.Say(name, protocol.Data{Limit: limit}) }
		for _, c := range []struct {
			name     string
			by       answering
			args     string
			found    int
			note     string // the whole hint
			fewTools int
			results  int
		}{
			{"names", AnswerNames, query("select:" + numbered(maxNames, "report_%03d", ",")), maxNames, "", 0, 5},
			{"more names", AnswerNames, query("select:" + numbered(maxNames+1, "report_%03d", ",")), maxNames, text("cut-names", maxNames), 0, 5},
			{"names to load", AnswerLoad, list("tool_names", numbered(maxNames, `"report_%03d"`, ",")), maxNames, "", 0, 5},
			{"more names to load", AnswerLoad, list("tool_names", numbered(maxNames+1, `"report_%03d"`, ",")), maxNames, text("cut-names", maxNames), 0, 5},
			{"queries", AnswerNames, list("query", numbered(maxQueries, `"report_%03d"`, ",")), maxQueries, "", 0, 5},
			{"more queries", AnswerNames, list("query", numbered(maxQueries+1, `"report_%03d"`, ",")), maxQueries, text("cut-queries", maxQueries), 0, 5},
			{"results", AnswerNames, most("shared", maxResults), maxResults, "", maxResults, 5},
			{"more results than there are", AnswerNames, most("shared", maxResults+1), maxResults, "", maxResults, 5},
			{"as many as asked for", AnswerNames, most("shared", maxResults), maxResults, "", 0, 5},
			{"more results", AnswerNames, most("shared", maxResults+1), maxResults, text("cut-results", maxResults), maxResults + 1, 5},
			{"results where more are set", AnswerNames, most("shared", maxResults+1), maxResults + 1, "", maxResults + 1, maxResults + 1},
			{"more where more are set", AnswerNames, most("shared", maxResults+2), maxResults + 1, text("cut-results", maxResults+1), 0, maxResults + 1},
			{"results of a pattern", Regexp, `{"regex_pattern":"."}`, maxResults, "", maxResults, 5},
			{"more results of a pattern", Regexp, `{"regex_pattern":"."}`, maxResults, text("cut-results", maxResults), maxResults + 1, 5},
			{"the longest pattern", Regexp, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPattern/2-5) + `"}`, 1, "", 0, 5},
			{"a longer pattern", Regexp, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPattern/2-4) + `"}`, 0, text("long-pattern", maxPattern), 0, 5},
			{"words", AnswerNames, query(strings.Repeat("zzz ", maxWords-1) + "report_007"), 1, "", 0, 5},
		} {
			t.Run(c.name, func(t *testing.T) {
				n := 200
				if c.fewTools > 0 {
					n = c.fewTools
				}
				s := over(t, reports(n)...)
				s.MaxResults = c.results
				var a struct {
					Matches, Loaded, SelectedTools []string
					Hint                           string
				}
				require.NoError(t, json.Unmarshal([]byte(ask(t, s, c.by, c.args)), &a))
				require.Len(t, append(append(a.Matches, a.Loaded...), a.SelectedTools...), c.found)
				require.Equal(t, c.note, a.Hint)
			})
		}
		words := described(t, ask(t, over(t, reports(200)...), AnswerNames, query(strings.Repeat("zzz ", maxWords)+"report_007")))
		require.Empty(t, words.Matches, "the word after the last that counts")
	})
}

// What an answer suggests is bounded too.
func TestTheLimitsOfSuggestions(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		tools := over(t, reports(200)...)
		count := func(a protocol.Answer) int { return strings.Count(a.Hint, "report_") }
		near := described(t, ask(t, tools, AnswerNames, `{"query":"reportt"}`))
		require.Equal(t, MaxNear, count(near), near.Hint)
		few := over(t, reports(MaxNear-1)...)
		require.Equal(t, MaxNear-1, count(described(t, ask(t, few, AnswerNames, `{"query":"reportt"}`))))

		unknown := func(n int) protocol.Answer {
			return described(t, ask(t, tools, AnswerNames, `{"query":"select:`+numbered(n, "nothing%02dlikeit", ",")+`"}`))
		}
		require.Equal(t, 10, strings.Count(unknown(10).Hint, "likeit"))
		require.NotContains(t, unknown(10).Hint, all.Say("more-unknown", protocol.Data{Total: 1}))
		require.Equal(t, 10, strings.Count(unknown(11).Hint, "likeit"))
		require.Contains(t, unknown(11).Hint, all.Say("more-unknown", protocol.Data{Total: 1}))
		require.Contains(t, unknown(13).Hint, all.Say("more-unknown", protocol.Data{Total: 3}))

		lookedUp := func(n int) string {
			return described(t, ask(t, tools, AnswerNames, `{"query":"`+numbered(n, "qq%dxx", " ")+`"}`)).Hint
		}
		require.Equal(t, maxLookups, strings.Count(lookedUp(maxLookups), "xx"))
		require.Equal(t, maxLookups, strings.Count(lookedUp(maxLookups+1), "xx"), "words that are said to match nothing")
	})
}
