// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Which contract follows from Model and Native.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch"
)

// modelType is a model as far as its type goes.
type modelType string

func (m modelType) GetType() string { return string(m) }

func TestTheContractFitsTheModel(t *testing.T) {
	const client, hosted, refused = "client", "hosted", "refused"
	wrapped := struct{ inner any }{modelType("Claude")}
	for _, c := range []struct {
		name    string
		model   any
		native  toolsearch.Adapter
		agentic bool
		want    string
	}{
		{"Claude alone", modelType("Claude"), "", false, client},
		{"Claude, hosted", modelType("Claude"), toolsearch.Hosted, false, hosted},
		{"Claude, its hosted contract", modelType("Claude"), toolsearch.ClaudeHosted, false, hosted},
		{"Claude, its client contract", modelType("Claude"), toolsearch.ClaudeClient, false, client},
		{"Responses alone", modelType("AgenticOpenAI/Responses"), "", true, client},
		{"Responses, hosted", modelType("AgenticOpenAI/Responses"), toolsearch.Hosted, true, hosted},
		{"Responses, its hosted contract", modelType("AgenticOpenAI/Responses"), toolsearch.OpenAIHosted, true, hosted},
		{"agentic Claude alone", modelType("AgenticClaude"), "", true, client},
		{"agentic Claude has no hosted search", modelType("AgenticClaude"), toolsearch.Hosted, true, refused},
		{"OpenAI's chat alone", modelType("OpenAI"), "", false, refused},
		{"OpenAI's chat, hosted", modelType("OpenAI"), toolsearch.Hosted, false, refused},
		{"OpenAI's chat with Claude's contract", modelType("OpenAI"), toolsearch.ClaudeHosted, false, refused},
		{"Ollama with Claude's contract", modelType("Ollama"), toolsearch.ClaudeClient, false, refused},
		{"Responses with Claude's contract", modelType("AgenticOpenAI/Responses"), toolsearch.AgenticClaudeClient, true, refused},
		{"Claude with OpenAI's contract", modelType("AgenticClaude"), toolsearch.OpenAIClient, true, refused},
		{"a wrapped model alone", wrapped, "", false, refused},
		{"a wrapped model, hosted", wrapped, toolsearch.Hosted, false, refused},
		{"a wrapped model with a contract", wrapped, toolsearch.ClaudeHosted, false, hosted},
		{"an unknown type with a contract", modelType("Wrapper"), toolsearch.ClaudeClient, false, client},
		{"no model, hosted", nil, toolsearch.Hosted, false, refused},
		{"no model with a contract", nil, toolsearch.ClaudeHosted, false, hosted},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := &toolsearch.Config{DynamicTools: office(), UseModelToolSearch: true, Model: c.model, Native: c.native}
			if c.agentic {
				contractOf[*schema.AgenticMessage](t, cfg, c.want)
			} else {
				contractOf[*schema.Message](t, cfg, c.want)
			}
		})
	}
}

// contractOf tells the contracts apart by who searches: where the provider does, calls of
// tools that were not loaded run, and the agent has no search tool of the model's.
func contractOf[M adk.MessageType](t *testing.T, cfg *toolsearch.Config, want string) {
	h, err := toolsearch.NewTyped[M](context.Background(), cfg)
	if want == "refused" {
		require.ErrorIs(t, err, toolsearch.ErrNativeUnsupported)
		cfg.DynamicTools, cfg.DeferMarkedTools = nil, true
		h, err = toolsearch.NewTyped[M](context.Background(), cfg)
		require.NoError(t, err, "there is nothing to hide")
		_, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{Tools: simples("own")})
		require.NoError(t, err)
		require.Len(t, rc.Tools, 1)
		return
	}
	require.NoError(t, err)
	_, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	require.Equal(t, want == "client", rc.ToolSearchTool != nil)
}
