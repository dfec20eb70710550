// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package stem

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table was recorded from another implementation of Porter2: words of the word lists and random words made of the
// endings that the algorithm knows.
func TestEnglish_StemsAreThoseOfTheTable(t *testing.T) {
	table, err := os.ReadFile("testdata/stems.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	require.Greater(t, len(lines), 5000)
	for _, line := range lines {
		word, want, _ := strings.Cut(line, " ")
		require.Equal(t, want, string(English([]byte(word))), "%q", word)
	}
}

func TestEnglish_AllocatesNothing(t *testing.T) {
	word := make([]byte, 0, 64)
	for _, text := range []string{"send", "organizational", "hoping", "ties", "skies", "generously"} {
		require.Zero(t, testing.AllocsPerRun(20, func() { English(append(word, text...)) }), text)
	}
}
