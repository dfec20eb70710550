// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command quickstart is an agent with both middlewares. It runs without a key.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

func main() {
	ctx := context.Background()

	// Put your own tools and your own chat model here: this model always makes the same calls.
	weather, err := utils.InferTool("weather__forecast", "Forecasts the weather of a city for a year.", forecast)
	check(err)
	tools := []tool.BaseTool{weather}
	model := leanctxtest.Script[*schema.Message](
		leanctxtest.Call("tool_search", `{"query":"weather forecast"}`),
		leanctxtest.Call("weather__forecast", `{"City":"Turin"}`),
		leanctxtest.Call("read_file", `{"file_path":"/tmp/trunc/call_2","pattern":"day 180, 12:00"}`),
		leanctxtest.Say("Yes, it will rain at noon."),
	)

	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools}) // hidden until the model finds them
	check(err)
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend:         reduction.NewMemoryBackend(0), // keeps what is taken out of the prompt
		ProvideReadTool: true,                          // lets the model read it back
	})
	check(err)
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:     "assistant",
		Model:    model,
		Handlers: []adk.ChatModelAgentMiddleware{search, reduce},
	})
	check(err)

	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Will it rain in Turin on day 180?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		check(event.Err)
		message, _, err := adk.GetMessage(event)
		check(err)
		for _, call := range message.ToolCalls {
			fmt.Println("=>", call.Function.Name, call.Function.Arguments)
		}
		if lines := strings.SplitN(message.Content, "\n", 3); lines[0] != "" {
			fmt.Println(strings.Join(lines[:min(2, len(lines))], "\n"))
		}
	}
}

func forecast(_ context.Context, in struct{ City string }) (string, error) {
	var year strings.Builder // far more than a prompt should hold
	for hour := range 365 * 24 {
		fmt.Fprintf(&year, "day %d, %02d:00 in %s: %s\n", hour/24+1, hour%24, in.City, []string{"sun", "clouds", "rain"}[hour/24%3])
	}
	return year.String(), nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
