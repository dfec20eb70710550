// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command quickstart is an agent with both middlewares. It runs without a key.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

func main() {
	ctx := context.Background()

	// Put your own tools and your own chat model here: this model always makes the same calls.
	weather, err := utils.InferTool("weather__forecast", "Forecasts the weather of a city for a year.", forecast)
	check(err)
	tools := append(office(), weather)
	model := einoleantest.Script[*schema.Message](
		einoleantest.Call("tool_search", `{"query":"weather forecast"}`),
		einoleantest.Call("weather__forecast", `{"City":"Turin"}`),
		einoleantest.Call("read_file", `{"file_path":"/tmp/trunc/call_2","pattern":"day 180, 12:00"}`),
		einoleantest.Say("Yes, it will rain at noon."),
	)

	search, err := toolsearch.New(ctx, toolsearch.Recommended(tools)) // hidden until the model finds them
	check(err)
	files := store.NewMemory(0)                                     // in production a directory or a bucket
	reduce, err := reduction.New(ctx, reduction.Recommended(files)) // long and old results move to the store
	check(err)
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "quickstart", nil }})
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:     "assistant",
		Model:    model,
		Handlers: []adk.ChatModelAgentMiddleware{search, reduce, see.Handler()}, // see records every model call
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
	fmt.Println()
	check(inspect.WriteText(os.Stdout, see.Conversation("quickstart"), inspect.TextOptions{Width: 100})) // what it saved
}

// office is a library of a hundred tools that this question does not need.
func office() (tools []tool.BaseTool) {
	for _, thing := range []string{"mail", "event", "ticket", "invoice", "contact", "file", "task", "order", "report", "user"} {
		for _, act := range []string{"create", "read", "list", "update", "delete", "share", "archive", "restore", "export", "rename"} {
			t, err := utils.InferTool("office__"+act+"_"+thing, "Can "+act+" a "+thing+" of the office, by its id.",
				func(_ context.Context, in struct{ ID string }) (string, error) { return "done: " + in.ID, nil })
			check(err)
			tools = append(tools, t)
		}
	}
	return tools
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
