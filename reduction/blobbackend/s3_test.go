// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"

	"github.com/einolean/einolean/reduction/blobbackend"
)

const (
	small = 50 << 10
	large = 12 << 20 // three parts
	huge  = 24 << 20 // more than is held before the first part is sent
)

// filled is content of n bytes of which no two places look alike.
func filled(n int) string {
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(time.Duration(b.Len()).String() + "\n")
	}
	return b.String()[:n]
}

func TestCreate_UploadsLargeContentInParts(t *testing.T) {
	ctx := context.Background()
	p, url := newProxy(t, s3URL(t))
	b := openOn(t, url)
	want := filled(large)
	require.NoError(t, b.Create(ctx, "large", strings.NewReader(want)))
	require.Equal(t, "HEAD, POST begin, 3 PUT part, POST end", p.counted())
	require.Equal(t, want, text(t, b, "large"))
	require.ErrorIs(t, b.Create(ctx, "large", strings.NewReader("other")), fs.ErrExist)
}

// The server has stored the content and the connection breaks. The retry finds the name taken by the first
// attempt.
//
//claim:store-23
func TestCreate_LostResponseIsNoConflict(t *testing.T) {
	for kind, size := range map[string]int{"PUT": small, "POST end": large} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, url := newProxy(t, s3URL(t))
			p.Instead = lose(kind)
			b := openOn(t, url)
			want := filled(size)
			require.NoError(t, b.Create(context.Background(), "name", strings.NewReader(want)))
			require.Contains(t, p.counted(), "2 "+kind, "the request was not repeated")
			require.Equal(t, want, text(t, b, "name"))
		})
	}
}

// After the connection breaks, somebody else takes the name.
func TestCreate_LostResponseHidesNoConflict(t *testing.T) {
	ctx := context.Background()
	direct := s3URL(t)
	p, url := newProxy(t, direct)
	prefix := placeOn(t, direct)
	other := open(t, direct, prefix)
	p.Instead = func(kind string, _ http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		if kind == "PUT" {
			if err := other.Create(ctx, "name", strings.NewReader("theirs")); err == nil {
				panic(http.ErrAbortHandler)
			}
		}
		return false
	}
	require.ErrorIs(t, open(t, url, prefix).Create(ctx, "name", strings.NewReader("mine")), fs.ErrExist)
	require.Equal(t, "theirs", text(t, other, "name"))
}

// S3 may reject both of two concurrent writes of a name.
func TestCreate_ConcurrentWriteIsAConflict(t *testing.T) {
	p, url := newProxy(t, s3URL(t))
	p.Instead = func(kind string, w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		if kind != "PUT" {
			return false
		}
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>ConditionalRequestConflict</Code><Message>try again</Message></Error>`)
		return true
	}
	err := openOn(t, url).Create(context.Background(), "name", strings.NewReader("x"))
	require.ErrorIs(t, err, fs.ErrExist)
}

func TestBackend_ServerFailureIsAnError(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotImplemented} {
		p, url := newProxy(t, s3URL(t))
		p.Instead = func(_ string, w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			w.WriteHeader(status)
			return true
		}
		b := open(t, url, nil)
		err := b.Create(context.Background(), "name", strings.NewReader("x"))
		require.Error(t, err)
		require.NotErrorIs(t, err, fs.ErrExist)
		require.NotErrorIs(t, err, fs.ErrNotExist)
		_, _, err = b.ReadRange(context.Background(), "name", 1, 1)
		require.Error(t, err)
		require.NotErrorIs(t, err, fs.ErrNotExist, "what cannot be asked for is not missing")
	}
}

// The driver reports a missing bucket if the text of an error has "301" anywhere in it.
func TestBackend_ErrorDependsOnCodeNotRequestID(t *testing.T) {
	t.Parallel() // the driver waits seconds between its attempts
	for code, status := range map[string]int{"InternalError": http.StatusInternalServerError, "PreconditionFailed": http.StatusPreconditionFailed} {
		p, url := newProxy(t, s3URL(t))
		p.Instead = func(_ string, w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			w.Header().Set("X-Amz-Request-Id", "QT301FL3ONL")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
			return true
		}
		b := open(t, url, nil)
		_, _, err := b.ReadRange(context.Background(), "name", 1, 1)
		require.Error(t, err)
		require.NotErrorIs(t, err, fs.ErrNotExist, code)
		err = b.Create(context.Background(), "name", strings.NewReader("x"))
		require.NotErrorIs(t, err, fs.ErrNotExist, code)
		require.Equal(t, code == "PreconditionFailed", errors.Is(err, fs.ErrExist), code)
	}
}

// uploads lists the keys of the uploads below a prefix that are not finished.
func uploads(t testing.TB, url, prefix string) (keys []string) {
	t.Helper()
	for _, u := range unfinished(t, url, prefix) {
		keys = append(keys, *u.Key)
	}
	return keys
}

func unfinished(t testing.TB, url, prefix string) []types.MultipartUpload {
	t.Helper()
	client, bucket := client(t, url)
	out, err := client.ListMultipartUploads(context.Background(), &s3.ListMultipartUploadsInput{Bucket: &bucket, Prefix: &prefix})
	require.NoError(t, err)
	return out.Uploads
}

// giveUp takes back what killed processes left below a prefix.
func giveUp(t testing.TB, url, prefix string) {
	t.Helper()
	client, bucket := client(t, url)
	for _, u := range unfinished(t, url, prefix) {
		_, err := client.AbortMultipartUpload(context.Background(), &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: u.Key, UploadId: u.UploadId})
		require.NoError(t, err)
	}
}

// client is the provider's own, and the bucket's name.
func client(t testing.TB, url string) (*s3.Client, string) {
	t.Helper()
	b, err := blob.OpenBucket(context.Background(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	var c *s3.Client
	require.True(t, b.As(&c))
	name, _, _ := strings.Cut(strings.TrimPrefix(url, "s3://"), "?")
	return c, name
}

// Parts of an unfinished upload are invisible, and are billed nevertheless.
//
//claim:store-29
func TestCreate_FailedUploadLeavesNoParts(t *testing.T) {
	url := s3URL(t)
	broken := errors.New("broken")
	for name, content := range map[string]func(cancel func()) io.Reader{
		"the content fails": func(func()) io.Reader {
			return io.MultiReader(strings.NewReader(filled(huge)), iotest.ErrReader(broken))
		},
		"the context ends": func(cancel func()) io.Reader {
			return io.MultiReader(strings.NewReader(filled(huge)), readerFunc(func([]byte) (int, error) {
				cancel()
				return 0, nil
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, through := newProxy(t, url)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			place := placeOn(t, url)
			b := open(t, through, place)
			require.Error(t, b.Create(ctx, "large", content(cancel)))
			require.Regexp(t, `^HEAD, POST begin, .*PUT part.*DELETE upload`, p.counted())
			_, _, err := b.ReadRange(context.Background(), "large", 0, -1)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.Empty(t, uploads(t, url, place.Prefix))
		})
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

//claim:store-27
func TestDeleteUnused_AbortsAbandonedUploads(t *testing.T) {
	ctx := context.Background()
	url, dir := s3URL(t), serverDir(t)
	c, bucket := client(t, url)
	for _, key := range []string{"test/uploads/c/4/young", "test/uploads/c/4/old", "test/uploads/c/42/old"} {
		up, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &bucket, Key: aws.String(key)})
		require.NoError(t, err)
		t.Cleanup(func() {
			_, _ = c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: aws.String(key), UploadId: up.UploadId})
		})
		if filepath.Base(key) == "old" {
			age(t, dir, *up.UploadId)
		}
	}
	b := open(t, url, &blobbackend.Options{Prefix: "test/uploads/c/4"})
	deleted, _, err := b.DeleteUnused(ctx, "", time.Now().AddDate(0, 0, -3))
	require.NoError(t, err)
	require.Zero(t, deleted)
	require.Len(t, uploads(t, url, "test/uploads/"), 3, "newer than what was asked for")
	deleted, _, err = b.DeleteUnused(ctx, "", time.Now())
	require.NoError(t, err)
	require.Zero(t, deleted, "nobody could read them")
	require.Equal(t, []string{"test/uploads/c/4/young", "test/uploads/c/42/old"}, uploads(t, url, "test/uploads/"))
}

// TestMarkUsed_KeepsFiles changes the age of objects in the server's files.
//
//claim:store-25
func TestMarkUsed_KeepsFiles(t *testing.T) {
	ctx := context.Background()
	dir, opts := serverDir(t), placeOn(t, s3URL(t))
	b := open(t, s3URL(t), opts)
	names := []string{"/a/tmp/clear/one", "/a/tmp/clear/two", "/b/tmp/clear/one"}
	for _, name := range names {
		require.NoError(t, b.Create(ctx, name, strings.NewReader("four")))
		file := filepath.Join(dir, opts.Prefix, name)
		past := time.Now().AddDate(0, 0, -2)
		require.NoError(t, os.Chtimes(file, past, past))
	}
	require.ErrorIs(t, b.MarkUsed(ctx, "/../secret", names[0], names[1]), fs.ErrInvalid, "a name that no file can have keeps no other from being marked")
	require.Error(t, b.Create(ctx, "/a/tmp/clear/.einolean-used", strings.NewReader("x")), "the name is the store's own")
	files, bytes, err := b.Stored(ctx, "")
	require.NoError(t, err)
	require.Equal(t, 3, files)
	require.EqualValues(t, 12, bytes)
	files, bytes, err = b.DeleteUnused(ctx, "", time.Now().AddDate(0, 0, -1))
	require.NoError(t, err)
	require.Equal(t, 1, files)
	require.EqualValues(t, 4, bytes)
	require.Equal(t, "four", text(t, b, names[1]))
	_, _, err = b.ReadRange(ctx, names[2], 0, -1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	files, _, err = b.DeleteUnused(ctx, "a", time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 2, files)
	files, _, err = b.Stored(ctx, "")
	require.NoError(t, err)
	require.Zero(t, files)
}

// age makes the server believe that an upload was begun two days ago.
func age(t *testing.T, dir, upload string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".sgwtmp", "multipart", "*", upload))
	require.NoError(t, err)
	require.Len(t, found, 1)
	past := time.Now().AddDate(0, 0, -2)
	require.NoError(t, os.Chtimes(found[0], past, past))
}

// TestDeleteUnused_ContinuesAfterFailedDelete also covers a server that has no list of uploads.
func TestDeleteUnused_ContinuesAfterFailedDelete(t *testing.T) {
	ctx := context.Background()
	p, url := newProxy(t, s3URL(t))
	b := openOn(t, url)
	for _, name := range []string{"dir/a", "dir/locked", "dir/z"} {
		require.NoError(t, b.Create(ctx, name, strings.NewReader("x")))
	}
	p.Instead = func(kind string, w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		switch {
		case kind == "LIST uploads":
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>NotImplemented</Code></Error>`)
		case kind == "DELETE" && strings.HasSuffix(r.URL.Path, "locked"):
			w.WriteHeader(http.StatusForbidden)
		default:
			return false
		}
		return true
	}
	deleted, _, err := b.DeleteUnused(ctx, "dir", time.Now().Add(time.Hour))
	require.Error(t, err)
	require.Equal(t, 2, deleted)
	require.Equal(t, "x", text(t, b, "dir/locked"))
	p.Instead = nil
	deleted, _, err = b.DeleteUnused(ctx, "dir", time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
}
