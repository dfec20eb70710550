// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The names of calls: near spellings, unknown names, and what the model sees of its own calls.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/proctest"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/toolsearch"
)

var allProtocols = []toolsearch.Protocol{toolsearch.Keyword, toolsearch.Regexp, toolsearch.SearchLoad, toolsearch.SearchCall}

func TestCallNames_NearSpellingIsRepaired(t *testing.T) {
	adktest.Both(t, testNearSpellingIsRepaired[*schema.Message], testNearSpellingIsRepaired[*schema.AgenticMessage])
}

func testNearSpellingIsRepaired[M adk.MessageType](t *testing.T, streaming bool) {
	for _, protocol := range allProtocols {
		for _, written := range []string{
			"functions.weather__get_forecast", "default_api.Weather_getForecast", "weather_get_forecast", "Weather-Get-Forecast",
		} {
			s := newScene[M](t, streaming, protocol)
			s.cfg.AlwaysVisible = []string{"weather__get_forecast"}
			before, after := &witness[M]{}, &witness[M]{}
			s.around, s.behind = adktest.Handlers[M](before), adktest.Handlers[M](after)
			p := s.begin(oneCall("a", written, `{"city":"Oslo"}`))
			require.Equal(t, `<<weather__get_forecast got {"city":"Oslo"}>>`, p.answer(t, "a"), "%v, %s", protocol, written)
			require.Equal(t, []string{`weather__get_forecast {"city":"Oslo"}`}, before.seen)
			require.Equal(t, before.seen, after.seen)
			require.Equal(t, "weather__get_forecast", message.Calls(p.Messages[0])[0].Name, "events")
			sent := p.wires[1].Messages
			require.Equal(t, "weather__get_forecast", message.Calls(sent[len(sent)-2])[0].Name)
			result := message.Results(sent[len(sent)-1])[0]
			require.Equal(t, "weather__get_forecast", result.Name(), "providers refuse names that are not declared")
		}
		s := newScene[M](t, streaming, protocol)
		p := s.begin(oneCall("a", "functions.own", `{"value":"x"}`), oneCall("b", "functions."+searchToolName(protocol), `{"query":"issue","regex_pattern":"issue"}`))
		require.Equal(t, `echo {"value":"x"}`, p.answer(t, "a"))
		require.Contains(t, p.answer(t, "b"), "github__create_issue")
	}
}

func searchToolName(p toolsearch.Protocol) string {
	if p == toolsearch.SearchLoad {
		return "search_tools"
	}
	return "tool_search"
}

// A name that could mean two tools, and one of a tool that the Filter denies, is not repaired. No answer names the latter.
func TestCallNames_UnknownNameIsAnswered(t *testing.T) {
	adktest.Both(t, testUnknownNameIsAnswered[*schema.Message], testUnknownNameIsAnswered[*schema.AgenticMessage])
}

func testUnknownNameIsAnswered[M adk.MessageType](t *testing.T, streaming bool) {
	for _, protocol := range allProtocols {
		s := newScene[M](t, streaming, protocol)
		s.cfg.DynamicTools = append(officeTools(), adktest.Simple("mail__send", "Sends."), adktest.Simple("mail_send", "Sends."), adktest.Simple("bank__pay", "Pays."))
		s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
			return req.Tool.Name != "bank__pay", nil
		}
		p := s.begin(
			oneCall("a", "weather__get_forecats", `{}`), oneCall("b", "Mail-Send", `{}`), oneCall("c", "Bank_Pay", `{}`),
			adktest.Do(adktest.ToolCall{ID: "d", Name: "nothing", Args: "{}"}, adktest.ToolCall{ID: "e", Name: "own", Args: `{"value":"x"}`}, adktest.ToolCall{ID: "f", Name: "nothing_else", Args: "{}"}))
		require.Contains(t, p.answer(t, "a"), noToolNamed(protocol, "weather__get_forecats"))
		require.Contains(t, p.answer(t, "a"), "Nearest names: weather__get_forecast")
		sent := p.wires[1].Messages
		require.Equal(t, searchToolName(protocol), message.Calls(sent[len(sent)-2])[0].Name, "a declared name")
		require.Contains(t, p.answer(t, "b"), noToolNamed(protocol, "Mail-Send"))
		require.Contains(t, p.answer(t, "c"), noToolNamed(protocol, "Bank_Pay"))
		require.NotContains(t, p.answer(t, "c"), "bank__pay")
		require.Contains(t, p.answer(t, "d"), noToolNamed(protocol, "nothing"))
		require.Contains(t, p.answer(t, "f"), noToolNamed(protocol, "nothing_else"))
		require.Equal(t, `echo {"value":"x"}`, p.answer(t, "e"))
	}
}

// noToolNamed returns how the answer to an unknown name begins: a search for the name answers it.
func noToolNamed(p toolsearch.Protocol, name string) string {
	if p == toolsearch.Regexp {
		return "No tool's name matches."
	}
	return `No tool is named \"` + name + `\".`
}

// An application that drops Extra, and a history of a version that stored calls of call_tool, lead to requests that every
// provider accepts, and to the same ones as long as the call is in the usual form.
func TestCallNames_StoredHistoriesGiveTheSameRequest(t *testing.T) {
	adktest.Both(t, testStoredHistoriesGiveTheSameRequest[*schema.Message], testStoredHistoriesGiveTheSameRequest[*schema.AgenticMessage])
}

func testStoredHistoriesGiveTheSameRequest[M adk.MessageType](t *testing.T, streaming bool) {
	usual := `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`
	other := `{ "arguments":{"city":"Oslo"}, "Name":"weather__get_forecast" }`
	for _, args := range []string{usual, other} {
		s := newScene[M](t, streaming, toolsearch.SearchCall)
		p := s.begin(oneCall("a", "tool_search", `{"query":"forecast"}`), oneCall("b", "call_tool", args))
		kept := append(p.history, adktest.User[M]("and tomorrow?"))
		withoutExtra := message.Map(kept, func(m M) M { return message.WithExtra(m, nil) })
		older := message.Map(withoutExtra, func(m M) M {
			m = message.EditCalls(m, func(c message.ToolCall) message.ToolCall {
				if c.Name == "weather__get_forecast" {
					c.Name, c.Args = "call_tool", args
				}
				return c
			})
			return message.RenameTools(m, func(id, name string) string {
				if id == "b" {
					return "call_tool"
				}
				return name
			})
		})
		request := func(history []M) string {
			next := s.play(history)
			for _, m := range next.wires[0].Messages {
				for _, c := range message.Calls(m) {
					require.Contains(t, []string{"tool_search", "call_tool"}, c.Name)
				}
				for _, r := range message.Results(m) {
					require.Contains(t, []string{"tool_search", "call_tool"}, r.Name())
				}
			}
			return strings.Join(next.wires[0].MessagesDump, "\n")
		}
		require.Equal(t, request(older), request(kept))
		if args == usual {
			require.Equal(t, request(older), request(withoutExtra))
		} else {
			require.Contains(t, request(withoutExtra), "call_tool")
		}
	}
}

// A stream that the tool closed itself, or none at all, ends neither the process nor, if it has content, the run. Eino ends
// the process in a goroutine, where no test can catch it: so the agents run in another process.
func TestCallNames_ToolMayCloseItsStream(t *testing.T) {
	if proctest.Alone(t) {
		adktest.Both(t, testToolMayCloseItsStream[*schema.Message], testToolMayCloseItsStream[*schema.AgenticMessage])
	}
}

func testToolMayCloseItsStream[M adk.MessageType](t *testing.T, streaming bool) {
	closed := func() *schema.StreamReader[string] {
		r, w := schema.Pipe[string](1)
		w.Send("whole", nil)
		w.Close()
		r.Close()
		return r
	}
	none := func() *schema.StreamReader[string] { return nil }
	for _, protocol := range allProtocols {
		for form, wrap := range map[string]func(streams) tool.BaseTool{
			"text":     func(s streams) tool.BaseTool { return s },
			"enhanced": func(s streams) tool.BaseTool { return enhancedStreams{s} },
		} {
			turn := oneCall("a", "odd", `{}`)
			if protocol == toolsearch.SearchCall {
				turn = oneCall("a", "call_tool", `{"name":"odd","arguments":{}}`)
			}
			s := newScene[M](t, streaming, protocol)
			s.cfg.AllowUnloadedCalls = true
			s.cfg.DynamicTools = []tool.BaseTool{wrap(streams{"odd", closed})}
			p := s.begin(turn)
			require.Equal(t, "whole", p.answer(t, "a"), "%v, %s", protocol, form)
			if form == "enhanced" {
				continue // the helper converts a stream
			}
			s.cfg.DynamicTools = []tool.BaseTool{wrap(streams{"odd", none})}
			require.ErrorContains(t, s.try([]M{adktest.User[M]("please")}, turn).Err, "returned no stream", "%v", protocol)
		}
	}
}

// With SearchCall, most of a request has been sent before: a provider's prompt cache holds it.
func TestSearchCall_RequestsShareTheirPrefix(t *testing.T) {
	adktest.Both(t, testRequestsShareTheirPrefix[*schema.Message], testRequestsShareTheirPrefix[*schema.AgenticMessage])
}

func testRequestsShareTheirPrefix[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.SearchCall)
	s.cfg.DynamicTools = simpleTools(numberedNames(300)...)
	shared, total, last := 0, 0, ""
	history := []M(nil)
	for question := range 10 {
		name := numberedNames(300)[question*7]
		history = append(history, adktest.User[M](fmt.Sprint("question ", question)))
		p := s.play(history, oneCall("s", "tool_search", `{"query":"select:`+name+`"}`),
			oneCall("c", "call_tool", `{"name":"`+name+`", "arguments" : {"value":"`+fmt.Sprint(question)+`"}}`))
		history = p.history
		for _, w := range p.wires {
			text := providerJSON(w.Tools...) + strings.Join(w.MessagesDump, "\n")
			n := 0
			for n < min(len(text), len(last)) && text[n] == last[n] {
				n++
			}
			shared, total, last = shared+n, total+len(text), text
		}
	}
	share := float64(shared) / float64(total)
	t.Logf("%.3f of what was sent had been sent before", share)
	require.Greater(t, share, .8)
}
