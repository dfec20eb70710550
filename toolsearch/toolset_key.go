// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file tells sets whose tools have equal definitions, whatever their segments are.

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
)

// setKey is the key of tools in a row: a polynomial in each of two bases, whose coefficients
// are the sums of the definitions. The key of two rows together follows from theirs, and the
// bases are drawn when the process starts, so that nobody can make two definitions that meet.
type setKey [2]uint64

// prime is what keys are counted in: 2^61 - 1.
const prime = 1<<61 - 1

var bases = sync.OnceValue(func() (b setKey) {
	var data [16]byte
	_, _ = rand.Read(data[:]) // it never fails
	for i := range b {
		b[i] = binary.BigEndian.Uint64(data[8*i:])%(prime-2) + 2
	}
	return b
})

// times multiplies modulo prime.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return plus(lo&prime, hi<<3|lo>>61)
}

// plus adds modulo prime.
func plus(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

// then is the key of this row with another of n tools after it.
func (k setKey) then(other setKey, n int) setKey {
	for i, base := range bases() {
		power := uint64(1)
		for square, left := base, n; left > 0; left >>= 1 {
			if left&1 == 1 {
				power = times(power, square)
			}
			square = times(square, square)
		}
		k[i] = plus(times(k[i], power), other[i])
	}
	return k
}

// key is the same for sets whose tools have equal definitions in the same order: what is
// worked out from definitions alone, such as an index, is then the same for both. It holds
// within a process.
func (s *ToolSet) key() setKey {
	if s == nil {
		return setKey{}
	}
	s.keyOnce.Do(func() {
		for _, p := range s.parts {
			s.keyValue = s.keyValue.then(p.sum(), p.size)
		}
	})
	return s.keyValue
}

// sum is the key of the part's tools.
func (p part) sum() (k setKey) {
	if p.bits != nil {
		for i, e := range p.entries {
			if p.has(i) {
				k = k.then(e.coefficients(), 1)
			}
		}
		return k
	}
	p.keyOnce.Do(func() {
		for _, e := range p.entries {
			p.key = p.key.then(e.coefficients(), 1)
		}
	})
	return p.key
}

// coefficients are the two of a definition. They are not 0, so that a tool more makes another key.
func (e *entry) coefficients() (k setKey) {
	sum := e.definition()
	for i := range k {
		k[i] = binary.BigEndian.Uint64(sum[8*i:])%(prime-1) + 1
	}
	return k
}

// definitionSum is what an entry has of its definition, worked out when it is first asked.
type definitionSum struct {
	once sync.Once
	sum  [sha256.Size]byte
}

// unlike numbers the definitions that can be compared with no other.
var unlike atomic.Uint64

// definition is the same for tools with equal names, descriptions, schemas and Extra. A
// tool whose Extra cannot be compared is like itself only.
func (e *entry) definition() [sha256.Size]byte {
	e.defined.once.Do(func() {
		extra, plain := plainText(e.info.Extra)
		if !plain {
			extra = string(binary.BigEndian.AppendUint64([]byte("unlike"), unlike.Add(1)))
		}
		h := sha256.New()
		for _, text := range []string{e.info.Name, e.info.Desc, e.parameters(), extra} {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
		h.Sum(e.defined.sum[:0])
	})
	return e.defined.sum
}
