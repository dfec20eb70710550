// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// searchText is a query in the form that parseText reads.
func searchText(names []string, words string) string {
	if names != nil {
		return SelectPrefix + strings.Join(names, ",")
	}
	return words
}

// What searchText writes, parseText reads back.
func FuzzParseText(f *testing.F) {
	for _, seed := range []string{
		"", " ", "send email", "+github create issue", "select:a,b", "SELECT: `a` ,\"b\"", "select:a b;c，d、e", "select:", "select:,,", "select:select:a",
		"select:with space,b", "select:a\x00b,\xff", "select:[]()", "select:\"", "Select:“a”「b」", "select :a", "\u00a0select:a\u2003b", "select:a,a,A",
	} {
		f.Add(seed)
	}
	isKnown := func(name string) bool { return name == "with space" || name == "it's" }
	f.Fuzz(func(t *testing.T, text string) {
		names, words := parseText(text, isKnown)
		again, rest := parseText(searchText(names, words), isKnown)
		require.Equal(t, names, again, "%q", searchText(names, words))
		require.Equal(t, words, rest, "%q", searchText(names, words))
		seen := map[string]bool{}
		for _, name := range names {
			require.NotEmpty(t, name)
			require.False(t, seen[name], "%q is there twice", name)
			require.Contains(t, text, name)
			seen[name] = true
		}
		require.True(t, names == nil || words == "")
		require.Contains(t, text, words)
	})
}
