// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// However many plain lines stand at the end, each kind of line that sums tests up is shown.
func TestKeepEnd_SumsBeforePlainLinesAreShown(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "ok %d does part %s\n", i, spelled(i))
	}
	b.WriteString("Tests:       2 failed, 198 passed, 200 total\nRan 200 tests in 3.1s\n")
	for i := range 40 {
		fmt.Fprintf(&b, "artifact of part %s written\n", spelled(i*7))
	}
	shown := of(b.String(), 1500)
	require.Contains(t, shown, "2 failed, 198 passed")
	require.Contains(t, shown, "Ran 200 tests")
}

func TestAppendMember_GrowsByAtMostItsRoom(t *testing.T) {
	d, ok := scan(`{"a":"some text of it","list":[1,2,3,{"b":null}],"long key of it":true,"n":-12345.5}`)
	require.True(t, ok)
	for _, measured := range []bool{false, true} {
		if measured {
			d.measure()
		}
		for key, value := range d.children(0) {
			for room := range 60 {
				b := d.appendMember([]byte("{"), key, value, room)
				require.LessOrEqual(t, len(b)-1, room, "%s in %d", b, room)
			}
		}
	}
}

// A text is cut between characters, where no line break is near.
func TestToLineStart_CutsBetweenCharacters(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 200), strings.Repeat("日本", 200), strings.Repeat("🙂", 200), "a" + strings.Repeat("🙂é日", 90)} {
		for n := range len(text) {
			require.True(t, utf8.ValidString(text[toLineStart(text, n):]), n)
			require.True(t, utf8.ValidString(text[:toLineEnd(text, n)]), n)
		}
		for _, room := range []int{90, 300, 700} {
			shown := HeadTail(Request{Text: strings.Repeat(text, 9), Room: room})
			require.True(t, utf8.ValidString(shown) && !strings.Contains(shown, "?"), shown)
		}
	}
}

func TestGap_NamesLinesOrBytes(t *testing.T) {
	require.Equal(t, "[… 1 line]", english.gap(1, 99))
	require.Equal(t, "[… 2 lines]", english.gap(2, 99))
	require.Equal(t, "[… 99 bytes]", english.gap(0, 99))
	shown := of(strings.Repeat("word ", 4000), 1000)
	require.Regexp(t, `^One line\. Its start and its end, exact:\n[word ]+\n\[… \d+ bytes\]\n[word ]+$`, shown)
}
