// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file measures an index by graded queries.

import (
	"context"
	"fmt"
	"strings"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

// measuredSchema names what measuredJSON is.
const measuredSchema = "leanctx.eval.queries/1"

// measuredJSON is what --json writes with queries.
type measuredJSON struct {
	Schema string                             `json:"schema"`
	Index  string                             `json:"index"`
	Tools  int                                `json:"tools"`
	All    toolsearcheval.Measures            `json:"all"`
	Kinds  map[string]toolsearcheval.Measures `json:"kinds"`
	Misses []missJSON                         `json:"misses"`
}

// missJSON is a query of which a relevant tool is not among the first five.
type missJSON struct {
	ID      string   `json:"id,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Query   string   `json:"query"`
	Missing []string `json:"missing"`
	Found   []string `json:"found"`
}

// measure says how to measure an index by graded queries.
type measure struct {
	file, index string
	under       float64
	top         int
	json        bool
}

func (m measure) run(ctx context.Context, s streams, c source) error {
	cases, err := toolsearcheval.LoadCases(m.file)
	if err != nil {
		return &failure{exitInput, err}
	}
	report, err := toolsearcheval.Evaluate(ctx, c.newIndex, c.tools, cases)
	if err != nil {
		return &failure{exitInput, err}
	}
	out := measuredJSON{Schema: measuredSchema, Index: m.index, Tools: len(c.tools), All: report.Measures, Kinds: map[string]toolsearcheval.Measures{}, Misses: []missJSON{}}
	for kind, measures := range report.Kinds {
		out.Kinds[kind] = measures
	}
	for _, one := range report.Cases {
		if len(one.Missing) == 0 {
			continue
		}
		miss := missJSON{one.Case.ID, one.Case.Kind, one.Case.Query, one.Missing, []string{}}
		for _, r := range one.Results[:min(5, len(one.Results))] {
			miss.Found = append(miss.Found, r.Name)
		}
		out.Misses = append(out.Misses, miss)
	}
	if m.json {
		err = writeJSON(s.out, out)
	} else {
		m.show(s, c.painter, report, len(out.Misses))
	}
	if err == nil && report.Recall5 < m.under {
		err = fail(exitMissed, "recall@5 is %.3f, less than %.3f", report.Recall5, m.under)
	}
	return err
}

// show writes the table, and then the misses.
func (m measure) show(s streams, p painter, report *toolsearcheval.Report, misses int) {
	head, rows, _ := strings.Cut(report.String(), "\n")
	fmt.Fprintf(s.out, "%s\n%s\n", p.dim(head), rows)
	if misses == 0 {
		fmt.Fprintln(s.out, p.green("every relevant tool is among the first five"))
		return
	}
	fmt.Fprintf(s.out, "%s\n", p.bold(fmt.Sprintf("%s a relevant tool among the first five:", lack(misses))))
	if m.top < 1 {
		return
	}
	for line := range strings.Lines(report.Misses(m.top)) {
		text := indent(line) + display.Line(line)
		if text != "" && text[0] == ' ' {
			text = p.dim(text)
		}
		fmt.Fprintln(s.out, text)
	}
	if misses > m.top {
		fmt.Fprintf(s.out, "%s\n", p.dim(fmt.Sprintf("… and %d more; --top shows more, --json all", misses-m.top)))
	}
}

// lack is a count of queries with its verb.
func lack(n int) string {
	if n == 1 {
		return "1 query lacks"
	}
	return display.Grouped(n) + " queries lack"
}
