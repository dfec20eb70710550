// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

var indexes = []struct {
	name string
	make index.Func
}{
	{"Eino's score", index.Keyword},
	{"index.BM25", index.BM25},
}

// ownSet is the project's own graded set.
var ownSet = filepath.Join("..", "..", "..", "..", "toolsearch", "toolsearcheval", "testdata")

// kinds are the queries that the chart shows apart. Every query counts in "all".
var kinds = []struct {
	label string
	of    []string // nil: all
}{
	{"all", nil},
	{"names", []string{"exact", "partial", "server"}},
	{"inflected", []string{"inflected"}},
	{"typos", []string{"typo"}},
	{"paraphrased", []string{"paraphrased"}},
	{"sentences", []string{"sentence"}},
	{"Chinese", []string{"chinese"}},
	{"Chinese for English", []string{"chinese-over-english"}},
}

// recall evaluates every index on the half of the project's own set that no ranking was
// tuned on. It reads nothing outside the repository.
func recall(ctx context.Context) (figure, error) {
	f := figure{title: "Relevant tools among the first five found", subtitle: "recall@5 by kind of query, on the half of our graded set that no ranking was tuned on", xTitle: "kind of query", format: share}
	for _, x := range indexes {
		f.series = append(f.series, series{name: x.name})
	}
	tools, cases, err := own()
	if err != nil {
		return f, err
	}
	for _, k := range kinds {
		some := slices.DeleteFunc(slices.Clone(cases), func(c toolsearcheval.Case) bool { return k.of != nil && !slices.Contains(k.of, c.Kind) })
		if len(some) == 0 {
			return f, fmt.Errorf("there are no queries of the kind %q", k.label)
		}
		if err := f.evaluate(ctx, k.label, tools, some); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *figure) evaluate(ctx context.Context, label string, tools []*schema.ToolInfo, cases []toolsearcheval.Case) error {
	f.labels = append(f.labels, label)
	for i, x := range indexes {
		r, err := toolsearcheval.Evaluate(ctx, x.make, tools, cases)
		if err != nil {
			return err
		}
		f.series[i].values = append(f.series[i].values, r.Recall5)
	}
	return nil
}

// own is all tools of the graded set, and the held-out queries.
func own() ([]*schema.ToolInfo, []toolsearcheval.Case, error) {
	tools, cases, err := toolsearcheval.Load(filepath.Join(ownSet, "tools.jsonl"), filepath.Join(ownSet, "heldout.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	library, err := toolsearcheval.LoadTools(filepath.Join(ownSet, "library.jsonl"))
	return append(tools, library...), cases, err
}
