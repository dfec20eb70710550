// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolerror_test

// This file shows the handler at work.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolerror"
)

// Errors of the payment tool end the run; all others are answered without the
// names of machines.
func Example() {
	ctx := context.Background()
	handler, err := toolerror.New(ctx, &toolerror.Config{
		Pass: func(_ context.Context, tool string, _ error) bool { return tool == "pay" },
		Text: func(_ context.Context, tool string, err error) string {
			return tool + " failed: " + strings.ReplaceAll(err.Error(), "db-3.internal", "the database")
		},
	})
	if err != nil {
		panic(err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "assistant",
		Description: "answers questions",
		Model:       script{}, // your chat model
		Handlers:    []adk.ChatModelAgentMiddleware{handler},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{orders{}}}},
	})
	if err != nil {
		panic(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Where is my order?")
	for {
		event, ok := events.Next()
		if !ok {
			break
		}
		if event.Err != nil {
			panic(event.Err)
		}
		message, _ := event.Output.MessageOutput.GetMessage()
		if message.Content != "" {
			fmt.Printf("%s: %s\n", message.Role, message.Content)
		}
	}
	// Output:
	// tool: orders failed: the database refused the connection
	// assistant: I cannot reach the orders now.
}

// orders is a tool that fails.
type orders struct{}

func (orders) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "orders", Desc: "lists orders"}, nil
}

func (orders) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", errors.New("db-3.internal refused the connection")
}

// script stands in for a chat model: it calls the tool, and then gives up.
type script struct{}

func (script) Generate(_ context.Context, messages []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if messages[len(messages)-1].Role == schema.Tool {
		return schema.AssistantMessage("I cannot reach the orders now.", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "call_1", Function: schema.FunctionCall{Name: "orders", Arguments: "{}"}}}), nil
}

func (s script) Stream(ctx context.Context, messages []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	answer, err := s.Generate(ctx, messages, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{answer}), err
}
