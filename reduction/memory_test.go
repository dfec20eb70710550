// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// endless is a stream of size bytes in chunks of 4 KB, which says how much the
// heap holds while it runs.
func endless(size int) (*schema.StreamReader[string], *uint64) {
	chunk := strings.Repeat("0123456789abcdef", 256)
	r, w := schema.Pipe[string](1)
	peak := new(uint64)
	go func() {
		defer w.Close()
		for sent := 0; sent < size; sent += len(chunk) {
			if w.Send(chunk, nil) {
				return
			}
			if sent%(1<<20) == 0 {
				*peak = max(*peak, heap())
			}
		}
	}()
	return r, peak
}

func TestR23_AStreamTakesBoundedMemory(t *testing.T) {
	const size = 64 << 20
	dir, err := reduction.NewDirBackend(t.TempDir())
	require.NoError(t, err)
	defer dir.Close()
	for name, store := range map[string]reduction.Backend{"directory": dir, "anything that takes streams": &drainStore{}} {
		runtime.GC()
		base := heap()
		src, peak := endless(size)
		out := streamOf(t, typed(t, &reduction.Config{Backend: store}), src)
		got, err := drain(out)
		require.NoError(t, err)
		require.LessOrEqual(t, len(strings.Join(got, "")), 50_000)
		require.Less(t, *peak-min(base, *peak), uint64(2<<20), name)
	}
	r, n, err := dir.ReadRange(context.Background(), "/tmp/trunc/c", 0, 16)
	require.NoError(t, err)
	defer r.Close()
	head, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", string(head))
	require.EqualValues(t, size, n)
}

func TestTruncatingMakesNoCopyOfTheContent(t *testing.T) {
	content := strings.Repeat("a line of output\n", 50<<20/17)
	store := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: store})
	run, err := mw.WrapInvokableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (string, error) { return content, nil }, callC)
	require.NoError(t, err)
	before := total()
	_, err = run(context.Background(), `{}`)
	require.NoError(t, err)
	require.Less(t, total()-before, uint64(len(content))+uint64(8<<20), "more than the store's own copy")
}

func total() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
