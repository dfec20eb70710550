// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"

	"github.com/einolean/einolean/internal/keyword/stem"
)

func TestStemsOfTheListsAreThoseOfTheReference(t *testing.T) {
	for _, list := range allLists(t) {
		eachLine(list, func(fields []string) {
			for _, field := range fields {
				for part := range strings.SplitSeq(field, "+") {
					if isASCII(part) {
						require.Equal(t, english.Stem(part, true), string(stem.English([]byte(strings.ToLower(part)))), "%q", part)
					}
				}
			}
		})
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
