// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Examples of rankings, and of a model that takes over.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
)

// find prints what an index finds among the tools of the cities.
func find(f toolsearch.IndexFunc, query string) {
	ctx := context.Background()
	var infos []*schema.ToolInfo
	for _, t := range cityTools() {
		info, _ := t.Info(ctx)
		infos = append(infos, info)
	}
	index, err := f(ctx, infos)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, _ := index.Search(ctx, toolsearch.Query{Text: query, Limit: 3})
	for _, r := range found {
		fmt.Println(r.Name)
	}
}

// The specified score finds parts of names and descriptions, letter by letter.
func ExampleKeywordIndex() {
	find(toolsearch.KeywordIndex, "hotel")
	// Output: travel__find_hotel
}

// BM25 reads sentences, word forms, misspellings, and Chinese over English tools.
func ExampleBM25Index() {
	find(toolsearch.BM25Index, "is it going to be rainy? I need the forecasts")
	find(toolsearch.BM25Index, "hotle")
	find(toolsearch.BM25Index, "酒店")
	// Output:
	// weather__get_forecast
	// travel__find_hotel
	// travel__find_hotel
}

// engine stands for a search engine behind one of Eino's retrievers.
type engine struct{ docs []*schema.Document }

func (e engine) Retrieve(_ context.Context, query string, _ ...retriever.Option) (found []*schema.Document, err error) {
	for _, d := range e.docs {
		if strings.Contains(d.Content, query) {
			found = append(found, d)
		}
	}
	return found, nil
}

// ToolDocuments makes the documents that an engine stores; one call of its Eino indexer
// stores them.
func ExampleToolDocuments() {
	docs, err := toolsearch.ToolDocuments(context.Background(), cityTools())
	fmt.Println(len(docs), err)
	fmt.Println(docs[0].MetaData[toolsearch.ToolNameKey])
	// Output:
	// 2 <nil>
	// weather__get_forecast
}

// Any retriever of Eino's can rank tools.
func ExampleRetrieverIndex() {
	docs, _ := toolsearch.ToolDocuments(context.Background(), cityTools())
	find(toolsearch.RetrieverIndex(engine{docs}), "weather")
	// Output: weather__get_forecast
}

// Several rankings become one; an engine behind a network gets a time limit, and the search
// goes on without it when it does not answer.
func ExampleFuse() {
	docs, _ := toolsearch.ToolDocuments(context.Background(), cityTools())
	find(toolsearch.Fuse(
		toolsearch.BM25Index,
		toolsearch.TimeLimit(300*time.Millisecond, toolsearch.RetrieverIndex(engine{docs})),
	), "weather")
	// Output: weather__get_forecast
}

// A model without tool search can take over from one that has it: give it to
// ModelFailoverConfig as Portable.
func ExamplePortable() {
	backup := toolsearch.Portable(leanctxtest.Script[*schema.Message](leanctxtest.Say("here I am")))
	answer, err := backup.Generate(context.Background(), []*schema.Message{schema.UserMessage("Hello?")})
	fmt.Println(answer.Content, err)
	// Output: here I am <nil>
}
