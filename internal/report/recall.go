// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file measures how well each index finds tools.

import (
	"context"
	"errors"
	"os"
	"path/filepath"

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

// ownSet is the project's own graded set.
var ownSet = filepath.Join("..", "..", "toolsearch", "toolsearcheval", "testdata")

// recall evaluates every index on the project's own set, and on what else there is.
func recall(ctx context.Context, data string) (figure, error) {
	f := figure{title: "Relevant tools among the first 5 results", xTitle: "catalogue", yTitle: "recall@5"}
	for _, x := range indexes {
		f.series = append(f.series, series{name: x.name})
	}
	add := func(label, tools, cases string) error {
		infos, graded, err := toolsearcheval.Load(tools, cases)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f.labels = append(f.labels, label)
		for i, x := range indexes {
			r, err := toolsearcheval.Evaluate(ctx, x.make, infos, graded)
			if err != nil {
				return err
			}
			f.series[i].values = append(f.series[i].values, r.Recall5)
		}
		return nil
	}
	for _, c := range []struct{ label, tools, cases string }{
		{"own", filepath.Join(ownSet, "tools.jsonl"), filepath.Join(ownSet, "queries.jsonl")},
	} {
		if err := add(c.label, c.tools, c.cases); err != nil {
			return f, err
		}
	}
	if data == "" {
		return f, nil
	}
	folders, err := filepath.Glob(filepath.Join(data, "*", "tools.jsonl"))
	if err != nil {
		return f, err
	}
	for _, tools := range folders {
		dir := filepath.Dir(tools)
		if err := add(filepath.Base(dir), tools, filepath.Join(dir, "queries.jsonl")); err != nil {
			return f, err
		}
	}
	return f, nil
}
