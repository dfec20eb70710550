// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command toolsearch shows the toolsearch middleware at work: one agent with a
// library of working tools solves a few tasks, and what it sends to its model is
// measured beside what the same agent sends without the middleware.
//
// It needs no network and no key: the model is the rule-based one of package
// offline. Give newRunner the client of a real model to see that one do it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/examples/lab"
	"github.com/leanctx/leanctx/toolsearch"
)

func main() {
	agentic, streaming, verbose := lab.Flags()
	demo := run[*schema.Message]
	if agentic {
		demo = run[*schema.AgenticMessage]
	}
	if err := demo(context.Background(), lab.NewScreen(os.Stdout, verbose), streaming); err != nil {
		fmt.Fprintln(os.Stderr, "toolsearch:", err)
		os.Exit(1)
	}
}

// newRunner makes the agent. All that toolsearch asks for is the line with
// Handlers, instead of listing the tools under Tools. For *schema.Message the
// same is written toolsearch.New, adk.NewChatModelAgent and adk.NewRunner.
func newRunner[M adk.MessageType](ctx context.Context, chat model.BaseModel[M], tools []tool.BaseTool, streaming bool) (*adk.TypedRunner[M], error) {
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       chat,
		Handlers:    []adk.TypedChatModelAgentMiddleware[M]{search},
	})
	if err != nil {
		return nil, err
	}
	return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming}), nil
}

// newPlainRunner makes the same agent without the middleware: every tool goes
// to the model with every call.
func newPlainRunner[M adk.MessageType](ctx context.Context, chat model.BaseModel[M], tools []tool.BaseTool, streaming bool) (*adk.TypedRunner[M], error) {
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
	})
	if err != nil {
		return nil, err
	}
	return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming}), nil
}

// run solves the tasks with both agents and prints what they sent. It is an
// error if an answer is wrong.
func run[M adk.MessageType](ctx context.Context, screen *lab.Screen, streaming bool) error {
	lean, err := newBench(ctx, newRunner[M], streaming)
	if err != nil {
		return err
	}
	defer lean.close()
	plain, err := newBench(ctx, newPlainRunner[M], streaming)
	if err != nil {
		return err
	}
	defer plain.close()
	return report(ctx, screen, lean, plain)
}
