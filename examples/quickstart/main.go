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
	"github.com/cloudwego/eino/components/model"
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
	// Put your own chat model here: this one always makes the same calls.
	chatModel := einoleantest.Script[*schema.Message](
		einoleantest.Call("tool_search", `{"query":"weather forecast"}`),
		einoleantest.Call("call_tool", `{"name":"weather__forecast","arguments":{"City":"Turin"}}`),
		einoleantest.Call("read_file", `{"file_path":"/tmp/trunc/call_2","pattern":"day 180, 12:00"}`),
		einoleantest.Say("Yes, it will rain at noon."),
	)
	if err := run(context.Background(), chatModel); err != nil {
		log.Fatal(err)
	}
}

// newConfig is what to copy: an agent with both middlewares. dir holds the results.
func newConfig(
	ctx context.Context, chatModel model.BaseChatModel, tools []tool.BaseTool, dir string,
) (*adk.ChatModelAgentConfig, error) {
	// region: readme
	search, err := toolsearch.New(ctx, toolsearch.Recommended(tools)) // remove tools from ToolsConfig
	if err != nil {
		return nil, err
	}
	results, err := store.NewDir(dir)
	if err != nil {
		return nil, err
	}
	reduce, err := reduction.New(ctx, reduction.Recommended(results)) // long and old results move to the store
	if err != nil {
		return nil, err
	}
	config := &adk.ChatModelAgentConfig{
		Name:     "assistant",
		Model:    chatModel,
		Handlers: []adk.ChatModelAgentMiddleware{search, reduce},
	}
	// end
	return config, nil
}

// run asks an agent one question, and prints its messages and what the middlewares saved.
func run(ctx context.Context, chatModel model.BaseChatModel) error {
	tools, err := library()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "quickstart") // in production a directory that stays
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config, err := newConfig(ctx, chatModel, tools, dir)
	if err != nil {
		return err
	}
	recorder := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "quickstart", nil }})
	config.Handlers = append(config.Handlers, recorder.Handler()) // records every model call
	agent, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		return err
	}

	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Will it rain in Turin on day 180?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			return event.Err
		}
		message, _, err := adk.GetMessage(event)
		if err != nil {
			return err
		}
		printMessage(message)
	}
	fmt.Println()
	return inspect.WriteText(os.Stdout, recorder.Conversation("quickstart"), inspect.TextOptions{Width: 100})
}

// printMessage prints the calls of a message and the first two lines of its text.
func printMessage(message *schema.Message) {
	for _, call := range message.ToolCalls {
		fmt.Println("=>", call.Function.Name, call.Function.Arguments)
	}
	if lines := strings.SplitN(message.Content, "\n", 3); lines[0] != "" {
		fmt.Println(strings.Join(lines[:min(2, len(lines))], "\n"))
	}
}

// library has a hundred tools that this question does not need, and one that it does.
func library() (tools []tool.BaseTool, err error) {
	for _, thing := range strings.Fields("mail event ticket invoice contact file task order report user") {
		for _, operation := range strings.Fields("create read list update delete share archive restore export rename") {
			t, err := utils.InferTool("office__"+operation+"_"+thing, "Can "+operation+" a "+thing+" of the office, by its id.",
				func(_ context.Context, in struct{ ID string }) (string, error) { return "done: " + in.ID, nil })
			if err != nil {
				return nil, err
			}
			tools = append(tools, t)
		}
	}
	weather, err := utils.InferTool("weather__forecast", "Forecasts the weather of a city for a year.", forecast)
	if err != nil {
		return nil, err
	}
	return append(tools, weather), nil
}

func forecast(_ context.Context, in struct{ City string }) (string, error) {
	var year strings.Builder // far more than a prompt should hold
	for hour := range 365 * 24 {
		day := hour / 24
		fmt.Fprintf(&year, "day %d, %02d:00 in %s: %s\n", day+1, hour%24, in.City, []string{"sun", "clouds", "rain"}[day%3])
	}
	return year.String(), nil
}
