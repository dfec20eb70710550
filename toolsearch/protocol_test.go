// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The protocols.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

// issue are the arguments of github__create_issue.
const issue = `{"title":"broken link"}`

// protocols are all of them, with the turns in which a model finds github__create_issue and
// calls it, and the tools of the model calls.
var protocols = []struct {
	protocol toolsearch.Protocol
	turns    []adktest.Turn
	tools    string
	answers  []string // of the calls a, b, c
}{
	{
		toolsearch.Keyword,
		[]adktest.Turn{oneCall("a", "tool_search", `{"query":"+github create"}`), oneCall("b", "github__create_issue", issue)},
		"own tool_search\n" + "own tool_search github__create_issue github__close_issue\n" + "own tool_search github__create_issue github__close_issue",
		[]string{`{"matches":["github__create_issue","github__close_issue"]}`, "github__create_issue got " + issue},
	},
	{
		toolsearch.Regexp,
		[]adktest.Turn{oneCall("a", "tool_search", `{"regex_pattern":"^github__create"}`), oneCall("b", "github__create_issue", issue)},
		"own tool_search\n" + "own tool_search github__create_issue\n" + "own tool_search github__create_issue",
		[]string{`{"selectedTools":["github__create_issue"]}`, "github__create_issue got " + issue},
	},
	{
		toolsearch.SearchLoad,
		[]adktest.Turn{
			oneCall("a", "search_tools", `{"query":"create issue","max_results":1}`), oneCall("b", "load_tool", `{"tool_name":"github__create_issue"}`),
			oneCall("c", "github__create_issue", issue),
		},
		"own search_tools load_tool\n" + "own search_tools load_tool\n" + "own search_tools load_tool github__create_issue\n" + "own search_tools load_tool github__create_issue",
		[]string{
			`{"results":[{"name":"github__create_issue","description":"Creates an issue in a repository.","score":20}]}`,
			`{"loaded":["github__create_issue"]}`, "github__create_issue got " + issue,
		},
	},
	{
		toolsearch.SearchCall,
		[]adktest.Turn{
			oneCall("a", "tool_search", `{"query":"close issue","max_results":1}`),
			oneCall("b", "call_tool", `{"name":"github__create_issue","arguments":`+issue+`}`),
		},
		"own tool_search call_tool\n" + "own tool_search call_tool\n" + "own tool_search call_tool",
		[]string{
			`{"tools":[{"name":"github__close_issue","description":"Closes an issue of a repository.","parameters":{"properties":{"number":{"description":"The number of the issue","type":"integer"}},"required":["number"],"type":"object"}}]}`,
			"github__create_issue got " + issue,
		},
	},
}

func TestProtocol_FindsLoadsAndRunsTools(t *testing.T) {
	adktest.Both(t, testProtocolFindsLoadsAndRunsTools[*schema.Message], testProtocolFindsLoadsAndRunsTools[*schema.AgenticMessage])
}

func testProtocolFindsLoadsAndRunsTools[M adk.MessageType](t *testing.T, streaming bool) {
	for _, p := range protocols {
		t.Run(p.protocol.String(), func(t *testing.T) {
			got := newScene[M](t, streaming, p.protocol).begin(p.turns...)
			require.Equal(t, p.tools, got.tools())
			for i, want := range p.answers {
				require.Equal(t, want, got.answer(t, string(rune('a'+i))))
			}
			require.Contains(t, got.wires[0].MessagesDump[0], "<available-deferred-tools>\ngithub__create_issue\ngithub__close_issue\nslack__send_message\nweather__get_forecast\n</available-deferred-tools>")
		})
	}
}

func TestProtocol_HistoryCountsUnderEveryOther(t *testing.T) {
	adktest.Both(t, testProtocolHistoryCountsUnderEveryOther[*schema.Message], testProtocolHistoryCountsUnderEveryOther[*schema.AgenticMessage])
}

func testProtocolHistoryCountsUnderEveryOther[M adk.MessageType](t *testing.T, streaming bool) {
	for _, from := range protocols {
		history := newScene[M](t, streaming, from.protocol).begin(from.turns...).history
		for _, to := range protocols {
			t.Run(fmt.Sprintf("%v then %v", from.protocol, to.protocol), func(t *testing.T) {
				p := newScene[M](t, streaming, to.protocol).play(append(history, adktest.User[M]("once more")))
				first := strings.Split(p.tools(), "\n")[0]
				require.Equal(t, to.protocol != toolsearch.SearchCall, strings.Contains(first, " github__create_issue"), first)
				require.NotContains(t, first, "slack")
				copied := newScene[M](t, streaming, to.protocol).play(append(history, adktest.User[M]("once more")), from.turns...)
				require.Len(t, copied.wires, len(from.turns)+1, "a model that copies its older calls gets answers")
			})
		}
	}
}

// What only was searched for counts as well where the search loads.
func TestProtocol_SearchLoadsUnderEveryOther(t *testing.T) {
	adktest.Both(t, testProtocolSearchLoadsUnderEveryOther[*schema.Message], testProtocolSearchLoadsUnderEveryOther[*schema.AgenticMessage])
}

func testProtocolSearchLoadsUnderEveryOther[M adk.MessageType](t *testing.T, streaming bool) {
	for name, c := range map[string]struct {
		protocol toolsearch.Protocol
		turn     adktest.Turn
		loads    bool
	}{
		"Keyword":              {toolsearch.Keyword, oneCall("a", "tool_search", `{"query":"forecast"}`), true},
		"Regexp":               {toolsearch.Regexp, oneCall("a", "tool_search", `{"regex_pattern":"forecast"}`), true},
		"SearchLoad, searched": {toolsearch.SearchLoad, oneCall("a", "search_tools", `{"query":"forecast"}`), false},
		"SearchLoad, loaded":   {toolsearch.SearchLoad, oneCall("a", "load_tool", `{"tool_names":["weather__get_forecast"]}`), true},
		"SearchCall, searched": {toolsearch.SearchCall, oneCall("a", "tool_search", `{"query":"forecast"}`), true},
		"SearchCall, called":   {toolsearch.SearchCall, oneCall("a", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`), true},
	} {
		t.Run(name, func(t *testing.T) {
			history := newScene[M](t, streaming, c.protocol).begin(c.turn).history
			for _, to := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.Regexp, toolsearch.SearchLoad} {
				p := newScene[M](t, streaming, to).play(append(history, adktest.User[M]("once more")))
				require.Equal(t, c.loads, strings.HasSuffix(p.tools(), " weather__get_forecast"), "%v: %s", to, p.tools())
			}
		})
	}
}

func TestProtocol_String(t *testing.T) {
	for p, want := range map[toolsearch.Protocol]string{
		toolsearch.Keyword: "Keyword", toolsearch.Regexp: "Regexp", toolsearch.SearchLoad: "SearchLoad", toolsearch.SearchCall: "SearchCall", 9: "unknown", -1: "unknown",
	} {
		require.Equal(t, want, p.String())
	}
}

// The same list in every run makes the cache hold across runs and processes too.
func TestProtocol_ToolListsAreDeterministic(t *testing.T) {
	for _, p := range protocols {
		var first string
		for range 20 {
			got := providerJSON(newScene[*schema.Message](t, false, p.protocol).begin().wires[0].Tools...)
			if first == "" {
				first = got
			}
			require.Equal(t, first, got)
		}
	}
}

func TestSearchLoad_ReportsLoadedTools(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.SearchLoad)
	p := s.begin(
		oneCall("a", "load_tool", `{"tool_names":["github__create_issue","weather__get_forecast"]}`),
		oneCall("b", "load_tool", `{"tool_names":"github__create_issue, slack__send_message"}`),
		oneCall("c", "search_tools", `{"query":"select:weather__get_forecast,github__close_issue"}`))
	require.Equal(t, `{"loaded":["github__create_issue","weather__get_forecast"]}`, p.answer(t, "a"))
	require.Equal(t, `{"loaded":["slack__send_message"],"already_loaded":["github__create_issue"]}`, p.answer(t, "b"))
	require.Contains(t, p.answer(t, "c"), `"already_loaded":["weather__get_forecast"]`)
	require.Equal(t, "own search_tools load_tool github__create_issue weather__get_forecast slack__send_message", p.wires[3].Tools[0].Name+" "+strings.Join(p.wires[3].ToolNames[1:], " "))
}

func TestSearchLoad_SuggestsAtMostThreeNames(t *testing.T) {
	var tools []string
	for i := range 8 {
		tools = append(tools, fmt.Sprintf("report_%d", i))
	}
	s := newScene[*schema.Message](t, false, toolsearch.SearchLoad)
	s.cfg.DynamicTools = simpleTools(tools...)
	p := s.begin(oneCall("a", "load_tool", `{"tool_name":"report_x"}`), oneCall("b", "load_tool", `{}`), oneCall("c", "load_tool", `{"tool_name":["report_1"],"tool_names":["report_2","report_1"]}`))
	require.Equal(t, `{"loaded":[],"hint":"No tool is named \"report_x\". Nearest names: report_0, report_1, report_2."}`, p.answer(t, "a"))
	require.Contains(t, p.answer(t, "b"), `Loading needs \"tool_name\"`)
	require.Equal(t, `{"loaded":["report_1","report_2"]}`, p.answer(t, "c"))
}

func TestRegexp_KeepsNameOrder(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"matches anywhere in a name", `{"regex_pattern":"e_(issue|mess)"}`, `{"selectedTools":["github__create_issue","github__close_issue"]}`},
		{"does not look at descriptions", `{"regex_pattern":"repository"}`, `{"selectedTools":[],"hint":"No tool's name matches. Try a shorter pattern, with (?i) in front to ignore case. The name of the server, where you know it, gives better results."}`},
		{"minds the case", `{"regex_pattern":"GitHub"}`, `{"selectedTools":[],"hint":"No tool's name matches. Nearest names: github__close_issue, github__create_issue. Try a shorter pattern, with (?i) in front to ignore case. The name of the server, where you know it, gives better results."}`},
		{"minds the case only where it is not told otherwise", `{"regex_pattern":"(?i)GitHub.*close"}`, `{"selectedTools":["github__close_issue"]}`},
		{"takes everything", `{"regex_pattern":".*"}`, `{"selectedTools":["github__create_issue","github__close_issue","slack__send_message","weather__get_forecast"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newScene[*schema.Message](t, false, toolsearch.Regexp).begin(oneCall("a", "tool_search", c.args))
			require.Equal(t, c.want, p.answer(t, "a"))
		})
	}
}

//claim:security-13
func TestRegexp_ExplainsInvalidPatterns(t *testing.T) {
	for _, c := range []struct{ name, pattern, want string }{
		{"empty", "", "non-empty"},
		{"not a pattern", "git(hub", "missing closing"},
		{"look-ahead", "(?=x)", "Look-around"},
		{"too long", strings.Repeat("a", 1001), "longer than 1000 bytes"},
		{"repeated too often", "(a{1000}){1000}", "not a valid RE2"},
		{"not UTF-8", "", "missing closing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"regex_pattern": c.pattern})
			if c.name == "not UTF-8" {
				args = []byte("{\"regex_pattern\":\"(a\xff\"}")
			}
			p := newScene[*schema.Message](t, false, toolsearch.Regexp).begin(oneCall("a", "tool_search", string(args)))
			require.Contains(t, p.answer(t, "a"), `"selectedTools":[]`)
			require.Contains(t, p.answer(t, "a"), c.want)
		})
	}
}

// The prompt cache of a provider holds as long as the tool list has the same bytes.
func TestSearchCall_ToolListNeverChanges(t *testing.T) {
	adktest.Both(t, testSearchCallToolListNeverChanges[*schema.Message], testSearchCallToolListNeverChanges[*schema.AgenticMessage])
}

func testSearchCallToolListNeverChanges[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.SearchCall)
	p := s.begin(
		oneCall("a", "tool_search", `{"query":"issue"}`),
		oneCall("b", "call_tool", `{"name":"github__create_issue","arguments":`+issue+`}`),
		oneCall("c", "own", `{"value":"x"}`),
		oneCall("d", "github__close_issue", `{"number":"three"}`),
		oneCall("e", "tool_search", `{"query":"nothing that exists"}`))
	p = sceneResult[M]{p.Outcome, append(p.wires, s.play(append(p.history, adktest.User[M]("once more"))).wires...), nil}
	require.Len(t, p.wires, 7)
	for _, w := range p.wires {
		require.Equal(t, providerJSON(p.wires[0].Tools...), providerJSON(w.Tools...))
		require.NotContains(t, providerJSON(w.Tools...), "github__close_issue")
	}
	require.Contains(t, p.answer(t, "d"), "which did not run: ")
	require.Contains(t, p.answer(t, "d"), `"number"`)
}
