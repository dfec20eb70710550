// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// printFirst prints the best of two tools for a query.
func printFirst(f toolsearch.IndexFunc, query string) {
	index, err := f(context.Background(), []*schema.ToolInfo{
		{Name: "weather__get_forecast", Desc: "Weather forecast for a city."}, {Name: "travel__find_hotel", Desc: "Finds a hotel in a city."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := index.Search(context.Background(), toolsearch.Query{Text: query, Limit: 1})
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
func ExampleEmbeddingIndex() {
	printFirst(toolsearch.EmbeddingIndex("bags-1", bags{}, store.NewMemory(0)), "forecasts")
	// Output: weather__get_forecast
}

// An index behind a network may take half a second for each search. Alone, Eino's keyword
// score answers after that; in Fuse, the other parts do.
func ExampleTimeLimit() {
	slow := func(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return never{}, nil }
	printFirst(toolsearch.Fuse(toolsearch.KeywordIndex, toolsearch.TimeLimit(500*time.Millisecond, slow)), "hotel")
	// Output: travel__find_hotel
}

// never is an index that does not answer.
type never struct{}

func (never) Search(ctx context.Context, _ toolsearch.Query) ([]toolsearch.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A tool with an opaque definition is found by phrases that people use. Write them by hand,
// or have a model write them once and keep them with your tools.
func ExamplePhrasesKey() {
	info := &schema.ToolInfo{Name: "tx_a10", Desc: "Posts an entry.", Extra: map[string]any{
		toolset.PhrasesKey: []string{"write down what we paid", "book a bill"},
	}}
	index, err := toolsearch.BM25Index(context.Background(), []*schema.ToolInfo{info, {Name: "tx_b20", Desc: "Reverses an entry."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := index.Search(context.Background(), toolsearch.Query{Text: "book the electricity bill", Limit: 1})
	fmt.Println(found[0].Name, err)
	// Output: tx_a10 <nil>
}

// byLength is an index of one's own: the tool with the shortest name first.
type byLength []*schema.ToolInfo

func (x byLength) Search(_ context.Context, q toolsearch.Query) (found []toolsearch.Result, err error) {
	for _, t := range x {
		if strings.Contains(t.Desc, q.Text) {
			found = append(found, toolsearch.Result{Name: t.Name, Score: 1 / float64(len(t.Name))})
		}
	}
	return found, nil
}

// An IndexFunc makes an index of the tools that it gets.
func ExampleIndexFunc() {
	printFirst(func(_ context.Context, tools []*schema.ToolInfo) (toolsearch.Index, error) {
		return byLength(tools), nil
	}, "hotel")
	// Output: travel__find_hotel
}

// What BM25Index makes of a query, for people who tune descriptions.
func ExampleExplain() {
	index, err := toolsearch.BM25Index(context.Background(), []*schema.ToolInfo{{Name: "mail__send", Desc: "Sends a letter."}, {Name: "clock__now", Desc: "Tells the time."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range toolsearch.Explain(index, toolsearch.Query{Text: "send a letter"}, "mail__send") {
		fmt.Println(t.Text, t.Relation)
	}
	// Output: send equals
	// letter equals
}
