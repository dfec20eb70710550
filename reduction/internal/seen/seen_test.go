// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package seen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASetForgetsTheOldest(t *testing.T) {
	var s Set
	require.False(t, s.Any())
	for key := range uint64(most + 2) {
		require.True(t, s.Add(key))
		require.False(t, s.Add(key), "it is there")
	}
	require.True(t, s.Any())
	require.Len(t, s.known, most)
	for key, has := range map[uint64]bool{0: false, 1: false, 2: true, most + 1: true} {
		require.Equal(t, has, s.Has(key), "%d", key)
	}
}

func TestAKeyTellsWhereATextEnds(t *testing.T) {
	require.Equal(t, Key("a", "bc"), Key("a", "bc"))
	require.NotEqual(t, Key("a", "bc"), Key("ab", "c"))
	require.NotEqual(t, Key("a"), Key("a", ""))
}
