// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/toolsearch"
)

// sizes are numbers of tools.
var sizes = []int{10, 20, 30, 50, 100}

// smaller prints the price of the one conversation for parts of the library, each of which
// holds the tools that the tasks need.
func (b *bench) smaller(ctx context.Context) error {
	some := []way{{"no middleware", nil}, {"Keyword", &toolsearch.Config{}}, {"SearchCall", &toolsearch.Config{Protocol: toolsearch.SearchCall}}, {"Recommended", toolsearch.Recommended(nil)}}
	fmt.Fprintf(b.out, "\nOne conversation over all tasks, with fewer tools: all tokens, and their price\n\n%5s", "tools")
	for _, w := range some {
		fmt.Fprintf(b.out, "  %24s", w.title)
	}
	fmt.Fprintln(b.out)
	for _, n := range sizes {
		tools, err := b.part(ctx, n)
		if err != nil {
			return err
		}
		part := *b
		part.tools = tools
		cells := make([]string, len(some))
		for i, w := range some {
			calls, err := part.solve(ctx, w, true)
			if err != nil {
				return fmt.Errorf("%s of %d tools: %w", w.title, n, err)
			}
			s := total(calls)
			cells[i] = fmt.Sprintf("  %12s %11s", tokens(s.all), lab.Thousands(s.price(b.cached)))
		}
		b.wrong = part.wrong
		fmt.Fprintf(b.out, "%5d%s\n", len(tools), strings.Join(cells, ""))
	}
	return nil
}

// part is a number of tools: those that were needed, and others from the whole library.
func (b *bench) part(ctx context.Context, n int) (out []tool.BaseTool, err error) {
	var others []tool.BaseTool
	for _, t := range b.tools {
		info, err := t.Info(ctx)
		if err != nil {
			return nil, err
		}
		if b.needed[info.Name] {
			out = append(out, t)
		} else {
			others = append(others, t)
		}
	}
	more := n - len(out)
	for i := range more {
		out = append(out, others[i*len(others)/more])
	}
	return out, nil
}
