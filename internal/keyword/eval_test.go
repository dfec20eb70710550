// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file measures recall on graded queries.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type gradedQuery struct {
	ID       string
	Query    string
	Relevant []string
	Equiv    map[string][]string
	Lang     string
}

type gradedTool struct {
	Name, Description, Server string
	Params                    map[string]string
}

func readLines[T any](t testing.TB, path string) (out []T) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
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

func gradedDocs(t testing.TB, path string) (docs []Doc) {
	for _, tool := range readLines[gradedTool](t, path) {
		d := Doc{Name: tool.Name, Server: tool.Server, Description: tool.Description}
		names := make([]string, 0)
		for name := range tool.Params {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			d.Params = append(d.Params, Param{Name: name, Description: tool.Params[name]})
		}
		docs = append(docs, d)
	}
	return docs
}

func recall(q gradedQuery, found []string) float64 {
	hits := 0
	for _, want := range q.Relevant {
		if slices.ContainsFunc(found, func(f string) bool { return f == want || slices.Contains(q.Equiv[want], f) }) {
			hits++
		}
	}
	return float64(hits) / float64(len(q.Relevant))
}

var gradedSets = []string{"apibank", "metatool", "bfcl", "sealtools", "acebench_zh", "mcp_servers"}

func TestRecall(t *testing.T) {
	dir := os.Getenv("LEANCTX_DATA")
	if dir == "" {
		t.Skip("LEANCTX_DATA names no directory with graded queries")
	}
	var union []Doc
	fmt.Printf("%-28s %7s %8s %8s   %8s %8s\n", "", "queries", "spec@5", "bm25@5", "@1", "@10")
	type part struct {
		name    string
		queries []gradedQuery
	}
	var parts []part
	seen := map[string]bool{}
	for _, set := range gradedSets {
		docs := gradedDocs(t, filepath.Join(dir, set, "tools.jsonl"))
		for _, d := range docs {
			if !seen[d.Name] {
				seen[d.Name] = true
				union = append(union, d)
			}
		}
		spec, ours := New(docs), NewBM25(docs)
		for _, file := range []string{"queries", "queries_kw", "queries_llm"} {
			queries := readLines[gradedQuery](t, filepath.Join(dir, set, file+".jsonl"))
			if len(queries) == 0 {
				continue
			}
			measure(t, set+"/"+file, spec, ours, queries)
			parts = append(parts, part{set + "/" + file, queries})
		}
	}
	spec, ours := New(union), NewBM25(union)
	for _, p := range parts {
		measure(t, "union "+p.name, spec, ours, p.queries)
	}
}

func measure(t *testing.T, name string, spec *Index, ours *BM25, queries []gradedQuery) {
	var s, o, o1, o10 float64
	miss := os.Getenv("MISSES")
	for _, q := range queries {
		hits, err := spec.Search(context.Background(), Parse(q.Query), 5)
		require.NoError(t, err)
		s += recall(q, hitNames(hits, spec.Name))
		hits, err = ours.Search(context.Background(), q.Query, Options{Limit: 10})
		require.NoError(t, err)
		found := hitNames(hits, ours.Name)
		r := recall(q, found[:min(5, len(found))])
		o += r
		o1 += recall(q, found[:min(1, len(found))])
		o10 += recall(q, found)
		if miss == name && r < 1 {
			fmt.Printf("%s\n   want %q\n   got %q\n", q.Query, q.Relevant, found[:min(5, len(found))])
		}
	}
	n := float64(len(queries))
	fmt.Printf("%-28s %7d %8.4f %8.4f   %8.4f %8.4f\n", name, len(queries), s/n, o/n, o1/n, o10/n)
}

func hitNames(hits []Hit, name func(int) string) (names []string) {
	for _, h := range hits {
		names = append(names, name(h.Doc))
	}
	return names
}
