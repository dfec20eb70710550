// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic_test

// Examples that need no agent: an index goes into toolsearch.Config.NewIndex.

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
)

// cityTools are the tools that the examples search.
func cityTools() []tool.BaseTool {
	done := func(context.Context, struct{}) (string, error) { return "done", nil }
	weather, _ := utils.InferTool("weather__get_forecast", "Tells what the weather will be in a city.", done)
	hotel, _ := utils.InferTool("travel__find_hotel", "Finds a hotel in a city.", done)
	return []tool.BaseTool{weather, hotel}
}

// find prints what an index finds among the tools of the cities.
func find(f index.Func, query string) {
	ctx := context.Background()
	var infos []*schema.ToolInfo
	for _, t := range cityTools() {
		info, _ := t.Info(ctx)
		infos = append(infos, info)
	}
	x, err := f(ctx, infos)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, _ := x.Search(ctx, index.Query{Text: query, Limit: 3})
	for _, r := range found {
		fmt.Println(r.Name)
	}
}

// engine stands in for a search engine with an Eino retriever.
type engine struct{ docs []*schema.Document }

func (e engine) Retrieve(_ context.Context, query string, _ ...retriever.Option) (found []*schema.Document, err error) {
	for _, d := range e.docs {
		if strings.Contains(d.Content, query) {
			found = append(found, d)
		}
	}
	return found, nil
}

// Documents makes the documents that an engine stores; one call of its Eino indexer
// stores them.
func ExampleDocuments() {
	docs, err := semantic.Documents(context.Background(), cityTools())
	fmt.Println(len(docs), err)
	fmt.Println(docs[0].MetaData[semantic.ToolNameKey])
	// Output:
	// 2 <nil>
	// weather__get_forecast
}

// Any Eino retriever can rank tools.
func ExampleRetriever() {
	docs, _ := semantic.Documents(context.Background(), cityTools())
	find(semantic.Retriever(engine{docs}), "weather")
	// Output: weather__get_forecast
}

// printFirst prints the best of two tools for a query.
func printFirst(f index.Func, query string) {
	x, err := f(context.Background(), []*schema.ToolInfo{
		{Name: "weather__get_forecast", Desc: "Weather forecast for a city."}, {Name: "travel__find_hotel",
			Desc: "Finds a hotel in a city."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := x.Search(context.Background(), index.Query{Text: query, Limit: 1})
	if err != nil || len(found) == 0 {
		fmt.Println("nothing", err)
		return
	}
	fmt.Println(found[0].Name)
}

// bags stands in for an embedding model: one dimension for each of a few meanings.
type bags struct{}

func (bags) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	meanings := [][]string{{"weather", "forecast", "umbrella"}, {"hotel", "sleep", "travel"}, {"mail"}}
	all := make([][]float64, len(texts))
	for i, text := range texts {
		all[i] = []float64{.1, .1, .1}
		for at, words := range meanings {
			for _, word := range words {
				all[i][at] += float64(strings.Count(strings.ToLower(text), word))
			}
		}
	}
	return all, nil
}

// Any Eino embedder finds tools by what words mean. The vectors are kept in the store: a
// directory, here memory.
func ExampleEmbedding() {
	printFirst(semantic.Embedding("bags-1", bags{}, store.NewMemory(0)), "forecasts")
	// Output: weather__get_forecast
}
