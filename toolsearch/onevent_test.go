// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field OnEvent.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func TestOnEvent_ReportsWhatHappened(t *testing.T) {
	adktest.Both(t, testOnEventReportsWhatHappened[*schema.Message], testOnEventReportsWhatHappened[*schema.AgenticMessage])
}

func testOnEventReportsWhatHappened[M adk.MessageType](t *testing.T, streaming bool) {
	call := oneCall("c2", "weather__get_forecast", `{"city":"Oslo"}`)
	for _, c := range []struct {
		name  string
		cfg   toolsearch.Config
		turns []adktest.Turn
		want  []string
	}{
		{
			"a search loads", toolsearch.Config{MaxResults: 1},
			[]adktest.Turn{oneCall("c1", "tool_search", `{"query":"forecast weather"}`), call},
			[]string{`tools_searched c1 "forecast weather" weather__get_forecast=20`, "tools_loaded weather__get_forecast"},
		},
		{
			"a search that finds nothing", toolsearch.Config{},
			[]adktest.Turn{oneCall("c1", "tool_search", `{"query":"zz"}`)},
			[]string{`tools_searched c1 "zz"`},
		},
		{
			"several queries", toolsearch.Config{MaxResults: 1},
			[]adktest.Turn{oneCall("c1", "tool_search", `{"query":["forecast","select:slack__send_message"]}`)},
			[]string{
				`tools_searched c1 "forecast\nselect:slack__send_message" weather__get_forecast=10 slack__send_message=0`,
				"tools_loaded weather__get_forecast,slack__send_message",
			},
		},
		{
			"a call that the gate stops loads as well", toolsearch.Config{},
			[]adktest.Turn{call},
			[]string{"call_gated c2 weather__get_forecast", "tools_loaded weather__get_forecast"},
		},
		{
			"tools without use are hidden again", toolsearch.Config{UnloadAfter: 2},
			[]adktest.Turn{call, oneCall("c3", "own", `{}`), oneCall("c4", "own", `{}`)},
			[]string{"call_gated c2 weather__get_forecast", "tools_loaded weather__get_forecast", "tools_unloaded unused -weather__get_forecast"},
		},
		{
			"patterns", toolsearch.Config{Protocol: toolsearch.Regexp},
			[]adktest.Turn{oneCall("c1", "tool_search", `{"regex_pattern":"cast$"}`)},
			[]string{`tools_searched c1 "cast$" weather__get_forecast=0`, "tools_loaded weather__get_forecast"},
		},
		{
			"candidates, then loading", toolsearch.Config{Protocol: toolsearch.SearchLoad},
			[]adktest.Turn{oneCall("c1", "search_tools", `{"query":"forecast"}`), oneCall("c2", "load_tool", `{"tool_name":"weather__get_forecast"}`)},
			[]string{`tools_searched c1 "forecast" weather__get_forecast=10`, "tools_loaded weather__get_forecast"},
		},
		{
			"call_tool loads nothing", toolsearch.Config{Protocol: toolsearch.SearchCall},
			[]adktest.Turn{oneCall("c1", "tool_search", `{"query":"forecast"}`), oneCall("c2", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`), oneCall("c3", "weather__get_forecast", `{}`)},
			[]string{`tools_searched c1 "forecast" weather__get_forecast=10`, "call_gated c3 weather__get_forecast"},
		},
		{
			"a denial", toolsearch.Config{Filter: deny("weather__get_forecast")},
			[]adktest.Turn{oneCall("c1", "tool_search", `{"query":"forecast"}`), call},
			[]string{
				`tools_searched c1 "forecast"`,
				"tools_denied c2 weather__get_forecast weather__get_forecast call",
			},
		},
		{
			"a catalogue that could not be stored", toolsearch.Config{CatalogLimit: 1, Backend: &notebookBackend{fail: func() error { return errors.New("full") }}},
			[]adktest.Turn{oneCall("c1", "own", `{}`)},
			[]string{"store_failed"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &recorder{}
			c.cfg.DynamicTools, c.cfg.OnEvent = officeTools(), d.record
			scene[M]{t: t, streaming: streaming, cfg: c.cfg}.begin(c.turns...)
			require.Equal(t, c.want, d.lines())
		})
	}
}

func TestOnEvent_SearchReportsRankingAndReason(t *testing.T) {
	d := &recorder{}
	searchAnswer(t, toolsearch.Config{DynamicTools: officeTools(), OnEvent: d.record, NewIndex: index.BM25}, "tool_search", `{"query":"forecast"}`)
	require.Len(t, d.events, 3)
	require.Equal(t, 4, d.events[0].Tools.AddedCount)
	require.Positive(t, d.events[0].Tools.Tokens)
	q := d.events[1].Search
	require.Positive(t, q.Took)
	require.False(t, q.Fallback)
	require.Equal(t, "index.bm25Index", q.Index)
	require.NotEmpty(t, q.Hits[0].Terms)
	require.Equal(t, "forecast", q.Hits[0].Terms[0].Text)
	require.NoError(t, d.events[1].Err)
}

// The event is the callee's to keep, and to spoil.
func TestOnEvent_ListenerMayModifyEvent(t *testing.T) {
	spoil := func(_ context.Context, e einolean.Event) {
		if e.Tools != nil {
			for i := range e.Tools.Added {
				e.Tools.Added[i] = "spoilt"
			}
		}
		if e.Search != nil {
			for i := range e.Search.Hits {
				e.Search.Hits[i].Name = "spoilt"
			}
		}
	}
	answer := searchAnswer(t, toolsearch.Config{DynamicTools: officeTools(), OnEvent: spoil}, "tool_search", `{"query":"forecast"}`)
	require.Equal(t, `{"matches":["weather__get_forecast"]}`, answer)

	s := newScene[*schema.Message](t, false, toolsearch.Regexp)
	s.cfg.OnEvent = spoil
	p := s.begin(oneCall("a", "tool_search", `{"regex_pattern":"cast"}`))
	require.NotContains(t, p.text(), "spoilt")
	require.Equal(t, "own tool_search\nown tool_search weather__get_forecast", p.tools())
}

//claim:security-48
func TestOnEvent_PanicIsIgnored(t *testing.T) {
	for _, proto := range protocols {
		s := newScene[*schema.Message](t, false, proto.protocol)
		s.cfg.OnEvent = func(context.Context, einolean.Event) { panic("full disk") }
		require.Equal(t, proto.tools, s.begin(proto.turns...).tools())
	}
}

// What the history loaded is reported once, as something that an earlier run did.
func TestOnEvent_ReportsToolsOfEarlierRunOnce(t *testing.T) {
	adktest.Both(t, testOnEventReportsToolsOfEarlierRunOnce[*schema.Message], testOnEventReportsToolsOfEarlierRunOnce[*schema.AgenticMessage])
}

func testOnEventReportsToolsOfEarlierRunOnce[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.Keyword)
	first := s.begin(oneCall("c1", "tool_search", `{"query":"forecast"}`))
	d := &recorder{}
	s.cfg.OnEvent = d.record
	s.play(append(first.history, adktest.User[M]("more")), oneCall("c2", "own", `{}`))
	require.Equal(t, []string{"tools_loaded weather__get_forecast history"}, d.lines())
	require.True(t, d.events[1].Repeat)
}

// A Filter that denies 72 of 300 tools is reported where a model calls one of them.
func TestOnEvent_ReportsDeniedCalls(t *testing.T) {
	adktest.Both(t, testOnEventReportsDeniedCalls[*schema.Message], testOnEventReportsDeniedCalls[*schema.AgenticMessage])
}

func testOnEventReportsDeniedCalls[M adk.MessageType](t *testing.T, streaming bool) {
	var tools []tool.BaseTool
	for i := range 300 {
		tools = append(tools, adktest.Simple(fmt.Sprintf("tool%03d", i), "Does a thing"))
	}
	d := &recorder{}
	s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: tools, OnEvent: d.record,
		Filter: func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
			return r.Tool.Name >= "tool072", nil
		},
	}}
	s.begin(oneCall("c1", "tool_search", `{"query":"thing"}`), oneCall("c2", "tool100", `{}`), oneCall("c3", "tool_search", `{"query":"thing"}`))
	for _, e := range d.events {
		require.NotEqual(t, einolean.KindToolsDenied, e.Kind, "nobody called one of them")
	}
	require.LessOrEqual(t, len(d.events), 7, d.lines())
	d.events = nil
	s.begin(oneCall("c1", "tool001", `{}`))
	require.Contains(t, strings.Join(d.lines(), "\n"), "tools_denied")
}

// A run that goes on after an interrupt repeats no event.
func TestOnEvent_ResumedRunRepeatsNone(t *testing.T) {
	adktest.Both(t, testOnEventResumedRunRepeatsNone[*schema.Message], testOnEventResumedRunRepeatsNone[*schema.AgenticMessage])
}

func testOnEventResumedRunRepeatsNone[M adk.MessageType](t *testing.T, streaming bool) {
	d := &recorder{}
	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "Asks a person"}, askApproval))
	s.cfg.OnEvent, s.cfg.Filter, s.store = d.record, deny("slack__send_message"), &adktest.Store{}
	ctx := context.Background()
	agent, _ := s.agent(oneCall("c1", "tool_search", `{"query":"select:ask"}`), oneCall("c2", "ask", `{}`))
	first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)
	agent, _ = s.agent(oneCall("c3", "own", `{}`))
	resumeApproved(t, agent, first)
	seen := map[string]int{}
	for _, e := range d.events {
		key := string(e.Kind)
		if e.Tools != nil {
			key += e.Tools.Phase
		}
		seen[key]++
	}
	require.Equal(t, map[string]int{"catalog_changed": 1, "tools_searched": 1, "tools_loaded": 1}, seen)
}

// Whatever the model, the Filter, the index and the store do, a run has at most two events
// for each model call and two for each tool call, and one for the catalogue.
func TestOnEvent_RateIsBounded(t *testing.T) {
	adktest.Both(t, testOnEventRateIsBounded[*schema.Message], testOnEventRateIsBounded[*schema.AgenticMessage])
}

func testOnEventRateIsBounded[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	var events, most int
	for range max(12, race.Cases(60)) {
		protocol := toolsearch.Protocol(r.IntN(4))
		var turns []adktest.Turn
		calls := 0
		for range 1 + r.IntN(6) {
			var turn []adktest.ToolCall
			for range 1 + r.IntN(3) {
				calls++
				turn = append(turn, anyCall(r, protocol, fmt.Sprintf("c%d", calls)))
			}
			turns = append(turns, adktest.Do(turn...))
		}
		d, mu, salt := &recorder{}, sync.Mutex{}, r.Uint64()
		cfg := toolsearch.Config{
			DynamicTools: officeTools(), Protocol: protocol, OnEvent: d.record, CatalogLimit: r.IntN(3),
			Backend: &notebookBackend{fail: func() error { return errors.New("full") }},
			Filter: func(_ context.Context, q toolsearch.FilterRequest) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				salt = salt*6364136223846793005 + 1442695040888963407
				return salt>>60 > 5, nil
			},
		}
		if protocol == toolsearch.Keyword || protocol == toolsearch.SearchCall {
			cfg.NewIndex = index.Fuse(failing, index.Keyword, failing)
		}
		if protocol != toolsearch.SearchCall {
			cfg.UnloadAfter = r.IntN(3)
		}
		scene[M]{t: t, streaming: streaming, cfg: cfg}.begin(turns...)
		limit := 2*(len(turns)+1) + 2*calls + 2
		require.LessOrEqual(t, len(d.events), limit, d.lines())
		events, most = events+len(d.events), most+limit
	}
	require.Greater(t, 10*events, most, "the histories make events")
}

func failing(context.Context, []*schema.ToolInfo) (index.Index, error) {
	return brokenIndex(func() ([]index.Result, error) { return nil, errors.New("offline") }), nil
}

// anyCall is a call of a tool that the agent has.
func anyCall(r *rand.Rand, protocol toolsearch.Protocol, id string) adktest.ToolCall {
	names := []string{"github__create_issue", "github__close_issue", "slack__send_message", "weather__get_forecast", "own", "nobody"}
	name := names[r.IntN(5)]
	meta := map[toolsearch.Protocol][]string{
		toolsearch.Keyword: {"tool_search"}, toolsearch.Regexp: {"tool_search"},
		toolsearch.SearchLoad: {"search_tools", "load_tool"}, toolsearch.SearchCall: {"tool_search", "call_tool"},
	}[protocol]
	asked := names[r.IntN(6)]
	args := []string{
		`{"query":["issue","select:` + asked + `","zz"],"regex_pattern":".","tool_name":"` + asked + `","name":"` + asked + `","arguments":{}}`,
		`{"query":"message forecast","regex_pattern":"_","tool_names":["` + asked + `","own"],"name":"` + name + `","arguments":{}}`,
	}[r.IntN(2)]
	if r.IntN(3) > 0 {
		name = meta[r.IntN(len(meta))]
	}
	return adktest.ToolCall{ID: id, Name: name, Args: args}
}
