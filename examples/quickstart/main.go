// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command quickstart is a whole agent with both middlewares. Copy main, and put your tools and
// your chat model in the place of forecast and script.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

func main() {
	ctx := context.Background()
	weather, err := utils.InferTool("weather__forecast", "Forecasts the weather of a city for a year.", forecast)
	check(err)
	search, err := toolsearch.New(ctx, &toolsearch.Config{
		DynamicTools: []tool.BaseTool{weather}, // hidden until the model searches for them
	})
	check(err)
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend:           reduction.NewMemoryBackend(0), // keeps the results that are too long
		MaxLengthForTrunc: 1000,                          // in bytes; 50,000 if not set
		ProvideReadTool:   true,                          // lets the model read them back
	})
	check(err)
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:     "assistant",
		Model:    script{}, // your chat model
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

type city struct {
	City string `json:"city"`
}

func forecast(_ context.Context, in city) (string, error) {
	days := make([]string, 365)
	for i := range days {
		days[i] = fmt.Sprintf("day %d in %s: %s", i+1, in.City, []string{"sun", "clouds", "rain"}[i%3])
	}
	year := strings.Join(days, "\n")
	fmt.Printf("  the tool returns %.1f KB\n", kilobytes(year))
	return year, nil
}

func kilobytes(text string) float64 { return float64(len(text)) / 1000 }

// script stands in for a chat model, and prints what a model would see and do.
type script struct{}

func (script) Generate(_ context.Context, history []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	last := history[len(history)-1]
	fmt.Printf("the model gets %.1f KB from %s and sees", kilobytes(last.Content), cmp.Or(last.ToolName, "the user"))
	for _, t := range model.GetCommonOptions(nil, opts...).Tools {
		fmt.Print(" ", t.Name)
	}
	fmt.Println()
	switch last.ToolName {
	case "tool_search":
		return call("weather__forecast", `{"city":"Turin"}`), nil
	case "weather__forecast": // too long, so a notice says where the result is
		_, path, _ := strings.Cut(last.Content, "saved to: ")
		return call("read_file", fmt.Sprintf(`{"file_path":%q,"pattern":"day 180 "}`, strings.Fields(path)[0])), nil
	case "read_file":
		_, day, _ := strings.Cut(last.Content, "180:")
		answer, _, _ := strings.Cut(day, "\n")
		fmt.Println("  it answers:", answer)
		return schema.AssistantMessage(answer, nil), nil
	}
	return call("tool_search", `{"query":"weather forecast"}`), nil
}

func (s script) Stream(ctx context.Context, history []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, history, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func call(name, arguments string) *schema.Message {
	fmt.Println("  it calls", name, arguments)
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "call_" + name, Function: schema.FunctionCall{Name: name, Arguments: arguments}}})
}
