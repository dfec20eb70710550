// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

// The content of each scope of a store, and whether there is room for more. There is one count under one lock. It is
// never below what is stored, however many calls write at once.

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/backend"
)

var errTooManyScopes = fmt.Errorf(
	"store: Scope.MaxBytes: there are more than %d scopes: use a store that implements store.Cleaner", maxUncounted)

const (
	// countInterval is how long the count of a scope stays valid, in a store that can count: others
	// may write there, and unused files are deleted.
	countInterval = time.Minute

	// fullInterval is how old the count of a scope is at least before a write is refused and the scope is
	// counted again: unused files may have been deleted.
	fullInterval = time.Second

	// maxScopes bounds the scopes of which a count is kept that the store can make again.
	maxScopes = 1 << 15

	// maxUncounted bounds the scopes in a store that cannot count. Those above it may store
	// nothing: a limit that is forgotten is none.
	maxUncounted = 1 << 20

	// maxSizes bounds the files of which the size is kept, in a store that cannot be read.
	maxSizes = 1 << 15
)

// quota counts the content of each scope of a store. It is safe for concurrent use.
type quota struct {
	maxBytes int64         // bytes in each scope; zero: no limit
	cleaner  Cleaner       // counts what is stored; nil if the store cannot
	files    backend.Locks // what a write replaces is what was measured

	mu    sync.Mutex
	byDir map[string]*usage // by directory of the scope
	sizes map[uint64]int64  // of files that were written through this store, by hash of the path
}

// usage is the count of one scope. Its numbers are guarded by quota.mu.
type usage struct {
	bytes         int64 // at least what is stored
	bytesWriting  int64 // what is being written at the moment, which bytes includes
	bytesFinished int64 // what was written completely since the store began to count
	writers       int

	// The store's own counts of the scope.
	countMutex sync.Mutex // held while the store counts
	generation int        // number of counts so far
	lastCount  time.Time
}

// reservation is room in a scope for what one call writes.
type reservation struct {
	quota  *quota
	dir    string
	usages []*usage // of the scope, and of the scopes that contain it

	ctx                 context.Context
	bytesWriting, grows int64
	generation          int // sum of usage.generation when what the call replaces was measured
}

// newReservation returns an empty reservation. The caller must call release.
func (q *quota) newReservation(ctx context.Context, dirs []string) (*reservation, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := &reservation{quota: q, dir: whole(dirs), ctx: ctx}
	outermost := 0
	if q.cleaner == nil {
		outermost = len(dirs) - 1 // without counts, nothing is known of the levels below a key
	}
	for n := len(dirs); n > outermost; n-- {
		u, err := q.usage(whole(dirs[:n]))
		if err != nil {
			return nil, err
		}
		r.usages = append(r.usages, u)
	}
	for _, u := range r.usages {
		u.writers++
	}
	return r, nil
}

// usage returns the count of a scope. q.mu is held.
func (q *quota) usage(dir string) (*usage, error) {
	if u := q.byDir[dir]; u != nil {
		return u, nil
	}
	switch {
	case q.byDir == nil:
		q.byDir = make(map[string]*usage)
	case q.cleaner == nil && len(q.byDir) >= maxUncounted:
		return nil, errTooManyScopes
	case q.cleaner != nil && len(q.byDir) >= maxScopes:
		maps.DeleteFunc(q.byDir, func(_ string, u *usage) bool { return u.writers == 0 })
	}
	u := &usage{}
	q.byDir[dir] = u
	return u, nil
}

// refreshCount lets the store count a scope, if the last count is older than maxAge, and reports whether it did.
func (q *quota) refreshCount(ctx context.Context, dir string, u *usage, maxAge time.Duration) (counted bool) {
	if q.cleaner == nil {
		return false
	}
	u.countMutex.Lock()
	defer u.countMutex.Unlock()
	q.mu.Lock()
	due := time.Since(u.lastCount) >= maxAge
	u.bytesFinished = 0
	q.mu.Unlock()
	if !due {
		return false
	}
	_, stored, err := q.cleaner.Stored(ctx, dir)
	if err != nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	// The store may have seen all or nothing of what was being written meanwhile.
	u.bytes = stored + u.bytesWriting + u.bytesFinished
	u.generation++
	u.lastCount = time.Now()
	return true
}

// recount lets the store count the scopes below a directory, and those that contain it, before the next write.
func (q *quota) recount(dir string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for scope, u := range q.byDir {
		if strings.HasPrefix(scope+"/", dir+"/") || strings.HasPrefix(dir+"/", scope+"/") {
			u.lastCount = time.Time{}
		}
	}
}

// currentGeneration is the sum of the generations of all usages. r.quota.mu is held.
func (r *reservation) currentGeneration() (sum int) {
	for _, u := range r.usages {
		sum += u.generation
	}
	return sum
}

// measure records that what the call replaces is measured now.
func (r *reservation) measure() {
	q := r.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	r.generation = r.currentGeneration()
}

// reserve reserves room for bytes that replace others. measured is false if the store has counted since the replaced
// bytes were measured.
func (r *reservation) reserve(bytes, others int64) (measured bool, err error) {
	q := r.quota
	q.refreshCount(r.ctx, r.dir, r.usages[0], countInterval)
	measured, err = r.tryReserve(bytes, others)
	if err != nil && q.refreshCount(r.ctx, r.dir, r.usages[0], fullInterval) {
		return false, nil
	}
	return measured, err
}

// tryReserve is reserve by the counts so far.
func (r *reservation) tryReserve(bytes, others int64) (measured bool, err error) {
	q := r.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.currentGeneration() != r.generation {
		return false, nil
	}
	if stored := r.usages[0].bytes; bytes-others > q.maxBytes-stored {
		scope := strings.TrimPrefix(r.dir, "/")
		return true, &backend.ScopeFullError{Scope: scope, Limit: q.maxBytes, Stored: stored, Needed: bytes - others}
	}
	// The bytes that are replaced become free only after the write.
	r.adjust(max(0, bytes-others))
	r.bytesWriting += bytes
	for _, u := range r.usages {
		u.bytesWriting += bytes
	}
	return true, nil
}

// Write reserves room for a piece of a stream.
func (r *reservation) Write(p []byte) (int, error) {
	for {
		r.measure()
		if measured, err := r.reserve(int64(len(p)), 0); measured || err != nil {
			return len(p), err
		}
	}
}

// adjust changes the counts. r.quota.mu is held.
func (r *reservation) adjust(bytes int64) {
	r.grows += bytes
	for _, u := range r.usages {
		u.bytes = max(0, u.bytes+bytes)
	}
}

// release ends a reservation. Since it was measured, the scope has grown by grows. If the store has counted
// meanwhile, it may have seen this already: the larger count stays.
func (r *reservation) release(grows int64) {
	q := r.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.currentGeneration() == r.generation {
		r.adjust(grows - r.grows)
	}
	for _, u := range r.usages {
		u.bytesWriting -= r.bytesWriting
		u.bytesFinished += r.bytesWriting
		u.writers--
	}
}

var sizeSeed = maphash.MakeSeed()

// recordSize records the size of a file for a store that cannot be read.
func (q *quota) recordSize(path string, size int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sizes == nil || len(q.sizes) >= maxSizes {
		q.sizes = make(map[uint64]int64)
	}
	q.sizes[maphash.String(sizeSeed, path)] = size
}
