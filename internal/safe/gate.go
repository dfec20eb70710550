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

// ErrBusy is the error of a call that a [Gate] did not let through.
var ErrBusy = errors.New("it has not answered an earlier call, whose time is over")

// patience is how long a call waits at a closed gate: code that heeds its context is done by then.
const patience = 50 * time.Millisecond

// Gate stands before code that may never return. Calls that [Through] gave up, and that go on
// nevertheless, close it, so that they do not pile up. The zero value is open.
type Gate struct {
	mu   sync.Mutex
	late int           // calls that were given up and go on
	open chan struct{} // closed when there are none again
}

// Through is [Wait] behind a gate.
func Through[T any](ctx context.Context, g *Gate, what string, f func() (T, error)) (value T, err error) {
	if err := g.enter(ctx); err != nil {
		return value, err
	}
	const running, givenUp, over = 0, 1, 2
	var state atomic.Int32
	value, err = wait(ctx, what, func() (T, error) {
		defer func() {
			if state.Swap(over) == givenUp {
				g.add(-1)
			}
		}()
		return f()
	})
	if ctx.Err() != nil {
		g.add(1)
		if !state.CompareAndSwap(running, givenUp) { // it is over, in time or not
			g.add(-1)
		}
	}
	return value, err
}

func (g *Gate) enter(ctx context.Context) error {
	g.mu.Lock()
	late, open := g.late, g.open
	g.mu.Unlock()
	if late == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	wait := time.NewTimer(patience)
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
	if g.late == 0 {
		g.open = make(chan struct{})
	}
	if g.late += n; g.late == 0 {
		close(g.open)
	}
}
