// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecentKeys_ForgetsOldest(t *testing.T) {
	var s RecentKeys
	for key := range uint64(maxKeys + 2) {
		require.True(t, s.Add(key))
		require.False(t, s.Add(key), "it is there")
	}
	require.Len(t, s.keys, maxKeys)
	for key, has := range map[uint64]bool{0: false, 1: false, 2: true, maxKeys + 1: true} {
		require.Equal(t, has, s.keys[key], "%d", key)
	}
}

func TestKeyOf_SeparatesTexts(t *testing.T) {
	require.Equal(t, KeyOf("a", "bc"), KeyOf("a", "bc"))
	require.NotEqual(t, KeyOf("a", "bc"), KeyOf("ab", "c"))
	require.NotEqual(t, KeyOf("a"), KeyOf("a", ""))
}
