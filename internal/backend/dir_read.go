// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

// This file holds how content gets out of a directory store: by reading, and by
// being deleted.

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

// staleAfter is how long an incomplete file must not have grown before it counts
// as left behind by a crash. A stream may be slow.
const staleAfter = time.Hour

// clockMargin is how much later than its time says a file may have been written: the
// clock of a file system is behind by milliseconds, and some keep only every other
// second.
const clockMargin = 2 * time.Second

// Read implements [Reader]. It holds no more than the window it returns.
func (d *Dir) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	content, err := d.read(ctx, req)
	if err != nil {
		return nil, failed("reading", req.FilePath, err)
	}
	return &filesystem.FileContent{Content: content}, nil
}

func (d *Dir) read(ctx context.Context, req *filesystem.ReadRequest) (string, error) {
	f, info, err := d.open(ctx, req.FilePath)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if !wantsAll(req) {
		return Lines(f, req)
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	err = pour(ctx, &b, f)
	return b.String(), err
}

// ReadRange implements [RangeReader].
func (d *Dir) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	content, size, err := d.readRange(ctx, filePath, offset, length)
	if err != nil {
		return nil, 0, failed("reading", filePath, err)
	}
	return content, size, nil
}

func (d *Dir) readRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	if offset < 0 {
		return nil, 0, errNegativeOffset(offset)
	}
	f, info, err := d.open(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	from, n := span(info.Size(), offset, length)
	return &section{SectionReader: io.NewSectionReader(f, from, n), Closer: f}, info.Size(), nil
}

// section is a part of a file that closes the file.
type section struct {
	*io.SectionReader
	io.Closer
}

func (d *Dir) open(ctx context.Context, filePath string) (*os.File, fs.FileInfo, error) {
	name, err := diskName(ctx, filePath)
	if err != nil {
		return nil, nil, err
	}
	at, err := d.locate(name, false)
	if err != nil {
		return nil, nil, err
	}
	defer at.close()
	f, info, err := openFile(at)
	if err == nil {
		markUsed(at, info) // what is read is in use
	}
	return f, info, err
}

// markUsed sets the time of a file to now, at most once in UseInterval. A file that
// another user owns keeps its time.
func markUsed(at place, info fs.FileInfo) {
	if now := time.Now(); now.Sub(info.ModTime()) >= UseInterval {
		_ = at.dir.Chtimes(at.base, now, now)
	}
}

// MarkUsed implements [Cleaner].
func (d *Dir) MarkUsed(ctx context.Context, filePaths ...string) error {
	var failure error
	for _, filePath := range filePaths {
		f, _, err := d.open(ctx, filePath)
		switch {
		case err == nil:
			f.Close()
		case failure == nil && !errors.Is(err, fs.ErrNotExist):
			failure = failed("marking", filePath, err)
		}
	}
	return failure
}

// DeleteUnused implements [Cleaner]. It also removes directories that hold nothing,
// below dir, and incomplete files that a crash left behind and that have not grown for
// an hour, whatever since is; these do not count.
func (d *Dir) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	c := cleaning{ctx: ctx, store: d, before: since.Add(-clockMargin), stale: time.Now().Add(-staleAfter)}
	if err := c.start(dir); err != nil {
		return c.files, c.bytes, failed("cleaning", dir, err)
	}
	return c.files, c.bytes, nil
}

// Stored implements [Cleaner].
func (d *Dir) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	c := cleaning{ctx: ctx, store: d, looks: true}
	if err := c.start(dir); err != nil {
		return 0, 0, failed("looking through", dir, err)
	}
	return c.files, c.bytes, nil
}

// cleaning is one run of DeleteUnused, or of Stored.
type cleaning struct {
	ctx           context.Context
	store         *Dir
	looks         bool // nothing is deleted, and everything counts
	before, stale time.Time
	files         int // that were deleted
	bytes         int64
	failed        error // the first failure: one file must not keep the others
}

func (c *cleaning) start(dir string) error {
	name, err := DirName(dir)
	if err != nil {
		return err
	}
	at, err := c.store.locate(onDisk(runtime.GOOS, name)+"/", false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	c.clean(at.dir)
	return errors.Join(c.ctx.Err(), c.failed)
}

// clean deletes what is old in an open directory and in those below it.
func (c *cleaning) clean(dir *os.Root) {
	entries, err := entriesOf(dir)
	c.note(err)
	for _, entry := range entries {
		switch {
		case c.ctx.Err() != nil:
			return
		case entry.IsDir():
			c.cleanBelow(dir, entry.Name())
		case entry.Type().IsRegular():
			c.note(c.delete(dir, entry.Name()))
		}
	}
}

func (c *cleaning) cleanBelow(dir *os.Root, element string) {
	below, err := enter(dir, element, false)
	if err != nil {
		c.note(err)
		return
	}
	c.clean(below)
	below.Close()
	if c.looks {
		return
	}
	c.store.names.Lock()
	defer c.store.names.Unlock()
	// Fails where the directory is not empty, which is as it should be.
	_ = dir.Remove(element)
}

func (c *cleaning) delete(dir *os.Root, base string) error {
	limit, counts := c.before, !strings.HasPrefix(base, tempPrefix)
	if !counts {
		limit = c.stale
	}
	c.store.names.Lock()
	defer c.store.names.Unlock()
	info, err := dir.Lstat(base)
	if err != nil || !c.looks && !info.ModTime().Before(limit) {
		return err
	}
	if !c.looks {
		if err := dir.Remove(base); err != nil {
			return err
		}
	}
	if counts {
		c.files++
		c.bytes += info.Size()
	}
	return nil
}

// note keeps the first failure. What is missing by now was to be deleted.
func (c *cleaning) note(err error) {
	if c.failed == nil && !errors.Is(err, fs.ErrNotExist) {
		c.failed = err
	}
}

func entriesOf(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
