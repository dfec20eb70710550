// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// A store that hangs: how long a call may take without progress, and what follows from a timeout.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/safe"
)

// ErrTimeout says that a store has made no progress for too long.
var ErrTimeout = errors.New("the store made no progress")

// errSkipped is the error of calls that are not made, as the store has timed out in the same pass.
var errSkipped = fmt.Errorf("%w in an earlier call, and is not asked again in this pass", ErrTimeout)

// pass knows which stores have timed out since it began.
type pass struct {
	mu       sync.Mutex
	timedOut map[*Store]bool
}

type passKey struct{}

// WithPass returns a context in which a store that has timed out once is not asked again. A context that has a pass
// stays as it is.
func WithPass(ctx context.Context) context.Context {
	if passFrom(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, passKey{}, new(pass))
}

// passFrom returns the pass of a context; nil if it has none.
func passFrom(ctx context.Context) *pass {
	p, _ := ctx.Value(passKey{}).(*pass)
	return p
}

// RestartPass begins a new pass, if the context has one: every store is asked again.
func RestartPass(ctx context.Context) {
	if p := passFrom(ctx); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		clear(p.timedOut)
	}
}

func hasTimedOut(ctx context.Context, s *Store) bool {
	p := passFrom(ctx)
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timedOut[s]
}

func recordTimeout(ctx context.Context, s *Store) {
	p := passFrom(ctx)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timedOut == nil {
		p.timedOut = make(map[*Store]bool)
	}
	p.timedOut[s] = true
}

// watchdog cancels a context if a store makes no progress. Time counts only while the store has something to do.
type watchdog struct {
	limit  time.Duration
	timer  *time.Timer // nil: there is no limit
	cancel context.CancelCauseFunc
	depth  atomic.Int32 // calls under way, one in the other

	isBatch bool // calls run on the goroutine of a batch
}

type watchdogKey struct{}

// watched returns a context that ends if the calls to stores that are made with it make no progress, and its watchdog,
// which must be stopped.
func watched(ctx context.Context, limit time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{limit: limit, cancel: cancel}
	if limit > 0 {
		w.timer = time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w for %v", ErrTimeout, limit)) })
		w.timer.Stop()
	}
	return context.WithValue(ctx, watchdogKey{}, w), w
}

func watchdogFrom(ctx context.Context) *watchdog {
	w, _ := ctx.Value(watchdogKey{}).(*watchdog)
	return w
}

// resume counts from now on, which also records progress.
func (w *watchdog) resume() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

func (w *watchdog) pause() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watchdog) enter() {
	w.depth.Add(1)
	w.resume()
}

func (w *watchdog) leave() {
	if w.depth.Add(-1) > 0 {
		w.resume()
		return
	}
	w.pause()
}

func (w *watchdog) stop() {
	w.pause()
	w.cancel(nil)
}

// timeoutOf returns the timeout that has ended a watched context, nil if none has.
func timeoutOf(watched context.Context) error {
	if cause := context.Cause(watched); errors.Is(cause, ErrTimeout) {
		return cause
	}
	return nil
}

// call runs a call to the Backend, which may panic, end its goroutine, or return only long after the context has ended.
// It returns without the result if the store makes no progress. In a batch, the call runs on the goroutine of the batch.
func call[T any](ctx context.Context, s *Store, f func(ctx context.Context) (T, error)) (value T, err error) {
	if err := ctx.Err(); err != nil {
		return value, err
	}
	if hasTimedOut(ctx, s) {
		return value, errSkipped
	}
	guarded := func(ctx context.Context, w *watchdog) func() (T, error) {
		return func() (T, error) {
			w.enter()
			defer w.leave()
			return f(ctx)
		}
	}
	if w := watchdogFrom(ctx); w != nil { // inside of another call, or in a batch
		if w.isBatch {
			return safe.Value("the store", guarded(ctx, w))
		}
		return safe.Wait(ctx, "the store", guarded(ctx, w))
	}
	inner, w := watched(ctx, s.timeout)
	defer w.stop()
	value, err = safe.Wait(inner, "the store", guarded(inner, w))
	if timeout := timeoutOf(inner); err != nil && timeout != nil {
		recordTimeout(ctx, s)
		return value, timeout
	}
	return value, err
}

// mayStillWrite reports whether a store may go on writing after a call has returned with an error.
func mayStillWrite(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrTimeout)
}

// observed returns content whose reading counts as progress of the store. While the store waits for the next bytes of a
// stream, no time counts.
func observed(ctx context.Context, content io.Reader) io.Reader {
	w := watchdogFrom(ctx)
	if w == nil || w.timer == nil {
		return content
	}
	if text, ok := content.(*backend.Text); ok {
		return text.Observed(w.resume)
	}
	return observedReader{content, w}
}

type observedReader struct {
	content  io.Reader
	watchdog *watchdog
}

func (r observedReader) Read(p []byte) (int, error) {
	r.watchdog.pause()
	defer r.watchdog.resume()
	return r.content.Read(p)
}

// openPatiently opens stored content for a reader that does not wait for a store that hangs.
func (s *Store) openPatiently(
	ctx context.Context, filePath string, offset, length int64,
) (content io.ReadCloser, size int64, err error) {
	inner, w := watched(ctx, s.timeout)
	type opened struct {
		content io.ReadCloser
		size    int64
	}
	out, err := safe.Wait(inner, "the store", func() (out opened, err error) {
		w.enter()
		defer w.leave()
		out.content, out.size, err = s.ranges.ReadRange(inner, filePath, offset, length)
		if err == nil && inner.Err() != nil {
			_ = out.content.Close() // nobody reads it any more
		}
		return out, err
	})
	if err != nil {
		timeout := timeoutOf(inner)
		w.stop()
		if timeout != nil {
			err = timeout
		}
		return nil, 0, err
	}
	return &patientReader{ctx: inner, content: out.content, watchdog: w}, out.size, nil
}

// patientReader reads content from a store that may hang.
type patientReader struct {
	ctx      context.Context
	content  io.ReadCloser
	watchdog *watchdog
	buf      []byte
	err      error // of a read that was abandoned: the store may still be using buf and content
}

func (r *patientReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if cap(r.buf) < len(p) {
		r.buf = make([]byte, len(p))
	}
	buf := r.buf[:len(p)]
	type result struct {
		n   int
		err error
	}
	got, err := safe.Wait(r.ctx, "the store", func() (result, error) {
		r.watchdog.enter()
		defer r.watchdog.leave()
		n, err := r.content.Read(buf)
		return result{n, err}, nil
	})
	if err != nil {
		if r.err = err; timeoutOf(r.ctx) != nil {
			r.err = timeoutOf(r.ctx)
		}
		return 0, r.err
	}
	return copy(p, buf[:got.n]), got.err
}

// Close closes the content, unless the store may still be using it.
func (r *patientReader) Close() error {
	defer r.watchdog.stop()
	if r.err != nil {
		return nil
	}
	return r.content.Close()
}
