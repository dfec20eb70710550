// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/adapters/claude"
)

// usage is what a person sees who has configured nothing.
const usage = `This agent needs a model. Set one of these and start it again:

  any endpoint that speaks OpenAI's chat completions
    export OPENAI_BASE_URL=http://localhost:11434/v1   # this one is Ollama's
    export OPENAI_API_KEY=none                         # the provider's key; any text for Ollama
    export OPENAI_MODEL=qwen3

    DeepSeek  https://api.deepseek.com                             deepseek-chat
    Qwen      https://dashscope.aliyuncs.com/compatible-mode/v1    qwen-plus
    Ark       https://ark.cn-beijing.volces.com/api/v3             the id of your endpoint
    OpenAI    https://api.openai.com/v1                            gpt-5.4-mini

  Claude
    export ANTHROPIC_API_KEY=...
    export ANTHROPIC_MODEL=claude-sonnet-4-5
    export NATIVE_TOOL_SEARCH=1                        # optional: found tools as references

Then:  go run .        a conversation
       go run . "Which day of the week was 2000-02-29, and what is the SHA-256 of that word?"
`

var errNoModel = errors.New("no model is configured")

// provider is the model, and whether it searches tools by itself.
type provider struct {
	model  model.BaseChatModel
	name   string
	native bool
}

// chooseProvider reads the environment; Claude wins where both are set.
func chooseProvider(ctx context.Context, env func(string) string) (provider, error) {
	if name := env("ANTHROPIC_MODEL"); name != "" || env("ANTHROPIC_API_KEY") != "" {
		if name == "" {
			return provider{}, errors.New("ANTHROPIC_API_KEY is set, but ANTHROPIC_MODEL is not")
		}
		config := &claude.Config{APIKey: env("ANTHROPIC_API_KEY"), Model: name, MaxTokens: 4096}
		if url := env("ANTHROPIC_BASE_URL"); url != "" {
			config.BaseURL = &url
		}
		// It is eino-ext's adapter without its data race: another import, the same calls.
		m, err := claude.NewChatModel(ctx, config)
		return provider{m, name, env("NATIVE_TOOL_SEARCH") != ""}, err
	}
	name := env("OPENAI_MODEL")
	if name == "" && env("OPENAI_API_KEY") == "" && env("OPENAI_BASE_URL") == "" {
		return provider{}, errNoModel
	}
	if name == "" {
		return provider{}, errors.New("OPENAI_BASE_URL or OPENAI_API_KEY is set, but OPENAI_MODEL is not")
	}
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		APIKey: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Model: name,
	})
	return provider{m, name, false}, err
}
