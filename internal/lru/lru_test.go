// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lru

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The model is a list of the keys, the one used last at its end.
func TestMap_EvictsLeastRecentlyUsed(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		most := 1 + r.IntN(6)
		m, values, used := Map[int, int]{MaxEntries: most}, map[int]int{}, []int{}
		use := func(key int) {
			used = append(slices.DeleteFunc(used, func(k int) bool { return k == key }), key)
		}
		for step := range 300 {
			key := r.IntN(10)
			if r.IntN(2) == 0 {
				m.Put(key, step)
				values[key] = step
				if use(key); len(used) > most {
					delete(values, used[0])
					used = used[1:]
				}
				continue
			}
			got, ok := m.Get(key)
			want, known := values[key]
			require.Equal(t, known, ok, "seed %d, step %d", seed, step)
			require.Equal(t, want, got, "seed %d, step %d", seed, step)
			if known {
				use(key)
			}
		}
	}
}
