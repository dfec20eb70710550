// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/store"
)

// says is a store whose calls return an error, beside values.
type says struct{ err error }

func (s says) Write(context.Context, *filesystem.WriteRequest) error { return s.err }

func (s says) Read(context.Context, *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return &filesystem.FileContent{Content: "text"}, s.err
}

func (s says) ReadRange(context.Context, string, int64, int64) (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader("text")), 4, s.err
}

func (s says) Create(_ context.Context, _ string, content io.Reader) error {
	_, _ = io.ReadAll(content)
	return s.err
}

func (s says) CreateFirstFree(_ context.Context, names func(int) string, content io.Reader) (string, error) {
	_, _ = io.ReadAll(content)
	names(0)
	return names(1), s.err
}

func (s says) MarkUsed(context.Context, ...string) error { return s.err }

func (s says) DeleteUnused(context.Context, string, time.Time) (int, int64, error) {
	return 3, 40, s.err
}

func (s says) Stored(context.Context, string) (int, int64, error) { return 5, 60, s.err }

// A scope returns what its store returns, for every set of abilities, with and without a limit.
func TestScoped_PassesOnResultsAndErrors(t *testing.T) {
	type (
		bk = store.Backend
		rr = store.RangeReader
		ac = backend.FirstFreeCreator
		cl = store.Cleaner
	)
	for _, err := range []error{nil, errors.New("the disk is full")} {
		all := says{err}
		for what, inner := range map[string]store.Backend{
			"everything": all, "in a scope": store.Scoped(all, byTenant),
			"ranges and any names": struct {
				bk
				rr
				ac
			}{all, all, all},
			"counts": struct {
				bk
				cl
			}{all, all},
		} {
			for _, most := range []int64{0, 1 << 30} {
				b := store.Scoped(inner, store.Scope{Key: byTenant.Key, MaxBytes: most})
				ctx := context.WithValue(t.Context(), tenantKey{}, "acme/42")
				is := func(got error, values ...any) {
					t.Helper()
					require.ErrorIs(t, got, err, "%s, at most %d", what, most)
					for i := 0; err == nil && i < len(values); i += 2 {
						require.Equal(t, values[i], values[i+1], "%s, at most %d", what, most)
					}
				}
				is(b.Write(ctx, &filesystem.WriteRequest{FilePath: "a", Content: "x"}))
				if r, ok := store.As[store.Reader](b); ok {
					got, err := r.Read(ctx, &filesystem.ReadRequest{FilePath: "a"})
					if err == nil {
						require.Equal(t, "text", got.Content)
					}
					is(err)
				}
				if r, ok := store.As[store.RangeReader](b); ok {
					_, size, err := r.ReadRange(ctx, "a", 0, -1)
					is(err, int64(4), size)
				}
				if c, ok := store.As[store.Creator](b); ok {
					is(c.Create(ctx, "a", strings.NewReader("x")))
				}
				if c, ok := store.As[backend.FirstFreeCreator](b); ok {
					name, err := c.CreateFirstFree(ctx, func(n int) string { return fmt.Sprint("a", n) }, strings.NewReader("x"))
					is(err, "a1", name)
				}
				if c, ok := store.As[store.Cleaner](b); ok {
					is(c.MarkUsed(ctx, "a"))
					files, bytes, err := c.DeleteUnused(ctx, "", time.Now())
					is(err)
					require.Equal(t, []any{3, int64(40)}, []any{files, bytes}, "what was deleted before it failed")
					files, bytes, err = c.Stored(ctx, "")
					is(err, 5, files, int64(60), bytes)
				}
			}
		}
	}
}

func TestScoped_KeepsContract(t *testing.T) {
	dirs := newAgedDirs(t)
	for what, inner := range map[string]struct {
		open func(t *testing.T) store.Backend
		age  func(t *testing.T, files store.Backend, filePath string, by time.Duration)
	}{
		"memory": {open: func(*testing.T) store.Backend { return store.NewMemory(0) }},
		"a scope": {open: func(*testing.T) store.Backend {
			key := func(context.Context) (string, error) { return "Acme 42", nil }
			return store.Scoped(store.NewMemory(0), store.Scope{Key: key, MaxBytes: 1 << 40})
		}},
		"a directory": {open: func(t *testing.T) store.Backend { return dirs.open(t) }, age: dirs.age},
	} {
		t.Run(what, func(t *testing.T) {
			scope := store.Scope{Key: func(context.Context) (string, error) { return "a/b", nil }, MaxBytes: 1 << 40}
			open := func(t *testing.T) store.Backend { return store.Scoped(inner.open(t), scope) }
			backendtest.Run(t, open, backendtest.Options{Age: inner.age})
		})
	}
}
