// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command protocols solves the same tasks with every protocol of toolsearch, and
// shows what each costs: in model calls, in tokens, and in what the provider's
// prompt cache can still use.
//
// It needs no network and no key: the model is the rule-based one of package offline.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func main() {
	cached := flag.Float64("cached", 0.1, "price of a cached input token, as a part of the price of a new one")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *cached); err != nil {
		fmt.Fprintln(os.Stderr, "protocols:", err)
		os.Exit(1)
	}
}

// way is one configuration under test; a nil one means no middleware.
type way struct {
	title string
	cfg   *toolsearch.Config
}

var ways = []way{
	{"no middleware", nil},
	{"Keyword", &toolsearch.Config{}},
	{"Keyword, CatalogLimit 50", &toolsearch.Config{CatalogLimit: 50}},
	{"Keyword, MaxResults 2", &toolsearch.Config{MaxResults: 2}},
	{"Keyword, UnloadAfter 3", &toolsearch.Config{UnloadAfter: 3}},
	{"Keyword, Prefetch 3", &toolsearch.Config{Prefetch: 3, NewIndex: index.BM25}},
	{"  and CatalogLimit 50", &toolsearch.Config{Prefetch: 3, CatalogLimit: 50, NewIndex: index.BM25}},
	{"Recommended", toolsearch.Recommended(nil)},
	{"Regexp", &toolsearch.Config{Protocol: toolsearch.Regexp}},
	{"Regexp, CatalogLimit 50", &toolsearch.Config{Protocol: toolsearch.Regexp, CatalogLimit: 50}},
	{"SearchLoad", &toolsearch.Config{Protocol: toolsearch.SearchLoad}},
	{"SearchLoad, CatalogLimit 50", &toolsearch.Config{Protocol: toolsearch.SearchLoad, CatalogLimit: 50}},
	{"SearchCall", &toolsearch.Config{Protocol: toolsearch.SearchCall}},
	{"SearchCall, CatalogLimit 50", &toolsearch.Config{Protocol: toolsearch.SearchCall, CatalogLimit: 50}},
	{"  and Prefetch 3", &toolsearch.Config{Protocol: toolsearch.SearchCall, CatalogLimit: 50, Prefetch: 3, NewIndex: index.BM25}},
}

// newRunner makes the agent, with the tools behind the middleware or in full.
func newRunner(ctx context.Context, w way, m *meter, tools []tool.BaseTool) (*adk.Runner, error) {
	cfg := &adk.ChatModelAgentConfig{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       m,
	}
	if w.cfg == nil {
		cfg.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}}
	} else {
		searching := *w.cfg
		searching.DynamicTools = tools
		search, err := toolsearch.New(ctx, &searching)
		if err != nil {
			return nil, err
		}
		cfg.Handlers = []adk.ChatModelAgentMiddleware{search}
	}
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}), nil
}

// run measures every way and prints the tables. It is an error if an answer is wrong.
func run(ctx context.Context, out io.Writer, cached float64) error {
	root, err := os.MkdirTemp("", "einolean-protocols-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	tools, err := library.Tools(root)
	if err != nil {
		return err
	}
	b := bench{tools: tools, cached: cached, out: out, needed: map[string]bool{}}
	b.heading()
	if err := b.table(ctx, "Each task is a conversation of its own", false); err != nil {
		return err
	}
	if err := b.table(ctx, "One conversation over all tasks", true); err != nil {
		return err
	}
	if err := b.smaller(ctx); err != nil {
		return err
	}
	if b.wrong > 0 {
		return fmt.Errorf("%d answers are wrong", b.wrong)
	}
	fmt.Fprintln(out, "\nEvery answer is right.")
	return nil
}

// ask runs the agent on a history and a new request, and returns the history with what was said.
func ask(ctx context.Context, runner *adk.Runner, history []*schema.Message, request string) ([]*schema.Message, error) {
	said := append(history, offline.User[*schema.Message](request))
	more, err := lab.Collect(runner.Run(ctx, said))
	return append(said, more...), err
}
