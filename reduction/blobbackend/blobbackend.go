// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package blobbackend is a reduction.Backend on object stores, for agents that run on more
// than one machine: S3 and servers with its protocol, Google Cloud Storage, Azure, a
// directory, and memory, all by URL.
//
//	store, err := blobbackend.Open(ctx, "s3://my-bucket?region=eu-central-1", &blobbackend.Options{
//		Prefix: "conversations/" + conversationID,
//	})
//	reduce, err := reduction.New(ctx, reduction.Recommended(store))
//
// It implements every optional interface of a Backend: it stores streams without holding
// them in memory, reads ranges of bytes, refuses names that are taken, and deletes files
// that have not been used since a given time.
//
//	reduction          Backend                 objects | directory
//	  /tmp/trunc/id -> prefix + tmp/trunc/id -> PUT if the name is free
//	  read_file     -> the same name         -> GET of a range
//
// # One prefix per conversation
//
// Call ids are at best unique within a conversation; some models count from zero in each.
// With its own prefix, a conversation cannot read another's results, and can be deleted
// as a whole. Processes that serve the same conversation share its prefix.
//
// # What the store must do
//
// Two processes never overwrite each other's results if the store can write only if a name
// is free. Amazon S3, Google Cloud Storage, Azure, directories and memory can, and so can
// most servers with S3's protocol (by the header If-None-Match on PutObject and
// CompleteMultipartUpload). A server that ignores the header leaves a gap between the check
// of a name and the write. The tests of this package tell which is the case: they run
// against your bucket if EINOLEAN_BUCKET holds its URL.
package blobbackend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"gocloud.dev/blob"

	_ "gocloud.dev/blob/azureblob" // azblob://container
	_ "gocloud.dev/blob/gcsblob"   // gs://bucket
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://bucket

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// Options are the options of Open and New. Nil means all zero values.
type Options struct {
	// Prefix is a directory in the bucket, such as "conversations/42", below which
	// everything is kept. It must not point out of the bucket. If empty, it is the whole
	// bucket.
	Prefix string

	// Timeout is how long a call may wait for the store at a time, including retries: a
	// store that does not answer must not hold up an agent whose context has no deadline.
	// Time spent waiting for content, or between reads of a range, does not count.
	// Directories have no timeout. If zero, defaults to a minute. If negative, there is no
	// limit. After a call to which nobody answered, the others fail at once for 30 seconds.
	Timeout time.Duration
}

// Backend keeps content in a bucket. It is safe for concurrent use.
type Backend struct {
	store  place
	prefix string
	close  func() error
	way    breaker
}

var (
	_ reduction.Backend        = (*Backend)(nil)
	_ store.Reader             = (*Backend)(nil)
	_ store.RangeReader        = (*Backend)(nil)
	_ store.Creator            = (*Backend)(nil)
	_ backend.FirstFreeCreator = (*Backend)(nil)
	_ store.Cleaner            = (*Backend)(nil)
)

// place is what keeps the content. Its names are relative, clean and valid UTF-8.
type place interface {
	reduction.Backend
	store.RangeReader
	store.Creator
	backend.FirstFreeCreator
	store.Cleaner
}

var (
	_ place = objects{}
	_ place = (*store.Dir)(nil)
)

// Open opens the bucket that a URL names:
//
//	s3://bucket?region=eu-central-1
//	s3://bucket?endpoint=http://127.0.0.1:9000&use_path_style=true&disable_https=true&region=us-east-1
//	gs://bucket
//	azblob://container
//	file:///var/lib/agent/results
//	mem://
//
// See https://gocloud.dev/howto/blob for what may follow the question mark. Credentials
// come from the same places as for the provider's own tools. A directory is made if it is
// missing, and behaves like store.NewDir; its URL
// takes no options. Every mem:// is a separate store. Close the Backend when it is no
// longer used.
func Open(ctx context.Context, url string, opts *Options) (*Backend, error) {
	prefix, err := opts.prefix()
	if err != nil {
		return nil, err
	}
	b, err := openDir(url)
	if b == nil && err == nil {
		b, err = openBucket(ctx, url, opts)
	}
	if err != nil {
		return nil, fmt.Errorf("blobbackend: opening the bucket: %w", err)
	}
	b.prefix = prefix
	return b, nil
}

func openBucket(ctx context.Context, url string, opts *Options) (*Backend, error) {
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, err
	}
	return &Backend{store: objects{bucket: bucket, limit: opts.timeout()}, close: bucket.Close, way: breaker{now: time.Now}}, nil
}

// New returns a Backend on a bucket that the caller has opened and will close. Package
// fileblob's are refused: they cannot write only if a name is free. Open a directory with
// Open instead.
func New(bucket *blob.Bucket, opts *Options) (*Backend, error) {
	if bucket == nil {
		return nil, errors.New("blobbackend: the bucket is nil")
	}
	if bucket.As(new(os.FileInfo)) {
		return nil, errors.New("blobbackend: the bucket is a directory of package fileblob, which may overwrite existing names: use Open with its URL")
	}
	prefix, err := opts.prefix()
	if err != nil {
		return nil, err
	}
	return &Backend{store: objects{bucket: bucket, limit: opts.timeout()}, prefix: prefix, close: func() error { return nil }, way: breaker{now: time.Now}}, nil
}

// prefix is what the names in the bucket start with.
func (o *Options) prefix() (string, error) {
	if o == nil {
		return "", nil
	}
	prefix, err := dirOf(o.Prefix)
	if err != nil {
		return "", fmt.Errorf("blobbackend: Prefix %q is not a directory inside the bucket: %w", o.Prefix, err)
	}
	if prefix != "" {
		prefix += "/"
	}
	return prefix, nil
}

// timeout is how long to wait; zero means for ever.
func (o *Options) timeout() time.Duration {
	switch {
	case o == nil || o.Timeout == 0:
		return time.Minute
	case o.Timeout < 0:
		return 0
	}
	return o.Timeout
}

// Close closes the bucket, if Open opened it.
func (b *Backend) Close() error {
	if err := b.close(); err != nil {
		return fmt.Errorf("blobbackend: closing the bucket: %w", err)
	}
	return nil
}

// Write stores content and replaces what was there.
func (b *Backend) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	name, err := b.name(ctx, req.FilePath)
	if err == nil {
		err = b.way.run(func() error {
			return b.store.Write(ctx, &filesystem.WriteRequest{FilePath: name, Content: req.Content})
		})
	}
	return failed("writing", req.FilePath, err)
}

// Create stores content piece by piece, unless the name is taken. On S3 it holds up to
// 24 MB at a time of content of more than 5 MiB.
func (b *Backend) Create(ctx context.Context, filePath string, content io.Reader) error {
	name, err := b.name(ctx, filePath)
	if err == nil {
		err = b.way.doWith(content, func(content io.Reader) error { return b.store.Create(ctx, name, content) })
	}
	return failed("creating", filePath, err)
}

// CreateFirstFree stores content under the first of names(0), names(1), … that is free. Sent
// content is kept until the upload is complete: the first MiB in memory, and the rest in a
// temporary file of os.TempDir or, if there is no room for one, as a temporary object in
// the bucket.
func (b *Backend) CreateFirstFree(
	ctx context.Context, names func(attempt int) string, content io.Reader,
) (filePath string, err error) {
	var bad error
	storeName := func(attempt int) string {
		next := names(attempt)
		if next == "" {
			return ""
		}
		filePath = next
		var name string
		if name, bad = b.name(ctx, next); bad != nil {
			return ""
		}
		return name
	}
	err = b.way.doWith(content, func(content io.Reader) error {
		_, err := b.store.CreateFirstFree(ctx, storeName, content)
		return err
	})
	if bad != nil {
		err = bad
	}
	if err != nil {
		return "", failed("creating", filePath, err)
	}
	return filePath, nil
}

// Read returns lines of content.
func (b *Backend) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	content, _, err := b.ReadRange(ctx, req.FilePath, 0, -1)
	if err != nil {
		return nil, err
	}
	text, err := linesOf(content, req)
	if err := errors.Join(err, content.Close()); err != nil {
		return nil, failed("reading", req.FilePath, err)
	}
	return &filesystem.FileContent{Content: text}, nil
}

// ReadRange returns a part of content, and fetches no more than that.
func (b *Backend) ReadRange(
	ctx context.Context, filePath string, offset, length int64,
) (content io.ReadCloser, size int64, err error) {
	name, err := b.name(ctx, filePath)
	if err == nil && offset < 0 {
		err = fmt.Errorf("negative offset %d: %w", offset, fs.ErrInvalid)
	}
	if err != nil {
		return nil, 0, failed("reading", filePath, err)
	}
	err = b.way.run(func() error {
		content, size, err = b.store.ReadRange(ctx, name, offset, length)
		return err
	})
	return content, size, failed("reading", filePath, err)
}

// MarkUsed notes, for each directory of the files, that it is in use: one small object,
// whose time counts for all files of the directory. So give each conversation its own
// prefix or scope.
func (b *Backend) MarkUsed(ctx context.Context, filePaths ...string) error {
	var names []string
	var failure error
	for _, filePath := range filePaths {
		name, err := b.name(ctx, filePath)
		if err == nil {
			names = append(names, name)
		} else if failure == nil {
			failure = failed("marking", filePath, err)
		}
	}
	err := b.way.run(func() error { return b.store.MarkUsed(ctx, names...) })
	return cmp.Or(failed("marking", "", err), failure)
}

// DeleteUnused deletes files below a directory that were last written or marked before
// since; a failure does not stop it. If nothing at all is stored below a directory that is
// named, the error is fs.ErrNotExist. Reading marks nothing.
//
// Object stores cannot check a time and delete an object in one step. DeleteUnused reads the
// mark of a directory once a second, and the times of up to 1,000 objects with each request.
// An object that is marked less than a second before its turn, or written again after it was
// listed, may still be deleted. A directory, opened as file://, has no such gap.
//
// On S3 it also aborts uploads below the directory that a crash left unfinished, once they
// are older than since and a day.
func (b *Backend) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	name, err := dirOf(dir)
	if err != nil {
		return 0, 0, failed("deleting below", dir, err)
	}
	err = b.way.run(func() error {
		files, bytes, err = b.store.DeleteUnused(ctx, b.prefix+name, since)
		if name == "" && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return files, bytes, failed("deleting below", dir, err)
}

// Stored returns how many files there are below a directory, and their size in bytes.
func (b *Backend) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	name, err := dirOf(dir)
	if err != nil {
		return 0, 0, failed("looking through", dir, err)
	}
	err = b.way.run(func() error {
		files, bytes, err = b.store.Stored(ctx, b.prefix+name)
		return err
	})
	return files, bytes, failed("looking through", dir, err)
}

// name is a file path as a name in the store, for a call whose context has not ended: some
// drivers do not look.
func (b *Backend) name(ctx context.Context, filePath string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	name, err := nameOf(filePath)
	return b.prefix + name, err
}

// failed says what could not be done, with the errors that callers ask for.
func failed(doing, filePath string, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case missing(err):
		err = errors.Join(fs.ErrNotExist, err)
	case isNameTaken(err):
		err = errors.Join(fs.ErrExist, err)
	}
	return fmt.Errorf("blobbackend: %s %q: %w", doing, filePath, err)
}
