// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package lru is a map that forgets what was not used for longest.
package lru

// Map keeps at most Most values, and at least one. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	Most  int
	clock int64
	all   map[K]*value[V]
}

type value[V any] struct {
	value V
	used  int64
}

// Len is the number of values.
func (m *Map[K, V]) Len() int { return len(m.all) }

// Get returns the value of a key, which is a use of it.
func (m *Map[K, V]) Get(key K) (v V, ok bool) {
	x := m.all[key]
	if x == nil {
		return v, false
	}
	m.clock++
	x.used = m.clock
	return x.value, true
}

// Put sets the value of a key, which is a use of it. If there are too many then, the one that
// was not used for longest goes.
func (m *Map[K, V]) Put(key K, v V) {
	if m.all == nil {
		m.all = map[K]*value[V]{}
	}
	m.clock++
	m.all[key] = &value[V]{v, m.clock}
	if len(m.all) <= m.Most {
		return
	}
	oldest := key
	for k, x := range m.all {
		if x.used < m.all[oldest].used {
			oldest = k
		}
	}
	delete(m.all, oldest)
}
