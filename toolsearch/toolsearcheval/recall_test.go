// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// dataVariable names the environment variable with the directory of further catalogues:
// a directory each, with tools.jsonl and one or more of queryFiles.
const dataVariable = "EINOLEAN_DATA"

// queryFiles are the files of graded queries that a catalogue may have.
var queryFiles = []struct{ file, kind string }{
	{"queries.jsonl", "requests"},
	{"queries_kw.jsonl", "keywords"},
	{"queries_llm.jsonl", "llm"},
}

// recallIndexes are those of the table.
var recallIndexes = append(slices.Clone(indexes), namedIndex{"plain", plainBM25})

// row is one line of the table before an index is asked.
type row struct {
	catalogue, kind string
	tools           []*schema.ToolInfo
	cases           []toolsearcheval.Case
}

func TestRecall_PrintsTable(t *testing.T) {
	dir, set := os.LookupEnv(dataVariable)
	if !set {
		t.Skipf("set %s to a directory of catalogues, or to nothing for the project's own set alone; `make recall` does", dataVariable)
	}
	own, lib := ownSet(t), librarySet(t)
	printRow("catalogue", "tools", "queries", "", "index", "recall@1", "@5", "@10", "nDCG@10", "MRR", "no match")
	kinds := map[string]*toolsearcheval.Report{}
	for _, r := range []row{
		{"own, dev", "mixed", own.tools, own.dev}, {"own, heldout", "mixed", own.tools, own.heldout},
		{"library, dev", "mixed", lib.tools, lib.dev}, {"library, heldout", "mixed", lib.tools, lib.heldout},
	} {
		for _, x := range recallIndexes {
			kinds[r.catalogue+x.name] = r.print(t, x)
		}
	}
	requests := []row{{"own", "requests", own.tools, ofKinds(own.cases(), userKinds...)}}
	for _, r := range catalogues(t, dir) {
		for _, x := range recallIndexes {
			r.print(t, x)
		}
		if r.kind == "requests" && !strings.HasSuffix(r.catalogue, " in all") {
			requests = append(requests, r)
		}
	}
	fmt.Println("\n" + embeddingTable(t))
	printPrefetch(t, requests)
	for _, half := range []string{"own, dev", "own, heldout"} {
		printKinds(half, kinds)
	}
}

func (r row) print(t *testing.T, x namedIndex) *toolsearcheval.Report {
	report, err := toolsearcheval.Evaluate(context.Background(), x.make, r.tools, r.cases)
	require.NoError(t, err, "%s, %s", r.catalogue, r.kind)
	m := report.Measures
	noMatch := "-"
	if m.Unanswerable > 0 {
		noMatch = fmt.Sprintf("%.3f", m.NoMatch)
	}
	printRow(r.catalogue, len(r.tools), m.Queries, r.kind, x.name, m.Recall1, m.Recall5, m.Recall10, m.NDCG10, m.MRR, noMatch)
	return report
}

func printRow(cells ...any) {
	widths := []int{-19, 6, 8, -9, -8, 9, 6, 6, 8, 6, 9}
	var b strings.Builder
	for i, cell := range cells {
		if v, ok := cell.(float64); ok {
			cell = fmt.Sprintf("%.3f", v)
		}
		fmt.Fprintf(&b, "%*v ", widths[i], cell)
	}
	fmt.Println(strings.TrimRight(b.String(), " "))
}

// catalogues are those in a directory, and the union of all, in which each has the tools
// of the others to compete with.
func catalogues(t *testing.T, dir string) (rows []row) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "tools.jsonl"))
	require.NoError(t, err)
	if dir == "" || len(files) == 0 {
		fmt.Println("no further catalogues")
		return nil
	}
	union := map[string]*schema.ToolInfo{}
	for _, file := range files {
		tools, err := toolsearcheval.LoadTools(file)
		require.NoError(t, err)
		for _, tool := range tools {
			union[tool.Name] = tool
		}
		rows = append(rows, queriesOf(t, filepath.Dir(file), tools)...)
	}
	all := make([]*schema.ToolInfo, 0, len(union))
	for _, name := range slices.Sorted(maps.Keys(union)) {
		all = append(all, union[name])
	}
	for _, r := range slices.Clone(rows) {
		rows = append(rows, row{r.catalogue + " in all", r.kind, all, r.cases})
	}
	return rows
}

// queriesOf are the rows of one catalogue, whose equivalents may name tools that it lacks.
func queriesOf(t *testing.T, dir string, tools []*schema.ToolInfo) (rows []row) {
	known := map[string]bool{}
	for _, tool := range tools {
		known[tool.Name] = true
	}
	for _, q := range queryFiles {
		cases, err := toolsearcheval.LoadCases(filepath.Join(dir, q.file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		for _, c := range cases {
			for name, others := range c.Equivalent {
				c.Equivalent[name] = slices.DeleteFunc(others, func(other string) bool { return !known[other] })
			}
		}
		kind := q.kind
		if filepath.Base(dir) == "mcp_servers" {
			kind = "keywords" // its requests are written as keywords
		}
		rows = append(rows, row{filepath.Base(dir), kind, tools, cases})
	}
	return rows
}

// printKinds is recall@5 by kind of query, an index a column.
func printKinds(half string, reports map[string]*toolsearcheval.Report) {
	fmt.Printf("\n%-24s", half+", recall@5")
	for _, x := range recallIndexes {
		fmt.Printf("%9s", x.name)
	}
	fmt.Println()
	first := reports[half+indexes[0].name]
	for _, kind := range slices.Sorted(maps.Keys(first.Kinds)) {
		fmt.Printf("%-24s", fmt.Sprintf("%s (%d)", kind, first.Kinds[kind].Queries))
		for _, x := range recallIndexes {
			m := reports[half+x.name].Kinds[kind]
			value := m.Recall5
			if m.Queries == m.Unanswerable {
				value = m.NoMatch
			}
			fmt.Printf("%9.3f", value)
		}
		fmt.Println()
	}
}
