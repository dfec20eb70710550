// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package advice has what the advice of "einolean replay" and of the page of package window share:
// when a setting is worth advising, and how it is written.
package advice

// Settings, as they are written in an application.
const (
	RecommendedTools   = "toolsearch.Recommended(tools)"
	RecommendedResults = "reduction.Recommended(store)"
	MinTokensToHide    = "toolsearch.Config.MinTokensToHide"
	MaxLengthForTrunc  = "reduction.Config.MaxLengthForTrunc"
	MaxTokensForClear  = "reduction.Config.MaxTokensForClear"
)

// worthwhile is the largest share of the present cost at which a setting is advised.
const worthwhile = .95

// IsWorthwhile reports whether a setting saves enough to be advised. The share is what the setting
// costs, relative to changing nothing.
func IsWorthwhile(share float64) bool { return share <= worthwhile }
