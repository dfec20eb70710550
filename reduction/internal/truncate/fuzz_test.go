// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

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
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/reader"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
	"github.com/einolean/einolean/store"
)

// A stream comes out unchanged, or as its start and one notice within the limit while the store has all of it. If the
// source fails, a start of the stream comes out.
func FuzzTruncateStream(f *testing.F) {
	f.Add("some text of a tool", uint8(3), uint16(40), uint16(400), false)
	f.Add("日本語🙂", uint8(200), uint16(7), uint16(1000), false)
	f.Add("\xff\x80<persisted-output>\n", uint8(250), uint16(1), uint16(2000), true)
	f.Fuzz(func(t *testing.T, piece string, times uint8, chunk, limit uint16, fails bool) {
		content := strings.Repeat(piece, int(times))
		truncator := newTruncator(backend.NewMemory(0), int(limit)+1)
		info, _ := truncator.newTruncation(context.Background(), &adk.ToolContext{Name: "t", CallID: "c"})
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
		out, err := readAll(truncateStream(context.Background(), info, r))
		if fails {
			require.Equal(t, boom, err)
			require.True(t, strings.HasPrefix(content, out))
			return
		}
		require.NoError(t, err)
		if out == content {
			return
		}
		require.LessOrEqual(t, len(out), info.policy.Limit)
		require.Greater(t, len(content), info.policy.Limit)
		require.True(t, !utf8.ValidString(content) || utf8.ValidString(out))
		head, _, ok := strings.Cut(out[strings.LastIndex(out, "\n<persisted-output>"):], "</persisted-output>")
		require.True(t, ok && head != "")
		require.True(t, strings.HasPrefix(content, out[:strings.LastIndex(out, "\n<persisted-output>")]))
		require.Equal(t, "/tmp/trunc/c", notice.Parse(out).Path)
		require.True(t, truncator.Rules.Store.Holds(context.Background(), "/tmp/trunc/c", content))
	})
}

// newTruncator returns the truncator of a configuration that sets only a store and a limit.
func newTruncator(b store.Backend, limit int) *Truncator {
	files := &offload.Offloader{Showable: notice.Showable}
	return &Truncator{
		Root: "/tmp", Files: files, Reader: &reader.Reader{Name: "read_file"},
		Rules:       &toolpolicy.Table{Store: files.Open(b), Limit: limit},
		Previews:    func(string) bool { return false },
		NoticePaths: func(context.Context) []string { return nil },
	}
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
