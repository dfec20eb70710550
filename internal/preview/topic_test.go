// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The best line scores 1 and a line without the words 0. A word that every line has does not count.
func TestTopic_ScoresLinesByRareWords(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	for range 200 {
		n := 40 + r.IntN(200)
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("common line %d says nothing", i+1000)
		}
		want := r.IntN(n)
		lines[want] += " about the refund"
		scores := newTopic("please show me the refund, which is common").scores(n, func(i int) string { return lines[i] })
		for i, s := range scores {
			if i == want {
				require.EqualValues(t, 1, s, "seed %d", seed)
			} else {
				require.Zero(t, s, "seed %d: %q", seed, lines[i])
			}
		}
	}
	require.Nil(t, newTopic("show me the file, please use it").scores(3, func(int) string { return "show the file" }))
	require.Nil(t, newTopic("refund").scores(1, func(int) string { return "nothing" }))
}
