// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file is the command that searches.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/toolsearch"
)

// searchJSON is what --json writes.
type searchJSON struct {
	Schema string    `json:"schema"`
	Query  string    `json:"query"`
	Tools  int       `json:"tools"`
	Hits   []hitJSON `json:"hits"`
}

type hitJSON struct {
	Name       string  `json:"name"`
	Score      float64 `json:"score"`
	Confidence float64 `json:"confidence,omitempty"`
	Why        string  `json:"why,omitempty"`
}

func runSearch(ctx context.Context, s streams, args []string) error {
	var common options
	var from source
	f := flags(s, "search", &common)
	why := f.Bool("why", false, "say why each tool has its place")
	k := f.Int("k", 5, "how many tools to show")
	from.flags(f)
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	if len(rest) < 2 || *k < 1 {
		return fail(exitUsage, "it takes a file of tools and a query, and -k is at least 1")
	}
	c, err := from.open(ctx, s, common, rest[0])
	if err != nil {
		return err
	}
	x, err := c.newIndex(ctx, c.tools)
	if err != nil {
		return err
	}
	q := toolsearch.Query{Text: strings.Join(rest[1:], " "), Limit: *k}
	start := time.Now()
	results, err := x.Search(ctx, q)
	took := time.Since(start)
	if err != nil {
		return err
	}
	hits := hitsOf(x, q, results, *why)
	if common.json {
		return writeJSON(s.out, searchJSON{"leanctx.search/1", q.Text, len(c.tools), hits})
	}
	common.note(s, "%s, %s", plural(len(c.tools), "tool"), took.Round(10*time.Microsecond))
	showHits(s, c, hits)
	return nil
}

func hitsOf(x toolsearch.Index, q toolsearch.Query, results []toolsearch.Result, why bool) []hitJSON {
	hits := make([]hitJSON, 0, len(results))
	for _, r := range results {
		h := hitJSON{Name: r.Name, Score: r.Score, Confidence: r.Confidence}
		if explainer, can := x.(toolsearch.Explainer); can && why {
			h.Why = explainer.Explain(q, r.Name)
		}
		hits = append(hits, h)
	}
	return hits
}

func showHits(s streams, c catalog, hits []hitJSON) {
	p := c.painter
	if len(hits) == 0 {
		fmt.Fprintln(s.out, "no tool fits")
		return
	}
	about := map[string]string{}
	for _, t := range c.tools {
		about[t.Name] = t.Desc
	}
	widest := 0
	for _, h := range hits {
		widest = max(widest, len([]rune(display.Line(h.Name))))
	}
	for i, h := range hits {
		filled := max(0, min(10, int(10*h.Score/hits[0].Score+.5)))
		bar := strings.Repeat("█", filled) + strings.Repeat("·", 10-filled)
		name := display.Line(h.Name)
		room := max(20, columns(s.out)-widest-30)
		fmt.Fprintf(s.out, "%2d  %s%s  %s %6.2f  %s\n", i+1, p.bold(name), strings.Repeat(" ", widest-len([]rune(name))), p.cyan(bar), h.Score, p.dim(clip(display.Line(about[h.Name]), room)))
		for line := range strings.Lines(h.Why) {
			fmt.Fprintf(s.out, "      %s\n", p.dim(indent(line)+display.Line(line)))
		}
	}
}

// indent is the white space that a line begins with, which printable takes away.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }
