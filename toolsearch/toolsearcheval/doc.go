// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package toolsearcheval measures how well an index finds the right tools: with graded
// queries of your own, over your own catalogue.
//
//	func TestOurTools(t *testing.T) {
//		tools, cases := toolsearcheval.Must(toolsearcheval.Load("testdata/tools.jsonl", "testdata/queries.jsonl"))
//		toolsearcheval.Require(t, toolsearch.BM25Index, tools, cases, toolsearcheval.Goal{Recall5: .9})
//	}
//
// Infos describes tools that are at hand as Go values, in place of a file.
//
// # Graded queries
//
// A query is graded by naming the tools that answer it; a line of the file is a [Case]:
//
//	{"id":"refund-1","kind":"paraphrase","query":"give the money back","relevant":["shop__refund"]}
//	{"id":"mail-1","kind":"request","query":"write to Ana","relevant":["mail__send"],"equiv":{"mail__send":["mail__draft"]}}
//	{"id":"none-1","kind":"no match","query":"brew an espresso","relevant":[]}
//
// Where several tools are needed for one request, all are relevant. Where one of several
// would do, one is relevant and the others are equivalent to it. A query that names no tool
// asks for something that the catalogue does not have; the right answer to it is nothing.
//
// Take queries from what models searched for in real runs ([leanctx.KindToolsSearched] has
// them), or write them before you see what an index returns. Then let [Split] put half of
// them aside, and look at that half's misses only when the work is done.
//
// # Reports
//
// [Evaluate] gives a [Report]: printed, a table by kind of query; Misses says what was not
// found and why; Ranks is a line for each query, which [Golden] keeps in a file, so that a
// change of the ranking, or of a tool's description, shows as a diff.
package toolsearcheval
