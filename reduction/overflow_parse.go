// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/refusal"
)

// ParseOverflow reports whether err says that a request is too long for the model, and the model's
// limit in tokens, zero if err does not name it. It recognizes the errors of OpenAI, Azure, Anthropic,
// Gemini, Ark, DeepSeek, Qwen, Kimi, GLM, SiliconFlow, vLLM, Ollama, llama.cpp, LiteLLM and
// OpenRouter, and other English or Chinese texts that mention the input and a limit. Rate limit errors
// are not overflows. If err is nil, ok is false. Use it in Config.Overflow.
func ParseOverflow(err error) (tokens int64, ok bool) { return refusal.Overflow(safe.ErrorText(err)) }
