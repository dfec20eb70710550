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
	abandoned bool
}

// batchKey is the context key of a batch: calls to the store then run on its goroutine.
type batchKey struct{}

// SaveAll saves items in order, as Save does, and stops after maxFailures failures in a row. It returns the results of
// the items that it tried. If a call to the store ends its goroutine, only its item fails. When the context ends,
// SaveAll returns without waiting for the store. Stores in memory need no goroutine.
func (o *Offloader) SaveAll(ctx context.Context, items []Item, maxFailures int) []SaveResult {
	b := &batch{offloader: o, items: items, results: make([]SaveResult, 0, len(items))}
	if err := ctx.Err(); err != nil {
		return b.abandon(err)
	}
	if o.isInMemory() {
		b.saveRest(ctx, maxFailures)
		return b.results
	}
	for _, more := b.nextIndex(maxFailures); more; _, more = b.nextIndex(maxFailures) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.saveRest(ctx, maxFailures)
		}()
		select {
		case <-done:
		case <-ctx.Done():
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

// saveRest saves the items that were not tried yet, on this goroutine.
func (b *batch) saveRest(ctx context.Context, maxFailures int) {
	ctx = context.WithValue(ctx, batchKey{}, true)
	for n, more := b.nextIndex(maxFailures); more; n, more = b.nextIndex(maxFailures) {
		b.save(ctx, b.items[n])
	}
}

// nextIndex returns the index of the item to try next, if there is one.
func (b *batch) nextIndex(maxFailures int) (n int, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.results), !b.abandoned && len(b.results) < len(b.items) && b.failures < maxFailures
}

// save saves an item. Once the batch is abandoned, the result is dropped.
func (b *batch) save(ctx context.Context, item Item) {
	var result SaveResult
	err := errExited // remains if the call ends the goroutine
	defer func() {
		if err != nil {
			result = SaveResult{Err: saveError(item, err)}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.abandoned {
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
