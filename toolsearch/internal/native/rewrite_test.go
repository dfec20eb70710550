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
			msgs = append(msgs, message.NewResultMessage[M](id, "tool_search", message.NewText(matchesText(names))))
			continue
		}
		tools := []*schema.ToolInfo{}
		for _, name := range names {
			tools = append(tools, &schema.ToolInfo{Name: name, Desc: "an old description"})
		}
		msgs = append(msgs, k.native(id, tools))
	}
	return msgs
}

func matchesText(names []string) string {
	text, err := json.Marshal(map[string][]string{"matches": append([]string{}, names...)})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A rewritten history is accepted by the adapter, and does not change when it is rewritten again. The input stays as it was,
// and every search has a result. Tools in a provider's form are visible ones, each once where the rules say so.
func TestRewrite_IsIdempotent(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testRewrite(t, plain) })
	t.Run("agentic", func(t *testing.T) { testRewrite(t, agentic) })
}

func testRewrite[M adk.MessageType](t *testing.T, k kind[M]) {
	r := random(t)
	for range race.Cases(2000) {
		msgs, tools := k.anyHistory(r), setOf(some(r, "t", 10, 10)...)
		denied := among(some(r, "t", 3, 10))
		in := native.RewriteInput{
			Rules: anyRules(t, r), Tools: tools,
			MayFind: func(e *catalog.Tool) bool { return !denied[e.Info.Name] },
		}
		for e := range tools.All() {
			if r.IntN(2) == 0 {
				in.VisibleNames = append(in.VisibleNames, e.Info.Name)
			}
		}
		in.IsDeclared = func(name string) bool { return slices.Contains(in.VisibleNames, name) }
		before, err := json.Marshal(msgs)
		require.NoError(t, err)
		next := native.Rewrite(msgs, in)
		after, _ := json.Marshal(msgs)
		require.Equal(t, string(before), string(after))
		require.True(t, message.SameSlice(next, native.Rewrite(next, in)), "once")
		require.Len(t, next, len(msgs))

		returned := map[string]bool{}
		for i, m := range next {
			for j, res := range history.ContentOf(m).Results {
				original := history.ContentOf(msgs[i]).Results[j]
				require.Equal(t, original.ID, res.ID)
				if !res.IsNative {
					require.NotEmpty(t, res.Text)
					continue
				}
				require.True(t, original.IsNative && in.Rules.Native)
				for _, name := range res.Tools {
					require.Contains(t, original.Tools, name)
					require.Contains(t, in.VisibleNames, name)
					require.False(t, in.Rules.ReturnOnce && returned[name], "the tool is returned once")
					returned[name] = true
				}
			}
		}
		if !in.Rules.Native {
			for i, m := range next {
				for j, res := range history.ContentOf(m).Results {
					if original := history.ContentOf(msgs[i]).Results[j]; original.IsNative {
						isDenied := func(name string) bool { return denied[name] && tools.Lookup(name) != nil }
						require.Equal(t, matchesText(slices.DeleteFunc(original.Tools, isDenied)), res.Text)
					}
				}
			}
		}
	}
}

// A tool in a result that is not hidden was removed if our search tool returned it. The tools of another search stay.
func TestRewrite_ToolThatIsNotHidden(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testNotHidden(t, plain, native.ClaudeClient) })
	t.Run("agentic", func(t *testing.T) { testNotHidden(t, agentic, native.AgenticClaudeClient) })
}

func testNotHidden[M adk.MessageType](t *testing.T, k kind[M], adapter string) {
	rules, err := native.Choose(adapter, nil, adapters[adapter])
	require.NoError(t, err)
	in := native.RewriteInput{
		Rules: rules, Tools: setOf("t1"), VisibleNames: []string{"t1"},
		MayFind: func(*catalog.Tool) bool { return true }, IsDeclared: func(name string) bool { return name == "t1" },
	}
	for searchTool, names := range map[string][]string{"tool_search": {"t1"}, "another_search": {"t1", "removed"}} {
		msgs := []M{k.user("please"), k.call("1", false), k.native("1", []*schema.ToolInfo{{Name: "t1"}, {Name: "removed"}})}
		msgs = message.Map(msgs, func(m M) M {
			return message.RenameTools(m, func(string, string) string { return searchTool })
		})
		result := history.ContentOf(native.Rewrite(msgs, in)[2]).Results[0]
		require.True(t, result.IsNative)
		require.Equal(t, names, result.Tools, searchTool)
	}
}

// recordingModel records its last request.
type recordingModel[M adk.MessageType] struct {
	input []M
	opts  *model.Options
}

func (m *recordingModel[M]) Generate(_ context.Context, input []M, opts ...model.Option) (out M, err error) {
	m.input, m.opts = input, model.GetCommonOptions(nil, opts...)
	return out, nil
}

func (m *recordingModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	out, err := m.Generate(ctx, input, opts...)
	return schema.StreamReaderFromArray([]M{out}), err
}

// A model without tool search reads nothing of a search in a provider's form, and can call the tools that it loaded.
func TestPortable_ModelReadsOfNoSearch(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testPortable(t, plain) })
	t.Run("agentic", func(t *testing.T) { testPortable(t, agentic) })
}

func testPortable[M adk.MessageType](t *testing.T, k kind[M]) {
	r := random(t)
	for range race.Cases(1000) {
		msgs, m := k.anyHistory(r), &recordingModel[M]{}
		search, deferred := &schema.ToolInfo{Name: "tool_search"}, []*schema.ToolInfo{{Name: "t1"}}
		opts := []model.Option{
			model.WithTools([]*schema.ToolInfo{{Name: "own"}}), model.WithToolSearchTool(search), model.WithDeferredTools(deferred),
		}
		before, err := json.Marshal(msgs)
		require.NoError(t, err)
		wrapped, loaded := native.Portable(m), []string{}
		if r.IntN(2) == 0 {
			_, err = wrapped.Generate(context.Background(), msgs, opts...)
		} else {
			var s *schema.StreamReader[M]
			s, err = wrapped.Stream(context.Background(), msgs, opts...)
			s.Close()
		}
		require.NoError(t, err)
		after, _ := json.Marshal(msgs)
		require.Equal(t, string(before), string(after))
		for i, msg := range m.input {
			for j, res := range history.ContentOf(msg).Results {
				require.False(t, res.IsNative)
				if original := history.ContentOf(msgs[i]).Results[j]; original.IsNative {
					require.Equal(t, matchesText(original.Tools), res.Text)
					loaded = append(loaded, original.Tools...)
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

		_, err = native.WithoutSearchTool[M](m).Generate(context.Background(), msgs, opts...)
		require.NoError(t, err)
		require.Nil(t, m.opts.ToolSearchTool)
		require.Equal(t, deferred, m.opts.DeferredTools)
		require.True(t, message.SameSlice(msgs, m.input))
	}
}
