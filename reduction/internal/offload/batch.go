// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// Several items, saved on one goroutine.

import (
	"context"
	"sync"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/store"
)

// batch is one call of SaveAll.
type batch struct {
	offloader *Offloader
	items     []Item

	mu        sync.Mutex
	results   []SaveResult // of the items that were tried, in order
	failures  int          // in a row
	worker    int          // the goroutine whose results count
	abandoned bool
}

// SaveAll saves items in order, as Save does, and stops after maxFailures failures in a row. It returns the results of
// the items that it tried. If a call to the store ends its goroutine, only its item fails. If a store makes no progress,
// SaveAll does not wait for it, and its other items fail. When the context ends, SaveAll returns without waiting.
// Stores in memory need no goroutine.
func (o *Offloader) SaveAll(ctx context.Context, items []Item, maxFailures int) []SaveResult {
	ctx = WithPass(ctx)
	b := &batch{offloader: o, items: items, results: make([]SaveResult, 0, len(items))}
	if err := ctx.Err(); err != nil {
		return b.abandon(err)
	}
	if o.isInMemory() {
		inner, w := watched(ctx, 0)
		defer w.stop()
		w.isBatch = true
		b.saveRest(inner, b.worker, maxFailures)
		return b.results
	}
	for _, more := b.nextIndex(0, maxFailures); more; _, more = b.nextIndex(b.worker, maxFailures) {
		if !b.run(ctx, maxFailures) {
			return b.abandon(ctx.Err())
		}
	}
	return b.results
}

// isInMemory reports whether all stores are in memory: their calls return at once, and run no other code. Saving in one
// store asks the others for the same path.
func (o *Offloader) isInMemory() bool {
	for _, s := range o.Stores {
		switch s.Backend.(type) {
		case *store.Memory, *filesystem.InMemoryBackend:
		default:
			return false
		}
	}
	return true
}

// run saves items on a goroutine until there is none left, a store makes no progress, or the goroutine ends. It returns
// false if the context ends.
func (b *batch) run(ctx context.Context, maxFailures int) bool {
	inner, w := watched(ctx, b.offloader.Timeout)
	w.isBatch = true
	defer w.stop()
	done, worker := make(chan struct{}), b.worker
	go func() {
		defer close(done)
		b.saveRest(inner, worker, maxFailures)
	}()
	select {
	case <-done:
		return true
	case <-inner.Done():
	}
	if ctx.Err() != nil {
		return false
	}
	b.skipHanging(ctx, timeoutOf(inner))
	return true
}

// saveRest saves the items that were not tried yet, on this goroutine.
func (b *batch) saveRest(ctx context.Context, worker, maxFailures int) {
	for n, more := b.nextIndex(worker, maxFailures); more; n, more = b.nextIndex(worker, maxFailures) {
		b.save(ctx, worker, b.items[n])
	}
}

// skipHanging leaves a goroutine running whose store makes no progress. Its item fails.
func (b *batch) skipHanging(ctx context.Context, timeout error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.worker++
	if len(b.results) == len(b.items) {
		return // it has just returned
	}
	item := b.items[len(b.results)]
	recordTimeout(ctx, item.Store)
	b.failures++
	b.results = append(b.results, SaveResult{Err: saveError(item, timeout)})
}

// nextIndex returns the index of the item that a worker tries next, if there is one.
func (b *batch) nextIndex(worker, maxFailures int) (n int, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	isActive := worker == b.worker && !b.abandoned
	return len(b.results), isActive && len(b.results) < len(b.items) && b.failures < maxFailures
}

// save saves an item. Once the worker or the batch is abandoned, the result is dropped.
func (b *batch) save(ctx context.Context, worker int, item Item) {
	var result SaveResult
	err := errExited // remains if the call ends the goroutine
	defer func() {
		if err != nil {
			result = SaveResult{Err: saveError(item, err)}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.abandoned || worker != b.worker {
			return
		}
		if b.failures++; result.Err == nil {
			b.failures = 0
		}
		b.results = append(b.results, result)
	}()
	err = safe.Call("the store", func() error {
		result = b.offloader.Save(ctx, item)
		return nil
	})
}

// abandon leaves the goroutine of the batch running and drops its results. All items without a result fail with err.
func (b *batch) abandon(err error) []SaveResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.abandoned = true
	for _, item := range b.items[len(b.results):] {
		b.results = append(b.results, SaveResult{Err: saveError(item, err)})
	}
	return b.results
}
