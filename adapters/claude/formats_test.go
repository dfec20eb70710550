// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/internal/formats"
)

// Thinking and searches of the provider return from answers that an earlier build stored, for example in a
// checkpoint, with and without a thinking budget. The samples are those of package formats.
func TestFormats_AnswersOfEarlierBuildReturnUnchanged(t *testing.T) {
	thought := provider.Turn{Thinking: []string{"A", "B"}, Text: "Let me see."}
	searched := thought
	searched.Search, searched.Calls = "ping", []provider.Call{{Name: "ping"}}
	for kind, fields := range map[string]map[string]any{
		"answer-claude": nil, "answer-claude-budget": {"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}},
	} {
		t.Run(kind, func(t *testing.T) {
			turn := searched
			if fields != nil {
				turn = thought
			}
			write := func() string {
				s := provider.Start(provider.Anthropic, turn)
				defer s.Close()
				cfg := config(s.URL())
				cfg.AdditionalRequestFields = fields
				m, err := NewChatModel(t.Context(), cfg)
				require.NoError(t, err)
				out, err := m.Generate(t.Context(), question, deferred)
				require.NoError(t, err)
				var b bytes.Buffer
				require.NoError(t, gob.NewEncoder(&b).Encode(out))
				return b.String()
			}
			for name, text := range formats.Samples(t, kind, ".txt", write) {
				var out schema.Message
				require.NoError(t, gob.NewDecoder(bytes.NewReader([]byte(text))).Decode(&out), name)
				if fields == nil {
					require.IsType(t, []claude.ToolSearchEvent{}, out.Extra["_eino_claude_tool_search_events"], name)
				}
				next := append(question[:1:1], &out, question[0])
				for _, call := range out.ToolCalls {
					next[2] = schema.ToolMessage("ok", call.ID)
				}
				s := provider.Start(provider.Anthropic, provider.Turn{Text: "Pong."})
				defer s.Close()
				cfg := config(s.URL())
				cfg.AdditionalRequestFields = fields
				m, err := NewChatModel(t.Context(), cfg)
				require.NoError(t, err)
				_, err = m.Generate(t.Context(), next, deferred)
				require.NoError(t, err, name)
				require.Equal(t, 2, s.Requests()[0].Thoughts, name)
				require.Equal(t, fields == nil, bytes.Contains(s.Requests()[0].Body, []byte("tool_search_tool_result")), name)
			}
		})
	}
}
