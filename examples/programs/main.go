// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command programs runs a task of fifty tool calls, offline and without a key: with calls of the
// model, and with one program that makes them. Then a program waits for a person, and goes on in
// an agent that knows nothing of the first one. In the end there is a task for which a program is
// the wrong choice.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "programs  An agent whose model writes a program that calls tools, and reads what it prints. The calls")
	fmt.Fprintln(out, "          are ordinary calls of the agent. A token is taken to be 4 bytes.")
	fmt.Fprintln(out, "\n  question How many orders of customers 0 to 49 exceed 490? (50 calls that return 9 KB each)")
	err := compare(ctx, out, []way{
		{"calls, one by one", false, calls(50, 1)},
		{"calls, all at once", false, calls(50, 50)},
		{"a program", true, program(fanOut)},
	})
	if err == nil {
		err = approval(ctx, out)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\n  question How many stores are there? (one call that returns 13 bytes: nothing for a program)")
	return compare(ctx, out, []way{
		{"a call", false, []einoleantest.Turn{
			einoleantest.Call("tool_search", `{"query":"number of stores"}`), einoleantest.Call("call_tool", `{"name":"count_stores","arguments":{}}`), einoleantest.Say("12.")}},
		{"a program", true, program("print(await tools.count_stores())")},
	})
}

// way is an agent, with programs or without, and what its model does.
type way struct {
	name  string
	runs  bool
	turns []einoleantest.Turn
}

// compare does a task in each way, and prints what the model was sent.
func compare(ctx context.Context, out io.Writer, ways []way) error {
	fmt.Fprintln(out)
	for _, w := range ways {
		model := einoleantest.Script[*schema.Message](w.turns...)
		runner, err := newRunner(ctx, w.runs, model, nil)
		if err != nil {
			return err
		}
		if _, err := last(runner.Query(ctx, "Please do the task.")); err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-24s %3d model calls %12s tokens\n", w.name, len(model.Requests()), lab.Thousands(sent(model)))
		if messages := model.Requests()[len(model.Requests())-1].Messages; w.runs {
			fmt.Fprintf(out, "  its answer               %s\n", strings.ReplaceAll(messages[len(messages)-1].Content, "\n", "  "))
		}
	}
	return nil
}

// fanOut is what a model writes for the task.
const fanOut = `const pages = await Promise.all(Array.from({length: 50}, (_, customer) => tools.list_orders({customer})));
print(pages.flat().filter(o => o.total > 490).length)`

// refunds is a program that a person must approve in the middle.
const refunds = `const orders = await tools.list_orders({customer: 7});
const late = orders.filter(o => o.total > 480);
print(late.length, await tools.refund({customer: 7, orders: late.length}))`

// program is a model that searches, runs a program, and answers.
func program(code string) []einoleantest.Turn {
	args, _ := json.Marshal(map[string]string{"code": code})
	return []einoleantest.Turn{einoleantest.Call("tool_search", `{"query":"orders of a customer, refund"}`), einoleantest.Call("run_code", string(args)), einoleantest.Say("Done.")}
}

// calls is a model that searches, asks for the orders of so many customers, some of them at once,
// and answers.
func calls(customers, atOnce int) []einoleantest.Turn {
	turns := []einoleantest.Turn{einoleantest.Call("tool_search", `{"query":"orders of a customer"}`)}
	for customer := 0; customer < customers; {
		var turn einoleantest.Turn
		for range atOnce {
			turn = turn.And("call_tool", fmt.Sprintf(`{"name":"list_orders","arguments":{"customer":%d}}`, customer))
			customer++
		}
		turns = append(turns, turn)
	}
	return append(turns, einoleantest.Say("Done."))
}

// approval runs a program whose second call asks a person, and answers in another agent.
func approval(ctx context.Context, out io.Writer) error {
	checkpoints := memory{}
	first, err := newRunner(ctx, true, einoleantest.Script[*schema.Message](program(refunds)...), checkpoints)
	if err != nil {
		return err
	}
	asked, err := last(first.Query(ctx, "Refund customer 7.", adk.WithCheckPointID("run")))
	if err != nil || asked.Action == nil || asked.Action.Interrupted == nil {
		return fmt.Errorf("the program did not ask: %v", err)
	}
	question := asked.Action.Interrupted.InterruptContexts[0]
	fmt.Fprintf(out, "\n  question Refund the late orders of customer 7. (a person must approve)\n\n  the program asks         %v\n", question.Info)
	model := einoleantest.Script[*schema.Message](einoleantest.Say("Done."))
	second, err := newRunner(ctx, true, model, checkpoints) // as after a restart
	if err != nil {
		return err
	}
	events, err := second.ResumeWithParams(ctx, "run", &adk.ResumeParams{Targets: map[string]any{question.ID: "yes"}})
	if err != nil {
		return err
	}
	if _, err := last(events); err != nil {
		return err
	}
	messages := model.Requests()[0].Messages
	fmt.Fprintf(out, "  approved after a restart %s\n", strings.ReplaceAll(messages[len(messages)-1].Content, "\n", "  "))
	return nil
}

// newRunner makes an agent whose tools are hidden, with programs or without.
func newRunner(ctx context.Context, runs bool, model *einoleantest.Model[*schema.Message], store adk.CheckPointStore) (*adk.Runner, error) {
	tools, err := shop()
	if err != nil {
		return nil, err
	}
	var handlers []adk.ChatModelAgentMiddleware
	if runs {
		first, err := programs.New(ctx, &programs.Config{Interpreter: javascript.New(javascript.Limits{}), MaxIterations: 60}) // as the agent's
		if err != nil {
			return nil, err
		}
		handlers = append(handlers, first)
	}
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools, Protocol: toolsearch.SearchCall, NewIndex: index.BM25})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "shop", Description: "Answers questions about orders", Model: model, MaxIterations: 60,
		Handlers: append(handlers, search),
	})
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: store}), nil
}

// of is what the tools take.
type of struct {
	Customer int `json:"customer"`
	Orders   int `json:"orders,omitempty"`
}

type order struct {
	ID    int    `json:"id"`
	Total int    `json:"total"`
	Note  string `json:"note"`
}

// shop are three tools: one lists 100 orders, one asks a person before it refunds, and one counts.
func shop() ([]tool.BaseTool, error) {
	list, err := utils.InferTool("list_orders", "The orders of a customer", func(_ context.Context, in of) (orders []order, _ error) {
		for i := range 100 {
			orders = append(orders, order{i, (i*37 + in.Customer*11) % 500, "no special note here, move along, nothing to see at all"})
		}
		return orders, nil
	})
	if err != nil {
		return nil, err
	}
	refund, err := utils.InferTool("refund", "Refunds orders of a customer", func(ctx context.Context, in of) (string, error) {
		asked, _, _ := tool.GetInterruptState[any](ctx)
		if answered, _, _ := tool.GetResumeContext[any](ctx); !asked || !answered {
			return "", tool.Interrupt(ctx, fmt.Sprintf("refund %d orders of customer %d?", in.Orders, in.Customer))
		}
		return fmt.Sprintf("%d orders refunded", in.Orders), nil
	})
	if err != nil {
		return nil, err
	}
	stores, err := utils.InferTool("count_stores", "The number of stores", func(context.Context, struct{}) (map[string]int, error) {
		return map[string]int{"stores": 12}, nil
	})
	return []tool.BaseTool{list, refund, stores}, err
}

// last reads a run to its end and returns its last event.
func last(events *adk.AsyncIterator[*adk.AgentEvent]) (e *adk.AgentEvent, err error) {
	for {
		next, ok := events.Next()
		if !ok {
			return e, err
		}
		if e = next; e.Err != nil {
			err = e.Err
		}
	}
}

// sent is about how many tokens a model was sent, definitions of tools included, at four bytes each.
func sent(model *einoleantest.Model[*schema.Message]) (tokens int) {
	for _, r := range model.Requests() {
		text, _ := offline.Request(r.Messages, r.Tools)
		tokens += len(text) / 4
	}
	return tokens
}

// memory keeps checkpoints.
type memory map[string][]byte

func (m memory) Get(_ context.Context, id string) ([]byte, bool, error) {
	b, ok := m[id]
	return b, ok, nil
}
func (m memory) Set(_ context.Context, id string, b []byte) error { m[id] = b; return nil }

var _ compose.CheckPointStore = memory{}
