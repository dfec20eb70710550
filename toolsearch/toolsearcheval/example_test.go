// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// This file shows how the package is used.

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
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
	for _, index := range []toolsearch.IndexFunc{toolsearch.KeywordIndex, toolsearch.BM25Index} {
		report, err := toolsearcheval.Evaluate(context.Background(), index, tools, cases)
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
