// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What most users want.

import "github.com/cloudwego/eino/components/tool"

// Recommended returns the Config that we would ship for tools. The caller owns it. Beside
// the zero Config:
//
//   - BM25Index reads requests in plain sentences, with typing errors and in Chinese. It
//     costs a few megabytes for a thousand tools, and a fraction of a millisecond a search.
//   - CatalogLimit 50 shows the model at most 50 names, and counts the rest by server. What
//     is not shown has to be searched for.
//   - Prefetch 3 loads at most three tools for each message of a user, before the model is
//     called. It saves most searches, and with them a model call each; a tool that turns out
//     not to be needed costs some hundred tokens.
//   - HideAbove 3,000 shows all tools, and no search tool, where their definitions take no
//     more tokens than that: some thirty tools.
//   - MinConfidence 0.08 has two in three searches for what no tool does say so, rather than
//     load something else, and 2 in 100 searches for what one does: that one is named, and
//     costs one more call.
//
// With 449 tools, eight conversations send 28,954 tokens rather than 82,338, in 23 model
// calls rather than 29; where a cached token costs a tenth, the price is 34 %.
// docs/choosing.md has the tables. What Recommended sets may change in a minor version.
func Recommended(tools []tool.BaseTool) *Config {
	return &Config{DynamicTools: tools, NewIndex: BM25Index, CatalogLimit: 50, Prefetch: 3, HideAbove: 3000, MinConfidence: 0.08}
}
