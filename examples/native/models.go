// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/cloudwego/eino-ext/components/model/agenticopenai"
	"github.com/cloudwego/eino-ext/components/model/openai"

	"github.com/einolean/einolean/adapters/claude"
	"github.com/einolean/einolean/examples/native/standin"
)

// The servers on loopback let everybody in who shows a key.
const key = "a key for loopback"

func newClaude(ctx context.Context, url string) (*claude.ChatModel, error) {
	return claude.NewChatModel(ctx, &claude.Config{BaseURL: &url, APIKey: key, Model: "claude-on-loopback", MaxTokens: 1000})
}

func newResponses(ctx context.Context, url string) (*agenticopenai.ResponsesModel, error) {
	return agenticopenai.NewResponsesModel(ctx, &agenticopenai.ResponsesConfig{BaseURL: url, APIKey: key, Model: "gpt-on-loopback"})
}

func newAgenticClaude(_ context.Context, url string) (*standin.Model, error) {
	return &standin.Model{URL: url, Key: key, Name: "claude-on-loopback"}, nil
}

func newChat(ctx context.Context, url string) (*openai.ChatModel, error) {
	return openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: url, APIKey: key, Model: "gpt-on-loopback"})
}
