// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/window"
	"github.com/leanctx/leanctx/window/inspect"
)

// parrot stands in for a chat model: it searches for a tool and then answers.
type parrot struct{}

func (parrot) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if in[len(in)-1].Role == schema.Tool {
		return schema.AssistantMessage("It is sunny.", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "call_1", Type: "function",
		Function: schema.FunctionCall{Name: "tool_search", Arguments: `{"query":"weather city"}`}}}), nil
}

func (p parrot) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := p.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

// city is what the weather tool takes.
type city struct {
	Name string `json:"name"`
}

func Example() {
	ctx := context.Background()
	weather, err := utils.InferTool("city_weather", "The weather in a city", func(context.Context, city) (string, error) { return "sunny", nil })
	if err != nil {
		log.Fatal(err)
	}

	see := window.New(window.Config{})
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{weather}, OnEvent: see.Event})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers", Model: parrot{},
		Handlers: []adk.ChatModelAgentMiddleware{search, see.Handler()}, // see is last
	})
	if err != nil {
		log.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "What is the weather in Oslo?")
	for {
		if _, ok := events.Next(); !ok {
			break
		}
	}

	for c := range see.Conversations() {
		for _, call := range c.Calls {
			fmt.Println("call", call.N, "hidden tools:", call.Hidden.Tools, "only for leanctx:", call.Without == nil)
		}
		page := filepath.Join(os.TempDir(), "leanctx-example.html")
		if err := inspect.WriteFile(page, c); err != nil {
			log.Fatal(err)
		}
		defer os.Remove(page)
	}
	// Output:
	// call 1 hidden tools: 1 only for leanctx: true
	// call 2 hidden tools: 0 only for leanctx: false
}
