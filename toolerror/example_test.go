// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolerror_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolerror"
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
	orders := einoleantest.Tool("orders", "lists orders", func(context.Context, string) (string, error) {
		return "", errors.New("db-3.internal refused the connection")
	})
	// It stands in for your chat model: it calls the tool, and then gives up.
	model := einoleantest.Script[*schema.Message](einoleantest.Call("orders", `{}`), einoleantest.Say("I cannot reach the orders now."))
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "assistant",
		Description: "answers questions",
		Model:       model,
		Handlers:    []adk.ChatModelAgentMiddleware{handler},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{orders}}},
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

// The handler for agents of the other message type.
func ExampleNewTyped() {
	handler, err := toolerror.NewTyped[*schema.AgenticMessage](context.Background(), nil)
	config := adk.TypedChatModelAgentConfig[*schema.AgenticMessage]{
		Handlers: []adk.TypedChatModelAgentMiddleware[*schema.AgenticMessage]{handler},
	}
	fmt.Println(len(config.Handlers), err)
	// Output: 1 <nil>
}
