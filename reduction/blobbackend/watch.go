// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

// Some drivers retry until their context ends, and the context of an agent often has no end.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// restTime is how long a store that could not be reached is not asked again. A driver may
// retry for ten seconds, and each result of an agent would wait for that.
const restTime = 30 * time.Second

// breaker keeps calls from a store that cannot be reached. After restTime, one call tries it;
// the others go on failing until that one has succeeded.
type breaker struct {
	now func() time.Time // if nil, time.Now

	mu        sync.Mutex
	lastError error // why it could not be reached; nil if it could
	retry     time.Time
}

func (b *breaker) clock() time.Time {
	if b.now == nil {
		return time.Now()
	}
	return b.now()
}

// run makes a call, unless the store could not be reached a short time ago.
func (b *breaker) run(call func() error) error {
	if err := b.ready(); err != nil {
		return err
	}
	err := call()
	b.note(err)
	return err
}

// doWith is do for a call that reads content, whose own errors say nothing about the store.
func (b *breaker) doWith(content io.Reader, call func(content io.Reader) error) error {
	if err := b.ready(); err != nil {
		return err
	}
	tracked := &source{ctx: context.Background(), r: content}
	err := call(tracked)
	if tracked.err != nil {
		b.note(context.Canceled)
	} else {
		b.note(err)
	}
	return err
}

func (b *breaker) ready() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	if b.lastError != nil && now.Before(b.retry) {
		return fmt.Errorf("the store could not be reached: %w", b.lastError)
	}
	b.retry = now.Add(restTime) // while this call tries it, no other does
	return nil
}

// note records how a call ended. One that its caller gave up says nothing.
func (b *breaker) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case unreachable(err):
		b.lastError, b.retry = err, b.clock().Add(restTime)
	case err == nil || missing(err) || isNameTaken(err):
		b.lastError = nil
	case b.lastError != nil:
		b.retry = b.clock() // the next call may try
	}
}

// unreachable reports whether nobody answered. A file system's bare error number has the methods
// of a network's error, and is an answer.
func unreachable(err error) bool {
	var network net.Error
	if errors.As(err, &network) {
		_, answered := network.(syscall.Errno)
		return !answered && !gaveUp(err)
	}
	return errors.Is(err, os.ErrDeadlineExceeded) && !gaveUp(err)
}

func gaveUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

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

// withTimeout makes one call with a limit.
func withTimeout[T any](ctx context.Context, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	ctx, w := watched(ctx, limit)
	defer w.end()
	w.begin()
	value, err := call(ctx)
	return value, w.explain(err)
}
