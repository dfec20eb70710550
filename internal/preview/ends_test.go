// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/display"
)

func TestShowEnds_EqualLinesAreShownOnce(t *testing.T) {
	text := "the start\n" + strings.Repeat("waiting for the lock\n", 3000) + "got it\n" + strings.Repeat("working\n", 2000) + "the end\n"
	want := "5,003 lines. First and last lines, exact:\nthe start\nwaiting for the lock\n[the line above 3,000 times in a row]\ngot it\nworking\n[the line above 2,000 times in a row]\nthe end\n"
	require.Equal(t, want, of(text, 2000))
	shown := of(strings.Repeat("2025-03-01T10:00:00 INFO still waiting\n", 3000), 2000)
	require.LessOrEqual(t, strings.Count(shown, "still waiting"), 2, shown)
}

func TestShowEnds_UniformLinesShowAFewOfEach(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "row %d of the table has %d cells\n", i, i*7)
		if i == 300 {
			b.WriteString("Error: row 300 is broken\n")
		}
	}
	shown := of(b.String(), 4000)
	require.LessOrEqual(t, strings.Count(shown, "\n"), 2*uniformLines+4)
	for _, want := range []string{"row 0 of", "row 8 of", "row 591 of", "row 599 of", "Error: row 300 is broken"} {
		require.Contains(t, shown, want)
	}
}

// The numbers in gaps are those that reading the file by lines needs, whatever was shortened before them.
func TestShowEnds_GapsNameTheMissingLines(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 50 {
		var lines []string
		for len(lines) < 2000 {
			for range max(1, 30*(random.IntN(12)-10)) {
				lines = append(lines, fmt.Sprintf("%s number %d", spelled(len(lines)), random.IntN(9)))
			}
			if random.IntN(40) == 0 {
				for n := random.IntN(20); n >= 0; n-- {
					lines = append(lines, "the same again")
				}
			}
		}
		shown := unframed(t, of(strings.Join(lines, "\n")+"\n", 2000))
		at, gaps := 0, 0
		for each := range strings.Lines(shown) {
			each = strings.TrimSuffix(each, "\n")
			var from, to, n int
			if _, err := fmt.Sscanf(each, "[lines %d to %d left out]", &from, &to); err == nil {
				require.Equal(t, at+1, from)
				at = to
				gaps++
				continue
			}
			if _, err := fmt.Sscanf(each, "[the line above %d times", &n); err == nil {
				at += n - 1
				continue
			}
			require.Equal(t, lines[at], each, "line %d of\n%s", at+1, shown)
			at++
		}
		require.Equal(t, len(lines), at)
		require.Positive(t, gaps)
	}
}

func TestShowEnds_HeadingsOfALongPageAreShown(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The manual\n")
	for i := range 12 {
		fmt.Fprintf(&b, "\n## Part %s\n\n", spelled(i))
		for j := range 60 {
			fmt.Fprintf(&b, "What %s says of %s is said here.\n", spelled(i+j), spelled(i*j))
		}
	}
	shown := of(b.String(), 3000)
	for i := range 12 {
		require.Contains(t, shown, "## Part "+spelled(i))
	}
}

func TestClean_HidesBase64(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	data := make([]byte, 432_000)
	for i := range data {
		data[i] = byte(random.IntN(256))
	}
	coded := base64.StdEncoding.EncodeToString(data)
	for _, text := range []string{
		"before\n" + coded + "\nafter\n" + strings.Repeat("x\n", 3000),
		`{"name":"a.png","data":"` + coded + `","size":432000}`,
		"<html><body><p>x</p><img src=\"data:image/png;base64," + coded + "\"></body></html>",
		"![a](data:image/png;base64," + coded + ")",
	} {
		shown := of(text, 3000)
		require.NotContains(t, shown, coded[:100])
		require.Less(t, len(shown), 2900)
		if !strings.HasPrefix(text, "<html") {
			require.Contains(t, shown, "(base64, 576,000 bytes)")
		}
	}
	for _, not := range []string{strings.Repeat("x", 5000), strings.Repeat("deadbeef0123", 500), strings.Repeat("/usr/lib/go", 200), strings.Repeat("ACGT", 900)} {
		require.Equal(t, not, withoutBase64(english, not))
	}
}

func TestMake_TerminalEscapesHideNothing(t *testing.T) {
	const planted = "\x1b[1;31mERROR\x1b[0m: \x1b]8;;http://x\x1b\\disk\x1b]8;;\x1b\\ is full"
	for name, text := range map[string]string{
		"log":   strings.Repeat("2025-03-01T10:00:00 \x1b[32mINFO\x1b[0m fine\n", 400) + "2025-03-01T10:00:01 " + planted + "\n" + strings.Repeat("2025-03-01T10:00:00 \x1b[32mINFO\x1b[0m fine\n", 400),
		"prose": strings.Repeat("all is well\nand good\n", 400) + " 10 %\r 50 %\r" + planted + "\r\n" + strings.Repeat("all is well\nand good\n", 400),
		"MCP":   `{"content":[{"type":"text","text":` + quoted(strings.Repeat("all is well\nand good\n", 400)+planted+"\n"+strings.Repeat("all is well\nand good\n", 400)) + `}]}`,
	} {
		shown := of(text, 2000)
		require.Contains(t, shown, "ERROR: disk is full", name)
		require.NotContains(t, shown, "\x1b", name)
	}
	records := `[` + strings.Repeat(`{"m":"\u001b[32mfine\u001b[0m"},`, 300) + `{"m":"C:\\u001b[32m"}]`
	shown := of(records, 1500)
	require.Contains(t, shown, `"fine"`)
	require.Contains(t, shown, `C:\\u001b[32m`)
}

func TestFrame_CountsLinesInTheLanguageOfThePreview(t *testing.T) {
	require.Equal(t, 6000, linesOf(strings.Repeat("x\n", 6000)))
	require.Equal(t, "6,000 lines. First and last lines, exact:\n", options{labels: english, hasFrame: true}.frame("ends", strings.Repeat("x\n", 6000), 3000))
	require.Contains(t, options{labels: chinese, hasFrame: true}.frame("ends", strings.Repeat("x\n", 6000), 3000), "6000 行")
	require.Equal(t, "6,000", display.Grouped(6000))
}
