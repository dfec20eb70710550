// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordList_FindsOnlyItsWords(t *testing.T) {
	var none wordList
	_, ok := none.Find("")
	require.False(t, ok)
	for n := range 70 {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprint(i * i)
		}
		l := newWordList(words)
		require.Equal(t, n, l.Len())
		for i, word := range words {
			require.Equal(t, word, l.Word(uint32(i)))
			id, ok := l.Find(word)
			require.True(t, ok)
			require.EqualValues(t, i, id)
			id, ok = l.FindBytes([]byte(word))
			require.True(t, ok)
			require.EqualValues(t, i, id)
		}
		for _, other := range []string{"", "2", "x", fmt.Sprint(n * n)} {
			_, ok := l.Find(other)
			require.False(t, ok, other)
			_, ok = l.FindBytes([]byte(other))
			require.False(t, ok, other)
		}
	}
}

func TestWordList_HoldsEmptyWord(t *testing.T) {
	l := newWordList([]string{"a", "", "b"})
	id, ok := l.Find("")
	require.True(t, ok)
	require.EqualValues(t, 1, id)
	require.Equal(t, "b", l.Word(2))
}

func TestWordList_FindBytesAllocatesNothing(t *testing.T) {
	words := []string{"a", "a word that is longer than what fits into a buffer on the stack, by far"}
	l, word := newWordList(words), []byte(words[1])
	require.Zero(t, testing.AllocsPerRun(10, func() { l.FindBytes(word) }))
}
