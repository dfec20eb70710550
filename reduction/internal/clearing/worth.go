// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Whether a pass is worth it: what it saves, and what it costs.

// Verdict is what the figures of a pass say.
type Verdict string

// The verdicts.
const (
	Apply      Verdict = "pays"
	Defer      Verdict = "waits"
	NeedsCount Verdict = "unknown" // a figure decides that was not counted yet
)

// Figures are what a pass costs and saves, in tokens.
type CostEstimate struct {
	Threshold, Target, MinSaving int64 // MaxTokensForClear, ClearTargetTokens, ClearAtLeastTokens

	MustFit         bool  // the window requires the pass
	UserDecided     bool  // a handler or a rewriter of the user's has decided
	TokensBefore    int64 // of the request; negative: not counted yet
	TokensAfter     int64 // of what the pass makes of it; the same
	tokenSaving     int64 // about, up to an eighth of the threshold
	roughSaving     int64 // what it saves, and
	rewrittenTokens int64 // what it rewrites of the prompt: both at four bytes a token
}

// Prompt is the request that a pass changes, in numbers.
type RequestStats struct {
	Messages  int
	Roughly   func(from, to int) int64 // the tokens of messages, at four bytes a token
	Before    func() int64             // its tokens, counted when that is asked first
	Corrected func(tokens int64) int64 // an estimate as the provider would count
}

// Of adds what edits save and rewrite.
func (f CostEstimate) WithChanges(edits []Change, prompt RequestStats) CostEstimate {
	var sum int64
	first := prompt.Messages
	for i := range edits {
		e := &edits[i]
		f.UserDecided = f.UserDecided || e.Policy.HasHandler
		if f.tokenSaving < f.Threshold/minSavingShare {
			sum += e.tokenSaving()
			f.tokenSaving = prompt.Corrected(sum)
		}
		if e.Replaces() {
			f.roughSaving, first = f.roughSaving+e.roughSaving(), min(first, e.MessageIndex, e.CallMessageIndex)
		}
	}
	f.rewrittenTokens = prompt.Roughly(first, prompt.Messages) - f.roughSaving
	return f
}

// Spare is how many edits stay in a pass without the newest, which it leaves out if they save less than a
// hundredth of what follows the first of them, and the others alone make room below a threshold. A caller
// that passes the whole history each time has the others made again, and the prompt cache holds up
// to the newest: these would not pay for that within a thousand model calls.
func TrimForPromptCache(edits []Change, prompt RequestStats, threshold int64) int {
	if n := len(edits); n < 2 || edits[n-1].roughTokens() >= largeResult {
		return n
	}
	behind, at := int64(0), prompt.Messages // tokens from there on
	var saves, makes int64                  // tokens: of the newest, and of what the pass makes without them, if counted
	spared := len(edits)
	for i := spared - 1; i > 0 && !edits[i].Policy.HasHandler; i-- {
		e := &edits[i]
		for ; at > min(e.MessageIndex, e.CallMessageIndex); at-- {
			behind += prompt.Roughly(at-1, at)
		}
		if saves += e.roughSaving(); makes != 0 {
			makes += prompt.Corrected(e.tokenSaving())
		}
		if saves*negligibleShare >= behind-saves {
			continue
		}
		if makes == 0 {
			makes = prompt.Before()
			for j := range edits[:i] {
				makes -= prompt.Corrected(edits[j].tokenSaving())
			}
		}
		if makes >= threshold {
			break
		}
		spared = i
	}
	return spared
}

// Worth tells whether a pass is worth it: one that the window requires is, and one that the user's code
// has decided on never waits for room.
func (f CostEstimate) Verdict() Verdict {
	drop, breaks := f.tokenSaving < f.Threshold/minSavingShare, f.Target == 0 && f.roughSaving*minRewriteShare < f.rewrittenTokens // a target says itself how much to save
	if f.UserDecided {
		drop, breaks = false, false
	}
	switch {
	case f.MustFit:
		return Apply
	case (drop || breaks) && f.TokensBefore < 0:
		return NeedsCount
	case drop && f.TokensBefore-f.tokenSaving >= f.Threshold: // the rest alone exceeds it
		return Defer
	case breaks && float64(f.TokensBefore) < deferFactor*float64(f.Threshold): // there is room
		return Defer
	case f.MinSaving == 0:
		return Apply
	case f.TokensBefore < 0 || f.TokensAfter < 0:
		return NeedsCount
	case f.TokensBefore-f.TokensAfter < f.MinSaving:
		return Defer
	}
	return Apply
}

const (
	// dropShare is the share of MaxTokensForClear that clearing must save if it cannot get below that
	// threshold: an eighth. Less is a drop in the ocean: clearing each result as it becomes old would
	// break the prompt cache at every call.
	minSavingShare = 8

	// fairShare is the share of what a pass rewrites that it must save: a sixth.
	minRewriteShare = 6

	// nothingShare: a pass that saves less than a hundredth of what it rewrites is not worth it.
	negligibleShare = 100

	// largeResult is worth clearing whatever follows it, in tokens.
	largeResult = 1000

	// patience is how far above MaxTokensForClear a pass that rewrites more waits: an eighth.
	deferFactor = 1 + 1./minSavingShare
)
