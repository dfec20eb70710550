// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/refusal"
)

// ParseOverflow reports whether an error says that a request is too long for the model, and how many
// tokens the model takes, zero if the error does not name it. It knows the sentences of OpenAI, Azure,
// Anthropic, Gemini, Ark, DeepSeek, Qwen, Kimi, GLM, SiliconFlow, vLLM, Ollama, llama.cpp, LiteLLM and
// OpenRouter. Any other error counts if a sentence of it speaks of the input and of a limit, in English or
// Chinese. Rate limits, which speak of tokens as well, are none.
func ParseOverflow(err error) (tokens int64, ok bool) { return refusal.Overflow(safe.ErrorText(err)) }
