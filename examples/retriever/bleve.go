// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"
)

// fullText is a full-text engine. It is safe for concurrent use.
type fullText struct{ index bleve.Index }

var (
	_ indexer.Indexer     = fullText{}
	_ retriever.Retriever = fullText{}
)

func newFullText() (fullText, error) {
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = en.AnalyzerName
	index, err := bleve.NewMemOnly(mapping)
	return fullText{index}, err
}

// Store adds documents.
func (f fullText) Store(_ context.Context, docs []*schema.Document, _ ...indexer.Option) ([]string, error) {
	batch := f.index.NewBatch()
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
		if err := batch.Index(d.ID, map[string]any{"content": d.Content}); err != nil {
			return nil, fmt.Errorf("indexing %q: %w", d.ID, err)
		}
	}
	return ids, f.index.Batch(batch)
}

// Retrieve finds documents by their words.
func (f fullText) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	top := 5
	o := retriever.GetCommonOptions(&retriever.Options{TopK: &top}, opts...)
	request := bleve.NewSearchRequestOptions(bleve.NewMatchQuery(query), *o.TopK, 0, false)
	found, err := f.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	docs := make([]*schema.Document, len(found.Hits))
	for i, hit := range found.Hits {
		docs[i] = (&schema.Document{ID: hit.ID}).WithScore(hit.Score)
	}
	return docs, nil
}
