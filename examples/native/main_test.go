// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShow_TableHasEveryWay(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var b bytes.Buffer
		require.NoError(t, show(t.Context(), &b, stream, false))
		for _, w := range ways {
			require.Contains(t, b.String(), w.name+": "+w.about)
		}
		require.Equal(t, 2, strings.Count(b.String(), " changed"), "only Keyword changes the start of the prompt, once per search")
	}
}

// The table in the README is the output of the program, except for its figures, which grow with the library.
func TestReadme_ShowsOutput(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, show(t.Context(), &b, false, false))
	sums := b.String()[strings.Index(b.String(), "The whole conversation"):]
	require.Contains(t, shape(string(readme)), shape(sums))
}

var (
	figures = regexp.MustCompile(`[0-9][0-9.]*`)
	blanks  = regexp.MustCompile(` +`)
)

func shape(s string) string { return blanks.ReplaceAllString(figures.ReplaceAllString(s, "0"), " ") }
