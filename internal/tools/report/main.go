// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command report measures both middlewares and draws what it measured into docs/img:
// tokens with and without each, recall per index and kind of query, and the cost of a search
// against the number of tools, Eino's and ours. It reads nothing outside the repository.
//
//	go run . [-out ../../../docs/img]
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
	flag.Parse()
	if err := report(context.Background(), *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
