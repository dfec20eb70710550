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
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "gpt-6.2-sol"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 256_000 // above 272,000 every token costs twice as much
	return setup[*schema.Message]{m, search, reduce, err}
}

func responses(g given) setup[*schema.AgenticMessage] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// GPT-5.4 and later, Responses
	m, err := agenticopenai.NewResponsesModel(ctx, &agenticopenai.ResponsesConfig{APIKey: key, BaseURL: url, Model: "gpt-6.2-sol", EnableAutoCache: true})
	search := toolsearch.Recommended(tools)
	search.Protocol, search.Prefetch = toolsearch.Keyword, 0
	search.UseModelToolSearch, search.Model = true, m
	reduce := reduction.RecommendedTyped[*schema.AgenticMessage](store)
	reduce.WindowTokens, reduce.MaxTokensForClear = 256_000, 128_000 // a clear sends everything once more: clear seldom
	return setup[*schema.AgenticMessage]{m, search, reduce, err}
}

func claude55(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Claude 5.5, Fable 5.1 and later
	m, err := claude.NewChatModel(ctx, &claude.Config{APIKey: key, BaseURL: &url, Model: "claude-opus-5-5", MaxTokens: 16_000})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens, reduce.MaxTokensForClear = 900_000, 128_000 // a clear costs the thinking behind it: clear seldom
	return setup[*schema.Message]{m, search, reduce, err}
}

func claude5(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Claude up to Opus 5 and Sonnet 5
	m, err := claude.NewChatModel(ctx, &claude.Config{APIKey: key, BaseURL: &url, Model: "claude-sonnet-5", MaxTokens: 16_000})
	search := toolsearch.Recommended(tools)
	search.Protocol, search.Prefetch = toolsearch.Keyword, 0
	search.UseModelToolSearch, search.Model = true, m
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 180_000
	return setup[*schema.Message]{m, search, reduce, err}
}

func gemini3(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		return setup[*schema.Message]{err: err}
	}
	// Gemini
	m, err := gemini.NewChatModel(ctx, &gemini.Config{Client: client, Model: "gemini-4-argon"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 900_000
	return setup[*schema.Message]{m, search, reduce, err}
}

func doubao(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Doubao and Seed, on Ark
	m, err := ark.NewChatModel(ctx, &ark.ChatModelConfig{APIKey: key, BaseURL: url, Model: "seed-2.1-turbo"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 240_000
	return setup[*schema.Message]{m, search, reduce, err}
}

func qwen3(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Qwen
	m, err := qwen.NewChatModel(ctx, &qwen.ChatModelConfig{APIKey: key, BaseURL: url, Model: "qwen3.7-max"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 900_000
	return setup[*schema.Message]{m, search, reduce, err}
}

func deepseek4(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// DeepSeek
	m, err := deepseek.NewChatModel(ctx, &deepseek.ChatModelConfig{APIKey: key, BaseURL: url, Model: "deepseek-flash"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens, reduce.MaxTokensForClear = 900_000, 128_000 // a cached token costs a fiftieth
	return setup[*schema.Message]{m, search, reduce, err}
}

func kimi(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// Kimi
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "kimi-k3"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 900_000
	return setup[*schema.Message]{m, search, reduce, err}
}

func glm(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// GLM
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "glm-5.2"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 900_000
	return setup[*schema.Message]{m, search, reduce, err}
}

func vllm(g given) setup[*schema.Message] {
	ctx, key, url, tools, store := g.ctx, g.key, g.url, g.tools, g.store
	// vLLM and SGLang
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: key, BaseURL: url, Model: "the served model"})
	search := toolsearch.Recommended(tools)
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 28_000 // --max-model-len 32768, less the answer
	return setup[*schema.Message]{m, search, reduce, err}
}

func local(g given) setup[*schema.Message] {
	ctx, url, tools, store := g.ctx, g.url, g.tools, g.store
	// Ollama
	options := &ollama.Options{}
	options.NumCtx = 32_768
	m, err := ollama.NewChatModel(ctx, &ollama.ChatModelConfig{BaseURL: url, Model: "qwen3:8b", Options: options})
	search := toolsearch.Recommended(tools)
	search.Protocol, search.Prefetch = toolsearch.Keyword, 0 // the smallest prompt
	search.MaxResults, search.CatalogLimit = 2, 20
	reduce := reduction.Recommended(store)
	reduce.WindowTokens = 28_000 // NumCtx less the answer: Ollama cuts what is longer without a word
	return setup[*schema.Message]{m, search, reduce, err}
}
