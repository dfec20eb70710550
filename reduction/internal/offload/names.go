// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// Names in stores: what they hold, and who writes them.

import (
	"hash/maphash"
	"reflect"
	"sync"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

// maxKnown bounds the names that a registry remembers. The oldest names are dropped first.
const maxKnown = 1 << 15

// fingerprint identifies content within this process.
type fingerprint struct {
	hash uint64 // zero if the store can be asked for the content
	size int    // negative: unknown content
}

var unknownContent = fingerprint{size: -1}

var hashSeed = maphash.MakeSeed()

func fingerprintOf(content string) fingerprint {
	return fingerprint{maphash.String(hashSeed, content), len(content)}
}

// nameRegistry records what was stored under which name, and which names histories contain. A name is a key of a store.
// It is safe for concurrent use, and its zero value is ready for use.
type nameRegistry struct {
	mu     sync.Mutex
	byName map[uint64]nameState // by Store.key
	order  []uint64             // oldest first
}

// nameState is the state of one name.
type nameState struct {
	pending  *string     // the content that its writers write; nil if it is unknown
	writers  int         // writers that have not released the name
	isStored bool        // the store has something under the name
	content  fingerprint // of what is stored
}

// acquire reserves a name for a writer and reports whether the writer may use it. content is nil if it is not known yet.
// Several writers of the same content may share a name. A writer that owns the name always may: the name contains the
// hash of the content, or is known to hold it. If acquire returns true, the caller must call release.
func (r *nameRegistry) acquire(key uint64, content *string, ownsName bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, known := r.byName[key]
	switch {
	case !known:
		state = nameState{pending: content, content: unknownContent}
		r.insert(key, state)
	case !ownsName && (state.isStored || content == nil || state.pending == nil || *state.pending != *content):
		return false
	}
	state.writers++
	r.byName[key] = state
	return true
}

// lookup returns the content of a name, and whether the name is used at all.
func (r *nameRegistry) lookup(key uint64) (content fingerprint, used bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, used := r.byName[key]
	if !used {
		return unknownContent, false
	}
	return state.content, true
}

// release ends the writing that acquire allowed. stored says that the name now holds the content.
func (r *nameRegistry) release(key uint64, content fingerprint, stored bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, known := r.byName[key]
	if !known {
		return
	}
	if state.writers--; state.writers == 0 {
		state.pending = nil
	}
	if stored {
		state.isStored, state.content = true, content
	}
	if r.byName[key] = state; !state.isStored && state.writers <= 0 {
		delete(r.byName, key)
	}
}

// reserve records that a name holds unknown content.
func (r *nameRegistry) reserve(key uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.byName[key]; !known {
		r.insert(key, nameState{isStored: true, content: unknownContent})
	}
}

// insert adds a name and drops the oldest one if there are too many. Names that are being written stay. r.mu is held.
func (r *nameRegistry) insert(key uint64, state nameState) {
	if r.byName == nil {
		r.byName = make(map[uint64]nameState)
	}
	for len(r.order) >= maxKnown {
		oldest := r.order[0]
		r.order = r.order[1:]
		if r.byName[oldest].writers > 0 {
			r.order = append(r.order, oldest)
			break
		}
		delete(r.byName, oldest)
	}
	r.byName[key] = state
	r.order = append(r.order, key)
}

// pendingWrites has the names that this process is writing at the moment, in stores that cannot refuse a name that is
// taken. Between the check of a name and the write, no other middleware of the process may write there.
var pendingWrites nameRegistry

// placeOf identifies a name in the innermost store of b. Stores without an identity share one set of names.
func placeOf(b store.Backend, key uint64) uint64 {
	in := backend.Innermost(b)
	if !hasIdentity(in) {
		in = nil
	}
	return maphash.Comparable(hashSeed, struct {
		store any
		key   uint64
	}{in, key})
}

// hasIdentity reports whether a store can be compared with others and equals itself.
func hasIdentity(b any) bool {
	v := reflect.ValueOf(b)
	return v.IsValid() && v.Comparable() && v.Equal(v)
}
