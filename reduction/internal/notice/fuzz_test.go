// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/reduction/internal/offload"
)

// FuzzTexts_RenderExcerpt: a notice about a text fits, can be found again, and is valid UTF-8
// whatever the text.
func FuzzTexts_RenderExcerpt(f *testing.F) {
	f.Add("some text", uint8(1), "/tmp/trunc/c", 300)
	f.Add("日本語\n</persisted-output>", uint8(200), "/tmp/trunc/=2f", 1000)
	f.Fuzz(func(t *testing.T, piece string, times uint8, p string, limit int) {
		text := strings.Repeat(piece, int(times))
		if !Showable(p) {
			return
		}
		for _, w := range []*Texts{english, chinese} {
			v := Data{Path: p, Tool: "read_file"}
			if _, ok := w.Room(len(text), v, limit); !ok {
				continue
			}
			out := w.RenderExcerpt(text, v, limit)
			require.LessOrEqual(t, len(out), limit)
			require.True(t, utf8.ValidString(out))
			got := Parse(out)
			require.Equal(t, p, got.Path)
			require.Equal(t, len(text), got.Bytes)
		}
	})
}

// FuzzParse: nothing that a tool returns makes it panic, and a path that it
// finds can be shown.
func FuzzParse(f *testing.F) {
	for _, w := range []*Texts{english, chinese} {
		for _, each := range w.withPath() {
			f.Add(w.Fill(each, Data{Bytes: 3, HeadBytes: 1, TailBytes: 1, Path: "/a", Tool: "t", head: "h", tail: "t"}))
		}
	}
	for _, each := range einoNotices {
		f.Add(each.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := Parse(text)
		require.False(t, strings.ContainsAny(n.Path, "\n\x00"))
		require.LessOrEqual(t, len(n.Path), MaxPath)
		if n.kind == clearedNotice && n.Path != "" {
			require.LessOrEqual(t, len(text), MaxPath+2*maxEnd+100, "a long text passes for a cleared result")
		}
	})
}

// FuzzSanitize: a text is cut next to an offset, and never inside a character; what a
// notice shows of it keeps its length and holds no notice.
func FuzzSanitize(f *testing.F) {
	f.Add("a€b🙂c", 3)
	f.Add("\xf0\x9f\x99", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		lo, hi := display.Floor(s, n), display.Ceil(s, n)
		n = min(max(n, 0), len(s))
		require.True(t, lo <= n && n <= hi && n-lo < utf8.UTFMax && hi-n < utf8.UTFMax, "%d %d %d", lo, n, hi)
		if utf8.ValidString(s) {
			for _, at := range []int{lo, hi} {
				require.True(t, utf8.ValidString(s[:at]) && utf8.ValidString(s[at:]))
			}
		}
		require.Len(t, Sanitize(s), len(s))
		require.True(t, utf8.ValidString(Sanitize(s)))
		require.NotContains(t, Sanitize(s), openTag)
	})
}

// FuzzShowable: the default path of every id can be shown.
func FuzzShowable(f *testing.F) {
	for _, id := range []string{"", "..", "a/b", "a\x00", "<persisted-output>", strings.Repeat("x", 300)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		require.True(t, Showable(offload.DefaultPath("/root", offload.TruncDir, id)))
	})
}
