// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

func ExampleEvaluate() {
	tools := []*schema.ToolInfo{
		{Name: "shop__refund", Desc: "Returns the price of an order to the customer."},
		{Name: "shop__track", Desc: "Says where a parcel is."},
		{Name: "mail__send", Desc: "Sends an e-mail."},
	}
	cases := []toolsearcheval.Case{
		{ID: "1", Kind: "name", Query: "refund", Relevant: []string{"shop__refund"}},
		{ID: "2", Kind: "request", Query: "where are the parcels that I ordered", Relevant: []string{"shop__track"}},
		{ID: "3", Kind: "no match", Query: "zodiac"},
	}
	for _, x := range []index.Func{index.Keyword, index.BM25} {
		report, err := toolsearcheval.Evaluate(context.Background(), x, tools, cases)
		if err != nil {
			panic(err)
		}
		fmt.Print(report, "\n", report.Ranks(), "\n")
	}
	// Output:
	//          queries recall@1 recall@5 recall@10  nDCG@10    MRR  no match
	// name           1    1.000    1.000     1.000    1.000  1.000         -
	// no match       1        -        -         -        -      -     1.000
	// request        1    0.000    1.000     1.000    0.500  0.333         -
	// all            3    0.500    1.000     1.000    0.750  0.667     1.000
	//
	//    1  1              refund
	//    3  2              where are the parcels that I ordered
	// none  3              zodiac
	//
	//          queries recall@1 recall@5 recall@10  nDCG@10    MRR  no match
	// name           1    1.000    1.000     1.000    1.000  1.000         -
	// no match       1        -        -         -        -      -     1.000
	// request        1    1.000    1.000     1.000    1.000  1.000         -
	// all            3    1.000    1.000     1.000    1.000  1.000     1.000
	//
	//    1  1              refund
	//    1  2              where are the parcels that I ordered
	// none  3              zodiac
}

// A test of your own tools, with files of your own: queries of one half were looked at while the
// descriptions were written, and those of the other half judge them.
func ExampleRequire() {
	_ = func(t *testing.T) { // func TestToolsAreFound(t *testing.T)
		tools, cases, err := toolsearcheval.Load("testdata/tools.jsonl", "testdata/queries.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		_, heldout := toolsearcheval.Split(cases)
		report := toolsearcheval.Require(t, index.BM25, tools, heldout, toolsearcheval.Measures{Recall5: .9})
		t.Log(report)
	}
}

// The tools that an agent has, with queries from a file: those that were not looked at.
func ExampleInfos() {
	_ = func(ctx context.Context, tools []tool.BaseTool) error {
		infos, err := toolsearcheval.Infos(ctx, tools)
		if err != nil {
			return err
		}
		cases, err := toolsearcheval.LoadCases("queries.jsonl")
		if err != nil {
			return err
		}
		_, heldout := toolsearcheval.Split(cases)
		report, err := toolsearcheval.Evaluate(ctx, index.BM25, infos, heldout)
		fmt.Print(report)
		return err
	}
}

// A catalogue without queries: which names does a search find?
func ExampleLoadTools() {
	tools, err := toolsearcheval.LoadTools("testdata/tools.jsonl")
	if err != nil {
		panic(err)
	}
	x, err := index.BM25(context.Background(), tools)
	if err != nil {
		panic(err)
	}
	results, err := x.Search(context.Background(), index.Query{Text: "merge pull request", Limit: 1})
	fmt.Println(results[0].Name, err)
	// Output: codehub__merge_pull_request <nil>
}
