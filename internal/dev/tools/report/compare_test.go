// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/toolsearch/index"
)

// The tables of docs/benchmarks.md and internal/dev/RESULTS.md are those measured, and show what they must.
//
//claim:bench-01
func TestReport_GoldenBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs over twenty agents")
	}
	all, results, err := measured(t.Context())
	require.NoError(t, err)
	figures, err := figuresOf(all)
	require.NoError(t, err)
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		for page, tables := range pages(all, results) {
			require.NoError(t, publish(page, tables))
		}
		require.NoError(t, os.WriteFile(figuresFile, figures, 0o644))
		require.NoError(t, os.WriteFile(lostFile, []byte(lost(all)), 0o644))
	}
	require.Len(t, selected(all), len(benchmarkArms))
	for file, tables := range pages(all, results) {
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		for place, table := range tables {
			_, rest, _ := strings.Cut(string(page), "<!-- made by make report: "+place+" -->\n\n")
			there, _, _ := strings.Cut(rest, "\n<!-- end -->")
			require.Equal(t, there, table, "%s: EINOLEAN_UPDATE=1 rewrites it", file)
		}
	}

	kept, err := os.ReadFile(figuresFile)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(figures), "EINOLEAN_UPDATE=1 rewrites it")
	kept, err = os.ReadFile(lostFile)
	require.NoError(t, err)
	require.Equal(t, string(kept), lost(all), "EINOLEAN_UPDATE=1 rewrites it")

	best := 0
	for _, s := range all {
		best = max(best, s.right)
	}
	for _, s := range all {
		if strings.HasPrefix(s.name, "`Recommended`, reduced") || s.name == "`Recommended`" {
			require.Equal(t, best, s.right, "the preset does as many tasks as any arm: %v", s.wrong)
		}
	}
	for _, s := range results[:3] { // no reduction, and ours
		require.Equal(t, s.asked, s.right, s.name)
		for _, c := range replay.Cards {
			require.LessOrEqual(t, c.Cost(s.bill), c.Cost(results[0].bill), "%s, %s", s.name, c.Name)
		}
	}
}

func TestPublish_ReplacesTablesAtMarkers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(file, []byte("# A\n\n<!-- made by make report: one -->\nold\n<!-- end -->\n\nText.\n\n<!-- made by make report: two -->\n<!-- end -->\n"), 0o600))
	for range 2 {
		require.NoError(t, publish(file, map[string]string{"one": "| 1 |\n", "two": "| 2 |\n"}))
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "# A\n\n<!-- made by make report: one -->\n\n| 1 |\n\n<!-- end -->\n\nText.\n\n<!-- made by make report: two -->\n\n| 2 |\n\n<!-- end -->\n", string(page))
	}
	require.ErrorContains(t, publish(file, map[string]string{"three": ""}), "no place")
}

func TestMarkdown_LowestPriceAmongBestIsBold(t *testing.T) {
	table := markdown([]scored{
		{name: "all", right: 2, asked: 2, calls: 3, tokens: 9000, bill: replay.Bill{Written: 9000}},
		{name: "good", right: 2, asked: 2, calls: 4, tokens: 4000, bill: replay.Bill{Written: 2000, Cached: 2000}},
		{name: "cheap", right: 1, asked: 2, calls: 1, tokens: 10, bill: replay.Bill{Written: 10}},
	})
	rows := strings.Split(strings.TrimSpace(table), "\n")
	require.Len(t, rows, 5)
	require.NotContains(t, rows[2], "**")
	require.Contains(t, rows[3], "| 2 of 2 | 4 | 4,000 | 50 % | **2.7** |")
	require.NotContains(t, rows[4], "**", "what answers wrongly is no bargain")
}

func TestOverlapIndex_RanksBySharedWords(t *testing.T) {
	x, err := overlapIndex(2, 1)(t.Context(), []*schema.ToolInfo{{Name: "sendMail", Desc: "Writes to people"}, {Name: "people_list", Desc: "Lists those who send"}, {Name: "x", Desc: "nothing"}})
	require.NoError(t, err)
	found, err := x.Search(t.Context(), index.Query{Text: "send mail", Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []index.Result{{Name: "sendMail", Score: 4}, {Name: "people_list", Score: 1}}, found)
}
