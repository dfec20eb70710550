// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/reduction/internal/vault"
)

// FuzzCut: a stream comes out as its start and one notice, within the limit, and
// all of it is in the store; or as it came in. If the source fails, what comes
// out is a start of what came in.
func FuzzCut(f *testing.F) {
	f.Add("some text of a tool", uint8(3), uint16(40), uint16(400), false)
	f.Add("日本語🙂", uint8(200), uint16(7), uint16(1000), false)
	f.Add("\xff\x80<persisted-output>\n", uint8(250), uint16(1), uint16(2000), true)
	f.Fuzz(func(t *testing.T, piece string, times uint8, chunk, limit uint16, fails bool) {
		content := strings.Repeat(piece, int(times))
		store := backend.NewMemory(0)
		p := policyOf(&TypedConfig[*schema.Message]{Backend: store, RootDir: "/tmp", ReadFileToolName: "read_file", MaxLengthForTrunc: int(limit) + 1})
		info, _ := callOf(context.Background(), p, &adk.ToolContext{Name: "t", CallID: "c"})
		r, w := schema.Pipe[string](0)
		boom := errors.New("boom")
		go func() {
			defer w.Close()
			for rest := content; rest != ""; {
				n := min(len(rest), int(chunk)+1)
				if w.Send(rest[:n], nil) {
					return
				}
				rest = rest[n:]
			}
			if fails {
				w.Send("", boom)
			}
		}()
		out, err := readAll(cutStream(context.Background(), info, r))
		if fails {
			require.Equal(t, boom, err)
			require.True(t, strings.HasPrefix(content, out))
			return
		}
		require.NoError(t, err)
		if out == content {
			return
		}
		require.LessOrEqual(t, len(out), info.rule.limit)
		require.Greater(t, len(content), info.rule.limit)
		require.True(t, !utf8.ValidString(content) || utf8.ValidString(out))
		head, _, ok := strings.Cut(out[strings.LastIndex(out, "\n"+openTag):], closeTag)
		require.True(t, ok && head != "")
		require.True(t, strings.HasPrefix(content, out[:strings.LastIndex(out, "\n"+openTag)]))
		require.Equal(t, "/tmp/trunc/c", recognise(out).path)
		require.True(t, p.general.Holds(context.Background(), "/tmp/trunc/c", content))
	})
}

func readAll(r *schema.StreamReader[string]) (string, error) {
	defer r.Close()
	var b strings.Builder
	for {
		chunk, err := r.Recv()
		if err != nil {
			if err.Error() == "EOF" {
				err = nil
			}
			return b.String(), err
		}
		b.WriteString(chunk)
	}
}

// FuzzExcerpt: a notice about a text fits, can be found again, and is valid UTF-8
// whatever the text.
func FuzzExcerpt(f *testing.F) {
	f.Add("some text", uint8(1), "/tmp/trunc/c", 300)
	f.Add("日本語\n</persisted-output>", uint8(200), "/tmp/trunc/=2f", 1000)
	f.Fuzz(func(t *testing.T, piece string, times uint8, p string, limit int) {
		text := strings.Repeat(piece, int(times))
		if !showable(p) {
			return
		}
		for _, w := range []*notices{english, chinese} {
			v := noticeData{path: p, tool: "read_file"}
			if _, ok := w.room(len(text), v, limit); !ok {
				continue
			}
			out := w.excerpt(text, v, limit)
			require.LessOrEqual(t, len(out), limit)
			require.True(t, utf8.ValidString(out))
			got := recognise(out)
			require.Equal(t, p, got.path)
			require.Equal(t, len(text), got.bytes)
		}
	})
}

// FuzzRecognise: nothing that a tool returns makes it panic, and a path that it
// finds can be shown.
func FuzzRecognise(f *testing.F) {
	for _, w := range []*notices{english, chinese} {
		for _, each := range w.withPath() {
			f.Add(w.fill(each, noticeData{bytes: 3, headBytes: 1, tailBytes: 1, path: "/a", tool: "t", head: "h", tail: "t"}))
		}
	}
	for _, each := range einoNotices {
		f.Add(each.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := recognise(text)
		require.False(t, strings.ContainsAny(n.path, "\n\x00"))
		require.LessOrEqual(t, len(n.path), maxPath)
		if n.kind == clearedNotice && n.path != "" {
			require.LessOrEqual(t, len(text), maxPath+2*maxEnd+100, "a long text passes for a cleared result")
		}
	})
}

// FuzzBoundary: a text is cut next to an offset, and never inside a character; what a
// notice shows of it keeps its length and holds no notice.
func FuzzBoundary(f *testing.F) {
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
		require.Len(t, defused(s), len(s))
		require.True(t, utf8.ValidString(defused(s)))
		require.NotContains(t, defused(s), openTag)
	})
}

// FuzzShowable: the default path of every id can be shown.
func FuzzShowable(f *testing.F) {
	for _, id := range []string{"", "..", "a/b", "a\x00", "<persisted-output>", strings.Repeat("x", 300)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		require.True(t, showable(vault.DefaultPath("/root", vault.TruncDir, id)))
	})
}
