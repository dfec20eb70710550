// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package leanctxtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/reduction"
)

// A scripted model in an agent: the program decides each answer, and reads each request.
func ExampleScript() {
	ctx := context.Background()
	clock := leanctxtest.Tool("clock", "Tells the time.", func(context.Context, string) (string, error) { return "12:00", nil })
	m := leanctxtest.Script[*schema.Message](leanctxtest.Call("clock", `{}`), leanctxtest.Say("It is noon."))
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "guide", Description: "knows the time", Model: m,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{clock}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "What time is it?")
	for {
		if _, more := events.Next(); !more {
			break
		}
	}
	for _, r := range m.Requests() {
		fmt.Printf("%d messages, tools: %v\n", len(r.Messages), r.ToolNames())
	}
	// Output:
	// 1 messages, tools: [clock]
	// 3 messages, tools: [clock]
}

// A test of an agent: what it answers, what it costs, and that nothing is lost.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestReportsStayReadable(t *testing.T)
		store := reduction.NewMemoryBackend(0)
		reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: store, MaxLengthForTrunc: 2_000})
		if err != nil {
			t.Fatal(err)
		}
		report := leanctxtest.Tool("report", "Reports the day.", func(context.Context, string) (string, error) {
			return strings.Repeat("a line\n", 10_000), nil
		})
		out := leanctxtest.Run(t, &adk.ChatModelAgentConfig{
			Model:       leanctxtest.Script[*schema.Message](leanctxtest.Call("report", `{}`), leanctxtest.Say("All is well.")),
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{report}}},
			Handlers:    []adk.ChatModelAgentMiddleware{reduce},
		}, "How was the day?")
		if out.Answer != "All is well." {
			t.Error(out.Answer)
		}
		leanctxtest.RequireLean(t, out, leanctxtest.Max{Window: 2_000, Calls: 2})
		leanctxtest.RequireReadable(t, out, store)
	}
}

// A conversation with a real model is recorded once, with a key, and replayed for ever.
func ExampleReplay() {
	const file = "testdata/weather.jsonl"
	_ = func(t *testing.T, chatModel model.BaseChatModel, record bool) {
		cfg := &adk.ChatModelAgentConfig{Instruction: "You know the weather."}
		if record {
			rec := leanctxtest.Record[*schema.Message](chatModel)
			defer rec.Save(t, file)
			cfg.Model = rec
		} else {
			cfg.Model = leanctxtest.Replay[*schema.Message](t, file)
		}
		leanctxtest.Run(t, cfg, "Will it rain in Oslo?")
	}
}
