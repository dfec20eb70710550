// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package names

import "slices"

// TopK keeps the first k of the items added to it, in the order of compare. Once it
// is full, the last of them is the root of a heap.
type TopK[T any] struct {
	items   []T
	k       int
	compare func(a, b T) int
}

// NewTopK returns an empty TopK. compare is negative if a comes before b; k must not
// be negative.
func NewTopK[T any](k int, compare func(a, b T) int) TopK[T] {
	return TopK[T]{items: make([]T, 0, k), k: k, compare: compare}
}

// Reset empties t for the first k of other items, in the memory of those before.
func (t *TopK[T]) Reset(k int) { t.items, t.k = slices.Grow(t.items[:0], k), k }

// Add offers an item.
func (t *TopK[T]) Add(item T) {
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

// Last returns the item that the next better one displaces; full is false while there is
// none.
func (t *TopK[T]) Last() (item T, full bool) {
	if t.k == 0 || len(t.items) < t.k {
		return item, false
	}
	return t.items[0], true
}

// sink moves the item at i down until none below it comes later in the order.
func (t *TopK[T]) sink(i int) {
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

// Sorted returns the items in order, in the memory of t. Nothing may be added afterwards,
// except after Reset.
func (t *TopK[T]) Sorted() []T {
	slices.SortFunc(t.items, t.compare)
	return t.items
}
