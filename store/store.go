// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package store provides storage backends for content offloaded from a conversation: truncated and
// cleared results, the list of all tools, vectors. The middlewares need a [Backend], which every Eino
// file system is, and use further interfaces of this package where a Backend has them. Two backends
// come with the package: [NewDir], a directory, and [NewMemory], which the process loses when it ends.
// Nothing is deleted automatically from a directory: see [Cleaner]. [Scoped] divides a store among
// tenants and conversations, with a limit for each.
//
// For S3, Azure Blob Storage and Google Cloud Storage, see reduction/blobbackend.
package store

import (
	"context"
	"io"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

// Backend is a store of texts under file paths: the one method that every Eino
// file system has. A Backend may implement further interfaces ([Reader],
// [RangeReader], [Creator], [Cleaner]), which [As] finds. What follows
// holds for all of them.
//
// A store must be safe for concurrent use, also on one name. It must not keep
// or change the request it is given. Content is a string of bytes: it need not be
// valid UTF-8, may be empty, may hold NUL bytes, and comes back exactly as it went
// in.
//
// A file path is a name inside the store. "/a/b" and "a/b" should name the same
// file. A path that a store cannot keep (too long, a NUL byte, pointing out of
// the store) is an error, and never lands somewhere else. Models see the paths, so
// they must not be paths of the machine.
//
// When a method returns nil, its effect is complete and visible to every later
// call. When it returns an error, the old content or the new one is there, and
// no mixture; callers must not rely on which. A call whose context has ended
// should return the context's error. Error texts are for operators and never reach
// a model. A Backend that panics, or that returns only when its context ends, is
// treated like one that fails.
type Backend interface {
	// Write stores req.Content under req.FilePath and replaces what was there. It
	// makes parent directories as needed. When it returns nil, all of the content is
	// stored.
	Write(ctx context.Context, req *filesystem.WriteRequest) error
}

// Reader is a Backend that reads content back by lines, as Eino's file systems do.
type Reader interface {
	// Read returns the lines of a file from req.Offset (the first line is 1, and less
	// counts as 1), at most req.Limit of them. A limit of zero or less means the rest
	// of the file, so that an offset of at most 1 with no limit is the whole content,
	// byte for byte. If a limit ends the window, the newline after the last line is
	// left out. An offset after the last line gives empty content.
	//
	// A missing file is an error, and should be one for which
	// errors.Is(err, fs.ErrNotExist) is true; Eino's own store in memory returns
	// an error without a type.
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
}

// RangeReader is a Backend that reads a part of a file, so a page of a large file costs
// only a page.
type RangeReader interface {
	// ReadRange returns the bytes of a file from offset on, at most length of
	// them, and the size of the whole file in bytes. A negative length means to
	// the end. An offset at or after the end gives empty content; a negative offset
	// is an error. A missing file is an error for which
	// errors.Is(err, fs.ErrNotExist) is true.
	//
	// The caller closes content, and may do so before its end. Content yields the file
	// as it was when ReadRange returned, whatever happens to the name meanwhile;
	// reading it may fail once ctx has ended.
	ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error)
}

// Creator is a Backend that takes content as a stream and never overwrites a file.
// It is used in preference to Write.
type Creator interface {
	// Create stores what content yields until io.EOF. The file becomes visible
	// whole or not at all: if content, the store or ctx fails, nothing is left
	// under filePath, and the error of content is wrapped in the one returned.
	// Memory used must not grow with the size of the content, except in a store
	// whose memory is where content lives.
	//
	// If the name is taken, the error is one for which errors.Is(err, fs.ErrExist) is
	// true. If it is taken at the start, content is not read at all. Of several
	// concurrent calls for one name, exactly one succeeds, if any can.
	//
	// Create reads content on the calling goroutine, never after it has returned, and
	// does not close it. It cannot end a Read that blocks: a caller whose content may
	// block must make Read fail when ctx ends.
	Create(ctx context.Context, filePath string, content io.Reader) error
}

// Cleaner is a Backend that knows when its files were last used, and can delete the
// others. A use is a write, a read, or a model call whose history names the file: at the
// start of each run, and each hour of a long one, the middleware marks the files that
// the history names. It never deletes anything: that is up to the owner of the store.
type Cleaner interface {
	// MarkUsed notes that files are in use. Missing files and invalid paths are skipped; the
	// remaining files are still marked. A store may record this only once an hour, and for a
	// whole directory if it has no time for each file.
	MarkUsed(ctx context.Context, filePaths ...string) error

	// DeleteUnused deletes the files below dir, at any depth, that were last used before
	// since, and says how many files and bytes those were. An empty dir or "/" means the
	// whole store. If nothing is stored below another dir, the error is fs.ErrNotExist, since
	// the name may be wrong. A
	// store that knows times only roughly keeps files that may be newer. Files that are
	// written while it runs stay. If it fails halfway, files and bytes count what was
	// deleted, and the call may be repeated.
	//
	// Checking the time of a file and deleting it is one step. So a file that another call
	// writes, reads or marks meanwhile is either deleted before that call or stays: what
	// the call found is still there afterwards. A store that cannot do this in one step
	// documents how far the check and the deletion lie apart.
	//
	// A conversation that was active an hour after since, or later, keeps every file that
	// it names: of two marks within an hour, a store may record only one. Reading a path
	// that an older conversation still holds returns fs.ErrNotExist.
	DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error)

	// Stored returns how many files there are below dir, and their size in bytes.
	Stored(ctx context.Context, dir string) (files int, bytes int64, err error)
}

// maxWrappers bounds the stores around a store. More of them are a store that wraps itself.
const maxWrappers = 1000

// As returns b as a T, such as a [Reader], and whether b supports it:
//
//	cleaner, ok := store.As[store.Cleaner](b)
//
// Use it instead of a type assertion: the store of [Scoped] has every method, and supports what the
// store below it supports. A wrapper of your own may have a method Unwrap() store.Backend: As then
// also finds the interfaces of the wrapped store that the wrapper lacks. A wrapper that changes
// content, such as one that encrypts, must not have this method.
func As[T any](b Backend) (ability T, ok bool) {
	for range maxWrappers {
		if b == nil {
			break
		}
		s, isScoped := b.(*scoped)
		if able, is := b.(T); is && (!isScoped || s.supports(&ability)) {
			return able, true
		}
		w, wraps := b.(interface{ Unwrap() Backend })
		if !wraps {
			break
		}
		b = w.Unwrap()
	}
	return ability, false
}
