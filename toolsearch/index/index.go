// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package index ranks tools for the searches of package toolsearch: by Eino's keyword score, by BM25,
// by embeddings, by any Eino retriever, or by several of these.
//
//	config := toolsearch.Recommended(tools)
//	config.NewIndex = index.BM25 // what Recommended sets
//	search, err := toolsearch.New(ctx, config)
package index

import (
	"context"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/safe"
)

// Index ranks the tools that it was made from. It must be safe for concurrent use.
type Index interface {
	// Search returns the tools that fit, best first, without duplicates. If it fails or
	// panics, Eino's keyword score answers instead.
	Search(ctx context.Context, q Query) ([]Result, error)
}

// Query is what an index is asked.
type Query struct {
	// Text is what the model wrote: words, of which those with a leading + are required.
	Text string
	// Limit is the largest number of results wanted. If zero or less, all are.
	Limit int
}

// Result is one ranked tool.
type Result struct {
	// Name is the tool's name.
	Name string
	// Score is higher for a better fit; its scale is the index's own. If it is not a number, 0.
	Score float64
	// Confidence is the probability, from 0 to 1, that the tool serves the query, if half of all
	// queries have a suitable tool. It means the same for every query, catalogue and
	// index. If zero and toolsearch.Config.MinConfidence is set, it becomes the highest
	// confidence that BM25 has for the tool or for one further down. If BM25 finds none of the
	// tools, it stays unknown, and no result is refused for it.
	Confidence float64
}

// Func makes an index of tools. It may keep the slice and must not change the
// tools. Without a toolsearch.Config.Source, its error becomes that of toolsearch.New, or that of the run if only
// the run knows the tools. With a Source, Eino's keyword score answers, and each search reports the error
// (einolean.KindIndexFailed). Those of this package return at once. Their index is built in the background when
// the first run starts; a search that arrives meanwhile waits for it.
type Func func(ctx context.Context, tools []*schema.ToolInfo) (Index, error)

// Explain returns what each word of a query adds to the score of a tool; nothing if the index does
// not know the tool, or is of neither this package nor package semantic.
func Explain(x Index, q Query, name string) []einolean.Term {
	t, ok := x.(interface {
		Terms(q Query, name string) []einolean.Term
	})
	if !ok {
		return nil
	}
	terms, _ := safe.Value("the index", func() ([]einolean.Term, error) { return t.Terms(q, name), nil })
	return terms
}
