// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file keeps the best few of many.

import "slices"

// topK keeps the first k of what is added to it, in the order of compare. While it
// is full, the last of them is at the root of a heap.
type topK[T any] struct {
	items   []T
	k       int
	compare func(a, b T) int
}

func newTopK[T any](k int, compare func(a, b T) int) topK[T] {
	return topK[T]{items: make([]T, 0, k), k: k, compare: compare}
}

func (t *topK[T]) add(item T) {
	switch {
	case len(t.items) < t.k:
		t.items = append(t.items, item)
		if len(t.items) == t.k {
			for i := t.k/2 - 1; i >= 0; i-- {
				t.sink(i)
			}
		}
	case t.k > 0 && t.compare(item, t.items[0]) < 0:
		t.items[0] = item
		t.sink(0)
	}
}

// sink moves the item at i down until none below it comes later in the order.
func (t *topK[T]) sink(i int) {
	for {
		last := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.items); child++ {
			if t.compare(t.items[child], t.items[last]) > 0 {
				last = child
			}
		}
		if last == i {
			return
		}
		t.items[i], t.items[last] = t.items[last], t.items[i]
		i = last
	}
}

// sorted ends the use of t.
func (t *topK[T]) sorted() []T {
	slices.SortFunc(t.items, t.compare)
	return t.items
}
