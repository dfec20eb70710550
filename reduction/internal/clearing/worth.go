// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Whether a pass is worth it: what it saves, and what it costs.

// Verdict is what the figures of a pass say.
type Verdict string

// The verdicts.
const (
	Apply   Verdict = "pays"
	Waits   Verdict = "waits"
	Unknown Verdict = "unknown" // a figure decides that was not counted yet
)

// Figures are what a pass costs and saves, in tokens.
type CostEstimate struct {
	Threshold, Target, Least int64 // MaxTokensForClear, ClearTargetTokens, ClearAtLeastTokens

	Forced  bool  // the window requires the pass
	Chosen  bool  // a handler or a rewriter of the user's has decided
	Before  int64 // of the request; negative: not counted yet
	After   int64 // of what the pass makes of it; the same
	saves   int64 // about, up to an eighth of the threshold
	shrinks int64 // what it saves, and
	breaks  int64 // what it rewrites of the prompt: both at four bytes a token
}

// Prompt is the request that a pass changes, in numbers.
type RequestStats struct {
	Messages  int
	Roughly   func(from, to int) int64 // the tokens of messages, at four bytes a token
	Before    func() int64             // its tokens, counted when that is asked first
	Corrected func(tokens int64) int64 // an estimate as the provider would count
}

// Of adds what edits save and rewrite.
func (f CostEstimate) Of(edits []Change, prompt RequestStats) CostEstimate {
	var sum int64
	first := prompt.Messages
	for i := range edits {
		e := &edits[i]
		f.Chosen = f.Chosen || e.Rule.Handled
		if f.saves < f.Threshold/minSavingShare {
			sum += e.saved()
			f.saves = prompt.Corrected(sum)
		}
		if e.Replaces() {
			f.shrinks, first = f.shrinks+e.estimatedSaving(), min(first, e.MessageIndex, e.CallAt)
		}
	}
	f.breaks = prompt.Roughly(first, prompt.Messages) - f.shrinks
	return f
}

// Spare is how many edits stay in a pass without the newest, which it leaves out if they save less than a
// hundredth of what follows the first of them, and the others alone make room below a threshold. A caller
// that passes the whole history each time has the others made again, and the prompt cache holds up
// to the newest: these would not pay for that within a thousand model calls.
func KeepNewest(edits []Change, prompt RequestStats, threshold int64) int {
	if n := len(edits); n < 2 || edits[n-1].roughly() >= largeResult {
		return n
	}
	behind, at := int64(0), prompt.Messages // tokens from there on
	var saves, makes int64                  // tokens: of the newest, and of what the pass makes without them, if counted
	spared := len(edits)
	for i := spared - 1; i > 0 && !edits[i].Rule.Handled; i-- {
		e := &edits[i]
		for ; at > min(e.MessageIndex, e.CallAt); at-- {
			behind += prompt.Roughly(at-1, at)
		}
		if saves += e.estimatedSaving(); makes != 0 {
			makes += prompt.Corrected(e.saved())
		}
		if saves*negligibleShare >= behind-saves {
			continue
		}
		if makes == 0 {
			makes = prompt.Before()
			for j := range edits[:i] {
				makes -= prompt.Corrected(edits[j].saved())
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
func (f CostEstimate) Worth() Verdict {
	drop, breaks := f.saves < f.Threshold/minSavingShare, f.Target == 0 && f.shrinks*minRewriteShare < f.breaks // a target says itself how much to save
	if f.Chosen {
		drop, breaks = false, false
	}
	switch {
	case f.Forced:
		return Apply
	case (drop || breaks) && f.Before < 0:
		return Unknown
	case drop && f.Before-f.saves >= f.Threshold: // the rest alone exceeds it
		return Waits
	case breaks && float64(f.Before) < deferFactor*float64(f.Threshold): // there is room
		return Waits
	case f.Least == 0:
		return Apply
	case f.Before < 0 || f.After < 0:
		return Unknown
	case f.Before-f.After < f.Least:
		return Waits
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
