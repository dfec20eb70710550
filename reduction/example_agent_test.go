// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// reader stands in for a chat model: it greps, reads the end of what it got, and
// answers.
func reader(r einoleantest.Request[*schema.Message]) einoleantest.Turn {
	switch last := r.Messages[len(r.Messages)-1]; last.ToolName {
	case "grep":
		fmt.Println("the result that the model sees:", len(last.Content), "bytes")
		return einoleantest.Call("read_file", `{"file_path":"/tmp/trunc/call_1","tail":1}`)
	case "read_file":
		return einoleantest.Say("It is used in " + strings.Split(last.Content, "\n")[2])
	}
	return einoleantest.Call("grep", `{"pattern":"match"}`)
}

type search struct {
	Pattern string `json:"pattern"`
}

// A whole agent with the middleware: a tool returns far more than the conversation
// should hold, the model sees where it is, and reads back what it needs.
func Example() {
	ctx := context.Background()
	grep, err := utils.InferTool("grep", "Searches all files.", func(context.Context, search) (string, error) {
		return strings.Repeat("main.go: a match\n", 500) + "util.go: the last match\n", nil
	})
	if err != nil {
		log.Fatal(err)
	}
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend:           store.NewMemory(0),
		MaxLengthForTrunc: 500,
		ProvideReadTool:   true,
	})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "assistant",
		Model:       einoleantest.Respond(reader),
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{grep}}},
		Handlers:    []adk.ChatModelAgentMiddleware{reduce},
	})
	if err != nil {
		log.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Where is it used last?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			log.Fatal(event.Err)
		}
		if m, err := event.Output.MessageOutput.GetMessage(); err == nil && m.Role == schema.Assistant && m.Content != "" {
			fmt.Println(m.Content)
		}
	}
	// Output:
	// the result that the model sees: 494 bytes
	// It is used in util.go: the last match
}
