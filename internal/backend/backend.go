// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

// This file holds the interfaces of stores. Package reduction exports the same
// ones, under the same names, and says what each method promises.

import (
	"context"
	"io"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

// Backend is a store of named content: the one method that every Eino file system
// has.
type Backend interface {
	Write(ctx context.Context, req *filesystem.WriteRequest) error
}

// Reader is a Backend that reads content back by lines.
type Reader interface {
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
}

// RangeReader is a Backend that reads a part of a file.
type RangeReader interface {
	ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error)
}

// Creator is a Backend that takes content as a stream and never overwrites a file.
type Creator interface {
	Create(ctx context.Context, filePath string, content io.Reader) error
}

// AnyCreator is a Creator that finishes content under the first free name.
type AnyCreator interface {
	CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (filePath string, err error)
}

// Cleaner is a Backend that knows when files were used, and can delete the others.
type Cleaner interface {
	MarkUsed(ctx context.Context, filePaths ...string) error
	DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error)
	Stored(ctx context.Context, dir string) (files int, bytes int64, err error)
}

// UseInterval is how long a file counts as used without being marked again.
const UseInterval = time.Hour
