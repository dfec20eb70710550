// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// Compares index.BM25 with other rankings: Eino's score, plain BM25 and, where Node.js is installed, Ratel.

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// comparedSet is a set of requests, whose parts may have different tools.
type comparedSet struct {
	name  string
	parts []pairSet
}

// comparedSets are the project's own set and those of a directory of catalogs, all in the chosen half. Keywords that
// a fixed procedure made from requests are left out.
func comparedSets(t *testing.T, dir string) (sets []comparedSet) {
	own := ownSet(t)
	parts := byPair("own", own.tools, chosenHalf(own.cases()))
	if dir != "" {
		parts = append(parts, publicSets(t, dir)...)
	}
	for _, part := range parts {
		catalog, kind, _ := strings.Cut(part.name, " ")
		name := catalog
		switch {
		case len(part.cases) == 0, kind == "keywords" && catalog != "mcp_servers":
			continue
		case catalog == "zh_over_en":
			name += ", " + map[string]string{"zh-en": "Chinese", "en-en": "the same in English", "mixed": "both together"}[part.pair]
		case kind == "llm":
			name += ", keywords by people"
		}
		i := slices.IndexFunc(sets, func(s comparedSet) bool { return s.name == name })
		if i < 0 {
			i = len(sets)
			sets = append(sets, comparedSet{name: name})
		}
		sets[i].parts = append(sets[i].parts, part)
	}
	return sets
}

func (s comparedSet) measure(t *testing.T, x namedIndex) toolsearcheval.Measures {
	var all pairResult
	for _, part := range s.parts {
		all.add(pairResult{Measures: evaluate(t, x, part.tools, part.cases).Measures})
	}
	return all.Measures
}

// comparedIndexes has Ratel only if it is asked for and can run here; otherwise it prints why not.
func comparedIndexes(t *testing.T) []namedIndex {
	all := []namedIndex{{"Eino's score", index.Keyword}, {"plain BM25", plainBM25}}
	version := os.Getenv(ratelVariable)
	if version == "" {
		fmt.Println("Ratel is skipped: `make recall RATEL=1` measures it, with Node.js and npm")
	} else if ratel, err := startRatel(t, version); err != nil {
		fmt.Printf("Ratel is skipped: %s@%s: %v\n", ratelPackage, version, err)
	} else {
		all = append(all, namedIndex{"Ratel " + version, ratel.newIndex})
	}
	return append(all, namedIndex{"`index.BM25`", index.BM25})
}

// comparison is the measures of each set, by each index.
type comparison struct {
	sets     []comparedSet
	indexes  []namedIndex
	measures [][]toolsearcheval.Measures
}

func (c comparison) table(cell func(toolsearcheval.Measures) string) string {
	var b strings.Builder
	b.WriteString("| set | requests |")
	for _, x := range c.indexes {
		b.WriteString(" " + x.name + " |")
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("---|", len(c.indexes)) + "\n")
	for i, set := range c.sets {
		fmt.Fprintf(&b, "| %s | %d |", set.name, c.measures[i][0].Queries)
		for _, m := range c.measures[i] {
			b.WriteString(" " + cell(m) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func share(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }

func recalls(m toolsearcheval.Measures) string { return share(m.Recall1) + ", " + share(m.Recall5) }

func gains(m toolsearcheval.Measures) string { return share(m.NDCG10) }

func TestComparison_TablesMatchDocs(t *testing.T) {
	dir, set := os.LookupEnv(dataVariable)
	if !set {
		t.Skipf("set %s to a directory of catalogs, or to nothing for the project's own set alone; `make recall` does", dataVariable)
	}
	c := comparison{sets: comparedSets(t, dir), indexes: comparedIndexes(t)}
	for _, s := range c.sets {
		var row []toolsearcheval.Measures
		for _, x := range c.indexes {
			m := s.measure(t, x)
			fmt.Printf("%-32s %-12s %4d requests, recall@1 %.3f, @5 %.3f, nDCG@10 %.3f\n", s.name, x.name, m.Queries, m.Recall1, m.Recall5, m.NDCG10)
			row = append(row, m)
		}
		c.measures = append(c.measures, row)
	}
	half := cmp.Or(os.Getenv(halfVariable), "dev")
	fmt.Printf("\n%s, recall@1 and recall@5\n%s\n%s, nDCG@10\n%s\n", half, c.table(recalls), half, c.table(gains))
	if half == "dev" && len(c.indexes) == 4 {
		requireComparison(t, filepath.Join("..", "..", "docs", "benchmarks.md"), c.table(recalls))
		requireComparison(t, filepath.Join("..", "..", "internal", "dev", "RESULTS.md"), c.table(gains))
	}
}

var (
	comparisonBlock = regexp.MustCompile("(?s)<!-- measured: comparison -->\n\n(.*?)\n<!-- end -->\n")
	figure          = regexp.MustCompile(`1?\.\d{3}`)
)

// requireComparison checks the figures of a page, if it shows the same sets and indexes as the table. With
// EINOLEAN_UPDATE=1 it writes the table there instead.
func requireComparison(t *testing.T, page, table string) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	if os.Getenv(golden.Update) != "" {
		block := "<!-- measured: comparison -->\n\n" + table + "\n<!-- end -->\n"
		require.NoError(t, os.WriteFile(page, comparisonBlock.ReplaceAllLiteral(text, []byte(block)), 0o644))
		return
	}
	match := comparisonBlock.FindSubmatch(text)
	require.NotNil(t, match, "%s has no comparison", page)
	shown := string(match[1])
	if figure.ReplaceAllString(shown, "") == figure.ReplaceAllString(table, "") {
		require.Equal(t, table, shown, "%s: %s=1 make recall RATEL=1 rewrites the table", page, golden.Update)
	}
}
