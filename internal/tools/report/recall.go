// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file measures how well each index finds tools.

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/examples/library"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

var indexes = []struct {
	name string
	make toolsearch.IndexFunc
}{
	{"KeywordIndex (Eino's score)", toolsearch.KeywordIndex},
	{"BM25Index", toolsearch.BM25Index},
}

// ownSet is the project's own graded set, which is about these tools and the library's.
var ownSet = filepath.Join("..", "..", "..", "toolsearch", "toolsearcheval", "testdata")

// recall evaluates every index on the half of the project's own set that no ranking was
// tuned on, and on what else there is.
func recall(ctx context.Context, data string) (figure, error) {
	f := figure{title: "Relevant tools among the first 5 results", xTitle: "catalogue", yTitle: "recall@5"}
	for _, x := range indexes {
		f.series = append(f.series, series{name: x.name})
	}
	tools, cases, err := own(ctx)
	if err != nil {
		return f, err
	}
	if err := f.evaluate(ctx, "own, held out", tools, cases); err != nil || data == "" {
		return f, err
	}
	folders, err := filepath.Glob(filepath.Join(data, "*", "tools.jsonl"))
	if err != nil {
		return f, err
	}
	for _, file := range folders {
		dir := filepath.Dir(file)
		tools, cases, err := toolsearcheval.Load(file, filepath.Join(dir, "queries.jsonl"))
		if err != nil {
			return f, err
		}
		dropUnknown(tools, cases)
		if err := f.evaluate(ctx, filepath.Base(dir), tools, cases); err != nil {
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

// own is the library of the demo with further tools, and the held-out queries.
func own(ctx context.Context) ([]*schema.ToolInfo, []toolsearcheval.Case, error) {
	tools, cases, err := toolsearcheval.Load(filepath.Join(ownSet, "tools.jsonl"), filepath.Join(ownSet, "heldout.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	root, err := os.MkdirTemp("", "report")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	working, err := library.Tools(root)
	if err != nil {
		return nil, nil, err
	}
	infos, err := toolsearcheval.Infos(ctx, working)
	return append(tools, infos...), cases, err
}

// dropUnknown leaves out equivalents that a catalogue does not hold.
func dropUnknown(tools []*schema.ToolInfo, cases []toolsearcheval.Case) {
	known := map[string]bool{}
	for _, t := range tools {
		known[t.Name] = true
	}
	for _, c := range cases {
		for name, others := range c.Equivalent {
			c.Equivalent[name] = slices.DeleteFunc(others, func(o string) bool { return !known[o] })
		}
	}
}
