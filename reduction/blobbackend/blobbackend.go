// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package blobbackend is a reduction.Backend on object stores, for agents that run on more
// than one machine: S3 and everything that speaks its protocol, Google Cloud Storage,
// Azure, a directory, and memory, all by URL.
//
//	store, err := blobbackend.Open(ctx, "s3://my-bucket?region=eu-central-1", &blobbackend.Options{
//		Prefix: "conversations/" + conversationID,
//	})
//	reduce, err := reduction.New(ctx, &reduction.Config{Backend: store, ProvideReadTool: true})
//
// It has every power that a Backend can have: it takes streams without holding them in
// memory, gives back ranges of bytes, refuses names that are taken, and deletes what is
// older than a time.
//
// # One prefix per conversation
//
// Call ids are unique within a conversation at best; some models count from zero in each.
// A prefix of its own per conversation keeps one from reading another's results, and lets
// it be deleted as a whole. Processes that serve the same conversation share its prefix.
//
// # What the store must do
//
// Two processes never overwrite each other's results where the store can write only if a
// name is free: Amazon S3 and most that speak its protocol, Google Cloud Storage, Azure,
// directories on one machine and memory can. A write becomes visible as a whole.
package blobbackend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	_ "gocloud.dev/blob/azureblob" // azblob://container
	_ "gocloud.dev/blob/fileblob"  // file:///directory
	_ "gocloud.dev/blob/gcsblob"   // gs://bucket
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://bucket

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// Options are the options of Open and New. Nil means all zero values.
type Options struct {
	// Prefix is a directory inside the bucket below which everything is kept, for instance
	// "conversations/42". It must not point out of the bucket. Empty: the whole bucket.
	Prefix string
}

// Backend keeps contents in a bucket. It is safe for concurrent use.
type Backend struct {
	bucket *blob.Bucket
	prefix string
	close  bool
}

var (
	_ reduction.Backend     = (*Backend)(nil)
	_ reduction.Reader      = (*Backend)(nil)
	_ reduction.RangeReader = (*Backend)(nil)
	_ reduction.Creator     = (*Backend)(nil)
	_ reduction.Cleaner     = (*Backend)(nil)
)

// Open opens the bucket that a URL names; see https://gocloud.dev/howto/blob for what each
// provider's may hold. Credentials come from where the provider's own tools take them. Close
// the Backend when it is no longer used.
func Open(ctx context.Context, url string, opts *Options) (*Backend, error) {
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("blobbackend: opening the bucket: %w", err)
	}
	b, err := New(bucket, opts)
	if err != nil {
		return nil, errors.Join(err, bucket.Close())
	}
	b.close = true
	return b, nil
}

// New makes a Backend of a bucket that the caller has opened and will close.
func New(bucket *blob.Bucket, opts *Options) (*Backend, error) {
	if bucket == nil {
		return nil, errors.New("blobbackend: the bucket is nil")
	}
	if opts == nil {
		opts = &Options{}
	}
	prefix, err := backend.DirName(opts.Prefix)
	if err != nil || !utf8.ValidString(opts.Prefix) {
		return nil, fmt.Errorf("blobbackend: Prefix %q is not a directory inside the bucket: %w", opts.Prefix, errors.Join(err, fs.ErrInvalid))
	}
	if prefix != "" {
		prefix += "/"
	}
	return &Backend{bucket: bucket, prefix: prefix}, nil
}

// Close closes the bucket, if Open opened it.
func (b *Backend) Close() error {
	if !b.close {
		return nil
	}
	return b.bucket.Close()
}

// Write stores a content and replaces what was there.
func (b *Backend) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return b.save(ctx, "writing", req.FilePath, strings.NewReader(req.Content), false)
}

// Create stores what content yields, piece by piece, unless the name is taken.
func (b *Backend) Create(ctx context.Context, filePath string, content io.Reader) error {
	key, err := b.key(ctx, filePath)
	if err != nil {
		return failed("creating", filePath, err)
	}
	taken, err := b.bucket.Exists(ctx, key)
	if err == nil && taken {
		err = fs.ErrExist
	}
	if err != nil {
		return failed("creating", filePath, err)
	}
	return b.save(ctx, "creating", filePath, content, true)
}

// save writes whole or not at all: cancelling a writer before it is closed leaves nothing.
func (b *Backend) save(ctx context.Context, doing, filePath string, content io.Reader, exclusive bool) error {
	key, err := b.key(ctx, filePath)
	if err != nil {
		return failed(doing, filePath, err)
	}
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.bucket.NewWriter(writing, key, &blob.WriterOptions{
		IfNotExist: exclusive, ContentType: "text/plain; charset=utf-8", DisableContentTypeDetection: true,
	})
	if err != nil {
		return failed(doing, filePath, err)
	}
	if _, err := io.Copy(w, watched{ctx, content}); err != nil {
		cancel()
		return failed(doing, filePath, errors.Join(err, dropped(w.Close())))
	}
	return failed(doing, filePath, w.Close())
}

// dropped forgets the error of closing a writer that was given up: it says only that.
func dropped(error) error { return nil }

// watched fails once its context has ended.
type watched struct {
	ctx context.Context
	r   io.Reader
}

func (w watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// Read returns lines of a content.
func (b *Backend) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	content, _, err := b.ReadRange(ctx, req.FilePath, 0, -1)
	if err != nil {
		return nil, err
	}
	text, err := backend.Lines(content, req)
	if err := errors.Join(err, content.Close()); err != nil {
		return nil, failed("reading", req.FilePath, err)
	}
	return &filesystem.FileContent{Content: text}, nil
}

// ReadRange returns a part of a content, and fetches no more than that.
func (b *Backend) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	key, err := b.key(ctx, filePath)
	if err == nil && offset < 0 {
		err = fmt.Errorf("negative offset %d: %w", offset, fs.ErrInvalid)
	}
	if err != nil {
		return nil, 0, failed("reading", filePath, err)
	}
	attributes, err := b.bucket.Attributes(ctx, key)
	if err != nil {
		return nil, 0, failed("reading", filePath, err)
	}
	size := attributes.Size
	if offset >= size || length == 0 { // providers disagree on ranges that hold nothing
		return io.NopCloser(strings.NewReader("")), size, nil
	}
	r, err := b.bucket.NewRangeReader(ctx, key, offset, length, nil)
	if err != nil {
		return nil, 0, failed("reading", filePath, err)
	}
	return r, size, nil
}

// DeleteOlderThan deletes what was last written before t below a directory.
func (b *Backend) DeleteOlderThan(ctx context.Context, dir string, t time.Time) (int, error) {
	name, err := backend.DirName(dir)
	if err != nil {
		return 0, failed("deleting below", dir, err)
	}
	prefix := b.prefix + name
	if name != "" {
		prefix += "/"
	}
	deleted := 0
	for list := b.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		object, err := list.Next(ctx)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		switch {
		case errors.Is(err, io.EOF):
			return deleted, nil
		case err != nil:
			return deleted, failed("deleting below", dir, err)
		case object.IsDir || !object.ModTime.Before(t):
			continue
		}
		err = b.bucket.Delete(ctx, object.Key)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue // somebody else deleted it
		}
		if err != nil {
			return deleted, failed("deleting", object.Key, err)
		}
		deleted++
	}
}

// key is the name of an object, for a call whose context has not ended: some drivers do not
// look.
func (b *Backend) key(ctx context.Context, filePath string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	name, err := backend.Name(filePath)
	if err == nil && !utf8.ValidString(name) {
		err = fmt.Errorf("the path is not valid UTF-8: %w", fs.ErrInvalid)
	}
	return b.prefix + name, err
}

// failed says what could not be done, with the errors that callers ask for.
func failed(doing, filePath string, err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.OK:
		return nil
	case gcerrors.NotFound:
		err = errors.Join(fs.ErrNotExist, err)
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		err = errors.Join(fs.ErrExist, err)
	}
	return fmt.Errorf("blobbackend: %s %q: %w", doing, filePath, err)
}
