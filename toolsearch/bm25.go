// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file puts the better ranker behind the search.

import (
	"context"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/keyword/bm25"
)

// BM25Index ranks tools by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance
// Framework: BM25 and Beyond", 2009) over name, server, description, the names and
// descriptions of parameters, and enum values. It needs no model and no service.
//
// It reads whole sentences as well as keywords, in any case and width (NFKC), English
// words in any form, and Chinese, Japanese and Korean without spaces. Where a word stands
// in no tool it tries likely misspellings; some synonyms, and English words for Chinese
// ones, count a little. Words with a leading + must match. Where tools of several servers
// fit equally well, each server gets a place.
//
// The index is built once, at the first search. Its answers are the same on every
// machine. The work for a query, and what is read of each schema, is bounded.
func BM25Index(_ context.Context, tools []*schema.ToolInfo) (Index, error) {
	return bm25Index{atFirstUse(func() *bm25.Index { return bm25.New(documents(tools, true)) })}, nil
}

type bm25Index struct {
	get func() (*bm25.Index, error)
}

func (b bm25Index) build() error {
	_, err := b.get()
	return err
}

func (b bm25Index) Search(ctx context.Context, q Query) ([]Result, error) {
	x, err := b.get()
	if err != nil {
		return nil, err
	}
	hits, err := x.Search(ctx, q.Text, q.Limit)
	if err != nil {
		return nil, err
	}
	return results(hits, x.Name), nil
}

func (b bm25Index) Explain(q Query, name string) string {
	x, err := b.get()
	if err != nil {
		return ""
	}
	doc, ok := x.Lookup(name)
	if !ok {
		return ""
	}
	return x.Explain(q.Text, doc).String()
}

func (b bm25Index) terms(q Query, name string) []leanctx.Term {
	x, err := b.get()
	if err != nil {
		return nil
	}
	doc, ok := x.Lookup(name)
	if !ok {
		return nil
	}
	return eventTerms(x.Explain(q.Text, doc))
}
