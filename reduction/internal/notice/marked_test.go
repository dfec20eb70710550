// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInMarked_TakesPlaceholdersOfOthers: in a marked round, a short text in brackets is one.
func TestInMarked_TakesPlaceholdersOfOthers(t *testing.T) {
	for text, want := range map[string]bool{
		"[cleared]":                          true,
		"[Old tool result content cleared]":  true,
		"[]":                                 true,
		"cleared":                            false,
		"[cleared":                           false,
		"cleared]":                           false,
		"[cleared]\n[again]":                 false,
		"":                                   false,
		"[" + strings.Repeat("x", 126) + "]": true,
		"[" + strings.Repeat("x", 127) + "]": false,
	} {
		require.Equal(t, want, InMarked([]string{text}) == Notice{kind: clearedNotice}, "%q", text)
	}
	require.Zero(t, InMarked(nil))
	require.Zero(t, InMarked([]string{"[cleared]", "text"}), "each text of a result must be one")
	require.NotZero(t, InMarked([]string{"[cleared]", "[cleared]"}))
}
