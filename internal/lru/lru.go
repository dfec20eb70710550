// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package lru provides a map with a maximum size that evicts the least recently used entry.
package lru

// Map holds at most MaxEntries values, and at least one. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	MaxEntries int
	clock      int64
	entries    map[K]*entry[V]
}

type entry[V any] struct {
	value   V
	lastUse int64
}

// Len returns the number of values.
func (m *Map[K, V]) Len() int { return len(m.entries) }

// Get returns the value of a key and marks it as used.
func (m *Map[K, V]) Get(key K) (v V, ok bool) {
	x := m.entries[key]
	if x == nil {
		return v, false
	}
	m.clock++
	x.lastUse = m.clock
	return x.value, true
}

// Put sets the value of a key and marks it as used. If the map is too large then, it evicts the
// least recently used entry.
func (m *Map[K, V]) Put(key K, v V) {
	if m.entries == nil {
		m.entries = map[K]*entry[V]{}
	}
	m.clock++
	m.entries[key] = &entry[V]{v, m.clock}
	if len(m.entries) <= m.MaxEntries {
		return
	}
	oldest := key
	for k, x := range m.entries {
		if x.lastUse < m.entries[oldest].lastUse {
			oldest = k
		}
	}
	delete(m.entries, oldest)
}
