// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/index"
)

// String is a table: one line for each kind of case, and one for all.
func (r *Report) String() string {
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(r.Kinds)), func(kind string) bool { return kind == "" })
	width := len("all")
	for _, kind := range kinds {
		width = max(width, utf8.RuneCountInString(display.Line(kind)))
	}
	var b strings.Builder
	line := func(name string, cells []string) {
		fmt.Fprintf(&b, "%-*s %7s %8s %8s %9s %8s %6s %9s\n", width, name,
			cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6])
	}
	line("", []string{"queries", "recall@1", "recall@5", "recall@10", "nDCG@10", "MRR", "no match"})
	for _, kind := range kinds {
		line(display.Line(kind), r.Kinds[kind].cells())
	}
	line("all", r.cells())
	return b.String()
}

// cells are the measures as text, with a dash for what applies to no query.
func (m Measures) cells() []string {
	out := []string{fmt.Sprint(m.Queries)}
	add := func(applies bool, values ...float64) {
		for _, v := range values {
			if applies {
				out = append(out, fmt.Sprintf("%.3f", v))
			} else {
				out = append(out, "-")
			}
		}
	}
	add(m.Queries > m.Unanswerable, m.Recall1, m.Recall5, m.Recall10, m.NDCG10, m.MRR)
	add(m.Unanswerable > 0, m.NoMatch)
	return out
}

// Misses says, for at most limit cases (all if 0), which relevant tools were not among the
// first 5 results, which tools were there instead, and why, if the index can explain its
// scores.
func (r *Report) Misses(limit int) string {
	var b strings.Builder
	n := 0
	for _, c := range r.Cases {
		if len(c.Missing) == 0 || limit > 0 && n == limit {
			continue
		}
		n++
		fmt.Fprintf(&b, "%s %q misses %s; found:\n", display.Line(c.Case.ID), c.Case.Query, display.Line(strings.Join(c.Missing, ", ")))
		for i, res := range c.Results[:min(5, len(c.Results))] {
			fmt.Fprintf(&b, "  %d. %s %.3g\n", i+1, display.Line(res.Name), res.Score)
		}
		for _, name := range c.Missing {
			for _, t := range index.Explain(r.index, index.Query{Text: c.Case.Query}, name) {
				fmt.Fprintf(&b, "    %.4g %q %s %s\n", t.Score, t.Text, t.Relation, t.Field)
			}
		}
	}
	return b.String()
}

// Require evaluates an index and fails the test, with the table and the first misses, if a
// measure is below its least value. A least value of zero sets no bound.
func Require(t testing.TB, newIndex index.Func, tools []*schema.ToolInfo, cases []Case, least Measures) *Report {
	t.Helper()
	r, err := Evaluate(context.Background(), newIndex, tools, cases)
	if err != nil {
		t.Fatal(err)
		return nil
	}
	if short := r.missed(least); short != "" {
		t.Errorf("%s\n%s\n%s", short, r, r.Misses(10))
	}
	return r
}

// missed says which measures are below their least values.
func (m Measures) missed(least Measures) string {
	var short []string
	for _, x := range []struct {
		name      string
		got, want float64
	}{
		{"recall@1", m.Recall1, least.Recall1}, {"recall@5", m.Recall5, least.Recall5}, {"recall@10", m.Recall10, least.Recall10},
		{"nDCG@10", m.NDCG10, least.NDCG10}, {"MRR", m.MRR, least.MRR}, {"no match", m.NoMatch, least.NoMatch},
		{"the number of queries", float64(m.Queries), float64(least.Queries)},
		{"that of unanswerable ones", float64(m.Unanswerable), float64(least.Unanswerable)},
	} {
		if x.got < x.want {
			short = append(short, fmt.Sprintf("%s is %.3f, below %.3f", x.name, x.got, x.want))
		}
	}
	return strings.Join(short, "; ")
}
