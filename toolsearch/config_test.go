// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What is wrong with a configuration, and what its numbers do.

import (
	"context"
	"errors"
	"fmt"
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

// infoTool answers Info by a function, and does nothing.
type infoTool func() (*schema.ToolInfo, error)

func (f infoTool) Info(context.Context) (*schema.ToolInfo, error) { return f() }

func (f infoTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

// inert is a tool that cannot be run.
type inert struct{ info *schema.ToolInfo }

func (i inert) Info(context.Context) (*schema.ToolInfo, error) { return i.info, nil }

func TestNewSaysWhatIsWrong(t *testing.T) {
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
		{"an unknown protocol", &toolsearch.Config{DynamicTools: office(), Protocol: 7}, "toolsearch: Protocol: 7 is unknown: use Keyword, Regexp, SearchLoad or SearchCall", nil},
		{"a negative number", &toolsearch.Config{DynamicTools: office(), MaxResults: -1}, "toolsearch: MaxResults: -1 is negative", nil},
		{"an index for patterns", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.Regexp, NewIndex: index.Keyword},
			"toolsearch: NewIndex: it is set, but the Regexp protocol matches names and ranks nothing", nil},
		{"a confidence above 1", &toolsearch.Config{DynamicTools: office(), MinConfidence: 1.5}, "toolsearch: MinConfidence: 1.5 is not from 0 to 1", nil},
		{"a confidence that is none", &toolsearch.Config{DynamicTools: office(), MinConfidence: math.NaN()}, "toolsearch: MinConfidence: NaN is not from 0 to 1", nil},
		{"a confidence for patterns", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.Regexp, MinConfidence: .5},
			"toolsearch: MinConfidence: it is 0.5, but the Regexp protocol matches names and is always sure", nil},
		{"unloading where nothing is loaded", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.SearchCall, UnloadAfter: 3},
			"toolsearch: UnloadAfter: it is 3, but the SearchCall protocol never loads a tool", nil},
		{"a search tool to hide", &toolsearch.Config{SearchableTools: []string{"call_tool"}}, `toolsearch: SearchableTools[0]: "call_tool" is the name of a search tool`, nil},
		{"an empty name to hide", &toolsearch.Config{SearchableTools: []string{"a", ""}}, `toolsearch: SearchableTools[1]: the name is empty`, nil},
		{"a name to hide twice", &toolsearch.Config{SearchableTools: []string{"a", "a"}}, `toolsearch: SearchableTools[1]: "a" is there twice`, nil},
		{"an index that cannot be made", &toolsearch.Config{DynamicTools: office(), NewIndex: x}, "toolsearch: NewIndex: the server is offline", offline},
		{"an index that panics", &toolsearch.Config{DynamicTools: office(), NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { panic("oops") }},
			"toolsearch: NewIndex: the function panicked: oops", nil},
		{"no index", &toolsearch.Config{DynamicTools: office(), NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { return nil, nil }},
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

// Each of several problems can be asked for.
func TestErrorsOfNewUnwrapToEach(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	fails := func(err error) tool.BaseTool {
		return infoTool(func() (*schema.ToolInfo, error) { return nil, err })
	}
	_, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: []tool.BaseTool{fails(one), fails(two)}})
	require.ErrorIs(t, err, one)
	require.ErrorIs(t, err, two)
}

// Later changes of a Config, of its slices and of the tools' infos have no effect.
func TestNewCopiesWhatItNeeds(t *testing.T) {
	info := &schema.ToolInfo{Name: "a", Desc: "first"}
	cfg := &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Tool(adktest.Invokable, info, nil)}, SearchableTools: []string{"own"}}
	h, err := toolsearch.New(context.Background(), cfg)
	require.NoError(t, err)
	cfg.DynamicTools[0], cfg.SearchableTools[0], cfg.Protocol, info.Desc = nil, "nobody", toolsearch.SearchCall, "changed"

	m := adktest.Script[*schema.Message](do("c", "tool_search", `{"query":"first"}`))
	out := adktest.Agent[*schema.Message]{Model: m, Tools: simples("own", "kept"), Handlers: adktest.Handlers(h)}.Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
	require.NoError(t, out.Err)
	require.Equal(t, []string{"kept", "tool_search", "a"}, m.Wires()[1].ToolNames)
	require.Equal(t, "first", m.Wires()[1].Tools[2].Desc)
}

func TestWithoutAContextOfARunTheHookDoesNothing(t *testing.T) {
	ctx := context.Background()
	m, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("a", "b")}})
	require.NoError(t, err)
	next, rc, err := m.BeforeAgent(ctx, nil)
	require.NoError(t, err)
	require.Nil(t, rc)
	require.Equal(t, ctx, next)
}

// asked is the answer to one call of a search tool.
func asked(t testing.TB, cfg toolsearch.Config, name, args string) string {
	s := scene[*schema.Message]{t: t, cfg: cfg}
	return s.begin(do("a", name, args)).answer(t, "a")
}

func reports(n int) []tool.BaseTool {
	var tools []tool.BaseTool
	for i := range n {
		tools = append(tools, adktest.Simple(fmt.Sprintf("report_%03d", i), "Makes a report"))
	}
	return tools
}

func TestMaxResultsBoundsWhatASearchReturns(t *testing.T) {
	for _, c := range []struct {
		name         string
		max          int
		args         string
		want         int
		hint, noHint string
	}{
		{"five by default", 0, `{"query":"report"}`, 5, "", "hint"},
		{"as configured", 2, `{"query":"report"}`, 2, "", "hint"},
		{"as the model says", 2, `{"query":"report","max_results":7}`, 7, "", "hint"},
		{"as the model says in words", 2, `{"query":"report","max_results":"7"}`, 7, "", "hint"},
		{"as the model says with decimals", 2, `{"query":"report","max_results":7.9}`, 7, "", "hint"},
		{"zero is no number", 2, `{"query":"report","max_results":0}`, 2, "", "hint"},
		{"less than zero is none", 2, `{"query":"report","max_results":-3}`, 2, "", "hint"},
		{"nonsense is none", 2, `{"query":"report","max_results":[]}`, 2, "", "hint"},
		{"no more than a hundred", 0, `{"query":"report","max_results":1000000}`, 100, "More tools match than the 100 that one search returns", ""},
		{"more than a hundred where that is configured", 110, `{"query":"report","max_results":1000000}`, 110, "More tools match than the 110", ""},
		{"all there are where there is no limit", math.MaxInt, `{"query":"report"}`, 120, "", "hint"},
		{"all there are", 0, `{"query":"report_01","max_results":1e300}`, 10, "", "hint"},
		{"exactly as many as there may be", 0, `{"query":"+report_0","max_results":100}`, 100, "", "hint"},
		{"each of several searches", 0, `{"query":["report_00","report_01","report_02"],"max_results":2}`, 6, "", "hint"},
		{"no limit for names", 1, `{"query":"select:report_001,report_002,report_003"}`, 3, "", "hint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := asked(t, toolsearch.Config{DynamicTools: reports(120), MaxResults: c.max}, "tool_search", c.args)
			require.Equal(t, c.want, strings.Count(answer, `"report_`), answer)
			require.Contains(t, answer, c.hint)
			if c.noHint != "" {
				require.NotContains(t, answer, c.noHint)
			}
		})
	}
}

func TestAPatternLoadsABoundedNumberOfTools(t *testing.T) {
	answer := asked(t, toolsearch.Config{DynamicTools: reports(120), Protocol: toolsearch.Regexp}, "tool_search", `{"regex_pattern":"report"}`)
	require.Equal(t, 100, strings.Count(answer, `"report_`))
	require.Contains(t, answer, "More tools match than the 100")
}

func TestCandidatesAreShort(t *testing.T) {
	long := strings.Repeat("查", 151)
	cfg := toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("a", long), adktest.Simple("b", long[:3*150])}, Protocol: toolsearch.SearchLoad}
	answer := asked(t, cfg, "search_tools", `{"query":"select:a,b"}`)
	require.Contains(t, answer, `{"results":[{"name":"a","description":"`+long[:3*150]+`…","score":0},{"name":"b","description":"`+long[:3*150]+`","score":0}]}`)
}

func TestWhatIsWrongWithArgumentsIsSaidShortly(t *testing.T) {
	value := strings.Repeat("ü", 1000)
	info := &schema.ToolInfo{Name: "paint", Desc: "x", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"colour": {Type: schema.Integer}})}
	cfg := toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Tool(adktest.Invokable, info, nil)}, Protocol: toolsearch.SearchCall}
	answer := asked(t, cfg, "call_tool", `{"name":"paint","arguments":{"colour":"`+value+`"}}`)
	require.Contains(t, answer, "ü…")
	require.NotContains(t, answer, strings.Repeat("ü", 400))
}

// brokenIndex fails in one way or another.
type brokenIndex func() ([]index.Result, error)

func (b brokenIndex) Search(context.Context, index.Query) ([]index.Result, error) {
	return b()
}

//claim:security-47
func TestAnIndexThatFailsIsReplacedByTheSpecifiedOne(t *testing.T) {
	down := errors.New("connection refused")
	for name, search := range map[string]brokenIndex{
		"error": func() ([]index.Result, error) { return nil, down },
		"panic": func() ([]index.Result, error) { panic(down) },
	} {
		t.Run(name, func(t *testing.T) {
			var failed []einolean.Event
			answer := asked(t, toolsearch.Config{
				DynamicTools: office(),
				NewIndex:     func(context.Context, []*schema.ToolInfo) (index.Index, error) { return search, nil },
				OnEvent: func(_ context.Context, e einolean.Event) {
					if e.Kind == einolean.KindIndexFailed {
						failed = append(failed, e)
					}
				},
			}, "tool_search", `{"query":"forecast"}`)
			require.Equal(t, `{"matches":["weather__get_forecast"]}`, answer)
			require.Len(t, failed, 1)
			require.ErrorContains(t, failed[0].Err, "connection refused")
		})
	}
}

// What an index says is taken for what it is: names that do not exist, and the same again.
func TestAnIndexCannotMakeTools(t *testing.T) {
	odd := brokenIndex(func() ([]index.Result, error) {
		return []index.Result{{Name: "nobody", Score: 9}, {Name: "own", Score: 8}, {Name: "weather__get_forecast", Score: 7}, {Name: "weather__get_forecast", Score: 6}, {Name: "", Score: 5}}, nil
	})
	answer := asked(t, toolsearch.Config{DynamicTools: office(), NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { return odd, nil }},
		"tool_search", `{"query":"x"}`)
	require.Equal(t, `{"matches":["weather__get_forecast"]}`, answer)
}

func TestTheReminderFitsItsLimit(t *testing.T) {
	everywhere(t, fitsItsLimit[*schema.Message], fitsItsLimit[*schema.AgenticMessage])
}

func fitsItsLimit[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol := toolsearch.Keyword; protocol.String() != "unknown"; protocol++ {
		s := on[M](t, streaming, protocol)
		s.cfg.CatalogLimit = 4
		require.NotContains(t, s.begin().wires[0].MessagesDump[0], "names are shown", "all fit")
		s.cfg.CatalogLimit = 3
		book := &notebook{}
		s.cfg.Backend = book
		p := s.begin(do("a", "own", `{}`), do("b", "own", `{}`))
		first := p.wires[0].MessagesDump[0]
		require.Contains(t, first, "\ngithub__create_issue\nslack__send_message\nweather__get_forecast\n(3 of 4 names are shown. Names by server: github: 2, slack: 1, weather: 1. The full list can be read at /toolsearch/catalog-")
		require.Len(t, book.written, 1, "once, not in every model call")
		for _, w := range p.wires {
			require.Equal(t, first, w.MessagesDump[0])
		}
	}
}

// Eino's own tool descriptions do not change with an option; ours say what is so.
func TestDescriptionsFollowTheConfiguration(t *testing.T) {
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
			c.cfg.DynamicTools = office()
			s := scene[*schema.Message]{t: t, cfg: c.cfg}
			w := s.begin().wires[0]
			text := strings.ReplaceAll(onWire(append(w.Tools, w.ToolSearch)...), `\"`, `"`)
			require.Contains(t, text, c.says)
			if c.saysNo != "" {
				require.NotContains(t, text, c.saysNo)
			}
		})
	}
}
