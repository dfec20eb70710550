// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What OnEvent is told.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// diary writes events down, as short lines.
type diary struct {
	mu     sync.Mutex
	events []toolsearch.Event
}

func (d *diary) write(_ context.Context, e toolsearch.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
}

func (d *diary) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var lines []string
	for _, e := range d.events {
		line := string(e.Kind)
		for _, part := range []string{e.CallID, strings.Join(e.Tools, ",")} {
			if part != "" {
				line += " " + part
			}
		}
		if e.Query != "" {
			line += fmt.Sprintf(" %q", e.Query)
		}
		for _, r := range e.Results {
			line += fmt.Sprintf(" %s=%v", r.Name, r.Score)
		}
		if e.Kind == toolsearch.EventDenied {
			line += " " + e.Phase.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestEventsTellWhatHappened(t *testing.T) {
	everywhere(t, eventsTell[*schema.Message], eventsTell[*schema.AgenticMessage])
}

func eventsTell[M adk.MessageType](t *testing.T, streaming bool) {
	call := do("c2", "weather__get_forecast", `{"city":"Oslo"}`)
	for _, c := range []struct {
		name  string
		cfg   toolsearch.Config
		turns []adktest.Turn
		want  []string
	}{
		{
			"a search loads", toolsearch.Config{MaxResults: 1},
			[]adktest.Turn{do("c1", "tool_search", `{"query":"forecast weather"}`), call},
			[]string{`search c1 weather__get_forecast "forecast weather" weather__get_forecast=20`, "load weather__get_forecast"},
		},
		{
			"a search that finds nothing", toolsearch.Config{},
			[]adktest.Turn{do("c1", "tool_search", `{"query":"zz"}`)},
			[]string{`search c1 "zz"`},
		},
		{
			"several queries", toolsearch.Config{MaxResults: 1},
			[]adktest.Turn{do("c1", "tool_search", `{"query":["forecast","select:slack__send_message"]}`)},
			[]string{
				`search c1 weather__get_forecast,slack__send_message "forecast\nselect:slack__send_message" weather__get_forecast=10 slack__send_message=0`,
				"load weather__get_forecast,slack__send_message",
			},
		},
		{
			"a call that the gate stops loads as well", toolsearch.Config{},
			[]adktest.Turn{call},
			[]string{"gate c2 weather__get_forecast", "load weather__get_forecast"},
		},
		{
			"tools without use are hidden again", toolsearch.Config{UnloadAfter: 2},
			[]adktest.Turn{call, do("c3", "own", `{}`), do("c4", "own", `{}`)},
			[]string{"gate c2 weather__get_forecast", "load weather__get_forecast", "unload weather__get_forecast"},
		},
		{
			"patterns", toolsearch.Config{Protocol: toolsearch.Regexp},
			[]adktest.Turn{do("c1", "tool_search", `{"regex_pattern":"cast$"}`)},
			[]string{`search c1 weather__get_forecast "cast$" weather__get_forecast=0`, "load weather__get_forecast"},
		},
		{
			"candidates, then loading", toolsearch.Config{Protocol: toolsearch.SearchLoad},
			[]adktest.Turn{do("c1", "search_tools", `{"query":"forecast"}`), do("c2", "load_tool", `{"tool_name":"weather__get_forecast"}`)},
			[]string{`search c1 weather__get_forecast "forecast" weather__get_forecast=10`, "load weather__get_forecast"},
		},
		{
			"call_tool loads nothing", toolsearch.Config{Protocol: toolsearch.SearchCall},
			[]adktest.Turn{do("c1", "tool_search", `{"query":"forecast"}`), do("c2", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`), do("c3", "weather__get_forecast", `{}`)},
			[]string{`search c1 weather__get_forecast "forecast" weather__get_forecast=10`, "gate c3 weather__get_forecast"},
		},
		{
			"a denial", toolsearch.Config{Filter: deny("weather__get_forecast")},
			[]adktest.Turn{do("c1", "tool_search", `{"query":"forecast"}`), call},
			[]string{
				"denied weather__get_forecast list", "denied c1 weather__get_forecast search", `search c1 "forecast"`,
				"denied weather__get_forecast list", "denied c2 weather__get_forecast call", "denied c2 weather__get_forecast search",
				"denied weather__get_forecast list",
			},
		},
		{
			"a catalogue that could not be stored", toolsearch.Config{CatalogLimit: 1, Backend: &notebook{fail: func() error { return errors.New("full") }}},
			[]adktest.Turn{do("c1", "own", `{}`)},
			[]string{"store failed"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &diary{}
			c.cfg.DynamicTools, c.cfg.OnEvent = office(), d.write
			scene[M]{t: t, streaming: streaming, cfg: c.cfg}.begin(c.turns...)
			require.Equal(t, c.want, d.lines())
		})
	}
}

func TestEventsOfASearchSayHowLongItTook(t *testing.T) {
	d := &diary{}
	asked(t, toolsearch.Config{DynamicTools: office(), OnEvent: d.write}, "tool_search", `{"query":"forecast"}`)
	require.Equal(t, toolsearch.EventSearch, d.events[0].Kind)
	require.Positive(t, d.events[0].Duration)
	require.NoError(t, d.events[0].Err)
}

// The event is the callee's to keep, and to spoil.
func TestEventsAreTheCalleesOwn(t *testing.T) {
	answer := asked(t, toolsearch.Config{DynamicTools: office(), OnEvent: func(_ context.Context, e toolsearch.Event) {
		for i := range e.Tools {
			e.Tools[i] = "spoilt"
		}
		for i := range e.Results {
			e.Results[i].Name = "spoilt"
		}
	}}, "tool_search", `{"query":"forecast"}`)
	require.Equal(t, `{"matches":["weather__get_forecast"]}`, answer)

	s := on[*schema.Message](t, false, toolsearch.Regexp)
	s.cfg.OnEvent = func(_ context.Context, e toolsearch.Event) {
		for i := range e.Tools {
			e.Tools[i] = "spoilt"
		}
	}
	p := s.begin(do("a", "tool_search", `{"regex_pattern":"cast"}`))
	require.NotContains(t, p.text(), "spoilt")
	require.Equal(t, "own tool_search\nown tool_search weather__get_forecast", p.tools())
}

func TestAPanicInOnEventIsIgnored(t *testing.T) {
	for _, proto := range protocols {
		s := on[*schema.Message](t, false, proto.protocol)
		s.cfg.OnEvent = func(context.Context, toolsearch.Event) { panic("full disk") }
		require.Equal(t, proto.tools, s.begin(proto.turns...).tools())
	}
}
