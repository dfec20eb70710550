// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package stem

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormsOfAWordHaveOneStem(t *testing.T) {
	for stem, forms := range map[string][]string{
		"send": {"send", "sends", "sending"}, "organ": {"organize", "organizing"}, "organiz": {"organizational"}, "hope": {"hope", "hoping", "hoped"},
		"tie": {"tie", "ties", "tying"}, "sky": {"sky", "skies"}, "generous": {"generously", "generous"}, "go": {"go"},
	} {
		for _, form := range forms {
			require.Equal(t, stem, string(English([]byte(form))), form)
		}
	}
}

func TestAKnownWordTakesNoMemory(t *testing.T) {
	word := make([]byte, 0, 64)
	for _, text := range []string{"send", "organizational", "hoping", "ties", "skies", "generously"} {
		require.Zero(t, testing.AllocsPerRun(20, func() { English(append(word, text...)) }), text)
	}
}

// However many words there are, from however many goroutines, few are remembered.
func TestTheOldestWordsAreForgotten(t *testing.T) {
	var m memory
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for i := range most {
				word := []byte(fmt.Sprintf("w%x%d", i, part))
				for at, c := range word {
					if c <= '9' {
						word[at] = c - '0' + 'k' // letters alone
					}
				}
				if got := m.stem(word); got == "" || len(got) > len(word) {
					t.Errorf("%s: %q", word, got)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, len(m.young)+len(m.old), 2*most)
	require.Equal(t, "send", m.stem([]byte("sending")))
}
