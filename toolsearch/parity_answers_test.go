// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file shows the differences in what a search answers.

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

// allScenarios shows every listed difference at least once.
func allScenarios() (all []scenario) {
	for _, list := range [][]scenario{argumentScenarios(), answerScenarios(), boundScenarios(), agentScenarios(), clashScenarios(),
		gateScenarios(), reminderScenarios(), historyScenarios(), panicScenarios(), sharingScenarios(), checkpointScenarios()} {
		all = append(all, list...)
	}
	return all
}

// search is a scenario of one search in an agent.
func search(id, what, args, eino, ours string) scenario {
	tools := []string{"get_weather", "send_mail"}
	return scenario{id, what, searchesOnce[*schema.Message](args, tools...), searchesOnce[*schema.AgenticMessage](args, tools...), eino, ours}
}

func argumentScenarios() []scenario {
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
	}
}

func answerScenarios() []scenario {
	const found = `["get_weather"]`
	return append([]scenario{
		search("TS-02", "nothing matches", `{"query":"volcano"}`, `null`, `[] with a hint`),
		search("TS-02", "an unknown name", `{"query":"select:get_weather,volcano"}`, found, found+` with a hint`),
		search("TS-02", "a name in another case", `{"query":"select:GET_WEATHER"}`, `null`, found),
		search("TS-02", "select in another case", `{"query":"SELECT:get_weather"}`, `null`, found),
		search("TS-02", "a name in quotes", `{"query":"select:\"get_weather\""}`, `null`, found),
		search("TS-02", "names without a comma", `{"query":"select:get_weather send_mail"}`, `null`, `["get_weather","send_mail"]`),
		search("TS-02", "a name with other separators", `{"query":"select:get-weather"}`, `null`, found),
		search("TS-02", "a name twice", `{"query":"select:get_weather,get_weather"}`, `["get_weather","get_weather"]`, found),
		{"TS-23", "a search for a tool that is loaded", searchesAgain[*schema.Message], searchesAgain[*schema.AgenticMessage], found, found + ` already ["get_weather"]`},
		{"TS-34", "a search whose best tool is loaded", searchesBeside[*schema.Message], searchesBeside[*schema.AgenticMessage], found, `["get_weather","set_weather"] already ["get_weather"]`},
		{"TS-24", "the words that describe tool_search", describes[*schema.Message], describes[*schema.AgenticMessage], "Eino's words", "our words"},
		{"TS-26", "marks in a name", rawSearch[*schema.Message](`{"query":"select:a<b>&c"}`, "a<b>&c"), rawSearch[*schema.AgenticMessage](`{"query":"select:a<b>&c"}`, "a<b>&c"),
			`{"matches":["a\u003cb\u003e\u0026c"]}`, `{"matches":["a<b>&c"]}`},
		{"TS-27", "the model's own search finds nothing", searchesNatively[*schema.Message](`{"query":"volcano"}`), searchesNatively[*schema.AgenticMessage](`{"query":"volcano"}`), "[found ]", "a text"},
	}, scenario{"TS-01", "the model's own search has no query", searchesNatively[*schema.Message](`{}`), searchesNatively[*schema.AgenticMessage](`{}`),
		"an error ends the run after 1 requests", "a text"})
}

func searchesAgain[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "weather")), adktest.Do(searchFor("2", "weather"))}, s.mustBuild(t, simples("get_weather")...))
	require.NoError(t, tr.Err)
	return told(tr.result("2"))
}

// searchesBeside searches for one tool where the best is loaded already.
func searchesBeside[M adk.MessageType](t *testing.T, s side[M]) string {
	again := adktest.ToolCall{ID: "2", Name: "tool_search", Args: `{"query":"weather","max_results":1}`}
	tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "select:get_weather")), adktest.Do(again)}, s.mustBuild(t, simples("get_weather", "set_weather")...))
	require.NoError(t, tr.Err)
	return told(tr.result("2"))
}

// describes tells whose words describe the search tool.
func describes[M adk.MessageType](t *testing.T, s side[M]) string {
	words := func(s side[M]) string {
		info, err := searchToolOf(t, s.mustBuild(t, simples("x")...)).Info(context.Background())
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

func rawSearch[M adk.MessageType](args string, dynamic ...string) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simples(dynamic...)...))
		require.NoError(t, tr.Err)
		return tr.result("1")
	}
}

func searchesNatively[M adk.MessageType](args string) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuildNative(t, simples("get_weather")...))
		if tr.Err != nil {
			return tr.ended()
		}
		return told(tr.result("1"))
	}
}

func boundScenarios() []scenario {
	return []scenario{
		{"TS-22", "more results than a request can bear", manyResults[*schema.Message]("tool", 1000), manyResults[*schema.AgenticMessage]("tool", 1000), "150", "100"},
		{"TS-22", "more names than a request can bear", manyResults[*schema.Message]("select:"+strings.Join(numbered(150), ","), 5), manyResults[*schema.AgenticMessage]("select:"+strings.Join(numbered(150), ","), 5), "150", "100"},
		{"X-04", "the only word that matches is the 1,500th", searchesOnce[*schema.Message](lateWord(), "get_weather"), searchesOnce[*schema.AgenticMessage](lateWord(), "get_weather"),
			`["get_weather"]`, `[] with a hint`},
		{"X-04", "a search whose context has ended", searchesTooLate[*schema.Message], searchesTooLate[*schema.AgenticMessage], `{"matches":["get_weather"]}`, "context canceled"},
	}
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("tool_%03d", i))
	}
	return names
}

// manyResults counts what one search returns and loads.
func manyResults[M adk.MessageType](query string, limit int) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		args := fmt.Sprintf(`{"query":%q,"max_results":%d}`, query, limit)
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simples(numbered(150)...)...))
		require.NoError(t, tr.Err)
		return fmt.Sprint(len(tr.wires[1].ToolNames) - 1)
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

func searchesTooLate[M adk.MessageType](t *testing.T, s side[M]) string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text, err := searchToolOf(t, s.mustBuild(t, simples("get_weather")...)).(tool.InvokableTool).InvokableRun(ctx, `{"query":"weather"}`)
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
		return failure(err)
	}
	return text
}

func TestTS01_BadArgumentsDoNotEndTheRun(t *testing.T)          { playAll(t, "TS-01") }
func TestTS02_ASearchSaysWhatItDidNotFind(t *testing.T)         { playAll(t, "TS-02") }
func TestTS22_ASearchLoadsABoundedNumberOfTools(t *testing.T)   { playAll(t, "TS-22") }
func TestTS34_LoadedToolsUseUpNoPlace(t *testing.T)             { playAll(t, "TS-34") }
func TestTS23_AnAnswerSaysWhatIsLoadedAlready(t *testing.T)     { playAll(t, "TS-23") }
func TestTS24_TheWordsAreOurOwn(t *testing.T)                   { playAll(t, "TS-24") }
func TestTS26_MarksInAnAnswerAreNotEscapedForHTML(t *testing.T) { playAll(t, "TS-26") }
func TestTS27_ANativeSearchSaysThatItFoundNothing(t *testing.T) { playAll(t, "TS-27") }
func TestX04_ASearchIsBoundedAndEndsWithItsContext(t *testing.T) {
	playAll(t, "X-04")
}

// The bounds hold for every protocol and for a list of queries too.
func TestAListOfQueriesIsBounded(t *testing.T) {
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: simples(numbered(150)...)})
	require.NoError(t, err)
	text, err := searchToolOf(t, h).(tool.InvokableTool).InvokableRun(context.Background(),
		fmt.Sprintf(`{"query":["%s"],"max_results":100}`, strings.Join(numbered(150), `","`)))
	require.NoError(t, err)
	require.Equal(t, 20, strings.Count(text, "tool_"), text)
	require.Contains(t, told(text), "with a hint")
}
