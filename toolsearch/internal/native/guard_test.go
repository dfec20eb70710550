// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package native_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/internal/native"
)

// These are the limits that the providers document.
func TestMaxToolsPerRequest_IsTheLimitOfTheProvider(t *testing.T) {
	for model, most := range map[string]int{
		"OpenAI": 128, "AgenticOpenAI/Chat": 128, "AgenticOpenAI/Responses": 128, "DeepSeek": 128,
		"Gemini": 512, "AgenticGemini": 512, "Claude": 0, "Ollama": 0,
	} {
		require.Equal(t, most, native.MaxToolsPerRequest(modelType(model)), model)
	}
}

func TestChoose_ErrorNamesTheModel(t *testing.T) {
	const supported = "; supported models: AgenticClaude, AgenticOpenAI/Responses, Claude; for a wrapped model set Native, and for any other leave UseModelToolSearch false"
	for _, c := range []struct {
		model any
		want  string
	}{
		{struct{}{}, "Model is struct {} (of unknown type)"},
		{modelType("OpenAI"), "Model is native_test.modelType (OpenAI)"},
	} {
		_, err := native.Choose("", c.model, false)
		require.ErrorIs(t, err, native.ErrUnsupported)
		require.ErrorContains(t, err, c.want+supported)
	}
}
