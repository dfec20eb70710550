// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/lab"
)

// bench runs every way over the same tasks.
type bench struct {
	tools  []tool.BaseTool
	cached float64 // price of a cached token
	out    io.Writer
	wrong  int
	needed map[string]bool // the tools that were called without the middleware
}

func (b *bench) heading() {
	questions := 0
	for _, t := range tasks {
		questions += len(t)
	}
	fmt.Fprintf(b.out, `%d tools, %d tasks with %d requests, an offline model. All figures are sums over all model calls, in
tokens: a quarter of the bytes. "cached" is the longest beginning of a request that an earlier request
has as well, in the order tools, system message, other messages; "new" is the rest. "price" assumes
that a cached token costs %.0f %% of a new one, and leaves out what the model writes.
`, len(b.tools), len(tasks), questions, 100*b.cached)
}

// sum is a line of a table, in bytes.
type sum struct {
	calls, definitions, all, cached int
}

// price is in tokens at the price of new ones.
func (s sum) price(cached float64) int {
	return int(float64(s.all-s.cached)/4 + cached*float64(s.cached)/4)
}

func (b *bench) table(ctx context.Context, title string, one bool) error {
	fmt.Fprintf(b.out, "\n%s\n\n", title)
	fmt.Fprintf(b.out, "%-29s %5s %11s %9s %9s %8s %8s %8s\n", "", "calls", "definitions", "all", "cached", "new", "price", "of none")
	plain := 0
	for _, w := range ways {
		calls, err := b.solve(ctx, w, one)
		if err != nil {
			return fmt.Errorf("%s: %w", w.title, err)
		}
		s := total(calls)
		if w.cfg == nil {
			plain = s.price(b.cached)
		}
		fmt.Fprintf(b.out, "%-29s %5d %11s %9s %9s %8s %8s %6.1f %%\n", w.title, s.calls, tokens(s.definitions), tokens(s.all),
			tokens(s.cached), lab.Thousands(s.all/4-s.cached/4), lab.Thousands(s.price(b.cached)), 100*float64(s.price(b.cached))/float64(max(plain, 1)))
	}
	return nil
}

// solve gives an agent the tasks, and checks its answers.
func (b *bench) solve(ctx context.Context, w way, one bool) ([]call, error) {
	m := newMeter()
	runner, err := newRunner(ctx, w, m, b.tools)
	if err != nil {
		return nil, err
	}
	var history []*schema.Message
	for _, t := range tasks {
		if !one {
			history = nil
		}
		for _, q := range t {
			if history, err = ask(ctx, runner, history, q.text); err != nil {
				return nil, err
			}
			if answer := history[len(history)-1].Content; !strings.Contains(answer, q.truth) {
				b.wrong++
				fmt.Fprintf(b.out, "WRONG: %s: %s should hold %s, not: %s\n", w.title, q.text, q.truth, answer)
			}
		}
	}
	if w.cfg == nil {
		b.note(history)
	}
	return m.calls, nil
}

func (b *bench) note(history []*schema.Message) {
	for _, m := range history {
		for _, c := range m.ToolCalls {
			b.needed[c.Function.Name] = true
		}
	}
}

func total(calls []call) sum {
	s := sum{calls: len(calls)}
	for _, c := range calls {
		s.definitions += c.definitions
		s.all += c.all
		s.cached += c.cached
	}
	return s
}

// tokens are a quarter of the bytes.
func tokens(bytes int) string { return lab.Thousands(bytes / 4) }
