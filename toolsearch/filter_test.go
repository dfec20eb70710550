// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field Filter.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// deny is a Filter that denies one tool in some phases; in all if none is given.
func deny(name string, phases ...toolsearch.Phase) toolsearch.Filter {
	return func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		if req.Tool.Name != name {
			return true, nil
		}
		for _, p := range phases {
			if p == req.Phase {
				return false, nil
			}
		}
		return len(phases) > 0, nil
	}
}

func TestFilter_EachPhaseDeniesOnlyItsOwn(t *testing.T) {
	adktest.Both(t, testFilterEachPhaseDeniesOnlyItsOwn[*schema.Message], testFilterEachPhaseDeniesOnlyItsOwn[*schema.AgenticMessage])
}

func testFilterEachPhaseDeniesOnlyItsOwn[M adk.MessageType](t *testing.T, streaming bool) {
	const name = "weather__get_forecast"
	search, call := oneCall("a", "tool_search", `{"query":"forecast"}`), oneCall("b", name, `{"city":"Oslo"}`)
	for _, c := range []struct {
		phase                            toolsearch.Phase
		listed, found, visible, runs, at bool
	}{
		{phase: toolsearch.PhaseList, listed: false, found: true, visible: true, runs: true},
		{phase: toolsearch.PhaseSearch, listed: true, found: false, visible: true, runs: true}, // the call loads it
		{phase: toolsearch.PhaseLoad, listed: true, found: false, visible: false, runs: false},
		{phase: toolsearch.PhaseActive, listed: true, found: true, visible: false, runs: false},
		{phase: toolsearch.PhaseCall, listed: true, found: true, visible: true, runs: false},
	} {
		t.Run(string(c.phase), func(t *testing.T) {
			s := newScene[M](t, streaming, toolsearch.Keyword)
			s.cfg.Filter = deny(name, c.phase)
			again := call
			again.Calls = []adktest.ToolCall{{ID: "c", Name: name, Args: `{"city":"Lima"}`}}
			p := s.begin(search, call, again)
			require.Equal(t, c.listed, strings.Contains(p.wires[0].MessagesDump[0], name))
			require.Equal(t, c.found, strings.Contains(p.answer(t, "a"), name))
			require.Equal(t, c.visible, strings.Contains(strings.Join(p.wires[3].ToolNames, " "), name))
			if c.runs {
				require.Contains(t, p.answer(t, "c"), `got {"city":"Lima"}`)
			} else {
				require.Contains(t, p.answer(t, "c"), `You may not use the tool "weather__get_forecast".`)
			}
		})
	}
}

//claim:security-46
func TestFilter_ErrorOrPanicDenies(t *testing.T) {
	broken := errors.New("no connection to the directory")
	for name, filter := range map[string]toolsearch.Filter{
		"error": func(context.Context, toolsearch.FilterRequest) (bool, error) { return true, broken },
		"panic": func(context.Context, toolsearch.FilterRequest) (bool, error) { panic("nil map") },
	} {
		for _, proto := range protocols {
			t.Run(name+"/"+proto.protocol.String(), func(t *testing.T) {
				var events []einolean.Event
				s := newScene[*schema.Message](t, false, proto.protocol)
				s.cfg.Filter = filter
				s.cfg.OnEvent = func(_ context.Context, e einolean.Event) { events = append(events, e) }
				turns := proto.turns
				for len(turns) > 0 && turns[len(turns)-1].Calls[0].Name == "github__create_issue" {
					turns = turns[:len(turns)-1] // the model cannot know the name
				}
				p := s.begin(turns...)
				messages := strings.Join(p.wires[len(p.wires)-1].MessagesDump, "\n")
				require.NotContains(t, messages, "weather")
				require.NotContains(t, messages, "connection")
				require.NotContains(t, messages, "<available-deferred-tools>\n")
				for _, e := range events {
					if e.Kind == einolean.KindToolsDenied {
						require.Error(t, e.Err)
						require.Equal(t, name == "error", errors.Is(e.Err, broken))
					}
				}
			})
		}
	}
}

// A denied tool and one that does not exist get the same answer, apart from the name.
//
//claim:security-04
func TestFilter_DeniedToolIsUnknown(t *testing.T) {
	const denied, nonexistent = "vault__xq81", "vault__zj44"
	for _, c := range []struct {
		protocol toolsearch.Protocol
		tool     string
		args     string
	}{
		{toolsearch.Keyword, "tool_search", `{"query":"select:%s"}`},
		{toolsearch.Keyword, "tool_search", `{"query":"%s"}`},
		{toolsearch.Keyword, "tool_search", `{"query":"+%s issue"}`},
		{toolsearch.Keyword, "tool_search", `{"query":"select:%s,github__create_issue"}`},
		{toolsearch.Regexp, "tool_search", `{"regex_pattern":"^%s$"}`},
		{toolsearch.SearchLoad, "search_tools", `{"query":"%s"}`},
		{toolsearch.SearchLoad, "load_tool", `{"tool_name":"%s"}`},
		{toolsearch.SearchLoad, "load_tool", `{"tool_names":["%s","github__create_issue"]}`},
		{toolsearch.SearchCall, "tool_search", `{"query":"select:%s"}`},
		{toolsearch.SearchCall, "call_tool", `{"name":"%s","arguments":{"id":1}}`},
		{toolsearch.SearchCall, "call_tool", `{"name":"%s","arguments":"nonsense"}`},
	} {
		t.Run(c.protocol.String()+" "+c.tool+" "+c.args, func(t *testing.T) {
			s := newScene[*schema.Message](t, false, c.protocol)
			s.cfg.DynamicTools = append(officeTools(), simpleTools(denied)...)
			s.cfg.Filter = deny(denied)
			one := s.begin(oneCall("a", c.tool, fmt.Sprintf(c.args, denied))).answer(t, "a")
			other := s.begin(oneCall("a", c.tool, fmt.Sprintf(c.args, nonexistent))).answer(t, "a")
			require.Equal(t, strings.ReplaceAll(other, nonexistent, denied), one)
		})
	}
}

// Called by its own name, a denied tool is answered as call_tool answers for one that does
// not exist, whether or not it was ever loaded.
func TestFilter_DirectCallOfDeniedToolIsUnknown(t *testing.T) {
	adktest.Both(t, testFilterDirectCallOfDeniedToolIsUnknown[*schema.Message], testFilterDirectCallOfDeniedToolIsUnknown[*schema.AgenticMessage])
}

func testFilterDirectCallOfDeniedToolIsUnknown[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.SearchCall)
	want := s.begin(oneCall("a", "call_tool", `{"name":"weather__get_forecst"}`)).answer(t, "a")
	const near = " Nearest names: weather__get_forecast. If one of them does it, run it; otherwise search."
	want = strings.NewReplacer("forecst", "forecast", near, " Search for a tool that does what you need.").Replace(want)
	for _, unloaded := range []bool{false, true} {
		for form, f := range adktest.Forms {
			s := newScene[M](t, streaming, toolsearch.Keyword)
			s.cfg.AllowUnloadedCalls = unloaded
			s.cfg.DynamicTools = append(s.cfg.DynamicTools[:3:3], adktest.Tool(f, &schema.ToolInfo{Name: "weather__get_forecast", Desc: "d"}, nil))
			s.cfg.Filter = deny("weather__get_forecast")
			require.Equal(t, want, s.begin(oneCall("a", "weather__get_forecast", `{}`)).answer(t, "a"), form)
		}
	}
}

//claim:security-04
func TestFilter_DeniedNamesAreNotStored(t *testing.T) {
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	book := &notebookBackend{}
	s.cfg.DynamicTools = append(officeTools(), simpleTools("vault__open", "vault__close")...)
	s.cfg.CatalogLimit, s.cfg.Backend = 2, book
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Phase != toolsearch.PhaseList || !strings.HasPrefix(req.Tool.Name, "vault"), nil
	}
	reminder := s.begin().wires[0].MessagesDump[0]
	require.Contains(t, reminder, "(2 of 4 names are shown. Names by server: github: 2, slack: 1, weather: 1.")
	require.NotContains(t, reminder, "vault")
	require.Len(t, book.written, 1)
	for _, content := range book.written {
		require.Equal(t, "github__create_issue\ngithub__close_issue\nslack__send_message\nweather__get_forecast\n", content)
	}
}

// The list differs in each round; the store that refused the first is not asked again
// before the next run.
func TestBackend_FailingStoreIsAskedOncePerRun(t *testing.T) {
	adktest.Both(t, testBackendFailingStoreIsAskedOncePerRun[*schema.Message], testBackendFailingStoreIsAskedOncePerRun[*schema.AgenticMessage])
}

func testBackendFailingStoreIsAskedOncePerRun[M adk.MessageType](t *testing.T, streaming bool) {
	for _, c := range []struct {
		err  error
		want int // writes in each run of three model calls
	}{{errors.New("full"), 1}, {nil, 3}} {
		asked, round := 0, 0
		s := newScene[M](t, streaming, toolsearch.Keyword)
		s.cfg.CatalogLimit = 1
		s.cfg.Backend = &notebookBackend{fail: func() error { asked++; return c.err }}
		s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
			denied := []string{"github__create_issue", "github__close_issue", "slack__send_message"}[round%3]
			return req.Phase != toolsearch.PhaseList || req.Tool.Name != denied, nil
		}
		s.mine = []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "next", Desc: "d"}, func(context.Context, string) (string, error) {
			round++
			return "ok", nil
		})}
		for run := range 2 {
			s.begin(oneCall("a", "next", `{}`), oneCall("b", "next", `{}`))
			require.Equal(t, (run+1)*c.want, asked)
		}
	}
}

// A store that does not answer costs a run one wait, even if it ignores its context, and it is reported like any failure.
func TestBackend_HangingStoreCostsOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		release, events := make(chan struct{}), &recorder{}
		s := newScene[*schema.Message](t, false, toolsearch.Keyword)
		s.cfg.CatalogLimit, s.cfg.OnEvent = 1, events.record
		s.cfg.Backend = &notebookBackend{fail: func() error { asked.Add(1); <-release; return nil }}
		start := time.Now()
		p := s.begin(oneCall("a", "own", `{}`))
		require.Equal(t, 30*time.Second, time.Since(start))
		require.Len(t, p.wires, 2)
		require.Contains(t, p.wires[0].MessagesDump[0], "(1 of 4 names are shown.")
		require.NotContains(t, p.wires[0].MessagesDump[0], "catalog-")
		require.EqualValues(t, 1, asked.Load())
		i := slices.Index(events.kinds(), einolean.KindStoreFailed)
		require.GreaterOrEqual(t, i, 0)
		require.ErrorContains(t, events.events[i].Err, `toolsearch: Backend: writing "/toolsearch/catalog-`)
		require.ErrorContains(t, events.events[i].Err, "no answer within 30s")
		require.ErrorIs(t, events.events[i].Err, context.DeadlineExceeded)
		close(release)
		synctest.Wait()
	})
}

//claim:security-14
func TestFilter_HoldsInNativeMode(t *testing.T) {
	adktest.Both(t, testFilterHoldsInNativeMode[*schema.Message], testFilterHoldsInNativeMode[*schema.AgenticMessage])
}

func testFilterHoldsInNativeMode[M adk.MessageType](t *testing.T, streaming bool) {
	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.cfg.UseModelToolSearch = true
	s.cfg.Filter = deny("weather__get_forecast")
	p := s.begin(
		oneCall("a", "tool_search", `{"query":"forecast"}`), oneCall("b", "tool_search", `{"query":"select:weather__get_forecasts"}`),
		oneCall("c", "tool_search", `{"query":"issue"}`), oneCall("d", "github__create_issue", issue))
	require.NotContains(t, p.text(), "weather__get_forecast\n")
	require.NotContains(t, p.text(), `"weather__get_forecast"`)
	require.NotContains(t, p.text(), "Says what the weather")
	require.Equal(t, []string{"github__create_issue", "github__close_issue", "slack__send_message"}, p.wires[0].DeferredNames)
	require.Contains(t, p.answer(t, "d"), "got "+issue)

	p = s.begin(oneCall("a", "weather__get_forecast", `{}`))
	require.Contains(t, p.answer(t, "a"), `There is no tool named "weather__get_forecast".`)
}

func TestFilter_AskedOncePerToolPhaseAndModelCall(t *testing.T) {
	adktest.Both(t, testFilterAskedOncePerToolPhaseAndModelCall[*schema.Message], testFilterAskedOncePerToolPhaseAndModelCall[*schema.AgenticMessage])
}

func testFilterAskedOncePerToolPhaseAndModelCall[M adk.MessageType](t *testing.T, streaming bool) {
	for _, proto := range protocols {
		for _, native := range []bool{false, true} {
			if native && proto.protocol != toolsearch.Keyword {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", proto.protocol, native), func(t *testing.T) {
				c := &tally{asked: map[string]int{}}
				s := newScene[M](t, streaming, proto.protocol)
				s.cfg.Filter, s.cfg.UseModelToolSearch = c.filter, native
				// Every turn calls everything at once. What is asked before a model call counts with
				// what is asked by the tools after it.
				s.around = adktest.Handlers[M](&ahead[M]{do: c.next})
				busy := adktest.Turn{}
				for i := range 4 {
					for j, call := range append([]adktest.ToolCall{{Name: "slack__send_message", Args: `{}`}, {Name: "weather__get_forecast", Args: `{}`}}, callsOf(proto.turns)...) {
						call.ID = fmt.Sprintf("c%d.%d", i, j)
						busy.Calls = append(busy.Calls, call)
					}
				}
				agent, m := s.agent()
				m.Respond = func(n int, _ adktest.Wire[M]) adktest.Turn {
					if n == 3 {
						return adktest.Say("done")
					}
					turn := adktest.Turn{}
					for _, call := range busy.Calls {
						call.ID = fmt.Sprint(n, call.ID)
						turn.Calls = append(turn.Calls, call)
					}
					return turn
				}
				out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
				require.NoError(t, out.Err)
				require.Equal(t, 1, c.most)
			})
		}
	}
}

// tally counts what a Filter is asked between two model calls.
type tally struct {
	mu    sync.Mutex
	asked map[string]int
	most  int
}

func (c *tally) filter(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := req.Tool.Name + " " + string(req.Phase)
	c.asked[key]++
	c.most = max(c.most, c.asked[key])
	return !strings.HasPrefix(req.Tool.Name, "slack"), nil
}

func (c *tally) next() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = map[string]int{}
}

// ahead does something before each model call, ahead of the handlers after it.
type ahead[M adk.MessageType] struct {
	adk.TypedBaseChatModelAgentMiddleware[M]
	do func()
}

func (a *ahead[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	a.do()
	return ctx, state, nil
}

func callsOf(turns []adktest.Turn) (calls []adktest.ToolCall) {
	for _, turn := range turns {
		calls = append(calls, turn.Calls...)
	}
	return calls
}

// What is denied takes no place from what is not: among the suggestions, among the results,
// and where a name could mean either.
func TestFilter_DeniedToolsTakeNoResultPlace(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("pay_invoice_%02d", i))
	}
	names = append(names, "pay_invoice_late", "send-mail", "send_mail")
	allowed := map[string]bool{"pay_invoice_late": true, "send-mail": true}
	s := newScene[*schema.Message](t, false, toolsearch.SearchLoad)
	s.cfg.DynamicTools = simpleTools(names...)
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return allowed[req.Tool.Name], nil
	}
	p := s.begin(
		oneCall("a", "load_tool", `{"tool_name":"pay_invoice_0x"}`), oneCall("b", "search_tools", `{"query":"invoice pay"}`),
		oneCall("c", "load_tool", `{"tool_name":"SendMail"}`), oneCall("d", "search_tools", `{"query":"invoise"}`))
	require.Contains(t, p.answer(t, "a"), "Nearest names: pay_invoice_late.")
	require.Contains(t, p.answer(t, "b"), `{"results":[{"name":"pay_invoice_late",`)
	require.Equal(t, `{"loaded":["send-mail"]}`, p.answer(t, "c"))
	require.Contains(t, p.answer(t, "d"), "Nearest names: pay_invoice_late.")
}

// One instance serves many users at once, and the filter decides for each by the context
// of the run.
func TestFilter_DecidesPerRequest(t *testing.T) {
	adktest.Both(t, testFilterDecidesPerRequest[*schema.Message], testFilterDecidesPerRequest[*schema.AgenticMessage])
}

func testFilterDecidesPerRequest[M adk.MessageType](t *testing.T, streaming bool) {
	const users = 8
	var names []string
	for i := range users {
		names = append(names, fmt.Sprintf("diary_of_%d", i))
	}
	for _, proto := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{
			DynamicTools: simpleTools(names...), Protocol: proto,
			Filter: func(ctx context.Context, req toolsearch.FilterRequest) (bool, error) {
				return req.Tool.Name == ctx.Value(userKey{}), nil
			},
		})
		require.NoError(t, err)
		var wait sync.WaitGroup
		for i := range users {
			wait.Go(func() {
				ctx := context.WithValue(context.Background(), userKey{}, names[i])
				m := adktest.Script[M](oneCall("a", "tool_search", `{"query":"diary"}`), adktest.Do(
					adktest.ToolCall{ID: "b", Name: names[i], Args: `{}`}, adktest.ToolCall{ID: "c", Name: names[(i+1)%users], Args: `{}`}))
				out := adktest.Agent[M]{Model: m, Streaming: streaming, Tools: simpleTools("own"), Handlers: adktest.Handlers(h)}.Run(ctx, []M{adktest.User[M]("please")})
				p := sceneResult[M]{out, m.Wires(), nil}
				text := strings.ReplaceAll(p.text(), names[(i+1)%users], "")
				for j, name := range names {
					if (strings.Contains(text, name)) != (i == j) {
						t.Errorf("user %d and %s: %v %s", i, name, out.Err, text)
					}
				}
			})
		}
		wait.Wait()
	}
}

type userKey struct{}

//claim:security-10
func TestFilter_EachPathAsksItsPhases(t *testing.T) {
	adktest.Both(t, testFilterEachPathAsksItsPhases[*schema.Message], testFilterEachPathAsksItsPhases[*schema.AgenticMessage])
}

func testFilterEachPathAsksItsPhases[M adk.MessageType](t *testing.T, streaming bool) {
	all := []toolsearch.Phase{toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad, toolsearch.PhaseActive, toolsearch.PhaseCall}
	for _, w := range ways[M]() {
		for _, denied := range all {
			t.Run(w.name+" without "+string(denied), func(t *testing.T) {
				s := newScene[M](t, streaming, w.protocol)
				s.cfg.Filter = deny(forecast, denied)
				require.Equal(t, !slices.Contains(w.asks, denied), w.works(t, s))
			})
		}
	}
}

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
			return strings.Contains(s.begin(oneCall("a", name, args)).answer(t, "a"), want)
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
			p := s.begin(oneCall("a", "load_tool", `{"tool_name":"`+forecast+`"}`))
			return slices.Contains(p.wires[1].ToolNames, forecast)
		}},
		{"call that no gate holds", toolsearch.Keyword, []toolsearch.Phase{call}, func(t *testing.T, s scene[M]) bool {
			s.cfg.AllowUnloadedCalls = true
			return strings.Contains(s.begin(oneCall("a", forecast, `{"city":"Oslo"}`)).answer(t, "a"), "got")
		}},
		{"native", toolsearch.Keyword, []toolsearch.Phase{search, load, active}, func(t *testing.T, s scene[M]) bool {
			s.cfg.UseModelToolSearch = true
			return strings.Contains(providerJSON(s.begin().wires[0].Deferred...), forecast)
		}},
	}
}

// A name that the model may know is answered by "you may not use it", whichever way it takes;
// one that neither the list nor a search shows, like one that does not exist.
//
//claim:security-04
func TestFilter_VisibleDeniedToolIsNotAllowed(t *testing.T) {
	adktest.Both(t, testFilterVisibleDeniedToolIsNotAllowed[*schema.Message], testFilterVisibleDeniedToolIsNotAllowed[*schema.AgenticMessage])
}

func testFilterVisibleDeniedToolIsNotAllowed[M adk.MessageType](t *testing.T, streaming bool) {
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
			s := newScene[M](t, streaming, c.protocol)
			s.cfg.Filter = deny(forecast, phases...)
			answer := s.begin(oneCall("a", c.tool, c.args)).answer(t, "a")
			require.Equal(t, len(phases) < 3, strings.Contains(answer, "You may not use the tool"), "%s, %v: %s", c.name, phases, answer)
			require.Equal(t, len(phases) == 3, strings.Contains(answer, "o tool is named") || strings.Contains(answer, "no tool named"), "%s, %v: %s", c.name, phases, answer)
		}
	}
}

// A tool that is denied in every phase leaves no trace: all that the model is sent is, byte
// for byte, what it would be sent if the tool did not exist.
//
//claim:security-04
func TestFilter_DeniedToolsLeaveNoTrace(t *testing.T) {
	adktest.Both(t, testFilterDeniedToolsLeaveNoTrace[*schema.Message], testFilterDeniedToolsLeaveNoTrace[*schema.AgenticMessage])
}

func testFilterDeniedToolsLeaveNoTrace[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	for range race.Cases(60) {
		w := newTreasury(r)
		w.streaming = streaming
		hidden := playTreasury[M](t, w, func(req toolsearch.FilterRequest) bool { return !w.denied[req.Tool.Name] })
		w.tools = slices.DeleteFunc(slices.Clone(w.tools), func(t treasure) bool { return w.denied[t.name] })
		absent := playTreasury[M](t, w, func(toolsearch.FilterRequest) bool { return true })
		require.Equal(t, absent, hidden, "%+v", w)
	}
}

// treasury is a random catalogue of which some is denied, and what a model does with it.
type treasury struct {
	tools     []treasure
	denied    map[string]bool
	protocol  toolsearch.Protocol
	native    bool
	limit     int
	results   int
	streaming bool
	turns     []adktest.Turn
}

// act is one call of a search tool.
func (w treasury) act(r *rand.Rand) (name, args string) {
	// Of a name, the model knows all but the secret.
	known, _, _ := strings.Cut(pick(r, w.tools).name, "zq")
	guess := pick(r, []string{known, strings.Trim(known, "_"), strings.ToUpper(known) + "zq", known[:len(known)/2], "+" + known, strings.ReplaceAll(known, "_", "-")})
	query := pick(r, []string{guess, "select:" + guess, "select:" + guess + "," + known, strings.ReplaceAll(known, "_", " "), "issue", "a", "", "zz"})
	switch {
	case w.protocol == toolsearch.Regexp:
		return "tool_search", fmt.Sprintf(`{"regex_pattern":%q}`, pick(r, []string{".*", "^" + known, "(?i)" + known, "e", "[", "zz"}))
	case w.protocol == toolsearch.SearchLoad && chance(r, 50):
		return "load_tool", fmt.Sprintf(`{"tool_name":%q}`, guess)
	case w.protocol == toolsearch.SearchLoad:
		return "search_tools", fmt.Sprintf(`{"query":%q}`, query)
	case w.protocol == toolsearch.SearchCall && chance(r, 50):
		return "call_tool", fmt.Sprintf(`{"name":%q,"arguments":{"value":"v"}}`, guess)
	}
	return "tool_search", fmt.Sprintf(`{"query":%q,"max_results":%d}`, query, r.IntN(5))
}

// treasure is a tool. Its name and its description end in a secret that the model, who
// knows no more than the beginning, never writes.
type treasure struct{ name, desc, secret string }

func newTreasury(r *rand.Rand) treasury {
	w := treasury{denied: map[string]bool{}, protocol: toolsearch.Protocol(r.IntN(4)), results: r.IntN(4)}
	w.native = w.protocol == toolsearch.Keyword && chance(r, 25)
	if chance(r, 30) {
		w.limit = 1 + r.IntN(4)
	}
	servers, words := []string{"git__", "mail__", "gitHub__", ""}, strings.Fields("list issue Issue get open send weather pay")
	for i := range 1 + r.IntN(12) {
		secret := fmt.Sprintf("zq%dx%d", i, r.IntN(1000))
		tr := treasure{secret: secret, name: pick(r, servers) + pick(r, words) + "_" + pick(r, words) + "_" + secret}
		tr.desc = pick(r, words) + " and " + pick(r, words) + " " + secret
		w.tools = append(w.tools, tr)
		if chance(r, 40) {
			w.denied[tr.name] = true
		}
	}
	for i := range 1 + r.IntN(5) {
		turn := adktest.Turn{}
		for j := range 1 + r.IntN(3) {
			name, args := w.act(r)
			turn.Calls = append(turn.Calls, adktest.ToolCall{ID: fmt.Sprintf("c%d.%d", i, j), Name: name, Args: args})
		}
		w.turns = append(w.turns, turn)
	}
	return w
}

// playTreasury returns all that the model read, and all that was stored.
func playTreasury[M adk.MessageType](t testing.TB, w treasury, allow func(toolsearch.FilterRequest) bool) string {
	book := &notebookBackend{}
	s := newScene[M](t, w.streaming, w.protocol)
	s.cfg.DynamicTools, s.cfg.UseModelToolSearch = nil, w.native
	// There is always one tool that nobody denies.
	for _, tr := range append(w.tools, treasure{name: "always", desc: "Always there"}) {
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Simple(tr.name, tr.desc))
	}
	s.cfg.CatalogLimit, s.cfg.MaxResults = w.limit, w.results
	if w.limit > 0 {
		s.cfg.Backend = book
	}
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Tool.Name == "always" || allow(req), nil
	}
	p := s.begin(w.turns...)
	return p.text() + fmt.Sprint(book.written)
}

// Whatever a filter allows or denies, the model never reads the name or the description of
// a tool that is denied in every phase.
//
//claim:security-04 security-29
func TestFilter_RandomFiltersRevealNothing(t *testing.T) {
	adktest.Both(t, testFilterRandomFiltersRevealNothing[*schema.Message], testFilterRandomFiltersRevealNothing[*schema.AgenticMessage])
}

func testFilterRandomFiltersRevealNothing[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	for range race.Cases(60) {
		w := newTreasury(r)
		w.streaming = streaming
		seed := r.Uint64()
		text := playTreasury[M](t, w, func(req toolsearch.FilterRequest) bool {
			if w.denied[req.Tool.Name] {
				return false
			}
			// Of the others, any phase of any tool may be denied.
			h := rand.New(rand.NewPCG(seed, uint64(len(req.Tool.Name))<<8+uint64(req.Tool.Name[len(req.Tool.Name)-1])+uint64(len(req.Phase))<<32+uint64(req.Phase[0])<<40))
			return h.IntN(4) > 0
		})
		for _, tr := range w.tools {
			if w.denied[tr.name] {
				require.NotContains(t, strings.ToLower(text), tr.secret, "%s\n%+v", text, w)
			}
		}
	}
}

//claim:security-09
func TestFilter_AskedAboutToolsOfTheRun(t *testing.T) {
	adktest.Both(t, testFilterAskedAboutToolsOfTheRun[*schema.Message], testFilterAskedAboutToolsOfTheRun[*schema.AgenticMessage])
}

func testFilterAskedAboutToolsOfTheRun[M adk.MessageType](t *testing.T, streaming bool) {
	for name, hide := range map[string]func(*toolsearch.Config){
		"SearchableTools":  func(c *toolsearch.Config) { c.SearchableTools = []string{"reset"} },
		"DeferMarkedTools": func(c *toolsearch.Config) { c.DeferMarkedTools = true },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := toolsearch.Config{Filter: func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
				return r.Tool.Extra["owner"] != "guest", nil
			}}
			hide(&cfg)
			h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
			require.NoError(t, err)
			for i, user := range []string{"root", "guest", "staff", "root"} {
				ctx := context.WithValue(context.Background(), ownerKey{}, user)
				m := adktest.Script[M](oneCall("a", "tool_search", `{"query":"select:reset"}`), oneCall("b", "reset", `{}`))
				out := adktest.Agent[M]{Model: m, Streaming: streaming, Handlers: adktest.Handlers[M](
					einorun.New(contextToolAdder[M]{tools: func(ctx context.Context) []tool.BaseTool { return []tool.BaseTool{ofOwner(owner(ctx))} }}), h,
				)}.Run(ctx, []M{adktest.User[M]("please")})
				p := sceneResult[M]{Outcome: out}
				require.NoError(t, out.Err)
				if user == "guest" {
					require.Contains(t, p.answer(t, "b"), `There is no tool named "reset".`, "run %d", i)
					require.Equal(t, []string{"tool_search"}, m.Wires()[1].ToolNames)
					continue
				}
				require.Equal(t, "reset by "+user, p.answer(t, "b"), "run %d", i)
				tools := m.Wires()[1].Tools
				require.Equal(t, user, tools[len(tools)-1].Extra["owner"], "run %d", i)
			}
		})
	}
}

type ownerKey struct{}

func owner(ctx context.Context) string { s, _ := ctx.Value(ownerKey{}).(string); return s }

// ofOwner is a tool that differs from another owner's in Extra alone.
func ofOwner(name string) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "reset", Desc: "Resets everything", Extra: map[string]any{
		"owner": name, "defer_loading": true, "nested": map[string]any{"list": []any{name}},
	}}, func(context.Context, string) (string, error) { return "reset by " + name, nil })
}

// Whatever phases a Filter denies a tool in, an answer to a slip of its name suggests it only if the model may see,
// find and load it.
func TestFilter_DeniedToolIsNotSuggested(t *testing.T) {
	adktest.Both(t, testFilterDeniedToolIsNotSuggested[*schema.Message], testFilterDeniedToolIsNotSuggested[*schema.AgenticMessage])
}

func testFilterDeniedToolIsNotSuggested[M adk.MessageType](t *testing.T, streaming bool) {
	const tool, slip = "github__close_issue", "github__close_isue"
	phases := []toolsearch.Phase{toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad}
	for denied := range 1 << len(phases) {
		var in []toolsearch.Phase
		for i, phase := range phases {
			if denied&(1<<i) != 0 {
				in = append(in, phase)
			}
		}
		s := newScene[M](t, streaming, toolsearch.SearchCall)
		if in != nil {
			s.cfg.Filter = deny(tool, in...)
		}
		answer := s.begin(oneCall("1", "call_tool", `{"name":"`+slip+`","arguments":{}}`)).answer(t, "1")
		require.Equal(t, in == nil, strings.Contains(answer, tool), "denied in %v: %s", in, answer)
	}
}

//claim:security-03
func TestFilter_DeniedCallLoadsNothing(t *testing.T) {
	adktest.Both(t, testFilterDeniedCallLoadsNothing[*schema.Message], testFilterDeniedCallLoadsNothing[*schema.AgenticMessage])
}

func testFilterDeniedCallLoadsNothing[M adk.MessageType](t *testing.T, streaming bool) {
	for name, call := range map[string]adktest.Turn{
		"a call":    oneCall("a", "github__close_issue", `{"number":3}`),
		"call_tool": oneCall("a", "call_tool", `{"name":"github__close_issue","arguments":{"number":3}}`),
		"load_tool": oneCall("a", "load_tool", `{"tool_name":"github__close_issue"}`),
	} {
		for _, lang := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
			t.Run(name, func(t *testing.T) {
				require.NoError(t, adk.SetLanguage(lang))
				defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
				var open atomic.Bool
				protocol := map[string]toolsearch.Protocol{"call_tool": toolsearch.SearchCall, "load_tool": toolsearch.SearchLoad}[name]
				s := newScene[M](t, streaming, protocol)
				s.cfg.Filter = func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
					return open.Load() || r.Tool.Name != "github__close_issue", nil
				}
				s.mine = []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "promote"}, func(context.Context, string) (string, error) {
					open.Store(true)
					return "promoted", nil
				})}
				p := s.begin(call, oneCall("b", "promote", `{}`))
				require.NotContains(t, p.tools(), "github__close_issue", "in the run")
				require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
				s.cfg.Protocol = toolsearch.SearchLoad // which shows what was loaded under any
				again := s.play(append(p.history, adktest.User[M]("go on")), oneCall("c", "load_tool", `{"tool_name":"github__close_issue"}`))
				require.Contains(t, again.tools(), "github__close_issue", "once it is allowed and asked for")
			})
		}
	}
}
