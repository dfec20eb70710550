// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command both shows the two middlewares in one agent, over a long conversation:
// toolsearch hides a library of tools, reduction takes large and old results out.
// Tools that were found stay loaded while results are cleared around them. The
// same conversation is had with both, with each one alone, and with none.
//
// It needs no network and no key: the model is the rule-based one of package
// offline. Give newAgent the client of a real model to see that one do it.
package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

func main() {
	page := flag.String("page", filepath.Join(os.TempDir(), "einolean-window.html"), "the file to write the page of the window into")
	lab.Main("both",
		func(ctx context.Context, screen *lab.Screen, streaming bool) error {
			return run[*schema.Message](ctx, screen, streaming, *page)
		},
		func(ctx context.Context, screen *lab.Screen, streaming bool) error {
			return run[*schema.AgenticMessage](ctx, screen, streaming, *page)
		})
}

// parts says which of the middlewares an agent has.
type parts struct {
	search, reduce bool
	store          reduction.Backend
	watch          func(context.Context, einolean.Event)
	see            *window.Collector // if nil, nobody looks at the window
}

// newAgent makes the agent. The middlewares know nothing of each other: reduction
// leaves the answers of tool_search alone, and toolsearch sees in them, and in the
// calls, which tools are loaded.
func newAgent[M adk.MessageType](ctx context.Context, chat model.BaseModel[M], tools []tool.BaseTool, use parts) (*adk.TypedChatModelAgent[M], error) {
	config := &adk.TypedChatModelAgentConfig[M]{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       chat,
	}
	if use.search {
		search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools, OnEvent: use.watch})
		if err != nil {
			return nil, err
		}
		config.Handlers = append(config.Handlers, search)
	} else {
		config.ToolsConfig.Tools = tools
	}
	if use.reduce {
		reduce, err := reduction.NewTyped[M](ctx, &reduction.TypedConfig[M]{
			Backend:           use.store,
			ProvideReadTool:   true,
			MaxLengthForTrunc: 20_000, // both limits are small, to show cutting and clearing
			MaxTokensForClear: 9_500,
			OnEvent:           use.watch,
		})
		if err != nil {
			return nil, err
		}
		config.Handlers = append(config.Handlers, reduce)
	}
	if use.see != nil {
		config.Handlers = append(config.Handlers, window.HandlerFor[M](use.see)) // last, to see what the others send
	}
	return adk.NewTypedChatModelAgent(ctx, config)
}
