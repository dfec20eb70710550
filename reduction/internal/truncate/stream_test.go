// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
)

func TestTail_StartsAtWholeCharacter(t *testing.T) {
	for n := range 20 {
		end := &tail{max: n}
		all := ""
		for _, s := range []string{"häß", "lich ", "日本", "語", "", "a very long piece of text that is longer than the tail 語"} {
			end.add(s)
			all += s
			got := end.text()
			require.True(t, strings.HasSuffix(all, got))
			require.LessOrEqual(t, len(got), n)
			require.GreaterOrEqual(t, len(got), min(n, len(all))-3)
		}
	}
	end := &tail{max: 100}
	end.skip([]string{"abc", "def", "ghi"}, 4)
	require.Equal(t, "efghi", end.text())
}

func TestStreamReader_CanBeReadAfterClose(t *testing.T) {
	// truncateStream relies on this: a copy of a stream can be closed twice and then be read. The source is not read.
	r, _ := schema.Pipe[string](0)
	reader := closeOnce(schema.StreamReaderWithConvert(r, func(s string) (string, error) { return s, nil }))
	reader.Close()
	reader.Close()
	_, err := reader.Recv()
	require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
	s := &streamTruncation[string]{state: stateDone, source: sourceStream[string]{err: io.ErrNoProgress}}
	require.Equal(t, io.ErrNoProgress, s.errorAfterEnd(err))
	require.Equal(t, io.EOF, s.errorAfterEnd(err))
	require.Equal(t, io.ErrShortWrite, s.errorAfterEnd(io.ErrShortWrite))
}

// A stream that is passed on unchanged is reported once, if it exceeds the limit.
func TestTruncateStream_ReportsKeptStream(t *testing.T) {
	for _, size := range []int{100, 101} {
		truncator := newTruncator(backend.NewMemory(0), 100)
		truncator.Rules.Truncation.Skip = true
		var events []einolean.Event
		truncator.Report = func(_ context.Context, e einolean.Event) { events = append(events, e) }
		text := strings.Repeat("x", size)
		called := &adk.ToolContext{Name: "t", CallID: "call_1"}
		got, _, err := forms["streamable"](t.Context(), truncator, called, `{}`, []piece{{text: text[:50]}, {text: text[50:]}})
		require.NoError(t, err)
		require.Equal(t, text, got)
		require.Len(t, events, size-100)
		for _, e := range events {
			require.Equal(t, einolean.KindResultKept, e.Kind)
			require.Equal(t, size, e.Output.Before.Bytes)
		}
	}
}
