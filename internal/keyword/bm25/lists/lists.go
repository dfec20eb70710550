// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package lists is what index.BM25 knows about words: other forms, synonyms, phrases and
// translations. Only those that search tools need it, so only they link it.
package lists

import "embed"

// Files are the lists, one file for each kind.
//
//go:embed *.txt
var Files embed.FS
