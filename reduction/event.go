// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The events for OnEvent.

import "github.com/leanctx/leanctx"

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
