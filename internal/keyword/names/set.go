// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package names

import "math/bits"

// Set is a set of numbers below a bound, one bit for each.
type Set []uint64

// NewSet returns the empty set of numbers below n.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// AllOf returns the set of all numbers below n.
func AllOf(n int) Set {
	s := NewSet(n)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if n%64 > 0 {
		s[len(s)-1] = 1<<(n%64) - 1
	}
	return s
}

// Has reports whether the set has i.
func (s Set) Has(i uint32) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Add adds i.
func (s Set) Add(i uint32) { s[i/64] |= 1 << (i % 64) }

// Remove removes i.
func (s Set) Remove(i uint32) { s[i/64] &^= 1 << (i % 64) }

// Count returns how many numbers the set has.
func (s Set) Count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// EachMissing visits the numbers below n that the set lacks, in order. It costs as much as
// there are such numbers.
func (s Set) EachMissing(n int, visit func(i int)) {
	for at, word := range s {
		for missing := ^word; missing != 0; missing &= missing - 1 {
			if i := 64*at + bits.TrailingZeros64(missing); i < n {
				visit(i)
			}
		}
	}
}
