// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command live is an agent for a real model: more than 200 tools behind a search tool, and
// long results kept out of the conversation. It speaks to any endpoint that has OpenAI's
// chat completions, and to Claude. Started without configuration it says what to set.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func main() {
	err := run(context.Background(), os.Getenv, os.Args[1:], os.Stdin, os.Stdout)
	if errors.Is(err, errNoModel) {
		fmt.Print(usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, env func(string) string, args []string, in io.Reader, out io.Writer) error {
	p, err := chooseProvider(ctx, env)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "live")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	status := &meter{}
	runner, err := newRunner(ctx, p, work, status)
	if err != nil {
		return err
	}
	chat := &chat{runner: runner, out: out, status: status}
	if len(args) > 0 {
		return chat.say(ctx, strings.Join(args, " "))
	}
	fmt.Fprintf(out, "%s, with tools over the folder %s. An empty line ends the conversation.\n", p.name, work)
	return chat.loop(ctx, in)
}

// newRunner is the part to copy.
func newRunner(ctx context.Context, p provider, work string, meter *meter) (*adk.Runner, error) {
	folder, results := filepath.Join(work, "files"), filepath.Join(work, "results")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	tools, err := library.Tools(folder)
	if err != nil {
		return nil, err
	}
	meter.all = len(tools) + 2 // with tool_search and the read tool
	for _, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			return nil, err
		}
		meter.full += definitions([]*schema.ToolInfo{info})
	}

	search, err := toolsearch.New(ctx, &toolsearch.Config{
		DynamicTools:       tools,
		NewIndex:           index.BM25,
		UseModelToolSearch: p.native,
		Model:              p.model,
	})
	if err != nil {
		return nil, err
	}
	files, err := store.NewDir(results)
	if err != nil {
		return nil, err
	}
	reduce, err := reduction.New(ctx, &reduction.Config{
		Backend:           files,
		ProvideReadTool:   true,
		MaxLengthForTrunc: 8_000,
		MaxTokensForClear: 30_000,
		ClearTargetTokens: 15_000,
		OnEvent:           meter.reduced,
	})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:          "assistant",
		Description:   "answers with tools",
		Instruction:   "You answer with the help of tools. Search for a tool rather than working something out by yourself.",
		Model:         p.model,
		MaxIterations: 50,
		Handlers:      []adk.ChatModelAgentMiddleware{search, reduce, meter},
	})
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true}), nil
}

// chat is a conversation.
type chat struct {
	runner  *adk.Runner
	out     io.Writer
	status  *meter
	history []*schema.Message
}

// loop reads lines until an empty one. An interrupt ends the answer, not the conversation.
func (c *chat) loop(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	for {
		fmt.Fprint(c.out, "\n> ")
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return lines.Err()
		}
		answering, stop := signal.NotifyContext(ctx, os.Interrupt)
		if err := c.say(answering, lines.Text()); err != nil {
			fmt.Fprintf(c.out, "\nerror: %v\n", err)
		}
		stop()
	}
}

// say runs the agent once. After an error the conversation is as it was before.
func (c *chat) say(ctx context.Context, text string) error {
	history := append(c.history[:len(c.history):len(c.history)], schema.UserMessage(text))
	events := c.runner.Run(ctx, history)
	for {
		event, ok := events.Next()
		c.status.flush(c.out)
		if !ok {
			c.history = history
			return nil
		}
		if event.Err != nil {
			return event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		message, err := c.show(event.Output.MessageOutput)
		if err != nil {
			return err
		}
		history = append(history, message)
	}
}

// show prints a message as it arrives and returns it whole.
func (c *chat) show(v *adk.MessageVariant) (*schema.Message, error) {
	message := v.Message
	if v.IsStreaming {
		var chunks []*schema.Message
		for {
			chunk, err := v.MessageStream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			if v.Role == schema.Assistant {
				fmt.Fprint(c.out, chunk.Content)
			}
			chunks = append(chunks, chunk)
		}
		var err error
		if message, err = schema.ConcatMessages(chunks); err != nil {
			return nil, err
		}
	} else if v.Role == schema.Assistant {
		fmt.Fprint(c.out, message.Content)
	}
	for _, call := range message.ToolCalls {
		fmt.Fprintf(c.out, "\n  %s %s", call.Function.Name, brief(call.Function.Arguments))
	}
	if message.Role == schema.Tool {
		fmt.Fprintf(c.out, "  = %s\n", brief(message.Content))
	}
	return message, nil
}

// brief is a text on one line of the screen.
func brief(s string) string {
	const most = 100
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}
