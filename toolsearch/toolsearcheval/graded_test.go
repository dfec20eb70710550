// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// The project's own graded set: the tools of the demo's library
// in testdata/library.jsonl, those of testdata/tools.jsonl, and the queries of testdata/dev.jsonl, to tune on, and of
// testdata/heldout.jsonl, to judge by.

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// namedIndex is an index under test.
type namedIndex struct {
	name string
	make index.Func
}

// indexes have no time limit that a busy machine could reach.
var indexes = []namedIndex{
	{"keyword", index.Keyword},
	{"bm25", index.BM25},
	{"fused", index.Fuse(
		index.TimeLimit(time.Minute, index.Keyword),
		index.TimeLimit(time.Minute, index.BM25),
	)},
}

// graded is a catalogue with the two halves of its queries.
type graded struct {
	tools        []*schema.ToolInfo
	dev, heldout []toolsearcheval.Case
}

func (g graded) cases() []toolsearcheval.Case { return slices.Concat(g.dev, g.heldout) }

func libraryTools(t testing.TB) []*schema.ToolInfo {
	tools, err := toolsearcheval.LoadTools("testdata/library.jsonl")
	require.NoError(t, err)
	return tools
}

// ownSet is the whole set.
func ownSet(t testing.TB) graded {
	tools, dev, err := toolsearcheval.Load("testdata/tools.jsonl", "testdata/dev.jsonl")
	require.NoError(t, err)
	heldout, err := toolsearcheval.LoadCases("testdata/heldout.jsonl")
	require.NoError(t, err)
	return graded{slices.Concat(libraryTools(t), tools), dev, heldout}
}

// librarySet is the part of the set that needs nothing but the library.
func librarySet(t testing.TB) graded {
	own, tools := ownSet(t), libraryTools(t)
	known := map[string]bool{}
	for _, tool := range tools {
		known[tool.Name] = true
	}
	foreign := func(name string) bool { return !known[name] }
	needsMore := func(c toolsearcheval.Case) bool {
		if slices.ContainsFunc(c.Relevant, foreign) {
			return true
		}
		for _, names := range c.Equivalent {
			if slices.ContainsFunc(names, foreign) {
				return true
			}
		}
		return false
	}
	return graded{tools, slices.DeleteFunc(own.dev, needsMore), slices.DeleteFunc(own.heldout, needsMore)}
}

func evaluate(t testing.TB, x namedIndex, tools []*schema.ToolInfo, cases []toolsearcheval.Case) *toolsearcheval.Report {
	t.Helper()
	r, err := toolsearcheval.Evaluate(context.Background(), x.make, tools, cases)
	require.NoError(t, err)
	return r
}

func TestGradedSet_IsLargeAndVaried(t *testing.T) {
	own, lib := ownSet(t), librarySet(t)
	require.GreaterOrEqual(t, len(own.tools)-len(lib.tools), 300, "tools besides the library's")
	require.GreaterOrEqual(t, len(own.cases()), 420)
	require.GreaterOrEqual(t, len(lib.cases()), 150)
	kinds, servers := map[string]int{}, map[string]bool{}
	for _, c := range own.cases() {
		kinds[c.Kind]++
	}
	for _, tool := range own.tools {
		server, _, _ := strings.Cut(tool.Name, "__")
		servers[server] = true
	}
	for _, kind := range []string{
		"exact", "partial", "inflected", "description-only", "paraphrased", "typo", "parameter", "server", "+required",
		"ambiguous", "multi-tool", "chinese", "chinese-over-english", "english-over-chinese", "sentence", "no-match", "model",
	} {
		require.GreaterOrEqual(t, kinds[kind], 10, "queries of the kind %q", kind)
	}
	require.GreaterOrEqual(t, len(servers), 60)
}

func TestGradedSet_QueriesAreWellFormed(t *testing.T) {
	queries := map[string]string{}
	for _, c := range ownSet(t).cases() {
		require.NotEmpty(t, c.ID, "%q", c.Query)
		require.NotEmpty(t, strings.TrimSpace(c.Query), "%s", c.ID)
		require.Empty(t, queries[c.Query], "%s has the query of another case", c.ID)
		queries[c.Query] = c.ID
		require.Equal(t, c.Kind == "no-match" || c.Kind == "+required" && len(c.Relevant) == 0, len(c.Relevant) == 0, "%s", c.ID)
	}
}

func TestGradedSet_QueriesAreInTheirHalf(t *testing.T) {
	own := ownSet(t)
	dev, heldout := toolsearcheval.Split(own.cases())
	require.Equal(t, own.dev, dev, "queries that belong into testdata/heldout.jsonl")
	require.Equal(t, own.heldout, heldout, "queries that belong into testdata/dev.jsonl")
}

// The golden files record the measures of each index; these are the least that BM25 must reach,
// whatever is written into a golden file.
func TestBM25_ReachesGoals(t *testing.T) {
	race.Skip(t, "evaluates a ranking")
	own := ownSet(t)
	of := func(kinds ...string) []toolsearcheval.Case {
		return slices.DeleteFunc(own.cases(), func(c toolsearcheval.Case) bool { return !slices.Contains(kinds, c.Kind) })
	}
	require := func(cases []toolsearcheval.Case, least toolsearcheval.Measures) {
		t.Helper()
		toolsearcheval.Require(t, index.BM25, own.tools, cases, least)
	}
	require(own.cases(), toolsearcheval.Measures{Recall1: .80, Recall5: .93, Recall10: .95, NDCG10: .88, MRR: .86})
	require(of("exact", "partial", "inflected", "server", "ambiguous"), toolsearcheval.Measures{Recall5: .97})
	require(of("chinese"), toolsearcheval.Measures{Recall5: .93})
	require(of("english-over-chinese"), toolsearcheval.Measures{Recall5: .90})
	require(of("model"), toolsearcheval.Measures{Recall1: .90, Recall5: .97})
	heldout := func(kinds ...string) []toolsearcheval.Case {
		_, judged := toolsearcheval.Split(of(kinds...))
		return judged
	}
	require(heldout("model"), toolsearcheval.Measures{Recall5: .93})
	require(heldout("chinese-over-english", "chinese-request"), toolsearcheval.Measures{Recall5: .80})
}
