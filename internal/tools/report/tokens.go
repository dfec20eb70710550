// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file measures what goes to the model, call by call, with and without a middleware.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/examples/library"
	"github.com/leanctx/leanctx/examples/offline"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

// scale counts the tokens of each request that passes.
type scale struct {
	model.BaseChatModel
	calls []float64
}

func (s *scale) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	common := model.GetCommonOptions(&model.Options{}, opts...)
	text, definitions := offline.Cost(in, common.Tools)
	s.calls = append(s.calls, float64(text+definitions))
	return s.BaseChatModel.Generate(ctx, in, opts...)
}

// tokensOf runs an agent on one question after another, each with the history of those
// before, and returns the tokens of each model call.
func tokensOf(ctx context.Context, chat model.BaseChatModel, tools []tool.BaseTool, questions []string, handlers ...adk.ChatModelAgentMiddleware) ([]float64, error) {
	s := &scale{BaseChatModel: chat}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers with tools", Model: s, Handlers: handlers, MaxIterations: 100,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
	})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	var history []*schema.Message
	for _, q := range questions {
		history = append(history, schema.UserMessage(q))
		out := adktest.Collect(runner.Run(ctx, history))
		if out.Err != nil {
			return nil, out.Err
		}
		history = append(history, out.Messages...)
	}
	return s.calls, nil
}

var toolQuestions = []string{
	"What is the SHA-256 of \"leap\"?",
	"Convert 13.1 miles to kilometres.",
	"What is the median of 3, 9, 4, 1, 7?",
	"Which weekday is 2026-02-28?",
}

// toolTokens measures toolsearch on the library of the demo.
func toolTokens(ctx context.Context) (figure, error) {
	root, err := os.MkdirTemp("", "report")
	if err != nil {
		return figure{}, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	tools, err := library.Tools(root)
	if err != nil {
		return figure{}, err
	}
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools})
	if err != nil {
		return figure{}, err
	}
	chat := offline.New[*schema.Message]()
	with, err := tokensOf(ctx, chat, nil, toolQuestions, search)
	if err != nil {
		return figure{}, err
	}
	without, err := tokensOf(ctx, chat, tools, toolQuestions)
	if err != nil {
		return figure{}, err
	}
	return perCall(fmt.Sprintf("%d questions to an agent with %d tools", len(toolQuestions), len(tools)), "with toolsearch", with, without), nil
}

// resultTokens measures reduction on a conversation whose tools return much.
func resultTokens(ctx context.Context) (figure, error) {
	type args struct {
		Page int `json:"page" jsonschema:"description=which page"`
	}
	page, err := utils.InferTool("read_page", "Reads a page.", func(_ context.Context, a args) (string, error) {
		return strings.Repeat(fmt.Sprintf("page %d says little with many words. ", a.Page), 220*(1+a.Page%5)), nil
	})
	if err != nil {
		return figure{}, err
	}
	const pages = 40
	reader := func() model.BaseChatModel {
		return &adktest.Model[*schema.Message]{Respond: func(n int, _ adktest.Wire[*schema.Message]) adktest.Turn {
			if n == pages {
				return adktest.Say("all pages are read")
			}
			return adktest.Do(adktest.ToolCall{ID: fmt.Sprintf("page-%d", n), Name: "read_page", Args: fmt.Sprintf(`{"page":%d}`, n)})
		}}
	}
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend: reduction.NewMemoryBackend(0), ProvideReadTool: true,
		MaxLengthForTrunc: 20_000, MaxTokensForClear: 30_000, ClearTargetTokens: 15_000,
	})
	if err != nil {
		return figure{}, err
	}
	question := []string{"Read all pages."}
	with, err := tokensOf(ctx, reader(), []tool.BaseTool{page}, question, reduce)
	if err != nil {
		return figure{}, err
	}
	without, err := tokensOf(ctx, reader(), []tool.BaseTool{page}, question)
	if err != nil {
		return figure{}, err
	}
	if len(with) != len(without) {
		return figure{}, errors.New("the runs differ in length")
	}
	return perCall("A conversation of 40 long tool results", "with reduction", with, without), nil
}

func perCall(title, name string, with, without []float64) figure {
	f := figure{title: title, xTitle: "model call", yTitle: "tokens, estimated"}
	n := max(len(with), len(without))
	for i := range n {
		f.x = append(f.x, float64(i+1))
	}
	f.series = []series{{"without", padded(without, n)}, {name, padded(with, n)}}
	return f
}

// padded repeats the last value, for a run that needed fewer calls.
func padded(v []float64, n int) []float64 {
	for len(v) < n {
		v = append(v, v[len(v)-1])
	}
	return v
}
