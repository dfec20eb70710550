// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/programs"
)

// engine stands in for javascript.New(javascript.Limits{}) of the module programs/javascript.
type engine struct{}

// Start ends each program at once.
func (engine) Start(context.Context, programs.Program) (programs.Run, error) { return engine{}, nil }

func (engine) State() programs.State { return programs.State{Printed: "2"} }

func (engine) Resume(context.Context, []programs.Result) error { return nil }

func (engine) Close() {}

// Programs that call the agent's tools. The handler stands first, before toolsearch and reduction.
func ExampleNew() {
	ctx := context.Background()
	runs, err := programs.New(ctx, &programs.Config{Interpreter: engine{}, MaxIterations: 40})
	if err != nil {
		panic(err)
	}
	model := einoleantest.Script[*schema.Message](einoleantest.Call("run_code", `{"code": "print(1 + 1)"}`), einoleantest.Say("It is 2."))
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: model, MaxIterations: 40, Handlers: []adk.ChatModelAgentMiddleware{runs}})
	if err != nil {
		panic(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "What is 1 + 1?")
	for _, ok := events.Next(); ok; _, ok = events.Next() {
	}
	last := model.Requests()[1].Messages
	fmt.Println(last[len(last)-1].Content)
	// Output:
	// 2
}

// Programs in an agent on *schema.AgenticMessage.
func ExampleNewTyped() {
	runs, err := programs.NewTyped[*schema.AgenticMessage](context.Background(), &programs.Config{Interpreter: engine{}})
	fmt.Println(runs != nil, err)
	// Output: true <nil>
}
