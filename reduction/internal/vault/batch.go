// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Stores many contents and waits for one goroutine, not for one per call to the store.

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leanctx/leanctx/internal/safe"
)

var errExited = errors.New("the store ended its goroutine")

// Item is content to be saved.
type Item struct {
	Store   *Store
	At      Place
	Content string
}

// Saved is what became of an Item. Existed says that it was there already. With an error
// there is a path only if the store says that it kept the content, and cannot be asked.
type Saved struct {
	Path    string
	Existed bool
	Err     error
}

// batch is a run of SaveAll.
type batch struct {
	vault *Vault
	items []Item

	mu        sync.Mutex
	saved     []Saved // of the first items
	failures  int     // in a row
	abandoned bool
}

// batchOf is the batch whose goroutine a context belongs to, nil for none.
func batchOf(ctx context.Context) *batch {
	b, _ := ctx.Value((*batch)(nil)).(*batch)
	return b
}

// SaveAll saves items one after the other, as Save does, until most of them in a row have
// failed. It returns what became of the items that it tried. A call that ends its goroutine
// fails its item; when the context ends, SaveAll returns without waiting for the store.
func (v *Vault) SaveAll(ctx context.Context, items []Item, most int) []Saved {
	b := &batch{vault: v, items: items, saved: make([]Saved, 0, len(items))}
	for _, more := b.nth(most); more; _, more = b.nth(most) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			inside := context.WithValue(ctx, (*batch)(nil), b)
			for n, more := b.nth(most); more; n, more = b.nth(most) {
				b.save(inside, items[n])
			}
		}()
		select {
		case <-done:
		case <-ctx.Done():
			return b.abandon(ctx.Err())
		}
	}
	return b.saved
}

// nth returns which item is to be tried next, if any.
func (b *batch) nth(most int) (n int, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.saved), !b.abandoned && len(b.saved) < len(b.items) && b.failures < most
}

func (b *batch) save(ctx context.Context, item Item) {
	var got Saved
	err := errExited
	defer func() {
		if err != nil {
			got = Saved{Err: failed(item, err)}
		}
		b.add(got)
	}()
	err = safe.Call("the store", func() error {
		got = b.vault.Save(ctx, item)
		return nil
	})
}

func (b *batch) add(got Saved) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.abandoned {
		return
	}
	if b.failures++; got.Err == nil {
		b.failures = 0
	}
	b.saved = append(b.saved, got)
}

// abandon leaves the goroutine to itself, and returns what was saved before. All other items
// failed with err.
func (b *batch) abandon(err error) []Saved {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.abandoned = true
	for _, item := range b.items[len(b.saved):] {
		b.saved = append(b.saved, Saved{Err: failed(item, err)})
	}
	return b.saved
}

func failed(item Item, err error) error {
	return fmt.Errorf("reduction: storing %q: %w", item.At.Path, err)
}
