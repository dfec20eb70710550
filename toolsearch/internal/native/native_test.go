// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package native_test

// Which adapter a model has.

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/internal/native"
)

// modelType is a model as far as its type goes.
type modelType string

func (m modelType) GetType() string { return string(m) }

// Whatever is asked of whatever model, the rules are those of one adapter for the message type, or
// there is an error: about the model, if it cannot do what is asked, or else about the adapter.
func TestChoose_AdapterFitsMessageType(t *testing.T) {
	can := map[string][]string{
		"Claude": {native.ClaudeClient, native.ClaudeHosted}, "AgenticClaude": {native.AgenticClaudeClient},
		"AgenticOpenAI/Responses": {native.OpenAIClient, native.OpenAIHosted}, "OpenAI": nil, "Ollama": nil, "Gemini": nil,
	}
	asked := []string{"", native.Hosted, "unknown"}
	for name := range adapters {
		asked = append(asked, name)
	}
	for typ, list := range can {
		for _, name := range asked {
			for _, isAgentic := range []bool{false, true} {
				rules, err := native.Choose(name, modelType(typ), isAgentic)
				switch {
				case err == nil:
					require.Contains(t, list, rules.Adapter, "%s, %q", typ, name)
					require.Equal(t, adapters[rules.Adapter], isAgentic)
					require.True(t, rules.Native)
					require.Equal(t, rules.ProviderLoads, !rules.ClientRuns, "who searches loads")
					require.Equal(t, name == "" || name == rules.Adapter || name == native.Hosted && rules.ProviderLoads, true)
				case errors.Is(err, native.ErrUnsupported):
					require.NotContains(t, list, name)
				default:
					require.NotEmpty(t, err.Error())
				}
			}
		}
	}
}

func TestChoose_UnfitAdapterErrorNamesFittingOnes(t *testing.T) {
	for _, c := range []struct{ adapter, model, want string }{
		{native.OpenAIHosted, "Claude", `a model of type Claude does not support Native "openai hosted": set Native to "claude client" or "claude hosted", or leave it empty`},
		{native.Hosted, "AgenticClaude", `a model of type AgenticClaude does not support Native "hosted": set Native to "agentic claude client", or leave it empty`},
		{native.ClaudeClient, "Ollama", `a model of type Ollama does not support Native "claude client": leave UseModelToolSearch false`},
	} {
		_, err := native.Choose(c.adapter, modelType(c.model), false)
		require.ErrorIs(t, err, native.ErrUnsupported)
		require.EqualError(t, err, c.want)
	}
}

// Without a model, or with one of an unknown type, what is asked for decides.
func TestChoose_UnknownModelAcceptsAnyAdapter(t *testing.T) {
	for _, model := range []any{nil, modelType("Wrapper"), struct{}{}} {
		for name, isAgentic := range adapters {
			rules, err := native.Choose(name, model, isAgentic)
			require.NoError(t, err)
			require.Equal(t, name, rules.Adapter)
			_, err = native.Choose(name, model, !isAgentic)
			require.ErrorContains(t, err, "message type")
			require.NotErrorIs(t, err, native.ErrUnsupported)
		}
		_, err := native.Choose(native.Hosted, model, true)
		require.ErrorIs(t, err, native.ErrUnsupported)
	}
	rules, err := native.Choose("", nil, true)
	require.NoError(t, err, "as Eino has it")
	require.True(t, rules.Native && rules.ClientRuns && rules.ProviderLoads && rules.Adapter == "")
	require.Zero(t, native.MaxToolsPerRequest(modelType("Wrapper")))
	require.Equal(t, 128, native.MaxToolsPerRequest(modelType("OpenAI")))
}
