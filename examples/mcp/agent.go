// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The part to copy: an agent with the tools of MCP servers.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/mcptools"
)

// newRunner makes a runner. Its agent has, at every model call, the tools that the servers have then.
func newRunner(ctx context.Context, servers *mcptools.Servers, chat model.BaseChatModel) (*adk.Runner, error) {
	search, err := toolsearch.New(ctx, &toolsearch.Config{Source: servers})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "assistant",
		Description: "answers with the tools of MCP servers",
		Model:       chat,
		Handlers:    []adk.ChatModelAgentMiddleware{search},
	})
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true}), nil
}
