// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file is the part to copy: an agent whose tools come from MCP servers and change.

import (
	"context"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch"
)

// Agents makes an agent for each run: the one of the run before, unless a server's tools
// changed in between. It is safe for concurrent use.
type Agents struct {
	Model   model.BaseChatModel
	Servers *Servers

	mu      sync.Mutex
	runner  *adk.Runner
	version int64
}

// Runner returns the runner for the next run.
func (a *Agents) Runner(ctx context.Context) (*adk.Runner, error) {
	a.Servers.Refresh(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	version := a.Servers.Version()
	if a.runner != nil && a.version == version {
		return a.runner, nil
	}
	config := &adk.ChatModelAgentConfig{
		Name:        "assistant",
		Description: "answers with the tools of MCP servers",
		Model:       a.Model,
	}
	if tools := a.Servers.Tools(); len(tools) > 0 {
		search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools})
		if err != nil {
			return nil, err
		}
		config.Handlers = []adk.ChatModelAgentMiddleware{search}
	}
	agent, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		return nil, err
	}
	a.runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	a.version = version
	return a.runner, nil
}

// Ask runs the agent on a conversation and returns it with what was added.
func (a *Agents) Ask(ctx context.Context, history []*schema.Message, question string) ([]*schema.Message, error) {
	runner, err := a.Runner(ctx)
	if err != nil {
		return history, err
	}
	history = append(history[:len(history):len(history)], schema.UserMessage(question))
	events := runner.Run(ctx, history)
	for {
		event, ok := events.Next()
		if !ok {
			return history, nil
		}
		if event.Err != nil {
			return history, event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		message, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return history, err
		}
		history = append(history, message)
	}
}
