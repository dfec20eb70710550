// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds the stores that users meet: what a store must and may be able
// to do, and the two that are ready-made.

import (
	"github.com/leanctx/leanctx/internal/backend"
)

// Backend is a store: Write(ctx, *filesystem.WriteRequest) error. Every file
// system of Eino is one.
//
// Write stores the content under the path and replaces what was there; when it
// returns nil, all of the content is stored. It must be safe for concurrent use.
// A Backend that panics, or that returns only when its context ends, is treated
// like one that fails.
type Backend = backend.Backend

// Reader is a Backend that gives a content back by lines, as Eino's file systems
// do.
type Reader = backend.Reader

// RangeReader is a Backend that gives back a window of bytes.
type RangeReader = backend.RangeReader

// Creator is a Backend that takes a content as a stream and refuses a name that
// is taken. It is used in preference to Write.
type Creator = backend.Creator

// AnyCreator is a Creator that finishes a stream under the first of several names
// that is free, so that another writer who takes a name meanwhile costs nothing.
type AnyCreator = backend.AnyCreator

// Cleaner is a Backend that can delete what is older than a time. The middleware
// never calls it: when a content may go is for its owner to say.
type Cleaner = backend.Cleaner

// DirBackend is a store in a directory. See [NewDirBackend].
type DirBackend = backend.Dir

// MemoryBackend is a store in memory. See [NewMemoryBackend].
type MemoryBackend = backend.Memory

// NewDirBackend opens a store in the directory dir of this machine, and makes
// the directory, with its parents, if it is missing. The store never touches
// anything outside of dir, makes files that only this user can read, and has all
// the powers a Backend can have. The paths that models see are names inside the
// store: "/tmp/trunc/x" is the file tmp/trunc/x in dir.
//
// Nothing is deleted unless DeleteOlderThan is called. Close frees the directory.
func NewDirBackend(dir string) (*DirBackend, error) { return backend.NewDir(dir) }

// NewMemoryBackend returns a store in memory, bounded to maxBytes; zero or less
// means 256 MiB. When a content does not fit, the oldest ones go, and reading
// them back then says so. It has all the powers a Backend can have.
func NewMemoryBackend(maxBytes int64) *MemoryBackend { return backend.NewMemory(maxBytes) }
