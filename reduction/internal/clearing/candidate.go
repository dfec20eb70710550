// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package clearing decides what becomes of a tool result, as plain data. Each of these three values is made from
// the one before, which does not change any more:
//
//	Candidate -- Decide --> Plan -- render --> Change
//
// A store may put content under another path than planned. Then the change is rendered again from the plan.
// The package has no dependency on the agent or on a message type.
package clearing

import (
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// Candidate is a result that a pass may change, and all that is known of it. It may also be media that the user
// sent, which belong to no call.
type Candidate struct {
	Call             rounds.Call
	Result           rounds.Result
	MessageIndex     int // the message with the result
	CallMessageIndex int // the message with the call
	Policy           toolpolicy.ToolPolicy
	Protected        bool             // the configuration keeps the result whole, also if a request is too long
	IsOnlyResult     bool             // of its round
	Notice           notice.Notice    // the notice that stands in place of the result already
	Size             int              // bytes of text
	Tokens           int              // tokens of text; counted only to fit a request to the window
	Media            []*rounds.Medium // media that references may replace

	processed    bool        // the round was cleared or rewritten before
	ours         bool        // by this package
	argumentRefs []reference // references that may replace long values in the call's arguments
	mediaRefs    []reference // references that may replace media
}

// NewCandidate returns what is known of a result of a round.
func NewCandidate(round rounds.Round, pair *rounds.Pair, policy toolpolicy.ToolPolicy) Candidate {
	return Candidate{
		Call: pair.Call, Result: pair.Result, MessageIndex: pair.MessageIndex, CallMessageIndex: round.MessageIndex,
		Policy: policy, Notice: notice.FromTexts(pair.Result.Texts), Size: pair.Result.Size(),
		processed: round.Processed, ours: round.Ours,
	}
}

// NewUserMedia returns what is known of the user's message with an index.
func NewUserMedia(messageIndex int, store *offload.Store) Candidate {
	return Candidate{
		Result: rounds.Result{Index: -1}, MessageIndex: messageIndex, CallMessageIndex: messageIndex,
		Policy: toolpolicy.ToolPolicy{Store: store},
	}
}

// Purpose is what a pass wants to do with results.
type Purpose int

// The purposes.
const (
	ToClear           Purpose = iota // replace old results by notices
	ToShorten                        // shorten results so that they fit the window
	ToShortenAllPages                // the same, with pages that the model has just read back
	ToDedupe                         // replace results by references to equal earlier ones
)

// Exclusion is why a pass must leave a result as it is, whatever changing it would save.
type Exclusion int

// The exclusions, in the order in which they are checked.
const (
	NotExcluded     Exclusion = iota
	IsToolSearch              // the answer of a provider's tool search: its tools would be gone
	TooSmall                  // hardly longer than a reference to an equal result
	AlreadyReplaced           // by a notice, and nothing else of it can be replaced
	AlreadyHandled            // the user's handler has decided before
	ByPolicy                  // the configuration keeps the result; for ToClear, SkipReason of the policy says why
	RequestedPage             // the model read back just this page
)

// MinDuplicateBytes is the least size of a result that a reference to an equal one may replace.
const MinDuplicateBytes = 150

// MayHaveDuplicates reports whether a result may be replaced by a reference to an equal one, or the other way round.
func MayHaveDuplicates(r rounds.Result) bool { return !r.IsToolSearch && r.Size() >= MinDuplicateBytes }

// Exclusion returns why a pass must leave the result as it is. For ToClear, the candidate must be complete.
// It knows the reasons that precede a decision, and takes those of the configuration from toolpolicy. Decide adds those
// that only the decision shows: a handler that keeps the result, a failed write, a text that is not smaller. Retained
// rounds and the worth of a whole pass are separate questions.
func (c *Candidate) Exclusion(purpose Purpose) Exclusion {
	if c.Result.IsToolSearch {
		return IsToolSearch
	}
	switch purpose {
	case ToClear:
		switch {
		case c.Notice.IsPlaceholder() && !c.hasReferences():
			return AlreadyReplaced
		case c.Policy.HasHandler && (c.Result.ReplacedByHandler || c.processed && !c.ours):
			return AlreadyHandled
		case c.Policy.SkipReason != "":
			return ByPolicy
		}
	case ToShorten, ToShortenAllPages:
		switch {
		case c.Protected:
			return ByPolicy
		case purpose == ToShorten && c.Policy.IsReadTool && c.IsOnlyResult:
			return RequestedPage
		}
	case ToDedupe:
		switch {
		case !MayHaveDuplicates(c.Result):
			return TooSmall
		case !c.Policy.MayReplaceParts():
			return ByPolicy
		case c.Notice.IsPlaceholder():
			return AlreadyReplaced
		}
	}
	return NotExcluded
}

// Complete adds what only an old result needs: the references that may replace parts of the result and its call.
func (d *Decider) Complete(c *Candidate) {
	if c.Result.IsToolSearch {
		return
	}
	if d.renderer.maxArgumentBytes > 0 {
		c.argumentRefs = d.renderer.argumentReferences(c)
	}
	if len(c.Media) > 0 {
		c.mediaRefs = d.renderer.mediaReferences(c.Media, c.Policy.Store)
	}
	if c.processed {
		c.Notice = notice.InMarked(c.Result.Texts)
	}
}

func (c *Candidate) hasReferences() bool { return len(c.argumentRefs)+len(c.mediaRefs) > 0 }

// isCallMarked reports whether the message of the call has this package's mark.
func (c *Candidate) isCallMarked() bool { return c.processed && c.ours }

// MaxSaving is more than the tokens that clearing the result saves.
func (c *Candidate) MaxSaving() int64 {
	n := tokencount.OfMedia(len(c.mediaRefs)) + TextTokens(c.Result.Texts)
	for _, v := range c.argumentRefs {
		n += tokens.Of(c.Call.Args[v.start:v.end])
	}
	return int64(n)
}

// TextTokens is how many tokens texts have together.
func TextTokens(texts []string) (n int) {
	for _, text := range texts {
		n += tokens.Of(text)
	}
	return n
}
