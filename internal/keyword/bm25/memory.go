// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file keeps memory from one search to the next.

// grown returns memory for n values: those that were zero stay zero. It has room for the
// next indexes of a growing catalogue.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}
