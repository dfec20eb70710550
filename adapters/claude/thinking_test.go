// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
)

// answerOf asks a model, in one piece or streaming.
func answerOf(t *testing.T, m model.BaseChatModel, stream bool, input []*schema.Message) *schema.Message {
	t.Helper()
	if !stream {
		out, err := m.Generate(t.Context(), input)
		require.NoError(t, err)
		return out
	}
	r, err := m.Stream(t.Context(), input)
	require.NoError(t, err)
	out, err := schema.ConcatMessageStream(r)
	require.NoError(t, err)
	return out
}

// This test uses Eino's adapter unchanged. If it fails, the fault is fixed, and our workaround can go.
func TestUpstreamAdapter_StillLosesThinking(t *testing.T) {
	for _, c := range []struct {
		name     string
		thinking []string
		stream   bool
		back     int
		text     string
	}{
		{"one block", []string{"A"}, false, 1, "A"},
		{"an empty block", []string{""}, false, 0, ""},
		{"the first of two", []string{"A", "B"}, false, 1, "B"},
		{"two, streamed", []string{"A", "B"}, true, 1, "AB"},
		{"redacted thinking", []string{provider.Redacted}, false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := provider.Start(provider.Anthropic, provider.Turn{Thinking: c.thinking, Text: "Pong."}, provider.Turn{Text: "Pong."})
			defer s.Close()
			cfg := config(s.URL())
			cfg.HTTPClient = &http.Client{Transport: onlyTypes{}}
			raw, err := claude.NewChatModel(t.Context(), cfg)
			require.NoError(t, err)
			out := answerOf(t, waiting{raw}, c.stream, question)
			answerOf(t, raw, false, append(question[:1:1], out, question[0]))
			require.Equal(t, c.back, s.Requests()[1].Thoughts)
			if c.back > 0 {
				require.Contains(t, string(s.Requests()[1].Body), fmt.Sprintf(`"thinking":%q`, c.text))
			}
		})
	}
}

// waiting is the adapter whose stream is read once Stream has returned, and nothing else.
type waiting struct{ *claude.ChatModel }

func (w waiting) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	done := make(chan struct{})
	defer close(done)
	return w.ChatModel.Stream(context.WithValue(ctx, returned{}, done), input, opts...)
}

func TestChatModel_ReturnsAllThinkingUnchanged(t *testing.T) {
	for _, thinking := range [][]string{{"A"}, {""}, {"A", "B"}, {"", "B", provider.Redacted + "x", ""}} {
		for _, stream := range []bool{false, true} {
			for _, turn := range []provider.Turn{
				{Thinking: thinking, Text: "Let me see.", Calls: []provider.Call{{Name: "ping"}, {Name: "ping"}}},
				{Thinking: thinking, Text: "Pong."}, {Thinking: thinking, Calls: []provider.Call{{Name: "ping"}}},
			} {
				t.Run(fmt.Sprintf("%q/%v/%s%d", thinking, stream, turn.Text, len(turn.Calls)), func(t *testing.T) {
					s := provider.Start(provider.Anthropic, turn, provider.Turn{Text: "Well."})
					defer s.Close()
					s.Treats(provider.Bound)
					m, err := NewChatModel(t.Context(), config(s.URL()))
					require.NoError(t, err)
					withTools, err := m.WithTools([]*schema.ToolInfo{{Name: "ping", Desc: "Pings.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})}})
					require.NoError(t, err)
					bound := withTools.(*ChatModel)
					out := answerOf(t, bound, stream, question)
					next := append(question[:1:1], out)
					for _, call := range out.ToolCalls {
						next = append(next, schema.ToolMessage("ok", call.ID))
					}
					answerOf(t, bound, stream, append(next, question[0]))
					require.Empty(t, s.Requests()[1].Refused)
					require.Equal(t, len(thinking), s.Requests()[1].Thoughts)
				})
			}
		}
	}
}

func TestChatModel_RecordsThinkingBudget(t *testing.T) {
	s := provider.Start(provider.Anthropic, provider.Turn{Thinking: []string{"A"}, Text: "Pong."})
	defer s.Close()
	cfg := config(s.URL())
	cfg.AdditionalRequestFields = map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}
	m, err := NewChatModel(t.Context(), cfg)
	require.NoError(t, err)
	out := answerOf(t, m, false, question)
	require.Contains(t, out.Extra, budgetKey)
	require.NotContains(t, out.Extra, thinkingKey)
}

func TestRestore_KeepsChangedContent(t *testing.T) {
	parts := `[{"type":"thinking","whole":{"type":"thinking","thinking":"A"}},{"type":"text","bytes":2},{"type":"thinking","whole":{"type":"thinking","thinking":"B"}},{"type":"text","bytes":3},{"type":"tool_use","id":"t1"}]`
	x := &exchange{shapes: []string{"", parts, "no JSON"}}
	const before = `{"role":"assistant","content":[{"type":"text","text":"x"}]}`
	body := func(content string) string {
		return `{"messages":[` + before + `,{"role":"user","content":"u"},{"role":"assistant","content":` + content + `},` + before + `,` + before + `]}`
	}
	for name, c := range map[string]struct{ in, want string }{
		"unchanged":          {`[{"type":"text","text":"abcde","cache_control":{}},{"type":"tool_use","id":"t1","input":{}}]`, `[{"type":"thinking","thinking":"A"},{"type":"text","text":"ab"},{"type":"thinking","thinking":"B"},{"type":"text","text":"cde","cache_control":{}},{"type":"tool_use","id":"t1","input":{}}]`},
		"a changed text":     {`[{"type":"text","text":"abc"},{"type":"tool_use","id":"t1","input":{"cut":1}}]`, `[{"type":"thinking","thinking":"A"},{"type":"text","text":"abc"},{"type":"thinking","thinking":"B"},{"type":"tool_use","id":"t1","input":{"cut":1}}]`},
		"a changed call":     {`[{"type":"text","text":"abcde"},{"type":"tool_use","id":"t2","input":{}}]`, `[{"type":"thinking","thinking":"A"},{"type":"text","text":"ab"},{"type":"thinking","thinking":"B"},{"type":"text","text":"cde"},{"type":"tool_use","id":"t2","input":{}}]`},
		"everything removed": {`[]`, `[{"type":"thinking","thinking":"A"},{"type":"thinking","thinking":"B"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			require.JSONEq(t, body(c.want), string(x.restore([]byte(body(c.in)))))
		})
	}
	for _, odd := range []string{"", "{", `{"messages":1}`, `{"messages":[` + before + `]}`} {
		require.Equal(t, odd, string(x.restore([]byte(odd))))
	}
}
