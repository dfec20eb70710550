// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed is a demo of two questions, the second with a wrong answer.
func printed(colour bool) string {
	var out bytes.Buffer
	s := NewScreen(&out, false)
	s.colour = colour
	s.Title("demo", "about\nit")
	s.Show("How many?", []Step{{
		Without: Cost{449, 40_000}, With: Cost{1, 2_500}, Cleared: "(cleared)", Did: []string{"count {}"}, Results: []string{"3"},
	}, {With: Cost{2, 3_000}, Did: []string{"answers"}}}, Answer{Text: "3", With: 5_500, Without: 40_000})
	s.Show("一个很长的问题"+strings.Repeat("长", 40), nil, Answer{Text: "yes\nno", Wrong: "WRONG", With: 1, Without: 1})
	s.Total("%d tokens", 5_500)
	return out.String()
}

func TestScreen_ColorsChangeNoText(t *testing.T) {
	plain, coloured := printed(false), printed(true)
	require.NotContains(t, plain, "\x1b")
	require.Contains(t, coloured, "\x1b[32m✓ right\x1b[0m")
	require.Equal(t, plain, regexp.MustCompile(`\x1b\[\d+m`).ReplaceAllString(coloured, ""))
}

func TestScreen_LinesFitWidth(t *testing.T) {
	text := printed(false)
	for _, line := range strings.Split(text, "\n") {
		require.LessOrEqual(t, Cells(line), Width, line)
		require.Equal(t, strings.TrimRight(line, " "), line)
	}
	for _, part := range []string{"How many?", "449     40,000", "(cleared)", "→ 3", "✓ right, 7.3x fewer tokens", "yes; no", "WRONG", "5500 tokens"} {
		require.Contains(t, text, part)
	}
}

func TestNewScreen_ColorsOnlyTerminals(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	require.NoError(t, err)
	defer device.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	require.True(t, NewScreen(device, false).colour)
	require.False(t, NewScreen(file, false).colour)
	require.False(t, NewScreen(&bytes.Buffer{}, false).colour)
	t.Setenv("NO_COLOR", "1")
	require.False(t, NewScreen(device, false).colour)
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	require.False(t, NewScreen(device, false).colour)
}
