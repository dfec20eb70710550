// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package index_test

// Examples that need no agent: an index goes into toolsearch.Config.NewIndex.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
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

// Keyword finds parts of names and descriptions, letter by letter.
func ExampleKeyword() {
	find(index.Keyword, "hotel")
	// Output: travel__find_hotel
}

// BM25 reads sentences, word forms, misspellings, and Chinese over English tools.
func ExampleBM25() {
	find(index.BM25, "is it going to be rainy? I need the forecasts")
	find(index.BM25, "hotle")
	find(index.BM25, "酒店")
	// Output:
	// weather__get_forecast
	// travel__find_hotel
	// travel__find_hotel
}

// Several rankings become one; an engine behind a network gets a time limit, and the search
// goes on without it when it does not answer.
func ExampleFuse() {
	find(index.Fuse(
		index.BM25,
		index.TimeLimit(300*time.Millisecond, index.Keyword),
	), "weather")
	// Output: weather__get_forecast
}

// printFirst prints the best of two tools for a query.
func printFirst(f index.Func, query string) {
	x, err := f(context.Background(), []*schema.ToolInfo{
		{Name: "weather__get_forecast", Desc: "Weather forecast for a city."}, {Name: "travel__find_hotel", Desc: "Finds a hotel in a city."},
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

// An index behind a network may take half a second for each search. Alone, Eino's keyword
// score answers after that; in Fuse, the other parts do.
func ExampleTimeLimit() {
	slow := func(context.Context, []*schema.ToolInfo) (index.Index, error) { return never{}, nil }
	printFirst(index.Fuse(index.Keyword, index.TimeLimit(500*time.Millisecond, slow)), "hotel")
	// Output: travel__find_hotel
}

// never is an index that does not answer.
type never struct{}

func (never) Search(ctx context.Context, _ index.Query) ([]index.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// byLength is an index of one's own: the tool with the shortest name first.
type byLength []*schema.ToolInfo

func (x byLength) Search(_ context.Context, q index.Query) (found []index.Result, err error) {
	for _, t := range x {
		if strings.Contains(t.Desc, q.Text) {
			found = append(found, index.Result{Name: t.Name, Score: 1 / float64(len(t.Name))})
		}
	}
	return found, nil
}

// A Func makes an index of the tools that it gets.
func ExampleFunc() {
	printFirst(func(_ context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		return byLength(tools), nil
	}, "hotel")
	// Output: travel__find_hotel
}

// What BM25 makes of a query, for people who tune descriptions.
func ExampleExplain() {
	x, err := index.BM25(context.Background(), []*schema.ToolInfo{{Name: "mail__send", Desc: "Sends a letter."}, {Name: "clock__now", Desc: "Tells the time."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range index.Explain(x, index.Query{Text: "send a letter"}, "mail__send") {
		fmt.Println(t.Text, t.Relation)
	}
	// Output: send equals
	// letter equals
}
