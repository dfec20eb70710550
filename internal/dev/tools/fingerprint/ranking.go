// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Random queries over random catalogs.

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
)

func rankingRun(ctx context.Context, g *rand.Rand, out, errs io.Writer) {
	tools, _ := randomTools(g)
	var infos []*schema.ToolInfo
	for _, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			fmt.Fprintln(errs, err)
			return
		}
		infos = append(infos, info)
	}
	for _, build := range []index.Func{index.BM25, index.Keyword} {
		x, err := build(ctx, infos)
		if err != nil {
			fmt.Fprintln(errs, err)
			return
		}
		for range 5 {
			q := index.Query{Text: randomQuery(g), Limit: 1 + g.IntN(8)}
			results, err := x.Search(ctx, q)
			fmt.Fprintln(out, q.Text, err)
			for _, r := range results {
				fmt.Fprintln(out, r, index.Explain(x, q, r.Name))
			}
		}
	}
}

// randomQuery makes a request of words of the catalogs, with word forms, typos and both languages.
func randomQuery(g *rand.Rand) string {
	var words []string
	for range 1 + g.IntN(8) {
		list := [][]string{verbs, subjects, subjects, chinese, strings.Fields("the please my all settings with deleted a 我的 请")}[g.IntN(5)]
		w := list[g.IntN(len(list))]
		switch g.IntN(6) {
		case 0:
			w += "s"
		case 1:
			w = w[:len(w)/2] + "x" + w[len(w)/2:]
		case 2:
			w = "+" + w
		}
		words = append(words, w)
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "?")
}
