// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package models has the five lines for each model of docs/models.md: its adapter, how its
// agent finds tools, and when old results go. The page shows the lines as they stand here, and
// tests run an agent with each, on loopback.
package models

import (
	"context"

	"github.com/cloudwego/eino-ext/components/model/agenticopenai"
	"github.com/cloudwego/eino-ext/components/model/ark"
	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino-ext/components/model/deepseek"
	"github.com/cloudwego/eino-ext/components/model/gemini"
	"github.com/cloudwego/eino-ext/components/model/ollama"
	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino-ext/components/model/qwen"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"google.golang.org/genai"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
)

// given is what every program has: a key, where the provider is, tools, and a store.
type given struct {
	ctx      context.Context
	key, url string
	tools    []tool.BaseTool
	store    reduction.Backend
}

// setup is a model with both configurations.
type setup[M adk.MessageType] struct {
	model  model.BaseModel[M]
	search *toolsearch.Config
	reduce *reduction.TypedConfig[M]
	err    error
}

func gpt(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// GPT-5 to GPT-6, chat completions
	chatModel, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "gpt-6.2-sol"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 256_000 // above 272,000, every token costs twice as much
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func responses(g given) setup[*schema.AgenticMessage] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// GPT-5.4 and later, Responses
	chatModel, err := agenticopenai.NewResponsesModel(ctx, &agenticopenai.ResponsesConfig{
		APIKey: key, BaseURL: url, Model: "gpt-6.2-sol", EnableAutoCache: true,
	})
	searchConfig := toolsearch.Recommended(tools)
	searchConfig.Protocol, searchConfig.Prefetch = toolsearch.Keyword, 0
	searchConfig.UseModelToolSearch, searchConfig.Model = true, chatModel
	reduceConfig := reduction.RecommendedTyped[*schema.AgenticMessage](store)
	reduceConfig.WindowTokens, reduceConfig.MaxTokensForClear = 256_000, 128_000 // each clear resends the history
	return setup[*schema.AgenticMessage]{chatModel, searchConfig, reduceConfig, err}
}

func claude55(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Claude 5.5, Fable 5.1 and later
	chatModel, err := claude.NewChatModel(ctx, &claude.Config{
		APIKey: key, BaseURL: &url, Model: "claude-opus-5-5", MaxTokens: 16_000,
	})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens, reduceConfig.MaxTokensForClear = 900_000, 128_000 // each clear loses the thinking after it
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func claude5(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Claude up to Opus 5 and Sonnet 5
	chatModel, err := claude.NewChatModel(ctx, &claude.Config{
		APIKey: key, BaseURL: &url, Model: "claude-sonnet-5", MaxTokens: 16_000,
	})
	searchConfig := toolsearch.Recommended(tools)
	searchConfig.Protocol, searchConfig.Prefetch = toolsearch.Keyword, 0
	searchConfig.UseModelToolSearch, searchConfig.Model = true, chatModel
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 180_000
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func gemini3(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		return setup[*schema.Message]{err: err}
	}
	// Gemini
	chatModel, err := gemini.NewChatModel(ctx, &gemini.Config{Client: client, Model: "gemini-4-argon"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 900_000
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func doubao(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Doubao and Seed, on Ark
	chatModel, err := ark.NewChatModel(ctx, &ark.ChatModelConfig{APIKey: key, BaseURL: url, Model: "seed-2.1-turbo"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 240_000
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func qwen3(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Qwen
	chatModel, err := qwen.NewChatModel(ctx, &qwen.ChatModelConfig{APIKey: key, BaseURL: url, Model: "qwen3.7-max"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 900_000
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func deepseek4(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// DeepSeek
	chatModel, err := deepseek.NewChatModel(ctx, &deepseek.ChatModelConfig{APIKey: key, BaseURL: url, Model: "deepseek-flash"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens, reduceConfig.MaxTokensForClear = 900_000, 128_000 // a cached token costs a fiftieth
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func kimi(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Kimi
	chatModel, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "kimi-k3"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 900_000
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func glm(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// GLM
	chatModel, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "glm-5.2"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	reduceConfig.WindowTokens = 900_000
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func vllm(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// vLLM and SGLang
	chatModel, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "the served model"})
	searchConfig := toolsearch.Recommended(tools)
	reduceConfig := reduction.Recommended(store)
	// --max-model-len 32768, less the answer; with 0, clearing starts at three quarters of it
	reduceConfig.WindowTokens, reduceConfig.MaxTokensForClear = 28_000, 0
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}

func local(g given) setup[*schema.Message] {
	ctx, url, tools, store := g.ctx, g.url, g.tools, g.store
	// Ollama
	options := &ollama.Options{}
	options.NumCtx = 32_768
	chatModel, err := ollama.NewChatModel(ctx, &ollama.ChatModelConfig{BaseURL: url, Model: "qwen3:8b", Options: options})
	searchConfig := toolsearch.Recommended(tools)
	searchConfig.Protocol, searchConfig.Prefetch = toolsearch.Keyword, 0 // the smallest prompt
	searchConfig.MaxResults, searchConfig.CatalogLimit = 2, 20
	reduceConfig := reduction.Recommended(store)
	// NumCtx less the answer: Ollama truncates longer prompts silently
	reduceConfig.WindowTokens, reduceConfig.MaxTokensForClear = 28_000, 0
	return setup[*schema.Message]{chatModel, searchConfig, reduceConfig, err}
}
