// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
)

// guide stands in for a chat model: it searches for a tool, calls it, and answers.
func guide(r einoleantest.Request[*schema.Message]) einoleantest.Turn {
	fmt.Println("the model sees", r.ToolNames())
	switch last := r.Messages[len(r.Messages)-1]; last.ToolName {
	case "":
		return einoleantest.Call("tool_search", `{"query":"weather"}`)
	case "tool_search":
		return einoleantest.Call("weather__forecast", `{"city":"Oslo"}`)
	default:
		return einoleantest.Say(last.Content)
	}
}

type query struct {
	City string `json:"city"`
}

func newTool(name, description, answer string) tool.BaseTool {
	t, err := utils.InferTool(name, description, func(_ context.Context, q query) (string, error) { return answer + " in " + q.City, nil })
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// An agent whose tools are hidden until its model finds them.
func Example() {
	ctx := context.Background()
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{
		newTool("weather__forecast", "Tells what the weather will be.", "Rain"),
		newTool("travel__find_hotel", "Finds a hotel.", "A hotel"),
	}})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "guide", Description: "knows cities", Model: einoleantest.Respond(guide),
		Handlers: []adk.ChatModelAgentMiddleware{search},
	})
	if err != nil {
		log.Fatal(err)
	}
	answer := ""
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Will it rain in Oslo?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			log.Fatal(event.Err)
		}
		answer = event.Output.MessageOutput.Message.Content
	}
	fmt.Println("the answer is", answer)
	// Output:
	// the model sees [tool_search]
	// the model sees [tool_search weather__forecast]
	// the model sees [tool_search weather__forecast]
	// the answer is Rain in Oslo
}
