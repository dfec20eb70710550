// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The gate: calls of tools that the model has not loaded.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

//claim:security-01
func TestGate_UnloadedToolDoesNotRun_TS10(t *testing.T) {
	playAll(t, scenariosTS10())
}

func scenariosTS10() (all []scenario) {
	for name, form := range adktest.Forms {
		all = append(all, scenario{"TS-10", name + " tool that was never loaded", callsUnloaded[*schema.Message](form), callsUnloaded[*schema.AgenticMessage](form),
			"the first call runs, the second call runs, visible after the first: false", "the first call gets the schema, the second call runs, visible after the first: true"})
	}
	return all
}

func callsUnloaded[M adk.MessageType](form adktest.Form) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		runs := 0
		info := &schema.ToolInfo{Name: "a1", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"city_of_birth": {Type: schema.String}})}
		a1 := adktest.Tool(form, info, func(context.Context, string) (string, error) { runs++; return "ran", nil })
		tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(toolCall("1", "a1")), adktest.Do(toolCall("2", "a1"))}, s.mustBuild(t, a1))
		require.NoError(t, tr.Err)
		said := func(id string) string {
			switch text := tr.result(id); {
			case text == "ran":
				return "runs"
			case strings.Contains(text, "city_of_birth"):
				return "gets the schema"
			default:
				return text
			}
		}
		require.Equal(t, strings.Count(said("1")+said("2"), "runs"), runs)
		return fmt.Sprintf("the first call %s, the second call %s, visible after the first: %v", said("1"), said("2"), strings.Contains(strings.Join(tr.wires[1].ToolNames, ","), "a1"))
	}
}

// A model that calls a hidden tool twice in one turn has seen its schema for neither.
//
//claim:security-02
func TestGate_StopsEveryCallOfBatch_TS10(t *testing.T) {
	adktest.Both(t, testGateStopsEveryCallOfBatch[*schema.Message], testGateStopsEveryCallOfBatch[*schema.AgenticMessage])
}

func testGateStopsEveryCallOfBatch[M adk.MessageType](t *testing.T, streaming bool) {
	var events []einolean.Event
	var mu sync.Mutex
	h := newHandler[M](t, &toolsearch.Config{DynamicTools: simpleTools("a1"), OnEvent: func(_ context.Context, e einolean.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	tr := ourSide[M](streaming).run(userRequest[M](), nil, []adktest.Turn{adktest.Do(toolCall("1", "a1"), toolCall("2", "a1")), adktest.Do(toolCall("3", "a1"))}, h)
	require.NoError(t, tr.Err)
	require.Contains(t, tr.result("1"), "did not run")
	require.Contains(t, tr.result("2"), "did not run")
	require.Contains(t, tr.result("3"), "echo")
	kinds := map[einolean.Kind]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	require.Equal(t, map[einolean.Kind]int{einolean.KindCatalogChanged: 1, einolean.KindCallGated: 2, einolean.KindToolsLoaded: 1}, kinds)
}

// A gated tool runs where the user wants it to, as with Eino.
func TestAllowUnloadedCalls_RunsUnloadedTool_TS10(t *testing.T) {
	adktest.Both(t, testAllowUnloadedCallsRunsUnloadedTool[*schema.Message], testAllowUnloadedCallsRunsUnloadedTool[*schema.AgenticMessage])
}

func testAllowUnloadedCallsRunsUnloadedTool[M adk.MessageType](t *testing.T, streaming bool) {
	h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: simpleTools("a1"), AllowUnloadedCalls: true})
	require.NoError(t, err)
	tr := ourSide[M](streaming).run(userRequest[M](), nil, []adktest.Turn{adktest.Do(toolCall("1", "a1"))}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, `echo {"value":"x"}`, tr.result("1"))
}

func TestGate_ToolShownByOtherHandlerRuns(t *testing.T) {
	bothSides(t, testGateToolShownByOtherHandlerRuns[*schema.Message], testGateToolShownByOtherHandlerRuns[*schema.AgenticMessage])
}

func testGateToolShownByOtherHandlerRuns[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for _, s := range []implementation[M]{eino, ours} {
		first := true
		show := stateRewriter[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			if first {
				state.ToolInfos = append(state.ToolInfos, &schema.ToolInfo{Name: "a1", Desc: "shown by another"})
			}
			first = false
		}}
		tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(toolCall("1", "a1")), adktest.Do(toolCall("2", "a1"))}, s.mustBuild(t, simpleTools("a1", "a2")...), show)
		require.NoError(t, tr.Err)
		require.Equal(t, "0:tool_search,a1 1:tool_search,a1 2:tool_search,a1", tr.tools(), s.name)
		require.Contains(t, tr.result("1"), "echo", s.name)
		require.Equal(t, "shown by another", tr.wires[2].Tools[1].Desc, s.name)
	}
}

// The gate's answer to a tool that returns directly would be the answer of the agent.
func TestGate_ReturnDirectlyToolRuns(t *testing.T) {
	bothSides(t, testGateReturnDirectlyToolRuns[*schema.Message], testGateReturnDirectlyToolRuns[*schema.AgenticMessage])
}

func testGateReturnDirectlyToolRuns[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for _, s := range []implementation[M]{eino, ours} {
		a := adktest.Agent[M]{Handlers: adktest.Handlers(s.mustBuild(t, simpleTools("a1")...)), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ToolsConfig.ReturnDirectly = map[string]bool{"a1": true}
		}}
		tr := s.runAgent(a, userRequest[M](), adktest.Do(toolCall("1", "a1")))
		require.NoError(t, tr.Err)
		require.Equal(t, `echo {"value":"x"}`, tr.Answer(), s.name)
	}
}

//claim:security-02
func TestAlias_DoesNotPassGate_X05(t *testing.T) {
	bothSides(t, testAliasDoesNotPassGate[*schema.Message], testAliasDoesNotPassGate[*schema.AgenticMessage])
}

func testAliasDoesNotPassGate[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	play := func(s implementation[M]) runResult[M] {
		tr := s.runAgent(aliased(s.mustBuildExact(t, simpleTools("get_weather")...), "get_weather", "wx"), userRequest[M](), adktest.Do(toolCall("1", "wx")), adktest.Do(toolCall("2", "wx")))
		require.NoError(t, tr.Err)
		return tr
	}
	require.Contains(t, play(eino).result("1"), "echo")
	o := play(ours)
	require.Contains(t, o.result("1"), `Call "get_weather" again`)
	require.Equal(t, []string{"own", "tool_search", "get_weather"}, o.wires[1].ToolNames, "it is loaded, as the model was told")
	require.Contains(t, o.result("2"), "echo")
}

// aliased is an agent in which a tool has another name as well.
func aliased[M adk.MessageType](h adk.TypedChatModelAgentMiddleware[M], name, alias string) adktest.Agent[M] {
	return adktest.Agent[M]{Tools: simpleTools("own"), Handlers: adktest.Handlers(h), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
		c.ToolsConfig.ToolAliases = map[string]compose.ToolAliasConfig{name: {NameAliases: []string{alias}}}
	}}
}

// A run that the model calls a tool of under an alias only keeps it in use.
func TestAlias_CallCountsAsUse_X05(t *testing.T) {
	adktest.Both(t, testAliasCallCountsAsUse[*schema.Message], testAliasCallCountsAsUse[*schema.AgenticMessage])
}

func testAliasCallCountsAsUse[M adk.MessageType](t *testing.T, streaming bool) {
	h := newHandler[M](t, &toolsearch.Config{DynamicTools: append(simpleTools(numberedNames(200)...), simpleTools("get_weather", "send_mail")...), UnloadAfter: 2, ExactToolNames: true})
	turns := []adktest.Turn{adktest.Do(searchCall("0", "select:get_weather,send_mail"))}
	for _, id := range []string{"1", "2", "3", "4"} {
		turns = append(turns, adktest.Do(toolCall(id, "wx")))
	}
	tr := ourSide[M](streaming).runAgent(aliased(h, "get_weather", "wx"), userRequest[M](), turns...)
	require.NoError(t, tr.Err)
	require.Equal(t, []string{"own", "tool_search", "get_weather"}, tr.wires[5].ToolNames)
	require.Contains(t, tr.result("4"), "echo")
}

func TestAlias_SearchLoads_X05(t *testing.T) {
	playAll(t, scenariosX05())
}

func scenariosX05() []scenario {
	return []scenario{
		{"X-05", "a search under an alias", searchesByAlias[*schema.Message], searchesByAlias[*schema.AgenticMessage],
			`["get_weather"] 0:own,tool_search 1:own,tool_search`, `["get_weather"] 0:own,tool_search 1:own,tool_search,get_weather`},
	}
}

func searchesByAlias[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.runAgent(aliased(s.mustBuildExact(t, simpleTools("get_weather", "send_mail")...), "tool_search", "find_tools"), userRequest[M](),
		adktest.Do(adktest.ToolCall{ID: "1", Name: "find_tools", Args: `{"query":"weather"}`}))
	require.NoError(t, tr.Err)
	return summarizeAnswer(tr.result("1")) + " " + tr.tools()
}

func TestExactToolNames_UnknownNames_TS36(t *testing.T) {
	playAll(t, scenariosTS36())
}

func scenariosTS36() (all []scenario) {
	const ended = "an error ends the run after 2 requests"
	for _, c := range []struct {
		name, wanted string
		hasHandler   bool
		eino, ours   string
	}{
		{"functions.own", "own", false, ended, `it runs, handlers saw ["own"]`},
		{"Get-Weather", "get_weather", false, ended, `it runs, handlers saw ["get_weather"]`},
		{"get_whether", "get_weather", false, ended, `the answer names it, handlers saw ["tool_search"]`},
		{"own.", "own", true, `the UnknownToolsHandler answers, handlers saw []`, `it runs, handlers saw ["own"]`},
		{"get_whether", "get_weather", true, `the UnknownToolsHandler answers, handlers saw []`,
			`the answer names it, handlers saw ["tool_search"]`},
	} {
		what := fmt.Sprintf("a call of %s for %s, with an UnknownToolsHandler: %v", c.name, c.wanted, c.hasHandler)
		all = append(all, scenario{"TS-36", what, callsByName[*schema.Message](c.name, c.wanted, c.hasHandler),
			callsByName[*schema.AgenticMessage](c.name, c.wanted, c.hasHandler), c.eino, c.ours})
	}
	return all
}

// callsByName calls a tool that the model sees by the name that it wrote.
func callsByName[M adk.MessageType](name, wanted string, hasHandler bool) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		tr, handler := playUnknownName(s, s.mustBuild(t, simpleTools("get_weather")...), name, hasHandler)
		if tr.Err != nil {
			return tr.ended()
		}
		what := "the answer does not name it"
		switch text := tr.result("2"); {
		case strings.Contains(text, "echo"):
			what = "it runs"
		case strings.Contains(text, "UnknownToolsHandler"):
			what = "the UnknownToolsHandler answers"
		case strings.Contains(text, wanted):
			what = "the answer names it"
		}
		for i, seen := range handler.seen {
			handler.seen[i], _, _ = strings.Cut(seen, " ")
		}
		return fmt.Sprintf("%s, handlers saw %q", what, handler.seen[1:]) // after tool_search
	}
}

// playUnknownName runs an agent whose model searches, and then makes a call by the given name. It returns a handler
// around the calls, too.
func playUnknownName[M adk.MessageType](
	s implementation[M], search adk.TypedChatModelAgentMiddleware[M], name string, hasHandler bool,
) (runResult[M], *witness[M]) {
	handler := &witness[M]{}
	a := adktest.Agent[M]{Tools: simpleTools("own"), Handlers: adktest.Handlers[M](handler, search)}
	if hasHandler {
		a.Configure = func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ToolsConfig.UnknownToolsHandler = func(_ context.Context, name, _ string) (string, error) {
				return "UnknownToolsHandler: " + name, nil
			}
		}
	}
	tr := s.runAgent(a, userRequest[M](), adktest.Do(searchCall("1", "select:get_weather")), adktest.Do(toolCall("2", name)))
	return tr, handler
}

func TestExactToolNames_LeavesUnknownNamesToEino_TS36(t *testing.T) {
	bothSides(t, testExactToolNamesLeavesUnknownNamesToEino[*schema.Message], testExactToolNamesLeavesUnknownNamesToEino[*schema.AgenticMessage])
}

func testExactToolNamesLeavesUnknownNamesToEino[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for _, s := range []implementation[M]{eino, ours} {
		for _, name := range []string{"functions.own", "Get-Weather", "get_whether"} {
			exact := s.mustBuildExact(t, simpleTools("get_weather")...)
			tr, _ := playUnknownName(s, exact, name, false)
			require.ErrorContains(t, tr.Err, name, s.name)
			tr, _ = playUnknownName(s, exact, name, true)
			require.Contains(t, tr.result("2"), "UnknownToolsHandler: "+name, s.name)
		}
	}
}

// Without ExactToolNames, a call by an alias is answered like that of any unknown name, and the run goes on.
func TestAlias_IsUnknownWithoutExactToolNames(t *testing.T) {
	adktest.Both(t, testAliasIsUnknown[*schema.Message], testAliasIsUnknown[*schema.AgenticMessage])
}

func testAliasIsUnknown[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	a := aliased(s.mustBuild(t, simpleTools("get_weather")...), "own", "mine")
	tr := s.runAgent(a, userRequest[M](), adktest.Do(toolCall("1", "mine")), adktest.Do(toolCall("2", "own")))
	require.NoError(t, tr.Err)
	require.Contains(t, tr.result("1"), `No tool is named \"mine\"`)
	require.Contains(t, tr.result("2"), "echo")
}
