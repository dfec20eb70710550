// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/adk"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

var verbs = []string{"create", "list", "update", "delete", "send", "search", "export", "archive", "assign", "rename"}
var things = []string{"issue", "message", "file", "event", "invoice", "ticket", "user", "report", "channel", "page"}

// made is a catalogue of n tools.
func made(n int) []tool.BaseTool {
	tools := make([]tool.BaseTool, n)
	for i := range tools {
		verb, thing := verbs[i%10], things[i/10%10]
		tools[i] = adktest.Simple(fmt.Sprintf("server%d__%s_%s", i/100, verb, thing),
			fmt.Sprintf("Can %s one %s or several in workspace %d, with all fields.", verb, thing, i/100))
	}
	return tools
}

// searchTool is the tool that a middleware adds for searching.
func searchTool(ctx context.Context, m adk.ChatModelAgentMiddleware) (context.Context, tool.InvokableTool, error) {
	var rc einorun.RunContext
	ctx, err := einorun.Begin(ctx, m, &rc)
	if err != nil {
		return ctx, nil, err
	}
	for _, t := range rc.Tools {
		info, err := t.Info(ctx)
		if err != nil {
			return ctx, nil, err
		}
		if run, ok := t.(tool.InvokableTool); ok && info.Name == "tool_search" {
			return ctx, run, nil
		}
	}
	return ctx, nil, fmt.Errorf("%T adds no tool_search", m)
}

// searchCost measures a search by two words, Eino's and ours, in one process.
func searchCost(ctx context.Context) (figure, error) {
	f := figure{title: "Time of one search", subtitle: "two words, by the number of tools; both axes logarithmic", xTitle: "tools", log: true, format: micros}
	names := []string{"Eino v0.9.21", "einolean", "einolean, index.BM25"}
	for _, n := range names {
		f.series = append(f.series, series{name: n})
	}
	for _, n := range []int{10, 30, 100, 300, 1000, 3000, 10_000} {
		tools := made(n)
		f.x = append(f.x, float64(n))
		for i, build := range []func() (adk.ChatModelAgentMiddleware, error){
			func() (adk.ChatModelAgentMiddleware, error) {
				return einosearch.New(ctx, &einosearch.Config{DynamicTools: tools})
			},
			func() (adk.ChatModelAgentMiddleware, error) {
				return toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools})
			},
			func() (adk.ChatModelAgentMiddleware, error) {
				return toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools, NewIndex: index.BM25})
			},
		} {
			m, err := build()
			if err != nil {
				return f, err
			}
			took, err := searchTime(ctx, m)
			if err != nil {
				return f, err
			}
			f.series[i].values = append(f.series[i].values, took)
		}
	}
	return f, nil
}

func searchTime(ctx context.Context, m adk.ChatModelAgentMiddleware) (best float64, err error) {
	ctx, search, err := searchTool(ctx, m)
	if err != nil {
		return 0, err
	}
	const tries = 3 // the least disturbed one counts
	for range tries {
		result := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				if _, runErr := search.InvokableRun(ctx, `{"query":"create invoice"}`); runErr != nil {
					err = runErr
				}
			}
		})
		if t := float64(result.NsPerOp()) / 1000; best == 0 || t < best {
			best = t
		}
	}
	return best, err
}
