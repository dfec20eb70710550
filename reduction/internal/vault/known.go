// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// What is known of the names in a store without asking it.

import (
	"context"
	"hash/maphash"
	"reflect"
	"sync"

	"github.com/leanctx/leanctx"
)

// maxKnown bounds the names that a vault remembers. The oldest go first.
const maxKnown = 1 << 15

// fingerprint identifies content within this process.
type fingerprint struct {
	hash uint64
	size int
}

var seed = maphash.MakeSeed()

func fingerprintOf(content string) fingerprint {
	return fingerprint{maphash.String(seed, content), len(content)}
}

// known is what one vault has stored under which name, and which names the conversations
// show. It is safe for concurrent use; the zero value is ready.
type known struct {
	mu     sync.Mutex
	byName map[uint64]*held // by hash of the name
	order  []uint64         // oldest first
}

// held is what a name holds.
type held struct {
	writing *string // what its writers write; nil if that is unknown
	writers int     // that have not finished
	kept    bool    // the name holds something
	is      fingerprint
	size    int // negative if it may hold anything
}

// take takes a name for content, nil if that is yet unknown, and reports whether it may be
// written there. Several writers of the same content may take a name, and any that own it: it
// is made for the content or known to hold it. The caller must call finish.
func (k *known) take(name string, content *string, own bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := maphash.String(seed, name)
	h := k.byName[key]
	switch {
	case h == nil:
		h = &held{writing: content, size: -1}
		k.add(key, h)
	case !own && (h.kept || content == nil || h.writing == nil || *h.writing != *content):
		return false
	}
	h.writers++
	return true
}

// of returns what is known of a name; size is negative if it may hold anything.
func (k *known) of(name string) (is fingerprint, size int, used bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.byName[maphash.String(seed, name)]
	if h == nil {
		return fingerprint{}, -1, false
	}
	return h.is, h.size, true
}

// finish ends what take began. If stored is true, the name holds size bytes now, or anything
// if that is negative; is identifies them if that may be asked for.
func (k *known) finish(name string, is fingerprint, size int, stored bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := maphash.String(seed, name)
	h := k.byName[key]
	if h == nil {
		return
	}
	if h.writers--; h.writers == 0 {
		h.writing = nil
	}
	if stored {
		h.kept, h.is, h.size = true, is, size
	}
	if !h.kept && h.writers <= 0 {
		delete(k.byName, key)
	}
}

// note records that a name holds something.
func (k *known) note(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := maphash.String(seed, name)
	if k.byName[key] == nil {
		k.add(key, &held{kept: true, size: -1})
	}
}

// add makes room for a name; k.mu is held. Names that are being written stay.
func (k *known) add(key uint64, h *held) {
	if k.byName == nil {
		k.byName = make(map[uint64]*held)
	}
	for len(k.order) >= maxKnown {
		oldest := k.order[0]
		k.order = k.order[1:]
		if old := k.byName[oldest]; old != nil && old.writers > 0 {
			k.order = append(k.order, oldest)
			break
		}
		delete(k.byName, oldest)
	}
	k.byName[key] = h
	k.order = append(k.order, key)
}

// inFlight is what this process is writing, right now, to stores that cannot refuse a name
// that is taken: between the look at a name and the write, no other middleware of the
// process may write there. Nothing is kept of what has been written.
var inFlight struct {
	mu      sync.Mutex
	writers map[place]held
}

// place is a name in a store.
type place struct {
	store leanctx.Backend // the innermost one; nil if it cannot be compared
	name  string
}

// placeOf is the place of a name in the innermost store of b.
func placeOf(b leanctx.Backend, name string) place {
	if b = Innermost(b); !hasIdentity(b) {
		b = nil
	}
	return place{b, name}
}

// begin reports whether content may be written to a name now. If so, the caller must call
// end.
func (p place) begin(content *string) bool {
	inFlight.mu.Lock()
	defer inFlight.mu.Unlock()
	h, busy := inFlight.writers[p]
	switch {
	case busy && *h.writing != *content:
		return false
	case inFlight.writers == nil:
		inFlight.writers = make(map[place]held)
	}
	inFlight.writers[p] = held{writing: content, writers: h.writers + 1}
	return true
}

func (p place) end() {
	inFlight.mu.Lock()
	defer inFlight.mu.Unlock()
	h := inFlight.writers[p]
	if h.writers--; h.writers == 0 {
		delete(inFlight.writers, p)
	} else {
		inFlight.writers[p] = h
	}
}

// hasIdentity reports whether a store can be compared with others, and equals itself.
func hasIdentity(b leanctx.Backend) bool {
	v := reflect.ValueOf(b)
	return v.IsValid() && v.Comparable() && v.Equal(v)
}

// Wrapper is a store that keeps what it is given in another one.
type Wrapper interface {
	// Innermost returns the store that is wrapped, through all wrappers.
	Innermost() leanctx.Backend
	// InnermostPath returns where a path is in it.
	InnermostPath(ctx context.Context, filePath string) (string, error)
}

// Innermost returns the store that b keeps its content in.
func Innermost(b leanctx.Backend) leanctx.Backend {
	if w, ok := b.(Wrapper); ok {
		return w.Innermost()
	}
	return b
}

// InnermostPath returns what a path of b is called in its innermost store.
func InnermostPath(ctx context.Context, b leanctx.Backend, filePath string) (string, error) {
	if w, ok := b.(Wrapper); ok {
		return w.InnermostPath(ctx, filePath)
	}
	return filePath, nil
}
