// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
)

// The reference is another implementation of Porter2. Random words are made of the endings
// that the algorithm knows, and of letters.
func TestStemsAreThoseOfTheReference(t *testing.T) {
	check := func(word string) {
		require.Equal(t, english.Stem(word, true), string(stemEnglish([]byte(strings.ToLower(word)))), "%q", word)
	}
	for word := range irregular {
		check(word)
	}
	files, err := listFiles.ReadDir("lists")
	require.NoError(t, err)
	for _, file := range files {
		eachLine(file.Name(), func(fields []string) {
			for _, field := range fields {
				for part := range strings.SplitSeq(field, "+") {
					if isASCII(part) {
						check(part)
					}
				}
			}
		})
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
	word := make([]byte, 0, maxWordBytes)
	for _, text := range []string{"send", "organizational", "hoping", "ties", "skies", "generously"} {
		require.Zero(t, testing.AllocsPerRun(20, func() { stemEnglish(append(word, text...)) }), text)
	}
}

// A word that folding leaves as it is takes no memory.
func TestWordsOfOtherLettersAreFolded(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		word := "Aé" + string(r) + "x"
		require.Equal(t, cases.Fold().String(word), string(stemInPlace([]byte(word))), "%q", word)
	}
	word := []byte("查询天气预报")
	require.Zero(t, testing.AllocsPerRun(20, func() { stemInPlace(word) }))
	require.Equal(t, "v2beta", string(stemInPlace([]byte("V2Beta"))), "a word with digits keeps its ending")
}
