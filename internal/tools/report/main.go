// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command report measures both middlewares and draws what it measured into docs/img:
// tokens with and without each, recall per index and kind of query, and the cost of a search
// against the number of tools, Eino's and ours. It gives agents with other policies the
// same tasks, and writes what each cost into docs/benchmarks.md. It reads nothing outside
// the repository.
//
//	go run . [-out ../../../docs/img] [-tables]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", filepath.Join("..", "..", "..", "docs", "img"), "where the pictures go")
	only := flag.Bool("tables", false, "write the tables, and draw nothing")
	flag.Parse()
	err := write(context.Background())
	if err == nil && !*only {
		err = report(context.Background(), *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes the tables.
func write(ctx context.Context) error {
	t, err := tables(ctx)
	if err != nil {
		return err
	}
	fmt.Println(t["tools"])
	fmt.Println(t["results"])
	return publish(benchmarks, t)
}

// chart is one picture.
type chart struct {
	file string
	draw func(context.Context) (figure, error)
}

func report(ctx context.Context, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, c := range []chart{
		{"toolsearch-tokens", toolTokens},
		{"reduction-tokens", resultTokens},
		{"recall", recall},
		{"search-cost", searchCost},
	} {
		f, err := c.draw(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
		if err := f.save(filepath.Join(out, c.file)); err != nil {
			return err
		}
		fmt.Println(c.file)
		fmt.Println(f.table())
	}
	return nil
}
