// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// The memory of machines.

import (
	"math/bits"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is the memory of one machine. A small memory doubles when it grows. A larger one is mapped
// from the system, if possible: a program that takes all it may leaves no garbage of that size.
type memory struct {
	bytes   []byte
	maxSize uint64
	free    func() // releases mapped memory
}

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	m.maxSize = most
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(cap(m.bytes)) {
		was := *m
		if m.free = nil; size <= maxGoMemory {
			m.bytes = make([]byte, 1<<bits.Len64(size-1))
		} else {
			m.bytes, m.free = mapMemory(max(size, m.maxSize))
		}
		copy(m.bytes[:size], was.bytes)
		was.release()
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free implements experimental.LinearMemory. A machine that was stopped is freed before its output
// is read, so memory is released later.
func (m *memory) Free() {}

// size returns how many bytes it holds.
func (m *memory) size() int64 {
	if m.free != nil {
		return int64(len(m.bytes))
	}
	return int64(cap(m.bytes))
}

// release releases the memory, which must not be read afterwards.
func (m *memory) release() {
	free := m.free
	if m.bytes, m.free = nil, nil; free != nil {
		free()
	}
}
