// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each limit is tested with a call that just reaches it and one that exceeds it.
func TestTool_AnswerLimits(t *testing.T) {
	lines := strings.Repeat("needle\n", 3000)
	count := func(content, arguments string, opts Options) (n int) {
		opts = from(stored(t, content), opts)
		answer := ask(t, New(opts), `{"file_path":"`+testPath+`",`+arguments+`}`)
		return strings.Count(answer, "needle\n")
	}
	full := Options{MaxBytes: 1 << 20}
	require.Equal(t, 50, count(lines, `"pattern":"needle"`, full), "matches")
	require.Equal(t, 51, count(lines, `"pattern":"needle","limit":51`, full))
	require.Equal(t, 2000, count(lines, `"pattern":"needle","limit":2001`, full))
	require.Equal(t, 2000, count(lines, `"offset":1`, full), "lines of a page")
	require.Equal(t, 2000, count(lines, `"limit":2001`, full))
	require.Equal(t, 1999, count(lines, `"limit":1999`, full))
	require.Equal(t, 2000, count(lines, `"tail":2001`, full))
	require.Equal(t, 7, count(lines, `"tail":9`, Options{MaxBytes: 1 << 20, MaxLines: 7}))

	around := strings.Repeat("needle\n", 25) + "pin\n" + strings.Repeat("needle\n", 25)
	require.Equal(t, 2*19, count(around, `"pattern":"pin","context":19`, full))
	require.Equal(t, 2*20, count(around, `"pattern":"pin","context":20`, full))
	require.Equal(t, 2*20, count(around, `"pattern":"pin","context":21`, full))

	passages := func(limit string) int {
		var b strings.Builder
		for i := range 99 {
			fmt.Fprintf(&b, "needle %d, with as much behind it as a line needs to be a passage of its own: %s\n", i, strings.Repeat("x", togetherBytes/2))
		}
		answer := ask(t, New(from(stored(t, b.String()), full)), `{"file_path":"`+testPath+`","query":"needle"`+limit+`}`)
		return len(readPassages(t, answer))
	}
	whole := passages("")
	require.True(t, 3 < whole && whole <= likelyPassages, whole)
	for limit, want := range map[int]int{1: 1, 2: 2, 19: 19, 20: 20, 21: 20} {
		require.Equal(t, want, passages(fmt.Sprintf(`,"limit":%d`, limit)), "limit %d", limit)
	}
}

func TestTool_ArgumentLimits(t *testing.T) {
	read := New(from(stored(t, "a"), Options{MaxBytes: MinMaxBytes}))
	for _, argument := range []string{"pattern", "query"} {
		for length, refused := range map[int]bool{4096/8 - 2: false, 4096/8 - 1: true} { // with its quotes
			answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,%q:%q}`, testPath, argument, strings.Repeat("a", length)))
			require.Equal(t, refused, strings.Contains(answer, "is too long"), "%s %d", argument, length)
		}
	}
	allowed := ""
	read = New(from(stored(t, "a"), Options{MaxBytes: MinMaxBytes, MayRead: func(p string) bool { allowed = p; return true }}))
	for length, seen := range map[int]bool{4096/8 - 2: true, 4096/8 - 1: false} {
		allowed = ""
		ask(t, read, `{"file_path":"`+strings.Repeat("p", length)+`"}`)
		require.Equal(t, seen, allowed != "", length)
	}
}
