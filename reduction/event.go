// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The events for OnEvent.

import (
	"context"
	"time"

	"github.com/leanctx/leanctx"
)

// Reason is why a result was left as it is.
type Reason string

const (
	// ReasonExcluded: its tool is on an exclude list.
	ReasonExcluded Reason = "excluded"

	// ReasonSkipped: the configuration skips the phase for its tool.
	ReasonSkipped Reason = "skipped"

	// ReasonExempt: its answers load tools, or it is a page of the read tool that has
	// just returned.
	ReasonExempt Reason = "exempt"

	// ReasonNotSmaller: its replacement is not smaller by MinSavingBytes, or does not
	// fit in MaxLengthForTrunc.
	ReasonNotSmaller Reason = "not_smaller"

	// ReasonHandler: the handler of its tool said so.
	ReasonHandler Reason = "handler"

	// ReasonNotStored: the store did not take it.
	ReasonNotStored Reason = "not_stored"

	// ReasonTooFewTokens: the pass would have saved less than ClearAtLeastTokens.
	ReasonTooFewTokens Reason = "too_few_tokens"
)

// The reasons to replace a result.
const (
	byLimit     = "limit"     // its length
	byThreshold = "threshold" // the length of the conversation
	byHandler   = "handler"   // the user's handler
	byRepeat    = "repeat"    // an equal result that the model sees
	byRound     = "round"     // the length of all results of its round
	byWindow    = "window"    // the length of the whole request
)

// output is the outcome of a result, in bytes of text.
type output struct {
	kind          leanctx.Kind
	before, after int
	path, rule    string
	reason        Reason
	stream        bool
	err           error
}

// reporter calls the user's OnEvent. A nil one does nothing and allocates nothing.
type reporter func(context.Context, leanctx.Event)

// send adds the time. It drops a panic of the observer.
func (r reporter) send(ctx context.Context, e leanctx.Event) {
	if r == nil {
		return
	}
	defer func() { _ = recover() }()
	e.Time = time.Now()
	r(ctx, e)
}

// output reports the outcome of a call's result.
func (r reporter) output(ctx context.Context, tool, callID string, o output) {
	if r == nil {
		return
	}
	r.send(ctx, leanctx.Event{Kind: o.kind, Tool: tool, CallID: callID, Err: o.err, Output: &leanctx.OutputChange{
		Before: leanctx.Size{Bytes: o.before, Tokens: tokensOf(o.before)},
		After:  leanctx.Size{Bytes: o.after, Tokens: tokensOf(o.after)},
		Path:   o.path, Rule: o.rule, Reason: string(o.reason), Stream: o.stream,
	}})
}

// tally counts the findings of a pass over a history. A nil one counts nothing.
type tally struct {
	pass   leanctx.Pass
	failed int // stores reported as failed
}

// keep counts a result that stays.
func (t *tally) keep(why Reason) {
	if t == nil {
		return
	}
	if t.pass.Kept == nil {
		t.pass.Kept = make(map[string]int)
	}
	t.pass.Looked++
	t.pass.Kept[string(why)]++
}

// replaced counts a result that is replaced.
func (t *tally) replaced(repeated bool) {
	t.pass.Looked++
	if repeated {
		t.pass.Repeated++
		return
	}
	t.pass.Cleared++
}
