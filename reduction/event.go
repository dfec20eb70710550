// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds what the middleware reports about what it does.

import "context"

// EventKind is what was done with a result.
type EventKind string

const (
	// EventTruncated: a result was cut when it returned.
	EventTruncated EventKind = "truncated"

	// EventCleared: an old result was replaced before a model call.
	EventCleared EventKind = "cleared"

	// EventOffloadFailed: content could not be stored. A finished result stays in
	// the conversation, whole; of a stream the head and the tail do.
	EventOffloadFailed EventKind = "offload_failed"

	// EventLeftAlone: the result was looked at and stays as it is.
	EventLeftAlone EventKind = "left_alone"
)

// Phase is when a result was looked at.
type Phase string

const (
	// PhaseTruncation is when a tool returns.
	PhaseTruncation Phase = "truncation"

	// PhaseClear is before a model call.
	PhaseClear Phase = "clear"
)

// Reason is why a result was left alone.
type Reason string

const (
	// ReasonWithinLimit: it is not longer than MaxLengthForTrunc.
	ReasonWithinLimit Reason = "within_limit"

	// ReasonExcluded: its tool is on an exclude list.
	ReasonExcluded Reason = "excluded"

	// ReasonSkipped: the configuration skips the phase for its tool.
	ReasonSkipped Reason = "skipped"

	// ReasonReadTool: its tool reads stored content back, or its answers load tools.
	ReasonReadTool Reason = "read_tool"

	// ReasonNotSmaller: what would replace it is not smaller by MinSavingBytes, or
	// does not fit in MaxLengthForTrunc.
	ReasonNotSmaller Reason = "not_smaller"

	// ReasonHandler: the handler of its tool said so.
	ReasonHandler Reason = "handler"

	// ReasonTooFewTokens: the pass would have saved less than ClearAtLeastTokens.
	ReasonTooFewTokens Reason = "too_few_tokens"
)

// Event is one result and what became of it. Sizes are of text; media do not
// count in bytes.
type Event struct {
	// Kind is what was done.
	Kind EventKind

	// Phase is when.
	Phase Phase

	// Tool and CallID are those of the call.
	Tool, CallID string

	// BytesBefore and BytesAfter are the bytes of text that the tool returned and
	// that go on; they are equal when nothing changed.
	BytesBefore, BytesAfter int

	// TokensBefore and TokensAfter are the same in tokens, four bytes to one.
	TokensBefore, TokensAfter int64

	// Path is where the content is stored; empty if it is not, or not by this.
	Path string

	// Reason is set for EventLeftAlone.
	Reason Reason

	// Err is the failure for EventOffloadFailed, and for a truncated stream the
	// error with which the tool ended it. Its text may name machines and files.
	Err error
}

// reporter tells the user's OnEvent. A nil one tells nobody.
type reporter func(context.Context, Event)

// send fills in the tokens. An observer cannot end a run: its panic is dropped.
func (r reporter) send(ctx context.Context, e Event) {
	if r == nil {
		return
	}
	defer func() { _ = recover() }()
	e.TokensBefore, e.TokensAfter = tokensOf(e.BytesBefore), tokensOf(e.BytesAfter)
	r(ctx, e)
}
