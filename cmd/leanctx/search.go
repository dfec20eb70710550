// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds the command that searches.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/toolsearch"
)

// searchSchema names what searchJSON is.
const searchSchema = "leanctx.search/1"

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

// searcher answers queries over one catalogue.
type searcher struct {
	catalog
	common options
	x      toolsearch.Index
	why    bool
	k      int
}

func runSearch(ctx context.Context, s streams, args []string) error {
	var from source
	var a searcher
	f := flags(s, "search", &a.common)
	f.BoolVar(&a.why, "why", false, "explain the rank of each tool")
	f.IntVar(&a.k, "k", 5, "how many tools to show")
	from.flags(f)
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	switch {
	case a.common.schema:
		return writeSchema[searchJSON](s.out, searchSchema)
	case len(rest) == 0:
		return fail(exitUsage, "give a file of tools and a query; without a query there is a prompt")
	case a.k < 1:
		return fail(exitUsage, "-k is at least 1, not %d", a.k)
	case len(rest) == 1 && rest[0] == "-":
		return fail(exitUsage, "the tools come from standard input, so give the query as an argument")
	}
	if a.catalog, err = from.open(ctx, s, a.common, rest[0]); err != nil {
		return err
	}
	if a.x, err = a.newIndex(ctx, a.tools); err != nil {
		return err
	}
	if len(rest) == 1 {
		return a.prompt(ctx, s)
	}
	_, err = a.answer(ctx, s, strings.Join(rest[1:], " "))
	return err
}

// answer searches, and shows what was found.
func (a *searcher) answer(ctx context.Context, s streams, query string) ([]hitJSON, error) {
	q := toolsearch.Query{Text: query, Limit: a.k}
	start := time.Now()
	results, err := a.x.Search(ctx, q)
	took := time.Since(start)
	if err != nil {
		return nil, err
	}
	hits := hitsOf(a.x, q, results, a.why)
	if a.common.json {
		return hits, writeJSON(s.out, searchJSON{searchSchema, q.Text, len(a.tools), hits})
	}
	a.common.note(s, "%s, %s", plural(len(a.tools), "tool"), took.Round(10*time.Microsecond))
	showHits(s, a.catalog, hits)
	return hits, nil
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
		showWhy(s, p, h.Why)
	}
}

func showWhy(s streams, p painter, why string) {
	for line := range strings.Lines(why) {
		fmt.Fprintf(s.out, "      %s\n", p.dim(indent(line)+display.Line(line)))
	}
}

// indent is the white space that a line begins with, which display.Line takes away.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }
