// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file is the command that searches.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch"
)

// indexes are the choices of --index.
var indexes = map[string]toolsearch.IndexFunc{"bm25": toolsearch.BM25Index, "keyword": toolsearch.KeywordIndex}

func indexOf(name string) (toolsearch.IndexFunc, error) {
	if f := indexes[name]; f != nil {
		return f, nil
	}
	return nil, fail(exitUsage, "--index is bm25 or keyword, not %q", name)
}

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
	index := f.String("index", "bm25", "bm25 or keyword")
	f.BoolVar(&from.connect, "connect", false, "start and ask the servers of an mcpServers file")
	f.BoolVar(&from.strict, "strict", false, "fail where a server cannot be reached")
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	if len(rest) < 2 || *k < 1 {
		return fail(exitUsage, "it takes a file of tools and a query, and -k is at least 1")
	}
	newIndex, err := indexOf(*index)
	if err != nil {
		return err
	}
	color, err := common.colored(s.out)
	if err != nil {
		return err
	}
	tools, err := from.load(ctx, s, common, rest[0])
	if err != nil {
		return err
	}
	x, err := newIndex(ctx, tools)
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
		return writeJSON(s.out, searchJSON{"leanctx.search/1", q.Text, len(tools), hits})
	}
	common.note(s, "%s, %s", plural(len(tools), "tool"), took.Round(10*time.Microsecond))
	showHits(s, painter(color), hits, tools)
	return nil
}

func hitsOf(x toolsearch.Index, q toolsearch.Query, results []toolsearch.Result, why bool) []hitJSON {
	hits := make([]hitJSON, 0, len(results))
	for _, r := range results {
		h := hitJSON{Name: r.Name, Score: r.Score, Confidence: r.Confidence}
		if explainer, can := x.(toolsearch.Explainer); can && why {
			h.Why = explanation(explainer, q, r.Name)
		}
		hits = append(hits, h)
	}
	return hits
}

func showHits(s streams, p painter, hits []hitJSON, tools []*schema.ToolInfo) {
	if len(hits) == 0 {
		fmt.Fprintln(s.out, "no tool fits")
		return
	}
	about := map[string]string{}
	for _, t := range tools {
		about[t.Name] = t.Desc
	}
	widest := 0
	for _, h := range hits {
		widest = max(widest, len([]rune(printable(h.Name))))
	}
	for i, h := range hits {
		filled := max(0, min(10, int(10*h.Score/hits[0].Score+.5)))
		bar := strings.Repeat("█", filled) + strings.Repeat("·", 10-filled)
		name := printable(h.Name)
		room := max(20, columns()-widest-30)
		fmt.Fprintf(s.out, "%2d  %s%s  %s %6.2f  %s\n", i+1, p.bold(name), strings.Repeat(" ", widest-len([]rune(name))), p.cyan(bar), h.Score, p.dim(clip(printable(about[h.Name]), room)))
		for line := range strings.Lines(h.Why) {
			fmt.Fprintf(s.out, "      %s\n", p.dim(indent(line)+printable(line)))
		}
	}
}

// indent is the white space that a line begins with, which printable takes away.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }
