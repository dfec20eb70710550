// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// einolean search asks an index.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/index"
)

// searchSchema names what searchJSON is.
const searchSchema = "einolean.search/1"

// searchJSON is what --json writes.
type searchJSON struct {
	Schema string `json:"schema"`
	Query  string `json:"query"`
	Tools  int    `json:"tools"`
	Hits   []struct {
		Name       string  `json:"name"`
		Score      float64 `json:"score"`
		Confidence float64 `json:"confidence,omitempty"`
		Why        string  `json:"why,omitempty"`
	} `json:"hits"`
}

// searcher answers queries over one catalogue.
type searcher struct {
	source
	x        index.Index
	explains bool
	k        int

	echo bool       // queries are repeated in the output, since nobody types them there
	last searchJSON // what was answered last
}

func runSearch(ctx context.Context, s streams, args []string) error {
	var a searcher
	f := flags(s, "search", &a.common)
	f.BoolVar(&a.explains, "why", false, "explain the rank of each tool")
	f.IntVar(&a.k, "k", 5, "how many tools to show")
	a.source.flags(f)
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
		return fail(exitUsage, "--k is at least 1, not %d", a.k)
	case len(rest) == 1 && rest[0] == "-":
		return fail(exitUsage, "the tools come from standard input, so give the query as an argument")
	}
	if err = a.open(ctx, s, rest[0]); err != nil {
		return err
	}
	if a.x, err = a.newIndex(ctx, a.tools); err != nil {
		return err
	}
	if len(rest) == 1 {
		return a.prompt(ctx, s)
	}
	if err := a.answer(ctx, s, strings.Join(rest[1:], " ")); err != nil || len(a.last.Hits) > 0 {
		return err
	}
	return fail(exitMissed, "no tool fits the query")
}

// answer searches, and shows what was found.
func (a *searcher) answer(ctx context.Context, s streams, query string) error {
	q := index.Query{Text: query, Limit: a.k}
	start := time.Now()
	results, err := a.x.Search(ctx, q)
	took := time.Since(start)
	if err != nil {
		return err
	}
	a.last = searchJSON{Schema: searchSchema, Query: query, Tools: len(a.tools)}
	a.last.Hits = slices.Grow(a.last.Hits, 1) // an empty list, not null
	for _, r := range results {
		h := appendZero(&a.last.Hits)
		h.Name, h.Score, h.Confidence = r.Name, r.Score, r.Confidence
		if a.explains {
			h.Why = a.whyOf(q, r.Name)
		}
	}
	if a.common.json {
		return writeJSON(s.out, a.last)
	}
	a.common.note(s, "%s, %s", plural(len(a.tools), "tool"), took.Round(10*time.Microsecond))
	a.show(s)
	return nil
}

// prompt answers queries until the input ends. A number explains that hit of the previous answer.
func (a *searcher) prompt(ctx context.Context, s streams) error {
	next, interactive := lineReader(s, a.common)
	if interactive {
		a.common.note(s, "%s. Type what a model would search for, or the number of a found tool to see why it was found; an empty line ends.", plural(len(a.tools), "tool"))
	}
	a.echo = !interactive && !a.common.json && !a.common.quiet
	a.common.quiet = true // print the count of tools only once
	for {
		line, err := next()
		line = strings.TrimSpace(line)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case line == "" && errors.Is(err, io.EOF), line == "" && err == nil && interactive:
			return nil
		case line == "" && err != nil:
			return err
		case line == "":
			continue
		}
		if err := a.handleLine(ctx, s, line); err != nil {
			return err
		}
	}
}

// handleLine answers a line: a query, or the number of a hit.
func (a *searcher) handleLine(ctx context.Context, s streams, line string) error {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(a.last.Hits) && !a.common.json {
		a.explain(s, a.last.Query, a.last.Hits[n-1].Name)
		return nil
	}
	if a.echo {
		fmt.Fprintf(s.out, "%s\n", a.painter.bold("> "+display.Line(line)))
	}
	return a.answer(ctx, s, line)
}

// whyOf lists what each word of a query adds to the score of a tool.
func (a *searcher) whyOf(q index.Query, name string) string {
	var b strings.Builder
	for _, t := range index.Explain(a.x, q, name) {
		fmt.Fprintf(&b, "%.4g %q: %s, %s\n", t.Score, t.Text, t.Relation, t.Field)
	}
	return b.String()
}

// explain prints why a tool ranks where it does.
func (a *searcher) explain(s streams, query, name string) {
	why := a.whyOf(index.Query{Text: query, Limit: a.k}, name)
	if why == "" {
		why = "this index gives no explanations"
	}
	showWhy(s, a.painter, why)
}

// show prints the last hits.
func (a *searcher) show(s streams) {
	p, hits := a.painter, a.last.Hits
	if len(hits) == 0 {
		fmt.Fprintln(s.out, "no tool fits")
		return
	}
	descriptions := map[string]string{}
	for _, t := range a.tools {
		descriptions[t.Name] = t.Desc
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
		fmt.Fprintf(s.out, "%2d  %s%s  %s %6.2f  %s\n", i+1, p.bold(name),
			strings.Repeat(" ", widest-len([]rune(name))), p.cyan(bar), h.Score, p.dim(clip(display.Line(descriptions[h.Name]), room)))
		showWhy(s, p, h.Why)
	}
}

func showWhy(s streams, p painter, why string) {
	for line := range strings.Lines(why) {
		fmt.Fprintf(s.out, "      %s\n", p.dim(indent(line)+display.Line(line)))
	}
}

// indent returns the leading white space of a line, which display.Line removes.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }
