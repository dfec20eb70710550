// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/einolean/einolean/einoleantest"
	detector "github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/blobbackend"
	"github.com/einolean/einolean/store"
)

func open(t testing.TB, url string, opts *blobbackend.Options) *blobbackend.Backend {
	t.Helper()
	b, err := blobbackend.Open(context.Background(), url, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// openOn opens a place of its own on the server, and empties it in the end.
func openOn(t testing.TB, url string) *blobbackend.Backend {
	t.Helper()
	return open(t, url, placeOn(t, url))
}

// placeOn is a place of its own on a server, which is emptied in the end.
func placeOn(t testing.TB, url string) *blobbackend.Options {
	t.Helper()
	opts := &blobbackend.Options{Prefix: "test/" + rand.Text()}
	t.Cleanup(func() {
		b, err := blobbackend.Open(context.Background(), url, opts)
		require.NoError(t, err)
		_, _, err = b.DeleteUnused(context.Background(), "", time.Now().Add(time.Hour))
		require.NoError(t, errors.Join(err, b.Close()))
		if strings.HasPrefix(url, "s3://") {
			giveUp(t, url, opts.Prefix)
		}
	})
	return opts
}

// fileURL is a directory as a URL.
func fileURL(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}

// TestBackend_KeepsContract runs the whole suite: it sets no option that leaves out a test.
//
//claim:store-01
func TestBackend_KeepsContract(t *testing.T) {
	for name, files := range map[string]func(t *testing.T) reduction.Backend{
		"memory":    func(t *testing.T) reduction.Backend { return open(t, "mem://", nil) },
		"directory": func(t *testing.T) reduction.Backend { return open(t, fileURL(t.TempDir()), nil) },
		"server":    func(t *testing.T) reduction.Backend { return openOn(t, serverURL(t)) },
		"a prefix of memory": func(t *testing.T) reduction.Backend {
			return open(t, "mem://", &blobbackend.Options{Prefix: "conversations/42"})
		},
		"a prefix of a directory": func(t *testing.T) reduction.Backend {
			return open(t, fileURL(t.TempDir()), &blobbackend.Options{Prefix: "/conversations/42/"})
		},
		"a bucket that is already open": func(t *testing.T) reduction.Backend {
			bucket := memblob.OpenBucket(nil)
			t.Cleanup(func() { require.NoError(t, bucket.Close()) })
			b, err := blobbackend.New(bucket, nil)
			require.NoError(t, err)
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "server" {
				detector.Skip(t, "shares what a directory shares, and uploads in parts have tests of their own")
			}
			if strings.HasPrefix(name, "a ") {
				detector.Skip(t, "shares what a memory or a directory shares")
				if testing.Short() {
					t.Skip("a store in another place; the stores themselves are tested")
				}
			}
			t.Parallel()
			einoleantest.TestBackend(t, files)
		})
	}
}

//claim:store-06
func TestPrefix_SeparatesConversations(t *testing.T) {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	conversation := func(prefix string) *blobbackend.Backend {
		b, err := blobbackend.New(bucket, &blobbackend.Options{Prefix: prefix})
		require.NoError(t, err)
		return b
	}
	four, other, same := conversation("c/4"), conversation("c/42"), conversation("/c/4/")
	require.NoError(t, four.Create(ctx, "/tmp/trunc/functions.x:0", strings.NewReader("of 4")))
	require.NoError(t, other.Create(ctx, "/tmp/trunc/functions.x:0", strings.NewReader("of 42")))
	require.ErrorIs(t, same.Create(ctx, "/tmp/trunc/functions.x:0", strings.NewReader("of 4 again")), fs.ErrExist)
	require.Equal(t, "of 4", text(t, same, "/tmp/trunc/functions.x:0"))
	for _, way := range []string{"../42/tmp/trunc/functions.x:0", "/../42/tmp/trunc/functions.x:0"} {
		_, _, err := four.ReadRange(ctx, way, 0, -1)
		require.Error(t, err, "%q reads another conversation", way)
	}
	deleted, _, err := four.DeleteUnused(ctx, "", time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
	require.Equal(t, "of 42", text(t, other, "/tmp/trunc/functions.x:0"))
}

func text(t testing.TB, b store.RangeReader, path string) string {
	t.Helper()
	r, _, err := b.ReadRange(context.Background(), path, 0, -1)
	require.NoError(t, err)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

func TestOpen_ExplainsInvalidArguments(t *testing.T) {
	ctx := context.Background()
	for url, want := range map[string]string{
		"":                              "no scheme",
		"nosuch://bucket":               "nosuch",
		"file://host/dir":               "neither a host nor options",
		"file:///dir?metadata=skip":     "neither a host nor options",
		"file://":                       "directory is empty",
		"s3://bucket?no_such_option=no": "no_such_option",
	} {
		b, err := blobbackend.Open(ctx, url, nil)
		require.ErrorContains(t, err, want, url)
		require.ErrorContains(t, err, "blobbackend: ", url)
		require.Nil(t, b)
	}
	for _, prefix := range []string{"..", "../x", "a/../../x", "nul\x00", "\xff", strings.Repeat("x", 2000)} {
		_, err := blobbackend.Open(ctx, "mem://", &blobbackend.Options{Prefix: prefix})
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", prefix)
		_, err = blobbackend.New(memblob.OpenBucket(nil), &blobbackend.Options{Prefix: prefix})
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", prefix)
	}
	_, err := blobbackend.New(nil, nil)
	require.ErrorContains(t, err, "nil")
}

//claim:store-30
func TestNew_RejectsFileblob(t *testing.T) {
	bucket, err := fileblob.OpenBucket(t.TempDir(), nil)
	require.NoError(t, err)
	defer bucket.Close()
	for _, b := range []*blob.Bucket{bucket, blob.PrefixedBucket(bucket, "below/")} {
		_, err = blobbackend.New(b, nil)
		require.ErrorContains(t, err, "fileblob")
	}
}

//claim:store-31
func TestOpen_DirectoriesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	b := open(t, fileURL(dir), &blobbackend.Options{Prefix: "c/4"})
	require.NoError(t, b.Write(context.Background(), &filesystem.WriteRequest{FilePath: "/tmp/trunc/1", Content: "x"}))
	info, err := os.Stat(filepath.Join(dir, "c", "4", "tmp", "trunc", "1"))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077, info.Mode())
}

func TestClose_LeavesCallersBucketOpen(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	b, err := blobbackend.New(bucket, nil)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = bucket.Exists(context.Background(), "x")
	require.NoError(t, err)
	require.NoError(t, bucket.Close())
	err = b.Create(context.Background(), "x", strings.NewReader("x"))
	require.ErrorContains(t, err, `blobbackend: creating "x"`)
}

func TestReadRange_EmptyAtAndPastEnd(t *testing.T) {
	ctx := context.Background()
	b := openOn(t, serverURL(t))
	require.NoError(t, b.Write(ctx, &filesystem.WriteRequest{FilePath: "empty"}))
	require.NoError(t, b.Write(ctx, &filesystem.WriteRequest{FilePath: "three", Content: "abc"}))
	for _, c := range []struct {
		path           string
		offset, length int64
		want           string
		size           int64
	}{
		{"empty", 0, -1, "", 0}, {"empty", 0, 5, "", 0}, {"empty", 7, 5, "", 0}, {"empty", 0, math.MaxInt64, "", 0},
		{"three", 3, -1, "", 3}, {"three", 4, 1, "", 3}, {"three", 1, 0, "", 3},
		{"three", 1, math.MaxInt64, "bc", 3}, {"three", math.MaxInt64, math.MaxInt64, "", 3},
	} {
		r, size, err := b.ReadRange(ctx, c.path, c.offset, c.length)
		require.NoError(t, err, c)
		got, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()), c)
		require.Equal(t, c.want, string(got), c)
		require.Equal(t, c.size, size, c)
	}
	_, _, err := b.ReadRange(ctx, "three", -1, 1)
	require.ErrorIs(t, err, fs.ErrInvalid)
	_, _, err = b.ReadRange(ctx, "missing", 5, 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
