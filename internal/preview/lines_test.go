// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrors_CollectsFromStream(t *testing.T) {
	for _, size := range []int{1, 7, 1000, 1 << 20} {
		text := log(500) + "ERROR: the first\n" + log(500) + strings.Repeat("ERROR: the same 1\n", 50) + log(500)
		for i := range 30 {
			text += fmt.Sprintf("panic: kind %c%c\n", 'a'+i, 'z'-i)
		}
		text += log(10) + "exit status 2"
		var e Errors
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			e.Add(rest[:n])
			rest = rest[n:]
		}
		all := e.Lines(0, len(text), 4096)
		lines := strings.Split(all, "\n")
		require.Len(t, lines, maxKept)
		require.Equal(t, "501: ERROR: the first", lines[0])
		require.Equal(t, "1002: ERROR: the same 1", lines[1])
		require.Equal(t, "1592: exit status 2", lines[maxKept-1], "a last line that has no end")
		require.Equal(t, "1581: panic: kind ~]", lines[maxKept-2])
		require.Equal(t, "501: ERROR: the first", e.Lines(0, len(log(502)), 4096), "a part of the stream")
		require.Empty(t, e.Lines(0, 1000, 4096))
		require.LessOrEqual(t, len(e.Lines(0, len(text), 50)), 50)
		require.Equal(t, all, e.Lines(0, len(text), 4096), "asking changes nothing")
	}
}

func TestErrors_LongLineTakesBoundedMemory(t *testing.T) {
	var e Errors
	for range 10_000 {
		e.Add(strings.Repeat("x", 1000))
	}
	e.Add("\nERROR: behind it\n")
	require.LessOrEqual(t, cap(e.partial), 2*maxPartial)
	require.Equal(t, "2: ERROR: behind it", e.Lines(0, 1<<40, 4096))
}
