// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// Replace what is in this file with your own tools and your own chat model.

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
)

func tools() []tool.BaseTool {
	weather, err := utils.InferTool("weather__forecast", "Forecasts the weather of a city for a year.", forecast)
	check(err)
	return []tool.BaseTool{weather}
}

type place struct {
	City string `json:"city"`
}

// forecast returns far more than a prompt should hold.
func forecast(_ context.Context, in place) (string, error) {
	var year strings.Builder
	for hour := range 365 * 24 {
		fmt.Fprintf(&year, "day %d, %02d:00 in %s: %s\n", hour/24+1, hour%24, in.City, []string{"sun", "clouds", "rain"}[hour/24%3])
	}
	fmt.Printf("  the tool returns %.1f KB\n", float64(year.Len())/1000)
	return year.String(), nil
}

// script is a chat model that always does the same. It prints what it sees and does.
type script struct{}

func (script) Generate(_ context.Context, history []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	last := history[len(history)-1]
	fmt.Printf("the model gets %.1f KB from %s and sees", float64(len(last.Content))/1000, cmp.Or(last.ToolName, "the user"))
	for _, t := range model.GetCommonOptions(nil, opts...).Tools {
		fmt.Print(" ", t.Name)
	}
	fmt.Println()
	switch last.ToolName {
	case "tool_search":
		return call("weather__forecast", `{"city":"Turin"}`), nil
	case "weather__forecast": // the notice in the result names the file
		_, path, _ := strings.Cut(last.Content, "saved to: ")
		return call("read_file", fmt.Sprintf(`{"file_path":%q,"pattern":"day 180, 12:00"}`, strings.Fields(path)[0])), nil
	case "read_file":
		answer, _, _ := strings.Cut(last.Content[strings.LastIndex(last.Content, "day 180"):], "\n")
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
