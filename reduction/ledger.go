// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file remembers which names of a store this process has used, and for what
// content, so that no content is written over another even where the store
// cannot be asked.

import (
	"hash/maphash"
	"reflect"
	"sync"
	"weak"
)

// maxClaims bounds what is remembered of one store. The oldest go first.
const maxClaims = 1 << 15

// maxUnreadable is how many stores that cannot be read are remembered after the
// last middleware over them is gone. Of the others nothing need be.
const maxUnreadable = 64

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
	}
	l.claims[key] = c
	l.order = append(l.order, key)
}

// ledgers finds the ledger of a store that several middlewares share.
type ledgers struct {
	mu         sync.Mutex
	byAddress  map[uintptr]weak.Pointer[ledger]
	unreadable []*ledger
}

// allLedgers is the one thing here that outlives a middleware: what this process
// wrote is a fact about the process.
var allLedgers ledgers

// of returns the ledger of a store. A store is known again by its address, if it
// has one; every other store gets a ledger of its own.
func (l *ledgers) of(b Backend, readable bool) *ledger {
	v := reflect.ValueOf(b)
	if v.Kind() != reflect.Pointer || v.Type().Elem().Size() == 0 {
		return &ledger{store: b}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.byAddress[v.Pointer()].Value(); known != nil && known.store == b {
		return known
	}
	led := &ledger{store: b}
	l.add(v.Pointer(), led)
	if !readable {
		l.unreadable = append(l.unreadable, led)
		l.unreadable = l.unreadable[max(0, len(l.unreadable)-maxUnreadable):]
	}
	return led
}

// add enters a ledger and drops those that are gone; l.mu is held.
func (l *ledgers) add(address uintptr, led *ledger) {
	if l.byAddress == nil {
		l.byAddress = make(map[uintptr]weak.Pointer[ledger])
	}
	for a, p := range l.byAddress {
		if p.Value() == nil {
			delete(l.byAddress, a)
		}
	}
	l.byAddress[address] = weak.Make(led)
}
