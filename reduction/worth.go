// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Whether a pass is worth it: what it saves, and what it costs.

// answer is what the figures of a pass say.
type answer string

const (
	pays    answer = "pays"
	waits   answer = "waits"
	unknown answer = "unknown" // a figure decides that was not counted yet
)

// figures are what a pass costs and saves, in tokens.
type figures struct {
	threshold, target, least int64 // MaxTokensForClear, ClearTargetTokens, ClearAtLeastTokens

	forced  bool  // the window requires the pass
	chosen  bool  // a handler or a rewriter of the user's has decided
	before  int64 // of the request; negative: not counted yet
	after   int64 // of what the pass makes of it; the same
	saves   int64 // about, up to an eighth of the threshold
	shrinks int64 // what it saves, and
	breaks  int64 // what it rewrites of the prompt: both at four bytes a token
}

// worth tells whether a pass is worth it: one that the window requires is, and one that the user's code
// has decided on never waits for room.
func worth(f figures) answer {
	drop, breaks := f.saves < f.threshold/dropShare, f.target == 0 && f.shrinks*fairShare < f.breaks // a target says itself how much to save
	if f.chosen {
		drop, breaks = false, false
	}
	switch {
	case f.forced:
		return pays
	case (drop || breaks) && f.before < 0:
		return unknown
	case drop && f.before-f.saves >= f.threshold: // the rest alone exceeds it
		return waits
	case breaks && float64(f.before) < patience*float64(f.threshold): // there is room
		return waits
	case f.least == 0:
		return pays
	case f.before < 0 || f.after < 0:
		return unknown
	case f.before-f.after < f.least:
		return waits
	}
	return pays
}

const (
	// dropShare is the share of MaxTokensForClear that clearing must save if it cannot get below that
	// threshold: an eighth. Less is a drop in the ocean: clearing each result as it becomes old would
	// break the prompt cache at every call.
	dropShare = 8

	// fairShare is the share of what a pass rewrites that it must save: a sixth.
	fairShare = 6

	// nothingShare: a pass that saves less than a hundredth of what it rewrites is not worth it.
	nothingShare = 100

	// largeResult is worth clearing whatever follows it, in tokens.
	largeResult = 1000

	// patience is how far above MaxTokensForClear a pass that rewrites more waits: an eighth.
	patience = 1 + 1./dropShare
)
