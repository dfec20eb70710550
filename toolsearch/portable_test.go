// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Portable, which makes requests plain for other models.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
)

func TestPortable_MakesAnyHistoryPlain(t *testing.T) {
	adktest.Both(t, testPortableMakesAnyHistoryPlain[*schema.Message], testPortableMakesAnyHistoryPlain[*schema.AgenticMessage])
}

func testPortableMakesAnyHistoryPlain[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	for range race.Cases(200) {
		history := write[M](anyPast(r))
		was, kept := read(history), dump(history)
		inner := adktest.Script[M]()
		opts := append(make([]model.Option, 0, 9), model.WithTools(infos("own", "alpha")), model.WithToolSearchTool(infos("tool_search")[0]), model.WithDeferredTools(infos("beta", "later")))
		request(t, toolsearch.Portable[M](inner), streaming, history, opts...)
		require.Equal(t, kept, dump(history), "what was handed in changed")
		w := inner.Wires()[0]
		is := read(w.Messages)
		require.Equal(t, was.calls, is.calls)
		require.Equal(t, was.results, is.results)
		require.Empty(t, is.native, "results in a provider's form")
		require.Zero(t, is.searches, "searches of a provider")
		require.Zero(t, is.empty)
		require.NotContains(t, is.marked, true)
		for id, marked := range is.marked {
			require.False(t, marked, id)
		}
		require.Empty(t, w.Deferred)
		require.Nil(t, w.ToolSearch)
		require.Equal(t, []string{"own", "alpha", "tool_search"}, w.ToolNames[:3])
		seen := map[string]bool{}
		for _, name := range w.ToolNames {
			require.False(t, seen[name], "%s twice", name)
			seen[name] = true
		}
		for _, name := range was.returned {
			require.Contains(t, w.ToolNames, name, "it was loaded")
		}
		require.NotContains(t, w.ToolNames, "later", "it is to be searched for")
	}
}

func infos(names ...string) (list []*schema.ToolInfo) {
	for _, n := range names {
		list = append(list, &schema.ToolInfo{Name: n})
	}
	return list
}

func request[M adk.MessageType](t *testing.T, m model.BaseModel[M], streaming bool, history []M, opts ...model.Option) {
	t.Helper()
	if !streaming {
		_, err := m.Generate(context.Background(), history, opts...)
		require.NoError(t, err)
		return
	}
	s, err := m.Stream(context.Background(), history, opts...)
	require.NoError(t, err)
	s.Close()
}

func TestPortable_ShowsDeferredToolsWithoutSearch(t *testing.T) {
	adktest.Both(t, testPortableShowsDeferredToolsWithoutSearch[*schema.Message], testPortableShowsDeferredToolsWithoutSearch[*schema.AgenticMessage])
}

func testPortableShowsDeferredToolsWithoutSearch[M adk.MessageType](t *testing.T, streaming bool) {
	inner := adktest.Script[M]()
	request(t, toolsearch.Portable[M](inner), streaming, []M{adktest.User[M]("please")}, model.WithTools(infos("own", "beta")), model.WithDeferredTools(infos("alpha", "beta")))
	require.Equal(t, []string{"own", "beta", "alpha"}, inner.Wires()[0].ToolNames)
	require.Empty(t, inner.Wires()[0].Deferred)
}

func TestPortable_PassesPlainRequests(t *testing.T) {
	adktest.Both(t, testPortablePassesPlainRequests[*schema.Message], testPortablePassesPlainRequests[*schema.AgenticMessage])
}

func testPortablePassesPlainRequests[M adk.MessageType](t *testing.T, streaming bool) {
	inner := adktest.Script[M]()
	history := []M{adktest.System[M]("be brief"), adktest.User[M]("please"), adktest.Assistant[M]("", adktest.ToolCall{ID: "a", Name: "own", Args: "{}"}), adktest.Result[M]("a", "own", "ok")}
	request(t, toolsearch.Portable[M](inner), streaming, history)
	request(t, toolsearch.Portable[M](inner), streaming, history, model.WithTools(infos("own")), model.WithTemperature(1))
	request(t, toolsearch.Portable[M](inner), streaming, nil)
	for i, w := range inner.Wires()[:2] {
		require.Equal(t, history, w.Messages, "request %d", i)
	}
	require.Nil(t, inner.Wires()[0].Tools, "the model's own tools are not overridden")
	require.Equal(t, []string{"own"}, inner.Wires()[1].ToolNames)
}

func TestPortable_ForwardsModelInterfaces(t *testing.T) {
	plain := adktest.Script[*schema.Message]()
	for _, c := range []struct {
		model model.BaseModel[*schema.Message]
		typ   string
		on    bool
	}{{typed{plain, true}, "Vendor", true}, {typed{plain, false}, "Vendor", false}, {plain, "Model[*github.com/cloudwego/eino/schema.Message]", false}} {
		p := toolsearch.Portable(c.model)
		typ, ok := components.GetType(p)
		require.True(t, ok)
		require.Equal(t, c.typ, typ)
		require.Equal(t, c.on, components.IsCallbacksEnabled(p))
	}
}

// typed is a model that says what it is.
type typed struct {
	model.BaseModel[*schema.Message]
	on bool
}

func (typed) GetType() string { return "Vendor" }

func (t typed) IsCallbacksEnabled() bool { return t.on }

func TestPortable_ReturnsModelErrors(t *testing.T) {
	inner := adktest.Script[*schema.Message](adktest.Turn{Err: context.DeadlineExceeded}, adktest.Turn{Err: context.DeadlineExceeded})
	p := toolsearch.Portable[*schema.Message](inner)
	_, err := p.Generate(context.Background(), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = p.Stream(context.Background(), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestPortable_LeavesNoNullContent(t *testing.T) {
	adktest.Both(t, testPortableLeavesNoNullContent[*schema.Message], testPortableLeavesNoNullContent[*schema.AgenticMessage])
}

func testPortableLeavesNoNullContent[M adk.MessageType](t *testing.T, streaming bool) {
	history := []M{
		adktest.User[M]("please"),
		adktest.Assistant[M]("", adktest.ToolCall{ID: "a", Name: "own"}, adktest.ToolCall{ID: "b", Name: "own", Args: ` {"x":1}`}, adktest.ToolCall{ID: "c", Name: "own", Args: "\n"}),
		adktest.Result[M]("a", "own", "ok"), adktest.Result[M]("b", "own", "ok"), adktest.Result[M]("c", "own", "ok"),
	}
	kept, tools := dump(history), infos("own", "later")
	inner := adktest.Script[M]()
	request(t, toolsearch.Portable[M](inner), streaming, history, model.WithTools(tools[:1]), model.WithDeferredTools(tools[1:]))
	require.Equal(t, kept, dump(history), "what was handed in changed")
	w := inner.Wires()[0]
	var args []string
	for _, c := range adktest.Calls(w.Messages[1]) {
		args = append(args, c.Args)
	}
	require.Equal(t, []string{"{}", ` {"x":1}`, "{}"}, args)
	for i, x := range w.Tools {
		s, err := x.ToJSONSchema()
		require.NoError(t, err)
		require.NotNil(t, s, x.Name)
		require.Equal(t, "object", s.Type)
		require.Nil(t, tools[i].ParamsOneOf, "what was handed in changed")
	}
}

// A message that says something has no need of the text that stands for what a provider
// searched; one that says nothing more has.
func TestPortable_FillsOnlyEmptyMessages(t *testing.T) {
	calls := []schema.ToolCall{{ID: "a", Function: schema.FunctionCall{Name: "own", Arguments: "{}"}}}
	parts := []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: "a part"}}
	for _, c := range []struct {
		m    schema.Message
		want string
	}{
		{schema.Message{}, `{"matches":[]}`},
		{schema.Message{Content: "a text"}, "a text"},
		{schema.Message{ToolCalls: calls}, ""},
		{schema.Message{AssistantGenMultiContent: parts}, ""},
		{schema.Message{ToolCalls: calls, AssistantGenMultiContent: parts}, ""},
		//lint:ignore SA1019 stored histories have it
		{schema.Message{MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeText, Text: "x"}}}, ""},
	} {
		c.m.Role, c.m.Extra = schema.Assistant, map[string]any{"_eino_claude_tool_search_events": []any{}}
		inner := adktest.Script[*schema.Message]()
		request(t, toolsearch.Portable[*schema.Message](inner), false, []*schema.Message{&c.m})
		require.Equal(t, c.want, inner.Wires()[0].Messages[0].Content)
		require.Empty(t, inner.Wires()[0].Messages[0].Extra)
	}
}
