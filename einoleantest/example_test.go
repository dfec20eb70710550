// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// A scripted model in an agent: the program decides each answer, and reads each request.
func ExampleScript() {
	ctx := context.Background()
	clock := einoleantest.Tool("clock", "Tells the time.", func(context.Context, string) (string, error) { return "12:00", nil })
	m := einoleantest.Script[*schema.Message](einoleantest.Call("clock", `{}`), einoleantest.Say("It is noon."))
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
		files := store.NewMemory(0)
		reduce, err := reduction.New(t.Context(), &reduction.Config{Backend: files, MaxLengthForTrunc: 2_000})
		if err != nil {
			t.Fatal(err)
		}
		report := einoleantest.Tool("report", "Reports the day.", func(context.Context, string) (string, error) {
			return strings.Repeat("a line\n", 10_000), nil
		})
		out := einoleantest.Run(t, &adk.ChatModelAgentConfig{
			Model:       einoleantest.Script[*schema.Message](einoleantest.Call("report", `{}`), einoleantest.Say("All is well.")),
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{report}}},
			Handlers:    []adk.ChatModelAgentMiddleware{reduce},
		}, "How was the day?")
		if out.Answer != "All is well." {
			t.Error(out.Answer)
		}
		einoleantest.RequireLean(t, out, einoleantest.Max{Window: 2_000, Calls: 2})
		einoleantest.RequireReadable(t, out, files)
	}
}

// A conversation with a real model is recorded once, with a key, and replayed for ever.
func ExampleReplay() {
	const file = "testdata/weather.jsonl"
	_ = func(t *testing.T, chatModel model.BaseChatModel, record bool) {
		cfg := &adk.ChatModelAgentConfig{Instruction: "You know the weather."}
		if record {
			rec := einoleantest.Record[*schema.Message](chatModel)
			defer rec.Save(t, file)
			cfg.Model = rec
		} else {
			cfg.Model = einoleantest.Replay[*schema.Message](t, file)
		}
		einoleantest.Run(t, cfg, "Will it rain in Oslo?")
	}
}

// A conversation of two runs: the second is streamed, sees the first, and may end with an error.
func ExampleOption() {
	_ = func(t *testing.T) {
		cfg := &adk.ChatModelAgentConfig{Model: einoleantest.Script[*schema.Message](
			einoleantest.Say("It is noon."), einoleantest.Fail(errors.New("the provider is down")))}
		first := einoleantest.Run(t, cfg, "What time is it?")
		soon, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		second := einoleantest.Run(t, cfg, "And now?", einoleantest.After(first.Messages...),
			einoleantest.Streaming(), einoleantest.WithContext(soon), einoleantest.MayFail())
		if second.Err == nil {
			t.Error("the run went on without a model")
		}
	}
}

// A model that answers what it is asked, for agents that do not take one path only.
func ExampleRespond() {
	m := einoleantest.Respond(func(r einoleantest.Request[*schema.Message]) einoleantest.Turn {
		if len(r.Results()) == 0 {
			return einoleantest.Call("clock", `{}`)
		}
		return einoleantest.Say("It is " + r.Results()[0].Text + ".")
	})
	answer, err := m.Generate(context.Background(), []*schema.Message{schema.UserMessage("What time is it?")})
	fmt.Println(answer.ToolCalls[0].Function.Name, err)
	// Output: clock <nil>
}

// The test of a store of your own.
func ExampleTestBackend() {
	_ = func(t *testing.T) { // func TestMyStore(t *testing.T)
		einoleantest.TestBackend(t, func(t *testing.T) reduction.Backend {
			files, err := store.NewDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return files
		})
	}
}

// The test of an interpreter of your own.
func ExampleTestInterpreter() {
	_ = func(t *testing.T, mine programs.Interpreter) { // func TestMyInterpreter(t *testing.T)
		einoleantest.TestInterpreter(t, func(*testing.T) programs.Interpreter { return mine })
	}
}
