// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package seen remembers what was there before, within a bound.
package seen

import (
	"hash/maphash"
	"sync"
)

// most bounds the entries of a Set. The oldest go first.
const most = 1 << 15

var seed = maphash.MakeSeed()

// Key is a hash of texts.
func Key(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range texts {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// Set remembers the last 32,768 keys it was given. The zero value is ready for use, by any
// number of goroutines.
type Set struct {
	mu    sync.Mutex
	known map[uint64]bool
	order []uint64 // oldest first
}

// Add reports whether a key is new.
func (s *Set) Add(key uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[key] {
		return false
	}
	if s.known == nil {
		s.known = make(map[uint64]bool)
	}
	if len(s.order) >= most {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	s.known[key] = true
	s.order = append(s.order, key)
	return true
}

// Has reports whether a key is there.
func (s *Set) Has(key uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[key]
}

// Any reports whether any key is there.
func (s *Set) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known) > 0
}
