// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command quickstart is an agent with both middlewares. It runs without a key.
package main

import (
	"context"
	"log"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

func main() {
	ctx := context.Background()
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools()}) // hidden until the model finds them
	check(err)
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend:         reduction.NewMemoryBackend(0), // keeps what is taken out of the prompt
		ProvideReadTool: true,                          // lets the model read it back
	})
	check(err)
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:     "assistant",
		Model:    script{}, // stands in for your chat model: see standin.go
		Handlers: []adk.ChatModelAgentMiddleware{search, reduce},
	})
	check(err)
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Will it rain in Turin on day 180?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		check(event.Err)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
