// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command tokenizer gives package reduction a tokenizer to count with, and shows how far
// the default estimate is from it. Without a TokenCounter, reduction estimates within
// about a tenth and allocates nothing; a tokenizer is exact for one family of models
// and is a requirement of 16 MB.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tokenizer:", err)
		os.Exit(1)
	}
}

// results are what tools return.
var results = []struct{ tool, text string }{
	{"query", strings.Repeat(`{"id": 48213, "status": "shipped", "total": 118.50, "items": [{"sku": "A-119", "count": 2}]}`+"\n", 60)},
	{"checksum", strings.Repeat("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  notes.txt\n", 60)},
	{"read_log", strings.Repeat("2026-03-04T05:06:07.123Z WARN [4711] request_id=8f3a9c17 status=503 took=1290ms\n", 60)},
	{"translate", strings.Repeat("工具的结果会保存到存储中，模型只看到开头和结尾。\n", 60)},
	{"read_code", strings.Repeat("func (s *Store) Read(ctx context.Context, path string) ([]byte, error) {\n\treturn nil, ErrNotFound\n}\n", 60)},
}

// run clears a conversation at 9,000 tokens, once as a tokenizer counts and once as the
// default does.
func run(ctx context.Context, out io.Writer) error {
	exact, err := newCounter()
	if err != nil {
		return err
	}
	msgs := []*schema.Message{schema.UserMessage("What went wrong with order 48213?")}
	for i, r := range results {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: r.tool, Arguments: "{}"}}}),
			schema.ToolMessage(r.text, id))
	}
	for _, c := range []struct {
		name   string
		config reduction.Config
	}{{"tokenizer", reduction.Config{TokenCounter: exact.Count}}, {"default", reduction.Config{}}} {
		c.config.Backend, c.config.MaxTokensForClear = store.NewMemory(0), 9000
		c.config.OnEvent = func(_ context.Context, e einolean.Event) {
			if e.Pass != nil {
				fmt.Fprintf(out, "%-9s  %6d tokens before clearing, %5d after\n", c.name, e.Pass.Before, e.Pass.After)
			}
		}
		mw, err := reduction.New(ctx, &c.config)
		if err != nil {
			return err
		}
		if _, _, err := mw.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{Messages: msgs}, nil); err != nil {
			return err
		}
	}
	return nil
}
