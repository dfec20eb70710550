// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// An index is measured by graded queries.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// measuredSchema names what measuredJSON is.
const measuredSchema = "einolean.eval.queries/1"

// measuredJSON is what --json writes with queries.
type measuredJSON struct {
	Schema string                             `json:"schema"`
	Index  string                             `json:"index"`
	Tools  int                                `json:"tools"`
	All    toolsearcheval.Measures            `json:"all"`
	Kinds  map[string]toolsearcheval.Measures `json:"kinds"`
	Misses []struct {
		ID      string   `json:"id,omitempty"`
		Kind    string   `json:"kind,omitempty"`
		Query   string   `json:"query"`
		Missing []string `json:"missing"`
		Found   []string `json:"found"`
	} `json:"misses"` // queries of which a relevant tool is not among the first five
}

// graded returns the queries of a file, or those that a model writes.
func graded(ctx context.Context, s streams, c source, file string, queryWriter writer) ([]toolsearcheval.Case, error) {
	if file == "" {
		return queryWriter.write(ctx, s, c.common, c.tools)
	}
	text, err := readAll(s, file)
	if err != nil {
		return nil, err
	}
	all, err := lines(file, text)
	if err != nil {
		return nil, err
	}
	cases := make([]toolsearcheval.Case, len(all))
	for i, line := range all {
		if err := decode(line, &cases[i]); err != nil {
			return nil, fail(exitInput, "%s: query %d: %w", file, i+1, err)
		}
	}
	if len(cases) == 0 {
		return nil, fail(exitInput, "%s holds no queries", file)
	}
	return cases, nil
}

// measure measures an index by graded queries, shows the first misses, and returns how many of the
// relevant tools are among the first five.
func measure(ctx context.Context, s streams, c source, cases []toolsearcheval.Case, top int) (recall float64, err error) {
	report, err := toolsearcheval.Evaluate(ctx, c.newIndex, c.tools, cases)
	if err != nil {
		return 0, fail(exitInput, "%w", err)
	}
	out := measuredJSON{Schema: measuredSchema, Index: c.index, Tools: len(c.tools), All: report.Measures, Kinds: map[string]toolsearcheval.Measures{}}
	out.Misses = slices.Grow(out.Misses, 1) // never null
	for kind, measures := range report.Kinds {
		out.Kinds[kind] = measures
	}
	for _, one := range report.Cases {
		if len(one.Missing) == 0 {
			continue
		}
		miss := appendZero(&out.Misses)
		miss.ID, miss.Kind, miss.Query, miss.Missing, miss.Found = one.Case.ID, one.Case.Kind, one.Case.Query, one.Missing, []string{}
		for _, r := range one.Results[:min(5, len(one.Results))] {
			miss.Found = append(miss.Found, r.Name)
		}
	}
	if c.common.json {
		err = writeJSON(s.out, out)
	} else {
		showMeasured(s, c.painter, report, len(out.Misses), top)
	}
	return report.Recall5, err
}

// showMeasured writes the table, and then the first misses.
func showMeasured(s streams, p painter, report *toolsearcheval.Report, misses, top int) {
	head, rows, _ := strings.Cut(report.String(), "\n")
	fmt.Fprintf(s.out, "%s\n%s\n", p.dim(head), rows)
	if misses == 0 {
		fmt.Fprintln(s.out, p.green("every relevant tool is among the first five"))
		return
	}
	fmt.Fprintf(s.out, "%s\n", p.bold(fmt.Sprintf("%s a relevant tool among the first five:", lack(misses))))
	if top < 1 {
		return
	}
	for line := range strings.Lines(report.Misses(top)) {
		text := indent(line) + display.Line(line)
		if text != "" && text[0] == ' ' {
			text = p.dim(text)
		}
		fmt.Fprintln(s.out, text)
	}
	if misses > top {
		fmt.Fprintf(s.out, "%s\n", p.dim(fmt.Sprintf("… and %d more; --top shows more, --json all", misses-top)))
	}
}

// missed returns the error for a recall below the threshold.
func missed(recall, threshold float64) error {
	if recall >= threshold {
		return nil
	}
	return fail(exitMissed, "recall@5 is %.3f, less than %.3f", recall, threshold)
}

// lack returns the phrase that counts failed queries.
func lack(n int) string {
	if n == 1 {
		return "1 query lacks"
	}
	return display.Grouped(n) + " queries lack"
}
