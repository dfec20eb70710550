// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

func writeTo(ctx context.Context, b store.Backend, content string) error {
	return b.Write(ctx, &filesystem.WriteRequest{FilePath: "f", Content: content})
}

func kept(t *testing.T, m *backend.Memory) string {
	t.Helper()
	got, err := m.Read(t.Context(), &filesystem.ReadRequest{FilePath: "f"})
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
		return "(missing)"
	}
	return got.Content
}

func TestFaulty_AppliesEachModeToWrites(t *testing.T) {
	for name, c := range map[string]struct {
		fault Fault
		want  error
		kept  string
	}{
		"ok":            {Fault{}, nil, "content"},
		"fail":          {Fault{Mode: Fail, After: 3}, ErrInjected, "(missing)"},
		"short":         {Fault{Mode: Short, After: 3}, io.ErrShortWrite, "con"},
		"torn":          {Fault{Mode: Torn, After: 3}, nil, "con"},
		"late":          {Fault{Mode: Late}, ErrInjected, "content"},
		"more than all": {Fault{Mode: Torn, After: 300}, nil, "content"},
	} {
		t.Run(name, func(t *testing.T) {
			m := backend.NewMemory(0)
			require.ErrorIs(t, writeTo(t.Context(), NewFaulty(m, Every(c.fault, OpWrite)), "content"), c.want)
			require.Equal(t, c.kept, kept(t, m))

			m = backend.NewMemory(0)
			content := strings.NewReader("content")
			require.ErrorIs(t, NewFaulty(m, Every(c.fault)).Create(t.Context(), "f", content), c.want)
			require.Equal(t, c.kept, kept(t, m))
		})
	}
}

func TestHang_EndsWithContext(t *testing.T) {
	f := NewFaulty(backend.NewMemory(0), Every(Fault{Mode: Hang}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- writeTo(ctx, f, "x") }()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

func TestSlow_WaitsForGate(t *testing.T) {
	m, gate := backend.NewMemory(0), make(chan struct{})
	f := NewFaulty(m, Every(Fault{Mode: Slow, Gate: gate}))
	done := make(chan error)
	go func() { done <- writeTo(context.Background(), f, "x") }()
	require.Equal(t, "(missing)", kept(t, m))
	close(gate)
	require.NoError(t, <-done)
	require.Equal(t, "x", kept(t, m))
}

func TestNth_OnlyThatCallFails(t *testing.T) {
	f := NewFaulty(backend.NewMemory(0), Nth(OpWrite, 2, Fault{Mode: Panic}))
	require.NoError(t, writeTo(t.Context(), f, "1"))
	require.PanicsWithValue(t, ErrInjected, func() { _ = writeTo(t.Context(), f, "2") })
	require.NoError(t, writeTo(t.Context(), f, "3"))
	require.Equal(t, 3, f.Count(OpWrite))
	require.Equal(t, 0, f.Count(OpRead))
	require.Equal(t, Call{Op: OpWrite, N: 2, Path: "f"}, f.Calls()[1])
}

func TestFaulty_AppliesModesToReads(t *testing.T) {
	m := backend.NewMemory(0)
	require.NoError(t, writeTo(t.Context(), m, "content"))

	short := NewFaulty(m, Every(Fault{Mode: Short, After: 3}))
	_, err := short.Read(t.Context(), &filesystem.ReadRequest{FilePath: "f"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	content, size, err := short.ReadRange(t.Context(), "f", 0, -1)
	require.NoError(t, err)
	require.EqualValues(t, 7, size)
	got, err := io.ReadAll(content)
	require.ErrorIs(t, err, ErrInjected)
	require.Equal(t, "con", string(got))

	torn := NewFaulty(m, Every(Fault{Mode: Torn, After: 3}))
	part, err := torn.Read(t.Context(), &filesystem.ReadRequest{FilePath: "f"})
	require.NoError(t, err)
	require.Equal(t, "con", part.Content)
	_, _, err = NewFaulty(m, Every(Fault{Mode: Fail})).DeleteUnused(t.Context(), "", tomorrow())
	require.ErrorIs(t, err, ErrInjected)
	require.Equal(t, "content", kept(t, m))
}

func TestFaulty_HidesReaderInterfaces(t *testing.T) {
	f := NewFaulty(backend.NewMemory(0), nil)
	_, reads := f.WriteOnly().(store.Reader)
	_, ranges := any(f.ReadWrite()).(store.RangeReader)
	require.False(t, reads)
	require.False(t, ranges)
	require.NoError(t, writeTo(t.Context(), f.WriteOnly(), "x"))
	require.Equal(t, 1, f.Count(OpWrite))
}
