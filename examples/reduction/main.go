// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command reduction shows the reduction middleware at work: an agent whose tools
// return far more than a conversation can hold is asked about it over several
// runs. Long results are cut and old ones cleared, the model reads back what it
// needs, and in the end every original in the store is compared with what the
// tools returned.
//
// It needs no network and no key: the model is the rule-based one of package
// offline. Give newAgent the client of a real model to see that one do it.
package main

import (
	"context"
	"io/fs"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func main() {
	lab.Main("reduction", onGoRoot(run[*schema.Message]), onGoRoot(run[*schema.AgenticMessage]))
}

// newAgent makes the agent. All that reduction asks for is a Backend and the line
// with Handlers. The store may be any that Eino has; ProvideReadTool gives the
// model the tool that reads back, and OnEvent is for those who want to watch. For
// *schema.Message the same is written reduction.New and adk.NewChatModelAgent.
func newAgent[M adk.MessageType](ctx context.Context, chat model.BaseModel[M], tools []tool.BaseTool, kept reduction.Backend, watch func(context.Context, einolean.Event)) (*adk.TypedChatModelAgent[M], error) {
	reduce, err := reduction.NewTyped[M](ctx, &reduction.TypedConfig[M]{
		Backend:           kept,
		ProvideReadTool:   true,
		MaxTokensForClear: 19_000, // small enough to show clearing
		MinSavingBytes:    100,    // short results stay
		OnEvent:           watch,
	})
	if err != nil {
		return nil, err
	}
	return adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
		Handlers:    []adk.TypedChatModelAgentMiddleware[M]{reduce},
	})
}

// run has the conversation with both agents and prints what happened. It is an
// error if an answer is wrong, or an original is not in the store as it was.
func run[M adk.MessageType](ctx context.Context, screen *lab.Screen, files fs.FS, streaming bool) error {
	dir, err := os.MkdirTemp("", "einolean-reduction-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kept, err := store.NewDir(dir)
	if err != nil {
		return err
	}
	defer kept.Close()
	s, err := newScene[M](ctx, files, kept, streaming)
	if err != nil {
		return err
	}
	return s.play(ctx, screen, conversation(files), dir)
}
