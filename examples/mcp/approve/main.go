// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command approve runs an agent that asks a person before a tool of an MCP server deletes
// or overwrites something: by what the server says about its tools, and Eino's interrupt and
// resume.
//
//	go run ./approve
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/mcptools"
)

func main() {
	n := newNotebook("milk", "bread")
	ctx := context.Background()
	servers, err := mcptools.Open(ctx, map[string]mcptools.Server{"notes": n.server()}, mcptools.Options{})
	if err == nil {
		defer servers.Close()
		err = servers.Wait(ctx)
	}
	if err == nil {
		// Put your chat model here; this one follows rules and needs no network.
		err = run(ctx, os.Stdin, os.Stdout, servers, offline.New[*schema.Message]())
	}
	fmt.Println("notes:", n.all())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run asks the agent to delete something, and the person whether it may.
func run(ctx context.Context, in io.Reader, out io.Writer, servers *mcptools.Servers, chat model.BaseChatModel) error {
	runner, err := newRunner(ctx, servers, chat, newStore())
	if err != nil {
		return err
	}
	const question, checkpoint = "Delete all notes", "conversation-1"
	fmt.Fprintln(out, "user:", question)
	answers := bufio.NewScanner(in)
	asks, err := follow(out, runner.Run(ctx, []*schema.Message{schema.UserMessage(question)}, adk.WithCheckPointID(checkpoint)))
	for err == nil && len(asks) > 0 {
		said := map[string]any{}
		for _, ask := range asks {
			fmt.Fprintf(out, "%v (yes/no) ", ask.Info)
			answers.Scan() // at the end of the input it is a no
			said[ask.ID] = strings.HasPrefix(strings.ToLower(strings.TrimSpace(answers.Text())), "y")
		}
		fmt.Fprintln(out)
		var events *adk.AsyncIterator[*adk.AgentEvent]
		if events, err = runner.ResumeWithParams(ctx, checkpoint, &adk.ResumeParams{Targets: said}); err == nil {
			asks, err = follow(out, events)
		}
	}
	return err
}

// newRunner makes an agent that asks. The run waits in store meanwhile, for as long as it takes.
func newRunner(ctx context.Context, servers *mcptools.Servers, chat model.BaseChatModel, store adk.CheckPointStore) (*adk.Runner, error) {
	search, err := toolsearch.New(ctx, &toolsearch.Config{Source: servers})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "keeps notes", Model: chat,
		Handlers: []adk.ChatModelAgentMiddleware{search, &Approval{Servers: servers}},
	})
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: store}), nil
}

// follow prints what happens, and returns what the run waits for.
func follow(out io.Writer, events *adk.AsyncIterator[*adk.AgentEvent]) (asks []*adk.InterruptCtx, err error) {
	for {
		event, ok := events.Next()
		if !ok {
			return asks, nil
		}
		if event.Err != nil {
			return nil, event.Err
		}
		if event.Action != nil && event.Action.Interrupted != nil {
			for _, c := range event.Action.Interrupted.InterruptContexts {
				if c.IsRootCause {
					asks = append(asks, c)
				}
			}
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		m, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return nil, err
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(out, "  call   %s %s\n", c.Function.Name, c.Function.Arguments)
		}
		if m.Content != "" {
			fmt.Fprintf(out, "%s: %s\n", m.Role, m.Content)
		}
	}
}
