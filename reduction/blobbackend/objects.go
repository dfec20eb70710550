// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/cloudwego/eino/adk/filesystem"
	"gocloud.dev/blob"
)

const (
	// partSize is in how large parts a content is uploaded, in bytes. It is the least that S3
	// allows; its 10,000 parts make 48 GiB.
	partSize = 5 << 20

	// uploading is how many parts are on their way at once. A tool is rarely faster than one.
	uploading = 1

	// copySize is how much is handed to a driver at a time.
	copySize = 64 << 10

	// clockMargin is how much later than its time says an object may have been written: many
	// stores cut times to seconds.
	clockMargin = 2 * time.Second

	// markKey is the metadata that says which call wrote an object.
	markKey = "einolean-call"
)

// objects are the content of a bucket.
type objects struct {
	bucket  *blob.Bucket
	limit   time.Duration // of waiting for it
	tempDir string        // where streams are kept on their way; empty: the system's place
}

// Write puts an object in place of whatever is there.
func (o objects) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return o.save(ctx, req.FilePath, strings.NewReader(req.Content), &blob.WriterOptions{})
}

// Create makes an object, unless there is one of this name.
func (o objects) Create(ctx context.Context, name string, content io.Reader) error {
	exists, err := o.exists(ctx, name)
	if err != nil {
		return err
	}
	if exists {
		return fs.ErrExist
	}
	return o.save(ctx, name, content, onlyIfFree())
}

// CreateFirstFree makes an object under the first free name.
func (o objects) CreateFirstFree(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	n := &naming{names: names}
	for exists := true; exists; {
		if !n.next() {
			return "", fs.ErrExist
		}
		var err error
		if exists, err = o.exists(ctx, n.name); err != nil {
			return "", err
		}
	}
	s := &spool{src: content, tempDir: o.tempDir}
	defer s.close()
	err := o.saveAny(ctx, n, s.reopen)
	if errors.Is(err, errNoRoom) {
		err = o.saveThroughBucket(ctx, n, s)
	}
	if err != nil {
		return "", err
	}
	return n.name, nil
}

// saveAny stores what again returns under the current name, or the next one that is free.
func (o objects) saveAny(ctx context.Context, n *naming, reopen func() (io.ReadCloser, error)) error {
	for {
		content, err := reopen()
		if err != nil {
			return err
		}
		err = o.save(ctx, n.name, content, onlyIfFree())
		_ = content.Close()
		if !isNameTaken(err) {
			return err
		}
		if !n.next() {
			return errors.Join(fs.ErrExist, err)
		}
	}
}

// saveThroughBucket stores content under a name that nobody else uses, and from there
// under one that is free.
func (o objects) saveThroughBucket(ctx context.Context, n *naming, s *spool) error {
	temp := path.Join(path.Dir(n.name), tempPrefix+rand.Text())
	if err := o.save(ctx, temp, s.rest(), &blob.WriterOptions{}); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		_, _ = o.delete(ctx, temp)
	}()
	return o.saveAny(ctx, n, func() (io.ReadCloser, error) {
		content, _, err := o.ReadRange(ctx, temp, 0, -1)
		return content, err
	})
}

func (o objects) exists(ctx context.Context, name string) (bool, error) {
	return withTimeout(ctx, o.limit, func(ctx context.Context) (bool, error) { return o.bucket.Exists(ctx, name) })
}

// stored reports whether an object is there that was written with these very options.
func (o objects) stored(ctx context.Context, name string, opts *blob.WriterOptions) bool {
	if opts.Metadata == nil || ctx.Err() != nil {
		return false
	}
	attributes, err := o.attributes(ctx, name)
	return err == nil && attributes.Metadata[markKey] == opts.Metadata[markKey]
}

func (o objects) attributes(ctx context.Context, name string) (*blob.Attributes, error) {
	return withTimeout(ctx, o.limit, func(ctx context.Context) (*blob.Attributes, error) { return o.bucket.Attributes(ctx, name) })
}

// save writes whole or not at all: cancelling a writer before it is closed leaves nothing.
func (o objects) save(ctx context.Context, name string, content io.Reader, opts *blob.WriterOptions) error {
	writing, watch := watched(ctx, o.limit)
	defer watch.end()
	opts.ContentType, opts.DisableContentTypeDetection = "text/plain; charset=utf-8", true
	opts.BufferSize, opts.MaxConcurrency, opts.BeforeWrite = partSize, uploading, tuned(o.bucket)
	w, err := o.bucket.NewWriter(writing, name, opts)
	if err != nil {
		return watch.explain(err)
	}
	// Its own ReadFrom would take a megabyte.
	if _, err := io.CopyBuffer(upload{w, watch}, &source{ctx: ctx, r: content}, make([]byte, copySize)); err != nil {
		watch.end()
		_ = w.Close() // says only that it was cancelled
		return watch.explain(err)
	}
	watch.begin()
	err = watch.explain(w.Close())
	if err != nil && o.stored(ctx, name, opts) {
		return nil // the answer got lost, and the next attempt found the name taken
	}
	return err
}

// upload is a writer that waits for the store, but not for ever.
type upload struct {
	w     io.Writer
	watch *watch
}

func (u upload) Write(p []byte) (int, error) {
	u.watch.begin()
	defer u.watch.pause()
	return u.w.Write(p)
}

// source is content that fails once its context has ended, and remembers how it failed.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// ReadRange fetches a range in one request. Providers disagree on ranges that hold nothing:
// for those it asks for the size.
func (o objects) ReadRange(ctx context.Context, name string, offset, length int64) (io.ReadCloser, int64, error) {
	if length == 0 {
		return o.nothing(ctx, name)
	}
	if length > math.MaxInt64-offset {
		length = -1
	}
	reading, watch := watched(ctx, o.limit)
	watch.begin()
	r, err := o.bucket.NewRangeReader(reading, name, offset, length, &blob.ReaderOptions{BeforeRead: quiet})
	watch.pause()
	if err == nil {
		return download{r, watch}, r.Size(), nil
	}
	watch.end()
	err = watch.explain(err)
	if missing(err) || ctx.Err() != nil {
		return nil, 0, err
	}
	if none, size, sizeErr := o.nothing(ctx, name); sizeErr == nil && offset >= size {
		return none, size, nil
	}
	return nil, 0, err
}

// download is a reader that waits for the store, but not for ever.
type download struct {
	r     io.ReadCloser
	watch *watch
}

func (d download) Read(p []byte) (int, error) {
	d.watch.begin()
	defer d.watch.pause()
	n, err := d.r.Read(p)
	return n, d.watch.explain(err)
}

func (d download) Close() error {
	defer d.watch.end()
	return d.r.Close()
}

// nothing is a range that holds nothing.
func (o objects) nothing(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	attributes, err := o.attributes(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	return io.NopCloser(strings.NewReader("")), attributes.Size, nil
}

// usedName is the name of an object that says, by its time, when a file of its directory
// was last marked as used: the objects themselves never change.
const usedName = ".einolean-used"

// MarkUsed writes one such object for each directory.
func (o objects) MarkUsed(ctx context.Context, names ...string) error {
	done := make(map[string]bool)
	var failure error
	for _, name := range names {
		mark := path.Join(path.Dir(name), usedName)
		if done[mark] {
			continue
		}
		done[mark] = true
		if err := o.save(ctx, mark, strings.NewReader(""), &blob.WriterOptions{}); err != nil {
			failure = errors.Join(failure, err)
		}
	}
	return failure
}

// eachObject calls f for the objects below a directory, and returns the first error of f: an
// object that cannot go must not keep the others. If they are on S3, where is set to what it
// calls the directory.
func (o objects) eachObject(
	ctx context.Context, dir string, resume *s3.ListMultipartUploadsInput, f func(*blob.ListObject) error,
) error {
	var failure error
	for list := o.bucket.List(listOptions(dir, resume)); ; {
		object, err := withTimeout(ctx, o.limit, list.Next)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return failure
		}
		if err != nil {
			return errors.Join(failure, err)
		}
		if object.IsDir {
			continue
		}
		if err := f(object); failure == nil {
			failure = err
		}
	}
}

// Stored counts objects and their bytes.
func (o objects) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	err = o.eachObject(ctx, dir, new(s3.ListMultipartUploadsInput), func(object *blob.ListObject) error {
		if path.Base(object.Key) != usedName {
			files++
			bytes += object.Size
		}
		return nil
	})
	return files, bytes, err
}

var errNothing = fmt.Errorf("nothing is stored there: %w", fs.ErrNotExist)

// DeleteUnused deletes objects, and on S3 unfinished uploads, which do not count.
func (o objects) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	old := func(t time.Time) bool { return t.Add(clockMargin).Before(since) }
	marks := markReader{lastUsed: o.lastUsed, now: time.Now}
	resume := new(s3.ListMultipartUploadsInput)
	stored := false
	err = o.eachObject(ctx, dir, resume, func(object *blob.ListObject) error {
		stored = stored || path.Base(object.Key) != usedName
		if !old(object.ModTime) {
			return nil
		}
		used, err := marks.read(ctx, path.Dir(object.Key))
		if err != nil {
			return err
		}
		if !used.IsZero() && !old(used) {
			return nil
		}
		deleted, err := o.delete(ctx, object.Key)
		if deleted > 0 && path.Base(object.Key) != usedName {
			files++
			bytes += object.Size
		}
		return err
	})
	if ctx.Err() != nil {
		return files, bytes, ctx.Err()
	}
	err = errors.Join(err, giveUp(ctx, o, resume, since))
	if err == nil && !stored {
		err = errNothing
	}
	return files, bytes, err
}

// markAge is how long DeleteUnused relies on the mark of a directory before it reads it again.
const markAge = time.Second

// markReader reads when directories were last marked as used. It keeps the last answer for
// [markAge]: the next object is mostly in the same directory.
type markReader struct {
	lastUsed func(ctx context.Context, dir string) (time.Time, error)
	now      func() time.Time

	dir    string
	used   time.Time
	readAt time.Time
}

func (m *markReader) read(ctx context.Context, dir string) (time.Time, error) {
	now := m.now()
	if dir == m.dir && !m.readAt.IsZero() && now.Sub(m.readAt) < markAge {
		return m.used, nil
	}
	used, err := m.lastUsed(ctx, dir)
	if err != nil {
		return time.Time{}, err
	}
	m.dir, m.used, m.readAt = dir, used, now
	return used, nil
}

// lastUsed is when a directory was last marked as used: the zero time if it never was.
func (o objects) lastUsed(ctx context.Context, dir string) (time.Time, error) {
	attributes, err := o.attributes(ctx, path.Join(dir, usedName))
	switch {
	case missing(err):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	return attributes.ModTime, nil
}

// delete deletes an object and returns 1, or 0 if somebody else was faster.
func (o objects) delete(ctx context.Context, key string) (int, error) {
	_, err := withTimeout(ctx, o.limit,
		func(ctx context.Context) (none struct{}, err error) { return none, o.bucket.Delete(ctx, key) })
	switch {
	case err == nil:
		return 1, nil
	case missing(err):
		return 0, nil
	}
	return 0, err
}
