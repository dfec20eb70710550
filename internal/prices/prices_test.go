// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAll_PricesAreComplete(t *testing.T) {
	_, err := time.Parse(time.DateOnly, Read())
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, p := range All() {
		require.False(t, seen[p.Model], p.Model)
		seen[p.Model] = true
		require.NotEmpty(t, p.Provider, p.Model)
		require.NotEmpty(t, p.Source, p.Model)
		require.True(t, p.Year >= 2025 && p.Year <= 2026, p.Model)
		require.True(t, 0 < p.Cached && p.Cached < p.Input && p.Input <= p.Written && p.Written <= 1.25*p.Input && p.Output > p.Input, p.Model)
		require.True(t, p.Window >= 200_000 && p.Prompt < p.Window, p.Model)
		got, ok := Of(p.Model)
		require.True(t, ok)
		require.Equal(t, p, got)
	}
	_, ok := Of("no such model")
	require.False(t, ok)
	flash, _ := Of("deepseek-flash")
	require.InDelta(t, .02, flash.Hit(), 1e-9)
	opus, _ := Of("claude-opus-5-5")
	require.InDelta(t, .05, opus.Hit(), 1e-9)
	require.InDelta(t, 1.25, opus.Write(), 1e-9)
}
