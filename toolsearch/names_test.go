// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Tools of the same name, and several instances in one agent.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

func buildError[M adk.MessageType](names ...string) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		_, err := s.build(simpleTools(names...), false)
		return errorText(err)
	}
}

//claim:security-17
func TestNames_CollisionIsError_TS07(t *testing.T) {
	playAll(t, scenariosTS07())
}

func scenariosTS07() []scenario {
	return []scenario{
		{"TS-07", "a dynamic tool with the name of an own one", clashesWithOwn[*schema.Message], clashesWithOwn[*schema.AgenticMessage],
			"no error 0:tool_search, a call runs the dynamic one", `an error that names "shared" twice`},
		{"TS-07", "a dynamic tool named tool_search", buildError[*schema.Message]("tool_search"), buildError[*schema.AgenticMessage]("tool_search"),
			"no error", `toolsearch: DynamicTools[0]: it has the name of the search tool "tool_search"`},
		{"TS-07", "an own tool named tool_search", ownSearch[*schema.Message], ownSearch[*schema.AgenticMessage], "0:tool_search,tool_search", `an error that names "tool_search" twice`},
		{"TS-07", "a dynamic tool named as a search tool of another protocol", buildError[*schema.Message]("call_tool"), buildError[*schema.AgenticMessage]("call_tool"),
			"no error", `toolsearch: DynamicTools[0]: it has the name of the search tool "call_tool"`},
	}
}

func twiceNamed(err error, name string) string {
	if strings.Count(err.Error(), fmt.Sprintf("%q", name)) < 2 {
		return err.Error()
	}
	return fmt.Sprintf("an error that names %q twice", name)
}

func clashesWithOwn[M adk.MessageType](t *testing.T, s implementation[M]) string {
	mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shared"}, func(context.Context, string) (string, error) { return "the own one", nil })
	tr := s.run(userRequest[M](), []tool.BaseTool{mine}, []adktest.Turn{adktest.Do(toolCall("1", "shared"))}, s.mustBuild(t, simpleTools("shared")...))
	if tr.Err != nil {
		require.Empty(t, tr.wires)
		return twiceNamed(tr.Err, "shared")
	}
	require.Contains(t, tr.result("1"), "echo")
	first, _, _ := strings.Cut(tr.tools(), " ")
	return "no error " + first + ", a call runs the dynamic one"
}

func ownSearch[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.run(userRequest[M](), simpleTools("tool_search"), nil, s.mustBuild(t, simpleTools("a1")...))
	if tr.Err != nil {
		return twiceNamed(tr.Err, "tool_search")
	}
	return tr.tools()
}

func TestNames_CollisionWithLaterHandlerIsError_TS07(t *testing.T) {
	bothSides(t, testNamesCollisionWithLaterHandlerIsError[*schema.Message], testNamesCollisionWithLaterHandlerIsError[*schema.AgenticMessage])
}

func testNamesCollisionWithLaterHandlerIsError[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	for _, name := range []string{"a1", "tool_search"} {
		e := eino.run(userRequest[M](), nil, nil, eino.mustBuild(t, simpleTools("a1")...), einorun.New(toolAdder[M]{tools: simpleTools(name)}))
		require.NoError(t, e.Err)
		o := ours.run(userRequest[M](), nil, nil, ours.mustBuild(t, simpleTools("a1")...), einorun.New(toolAdder[M]{tools: simpleTools(name)}))
		require.ErrorContains(t, o.Err, `"`+name+`"`)
		require.Empty(t, o.wires)
	}
	o := ours.run(userRequest[M](), nil, nil, ours.mustBuild(t, simpleTools("a1")...), einorun.New(toolAdder[M]{tools: simpleTools("a1"), drops: 1}))
	require.ErrorContains(t, o.Err, `"a1"`, "also where the list is no longer than before")
	// What does not clash is as good as an own tool.
	for _, s := range []implementation[M]{eino, ours} {
		load := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "load_tool"}, func(context.Context, string) (string, error) { return `{"loaded":["a1"],"matches":["a1"]}`, nil })
		tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(toolCall("1", "load_tool"))}, s.mustBuild(t, simpleTools("a1")...), einorun.New(toolAdder[M]{tools: []tool.BaseTool{load}}))
		require.NoError(t, tr.Err)
		require.Equal(t, "0:tool_search,load_tool 1:tool_search,load_tool", tr.tools(), s.name)
	}
}

func TestNames_OwnToolsMayUseNamesOfOtherProtocols(t *testing.T) {
	bothSides(t, testNamesOwnToolsMayUseNamesOfOtherProtocols[*schema.Message], testNamesOwnToolsMayUseNamesOfOtherProtocols[*schema.AgenticMessage])
}

func testNamesOwnToolsMayUseNamesOfOtherProtocols[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	answer := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "load_tool"}, func(context.Context, string) (string, error) { return `{"loaded":["a1"]}`, nil })
	turns := []adktest.Turn{adktest.Do(toolCall("1", "load_tool"), adktest.ToolCall{ID: "2", Name: "call_tool", Args: `{"name":"a1"}`})}
	for _, s := range []implementation[M]{eino, ours} {
		tr := s.run(userRequest[M](), append(simpleTools("call_tool"), answer), turns, s.mustBuild(t, simpleTools("a1")...))
		require.NoError(t, tr.Err)
		require.Equal(t, "0:call_tool,load_tool,tool_search 1:call_tool,load_tool,tool_search", tr.tools(), s.name)
		native := s.run(userRequest[M](), append(simpleTools("call_tool"), answer), turns, s.mustBuildNative(t, simpleTools("a1")...))
		require.NoError(t, native.Err)
		require.Equal(t, "0:call_tool,load_tool deferred:a1 1:call_tool,load_tool deferred:a1", native.tools(), s.name)
	}
}

func TestInstances_TwoInOneAgentAreError_TS06(t *testing.T) {
	playAll(t, scenariosTS06())
}

func scenariosTS06() []scenario {
	return []scenario{
		{"TS-06", "two instances in one agent", twoInstances[*schema.Message], twoInstances[*schema.AgenticMessage],
			"0:own,tool_search,tool_search,b1 1:own,tool_search,tool_search,b1,b2 | announced a1,a2 | a search for a1: null | a search for b2: [\"b2\"]",
			"an error says that there are two instances"},
	}
}

func twoInstances[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(searchCall("1", "select:a1"), searchCall("2", "select:b2"))},
		s.mustBuild(t, simpleTools("a1", "a2")...), s.mustBuild(t, simpleTools("b1", "b2")...))
	if tr.Err != nil {
		require.ErrorContains(t, tr.Err, "the agent has two instances of this middleware: give one of them all tools")
		require.Empty(t, tr.wires)
		return "an error says that there are two instances"
	}
	n, list := reminders(tr.wires[0])
	require.Equal(t, 1, n)
	names := strings.Split(list, "\n")
	// Which of b1 and b2 Eino's package leaves visible does not matter: that it does so, does.
	return strings.NewReplacer("tool_search,b1,b2 ", "tool_search,b1 ").Replace(tr.tools()) +
		fmt.Sprintf(" | announced %s | a search for a1: %s | a search for b2: %s", strings.Join(names[1:len(names)-1], ","), summarizeAnswer(tr.result("1")), summarizeAnswer(tr.result("2")))
}

func TestInstances_SameOneTwiceHidesOnce_X09(t *testing.T) {
	playAll(t, scenariosX09())
}

func scenariosX09() []scenario {
	return []scenario{
		{"X-09", "one instance twice", sameTwice[*schema.Message], sameTwice[*schema.AgenticMessage],
			"0:own,tool_search,tool_search 1:own,tool_search,tool_search,a1",
			"0:own,tool_search 1:own,tool_search,a1"},
	}
}

func sameTwice[M adk.MessageType](t *testing.T, s implementation[M]) string {
	h := s.mustBuild(t, simpleTools("a1", "a2")...)
	tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(searchCall("1", "a1"))}, h, h)
	require.NoError(t, tr.Err)
	return tr.tools()
}

func TestInstances_SameOneTwiceAsksFilterOnce_X09(t *testing.T) {
	adktest.Both(t, testInstancesSameOneTwiceAsksFilterOnce[*schema.Message], testInstancesSameOneTwiceAsksFilterOnce[*schema.AgenticMessage])
}

func testInstancesSameOneTwiceAsksFilterOnce[M adk.MessageType](t *testing.T, streaming bool) {
	var mu sync.Mutex
	asked := map[string]int{}
	h := newHandler[M](t, &toolsearch.Config{DynamicTools: simpleTools("a1"), Filter: func(_ context.Context, q toolsearch.FilterRequest) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[q.Tool.Name+" "+string(q.Phase)]++
		return true, nil
	}})
	require.NoError(t, ourSide[M](streaming).run(userRequest[M](), nil, nil, h, h).Err)
	require.Equal(t, map[string]int{"a1 list": 1}, asked)
}
