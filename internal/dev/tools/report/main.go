// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command report measures both middlewares and draws what it measured into docs/img:
// tokens with and without each, recall per index and kind of query, and the cost of a search
// against the number of tools, Eino's and ours. It gives agents with other policies the
// same tasks, and writes what each cost into docs/benchmarks.md and internal/dev/RESULTS.md. It reads nothing outside
// the repository, and writes the same each time; only the times of searches, which depend on the
// machine, are another matter, and measured where -times asks for them.
//
//	go run . [-out ../../../../docs/img] [-tables] [-times]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", filepath.Join("..", "..", "..", "..", "docs", "img"), "where the pictures go")
	only := flag.Bool("tables", false, "write the tables, and draw nothing")
	times := flag.Bool("times", false, "draw the times of searches as well, as this machine measures them")
	flag.Parse()
	err := write(context.Background())
	if err == nil && !*only {
		err = report(context.Background(), *out, charts)
	}
	if err == nil && *times {
		err = report(context.Background(), *out, []chart{{"search-cost", searchCost}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write measures, and writes the tables.
func write(ctx context.Context) error {
	tools, results, err := measured(ctx)
	if err != nil {
		return err
	}
	fmt.Println(markdown(tools))
	fmt.Println(markdown(results))
	text, err := figuresOf(tools)
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(figuresFile, text, 0o644), os.WriteFile(lostFile, []byte(lost(tools)), 0o644))
	for page, tables := range pages(tools, results) {
		err = errors.Join(err, publish(page, tables))
	}
	return err
}

// chart is one picture.
type chart struct {
	file string
	draw func(context.Context) (figure, error)
}

// charts are those that are the same on every machine.
var charts = []chart{{"toolsearch-tokens", toolTokens}, {"reduction-tokens", resultTokens}, {"recall", recall}}

// report draws charts into a folder, and in Chinese into its folder zh.
func report(ctx context.Context, out string, all []chart) error {
	if err := os.MkdirAll(filepath.Join(out, "zh"), 0o755); err != nil {
		return err
	}
	for _, c := range all {
		f, err := c.draw(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
		if err := errors.Join(f.save(filepath.Join(out, c.file)), f.in(chinese).save(filepath.Join(out, "zh", c.file))); err != nil {
			return err
		}
		fmt.Println(c.file)
		fmt.Println(f.table())
	}
	return nil
}
