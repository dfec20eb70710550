// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package docs tests what the documents say: code that is shown compiles,
// versions are those of the go.mod files, and no page is left out of the map.
package docs
