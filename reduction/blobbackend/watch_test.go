// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"

	"github.com/einolean/einolean/reduction/blobbackend"
)

// silent is a bucket on a server that does not answer, with a driver that never gives up.
type silent struct{ driver.Bucket }

func (silent) wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silent) Close() error                                 { return nil }
func (silent) As(any) bool                                  { return false }
func (silent) ErrorCode(error) gcerrors.ErrorCode           { return gcerrors.Unknown }
func (s silent) Delete(ctx context.Context, _ string) error { return s.wait(ctx) }

func (s silent) Attributes(ctx context.Context, _ string) (*driver.Attributes, error) {
	return nil, s.wait(ctx)
}

func (s silent) ListPaged(ctx context.Context, _ *driver.ListOptions) (*driver.ListPage, error) {
	return nil, s.wait(ctx)
}

func (s silent) NewRangeReader(ctx context.Context, _ string, _, _ int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	return nil, s.wait(ctx)
}

func (s silent) NewTypedWriter(ctx context.Context, _, _ string, _ *driver.WriterOptions) (driver.Writer, error) {
	return silentWriter{s, ctx}, nil
}

type silentWriter struct {
	silent
	ctx context.Context
}

func (w silentWriter) Write([]byte) (int, error) { return 0, w.wait(w.ctx) }
func (w silentWriter) Close() error              { return w.wait(w.ctx) }

// calls are all that can be asked of a Backend.
var calls = map[string]func(ctx context.Context, b *blobbackend.Backend) error{
	"Write": func(ctx context.Context, b *blobbackend.Backend) error {
		return b.Write(ctx, &filesystem.WriteRequest{FilePath: "x", Content: "x"})
	},
	"Write of nothing": func(ctx context.Context, b *blobbackend.Backend) error {
		return b.Write(ctx, &filesystem.WriteRequest{FilePath: "x"})
	},
	"Create": func(ctx context.Context, b *blobbackend.Backend) error {
		return b.Create(ctx, "x", strings.NewReader("x"))
	},
	"Read": func(ctx context.Context, b *blobbackend.Backend) error {
		_, err := b.Read(ctx, &filesystem.ReadRequest{FilePath: "x"})
		return err
	},
	"ReadRange": func(ctx context.Context, b *blobbackend.Backend) error {
		_, _, err := b.ReadRange(ctx, "x", 1, 1)
		return err
	},
	"ReadRange of nothing": func(ctx context.Context, b *blobbackend.Backend) error {
		_, _, err := b.ReadRange(ctx, "x", 0, 0)
		return err
	},
	"DeleteUnused": func(ctx context.Context, b *blobbackend.Backend) error {
		_, _, err := b.DeleteUnused(ctx, "", time.Now())
		return err
	},
}

//claim:store-15 security-64
func TestTimeout_EndsCallsToSilentStores(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, err := blobbackend.New(blob.NewBucket(silent{}), nil)
				require.NoError(t, err)
				begun := time.Now()
				err = call(context.Background(), b)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				require.NotErrorIs(t, err, fs.ErrExist)
				require.NotErrorIs(t, err, fs.ErrNotExist)
				require.LessOrEqual(t, time.Since(begun), 2*time.Minute)
			})
		})
	}
}

func TestTimeout_CanBeSetOrDisabled(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{time.Second: time.Second, -1: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			b, err := blobbackend.New(blob.NewBucket(silent{}), &blobbackend.Options{Timeout: timeout})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			begun := time.Now()
			require.Error(t, calls["Write"](ctx, b))
			require.Equal(t, want, time.Since(begun))
		})
	}
}

// A tool may stream slowly, and a reader may read slowly.
//
//claim:store-17
func TestTimeout_CountsOnlyTimeOfStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		b, err := blobbackend.New(bucket, nil)
		require.NoError(t, err)
		words := strings.NewReader("slowly")
		require.NoError(t, b.Create(context.Background(), "x", readerFunc(func(p []byte) (int, error) {
			time.Sleep(time.Hour)
			return words.Read(p[:1])
		})))
		r, _, err := b.ReadRange(context.Background(), "x", 0, -1)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, "slowly", string(got))
	})
}

// unserved is a bucket on a port on which nobody listens until served is set: its driver
// tries for a while. What is written there is not kept.
type unserved struct {
	silent
	served atomic.Bool
}

func (u *unserved) try() error {
	if u.served.Load() {
		return nil
	}
	time.Sleep(9 * time.Second)
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func (*unserved) ErrorCode(err error) gcerrors.ErrorCode {
	if errors.Is(err, fs.ErrNotExist) {
		return gcerrors.NotFound
	}
	return gcerrors.Unknown
}

func (u *unserved) Attributes(context.Context, string) (*driver.Attributes, error) {
	return nil, cmp.Or(u.try(), error(fs.ErrNotExist))
}

func (u *unserved) NewRangeReader(context.Context, string, int64, int64, *driver.ReaderOptions) (driver.Reader, error) {
	return nil, cmp.Or(u.try(), error(fs.ErrNotExist))
}

func (u *unserved) NewTypedWriter(context.Context, string, string, *driver.WriterOptions) (driver.Writer, error) {
	return unservedWriter{u}, nil
}

type unservedWriter struct{ *unserved }

func (w unservedWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w unservedWriter) Close() error                { return w.try() }

// The other calls fail at once, and one call at a time tests whether the store answers again.
//
//claim:security-64
func TestBackend_UnservedStoreDelaysOneResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &unserved{}
		store, err := blobbackend.New(blob.NewBucket(gone), nil)
		require.NoError(t, err)
		ctx := t.Context()
		write := func() (time.Duration, error) {
			start := time.Now()
			err := store.Write(ctx, &filesystem.WriteRequest{FilePath: "a", Content: "x"})
			return time.Since(start), err
		}
		for i := range 20 {
			took, err := write()
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
			require.NotErrorIs(t, err, fs.ErrNotExist)
			require.Equal(t, i > 0, took < time.Millisecond, "call %d took %v", i, took)
		}
		_, _, err = store.ReadRange(ctx, "a", 0, -1)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		time.Sleep(30 * time.Second)
		took, err := write()
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Equal(t, 9*time.Second, took, "one tries again")
		gone.served.Store(true)
		time.Sleep(30 * time.Second)
		_, err = write()
		require.NoError(t, err)
		gone.served.Store(false)

		// What fails because of its content, or of its caller, says nothing about the store.
		gone.served.Store(true)
		broken := iotest.ErrReader(&net.OpError{Op: "read", Err: syscall.ECONNRESET})
		require.ErrorIs(t, store.Create(ctx, "b", broken), syscall.ECONNRESET)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		require.Error(t, store.Write(ended, &filesystem.WriteRequest{FilePath: "a", Content: "x"}))
		_, _, err = store.ReadRange(ctx, "missing", 0, -1)
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = write()
		require.NoError(t, err)
	})
}
