// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Whether a pass is worth it: what it saves, and what it costs.

import "github.com/einolean/einolean/reduction/internal/tokencount"

// Verdict says whether the changes of a pass are made.
type Verdict int

// The verdicts.
const (
	Apply      Verdict = iota // make the changes
	Defer                     // make none now
	NeedsCount                // that depends on TokensBefore or, if it is known, on TokensAfter
)

// CostEstimate is what a pass costs and saves, in tokens.
type CostEstimate struct {
	Threshold    int64 // MaxTokensForClear
	Target       int64 // ClearTargetTokens
	MinSaving    int64 // ClearAtLeastTokens
	MustFit      bool  // the window requires the pass
	UserDecided  bool  // a handler or a rewriter of the user's has decided
	TokensBefore int64 // of the request; negative: not counted yet
	TokensAfter  int64 // of the request after the pass; negative: not counted yet

	tokenSaving     int64 // estimated; summed up only to minSavingShare of the threshold
	roughSaving     int64 // at four bytes a token
	rewrittenTokens int64 // of the prompt, from the first change on, at four bytes a token
}

// WithChanges adds what changes save and rewrite. messageTokens are the sizes of all messages, at four bytes a
// token. size is that of the request, and need not be exact.
func (e CostEstimate) WithChanges(changes []Change, messageTokens []int64, size tokencount.Size) CostEstimate {
	var sum int64
	first := len(messageTokens)
	for i := range changes {
		c := &changes[i]
		e.UserDecided = e.UserDecided || c.candidate().Policy.HasHandler
		if e.tokenSaving < e.Threshold/minSavingShare {
			sum += c.tokenSaving()
			e.tokenSaving = size.Correct(sum)
		}
		if c.Replaces() {
			e.roughSaving += c.roughSaving()
			first = min(first, c.firstMessage())
		}
	}
	e.rewrittenTokens = -e.roughSaving
	for _, n := range messageTokens[first:] {
		e.rewrittenTokens += n
	}
	return e
}

// firstMessage is the index of the first message that a change may rewrite.
func (c *Change) firstMessage() int {
	result, call := c.Messages()
	return min(result, call)
}

// TrimForPromptCache returns how many of the changes are made. It leaves out the newest ones if they save less than
// a hundredth of what follows the first of them, and if the older ones alone get below the threshold.
//
// A caller that passes the whole history each time has the older changes made again, and the provider's prompt
// cache holds up to the newest: these would not pay for losing it within a thousand model calls.
//
// messageTokens are the sizes of all messages, at four bytes a token. count counts the request; it is called at
// most once.
func TrimForPromptCache(changes []Change, messageTokens []int64, threshold int64, count func() tokencount.Size) int {
	if n := len(changes); n < 2 || changes[n-1].roughTokens() >= largeResult {
		return n
	}
	kept := len(changes)
	next, following := len(messageTokens), int64(0) // the tokens of the messages from next on
	saving := int64(0)                              // of the newest changes
	var before tokencount.Size                      // of the request, once it is counted
	isCounted, without := false, int64(0)           // tokens of the request after the older changes alone
	for i := kept - 1; i > 0 && !changes[i].candidate().Policy.HasHandler; i-- {
		c := &changes[i]
		for ; next > c.firstMessage(); next-- {
			following += messageTokens[next-1]
		}
		saving += c.roughSaving()
		if isCounted {
			without += before.Correct(c.tokenSaving())
		}
		if saving*negligibleShare >= following-saving {
			continue
		}
		if !isCounted {
			before = count()
			isCounted, without = true, before.Tokens
			for j := range changes[:i] {
				without -= before.Correct(changes[j].tokenSaving())
			}
		}
		if without >= threshold {
			break
		}
		kept = i
	}
	return kept
}

// Verdict says whether the pass is worth it. One that the window requires is, and one that the user's code has
// decided on only has to save MinSaving.
func (e CostEstimate) Verdict() Verdict {
	// Clearing that does not get below the threshold must save a share of it.
	savesLittle := e.tokenSaving < e.Threshold/minSavingShare
	// Clearing that rewrites much waits while there is room. A target says itself how much to save.
	rewritesMuch := e.Target == 0 && e.roughSaving*minRewriteShare < e.rewrittenTokens
	if e.UserDecided {
		savesLittle, rewritesMuch = false, false
	}
	switch {
	case e.MustFit:
		return Apply
	case (savesLittle || rewritesMuch) && e.TokensBefore < 0:
		return NeedsCount
	case savesLittle && e.TokensBefore-e.tokenSaving >= e.Threshold: // the rest alone exceeds it
		return Defer
	case rewritesMuch && float64(e.TokensBefore) < deferFactor*float64(e.Threshold): // there is room
		return Defer
	case e.MinSaving == 0:
		return Apply
	case e.TokensBefore < 0 || e.TokensAfter < 0:
		return NeedsCount
	case e.TokensBefore-e.TokensAfter < e.MinSaving:
		return Defer
	}
	return Apply
}

const (
	// minSavingShare is the share of MaxTokensForClear that clearing must save if it cannot get below that
	// threshold: an eighth. Otherwise clearing each result as it becomes old would invalidate the prompt cache at
	// every call.
	minSavingShare = 8

	// minRewriteShare is the share of what a pass rewrites that it must save: a sixth.
	minRewriteShare = 6

	// negligibleShare is the share of what follows the newest changes that they must save: a hundredth.
	negligibleShare = 100

	// largeResult is worth clearing whatever follows it, in tokens.
	largeResult = 1000

	// deferFactor is how far above MaxTokensForClear a pass that rewrites much waits: an eighth.
	deferFactor = 1 + 1./minSavingShare
)
