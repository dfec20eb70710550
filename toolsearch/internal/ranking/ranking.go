// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package ranking has what indexes of different packages do with ranked results.
package ranking

// First returns the first results of a ranking; all if limit is not positive.
func First[T any](found []T, limit int) []T {
	if limit > 0 && len(found) > limit {
		return found[:limit]
	}
	return found
}

// RaiseConfidence gives each result the highest confidence at its place or further down. Those after the
// last known one get the lowest. If none is known, all stay unknown. confidence returns the field of a result.
func RaiseConfidence[T any](found []T, confidence func(*T) *float64) {
	best, least := 0.0, 1.0
	for i := len(found) - 1; i >= 0; i-- {
		at := confidence(&found[i])
		if *at > 0 {
			best, least = max(best, *at), min(least, *at)
		}
		*at = best
	}
	for i := len(found) - 1; i >= 0 && best > 0 && *confidence(&found[i]) == 0; i-- {
		*confidence(&found[i]) = least
	}
}
