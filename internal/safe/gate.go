// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package safe

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBusy is the error of a call that a closed [Gate] rejected.
var ErrBusy = errors.New("it has not answered an earlier call, whose time is over")

// gateWait is how long a call waits at a closed gate. Code that honors its context has returned by
// then.
const gateWait = 50 * time.Millisecond

// Gate protects code that may never return. Calls that [WaitGated] abandoned and that are still
// running close it, so that they do not pile up. The zero value is open.
type Gate struct {
	mu        sync.Mutex
	abandoned int           // calls that are still running
	reopened  chan struct{} // closed when abandoned is 0 again
}

// WaitGated is [Wait] behind a gate.
func WaitGated[T any](ctx context.Context, g *Gate, what string, f func() (T, error)) (value T, err error) {
	if err := g.enter(ctx); err != nil {
		return value, err
	}
	const running, abandoned, done = 0, 1, 2
	var state atomic.Int32
	value, err = wait(ctx, what, func() (T, error) {
		defer func() {
			if state.Swap(done) == abandoned {
				g.add(-1)
			}
		}()
		return f()
	})
	if ctx.Err() != nil {
		g.add(1)
		if !state.CompareAndSwap(running, abandoned) { // it has returned meanwhile
			g.add(-1)
		}
	}
	return value, err
}

func (g *Gate) enter(ctx context.Context) error {
	g.mu.Lock()
	late, open := g.abandoned, g.reopened
	g.mu.Unlock()
	if late == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	wait := time.NewTimer(gateWait)
	defer wait.Stop()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return ErrBusy
	}
}

func (g *Gate) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.abandoned == 0 {
		g.reopened = make(chan struct{})
	}
	if g.abandoned += n; g.abandoned == 0 {
		close(g.reopened)
	}
}
