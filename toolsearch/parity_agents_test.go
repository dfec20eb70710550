// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file shows the differences in which tools an agent shows, and which it runs.

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

func agentScenarios() []scenario {
	return []scenario{
		{"TS-06", "two instances in one agent", twoInstances[*schema.Message], twoInstances[*schema.AgenticMessage],
			"0:own,tool_search,tool_search,b1 1:own,tool_search,tool_search,b1,b2 | announced a1,a2 | a search for a1: null | a search for b2: [\"b2\"]",
			"0:own,tool_search 1:own,tool_search,a1,b2 | announced a1,a2,b1,b2 | a search for a1: [\"a1\"] | a search for b2: [\"b2\"]"},
		{"X-09", "one instance twice", sameTwice[*schema.Message], sameTwice[*schema.AgenticMessage],
			"0:own,tool_search,tool_search 1:own,tool_search,tool_search,a1",
			"0:own,tool_search 1:own,tool_search,a1"},
		{"TS-08", "native search without own tools", nativeAlone[*schema.Message], nativeAlone[*schema.AgenticMessage],
			"0: deferred:a1,a2 1:tool_search,a1,a2 deferred:a1,a2 2:tool_search,a1,a2 deferred:a1,a2",
			"0: deferred:a1,a2 1: deferred:a1,a2 2: deferred:a1,a2"},
		{"TS-17", "a run with three rounds of tools", countsInfo[*schema.Message], countsInfo[*schema.AgenticMessage], "Info is asked for again in the run", "Info is asked for once"},
		{"TS-30", "a handler looks at the tools of a run", typesOfTools[*schema.Message], typesOfTools[*schema.AgenticMessage], "the tool itself", "a wrapper"},
	}
}

func twoInstances[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "select:a1"), searchFor("2", "select:b2"))},
		s.mustBuild(t, simples("a1", "a2")...), s.mustBuild(t, simples("b1", "b2")...))
	require.NoError(t, tr.Err)
	n, list := reminders(tr.wires[0])
	require.Equal(t, 1, n)
	names := strings.Split(list, "\n")
	// Which of b1 and b2 Eino's package leaves visible does not matter: that it does so, does.
	return strings.NewReplacer("tool_search,b1,b2 ", "tool_search,b1 ").Replace(tr.tools()) +
		fmt.Sprintf(" | announced %s | a search for a1: %s | a search for b2: %s", strings.Join(names[1:len(names)-1], ","), told(tr.result("1")), told(tr.result("2")))
}

func sameTwice[M adk.MessageType](t *testing.T, s side[M]) string {
	h := s.mustBuild(t, simples("a1", "a2")...)
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, h, h)
	require.NoError(t, tr.Err)
	return tr.tools()
}

func nativeAlone[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1"))}, s.mustBuildNative(t, simples("a1", "a2")...))
	require.NoError(t, tr.Err)
	return tr.tools()
}

func TestTS08_EarlierHandlersSeeNoHiddenToolsEither(t *testing.T) {
	bothSides(t, seenEarlier[*schema.Message], seenEarlier[*schema.AgenticMessage])
}

// seenEarlier asks a handler before this one what it is shown in the second model call:
// Eino's core fills a list that is nil with all tools.
func seenEarlier[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for s, want := range map[*side[M]]string{&eino: "tool_search,a1,a2", &ours: ""} {
		var seen string
		look := rewriting[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			seen = strings.Join(adktest.Names(state.ToolInfos), ",")
		}}
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, look, s.mustBuildNative(t, simples("a1", "a2")...))
		require.NoError(t, tr.Err)
		require.Equal(t, want, seen, s.name)
	}
}

// counting counts how often its info is read.
type counting struct {
	tool.InvokableTool
	infos atomic.Int64
}

func (c *counting) Info(ctx context.Context) (*schema.ToolInfo, error) {
	c.infos.Add(1)
	return c.InvokableTool.Info(ctx)
}

func countsInfo[M adk.MessageType](t *testing.T, s side[M]) string {
	c := &counting{InvokableTool: adktest.Simple("a1", "").(tool.InvokableTool)}
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1")), adktest.Do(callOf("3", "a1"))}, s.mustBuild(t, c))
	require.NoError(t, tr.Err)
	if n := c.infos.Load(); n != 1 {
		require.Greater(t, n, int64(3))
		return "Info is asked for again in the run"
	}
	return "Info is asked for once"
}

// looking is a handler that looks at the tools that a run starts with.
type looking[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	look func([]tool.BaseTool)
}

func (l looking[M]) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	l.look(rc.Tools)
	return ctx, rc, nil
}

func typesOfTools[M adk.MessageType](t *testing.T, s side[M]) string {
	c, out := &counting{InvokableTool: adktest.Simple("a1", "").(tool.InvokableTool)}, "a wrapper"
	l := looking[M]{look: func(tools []tool.BaseTool) {
		for _, tl := range tools {
			if tl == tool.BaseTool(c) {
				out = "the tool itself"
			}
		}
	}}
	require.NoError(t, s.run(ask[M](), nil, nil, s.mustBuild(t, c), l).Err)
	return out
}

func clashScenarios() []scenario {
	return []scenario{
		{"TS-07", "a dynamic tool with the name of an own one", clashesWithOwn[*schema.Message], clashesWithOwn[*schema.AgenticMessage],
			"no error 0:tool_search, a call runs the dynamic one", `an error that names "shared" twice`},
		{"TS-07", "a dynamic tool named tool_search", buildError[*schema.Message]("tool_search"), buildError[*schema.AgenticMessage]("tool_search"),
			"no error", `toolsearch: DynamicTools[0]: it has the name of the search tool "tool_search"`},
		{"TS-07", "an own tool named tool_search", ownSearch[*schema.Message], ownSearch[*schema.AgenticMessage], "0:tool_search,tool_search", `an error that names "tool_search" twice`},
		{"TS-07", "a dynamic tool named as a search tool of another protocol", buildError[*schema.Message]("call_tool"), buildError[*schema.AgenticMessage]("call_tool"),
			"no error", `toolsearch: DynamicTools[0]: it has the name of the search tool "call_tool"`},
		{"TS-25", "the wording of an error", buildError[*schema.Message]("a", "a"), buildError[*schema.AgenticMessage]("a", "a"),
			"duplicate dynamic tool name: a", `toolsearch: DynamicTools[1]: it has the name of DynamicTools[0], "a"`},
		{"TS-25", "no tools", buildError[*schema.Message](), buildError[*schema.AgenticMessage](),
			"tools is required", "toolsearch: DynamicTools: there are none: give it the tools to hide, or set Source, SearchableTools or DeferMarkedTools"},
		{"TS-25", "several things wrong", buildError[*schema.Message]("a", "b", "a", "b"), buildError[*schema.AgenticMessage]("a", "b", "a", "b"),
			"duplicate dynamic tool name: a", "toolsearch: DynamicTools[2]: it has the name of DynamicTools[0], \"a\"\ntoolsearch: DynamicTools[3]: it has the name of DynamicTools[1], \"b\""},
	}
}

func buildError[M adk.MessageType](names ...string) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		_, err := s.build(simples(names...), false)
		return failure(err)
	}
}

func twiceNamed(err error, name string) string {
	if strings.Count(err.Error(), fmt.Sprintf("%q", name)) < 2 {
		return err.Error()
	}
	return fmt.Sprintf("an error that names %q twice", name)
}

func clashesWithOwn[M adk.MessageType](t *testing.T, s side[M]) string {
	mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shared"}, func(context.Context, string) (string, error) { return "the own one", nil })
	tr := s.run(ask[M](), []tool.BaseTool{mine}, []adktest.Turn{adktest.Do(callOf("1", "shared"))}, s.mustBuild(t, simples("shared")...))
	if tr.Err != nil {
		require.Empty(t, tr.wires)
		return twiceNamed(tr.Err, "shared")
	}
	require.Contains(t, tr.result("1"), "echo")
	first, _, _ := strings.Cut(tr.tools(), " ")
	return "no error " + first + ", a call runs the dynamic one"
}

func ownSearch[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), simples("tool_search"), nil, s.mustBuild(t, simples("a1")...))
	if tr.Err != nil {
		return twiceNamed(tr.Err, "tool_search")
	}
	return tr.tools()
}

func gateScenarios() (all []scenario) {
	for name, form := range adktest.Forms {
		all = append(all, scenario{"TS-10", name + " tool that was never loaded", callsUnloaded[*schema.Message](form), callsUnloaded[*schema.AgenticMessage](form),
			"the first call runs, the second call runs, visible after the first: false", "the first call gets the schema, the second call runs, visible after the first: true"})
	}
	return all
}

func callsUnloaded[M adk.MessageType](form adktest.Form) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		runs := 0
		info := &schema.ToolInfo{Name: "a1", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"city_of_birth": {Type: schema.String}})}
		a1 := adktest.Tool(form, info, func(context.Context, string) (string, error) { runs++; return "ran", nil })
		tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(callOf("1", "a1")), adktest.Do(callOf("2", "a1"))}, s.mustBuild(t, a1))
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

func TestTS06_SeveralInstancesInOneAgentAreOne(t *testing.T)          { playAll(t, "TS-06") }
func TestTS07_NamesThatClashAreAnError(t *testing.T)                  { playAll(t, "TS-07") }
func TestTS08_NativeSearchDoesNotLeakHiddenTools(t *testing.T)        { playAll(t, "TS-08") }
func TestTS10_AToolThatWasNeverLoadedDoesNotRun(t *testing.T)         { playAll(t, "TS-10") }
func TestTS17_TheInfoOfAToolIsReadOnce(t *testing.T)                  { playAll(t, "TS-17") }
func TestTS25_AnErrorOfNewSaysAllThatIsWrong(t *testing.T)            { playAll(t, "TS-25") }
func TestTS30_HiddenToolsAreWrapped(t *testing.T)                     { playAll(t, "TS-30") }
func TestX09_OneInstanceTwiceInAnAgentHidesNothingTwice(t *testing.T) { playAll(t, "X-09") }

// A gated tool runs where the user wants it to, as with Eino.
func TestTS10_TheGateCanBeLeftOpen(t *testing.T) {
	adktest.Both(t, gateLeftOpen[*schema.Message], gateLeftOpen[*schema.AgenticMessage])
}

func gateLeftOpen[M adk.MessageType](t *testing.T, streaming bool) {
	h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: simples("a1"), AllowUnloadedCalls: true})
	require.NoError(t, err)
	tr := ourSide[M](streaming).run(ask[M](), nil, []adktest.Turn{adktest.Do(callOf("1", "a1"))}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, `echo {"value":"x"}`, tr.result("1"))
}
