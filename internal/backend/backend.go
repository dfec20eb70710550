// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

// This file holds the contract between a store and those who use it.

import (
	"context"
	"io"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

// Backend is a store of named contents. It is the one method that every Eino
// file system has.
//
// Everything below holds for this interface and for the optional ones.
//
// A store must be safe for concurrent use, also on one name. It must not keep
// or change the request it is given. A content is a string of bytes: it need
// not be valid UTF-8, may be empty and may hold NUL bytes, and comes back
// exactly as it went in.
//
// A file path is a name inside the store. "/a/b" and "a/b" should name the same
// file. A path that a store cannot keep (too long, a NUL byte, pointing out of
// the store) is an error, and never lands somewhere else.
//
// When a method returns nil, its effect is complete and visible to every later
// call. When it returns an error, the old content or the new one is there, and
// no mixture; callers must not rely on which. A call whose context has ended
// should return the context's error. Error texts are for operators: callers must
// not show them to a model.
type Backend interface {
	// Write stores req.Content under req.FilePath and replaces what was there.
	// Parent directories come into being as needed.
	Write(ctx context.Context, req *filesystem.WriteRequest) error
}

// Reader is a Backend that gives a content back, as Eino's file systems do.
type Reader interface {
	// Read returns the lines of a file from req.Offset (the first line is 1, and
	// less counts as 1), at most req.Limit of them. A limit of zero or less means
	// the rest of the file, so that an offset of at most 1 with no limit is the
	// whole content, byte for byte. Where a limit ends the window, the newline
	// after the last line is left out. An offset behind the last line gives an
	// empty content.
	//
	// A missing file is an error, and should be one for which
	// errors.Is(err, fs.ErrNotExist) is true; Eino's own store in memory returns
	// an error without a type.
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
}

// RangeReader is a Backend that gives back a part of a content, so that a page
// of a large one costs a page and not the whole.
type RangeReader interface {
	// ReadRange returns the bytes of a file from offset on, at most length of
	// them, and the size of the whole file in bytes. A negative length means to
	// the end. An offset at or behind the end gives an empty content; a negative
	// offset is an error. A missing file is an error for which
	// errors.Is(err, fs.ErrNotExist) is true.
	//
	// The caller closes content, and may do so before its end. What content
	// yields is the file as it was when ReadRange returned, whatever happens to
	// the name meanwhile; reading it may fail once ctx has ended.
	ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error)
}

// Creator is a Backend that takes a content as a stream, and never writes over
// an existing file.
type Creator interface {
	// Create stores what content yields until io.EOF. The file becomes visible
	// whole or not at all: if content, the store or ctx fails, nothing is left
	// under filePath, and the error of content is wrapped in the one returned.
	// Memory used must not grow with the size of the content, except in a store
	// whose memory is where contents live.
	//
	// A name that is taken is an error for which errors.Is(err, fs.ErrExist) is
	// true. Where it is taken at the start, content is not read at all. Of several
	// concurrent calls for one name exactly one succeeds, if any can.
	//
	// Create reads content from the goroutine it is called on, never after it has
	// returned, and does not close it. It cannot end a Read that blocks: who
	// passes a content that may block must make that Read fail when ctx ends.
	Create(ctx context.Context, filePath string, content io.Reader) error
}

// AnyCreator is a Creator that finishes a content under the first of several
// names that is free, so that a content which can be read only once is not lost
// when another writer takes its name meanwhile.
type AnyCreator interface {
	// CreateAny stores what content yields until io.EOF, as Create does, under the
	// first of names(0), names(1), … that is free, and returns that name. It takes
	// content once, whichever name it ends under: a name that another writer takes
	// while content is read makes it go on to the next one.
	//
	// It asks for each name at most once, in order, on the goroutine it was called
	// on, and partly before it reads content. All names lie in one directory. An
	// empty name says that there are no more: the error is then one for which
	// errors.Is(err, fs.ErrExist) is true. When CreateAny fails, nothing is left
	// under any of the names.
	CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (filePath string, err error)
}

// Cleaner is a Backend that can forget.
type Cleaner interface {
	// DeleteOlderThan deletes the files below dir, at any depth, that were last
	// written before t, and says how many. An empty dir or "/" means the whole
	// store; a missing one holds nothing to delete and is no error. Files that are
	// written while it runs stay. When it fails halfway, deleted counts what is
	// gone, and the call may be repeated.
	//
	// A path to a deleted file may still be in a conversation. What reads it then
	// gets fs.ErrNotExist.
	DeleteOlderThan(ctx context.Context, dir string, t time.Time) (deleted int, err error)
}
