// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package semantic ranks tools with an embedding model or a search engine, for requests in words that
// no tool uses. It needs a service; the indexes of package index need none.
//
//	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools, NewIndex: semantic.Embedding("model", embedder, files)})
package semantic
