// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolsearcheval measures how well an index finds the right tools: with graded
// queries of your own, over your own catalogue.
//
//	func TestOurTools(t *testing.T) {
//		tools, cases, err := toolsearcheval.Load("testdata/tools.jsonl", "testdata/queries.jsonl")
//		if err != nil {
//			t.Fatal(err)
//		}
//		toolsearcheval.Require(t, index.BM25, tools, cases, toolsearcheval.Measures{Recall5: .9})
//	}
//
// Infos describes tools that exist as Go values, so you need no file.
//
// # Graded queries
//
// A query is graded by naming the tools that answer it; a line of the file is a [Case]:
//
//	{"id":"refund-1","kind":"paraphrase","query":"give the money back","relevant":["shop__refund"]}
//	{"id":"mail-1","kind":"request","query":"write to Ana","relevant":["mail__send"],"equiv":{"mail__send":["mail__draft"]}}
//	{"id":"none-1","kind":"no match","query":"brew an espresso","relevant":[]}
//
// If a request needs several tools, all are relevant. If one of several is enough, one is
// relevant and the others are equivalent to it. A query without relevant tools asks for
// something that the catalogue does not have; the right answer to it is nothing.
//
// Take queries from what models searched for in real runs ([einolean.KindToolsSearched] has
// them), or write them before you see what an index returns. Then set half of them aside
// with [Split], and look at that half's misses only when the work is done.
//
// # Reports
//
// [Evaluate] returns a [Report]. Printed, it is a table by kind of query. Misses says what
// was not found and why. Ranks has a line for each query: kept in a file, a change of the
// ranking, or of a tool's description, shows as a diff.
package toolsearcheval
