// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command mcp runs an agent whose tools come from MCP servers: over stdio and streamable
// HTTP, hidden behind a search tool, each with its server's name as a prefix. A server that
// is down is reported and the others work.
//
//	go run .                              # two small servers of its own
//	go run . mcp.json "What can you do?"  # yours: the file of Claude Desktop, Cursor or VS Code
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch/mcptools"
)

// startLimit is how long the program waits for servers that are down.
const startLimit = time.Second

// stdioVariable makes the program an MCP server on stdio.
const stdioVariable = "EINOLEAN_EXAMPLE_STDIO_SERVER"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if os.Getenv(stdioVariable) != "" {
		return textServer().Run(ctx, &mcp.StdioTransport{})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config, questions, err := choose(ctx, args)
	if err != nil {
		return err
	}
	servers, err := mcptools.Open(ctx, config, mcptools.Options{})
	if err != nil {
		return err
	}
	defer servers.Close()
	// Wait for all servers, but not long: a run finds those that come later. A service does this in its readiness check.
	ready, done := context.WithTimeout(ctx, startLimit)
	defer done()
	if err := servers.Wait(ready); err != nil {
		fmt.Fprintln(out, err)
	}
	for _, s := range servers.Status() {
		fmt.Fprintf(out, "server %-8s %-5s %d tools\n", s.Server, s.State, s.Tools)
	}
	// Put your chat model here; this one follows rules and needs no network.
	runner, err := newRunner(ctx, servers, offline.New[*schema.Message]())
	if err != nil {
		return err
	}
	var history []*schema.Message
	for _, q := range questions {
		fmt.Fprintf(out, "\nuser: %s\n", q)
		history = append(history, schema.UserMessage(q))
		added, err := follow(out, runner.Run(ctx, history))
		if err != nil {
			return err
		}
		history = append(history, added...)
	}
	return nil
}

// follow prints what happens in a run, and returns the messages that it adds.
func follow(out io.Writer, events *adk.AsyncIterator[*adk.AgentEvent]) (added []*schema.Message, err error) {
	for {
		event, ok := events.Next()
		if !ok {
			return added, nil
		}
		if event.Err != nil {
			return added, event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		m, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return added, err
		}
		show(out, m)
		added = append(added, m)
	}
}

// choose takes the servers and questions of the command line, or the sample.
func choose(ctx context.Context, args []string) (map[string]mcptools.Server, []string, error) {
	if len(args) == 0 {
		config, err := sample(ctx)
		return config, []string{`How many words are in "the quick brown fox"?`, "Which weekday is 2026-02-28?"}, err
	}
	config, err := mcptools.ReadConfig(args[0])
	return config, args[1:], err
}

func show(out io.Writer, m *schema.Message) {
	for _, c := range m.ToolCalls {
		fmt.Fprintf(out, "  call   %s %s\n", c.Function.Name, c.Function.Arguments)
	}
	switch {
	case m.Role == schema.Tool:
		fmt.Fprintf(out, "  result %s\n", m.Content)
	case m.Content != "":
		fmt.Fprintf(out, "agent: %s\n", m.Content)
	}
}
