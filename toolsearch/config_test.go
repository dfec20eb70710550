// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Checks of the Config, and what New does with it.

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func TestNew_ReportsInvalidConfig(t *testing.T) {
	offline := errors.New("the server is offline")
	named := func(name string) tool.BaseTool {
		return infoTool(func() (*schema.ToolInfo, error) { return &schema.ToolInfo{Name: name, Desc: "does it"}, nil })
	}
	x := func(context.Context, []*schema.ToolInfo) (index.Index, error) { return nil, offline }
	for _, c := range []struct {
		name string
		cfg  *toolsearch.Config
		want string
		is   error
	}{
		{"no config", nil, "toolsearch: the configuration is nil: pass a &toolsearch.Config{DynamicTools: ...}", nil},
		{"no tools", &toolsearch.Config{}, "toolsearch: DynamicTools: there are none: give it the tools to hide, or set Source, SearchableTools or DeferMarkedTools", nil},
		{"a nil tool", &toolsearch.Config{DynamicTools: []tool.BaseTool{nil}}, "toolsearch: DynamicTools[0]: the tool is nil", nil},
		{"a nil pointer", &toolsearch.Config{DynamicTools: []tool.BaseTool{infoTool(nil)}}, "toolsearch: DynamicTools[0]: the tool is nil", nil},
		{"an error of Info", &toolsearch.Config{DynamicTools: []tool.BaseTool{infoTool(func() (*schema.ToolInfo, error) { return nil, offline })}},
			"toolsearch: DynamicTools[0]: reading Info of toolsearch_test.infoTool: the server is offline", offline},
		{"a panic of Info", &toolsearch.Config{DynamicTools: []tool.BaseTool{infoTool(func() (*schema.ToolInfo, error) { panic("oops") })}},
			"toolsearch: DynamicTools[0]: Info of toolsearch_test.infoTool panicked: oops", nil},
		{"no info", &toolsearch.Config{DynamicTools: []tool.BaseTool{infoTool(func() (*schema.ToolInfo, error) { return nil, nil })}},
			"toolsearch: DynamicTools[0]: Info of toolsearch_test.infoTool returned nil", nil},
		{"no name", &toolsearch.Config{DynamicTools: []tool.BaseTool{named("")}},
			`toolsearch: DynamicTools[0]: Info of toolsearch_test.infoTool has an empty Name (description "does it")`, nil},
		{"the same name twice", &toolsearch.Config{DynamicTools: []tool.BaseTool{named("a"), named("b"), named("a")}},
			`toolsearch: DynamicTools[2]: it has the name of DynamicTools[0], "a"`, nil},
		{"the name of a search tool", &toolsearch.Config{DynamicTools: []tool.BaseTool{named("tool_search")}},
			`toolsearch: DynamicTools[0]: it has the name of the search tool "tool_search"`, nil},
		{"a tool that cannot run", &toolsearch.Config{DynamicTools: []tool.BaseTool{inert{&schema.ToolInfo{Name: "a"}}}},
			`toolsearch: DynamicTools[0]: tool "a" (toolsearch_test.inert) can neither be invoked nor streamed`, nil},
		{"an unknown protocol", &toolsearch.Config{DynamicTools: officeTools(), Protocol: 7}, "toolsearch: Protocol: 7 is unknown: use Keyword, Regexp, SearchLoad or SearchCall", nil},
		{"a negative number", &toolsearch.Config{DynamicTools: officeTools(), MaxResults: -1}, "toolsearch: MaxResults: -1 is negative", nil},
		{"an index for patterns", &toolsearch.Config{DynamicTools: officeTools(), Protocol: toolsearch.Regexp, NewIndex: index.Keyword},
			"toolsearch: NewIndex: it is set, but the Regexp protocol matches names and ranks nothing", nil},
		{"a confidence above 1", &toolsearch.Config{DynamicTools: officeTools(), MinConfidence: 1.5}, "toolsearch: MinConfidence: 1.5 is not from 0 to 1", nil},
		{"a confidence that is none", &toolsearch.Config{DynamicTools: officeTools(), MinConfidence: math.NaN()}, "toolsearch: MinConfidence: NaN is not from 0 to 1", nil},
		{"a share above 1", &toolsearch.Config{DynamicTools: officeTools(), MinRelativeScore: 1.5}, "toolsearch: MinRelativeScore: 1.5 is not from 0 to 1", nil},
		{"a share that is none", &toolsearch.Config{DynamicTools: officeTools(), MinRelativeScore: math.NaN()}, "toolsearch: MinRelativeScore: NaN is not from 0 to 1", nil},
		{"a share for patterns", &toolsearch.Config{DynamicTools: officeTools(), Protocol: toolsearch.Regexp, MinRelativeScore: .5},
			"toolsearch: MinRelativeScore: it is 0.5, but the Regexp protocol matches names and scores nothing", nil},
		{"a confidence for patterns", &toolsearch.Config{DynamicTools: officeTools(), Protocol: toolsearch.Regexp, MinConfidence: .5},
			"toolsearch: MinConfidence: it is 0.5, but the Regexp protocol matches names and is always sure", nil},
		{"unloading where nothing is loaded", &toolsearch.Config{DynamicTools: officeTools(), Protocol: toolsearch.SearchCall, UnloadAfter: 3},
			"toolsearch: UnloadAfter: it is 3, but the SearchCall protocol never loads a tool", nil},
		{"a search tool to hide", &toolsearch.Config{SearchableTools: []string{"call_tool"}}, `toolsearch: SearchableTools[0]: "call_tool" is the name of a search tool`, nil},
		{"an empty name to hide", &toolsearch.Config{SearchableTools: []string{"a", ""}}, `toolsearch: SearchableTools[1]: the name is empty`, nil},
		{"a name to hide twice", &toolsearch.Config{SearchableTools: []string{"a", "a"}}, `toolsearch: SearchableTools[1]: "a" is there twice`, nil},
		{"an index that cannot be made", &toolsearch.Config{DynamicTools: officeTools(), NewIndex: x}, "toolsearch: NewIndex: the server is offline", offline},
		{"an index that panics", &toolsearch.Config{DynamicTools: officeTools(), NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { panic("oops") }},
			"toolsearch: NewIndex: the function panicked: oops", nil},
		{"no index", &toolsearch.Config{DynamicTools: officeTools(), NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { return nil, nil }},
			"toolsearch: NewIndex: the function returned nil", nil},
		{"everything", &toolsearch.Config{
			DynamicTools: []tool.BaseTool{named("a"), named("a"), nil}, Protocol: -1, MaxResults: -1, UnloadAfter: -3, CatalogLimit: -4,
			SearchableTools: []string{""}, Native: "carrier pigeon",
		}, "toolsearch: Protocol: -1 is unknown: use Keyword, Regexp, SearchLoad or SearchCall\ntoolsearch: MaxResults: -1 is negative\n" +
			"toolsearch: UnloadAfter: -3 is negative\ntoolsearch: CatalogLimit: -4 is negative\n" +
			"toolsearch: SearchableTools[0]: the name is empty\ntoolsearch: DynamicTools[1]: it has the name of DynamicTools[0], \"a\"\n" +
			"toolsearch: DynamicTools[2]: the tool is nil\ntoolsearch: Native: it is \"carrier pigeon\", but UseModelToolSearch is false", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := toolsearch.New(context.Background(), c.cfg)
			require.EqualError(t, err, c.want)
			require.Nil(t, h)
			var field *einolean.FieldError
			require.ErrorAs(t, err, &field)
			require.Equal(t, "toolsearch", field.Package)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

// infoTool answers Info by a function, and does nothing.
type infoTool func() (*schema.ToolInfo, error)

func (f infoTool) Info(context.Context) (*schema.ToolInfo, error) { return f() }

func (f infoTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

// inert is a tool that cannot be run.
type inert struct{ info *schema.ToolInfo }

func (i inert) Info(context.Context) (*schema.ToolInfo, error) { return i.info, nil }

// Each of several problems can be asked for.
func TestNew_ErrorUnwrapsToEachProblem(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	fails := func(err error) tool.BaseTool {
		return infoTool(func() (*schema.ToolInfo, error) { return nil, err })
	}
	_, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: []tool.BaseTool{fails(one), fails(two)}})
	require.ErrorIs(t, err, one)
	require.ErrorIs(t, err, two)
}

func TestNew_ReportsAllProblems_TS25(t *testing.T) {
	playAll(t, scenariosTS25())
}

func scenariosTS25() []scenario {
	return []scenario{
		{"TS-25", "the wording of an error", buildError[*schema.Message]("a", "a"), buildError[*schema.AgenticMessage]("a", "a"),
			"duplicate dynamic tool name: a", `toolsearch: DynamicTools[1]: it has the name of DynamicTools[0], "a"`},
		{"TS-25", "no tools", buildError[*schema.Message](), buildError[*schema.AgenticMessage](),
			"tools is required", "toolsearch: DynamicTools: there are none: give it the tools to hide, or set Source, SearchableTools or DeferMarkedTools"},
		{"TS-25", "several things wrong", buildError[*schema.Message]("a", "b", "a", "b"), buildError[*schema.AgenticMessage]("a", "b", "a", "b"),
			"duplicate dynamic tool name: a", "toolsearch: DynamicTools[2]: it has the name of DynamicTools[0], \"a\"\ntoolsearch: DynamicTools[3]: it has the name of DynamicTools[1], \"b\""},
	}
}

// Later changes of a Config, of its slices and of the tools' infos have no effect.
func TestNew_CopiesConfig(t *testing.T) {
	info := &schema.ToolInfo{Name: "a", Desc: "first"}
	cfg := &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Tool(adktest.Invokable, info, nil)}, SearchableTools: []string{"own"}}
	h, err := toolsearch.New(context.Background(), cfg)
	require.NoError(t, err)
	cfg.DynamicTools[0], cfg.SearchableTools[0], cfg.Protocol, info.Desc = nil, "nobody", toolsearch.SearchCall, "changed"

	m := adktest.Script[*schema.Message](oneCall("c", "tool_search", `{"query":"first"}`))
	out := adktest.Agent[*schema.Message]{Model: m, Tools: simpleTools("own", "kept"), Handlers: adktest.Handlers(h)}.Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
	require.NoError(t, out.Err)
	require.Equal(t, []string{"kept", "tool_search", "a"}, m.Wires()[1].ToolNames)
	require.Equal(t, "first", m.Wires()[1].Tools[2].Desc)
}

func TestNew_CopiesDynamicTools_TS14(t *testing.T) {
	playAll(t, scenariosTS14())
}

func scenariosTS14() []scenario {
	return []scenario{
		{"TS-14", "the caller's slice changes after New", slicesChange[*schema.Message], slicesChange[*schema.AgenticMessage], "0:tool_search,intruder", "0:tool_search"},
	}
}

func slicesChange[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tools := simpleTools("a1", "a2")
	h := s.mustBuild(t, tools...)
	tools[0] = adktest.Simple("intruder", "")
	tr := s.run(userRequest[M](), nil, nil, h)
	require.NoError(t, tr.Err)
	return tr.tools()
}

func TestNew_NilValuesDoNotPanic_TS13(t *testing.T) {
	playAll(t, scenariosTS13())
}

func scenariosTS13() []scenario {
	return []scenario{
		{"TS-13", "a nil tool", builds[*schema.Message](nil), builds[*schema.AgenticMessage](nil), "a panic", "toolsearch: DynamicTools[0]: the tool is nil"},
		{"TS-13", "a tool whose info is nil", builds[*schema.Message](adktest.Tool(adktest.Invokable, nil, nil)), builds[*schema.AgenticMessage](adktest.Tool(adktest.Invokable, nil, nil)),
			"a panic", "toolsearch: DynamicTools[0]: Info of adktest.invokable returned nil"},
		{"TS-13", "a tool without a name", builds[*schema.Message](adktest.Simple("", "nameless")), builds[*schema.AgenticMessage](adktest.Simple("", "nameless")),
			"no error", `toolsearch: DynamicTools[0]: Info of adktest.invokable has an empty Name (description "nameless")`},
		{"TS-13", "a nil state", hooksOn[*schema.Message](nil), hooksOn[*schema.AgenticMessage](nil), "a panic", "no tools"},
		{"TS-13", "a nil info in the state", hooksOn(&adk.TypedChatModelAgentState[*schema.Message]{ToolInfos: []*schema.ToolInfo{nil, {Name: "own"}}}),
			hooksOn(&adk.TypedChatModelAgentState[*schema.AgenticMessage]{ToolInfos: []*schema.ToolInfo{nil, {Name: "own"}}}), "a panic", "own"},
		{"TS-13", "a nil message", hooksOn(&adk.TypedChatModelAgentState[*schema.Message]{Messages: []*schema.Message{nil}}),
			hooksOn(&adk.TypedChatModelAgentState[*schema.AgenticMessage]{Messages: []*schema.AgenticMessage{nil}}), "a panic", "no tools"},
		{"TS-13", "no arguments at all for the model's own search", nilArgument[*schema.Message], nilArgument[*schema.AgenticMessage], "a panic", "an answer"},
	}
}

func builds[M adk.MessageType](tools ...tool.BaseTool) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		return catchPanic(func() string {
			_, err := s.build(tools, false)
			return errorText(err)
		})
	}
}

// hooksOn calls the hook by hand, and says which tools it shows.
func hooksOn[M adk.MessageType](state *adk.TypedChatModelAgentState[M]) func(*testing.T, implementation[M]) string {
	return func(t *testing.T, s implementation[M]) string {
		h := s.mustBuild(t, simpleTools("a1")...)
		return catchPanic(func() string {
			own := state
			if state != nil {
				c := *state
				own = &c
			}
			_, next, err := h.BeforeModelRewriteState(context.Background(), own, nil)
			require.NoError(t, err)
			if next == nil || len(next.ToolInfos) == 0 {
				return "no tools"
			}
			return strings.Join(adktest.Names(next.ToolInfos), ",")
		})
	}
}

func nilArgument[M adk.MessageType](t *testing.T, s implementation[M]) string {
	search := searchToolOf(t, s.mustBuildNative(t, simpleTools("a1")...)).(tool.EnhancedInvokableTool)
	return catchPanic(func() string {
		res, err := search.InvokableRun(context.Background(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, res.Parts)
		return "an answer"
	})
}

// catchPanic turns a panic into text.
func catchPanic(f func() string) (out string) {
	defer func() {
		if p := recover(); p != nil {
			out = "a panic"
		}
	}()
	return f()
}

// What is recommended answers requests, and says when there is nothing.
func TestRecommended_AnswersRequestsAndReportsNone(t *testing.T) {
	cfg := toolsearch.Recommended(desk())
	require.Len(t, cfg.DynamicTools, len(desk()))
	found, _ := cutHint(searchAnswer(t, *cfg, "tool_search", `{"query":"wich wether will we have in the coming days?"}`))
	require.Contains(t, found, "weather__forecast")
	_, hint := cutHint(searchAnswer(t, *cfg, "tool_search", `{"query":"please tune my guitar, one string at a time, before the concert of the days"}`))
	require.Contains(t, hint, "No tool seems to do this")
	many := toolsearch.Recommended(reportTools(300))
	p := scene[*schema.Message]{t: t, cfg: *many}.begin()
	require.Less(t, strings.Count(p.text(), "report_"), 60, "the list of names is short")
}

// Eino's own tool descriptions do not change with an option; ours say what is so.
func TestConfig_ToolDescriptionsFollowSettings(t *testing.T) {
	for _, c := range []struct {
		name         string
		cfg          toolsearch.Config
		says, saysNo string
	}{
		{"the default number", toolsearch.Config{}, "come back, 5 unless", "Names of some"},
		{"another number", toolsearch.Config{MaxResults: 8}, "come back, 8 unless", "come back, 5"},
		{"the default number of candidates", toolsearch.Config{MaxResults: 8, Protocol: toolsearch.SearchLoad}, "Default: 8, at most 100", "Default: 5"},
		{"a limit", toolsearch.Config{CatalogLimit: 2}, "Names of some of them may stand", "Their names are listed"},
		{"a filter", toolsearch.Config{Filter: deny("own")}, "Names of some of them may stand", "Their names are listed"},
		{"tools that are hidden again", toolsearch.Config{UnloadAfter: 3}, "it stays loaded while you keep using it", ""},
		{"tools that stay", toolsearch.Config{}, "it stays loaded.", "while you keep"},
		{"a gate", toolsearch.Config{}, "the call will not run", ""},
		{"no gate", toolsearch.Config{AllowUnloadedCalls: true}, "you have not seen its parameters", "the call will not run"},
		{"answers in the provider's form", toolsearch.Config{UseModelToolSearch: true}, "Every tool it finds is loaded", "JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.DynamicTools = officeTools()
			s := scene[*schema.Message]{t: t, cfg: c.cfg}
			w := s.begin().wires[0]
			text := strings.ReplaceAll(providerJSON(append(w.Tools, w.ToolSearch)...), `\"`, `"`)
			require.Contains(t, text, c.says)
			if c.saysNo != "" {
				require.NotContains(t, text, c.saysNo)
			}
		})
	}
}
