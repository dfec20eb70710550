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
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/window"
	"github.com/leanctx/leanctx/window/inspect"
)

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
	// It stands in for your chat model: it searches for a tool and then answers.
	chatModel := leanctxtest.Script[*schema.Message](leanctxtest.Call("tool_search", `{"query":"weather city"}`), leanctxtest.Say("It is sunny."))

	see := window.New(window.Config{})
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{weather}, OnEvent: see.Event})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers", Model: chatModel,
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
