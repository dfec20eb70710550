// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file holds the configuration.

import (
	"context"
	"io"
)

// Config says what a [Collector] keeps. Its zero value is useful.
type Config struct {
	// Conversation tells which conversation a run belongs to. It is called when a run
	// starts or resumes. If nil, or if it fails or returns "", every run is a
	// conversation of its own. It must be safe for concurrent use.
	Conversation func(context.Context) (string, error)

	// Texts says how much of the texts is kept. If zero, the first 2 KB of each.
	Texts Texts

	// Redact rewrites every text before it is kept, for instance to remove secrets. A
	// text on which it panics is not kept. It must be safe for concurrent use. If nil,
	// texts are kept as they are.
	Redact func(string) string

	// MaxBytes bounds the memory of everything that is kept. Above it, the texts of the
	// oldest calls are dropped first, then their parts, then whole conversations. If
	// zero, defaults to 64 MB.
	MaxBytes int64

	// OnCall is called when a call has ended, or when it is known that its answer will
	// not be read to the end. The context is that of the call. OnCall must not change
	// the call and must be safe for concurrent use. A panic in it is recovered.
	OnCall func(ctx context.Context, call *ModelCall)

	// Log is written each call as soon as OnCall would be called, in the format of
	// [Collector.WriteJSON] and in one Write: "leanctx view --follow" shows such a file
	// while the agent runs. Writes are never concurrent. After an error nothing more is
	// written, and no run ends with it. If nil, nothing is written.
	Log io.Writer
}

// Texts says how much of the texts is kept.
type Texts int

// The choices of Config.Texts.
const (
	TextsStart Texts = iota // the first 2 KB of each
	TextsNone               // none: figures only
	TextsAll                // all of them
)

// startBytes is how much of a text TextsStart keeps.
const startBytes = 2048

const defaultMaxBytes = 64 << 20
