// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

// The limits of answers, and of one call of a search tool. They hold for any names, descriptions and schemas of tools.

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
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// The limits of package search, which the texts name.
const (
	maxResults     = 100
	maxNames       = 100
	maxQueries     = 20
	maxWords       = 1000
	maxOmitted     = 20
	maxTermLookups = 8
	maxEventHits   = 10
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

// anyAnswer has the keys of all answers.
type anyAnswer struct {
	Matches       []string
	SelectedTools []string
	Results       []candidate
	Loaded        []string
	Tools         []Described
	AlreadyLoaded []string `json:"already_loaded"`
	Hint          string
}

// answerFunc makes the answer of a search tool.
type answerFunc = func(context.Context, search.Searcher, jsontext.Arguments) (string, error)

// answerFuncs are those of all search tools.
var answerFuncs = []answerFunc{
	answerNames, answerMatches, answerCandidates, answerLoad, answerDescriptions, answerSignatures, answerMatchSignatures,
}

// searcherOf returns a search over tools of which none is denied or visible.
func searcherOf(t testing.TB, tools ...tool.BaseTool) search.Searcher {
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
	s := search.Searcher{
		Tools: search.Tools{Set: set, Indexes: search.NewIndexes(set)}, Limits: search.Limits{MaxResults: 5}, Access: &access{names: names},
	}
	s.Tools.BuildIndex(context.Background(), nil)
	return s
}

// access allows every tool but the denied ones, of which it reveals the known ones.
type access struct {
	names                  []string
	denied, known, visible toolnames.Set
}

func (a *access) MayFind(e *catalog.Tool) bool { return !a.denied[e.Info.Name] }
func (a *access) MayHint(e *catalog.Tool) bool { return a.MayFind(e) }
func (a *access) MayKnow(name string) bool     { return a.denied[name] && a.known[name] }
func (a *access) Visible() toolnames.Set       { return a.visible }

func (a *access) ListedNames() (names []string) {
	for _, name := range a.names {
		if !a.denied[name] || a.known[name] {
			names = append(names, name)
		}
	}
	return names
}

// ask runs one call of a search tool.
func ask(t testing.TB, s search.Searcher, f answerFunc, args string) string {
	t.Helper()
	answer, err := f(context.Background(), s, jsontext.DecodeArguments(args))
	require.NoError(t, err)
	return answer
}

func parse(t testing.TB, text string) (a anyAnswer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &a), "%.300s", text)
	return a
}

func TestSearchCall_NamesToolsThatDoNotFit(t *testing.T) {
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, all *prompt.Texts) {
		size := func(name string) int {
			e := &catalog.Tool{Info: &schema.ToolInfo{Name: name}}
			d, _ := Describe(e)
			return d.Size()
		}
		names := []string{"send_a", "send_b", "send_c"}
		rest := MaxAnswer - 3*size("send_a")
		tools := func(excess int) (list []tool.BaseTool) {
			for i, n := range []int{rest / 3, rest / 3, rest - 2*(rest/3) + excess} {
				list = append(list, adktest.Simple(names[i], strings.Repeat("d", n)))
				info, err := list[i].Info(context.Background())
				require.NoError(t, err)
				info.ParamsOneOf = nil
			}
			return list
		}
		fits := ask(t, searcherOf(t, tools(0)...), answerDescriptions, `{"query":"send"}`)
		require.Len(t, parse(t, fits).Tools, 3)
		require.Empty(t, parse(t, fits).Hint)
		require.LessOrEqual(t, len(fits), MaxAnswer+len(`{"tools":[]}`))
		require.Greater(t, len(fits), MaxAnswer-100)

		more := parse(t, ask(t, searcherOf(t, tools(1)...), answerDescriptions, `{"query":"send"}`))
		require.Len(t, more.Tools, 2)
		require.Equal(t, all.Render("cut-answer", Data{Total: 1, Words: []string{"send_c"}}), more.Hint)
		alone := parse(t, ask(t, searcherOf(t, tools(1)...), answerDescriptions, `{"query":"select:send_c"}`))
		require.Len(t, alone.Tools, 1, "the hint leads to the rest")
		require.Len(t, *alone.Tools[0].Description, rest-2*(rest/3)+1)
		require.Empty(t, alone.Hint)
	})
}

func TestProgramSearch_NamesSignaturesThatDoNotFit(t *testing.T) {
	var fields strings.Builder
	for i := range 12 {
		fmt.Fprintf(&fields, `,"parameter_with_a_long_name_%02d":{"type":"string","description":"what it is for"}`, i)
	}
	var tools []tool.BaseTool
	for i := range 90 {
		tools = append(tools, toolWith(t, fmt.Sprintf("report_%03d", i), strings.Repeat("Sends a report. ", 20), `{"type":"object","properties":{`+fields.String()[1:]+`}}`))
	}
	s := searcherOf(t, tools...)
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, all *prompt.Texts) {
		words := parse(t, ask(t, s, answerSignatures, `{"query":"report","max_results":90}`))
		require.Less(t, len(words.Tools), 90)
		var names []string
		for i := range maxOmitted {
			names = append(names, fmt.Sprintf("report_%03d", len(words.Tools)+i))
		}
		require.Equal(t, all.Render("cut-answer", Data{Total: 90 - len(words.Tools), Words: names}), words.Hint)
		matches := parse(t, ask(t, s, answerMatchSignatures, `{"regex_pattern":"."}`))
		require.Len(t, matches.Tools, len(words.Tools))
		require.Equal(t, words.Hint, matches.Hint)
	})
}

//claim:security-18
func TestDescribe_ShortensLongSchema(t *testing.T) {
	race.Skip(t, "reads long schemas")
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, all *prompt.Texts) {
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
				a := parse(t, ask(t, searcherOf(t, x), answerDescriptions, `{"query":"huge"}`))
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
					require.Equal(t, all.Render("shortened-tool", Data{Name: "huge"}), a.Hint)
				} else {
					require.Empty(t, a.Hint)
				}
			})
		}
	})
}

func TestDescribe_ShortensLongDescription(t *testing.T) {
	race.Skip(t, "reads long descriptions")
	for _, c := range []struct {
		name, desc string
		most       int
	}{
		{"letters", strings.Repeat("ü", 1<<18), MaxAnswer},
		{"what JSON escapes", strings.Repeat("\x01\"\\\n", 1<<18), MaxAnswer},
		{"what is not text", strings.Repeat("\xff", 1<<18), MaxAnswer},
	} {
		a := ask(t, searcherOf(t, adktest.Simple("huge", c.desc)), answerDescriptions, `{"query":"huge"}`)
		require.LessOrEqual(t, len(a), MaxAnswer+answerRoom, c.name)
		d := parse(t, a)
		require.Len(t, d.Tools, 1, c.name)
		require.True(t, utf8.ValidString(*d.Tools[0].Description), c.name)
		require.Greater(t, len(*d.Tools[0].Description), 8<<10, c.name)
		require.True(t, strings.HasSuffix(*d.Tools[0].Description, "…"), c.name)
		require.NotEmpty(t, d.Hint, c.name)
	}
}

// An answer to any call is JSON.
//
//claim:security-18
func TestAnswer_IsBounded(t *testing.T) {
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
		all := searcherOf(t, tools...) // read and indexed once
		textstest.InBothLanguages(t, Prompts, func(t *testing.T, _ *prompt.Texts) { answersAreBounded(t, all, names, name) })
	}
}

func answersAreBounded(t *testing.T, s search.Searcher, names []string, name string) {
	list, err := json.Marshal(names[:min(len(names), 100)])
	require.NoError(t, err)
	for _, c := range []struct {
		tool answerFunc
		args string
	}{
		{answerNames, `{"query":["send","word","send word"],"max_results":100}`},
		{answerNames, `{"query":"select:nothing,nobody,none,` + name[:min(len(name), 99)] + `"}`},
		{answerMatches, `{"regex_pattern":"."}`},
		{answerMatches, `{"regex_pattern":"nnnnnnx"}`},
		{answerCandidates, `{"query":["send","word","send word"],"max_results":100}`},
		{answerLoad, `{"tool_names":` + string(list) + `}`},
		{answerDescriptions, `{"query":["send","word","send word"],"max_results":100}`},
		{answerSignatures, `{"query":["send","word","send word"],"max_results":100}`},
		{answerMatchSignatures, `{"regex_pattern":"."}`},
	} {
		answer := ask(t, s, c.tool, c.args)
		require.LessOrEqual(t, len(answer), MaxAnswer+answerRoom, "%.200s: %.300s", c.args, answer)
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

func TestAnswer_ReportsExceededLimits(t *testing.T) {
	query := func(q string) string { return `{"query":` + JSON(q) + `}` }
	list := func(key, items string) string { return `{"` + key + `":[` + items + `]}` }
	most := func(q string, n int) string { return fmt.Sprintf(`{"query":%q,"max_results":%d}`, q, n) }
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, all *prompt.Texts) {
		text := func(name string, limit int) string { return all.Render(name, Data{Limit: limit}) }
		for _, c := range []struct {
			name     string
			tool     answerFunc
			args     string
			found    int
			note     string // the whole hint
			fewTools int
			results  int
		}{
			{"names", answerNames, query("select:" + numbered(maxNames, "report_%03d", ",")), maxNames, "", 0, 5},
			{"more names", answerNames, query("select:" + numbered(maxNames+1, "report_%03d", ",")), maxNames, text("cut-names", maxNames), 0, 5},
			{"names to load", answerLoad, list("tool_names", numbered(maxNames, `"report_%03d"`, ",")), maxNames, "", 0, 5},
			{"more names to load", answerLoad, list("tool_names", numbered(maxNames+1, `"report_%03d"`, ",")), maxNames, text("cut-names", maxNames), 0, 5},
			{"queries", answerNames, list("query", numbered(maxQueries, `"report_%03d"`, ",")), maxQueries, "", 0, 5},
			{"more queries", answerNames, list("query", numbered(maxQueries+1, `"report_%03d"`, ",")), maxQueries, text("cut-queries", maxQueries), 0, 5},
			{"results", answerNames, most("shared", maxResults), maxResults, "", maxResults, 5},
			{"more results than there are", answerNames, most("shared", maxResults+1), maxResults, "", maxResults, 5},
			{"as many as asked for", answerNames, most("shared", maxResults), maxResults, "", 0, 5},
			{"more results", answerNames, most("shared", maxResults+1), maxResults, text("cut-results", maxResults), maxResults + 1, 5},
			{"results where more are set", answerNames, most("shared", maxResults+1), maxResults + 1, "", maxResults + 1, maxResults + 1},
			{"more where more are set", answerNames, most("shared", maxResults+2), maxResults + 1, text("cut-results", maxResults+1), 0, maxResults + 1},
			{"results of a pattern", answerMatches, `{"regex_pattern":"."}`, maxResults, "", maxResults, 5},
			{"more results of a pattern", answerMatches, `{"regex_pattern":"."}`, maxResults, text("cut-results", maxResults), maxResults + 1, 5},
			{"the longest pattern", answerMatches, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPattern/2-5) + `"}`, 1, "", 0, 5},
			{"a longer pattern", answerMatches, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPattern/2-4) + `"}`, 0, text("long-pattern", maxPattern), 0, 5},
			{"words", answerNames, query(strings.Repeat("zzz ", maxWords-1) + "report_007"), 1, "", 0, 5},
		} {
			t.Run(c.name, func(t *testing.T) {
				n := 200
				if c.fewTools > 0 {
					n = c.fewTools
				}
				s := searcherOf(t, reports(n)...)
				s.Limits.MaxResults = c.results
				var a struct {
					Matches, Loaded, SelectedTools []string
					Hint                           string
				}
				require.NoError(t, json.Unmarshal([]byte(ask(t, s, c.tool, c.args)), &a))
				require.Len(t, append(append(a.Matches, a.Loaded...), a.SelectedTools...), c.found)
				require.Equal(t, c.note, a.Hint)
			})
		}
		words := parse(t, ask(t, searcherOf(t, reports(200)...), answerNames, query(strings.Repeat("zzz ", maxWords)+"report_007")))
		require.Empty(t, words.Matches, "the word after the last that counts")
	})
}

func TestHint_LimitsSuggestions(t *testing.T) {
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, all *prompt.Texts) {
		tools := searcherOf(t, reports(200)...)
		count := func(a anyAnswer) int { return strings.Count(a.Hint, "report_") }
		near := parse(t, ask(t, tools, answerNames, `{"query":"reportt"}`))
		require.Equal(t, search.MaxNear, count(near), near.Hint)
		few := searcherOf(t, reports(search.MaxNear-1)...)
		require.Equal(t, search.MaxNear-1, count(parse(t, ask(t, few, answerNames, `{"query":"reportt"}`))))

		unknown := func(n int) anyAnswer {
			return parse(t, ask(t, tools, answerNames, `{"query":"select:`+numbered(n, "nothing%02dlikeit", ",")+`"}`))
		}
		require.Equal(t, 10, strings.Count(unknown(10).Hint, "likeit"))
		require.NotContains(t, unknown(10).Hint, all.Render("more-unknown", Data{Total: 1}))
		require.Equal(t, 10, strings.Count(unknown(11).Hint, "likeit"))
		require.Contains(t, unknown(11).Hint, all.Render("more-unknown", Data{Total: 1}))
		require.Contains(t, unknown(13).Hint, all.Render("more-unknown", Data{Total: 3}))

		lookedUp := func(n int) string {
			return parse(t, ask(t, tools, answerNames, `{"query":"`+numbered(n, "qq%dxx", " ")+`"}`)).Hint
		}
		require.Equal(t, maxTermLookups, strings.Count(lookedUp(maxTermLookups), "xx"))
		require.Equal(t, maxTermLookups, strings.Count(lookedUp(maxTermLookups+1), "xx"), "words that are said to match nothing")
	})
}
