// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatWasSeenLongAgoIsForgotten(t *testing.T) {
	var s seen
	for key := range uint64(maxSeen + 2) {
		require.True(t, s.add(key))
		require.False(t, s.add(key), "it is there")
	}
	require.Len(t, s.known, maxSeen)
	for key, has := range map[uint64]bool{0: false, 1: false, 2: true, maxSeen + 1: true} {
		require.Equal(t, has, s.known[key], "%d", key)
	}
}

func TestAKeyTellsWhereATextEnds(t *testing.T) {
	require.Equal(t, keyOf("a", "bc"), keyOf("a", "bc"))
	require.NotEqual(t, keyOf("a", "bc"), keyOf("ab", "c"))
	require.NotEqual(t, keyOf("a"), keyOf("a", ""))
}
