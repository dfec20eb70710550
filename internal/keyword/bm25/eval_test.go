// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

type gradedQuery struct {
	Query    string
	Relevant []string
	Equiv    map[string][]string // names that count as well
}

type gradedTool struct {
	Name, Description, Server string
	Params                    map[string]string
}

func readLines[T any](t testing.TB, path string) (out []T) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		out = append(out, v)
	}
	require.NoError(t, lines.Err())
	return out
}

func gradedDocs(t testing.TB, path string) (docs []keyword.Doc) {
	for _, tool := range readLines[gradedTool](t, path) {
		d := keyword.Doc{Name: tool.Name, Server: tool.Server, Description: tool.Description}
		for name, description := range tool.Params {
			d.Params = append(d.Params, keyword.Param{Name: name, Description: description})
		}
		slices.SortFunc(d.Params, func(a, b keyword.Param) int { return strings.Compare(a.Name, b.Name) })
		docs = append(docs, d)
	}
	return docs
}

// recall is the share of what is relevant among the names that were found.
func recall(q gradedQuery, found []string) float64 {
	hits := 0
	for _, want := range q.Relevant {
		if slices.ContainsFunc(found, func(f string) bool { return f == want || slices.Contains(q.Equiv[want], f) }) {
			hits++
		}
	}
	return float64(hits) / float64(len(q.Relevant))
}

// leastRecall is the recall at 5 that BM25 must not fall below, where it is known.
var leastRecall = map[string]float64{
	"apibank/queries": .801, "apibank/queries_kw": .795, "metatool/queries": .644, "metatool/queries_kw": .504,
	"bfcl/queries": .825, "bfcl/queries_kw": .729, "sealtools/queries": .923, "sealtools/queries_kw": .553,
	"acebench_zh/queries": .93,
}

func TestSearch_RecallOnGradedQueries(t *testing.T) {
	dir := os.Getenv("EINOLEAN_DATA")
	if dir == "" {
		t.Skip("EINOLEAN_DATA names no directory with graded queries")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "queries*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var union []keyword.Doc
	taken := make(map[string]bool)
	fmt.Printf("%-30s %7s  keyword@5   bm25@5   bm25@1  bm25@10\n", "", "queries")
	for _, file := range files {
		docs := gradedDocs(t, filepath.Join(filepath.Dir(file), "tools.jsonl"))
		for _, d := range docs {
			if !taken[d.Name] {
				taken[d.Name] = true
				union = append(union, d)
			}
		}
		measure(t, dir, file, docs, "")
	}
	for _, file := range files {
		measure(t, dir, file, union, "all/")
	}
}

func measure(t *testing.T, dir, file string, docs []keyword.Doc, prefix string) {
	name, err := filepath.Rel(dir, strings.TrimSuffix(file, ".jsonl"))
	require.NoError(t, err)
	queries := readLines[gradedQuery](t, file)
	specified, bm25 := keyword.New(docs), New(allWords(), docs)
	var at5, our1, our5, our10 float64
	for _, q := range queries {
		hits, err := specified.Search(context.Background(), keyword.Parse(q.Query), 5)
		require.NoError(t, err)
		at5 += recall(q, namesOf(hits, specified.Name))
		found := answers(t, bm25, q.Query, 10)
		our1 += recall(q, found[:min(1, len(found))])
		our5 += recall(q, found[:min(5, len(found))])
		our10 += recall(q, found)
	}
	n := float64(len(queries))
	fmt.Printf("%-30s %7d  %9.4f %8.4f %8.4f %8.4f\n", prefix+name, len(queries), at5/n, our5/n, our1/n, our10/n)
	require.GreaterOrEqual(t, our5/n, leastRecall[prefix+name], prefix+name)
}

func namesOf(hits []keyword.Hit, name func(int) string) (names []string) {
	for _, h := range hits {
		names = append(names, name(h.Doc))
	}
	return names
}
