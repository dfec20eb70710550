// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// fixed is an index whose answers are given.
type fixed map[string][]string

func (f fixed) Search(_ context.Context, q index.Query) ([]index.Result, error) {
	var out []index.Result
	for i, n := range f[q.Text] {
		out = append(out, index.Result{Name: n, Score: 1 / float64(i+1)})
	}
	return out, nil
}

func (f fixed) index(context.Context, []*schema.ToolInfo) (index.Index, error) { return f, nil }

func catalogue(names ...string) (tools []*schema.ToolInfo) {
	for _, n := range names {
		tools = append(tools, &schema.ToolInfo{Name: n, Desc: "does " + n})
	}
	return tools
}

func TestEvaluate_MeasuresFollowDefinitions(t *testing.T) {
	f := fixed{
		"first":  {"a", "b"},
		"second": {"b", "a"},
		"half":   {"a", "x", "y", "z", "w", "c"},
		"equal":  {"b"},
		"noise":  {"a"},
	}
	r, err := toolsearcheval.Evaluate(context.Background(), f.index, catalogue("a", "b", "c"), []toolsearcheval.Case{
		{Query: "first", Relevant: []string{"a"}, Kind: "k"},
		{Query: "second", Relevant: []string{"a"}, Kind: "k"},
		{Query: "half", Relevant: []string{"a", "c"}},
		{Query: "equal", Relevant: []string{"a"}, Equivalent: map[string][]string{"a": {"b"}}},
		{Query: "noise"},
		{Query: "nothing"},
	})
	require.NoError(t, err)
	require.Equal(t, 6, r.Queries)
	require.Equal(t, 2, r.Unanswerable)
	require.InDelta(t, (1+0+.5+1)/4, r.Recall1, 1e-9)
	require.InDelta(t, (1+1+.5+1)/4, r.Recall5, 1e-9)
	require.InDelta(t, 1, r.Recall10, 1e-9)
	require.InDelta(t, (1+.5+1+1)/4, r.MRR, 1e-9)
	require.InDelta(t, .5, r.NoMatch, 1e-9)
	half := (1 + 1/2.807354922) / (1 + 1/1.584962501)
	require.InDelta(t, (1+1/1.584962501+half+1)/4, r.NDCG10, 1e-6)
	require.InDelta(t, .5, r.Kinds["k"].Recall1, 1e-9)
	require.Equal(t, []string{"c"}, r.Cases[2].Missing)
}

func TestMisses_ExplainRanking(t *testing.T) {
	tools := catalogue("send_email", "read_file")
	cases := []toolsearcheval.Case{{ID: "c1", Query: "file", Relevant: []string{"send_email"}}}
	r, err := toolsearcheval.Evaluate(context.Background(), index.Keyword, tools, cases)
	require.NoError(t, err)
	require.Contains(t, r.Misses(0), `c1 "file" misses send_email`)
	require.Contains(t, r.Misses(0), "read_file")
}

func TestRequire_FailsBelowGoal(t *testing.T) {
	tools := catalogue("send_email", "read_file")
	cases := []toolsearcheval.Case{{Query: "email", Relevant: []string{"send_email"}}, {Query: "zzz", Relevant: []string{"read_file"}}}
	l := &listener{TB: t}
	toolsearcheval.Require(l, index.Keyword, tools, cases, toolsearcheval.Measures{Recall5: .5, Queries: 2})
	require.Empty(t, l.said)
	toolsearcheval.Require(l, index.Keyword, tools, cases, toolsearcheval.Measures{Recall5: .6, Queries: 3})
	require.Len(t, l.said, 1)
	require.Contains(t, l.said[0], "recall@5 is 0.500, below 0.600; the number of queries is 2.000, below 3.000\n")
	require.Contains(t, l.said[0], "misses read_file")
}
