// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A result stays as it is if it has at most the tokens that are allowed, and becomes shorter otherwise.
func TestShorten_KeepsResultThatFits(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, shortened := newChances(seed), 0
	for range 100 {
		for _, plan := range c.long(c.stores[0]) {
			whole, _ := c.render(plan)
			n := whole.resultTokens()
			for _, most := range []int{n + 1, n} {
				kept := whole
				require.NoError(t, c.shorten(context.Background(), &kept, most))
				require.Equal(t, whole, kept, "%d of %d tokens", n, most)
			}
			if n > 2*minExcerptBytes {
				next := whole
				require.NoError(t, c.shorten(context.Background(), &next, n/2))
				require.Less(t, next.resultTokens(), n)
				shortened++
			}
		}
	}
	require.Positive(t, shortened)
}
