// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// The memory of machines.

import (
	"math/bits"

	"github.com/tetratelabs/wazero/experimental"
)

// small is the most that is a slice of Go's, in bytes. Few programs take more.
const small = 8 << 20

// memory is that of one machine. It doubles while it is small. Beyond that it is asked of the
// system, where the system can, so that a program that takes all it may leaves no garbage of that
// size behind.
type memory struct {
	bytes []byte
	most  uint64
	free  func() // of what the system gave
}

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, most uint64) experimental.LinearMemory {
	m.most = most
	return m
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(cap(m.bytes)) {
		was := *m
		if m.free = nil; size <= small {
			m.bytes = make([]byte, 1<<bits.Len64(size-1))
		} else {
			m.bytes, m.free = pages(max(size, m.most))
		}
		copy(m.bytes[:size], was.bytes)
		was.giveBack()
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free implements experimental.LinearMemory. A machine that was stopped is freed before its output
// has been read, so the memory is not given back here.
func (m *memory) Free() {}

// held is how many bytes it holds.
func (m *memory) held() int64 {
	if m.free != nil {
		return int64(len(m.bytes))
	}
	return int64(cap(m.bytes))
}

// giveBack gives the memory back. Nobody may read it afterwards.
func (m *memory) giveBack() {
	free := m.free
	if m.bytes, m.free = nil, nil; free != nil {
		free()
	}
}
