// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package semantic ranks tools with an embedding model or a search engine, for requests in words that
// no tool uses. It needs a service; the indexes of package index need none.
//
//	config := toolsearch.Recommended(tools)
//	config.NewIndex = semantic.Embedding("model", embedder, files)
//	search, err := toolsearch.New(ctx, config)
package semantic
