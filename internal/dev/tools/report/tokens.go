// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
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
// before, and returns the tokens of each model call, by question.
func tokensOf(ctx context.Context, chat model.BaseChatModel, tools []tool.BaseTool, questions []string, handlers ...adk.ChatModelAgentMiddleware) ([][]float64, error) {
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
	var calls [][]float64
	for _, q := range questions {
		history = append(history, schema.UserMessage(q))
		out := adktest.Collect(runner.Run(ctx, history))
		if out.Err != nil {
			return nil, out.Err
		}
		history = append(history, out.Messages...)
		calls = append(calls, s.calls)
		s.calls = nil
	}
	return calls, nil
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
	return perQuestion(fmt.Sprintf("%d questions to an agent with %d tools", len(toolQuestions), len(tools)), "toolsearch", with, without), nil
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
		Backend: store.NewMemory(0), ProvideReadTool: true,
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
	return perCall("A conversation of 40 long tool results", "reduction", with[0], without[0])
}

// perQuestion shows what all model calls had cost when each question was answered. A run may
// need more calls than the other for the same questions; the notes say how many.
func perQuestion(title, middleware string, with, without [][]float64) figure {
	f := figure{title: title, subtitle: "tokens sent, added up; every model call counted, four bytes a token", xTitle: "question", format: tokens}
	for i := range with {
		f.x = append(f.x, float64(i+1))
	}
	for _, run := range []struct {
		name  string
		calls [][]float64
	}{{"without", without}, {"with " + middleware, with}} {
		calls, total := 0, 0.
		s := series{}
		for _, each := range run.calls {
			calls += len(each)
			for _, t := range each {
				total += t
			}
			s.values = append(s.values, total)
		}
		s.name, s.note = run.name, fmt.Sprintf("in %d calls", calls)
		f.series = append(f.series, s)
	}
	return f
}

// perCall shows what the model calls so far had cost. Both runs must have made the same number.
func perCall(title, middleware string, with, without []float64) (figure, error) {
	f := figure{title: title, subtitle: "tokens sent, added up; every model call counted, four bytes a token", xTitle: "model call", format: tokens}
	if len(with) != len(without) {
		return f, errors.New("the runs differ in length")
	}
	f.series = []series{{name: "without", values: sums(without)}, {name: "with " + middleware, values: sums(with)}}
	for i := range with {
		f.x = append(f.x, float64(i+1))
	}
	return f, nil
}

// sums adds up: element i is the sum of the first i+1.
func sums(v []float64) []float64 {
	out := slices.Clone(v)
	for i := 1; i < len(out); i++ {
		out[i] += out[i-1]
	}
	return out
}
