// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"
)

// store is what both stores are.
type store interface {
	Write(ctx context.Context, req *filesystem.WriteRequest) error
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
	ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error)
	Create(ctx context.Context, filePath string, content io.Reader) error
	MarkUsed(ctx context.Context, filePaths ...string) error
	DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error)
	Stored(ctx context.Context, dir string) (files int, bytes int64, err error)
}

func write(t *testing.T, b store, filePath, content string) error {
	t.Helper()
	return b.Write(t.Context(), &filesystem.WriteRequest{FilePath: filePath, Content: content})
}

func read(t *testing.T, r store, filePath string) (string, error) {
	t.Helper()
	got, err := r.Read(t.Context(), &filesystem.ReadRequest{FilePath: filePath})
	if err != nil {
		return "", err
	}
	return got.Content, nil
}

func TestNewMemory_WithoutLimitUsesDefault(t *testing.T) {
	for _, maxBytes := range []int64{0, -1, -1 << 60} {
		require.EqualValues(t, DefaultMemoryBytes, NewMemory(maxBytes).max)
	}
}

// room is a bound for n files of one-letter names and contents of size bytes.
func room(n, size int64) int64 { return n * (size + 1 + fileOverhead) }

func TestMemory_DropsOldestFirst(t *testing.T) {
	m := NewMemory(room(3, 10))
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, write(t, m, name, "0123456789"))
	}
	require.NoError(t, write(t, m, "a", "written  2"), "a is now the newest")
	require.NoError(t, write(t, m, "d", "0123456789"))
	_, err := read(t, m, "b")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, name := range []string{"a", "c", "d"} {
		_, err := read(t, m, name)
		require.NoError(t, err, name)
	}
}

func TestMemory_RejectsContentAboveLimit(t *testing.T) {
	m := NewMemory(room(2, 100))
	require.NoError(t, write(t, m, "a", "kept"))
	huge := strings.Repeat("x", 1000)
	require.ErrorContains(t, write(t, m, "b", huge), `store: writing "b": content is larger than the whole store`)
	require.Error(t, write(t, m, "a", huge))
	content := &countedReader{r: strings.NewReader(strings.Repeat("x", 10<<20))}
	require.Error(t, m.Create(t.Context(), "c", content))
	require.Less(t, content.n, int64(1<<20), "reading ends where the bound is passed")
	got, err := read(t, m, "a")
	require.NoError(t, err)
	require.Equal(t, "kept", got)
	require.NoError(t, write(t, m, "b", strings.Repeat("x", int(room(2, 100)-1-fileOverhead))), "exactly the bound fits")
}

type countedReader struct {
	r io.Reader
	n int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func TestMemory_StaysWithinLimit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	m := NewMemory(5000)
	for range 5000 {
		name := fmt.Sprint("f", r.IntN(40))
		content := strings.Repeat("x", r.IntN(2000))
		switch r.IntN(10) {
		case 0:
			_, _, err := m.DeleteUnused(t.Context(), "", time.Now().Add(time.Duration(r.IntN(3)-1)*time.Hour))
			require.NoError(t, err)
		case 1, 2, 3:
			_ = m.Create(t.Context(), name, strings.NewReader(content))
		default:
			require.NoError(t, write(t, m, name, content))
			got, err := read(t, m, name)
			require.NoError(t, err)
			require.Equal(t, content, got)
		}
		used := int64(0)
		for e := m.order.Front(); e != nil; e = e.Next() {
			used += e.Value.(*file).size()
		}
		require.Equal(t, used, m.used)
		require.LessOrEqual(t, used, m.max)
		require.Equal(t, m.order.Len(), len(m.files))
	}
}

func TestMemoryDeleteUnused_DeletesOlderFiles(t *testing.T) {
	m := NewMemory(0)
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return at }
	require.NoError(t, write(t, m, "s/old", "x"))
	require.NoError(t, write(t, m, "other/old", "x"))
	at = at.Add(time.Hour)
	require.NoError(t, write(t, m, "s/new", "x"))
	deleted, _, err := m.DeleteUnused(t.Context(), "/s/", at)
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
	_, err = read(t, m, "s/new")
	require.NoError(t, err, "what was written at the time itself is not older")
	_, _, err = m.DeleteUnused(t.Context(), "../s", at)
	require.ErrorIs(t, err, fs.ErrInvalid)
}

func TestMemory_StuckReaderIsError(t *testing.T) {
	m := NewMemory(0)
	require.ErrorIs(t, m.Create(context.Background(), "x", stuckReader{}), io.ErrNoProgress)
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func TestMemoryDeleteUnused_KeepsReadAndMarkedFiles(t *testing.T) {
	m, now := NewMemory(0), time.Now()
	m.now = func() time.Time { return now }
	for _, name := range []string{"s/read", "s/marked", "s/forgotten", "other"} {
		require.NoError(t, m.Write(t.Context(), &filesystem.WriteRequest{FilePath: name, Content: "four"}))
	}
	since := now.Add(time.Minute)
	now = now.Add(time.Hour)
	_, err := m.Read(t.Context(), &filesystem.ReadRequest{FilePath: "s/read"})
	require.NoError(t, err)
	require.NoError(t, m.MarkUsed(t.Context(), "s/marked", "s/none"))
	files, bytes, err := m.DeleteUnused(t.Context(), "s", since)
	require.NoError(t, err)
	require.Equal(t, 1, files)
	require.EqualValues(t, 4, bytes)
	files, _, err = m.Stored(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 3, files)
}
