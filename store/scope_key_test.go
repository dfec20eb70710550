// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

// untouched is a store with every ability, of which no method may be called.
type untouched struct{ t *testing.T }

func (u untouched) called() error {
	u.t.Helper()
	u.t.Error("the inner store was asked")
	return nil
}

func (u untouched) Write(context.Context, *filesystem.WriteRequest) error { return u.called() }

func (u untouched) Read(context.Context, *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return nil, u.called()
}

func (u untouched) ReadRange(context.Context, string, int64, int64) (io.ReadCloser, int64, error) {
	return nil, 0, u.called()
}

func (u untouched) Create(context.Context, string, io.Reader) error { return u.called() }

func (u untouched) CreateFirstFree(context.Context, func(int) string, io.Reader) (string, error) {
	return "", u.called()
}

func (u untouched) MarkUsed(context.Context, ...string) error { return u.called() }

func (u untouched) DeleteUnused(context.Context, string, time.Time) (int, int64, error) {
	return 0, 0, u.called()
}

func (u untouched) Stored(context.Context, string) (int, int64, error) { return 0, 0, u.called() }

// scopeMethods are calls of every method of a scope that needs its key.
var scopeMethods = map[string]func(ctx context.Context, b store.Backend) error{
	"Write": func(ctx context.Context, b store.Backend) error {
		return b.Write(ctx, &request{FilePath: "/a", Content: "x"})
	},
	"Read": func(ctx context.Context, b store.Backend) error {
		got, err := b.(store.Reader).Read(ctx, &filesystem.ReadRequest{FilePath: "/a"})
		return failsEmpty(err, got == nil)
	},
	"ReadRange": func(ctx context.Context, b store.Backend) error {
		content, size, err := b.(store.RangeReader).ReadRange(ctx, "/a", 0, -1)
		return failsEmpty(err, content == nil && size == 0)
	},
	"Create": func(ctx context.Context, b store.Backend) error {
		return b.(store.Creator).Create(ctx, "/a", strings.NewReader("x"))
	},
	"CreateFirstFree": func(ctx context.Context, b store.Backend) error {
		name, err := b.(backend.FirstFreeCreator).CreateFirstFree(ctx, func(int) string { return "/a" }, strings.NewReader("x"))
		return failsEmpty(err, name == "")
	},
	"MarkUsed": func(ctx context.Context, b store.Backend) error {
		return b.(store.Cleaner).MarkUsed(ctx, "/a")
	},
	"DeleteUnused": func(ctx context.Context, b store.Backend) error {
		files, bytes, err := b.(store.Cleaner).DeleteUnused(ctx, "", time.Now())
		return failsEmpty(err, files == 0 && bytes == 0)
	},
	"DeleteUnused below": func(ctx context.Context, b store.Backend) error {
		files, bytes, err := b.(store.Cleaner).DeleteUnused(ctx, "/dir", time.Now())
		return failsEmpty(err, files == 0 && bytes == 0)
	},
	"Stored": func(ctx context.Context, b store.Backend) error {
		files, bytes, err := b.(store.Cleaner).Stored(ctx, "")
		return failsEmpty(err, files == 0 && bytes == 0)
	},
}

var errNotEmpty = errors.New("the call failed and returned something")

func failsEmpty(err error, empty bool) error {
	if err != nil && !empty {
		return errNotEmpty
	}
	return err
}

// TestScoped_WithoutAKeyEveryMethodFails, and the inner store is not asked.
func TestScoped_WithoutAKeyEveryMethodFails(t *testing.T) {
	noKey := errors.New("no tenant")
	keys := map[string]func(context.Context) (string, error){
		"error":         func(context.Context) (string, error) { return "", noKey },
		"key and error": func(context.Context) (string, error) { return "acme", noKey },
		"not exist":     func(context.Context) (string, error) { return "", fs.ErrNotExist },
		"exist":         func(context.Context) (string, error) { return "", fs.ErrExist },
		"empty":         func(context.Context) (string, error) { return "", nil },
		"panic":         func(context.Context) (string, error) { panic("no tenant") },
		"missing":       nil,
	}
	for what, key := range keys {
		for _, most := range []int64{0, -1, 1 << 20} {
			b := store.Scoped(untouched{t}, store.Scope{Key: key, MaxBytes: most})
			for method, call := range scopeMethods {
				err := call(t.Context(), b)
				require.Error(t, err, "%s: %s", what, method)
				require.NotErrorIs(t, err, errNotEmpty, "%s: %s", what, method)
				require.NotErrorIs(t, err, fs.ErrNotExist, "%s: %s: nothing is known of the file", what, method)
				require.NotErrorIs(t, err, fs.ErrExist, "%s: %s: nothing is known of the file", what, method)
				if what == "error" || what == "key and error" {
					require.ErrorIs(t, err, noKey, "%s: %s", what, method)
				}
			}
		}
	}
}

// failingWriter is a store without ranges and counts. Its writes store everything, and may fail.
type failingWriter struct {
	store.Backend
	store.Reader
	err error
}

func (f *failingWriter) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return errors.Join(f.Backend.Write(ctx, req), f.err)
}

// TestScoped_CountsWhatAFailedWriteStored, in a store that can only read whole files.
func TestScoped_CountsWhatAFailedWriteStored(t *testing.T) {
	memory := store.NewMemory(0)
	inner := &failingWriter{Backend: memory, Reader: memory, err: errors.New("no answer")}
	b := store.Scoped(inner, store.Scope{Key: byTenant.Key, MaxBytes: 100})
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme")
	write := func(path string, size int) error {
		return b.Write(ctx, &request{FilePath: path, Content: strings.Repeat("x", size)})
	}
	require.ErrorIs(t, write("/a", 60), inner.err)
	inner.err = nil
	require.Error(t, write("/b", 41), "60 bytes are stored")
	require.NoError(t, write("/b", 40))
	require.NoError(t, write("/a", 10))
	require.NoError(t, write("/c", 50))
	require.Error(t, write("/d", 1))
}

// slowReader reports the size of a file, and then another process changes the store while a minute
// passes.
type slowReader struct {
	*store.Memory
	meanwhile func()
}

func (s *slowReader) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	content, size, err := s.Memory.ReadRange(ctx, filePath, offset, length)
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return content, size, err
}

// TestScoped_MeasuresAgainAfterARecount: the old size of a file says nothing about a newer count.
func TestScoped_MeasuresAgainAfterARecount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &slowReader{Memory: store.NewMemory(0)}
		b := store.Scoped(inner, store.Scope{Key: byTenant.Key, MaxBytes: 100})
		ctx := context.WithValue(t.Context(), tenantKey{}, "acme")
		require.NoError(t, b.Write(ctx, &request{FilePath: "/a", Content: strings.Repeat("x", 40)}))
		inner.meanwhile = func() {
			inner.meanwhile = nil
			time.Sleep(2 * time.Minute)
			require.NoError(t, inner.Memory.Write(ctx, &request{FilePath: "/acme/a", Content: ""}))
			require.NoError(t, inner.Memory.Write(ctx, &request{FilePath: "/acme/other", Content: strings.Repeat("x", 60)}))
		}
		require.Error(t, b.Write(ctx, &request{FilePath: "/a", Content: strings.Repeat("x", 50)}))
		_, bytes, err := inner.Stored(ctx, "/acme")
		require.NoError(t, err)
		require.LessOrEqual(t, bytes, int64(100))
	})
}
