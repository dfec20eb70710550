// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Every protocol end to end: what the model is offered, what it is answered, and what it sees
// after that; and models that have no protocol of their own.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
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
		[]adktest.Turn{do("a", "tool_search", `{"query":"+github create"}`), do("b", "github__create_issue", issue)},
		"own tool_search\n" + "own tool_search github__create_issue github__close_issue\n" + "own tool_search github__create_issue github__close_issue",
		[]string{`{"matches":["github__create_issue","github__close_issue"]}`, "github__create_issue got " + issue},
	},
	{
		toolsearch.Regexp,
		[]adktest.Turn{do("a", "tool_search", `{"regex_pattern":"^github__create"}`), do("b", "github__create_issue", issue)},
		"own tool_search\n" + "own tool_search github__create_issue\n" + "own tool_search github__create_issue",
		[]string{`{"selectedTools":["github__create_issue"]}`, "github__create_issue got " + issue},
	},
	{
		toolsearch.SearchLoad,
		[]adktest.Turn{
			do("a", "search_tools", `{"query":"create issue","max_results":1}`), do("b", "load_tool", `{"tool_name":"github__create_issue"}`),
			do("c", "github__create_issue", issue),
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
			do("a", "tool_search", `{"query":"close issue","max_results":1}`),
			do("b", "call_tool", `{"name":"github__create_issue","arguments":`+issue+`}`),
		},
		"own tool_search call_tool\n" + "own tool_search call_tool\n" + "own tool_search call_tool",
		[]string{
			`{"tools":[{"name":"github__close_issue","description":"Closes an issue of a repository.","parameters":{"properties":{"number":{"description":"The number of the issue","type":"integer"}},"required":["number"],"type":"object"}}]}`,
			"github__create_issue got " + issue,
		},
	},
}

func TestProtocolsFindLoadAndRunTools(t *testing.T) {
	everywhere(t, findLoadAndRun[*schema.Message], findLoadAndRun[*schema.AgenticMessage])
}

func findLoadAndRun[M adk.MessageType](t *testing.T, streaming bool) {
	for _, p := range protocols {
		t.Run(p.protocol.String(), func(t *testing.T) {
			got := on[M](t, streaming, p.protocol).begin(p.turns...)
			require.Equal(t, p.tools, got.tools())
			for i, want := range p.answers {
				require.Equal(t, want, got.answer(t, string(rune('a'+i))))
			}
			require.Contains(t, got.wires[0].MessagesDump[0], "<available-deferred-tools>\ngithub__create_issue\ngithub__close_issue\nslack__send_message\nweather__get_forecast\n</available-deferred-tools>")
		})
	}
}

func TestHistoryOfAnyProtocolCountsUnderEveryOther(t *testing.T) {
	everywhere(t, historyCounts[*schema.Message], historyCounts[*schema.AgenticMessage])
}

func historyCounts[M adk.MessageType](t *testing.T, streaming bool) {
	for _, from := range protocols {
		history := on[M](t, streaming, from.protocol).begin(from.turns...).history
		for _, to := range protocols {
			t.Run(fmt.Sprintf("%v then %v", from.protocol, to.protocol), func(t *testing.T) {
				p := on[M](t, streaming, to.protocol).play(append(history, adktest.User[M]("once more")))
				first := strings.Split(p.tools(), "\n")[0]
				require.Equal(t, to.protocol != toolsearch.SearchCall, strings.Contains(first, " github__create_issue"), first)
				require.NotContains(t, first, "slack")
				copied := on[M](t, streaming, to.protocol).play(append(history, adktest.User[M]("once more")), from.turns...)
				require.Len(t, copied.wires, len(from.turns)+1, "a model that copies its older calls gets answers")
			})
		}
	}
}

// What only was searched for counts as well where the search loads.
func TestSearchesOfAnyProtocolLoadUnderEveryOther(t *testing.T) {
	everywhere(t, searchesLoad[*schema.Message], searchesLoad[*schema.AgenticMessage])
}

func searchesLoad[M adk.MessageType](t *testing.T, streaming bool) {
	for name, c := range map[string]struct {
		protocol toolsearch.Protocol
		turn     adktest.Turn
		loads    bool
	}{
		"Keyword":              {toolsearch.Keyword, do("a", "tool_search", `{"query":"forecast"}`), true},
		"Regexp":               {toolsearch.Regexp, do("a", "tool_search", `{"regex_pattern":"forecast"}`), true},
		"SearchLoad, searched": {toolsearch.SearchLoad, do("a", "search_tools", `{"query":"forecast"}`), false},
		"SearchLoad, loaded":   {toolsearch.SearchLoad, do("a", "load_tool", `{"tool_names":["weather__get_forecast"]}`), true},
		"SearchCall, searched": {toolsearch.SearchCall, do("a", "tool_search", `{"query":"forecast"}`), true},
		"SearchCall, called":   {toolsearch.SearchCall, do("a", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`), true},
	} {
		t.Run(name, func(t *testing.T) {
			history := on[M](t, streaming, c.protocol).begin(c.turn).history
			for _, to := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.Regexp, toolsearch.SearchLoad} {
				p := on[M](t, streaming, to).play(append(history, adktest.User[M]("once more")))
				require.Equal(t, c.loads, strings.HasSuffix(p.tools(), " weather__get_forecast"), "%v: %s", to, p.tools())
			}
		})
	}
}

func TestSearchLoadSaysWhatIsLoadedAlready(t *testing.T) {
	s := on[*schema.Message](t, false, toolsearch.SearchLoad)
	p := s.begin(
		do("a", "load_tool", `{"tool_names":["github__create_issue","weather__get_forecast"]}`),
		do("b", "load_tool", `{"tool_names":"github__create_issue, slack__send_message"}`),
		do("c", "search_tools", `{"query":"select:weather__get_forecast,github__close_issue"}`))
	require.Equal(t, `{"loaded":["github__create_issue","weather__get_forecast"]}`, p.answer(t, "a"))
	require.Equal(t, `{"loaded":["slack__send_message"],"already_loaded":["github__create_issue"]}`, p.answer(t, "b"))
	require.Contains(t, p.answer(t, "c"), `"already_loaded":["weather__get_forecast"]`)
	require.Equal(t, "own search_tools load_tool github__create_issue weather__get_forecast slack__send_message", p.wires[3].Tools[0].Name+" "+strings.Join(p.wires[3].ToolNames[1:], " "))
}

func TestLoadToolSuggestsAtMostThreeNearNames(t *testing.T) {
	var tools []string
	for i := range 8 {
		tools = append(tools, fmt.Sprintf("report_%d", i))
	}
	s := on[*schema.Message](t, false, toolsearch.SearchLoad)
	s.cfg.DynamicTools = simples(tools...)
	p := s.begin(do("a", "load_tool", `{"tool_name":"report_x"}`), do("b", "load_tool", `{}`), do("c", "load_tool", `{"tool_name":["report_1"],"tool_names":["report_2","report_1"]}`))
	require.Equal(t, `{"loaded":[],"hint":"No tool is named \"report_x\". Nearest names: report_0, report_1, report_2."}`, p.answer(t, "a"))
	require.Contains(t, p.answer(t, "b"), `Loading needs \"tool_name\"`)
	require.Equal(t, `{"loaded":["report_1","report_2"]}`, p.answer(t, "c"))
}

func TestRegexpKeepsToTheNamesAndTheirOrder(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"matches anywhere in a name", `{"regex_pattern":"e_(issue|mess)"}`, `{"selectedTools":["github__create_issue","github__close_issue"]}`},
		{"does not look at descriptions", `{"regex_pattern":"repository"}`, `{"selectedTools":[],"hint":"No tool's name matches. Try a shorter pattern, with (?i) in front to ignore case. Words in the language of the tools' descriptions find more; so does the name of the server, where you know it."}`},
		{"minds the case", `{"regex_pattern":"GitHub"}`, `{"selectedTools":[],"hint":"No tool's name matches. Nearest names: github__close_issue, github__create_issue. Try a shorter pattern, with (?i) in front to ignore case. Words in the language of the tools' descriptions find more; so does the name of the server, where you know it."}`},
		{"minds the case only where it is not told otherwise", `{"regex_pattern":"(?i)GitHub.*close"}`, `{"selectedTools":["github__close_issue"]}`},
		{"takes everything", `{"regex_pattern":".*"}`, `{"selectedTools":["github__create_issue","github__close_issue","slack__send_message","weather__get_forecast"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := on[*schema.Message](t, false, toolsearch.Regexp).begin(do("a", "tool_search", c.args))
			require.Equal(t, c.want, p.answer(t, "a"))
		})
	}
}

//claim:security-13
func TestRegexpExplainsPatternsThatCannotBeUsed(t *testing.T) {
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
			p := on[*schema.Message](t, false, toolsearch.Regexp).begin(do("a", "tool_search", string(args)))
			require.Contains(t, p.answer(t, "a"), `"selectedTools":[]`)
			require.Contains(t, p.answer(t, "a"), c.want)
		})
	}
}

// The prompt cache of a provider holds as long as the tool list has the same bytes.
func TestSearchCallNeverChangesTheToolList(t *testing.T) {
	everywhere(t, neverChangesTheList[*schema.Message], neverChangesTheList[*schema.AgenticMessage])
}

func neverChangesTheList[M adk.MessageType](t *testing.T, streaming bool) {
	s := on[M](t, streaming, toolsearch.SearchCall)
	p := s.begin(
		do("a", "tool_search", `{"query":"issue"}`),
		do("b", "call_tool", `{"name":"github__create_issue","arguments":`+issue+`}`),
		do("c", "own", `{"value":"x"}`),
		do("d", "github__close_issue", `{"number":3}`),
		do("e", "tool_search", `{"query":"nothing that exists"}`))
	p = played[M]{p.Outcome, append(p.wires, s.play(append(p.history, adktest.User[M]("once more"))).wires...), nil}
	require.Len(t, p.wires, 7)
	for _, w := range p.wires {
		require.Equal(t, onWire(p.wires[0].Tools...), onWire(w.Tools...))
		require.NotContains(t, onWire(w.Tools...), "github__close_issue")
	}
	require.Contains(t, p.answer(t, "d"), "did not run: tools found by searching are run with call_tool")
	require.Contains(t, p.answer(t, "d"), `"number"`)
}

// The same list in every run makes the cache hold across runs and processes too.
func TestToolListsHaveTheSameBytesInEveryAgent(t *testing.T) {
	for _, p := range protocols {
		var first string
		for range 20 {
			got := onWire(on[*schema.Message](t, false, p.protocol).begin().wires[0].Tools...)
			if first == "" {
				first = got
			}
			require.Equal(t, first, got)
		}
	}
}

func TestProtocolsHaveNames(t *testing.T) {
	for p, want := range map[toolsearch.Protocol]string{
		toolsearch.Keyword: "Keyword", toolsearch.Regexp: "Regexp", toolsearch.SearchLoad: "SearchLoad", toolsearch.SearchCall: "SearchCall", 9: "unknown", -1: "unknown",
	} {
		require.Equal(t, want, p.String())
	}
}

func TestPortableMakesAnyHistoryPlain(t *testing.T) {
	everywhere(t, makesPlain[*schema.Message], makesPlain[*schema.AgenticMessage])
}

func makesPlain[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	for range race.Cases(200) {
		history := write[M](anyPast(r))
		was, kept := read(history), dump(history)
		inner := adktest.Script[M]()
		opts := append(make([]model.Option, 0, 9), model.WithTools(infos("own", "alpha")), model.WithToolSearchTool(infos("tool_search")[0]), model.WithDeferredTools(infos("beta", "later")))
		request(t, toolsearch.Portable[M](inner), streaming, history, opts...)
		require.Equal(t, kept, dump(history), "what was handed in changed")
		w := inner.Wires()[0]
		is := read(w.Messages)
		require.Equal(t, was.calls, is.calls)
		require.Equal(t, was.results, is.results)
		require.Empty(t, is.native, "results in a provider's form")
		require.Zero(t, is.searches, "searches of a provider")
		require.Zero(t, is.empty)
		require.NotContains(t, is.marked, true)
		for id, marked := range is.marked {
			require.False(t, marked, id)
		}
		require.Empty(t, w.Deferred)
		require.Nil(t, w.ToolSearch)
		require.Equal(t, []string{"own", "alpha", "tool_search"}, w.ToolNames[:3])
		seen := map[string]bool{}
		for _, name := range w.ToolNames {
			require.False(t, seen[name], "%s twice", name)
			seen[name] = true
		}
		for _, name := range was.returned {
			require.Contains(t, w.ToolNames, name, "it was loaded")
		}
		require.NotContains(t, w.ToolNames, "later", "it is to be searched for")
	}
}

func infos(names ...string) (list []*schema.ToolInfo) {
	for _, n := range names {
		list = append(list, &schema.ToolInfo{Name: n})
	}
	return list
}

func request[M adk.MessageType](t *testing.T, m model.BaseModel[M], streaming bool, history []M, opts ...model.Option) {
	t.Helper()
	if !streaming {
		_, err := m.Generate(context.Background(), history, opts...)
		require.NoError(t, err)
		return
	}
	s, err := m.Stream(context.Background(), history, opts...)
	require.NoError(t, err)
	s.Close()
}

func TestPortableShowsAllDeferredToolsWhereNobodySearches(t *testing.T) {
	everywhere(t, showsAll[*schema.Message], showsAll[*schema.AgenticMessage])
}

func showsAll[M adk.MessageType](t *testing.T, streaming bool) {
	inner := adktest.Script[M]()
	request(t, toolsearch.Portable[M](inner), streaming, []M{adktest.User[M]("please")}, model.WithTools(infos("own", "beta")), model.WithDeferredTools(infos("alpha", "beta")))
	require.Equal(t, []string{"own", "beta", "alpha"}, inner.Wires()[0].ToolNames)
	require.Empty(t, inner.Wires()[0].Deferred)
}

func TestPortablePassesOnWhatIsPlain(t *testing.T) {
	everywhere(t, passesOn[*schema.Message], passesOn[*schema.AgenticMessage])
}

func passesOn[M adk.MessageType](t *testing.T, streaming bool) {
	inner := adktest.Script[M]()
	history := []M{adktest.System[M]("be brief"), adktest.User[M]("please"), adktest.Assistant[M]("", adktest.ToolCall{ID: "a", Name: "own", Args: "{}"}), adktest.Result[M]("a", "own", "ok")}
	request(t, toolsearch.Portable[M](inner), streaming, history)
	request(t, toolsearch.Portable[M](inner), streaming, history, model.WithTools(infos("own")), model.WithTemperature(1))
	request(t, toolsearch.Portable[M](inner), streaming, nil)
	for i, w := range inner.Wires()[:2] {
		require.Equal(t, history, w.Messages, "request %d", i)
	}
	require.Nil(t, inner.Wires()[0].Tools, "the model's own tools are not overridden")
	require.Equal(t, []string{"own"}, inner.Wires()[1].ToolNames)
}

// typed is a model that says what it is.
type typed struct {
	model.BaseModel[*schema.Message]
	on bool
}

func (typed) GetType() string            { return "Vendor" }
func (t typed) IsCallbacksEnabled() bool { return t.on }

func TestPortableIsWhatTheModelIs(t *testing.T) {
	plain := adktest.Script[*schema.Message]()
	for _, c := range []struct {
		model model.BaseModel[*schema.Message]
		typ   string
		on    bool
	}{{typed{plain, true}, "Vendor", true}, {typed{plain, false}, "Vendor", false}, {plain, "Model[*github.com/cloudwego/eino/schema.Message]", false}} {
		p := toolsearch.Portable(c.model)
		typ, ok := components.GetType(p)
		require.True(t, ok)
		require.Equal(t, c.typ, typ)
		require.Equal(t, c.on, components.IsCallbacksEnabled(p))
	}
}

func TestPortableReturnsTheModelsErrors(t *testing.T) {
	inner := adktest.Script[*schema.Message](adktest.Turn{Err: context.DeadlineExceeded}, adktest.Turn{Err: context.DeadlineExceeded})
	p := toolsearch.Portable[*schema.Message](inner)
	_, err := p.Generate(context.Background(), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = p.Stream(context.Background(), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestPortableLeavesNothingOutThatAdaptersSendAsNull(t *testing.T) {
	everywhere(t, leavesNothingOut[*schema.Message], leavesNothingOut[*schema.AgenticMessage])
}

func leavesNothingOut[M adk.MessageType](t *testing.T, streaming bool) {
	history := []M{
		adktest.User[M]("please"),
		adktest.Assistant[M]("", adktest.ToolCall{ID: "a", Name: "own"}, adktest.ToolCall{ID: "b", Name: "own", Args: ` {"x":1}`}, adktest.ToolCall{ID: "c", Name: "own", Args: "\n"}),
		adktest.Result[M]("a", "own", "ok"), adktest.Result[M]("b", "own", "ok"), adktest.Result[M]("c", "own", "ok"),
	}
	kept, tools := dump(history), infos("own", "later")
	inner := adktest.Script[M]()
	request(t, toolsearch.Portable[M](inner), streaming, history, model.WithTools(tools[:1]), model.WithDeferredTools(tools[1:]))
	require.Equal(t, kept, dump(history), "what was handed in changed")
	w := inner.Wires()[0]
	var args []string
	for _, c := range adktest.Calls(w.Messages[1]) {
		args = append(args, c.Args)
	}
	require.Equal(t, []string{"{}", ` {"x":1}`, "{}"}, args)
	for i, x := range w.Tools {
		s, err := x.ToJSONSchema()
		require.NoError(t, err)
		require.NotNil(t, s, x.Name)
		require.Equal(t, "object", s.Type)
		require.Nil(t, tools[i].ParamsOneOf, "what was handed in changed")
	}
}

// A message that says something has no need of the text that stands for what a provider
// searched; one that says nothing more has.
func TestPortableFillsOnlyMessagesThatAreEmptyOtherwise(t *testing.T) {
	calls := []schema.ToolCall{{ID: "a", Function: schema.FunctionCall{Name: "own", Arguments: "{}"}}}
	parts := []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: "a part"}}
	for _, c := range []struct {
		m    schema.Message
		want string
	}{
		{schema.Message{}, `{"matches":[]}`},
		{schema.Message{Content: "a text"}, "a text"},
		{schema.Message{ToolCalls: calls}, ""},
		{schema.Message{AssistantGenMultiContent: parts}, ""},
		{schema.Message{ToolCalls: calls, AssistantGenMultiContent: parts}, ""},
		//lint:ignore SA1019 stored histories have it
		{schema.Message{MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeText, Text: "x"}}}, ""},
	} {
		c.m.Role, c.m.Extra = schema.Assistant, map[string]any{"_eino_claude_tool_search_events": []any{}}
		inner := adktest.Script[*schema.Message]()
		request(t, toolsearch.Portable[*schema.Message](inner), false, []*schema.Message{&c.m})
		require.Equal(t, c.want, inner.Wires()[0].Messages[0].Content)
		require.Empty(t, inner.Wires()[0].Messages[0].Extra)
	}
}
