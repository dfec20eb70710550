// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch"
)

const (
	golden      = "testdata/output.golden.txt"
	benchmarks  = "../../docs/benchmarks.md"
	resultsPage = "../../internal/dev/RESULTS.md"
)

// TestRun_GoldenOutput runs the whole comparison. With EINOLEAN_UPDATE=1 it first writes the output to the golden
// file, and the tables to the pages.
func TestRun_GoldenOutput(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, 0.1))
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o644))
		for page, tables := range measured(t) {
			text := read(t, page)
			for name, table := range tables {
				text = block(name).ReplaceAllLiteralString(text, shown(name, table))
			}
			require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
		}
	}
	require.Equal(t, read(t, golden), out.String())
}

// TestPages_ShowMeasuredTables compares the pages with the golden files.
func TestPages_ShowMeasuredTables(t *testing.T) {
	for page, tables := range measured(t) {
		text := read(t, page)
		for name, table := range tables {
			require.NotEmpty(t, table)
			require.Equal(t, shown(name, table), block(name).FindString(text), "%s: make golden rewrites the tables", page)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// block is where a page shows a table.
func block(name string) *regexp.Regexp {
	return regexp.MustCompile("(?s)<!-- measured: " + name + " -->\n```\n.*?```\n")
}

func shown(name, table string) string {
	return "<!-- measured: " + name + " -->\n```\n" + table + "\n```\n"
}

// measured are the tables of each page, from the golden files.
func measured(t *testing.T) map[string]map[string]string {
	t.Helper()
	parts := strings.Split(read(t, golden), "\n\n")
	require.Len(t, parts, 8, "a heading, three titles with their tables, and the verdict")
	return map[string]map[string]string{benchmarks: {"sizes": parts[6]}, resultsPage: {"indexes": indexes(t)}}
}

// indexes takes the line of all held out queries from each index's golden file.
func indexes(t *testing.T) string {
	t.Helper()
	heldOut := regexp.MustCompile(`(?s)\(heldout\)\n\n(.*?)\n(?:.*?\n)*?all( .*?)\n`)
	var lines []string
	for _, index := range []struct{ file, title string }{{"keyword", "index.Keyword"}, {"bm25", "index.BM25"}, {"fused", "both, fused"}} {
		m := heldOut.FindStringSubmatch(read(t, "../../toolsearch/toolsearcheval/testdata/golden/"+index.file+".txt"))
		require.NotNil(t, m, index.file)
		if lines == nil {
			lines = append(lines, m[1])
		}
		lines = append(lines, fmt.Sprintf("%-13s%s", index.title, m[2][len("index.Keyword")-len("all"):]))
	}
	return strings.Join(lines, "\n")
}

func TestTasks_NoQuestionHoldsItsAnswer(t *testing.T) {
	for _, task := range tasks {
		for _, q := range task {
			require.NotEmpty(t, q.truth, q.text)
			require.NotContains(t, q.text, q.truth, "an answer that repeats the question would be right")
		}
	}
}

// within sets other tasks and ways for a test, and leaves out the parts of the library.
func within(t *testing.T, other [][]question, only []way) {
	t.Helper()
	oldTasks, oldWays, oldSizes := tasks, ways, sizes
	t.Cleanup(func() { tasks, ways, sizes = oldTasks, oldWays, oldSizes })
	tasks, ways, sizes = other, only, nil
}

func TestRun_WrongAnswerIsAnError(t *testing.T) {
	within(t, [][]question{{{`Reverse the text "abc"`, "abc reversed"}}}, ways[1:2])
	require.ErrorContains(t, run(context.Background(), io.Discard, 0.1), "2 answers are wrong")
}

func TestSearchCall_AloneKeepsPrefixOfEveryRequest(t *testing.T) {
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	b := bench{tools: tools, out: io.Discard, needed: map[string]bool{}}
	within(t, tasks[:2], ways)
	for _, w := range ways {
		if w.cfg == nil || w.cfg.UnloadAfter > 0 || w.cfg.CatalogLimit == 0 {
			continue
		}
		calls, err := b.solve(context.Background(), w, true)
		require.NoError(t, err)
		lost := 0
		for i := 1; i < len(calls); i++ {
			if calls[i].cached < calls[i-1].all {
				lost++
			}
		}
		if w.cfg.Protocol == toolsearch.SearchCall {
			require.Zero(t, lost, w.title)
		} else {
			require.Positive(t, lost, w.title)
		}
	}
}

func TestCommon_ReturnsSharedPrefixLength(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		common int
	}{{"", "", 0}, {"abc", "abc", 3}, {"abc", "abd", 2}, {"abc", "ab", 2}, {"xbc", "abc", 0}} {
		require.Equal(t, c.common, offline.Common(c.a, c.b))
		require.Equal(t, c.common, offline.Common(c.b, c.a))
	}
	require.Equal(t, 30, sum{all: 480, cached: 400}.price(0.1))
}
