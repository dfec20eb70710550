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
// A query is graded by naming the tools that answer it. A query that names none asks for
// something that the catalogue does not have; the right answer to it is nothing.
package toolsearcheval
