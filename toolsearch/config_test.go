// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What is wrong with a configuration is said at once, and all of it.

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
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
	index := func(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return nil, offline }
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
		{"a score that is none", &toolsearch.Config{DynamicTools: office(), MinScore: math.NaN()}, "toolsearch: MinScore: NaN is not 0 or above", nil},
		{"an index for patterns", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.Regexp, NewIndex: toolsearch.KeywordIndex},
			"toolsearch: NewIndex: it is set, but the Regexp protocol matches names and ranks nothing", nil},
		{"a score for patterns", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.Regexp, MinScore: 2},
			"toolsearch: MinScore: it is 2, but the Regexp protocol matches names and scores nothing", nil},
		{"a confidence above 1", &toolsearch.Config{DynamicTools: office(), MinConfidence: 1.5}, "toolsearch: MinConfidence: 1.5 is not from 0 to 1", nil},
		{"a confidence that is none", &toolsearch.Config{DynamicTools: office(), MinConfidence: math.NaN()}, "toolsearch: MinConfidence: NaN is not from 0 to 1", nil},
		{"a confidence for patterns", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.Regexp, MinConfidence: .5},
			"toolsearch: MinConfidence: it is 0.5, but the Regexp protocol matches names and is always sure", nil},
		{"unloading where nothing is loaded", &toolsearch.Config{DynamicTools: office(), Protocol: toolsearch.SearchCall, UnloadAfter: 3},
			"toolsearch: UnloadAfter: it is 3, but the SearchCall protocol never loads a tool", nil},
		{"a search tool to hide", &toolsearch.Config{SearchableTools: []string{"call_tool"}}, `toolsearch: SearchableTools[0]: "call_tool" is the name of a search tool`, nil},
		{"an empty name to hide", &toolsearch.Config{SearchableTools: []string{"a", ""}}, `toolsearch: SearchableTools[1]: the name is empty`, nil},
		{"a name to hide twice", &toolsearch.Config{SearchableTools: []string{"a", "a"}}, `toolsearch: SearchableTools[1]: "a" is there twice`, nil},
		{"an index that cannot be made", &toolsearch.Config{DynamicTools: office(), NewIndex: index}, "toolsearch: NewIndex: the server is offline", offline},
		{"an index that panics", &toolsearch.Config{DynamicTools: office(), NewIndex: func(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { panic("oops") }},
			"toolsearch: NewIndex: the function panicked: oops", nil},
		{"no index", &toolsearch.Config{DynamicTools: office(), NewIndex: func(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return nil, nil }},
			"toolsearch: NewIndex: the function returned nil", nil},
		{"everything", &toolsearch.Config{
			DynamicTools: []tool.BaseTool{named("a"), named("a"), nil}, Protocol: -1, MaxResults: -1, MinScore: -2, UnloadAfter: -3, CatalogLimit: -4,
			SearchableTools: []string{""}, Native: "carrier pigeon",
		}, "toolsearch: Protocol: -1 is unknown: use Keyword, Regexp, SearchLoad or SearchCall\ntoolsearch: MaxResults: -1 is negative\n" +
			"toolsearch: UnloadAfter: -3 is negative\ntoolsearch: CatalogLimit: -4 is negative\ntoolsearch: MinScore: -2 is not 0 or above\n" +
			"toolsearch: SearchableTools[0]: the name is empty\ntoolsearch: DynamicTools[1]: it has the name of DynamicTools[0], \"a\"\n" +
			"toolsearch: DynamicTools[2]: the tool is nil\ntoolsearch: Native: it is \"carrier pigeon\", but UseModelToolSearch is false", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := toolsearch.New(context.Background(), c.cfg)
			require.EqualError(t, err, c.want)
			require.Nil(t, h)
			var field *leanctx.FieldError
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
