// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package native_test

// Random histories in a form that an adapter accepts.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/native"
)

// kind makes messages of one type.
type kind[M adk.MessageType] struct {
	user   func(string) M
	call   func(id string, marked bool) M
	native func(id string, tools []*schema.ToolInfo) M
}

var plain = kind[*schema.Message]{
	user: func(text string) *schema.Message { return schema.UserMessage(text) },
	call: func(id string, _ bool) *schema.Message {
		return schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: "tool_search", Arguments: "{}"}}})
	},
	native: func(id string, tools []*schema.ToolInfo) *schema.Message {
		m := schema.ToolMessage("", id, schema.WithToolName("tool_search"))
		m.UserInputMultiContent = []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: tools}}}
		return m
	},
}

var agentic = kind[*schema.AgenticMessage]{
	user: schema.UserAgenticMessage,
	call: func(id string, marked bool) *schema.AgenticMessage {
		b := schema.NewContentBlock(&schema.FunctionToolCall{CallID: id, Name: "tool_search", Arguments: "{}"})
		if marked {
			b.Extra = map[string]any{"openai-tool-search-tool-call": true}
		}
		return &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b}}
	},
	native: func(id string, tools []*schema.ToolInfo) *schema.AgenticMessage {
		b := schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: id, Name: "tool_search", Result: &schema.ToolSearchResult{Tools: tools}})
		return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{b}}
	},
}

// anyHistory has searches of both kinds over the tools t0 to t9.
func (k kind[M]) anyHistory(r *rand.Rand) (msgs []M) {
	for i := range 1 + r.IntN(6) {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, k.user("please"), k.call(id, r.IntN(2) == 0))
		names := some(r, "t", 4, 10)
		if r.IntN(3) == 0 {
			msgs = append(msgs, message.Answering[M](id, "tool_search", message.NewText(found(names))))
			continue
		}
		tools := []*schema.ToolInfo{}
		for _, name := range names {
			tools = append(tools, &schema.ToolInfo{Name: name, Desc: "as it was"})
		}
		msgs = append(msgs, k.native(id, tools))
	}
	return msgs
}

func found(names []string) string {
	text, err := json.Marshal(map[string][]string{"matches": append([]string{}, names...)})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A history that was rewritten is what the adapter accepts, and stays so: no message that was given is
// changed, no result of a search goes missing, each tool in a provider's form is one that the call
// shows, as it is now, and where a tool may come back once only, it does.
func TestRewrite_IsIdempotent(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testRewriting(t, plain) })
	t.Run("agentic", func(t *testing.T) { testRewriting(t, agentic) })
}

func testRewriting[M adk.MessageType](t *testing.T, k kind[M]) {
	r := random(t)
	for range race.Cases(2000) {
		msgs, tools := k.anyHistory(r), setOf(some(r, "t", 10, 10)...)
		denied := among(some(r, "t", 3, 10))
		h := native.RewriteInput{
			Rules: anyRules(t, r), Tools: tools,
			MayFind: func(e *catalog.Tool) bool { return !denied[e.Info.Name] },
		}
		for e := range tools.All() {
			if r.IntN(2) == 0 {
				h.VisibleNames = append(h.VisibleNames, e.Info.Name)
			}
		}
		h.IsDeclared = func(name string) bool { return slices.Contains(h.VisibleNames, name) }
		before, err := json.Marshal(msgs)
		require.NoError(t, err)
		next := native.Rewrite(msgs, h)
		after, _ := json.Marshal(msgs)
		require.Equal(t, string(before), string(after))
		require.True(t, message.SameSlice(next, native.Rewrite(next, h)), "once")
		require.Len(t, next, len(msgs))

		returned := map[string]bool{}
		for i, m := range next {
			for j, res := range history.ContentOf(m).Results {
				was := history.ContentOf(msgs[i]).Results[j]
				require.Equal(t, was.ID, res.ID)
				if !res.IsNative {
					require.NotEmpty(t, res.Text)
					continue
				}
				require.True(t, was.IsNative && h.Rules.Native)
				for _, name := range res.Tools {
					require.Contains(t, was.Tools, name)
					require.Contains(t, h.VisibleNames, name)
					require.False(t, h.Rules.ReturnOnce && returned[name], "it is there once")
					returned[name] = true
				}
			}
		}
		if !h.Rules.Native {
			for i, m := range next {
				for j, res := range history.ContentOf(m).Results {
					if was := history.ContentOf(msgs[i]).Results[j]; was.IsNative {
						may := slices.DeleteFunc(was.Tools, func(name string) bool { return denied[name] && tools.Lookup(name) != nil })
						require.Equal(t, found(may), res.Text)
					}
				}
			}
		}
	}
}

// asked is a model that notes what it is asked.
type asked[M adk.MessageType] struct {
	input []M
	opts  *model.Options
}

func (a *asked[M]) Generate(_ context.Context, input []M, opts ...model.Option) (m M, err error) {
	a.input, a.opts = input, model.GetCommonOptions(nil, opts...)
	return m, nil
}

func (a *asked[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	m, err := a.Generate(ctx, input, opts...)
	return schema.StreamReaderFromArray([]M{m}), err
}

// A model without a search of its own reads of none, and can call what the conversation has loaded.
func TestPortable_ModelReadsOfNoSearch(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testPortable(t, plain) })
	t.Run("agentic", func(t *testing.T) { testPortable(t, agentic) })
}

func testPortable[M adk.MessageType](t *testing.T, k kind[M]) {
	r := random(t)
	for range race.Cases(1000) {
		msgs, m := k.anyHistory(r), &asked[M]{}
		search, later := &schema.ToolInfo{Name: "tool_search"}, []*schema.ToolInfo{{Name: "t1"}}
		given := []model.Option{model.WithTools([]*schema.ToolInfo{{Name: "own"}}), model.WithToolSearchTool(search), model.WithDeferredTools(later)}
		before, err := json.Marshal(msgs)
		require.NoError(t, err)
		wrapped, loaded := native.Portable(m), []string{}
		if r.IntN(2) == 0 {
			_, err = wrapped.Generate(context.Background(), msgs, given...)
		} else {
			var s *schema.StreamReader[M]
			s, err = wrapped.Stream(context.Background(), msgs, given...)
			s.Close()
		}
		require.NoError(t, err)
		after, _ := json.Marshal(msgs)
		require.Equal(t, string(before), string(after))
		for i, in := range m.input {
			for j, res := range history.ContentOf(in).Results {
				require.False(t, res.IsNative)
				if was := history.ContentOf(msgs[i]).Results[j]; was.IsNative {
					require.Equal(t, found(was.Tools), res.Text)
					loaded = append(loaded, was.Tools...)
				}
			}
		}
		names := namesIn(m.opts.Tools)
		require.Nil(t, m.opts.ToolSearchTool)
		require.Empty(t, m.opts.DeferredTools)
		require.Equal(t, []string{"own", "tool_search"}, names[:2])
		for i, name := range names[2:] {
			require.Contains(t, loaded, name)
			require.NotContains(t, names[:i+2], name)
			require.NotNil(t, m.opts.Tools[i+2].ParamsOneOf)
		}
		for _, name := range loaded {
			require.Contains(t, names, name)
		}

		_, err = native.WithoutSearchTool[M](m).Generate(context.Background(), msgs, given...)
		require.NoError(t, err)
		require.Nil(t, m.opts.ToolSearchTool)
		require.Equal(t, later, m.opts.DeferredTools)
		require.True(t, message.SameSlice(msgs, m.input))
	}
}
