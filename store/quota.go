// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

// What each scope of a store has, and whether there is room for more: one count under one lock, never
// below what is stored, however many write at once.

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/backend"
)

var errScopeFull = errors.New("store: the scope has reached Scope.MaxBytes")

const (
	// recount is how long the count of a scope stays valid, in a store that can count: others
	// may write there, and unused files are deleted.
	recount = time.Minute

	// maxScopes bounds the scopes of which a count is kept that the store can make again.
	maxScopes = 1 << 15

	// maxUncounted bounds the scopes in a store that cannot count. Those above it may store
	// nothing: a limit that is forgotten is none.
	maxUncounted = 1 << 20

	// maxSizes bounds the files of which the size is kept, in a store that cannot be read.
	maxSizes = 1 << 15
)

// quota counts what each scope of a store has. It is safe for concurrent use.
type quota struct {
	maxBytes int64         // bytes in each scope; zero: no limit
	cleaner  Cleaner       // counts what is stored; nil if the store cannot
	files    backend.Locks // what a write replaces is what was measured

	mu    sync.Mutex
	used  map[string]*usage // by directory
	sizes map[uint64]int64  // of files that were written through this store, by hash of the path
}

// usage is the count of one scope. Its numbers are guarded by quota.mu.
type usage struct {
	bytes   int64 // at least what is stored
	writing int64 // what is being written, all of which counts in bytes
	written int64 // what was being written since the store began to count, and is no more
	writers int
	recounts
}

// recounts is what is known of the store's own counts of a scope.
type recounts struct {
	counting sync.Mutex // held while the store counts
	counts   int        // how often it has
	counted  time.Time
}

// booking is room in a scope for what one call writes.
type reservation struct {
	quota *quota
	dir   string
	of    []*usage // of the scope, and of the scopes around it

	ctx            context.Context
	writing, grows int64
	counts         int // sum of usage.counts when what the call replaces was measured
}

// begin returns a booking of nothing yet. Every booking must be ended.
func (q *quota) begin(ctx context.Context, dirs []string) (*reservation, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := &reservation{quota: q, dir: whole(dirs), ctx: ctx}
	around := 0
	if q.cleaner == nil {
		around = len(dirs) - 1 // who cannot count knows nothing of the levels below a key
	}
	for n := len(dirs); n > around; n-- {
		u, err := q.usage(whole(dirs[:n]))
		if err != nil {
			return nil, err
		}
		b.of = append(b.of, u)
	}
	for _, u := range b.of {
		u.writers++
	}
	return b, nil
}

// usage returns the count of a scope. q.mu is held.
func (q *quota) usage(dir string) (*usage, error) {
	if u := q.used[dir]; u != nil {
		return u, nil
	}
	switch {
	case q.used == nil:
		q.used = make(map[string]*usage)
	case q.cleaner == nil && len(q.used) >= maxUncounted:
		return nil, errScopeFull
	case q.cleaner != nil && len(q.used) >= maxScopes:
		maps.DeleteFunc(q.used, func(_ string, u *usage) bool { return u.writers == 0 })
	}
	u := &usage{}
	q.used[dir] = u
	return u, nil
}

// count has the store count a scope, if it is time to.
func (q *quota) count(ctx context.Context, dir string, u *usage) {
	if q.cleaner == nil {
		return
	}
	u.counting.Lock()
	defer u.counting.Unlock()
	q.mu.Lock()
	due := time.Since(u.counted) >= recount
	u.written = 0
	q.mu.Unlock()
	if !due {
		return
	}
	_, stored, err := q.cleaner.Stored(ctx, dir)
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	// Of what was being written meanwhile, the store may have seen all or nothing.
	u.bytes = stored + u.writing + u.written
	u.counts++
	u.counted = time.Now()
}

// countsSoFar is the sum of usage.counts. b.quota.mu is held.
func (b *reservation) generation() (sum int) {
	for _, u := range b.of {
		sum += u.counts
	}
	return sum
}

// measure notes that what the call replaces is measured now.
func (b *reservation) measure() {
	q := b.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	b.counts = b.generation()
}

// take books room for bytes that take the place of others. Measured is false if the store has
// counted since those were measured.
func (b *reservation) take(bytes, others int64) (measured bool, err error) {
	q := b.quota
	q.count(b.ctx, b.dir, b.of[0])
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.generation() != b.counts {
		return false, nil
	}
	if bytes-others > q.maxBytes-b.of[0].bytes {
		return true, errScopeFull
	}
	// Room is there for others when this has been written.
	b.add(max(0, bytes-others))
	b.writing += bytes
	for _, u := range b.of {
		u.writing += bytes
	}
	return true, nil
}

// Write books room for a piece of a stream.
func (b *reservation) Write(p []byte) (int, error) {
	for {
		b.measure()
		if measured, err := b.take(int64(len(p)), 0); measured || err != nil {
			return len(p), err
		}
	}
}

// add changes the counts. b.quota.mu is held.
func (b *reservation) add(bytes int64) {
	b.grows += bytes
	for _, u := range b.of {
		u.bytes = max(0, u.bytes+bytes)
	}
}

// end ends a booking, after which the scope is larger by grows than when it was measured. If the store
// has counted meanwhile, it may have seen that: the count stays the larger one.
func (b *reservation) end(grows int64) {
	q := b.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.generation() == b.counts {
		b.add(grows - b.grows)
	}
	for _, u := range b.of {
		u.writing -= b.writing
		u.written += b.writing
		u.writers--
	}
}

var sizeSeed = maphash.MakeSeed()

// note keeps the size of a file for a store that cannot be read.
func (q *quota) note(path string, size int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sizes == nil || len(q.sizes) >= maxSizes {
		q.sizes = make(map[uint64]int64)
	}
	q.sizes[maphash.String(sizeSeed, path)] = size
}
