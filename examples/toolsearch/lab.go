// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
)

type makeAgent[M adk.MessageType] func(context.Context, model.BaseModel[M], []tool.BaseTool) (*adk.TypedChatModelAgent[M], error)

// bench is an agent with a folder of its own.
type bench[M adk.MessageType] struct {
	*lab.Agent[M]
	root  string
	tools int // in its library
}

func (b *bench[M]) close() { _ = os.RemoveAll(b.root) }

// newBench gives an agent a model, the library and a folder to work in.
func newBench[M adk.MessageType](ctx context.Context, newAgent makeAgent[M], streaming bool) (*bench[M], error) {
	root, err := os.MkdirTemp("", "einolean-toolsearch-")
	if err != nil {
		return nil, err
	}
	b := &bench[M]{root: root}
	tools, err := library.Tools(root)
	if err == nil {
		b.tools = len(tools)
		b.Agent, err = lab.New(streaming, func(chat model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error) {
			return newAgent(ctx, chat, tools)
		})
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}
