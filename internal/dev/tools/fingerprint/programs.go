// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Random programs that call tools in batches.

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/toolsearch"
)

func programsRun(ctx context.Context, g *rand.Rand, out, errs io.Writer) {
	if g.IntN(2) == 0 {
		runPrograms[*schema.Message](ctx, g, out, errs)
	} else {
		runPrograms[*schema.AgenticMessage](ctx, g, out, errs)
	}
}

func runPrograms[M adk.MessageType](ctx context.Context, g *rand.Rand, out, errs io.Writer) {
	c := &conversation[M]{g: g, behavior: out, errs: errs}
	in := programtest.Programs{}
	turn := adktest.Turn{}
	for n := range 1 + g.IntN(3) {
		code := fmt.Sprintf("program %d", n)
		in[code] = randomProgram(g)
		args := fmt.Sprintf(`{"code":%q}`, code)
		turn.Calls = append(turn.Calls, adktest.ToolCall{ID: fmt.Sprintf("c%d", n), Name: "run_code", Args: args})
	}
	handler, err := programs.NewTyped[M](ctx, &programs.Config{Interpreter: in, MaxIterations: 100, OnEvent: c.record})
	if err != nil {
		fmt.Fprintln(errs, err)
		return
	}
	handlers := adktest.Handlers(handler)
	if g.IntN(2) == 0 {
		search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("hidden", "Hides")}})
		if err != nil {
			fmt.Fprintln(errs, err)
			return
		}
		handlers = append(handlers, search)
	}
	a := adktest.Agent[M]{
		Model: adktest.Script[M](turn), Tools: programTools(), Handlers: handlers,
		Streaming: g.IntN(2) == 0, Store: &adktest.Store{}, Max: 100,
	}
	for _, m := range c.runTurn(ctx, a, []M{adktest.User[M]("work")}) {
		writeJSON(out, m)
	}
	for n, w := range a.Model.Wires() {
		c.writeRequest(n, w)
	}
	c.writeEvents()
}

// programTools are echo, which answers its arguments, and approve, which interrupts the run once.
func programTools() []tool.BaseTool {
	return []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "echo", Desc: "Echoes."}, adktest.Echo),
		adktest.Tool(adktest.Streamable, &schema.ToolInfo{Name: "approve", Desc: "Asks."}, func(ctx context.Context, args string) (string, error) {
			if was, _, _ := tool.GetInterruptState[any](ctx); !was {
				return "", tool.Interrupt(ctx, "approve?")
			}
			return "approved " + args, nil
		}),
	}
}

// randomProgram makes a few batches of calls and prints what they answer.
func randomProgram(g *rand.Rand) func(*programtest.Program) {
	var batches [][]string
	for range g.IntN(5) {
		var batch []string
		for range 1 + g.IntN(3) {
			name := []string{"echo", "echo", "echo", "approve", "unknown", "hidden"}[g.IntN(6)]
			batch = append(batch, fmt.Sprintf(`%s {"n":%d}`, name, g.IntN(100)))
		}
		batches = append(batches, batch)
	}
	return func(p *programtest.Program) {
		for _, b := range batches {
			for _, r := range p.Call(b...) {
				p.Print(r.Failed, r.Text)
			}
		}
	}
}
