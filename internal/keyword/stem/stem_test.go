// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package stem

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
	"github.com/stretchr/testify/require"
)

// The reference is another implementation of Porter2. Random words are made of the endings
// that the algorithm knows, and of letters.
func TestStemsAreThoseOfTheReference(t *testing.T) {
	check := func(word string) {
		require.Equal(t, english.Stem(word, true), string(English([]byte(strings.ToLower(word)))), "%q", word)
	}
	for word := range irregular {
		check(word)
	}
	pieces := strings.Split("abcdefghijklmnopqrstuvwxyzaeiouyaeiouy", "")
	for _, list := range [][]rule{plurals, pasts, before, doubles, more, suffixes} {
		for _, e := range list {
			pieces = append(pieces, e.old, e.new)
		}
	}
	pieces = append(pieces, "gener", "commun", "arsen", "ly", "y", "ying", "ly", "ily", "s")
	random := rand.New(rand.NewPCG(5, 9))
	for range 300_000 {
		word := ""
		for range 1 + random.IntN(8) {
			word += pieces[random.IntN(len(pieces))]
		}
		check(word)
	}
}

func TestStemmingTakesNoMemory(t *testing.T) {
	word := make([]byte, 0, 64)
	for _, text := range []string{"send", "organizational", "hoping", "ties", "skies", "generously"} {
		require.Zero(t, testing.AllocsPerRun(20, func() { English(append(word, text...)) }), text)
	}
}
