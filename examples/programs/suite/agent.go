// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The agent of a task, and the models that stand in for a real one.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/toolsearch"
)

type (
	request = einoleantest.Request[*schema.Message]
	script  = func(request) turn
)

// turn is what a model writes: calls, or an answer.
type turn struct {
	answer string
	calls  []call
}

type call struct{ tool, args string }

func callOf(tool string, args map[string]any) call {
	text, _ := json.Marshal(args)
	return call{tool, string(text)}
}

func (t turn) bytes() int {
	n := len(t.answer)
	for _, c := range t.calls {
		n += len(c.tool) + len(c.args)
	}
	return n
}

func (t turn) written() einoleantest.Turn {
	out := einoleantest.Say(t.answer)
	for _, c := range t.calls {
		out = out.And(c.tool, c.args)
	}
	return out
}

// writes is a model that searches for the tools of a task unless it has seen them, writes the
// program, and answers with what that printed.
func writes(t task) script {
	return func(r request) turn {
		if all := r.Results(); len(all) > 0 && all[len(all)-1].Tool == "run_code" {
			return turn{answer: answer(all[len(all)-1].Text)}
		}
		switch {
		case sees(r, t, "tools.%s("):
		case len(r.Results()) == 0:
			return search(t)
		default:
			return turn{answer: "I have no tools for this."}
		}
		return turn{calls: []call{callOf("run_code", map[string]any{"code": strings.TrimSpace(t.code)})}}
	}
}

// atOnce is a model that searches, makes the calls of each batch at once, and answers.
func atOnce(t task, batches []batch) script {
	n := -1
	return func(r request) (next turn) {
		if !sees(r, t, "%s") {
			return search(t)
		}
		if n++; n == len(batches) {
			return turn{answer: t.want}
		}
		for _, c := range batches[n] {
			next.calls = append(next.calls, callOf("call_tool", map[string]any{"name": c.Tool, "arguments": json.RawMessage(c.Arguments)}))
		}
		return next
	}
}

// oneByOne is a model that makes one call at a time.
func oneByOne(t task, batches []batch) script {
	var single []batch
	for _, c := range slices.Concat(batches...) {
		single = append(single, batch{c})
	}
	return atOnce(t, single)
}

// search asks for all tools that a task needs, each in its own words.
func search(t task) (next turn) {
	for _, query := range t.queries {
		next.calls = append(next.calls, callOf("tool_search", map[string]any{"query": query, "max_results": 3}))
	}
	return next
}

// sees reports whether the conversation shows all tools of a task, in a form.
func sees(r request, t task, form string) bool {
	var shown strings.Builder
	for i, m := range r.Messages {
		if i > 0 && m.Role != schema.Assistant { // the first is the list of names
			shown.WriteString(m.Content)
		}
	}
	return !slices.ContainsFunc(t.tools, func(name string) bool { return !strings.Contains(shown.String(), fmt.Sprintf(form, name)) })
}

const mostCalls = 120 // of a model in a run

// do has an agent do a task. An error is that of the agent; what is wrong with the answer is part
// of the cost.
func do(ctx context.Context, t task, a arm, in programs.Interpreter, turns script) (c cost, err error) {
	root, err := os.MkdirTemp("", "suite-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(root)
	if err := writeFiles(root); err != nil {
		return c, err
	}
	model := einoleantest.Respond(func(r request) einoleantest.Turn {
		next := turns(r)
		c.written += next.bytes()
		return next.written()
	})
	b := bench{root, a, in, model, &approvals{}, checkpoints{}}
	said, err := b.ask(ctx, t.question)
	if err != nil {
		return c, err
	}
	for _, r := range model.Requests() {
		text, _ := offline.Request(r.Messages, r.Tools)
		c.calls, c.sent = c.calls+1, c.sent+len(text)
	}
	c.asked = b.desk.asked
	switch c.wrong = done(root, t.name); {
	case said != t.want:
		c.wrong = fmt.Sprintf("the answer is %q, not %q", said, t.want)
	case c.asked == 0 && slices.Contains(t.tools, "files__delete"):
		c.wrong = "nobody was asked before a file was deleted"
	}
	return c, nil
}

// bench is what the agents of a task share.
type bench struct {
	root  string
	arm   arm
	in    programs.Interpreter
	model *einoleantest.Model[*schema.Message]
	desk  *approvals
	store checkpoints
}

func (b bench) runner(ctx context.Context) (*adk.Runner, error) {
	tools, err := library.Tools(b.root)
	if err != nil {
		return nil, err
	}
	cfg := toolsearch.Recommended(tools)
	cfg.Protocol, cfg.Prefetch = toolsearch.SearchCall, b.arm.prefetch
	var handlers []adk.ChatModelAgentMiddleware
	if b.arm.turns == nil {
		first, err := programs.New(ctx, &programs.Config{Interpreter: b.in, MaxIterations: mostCalls})
		if err != nil {
			return nil, err
		}
		handlers = append(handlers, first)
	}
	search, err := toolsearch.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers with tools", Model: b.model, MaxIterations: mostCalls,
		Handlers: append(handlers, search, b.desk),
	})
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: b.store}), nil
}

// ask asks a question, says yes to whatever a person is asked, each time with an agent that
// knows nothing of the one before, and returns the answer.
func (b bench) ask(ctx context.Context, question string) (said string, err error) {
	runner, err := b.runner(ctx)
	if err != nil {
		return "", err
	}
	events := runner.Query(ctx, question, adk.WithCheckPointID("run"))
	for {
		asked := ""
		for e, ok := events.Next(); ok; e, ok = events.Next() {
			if e.Err != nil {
				return "", e.Err
			}
			if e.Action != nil && e.Action.Interrupted != nil {
				asked = e.Action.Interrupted.InterruptContexts[0].ID
			}
			if e.Output != nil && e.Output.MessageOutput != nil && e.Output.MessageOutput.Message != nil {
				said = e.Output.MessageOutput.Message.Content
			}
		}
		if asked == "" {
			return said, nil
		}
		if runner, err = b.runner(ctx); err != nil {
			return "", err
		}
		if events, err = runner.ResumeWithParams(ctx, "run", &adk.ResumeParams{Targets: map[string]any{asked: "yes"}}); err != nil {
			return "", err
		}
	}
}

// approvals asks a person before a file is deleted. It knows tools by their names.
type approvals struct {
	adk.BaseChatModelAgentMiddleware
	mu    sync.Mutex
	asked int
}

// WrapInvokableToolCall asks.
func (a *approvals) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, t *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	if t.Name != "files__delete" {
		return next, nil
	}
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.asked++
			return "", tool.Interrupt(ctx, "run files__delete "+args+"?")
		}
		return next(ctx, args, opts...)
	}, nil
}

// checkpoints keeps them in memory.
type checkpoints map[string][]byte

// Get implements adk.CheckPointStore.
func (m checkpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	b, ok := m[id]
	return b, ok, nil
}

// Set implements adk.CheckPointStore.
func (m checkpoints) Set(_ context.Context, id string, b []byte) error { m[id] = b; return nil }
