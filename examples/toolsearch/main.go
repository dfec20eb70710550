// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command toolsearch shows the toolsearch middleware at work: one agent with a
// library of tools solves a few tasks, and what it sends to its model is
// measured beside what the same agent sends without the middleware.
//
// It needs no network and no key: the model is the rule-based one of package
// offline. Give newAgent the client of a real model to see that one do it.
package main

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/toolsearch"
)

func main() { lab.Main("toolsearch", run[*schema.Message], run[*schema.AgenticMessage]) }

// newAgent makes the agent. All that toolsearch asks for is the line with Handlers,
// instead of listing the tools under Tools. For *schema.Message the same is
// written toolsearch.New and adk.NewChatModelAgent.
func newAgent[M adk.MessageType](ctx context.Context, chat model.BaseModel[M], tools []tool.BaseTool) (*adk.TypedChatModelAgent[M], error) {
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools})
	if err != nil {
		return nil, err
	}
	return adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       chat,
		Handlers:    []adk.TypedChatModelAgentMiddleware[M]{search},
	})
}

// run solves the tasks with both agents and prints what they sent. It is an
// error if an answer is wrong.
func run[M adk.MessageType](ctx context.Context, screen *lab.Screen, streaming bool) error {
	lean, err := newBench(ctx, newAgent[M], streaming)
	if err != nil {
		return err
	}
	defer lean.close()
	plain, err := newBench(ctx, lab.PlainAgent[M], streaming)
	if err != nil {
		return err
	}
	defer plain.close()
	return report(ctx, screen, lean, plain)
}
