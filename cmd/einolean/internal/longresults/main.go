// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command longresults has a model do tasks over long tool results, with the preset of package reduction, and prints
// which answers were right and what each task cost:
//
//	OPENAI_API_KEY=... go run ./internal/longresults -model gpt-5 -base-url https://api.openai.com/v1
//
// The tasks ask for facts that previews and the read tool must make reachable: failing tests, rows, ids, topics, the end
// of a text, exact copies. Everything is generated from a fixed seed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func main() {
	name := flag.String("model", "", "the model's name")
	url := flag.String("base-url", "", "where the API is")
	only := flag.String("task", "", "the only task to do")
	flag.Parse()
	ctx := context.Background()
	m, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{Model: *name, BaseURL: *url, APIKey: os.Getenv("OPENAI_API_KEY")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	right, calls, sent := 0, 0, 0
	for _, t := range tasks() {
		if *only != "" && t.name != *only {
			continue
		}
		r := do(ctx, m, t)
		fmt.Printf("%-12s right: %-5v calls: %2d  bytes sent: %7d  %s\n", t.name, r.right, r.calls, r.sent, r.problem)
		calls, sent = calls+r.calls, sent+r.sent
		if r.right {
			right++
		}
	}
	fmt.Printf("%d right, %d model calls, %d bytes sent\n", right, calls, sent)
}

// outcome is what became of a task.
type outcome struct {
	right       bool
	calls, sent int
	problem     string
}

// counter counts the requests to a model, and the bytes of their messages.
type counter struct {
	model.ToolCallingChatModel
	calls, sent *int
}

func (c counter) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	*c.calls++
	for _, m := range in {
		*c.sent += len(m.Content)
		for _, call := range m.ToolCalls {
			*c.sent += len(call.Function.Arguments)
		}
	}
	return c.ToolCallingChatModel.Generate(ctx, in, opts...)
}

func do(ctx context.Context, m model.ToolCallingChatModel, t task) (o outcome) {
	reduce, err := reduction.New(ctx, reduction.Recommended(store.NewMemory(1<<30)))
	if err != nil {
		return outcome{problem: err.Error()}
	}
	config := &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers questions", Instruction: "Answer briefly and exactly.",
		Model: counter{m, &o.calls, &o.sent}, Handlers: []adk.ChatModelAgentMiddleware{reduce}, MaxIterations: 20,
	}
	notes := &notebook{}
	config.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: append(sources(), notes)}}
	agent, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		return outcome{problem: err.Error()}
	}
	answer := ""
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, t.question)
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			o.problem = event.Err.Error()
			continue
		}
		if event.Output != nil && event.Output.MessageOutput != nil && event.Output.MessageOutput.Message != nil {
			answer = event.Output.MessageOutput.Message.Content
		}
	}
	text := answer + "\n" + notes.text
	o.right = o.problem == ""
	for _, want := range t.wants {
		if !strings.Contains(text, want) {
			o.right = false
			o.problem += fmt.Sprintf("missing: %q ", want)
		}
	}
	return o
}

// source is a tool without parameters that returns a long text.
type source struct{ name, desc, text string }

func (s source) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: s.desc, ParamsOneOf: schema.NewParamsOneOfByParams(nil)}, nil
}

func (s source) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return s.text, nil
}

// notebook is a tool that keeps a text.
type notebook struct{ text string }

func (n *notebook) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "save_note", Desc: "Saves a text as a note.", ParamsOneOf: schema.NewParamsOneOfByParams(
		map[string]*schema.ParameterInfo{"text": {Type: schema.String, Desc: "The text.", Required: true}},
	)}, nil
}

func (n *notebook) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	text, ok := textArgument(args)
	if !ok {
		return "", errors.New("the argument text is missing")
	}
	n.text += text
	return "saved", nil
}
