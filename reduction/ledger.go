// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file remembers which names of a store this process has used, and for what
// content, so that no content is written over another even where the store
// cannot be asked.

import (
	"hash/maphash"
	"reflect"
	"slices"
	"sync"
	"weak"
)

// maxClaims bounds what is remembered of one store. The oldest go first.
const maxClaims = 1 << 15

// maxUnreadable is how many stores that cannot be read are remembered after the
// last middleware over them is gone. Of the others nothing need be.
const maxUnreadable = 64

// maxDropped bounds what is remembered of those that were dropped. When there are
// more, no store that cannot be read is taken for a new one.
const maxDropped = 1 << 12

// fingerprint tells contents apart within this process. The zero value means that
// the content is not known.
type fingerprint struct {
	hash uint64
	size int
	set  bool
}

var seed = maphash.MakeSeed()

func fingerprintOf(content string) fingerprint {
	return fingerprint{hash: maphash.String(seed, content), size: len(content), set: true}
}

// claim is the use of a name.
type claim struct {
	content fingerprint
	writers int  // that have not finished
	kept    bool // the name holds the content, or may hold anything
}

// ledger is what is known of the names of one store. It is safe for concurrent
// use.
type ledger struct {
	store Backend // kept from being replaced by another one at its address

	mu     sync.Mutex
	claims map[uint64]*claim // by hash of the name
	order  []uint64          // oldest first
	forgot bool              // names may have been used that are not here
}

// mayHaveForgotten reports whether a name that is not known may have been used.
func (l *ledger) mayHaveForgotten(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgot && l.claims[maphash.String(seed, name)] == nil
}

// take claims a name for a content, and reports whether it may be written there.
// Several writers of one content may hold a name. Who takes must finish.
func (l *ledger) take(name string, content fingerprint) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	c := l.claims[key]
	switch {
	case c == nil:
		c = &claim{content: content}
		l.add(key, c)
	case !content.set || c.content != content:
		return false
	}
	c.writers++
	return true
}

// known reports what is known of a name.
func (l *ledger) known(name string) (content fingerprint, used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.claims[maphash.String(seed, name)]
	if c == nil {
		return fingerprint{}, false
	}
	return c.content, true
}

// finish ends a claim. content is what the name holds now, if stored is true; it
// is the zero fingerprint where that is uncertain.
func (l *ledger) finish(name string, content fingerprint, stored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	c := l.claims[key]
	if c == nil {
		return
	}
	c.writers--
	if stored {
		c.kept, c.content = true, content
	}
	if !c.kept && c.writers <= 0 {
		delete(l.claims, key)
	}
}

// note records that a name is in use for a content that is not known.
func (l *ledger) note(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	if l.claims[key] == nil {
		l.add(key, &claim{kept: true})
	}
}

// add makes room for a claim; l.mu is held. A claim that is being written stays.
func (l *ledger) add(key uint64, c *claim) {
	if l.claims == nil {
		l.claims = make(map[uint64]*claim)
	}
	for len(l.order) >= maxClaims {
		oldest := l.order[0]
		l.order = l.order[1:]
		if old := l.claims[oldest]; old != nil && old.writers > 0 {
			l.order = append(l.order, oldest)
			break
		}
		delete(l.claims, oldest)
		l.forgot = true
	}
	l.claims[key] = c
	l.order = append(l.order, key)
}

// ledgers finds the ledger of a store that several middlewares share.
type ledgers struct {
	mu         sync.Mutex
	byStore    map[any]weak.Pointer[ledger] // by address, or by the store itself
	unreadable []*ledger
	dropped    map[uint64]bool // the traces of such stores
}

// allLedgers is the one thing here that outlives a middleware: what this process
// wrote is a fact about the process.
var allLedgers ledgers

// of returns the ledger of a store: equal stores have one. A store that cannot be
// compared gets a ledger of its own, which knows nothing of an earlier one.
func (l *ledgers) of(b Backend, readable bool) *ledger {
	key, ok := storeKey(b)
	if !ok {
		return &ledger{store: b, forgot: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.byStore[key].Value(); known != nil && known.store == b {
		return known
	}
	led := &ledger{store: b, forgot: !readable && (l.dropped[trace(b)] || len(l.dropped) >= maxDropped)}
	l.add(key, led)
	if !readable {
		l.unreadable = append(l.unreadable, led)
		if len(l.unreadable) > maxUnreadable {
			l.drop(l.unreadable[0].store)
			l.unreadable = slices.Delete(l.unreadable, 0, 1)
		}
	}
	return led
}

// storeKey is what a store is known again by. A pointer is known by its address, so
// that the store is not kept in memory.
func storeKey(b Backend) (key any, ok bool) {
	v := reflect.ValueOf(b)
	switch {
	case !v.Comparable() || !v.Equal(v):
		return nil, false
	case v.Kind() == reflect.Pointer && v.Type().Elem().Size() > 0:
		return v.Pointer(), true
	}
	return b, true
}

// drop notes that what is known of a store may be gone; l.mu is held.
func (l *ledgers) drop(b Backend) {
	if l.dropped == nil {
		l.dropped = make(map[uint64]bool)
	}
	if len(l.dropped) < maxDropped {
		l.dropped[trace(b)] = true
	}
}

// trace is what is left of a store that is dropped.
func trace(b Backend) uint64 { return maphash.Comparable(seed, b) }

// add enters a ledger and drops those that are gone; l.mu is held.
func (l *ledgers) add(key any, led *ledger) {
	if l.byStore == nil {
		l.byStore = make(map[any]weak.Pointer[ledger])
	}
	for k, p := range l.byStore {
		if p.Value() == nil {
			delete(l.byStore, k)
		}
	}
	l.byStore[key] = weak.Make(led)
}
