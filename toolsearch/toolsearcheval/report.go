// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

// This file prints reports, and fails tests whose goals are not reached.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch"
)

const header = "%-18s %7s %8s %8s %9s %8s %6s %9s\n"

// String is a table: one line for each kind of case, and one for all.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, header, "", "queries", "recall@1", "recall@5", "recall@10", "nDCG@10", "MRR", "no match")
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		if kind != "" {
			b.WriteString(line(kind, r.Kinds[kind]))
		}
	}
	b.WriteString(line("all", r.Measures))
	return b.String()
}

func line(name string, m Measures) string {
	number := func(v float64, applies bool) string {
		if !applies {
			return "-"
		}
		return fmt.Sprintf("%.3f", v)
	}
	ranked, unanswerable := m.Queries > m.Unanswerable, m.Unanswerable > 0
	return fmt.Sprintf(header, name, fmt.Sprint(m.Queries), number(m.Recall1, ranked), number(m.Recall5, ranked),
		number(m.Recall10, ranked), number(m.NDCG10, ranked), number(m.MRR, ranked), number(m.NoMatch, unanswerable))
}

// Misses says, for at most limit cases (all if 0), which relevant tools were not among the
// first 5 results, what was there instead, and why, where the index can explain itself.
func (r *Report) Misses(limit int) string {
	var b strings.Builder
	n := 0
	for _, c := range r.Cases {
		if len(c.Missing) == 0 || limit > 0 && n == limit {
			continue
		}
		n++
		fmt.Fprintf(&b, "%s %q misses %s; found:\n", c.Case.ID, c.Case.Query, strings.Join(c.Missing, ", "))
		for i, res := range c.Results[:min(5, len(c.Results))] {
			fmt.Fprintf(&b, "  %d. %s %.3g\n", i+1, res.Name, res.Score)
		}
		if e, ok := r.index.(toolsearch.Explainer); ok {
			for _, name := range c.Missing {
				b.WriteString(indent(e.Explain(toolsearch.Query{Text: c.Case.Query}, name)))
			}
		}
	}
	return b.String()
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}

// Goal is the least that an index must reach. A zero field asks for nothing.
type Goal struct {
	// Recall1, Recall5, Recall10, NDCG10, MRR and NoMatch are lower bounds of the measures
	// of the same name.
	Recall1, Recall5, Recall10, NDCG10, MRR, NoMatch float64
}

// Require evaluates an index and fails the test, with the table and the first misses,
// where it stays below the goal.
func Require(t testing.TB, newIndex toolsearch.IndexFunc, tools []*schema.ToolInfo, cases []Case, goal Goal) *Report {
	t.Helper()
	r, err := Evaluate(context.Background(), newIndex, tools, cases)
	if err != nil {
		t.Fatal(err)
		return nil
	}
	if short := goal.missed(r.Measures); short != "" {
		t.Errorf("%s\n%s\n%s", short, r, r.Misses(10))
	}
	return r
}

func (g Goal) missed(m Measures) string {
	var short []string
	for _, x := range []struct {
		name      string
		got, want float64
	}{
		{"recall@1", m.Recall1, g.Recall1}, {"recall@5", m.Recall5, g.Recall5}, {"recall@10", m.Recall10, g.Recall10},
		{"nDCG@10", m.NDCG10, g.NDCG10}, {"MRR", m.MRR, g.MRR}, {"no match", m.NoMatch, g.NoMatch},
	} {
		if x.got < x.want {
			short = append(short, fmt.Sprintf("%s is %.3f, below %.3f", x.name, x.got, x.want))
		}
	}
	return strings.Join(short, "; ")
}
