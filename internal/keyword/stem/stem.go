// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package stem removes the endings of English words, and remembers the words that it has met: a
// search meets a stem for each of its words and for each two neighbours, the same ones again and
// again, and takes no memory for them.
package stem

import (
	"sync"

	"github.com/kljensen/snowball/english"
)

// most is how many words are remembered before the oldest of them are forgotten: more than the
// tools of a large library have.
const most = 1 << 16

var words memory

// memory has the stems of at least the newest words, up to twice most. It is safe for concurrent use.
type memory struct {
	mu         sync.RWMutex
	young, old map[string]string
}

// English returns the stem of a word of small ASCII letters, in the word's memory.
func English(word []byte) []byte { return append(word[:0], words.stem(word)...) }

func (m *memory) stem(word []byte) string {
	m.mu.RLock()
	stem, known := m.young[string(word)]
	if !known {
		stem, known = m.old[string(word)]
	}
	m.mu.RUnlock()
	if known {
		return stem
	}
	own := string(word)
	stem = english.Stem(own, true)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.young == nil || len(m.young) >= most {
		m.young, m.old = make(map[string]string), m.young
	}
	m.young[own] = stem
	return stem
}
