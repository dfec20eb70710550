// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The embedding is computed here, without a model, from the letters of the text: in your program,
// put a real embedder in its place.

import (
	"context"
	"hash/fnv"
	"math"
	"runtime"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"
	"github.com/philippgille/chromem-go"
)

// vectors is a vector database. It is safe for concurrent use.
type vectors struct{ collection *chromem.Collection }

var (
	_ indexer.Indexer     = vectors{}
	_ retriever.Retriever = vectors{}
)

func newVectors() (vectors, error) {
	collection, err := chromem.NewDB().CreateCollection("tools", nil, embed)
	return vectors{collection}, err
}

// Store adds documents.
func (v vectors) Store(ctx context.Context, docs []*schema.Document, _ ...indexer.Option) ([]string, error) {
	stored := make([]chromem.Document, len(docs))
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
		stored[i] = chromem.Document{ID: d.ID, Content: d.Content}
	}
	return ids, v.collection.AddDocuments(ctx, stored, runtime.NumCPU())
}

// Retrieve finds the documents whose vectors are nearest.
func (v vectors) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	top := 5
	o := retriever.GetCommonOptions(&retriever.Options{TopK: &top}, opts...)
	found, err := v.collection.Query(ctx, query, min(*o.TopK, v.collection.Count()), nil, nil)
	if err != nil {
		return nil, err
	}
	docs := make([]*schema.Document, len(found))
	for i, hit := range found {
		docs[i] = (&schema.Document{ID: hit.ID}).WithScore(float64(hit.Similarity))
	}
	return docs, nil
}

const dimensions = 1024

// embed counts the character trigrams of the words, hashed into a vector of length 1
// (Weinberger et al., "Feature Hashing", ICML 2009). Long words weigh more.
func embed(_ context.Context, text string) ([]float32, error) {
	vector := make([]float32, dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	seen := map[string]bool{}
	for _, w := range words {
		if len(w) < 3 || seen[w] {
			continue
		}
		seen[w] = true
		padded := "^" + w + "$"
		for i := 0; i+3 <= len(padded); i++ {
			h := fnv.New32a()
			_, _ = h.Write([]byte(padded[i : i+3]))
			vector[h.Sum32()%dimensions]++
		}
	}
	norm := 0.0
	for i, x := range vector {
		vector[i] = float32(math.Sqrt(float64(x)))
		norm += float64(x)
	}
	if norm == 0 {
		vector[0], norm = 1, 1
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(norm))
	}
	return vector, nil
}
