// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

// This file bounds how long a store is waited for. Some drivers retry until their context
// ends, and the context of an agent often has no end.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// watch cancels a context when one step takes too long.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil: no limit
	limit  time.Duration
}

// watched returns a context with a watch over it, which is to be ended. A limit of zero is
// none.
func watched(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	w := &watch{limit: limit}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if limit > 0 {
		slow := fmt.Errorf("the store has not answered for %v: %w", limit, os.ErrDeadlineExceeded)
		w.timer = time.AfterFunc(limit, func() { w.cancel(slow) })
		w.timer.Stop()
	}
	return w.ctx, w
}

// begin begins a step: the time runs.
func (w *watch) begin() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

// pause ends a step.
func (w *watch) pause() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// end cancels the context.
func (w *watch) end() {
	w.pause()
	w.cancel(nil)
}

// explain says of an error that it comes from waiting too long.
func (w *watch) explain(err error) error {
	if cause := context.Cause(w.ctx); err != nil && !errors.Is(err, io.EOF) && errors.Is(cause, os.ErrDeadlineExceeded) {
		return cause
	}
	return err
}

// within makes one call with a limit.
func within[T any](ctx context.Context, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	ctx, w := watched(ctx, limit)
	defer w.end()
	w.begin()
	got, err := call(ctx)
	return got, w.explain(err)
}
