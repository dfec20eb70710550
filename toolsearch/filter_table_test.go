// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Which phases each way to a tool asks for: the table in the documentation of Phase.

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch"
)

const forecast = "weather__get_forecast"

// ways are the ways to a tool, and the phases that each asks for.
func ways[M adk.MessageType]() []struct {
	name     string
	protocol toolsearch.Protocol
	asks     []toolsearch.Phase
	works    func(*testing.T, scene[M]) bool
} {
	const list, search, load, active, call = toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad, toolsearch.PhaseActive, toolsearch.PhaseCall
	answers := func(name, args, want string) func(*testing.T, scene[M]) bool {
		return func(t *testing.T, s scene[M]) bool {
			return strings.Contains(s.begin(do("a", name, args)).answer(t, "a"), want)
		}
	}
	type way = struct {
		name     string
		protocol toolsearch.Protocol
		asks     []toolsearch.Phase
		works    func(*testing.T, scene[M]) bool
	}
	return []way{
		{"list", toolsearch.Keyword, []toolsearch.Phase{list}, func(t *testing.T, s scene[M]) bool {
			return strings.Contains(strings.Join(s.begin().wires[0].MessagesDump, ""), forecast)
		}},
		{"hint", toolsearch.Keyword, []toolsearch.Phase{list, search, load}, answers("tool_search", `{"query":"select:weather_get_forecasts"}`, forecast)},
		{"search", toolsearch.Keyword, []toolsearch.Phase{search, load}, answers("tool_search", `{"query":"forecast"}`, forecast)},
		{"select", toolsearch.Keyword, []toolsearch.Phase{search, load}, answers("tool_search", `{"query":"select:`+forecast+`"}`, `"matches":["`+forecast)},
		{"pattern", toolsearch.Regexp, []toolsearch.Phase{search, load}, answers("tool_search", `{"regex_pattern":"forecast"}`, forecast)},
		{"candidates", toolsearch.SearchLoad, []toolsearch.Phase{search}, answers("search_tools", `{"query":"forecast"}`, forecast)},
		{"load_tool", toolsearch.SearchLoad, []toolsearch.Phase{load}, answers("load_tool", `{"tool_name":"`+forecast+`"}`, `"loaded":["`+forecast)},
		{"schemas", toolsearch.SearchCall, []toolsearch.Phase{search, load}, answers("tool_search", `{"query":"forecast"}`, forecast)},
		{"call_tool", toolsearch.SearchCall, []toolsearch.Phase{load, call}, answers("call_tool", `{"name":"`+forecast+`","arguments":{"city":"Oslo"}}`, "got")},
		{"call of a tool that is not loaded", toolsearch.Keyword, []toolsearch.Phase{call, load, active}, answers(forecast, `{"city":"Oslo"}`, "It is loaded now")},
		{"loaded tool", toolsearch.SearchLoad, []toolsearch.Phase{load, active}, func(t *testing.T, s scene[M]) bool {
			p := s.begin(do("a", "load_tool", `{"tool_name":"`+forecast+`"}`))
			return slices.Contains(p.wires[1].ToolNames, forecast)
		}},
		{"call that no gate holds", toolsearch.Keyword, []toolsearch.Phase{call}, func(t *testing.T, s scene[M]) bool {
			s.cfg.AllowUnloadedCalls = true
			return strings.Contains(s.begin(do("a", forecast, `{"city":"Oslo"}`)).answer(t, "a"), "got")
		}},
		{"native", toolsearch.Keyword, []toolsearch.Phase{search, load, active}, func(t *testing.T, s scene[M]) bool {
			s.cfg.UseModelToolSearch = true
			return strings.Contains(onWire(s.begin().wires[0].Deferred...), forecast)
		}},
	}
}

func TestEachWayToAToolAsksForItsPhases(t *testing.T) {
	everywhere(t, waysAsk[*schema.Message], waysAsk[*schema.AgenticMessage])
}

func waysAsk[M adk.MessageType](t *testing.T, streaming bool) {
	all := []toolsearch.Phase{toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad, toolsearch.PhaseActive, toolsearch.PhaseCall}
	for _, w := range ways[M]() {
		for _, denied := range all {
			t.Run(w.name+" without "+string(denied), func(t *testing.T) {
				s := on[M](t, streaming, w.protocol)
				s.cfg.Filter = deny(forecast, denied)
				require.Equal(t, !slices.Contains(w.asks, denied), w.works(t, s))
			})
		}
	}
}

// A name that the model may know is answered by "you may not use it", whichever way it takes;
// one that neither the list nor a search shows, like one that does not exist.
func TestWhatWasShownAndIsRefusedIsSaidToBe(t *testing.T) {
	everywhere(t, refusedIsSaid[*schema.Message], refusedIsSaid[*schema.AgenticMessage])
}

func refusedIsSaid[M adk.MessageType](t *testing.T, streaming bool) {
	const list, search, load = toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad
	for _, c := range []struct {
		name, tool, args string
		protocol         toolsearch.Protocol
	}{
		{"load_tool", "load_tool", `{"tool_name":"` + forecast + `"}`, toolsearch.SearchLoad},
		{"select", "tool_search", `{"query":"select:` + forecast + `"}`, toolsearch.Keyword},
		{"call_tool", "call_tool", `{"name":"` + forecast + `","arguments":{"city":"Oslo"}}`, toolsearch.SearchCall},
		{"a call", forecast, `{"city":"Oslo"}`, toolsearch.Keyword},
	} {
		for _, phases := range [][]toolsearch.Phase{{load}, {load, list}, {load, search}, {load, list, search}} {
			s := on[M](t, streaming, c.protocol)
			s.cfg.Filter = deny(forecast, phases...)
			answer := s.begin(do("a", c.tool, c.args)).answer(t, "a")
			require.Equal(t, len(phases) < 3, strings.Contains(answer, "You may not use the tool"), "%s, %v: %s", c.name, phases, answer)
			require.Equal(t, len(phases) == 3, strings.Contains(answer, "o tool is named") || strings.Contains(answer, "no tool named"), "%s, %v: %s", c.name, phases, answer)
		}
	}
}

// Where no name may be listed, no hint points to a list, nor does one name a tool.
func TestHintsSayNothingOfAListThatIsNotThere(t *testing.T) {
	for _, proto := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		for listed, filter := range map[bool]toolsearch.Filter{true: nil, false: func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
			return req.Phase != toolsearch.PhaseList, nil
		}} {
			s := on[*schema.Message](t, false, proto)
			s.cfg.Filter = filter
			p := s.begin(do("a", "tool_search", `{"query":"wether"}`), do("b", "tool_search", `{"query":"select:github__create_issues"}`))
			require.Equal(t, listed, strings.Contains(p.answer(t, "a"), "<available-deferred-tools>"))
			require.Equal(t, listed, strings.Contains(p.answer(t, "b"), "Nearest names: github__create_issue"), p.answer(t, "b"))
		}
	}
}
