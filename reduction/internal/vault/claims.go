// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// The names of a store that this process has used, and their content: no content
// overwrites another, even if the store cannot be asked.

import (
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/leanctx/leanctx/internal/backend"
)

// maxClaims bounds the claims of one store. The oldest go first.
const maxClaims = 1 << 15

// maxUnreadable is how many unreadable stores are remembered after the last
// middleware over them is gone. Readable ones need no record.
const maxUnreadable = 64

// maxDropped bounds the dropped stores that are remembered while still in memory.
// Above it, no unreadable store counts as new.
const maxDropped = 1 << 12

// fingerprint identifies content within this process. The zero value means unknown
// content.
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

// claims is the record of the names of one store. It is safe for concurrent use.
type claims struct {
	store backend.Backend // keeps another store from taking its address

	mu     sync.Mutex
	byName map[uint64]*claim // by hash of the name
	order  []uint64          // oldest first
	forgot bool              // names that are missing here may have been used
	marked map[uint64]time.Time
}

// markUsed reports whether it is time to record that a name is in use.
func (l *claims) markUsed(name string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	if now.Sub(l.marked[key]) < backend.UseInterval {
		return false
	}
	if l.marked == nil || len(l.marked) >= maxClaims {
		l.marked = make(map[uint64]time.Time)
	}
	l.marked[key] = now
	return true
}

// mayHaveForgotten reports whether an unknown name may have been used.
func (l *claims) mayHaveForgotten(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgot && l.byName[maphash.String(seed, name)] == nil
}

// take claims a name for content, and reports whether it may be written there.
// Several writers of the same content may hold a name. The caller must call finish.
func (l *claims) take(name string, content fingerprint) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	c := l.byName[key]
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

// known returns the record of a name.
func (l *claims) known(name string) (content fingerprint, used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.byName[maphash.String(seed, name)]
	if c == nil {
		return fingerprint{}, false
	}
	return c.content, true
}

// finish ends a claim. content is what the name holds now, if stored is true; it is
// the zero fingerprint if that is uncertain.
func (l *claims) finish(name string, content fingerprint, stored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	c := l.byName[key]
	if c == nil {
		return
	}
	c.writers--
	if stored {
		c.kept, c.content = true, content
	}
	if !c.kept && c.writers <= 0 {
		delete(l.byName, key)
	}
}

// note records that a name is in use for unknown content.
func (l *claims) note(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := maphash.String(seed, name)
	if l.byName[key] == nil {
		l.add(key, &claim{kept: true})
	}
}

// add makes room for a claim; l.mu is held. Claims with an active writer stay.
func (l *claims) add(key uint64, c *claim) {
	if l.byName == nil {
		l.byName = make(map[uint64]*claim)
	}
	for len(l.order) >= maxClaims {
		oldest := l.order[0]
		l.order = l.order[1:]
		if old := l.byName[oldest]; old != nil && old.writers > 0 {
			l.order = append(l.order, oldest)
			break
		}
		delete(l.byName, oldest)
		l.forgot = true
	}
	l.byName[key] = c
	l.order = append(l.order, key)
}

// claimsOfStores finds the claims on a store that several middlewares share.
type claimsOfStores struct {
	mu         sync.Mutex
	byStore    map[any]weak.Pointer[claims] // by address, or by the store itself
	unreadable []*claims
	dropped    map[uint64]trace // such stores, by hash
	overfull   bool             // there were more
}

// allClaims is the only state here that outlives a middleware: what this process
// wrote is a fact about the process.
var allClaims claimsOfStores

// of returns the claims of a store: equal stores share one. A store that cannot be
// compared gets its own claims, without a past.
func (l *claimsOfStores) of(b backend.Backend, readable bool) *claims {
	key, ok := storeKey(b)
	if !ok {
		return &claims{store: b, forgot: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.byStore[key].Value(); known != nil && known.store == b {
		return known
	}
	made := &claims{store: b, forgot: !readable && (l.overfull || l.wasDropped(b))}
	l.add(key, made)
	if !readable {
		l.unreadable = append(l.unreadable, made)
		if len(l.unreadable) > maxUnreadable {
			l.drop(l.unreadable[0].store)
			l.unreadable = slices.Delete(l.unreadable, 0, 1)
		}
	}
	return made
}

// storeKey identifies a store. For a pointer it is the address, which does not keep
// the store in memory.
func storeKey(b backend.Backend) (key any, ok bool) {
	v := reflect.ValueOf(b)
	switch {
	case !v.Comparable() || !v.Equal(v):
		return nil, false
	case v.Kind() == reflect.Pointer && v.Type().Elem().Size() > 0:
		return v.Pointer(), true
	}
	return b, true
}

// drop records that the claims of a store may be gone; l.mu is held.
func (l *claimsOfStores) drop(b backend.Backend) {
	if len(l.dropped) >= maxDropped {
		maps.DeleteFunc(l.dropped, func(_ uint64, t trace) bool { return t.gone() })
	}
	if l.dropped == nil {
		l.dropped = make(map[uint64]trace)
	}
	if l.overfull = l.overfull || len(l.dropped) >= maxDropped; !l.overfull {
		l.dropped[hashOf(b)] = traceOf(b)
	}
}

func (l *claimsOfStores) wasDropped(b backend.Backend) bool {
	t, was := l.dropped[hashOf(b)]
	return was && !t.gone()
}

func hashOf(b backend.Backend) uint64 { return maphash.Comparable(seed, b) }

// trace is what remains of a dropped store: weak pointers to what it points to. If
// some of these are gone, so is the store, and a new one may have its address.
type trace []weak.Pointer[byte]

func traceOf(b backend.Backend) (t trace) {
	pointers(reflect.ValueOf(b), func(p *byte) { t = append(t, weak.Make(p)) })
	return t
}

func (t trace) gone() bool {
	return slices.ContainsFunc(t, func(p weak.Pointer[byte]) bool { return p.Value() == nil })
}

// pointers calls f with each pointer that distinguishes a value from another one.
func pointers(v reflect.Value, f func(*byte)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		if !v.IsNil() {
			f((*byte)(v.UnsafePointer()))
		}
	case reflect.Interface:
		pointers(v.Elem(), f)
	case reflect.Struct:
		for i := range v.NumField() {
			pointers(v.Field(i), f)
		}
	case reflect.Array:
		for i := range v.Len() {
			pointers(v.Index(i), f)
		}
	}
}

// add adds claims and removes those that are gone; l.mu is held.
func (l *claimsOfStores) add(key any, made *claims) {
	if l.byStore == nil {
		l.byStore = make(map[any]weak.Pointer[claims])
	}
	for k, p := range l.byStore {
		if p.Value() == nil {
			delete(l.byStore, k)
		}
	}
	l.byStore[key] = weak.Make(made)
}
