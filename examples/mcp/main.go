// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command mcp runs an agent whose tools come from MCP servers: over stdio and streamable
// HTTP, hidden behind a search tool, each with its server's name as a prefix. A server that
// is down is reported and the others work; a server that changes its tools is picked up by
// the next run.
//
//	go run .                                   # two small servers of its own
//	go run . servers.json "What can you do?"   # yours
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leanctx/leanctx/examples/offline"
)

// stdioVariable makes the program an MCP server on stdio.
const stdioVariable = "LEANCTX_EXAMPLE_STDIO_SERVER"

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
	servers := Connect(ctx, config)
	defer servers.Close()
	if down := servers.Down(); down != nil {
		fmt.Fprintf(out, "not reachable:\n  %s\n", strings.ReplaceAll(down.Error(), "\n", "\n  "))
	}
	fmt.Fprintln(out, "tools:")
	for _, t := range servers.Tools() {
		info, _ := t.Info(ctx)
		fmt.Fprintf(out, "  %s\n", info.Name)
	}
	// Put your chat model here; this one follows rules and needs no network.
	agents := &Agents{Model: offline.New[*schema.Message](), Servers: servers}
	var history []*schema.Message
	for _, q := range questions {
		fmt.Fprintf(out, "\nuser: %s\n", q)
		before := len(history) + 1
		if history, err = agents.Ask(ctx, history, q); err != nil {
			return err
		}
		for _, m := range history[before:] {
			show(out, m)
		}
	}
	return nil
}

// choose takes the servers and questions of the command line, or the sample.
func choose(ctx context.Context, args []string) (Config, []string, error) {
	if len(args) == 0 {
		c, err := sampleConfig(ctx)
		return c, []string{`How many words are in "the quick brown fox"?`, "Which weekday is 2026-02-28?"}, err
	}
	c, err := readConfig(args[0])
	return c, args[1:], err
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
