// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/einolean/einolean/internal/backend"

// Dir is a store in a directory of this machine. It must be made with
// [NewDir], and is safe for concurrent use by any number of goroutines and
// processes. It implements every optional interface of a [Backend].
//
// The path "/tmp/trunc/x" is the file tmp/trunc/x in the directory. An element that
// begins with ".einolean-" is escaped on disk, and on Windows so are the characters
// that it reserves. Directories that the store makes have mode 0700 and files 0600;
// a directory that exists keeps its mode.
//
// Nothing outside the directory is ever read or written, whatever the paths and
// whatever is in the directory: all access goes through [os.Root], and symbolic links
// are refused, even those that stay inside. A file is written under a temporary name,
// synced, and then put in place, so it is there whole or not at all, even after a
// crash.
//
// The directory should be the store's own. If it is deleted and recreated while the
// store is open, the next write uses the new one, provided that this user owns it and
// it is not a symbolic link.
//
// The time of a file is that of its last use. DeleteUnused also respects uses that happen
// while it runs, in this process or in another one. Between processes, this needs a system
// that locks directories with flock: Linux, macOS and the BSDs do. Elsewhere, as on Windows,
// and between machines that share a file system, DeleteUnused may delete a file that another
// process uses or writes again at that moment: run it in the process that uses the store.
//
// A Create by two processes at once needs hard links or such locks. With neither, the later
// one may win.
//
// DeleteUnused also removes empty directories below dir, and incomplete files that a crash
// left behind and that have not grown for an hour, whatever since is; these do not count.
// After Close every method returns an error; what ReadRange returned before can still be
// read.
type Dir struct{ dir }

type dir = *backend.Dir

// NewDir opens a store in the directory dir of this machine, and makes the
// directory, with its parents, if it is missing. Nothing in it is deleted unless
// DeleteUnused is called. Close the store when it is no longer used.
func NewDir(dir string) (*Dir, error) {
	d, err := backend.NewDir(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{d}, nil
}

// Memory is a store in memory, up to a number of bytes. When new content does
// not fit, the files written longest ago are dropped, and reading them reports that
// they do not exist. Nothing survives the process. It must be made with
// [NewMemory], and is safe for concurrent use. It implements every optional
// interface of a [Backend].
type Memory struct{ memory }

type memory = *backend.Memory

// NewMemory returns an empty store bounded to maxBytes of content, paths and 128
// bytes for each file. If maxBytes is zero or less, it is 256 MiB. Content that alone
// exceeds the bound is refused and displaces nothing. Streamed content does not count
// until it is complete.
func NewMemory(maxBytes int64) *Memory {
	return &Memory{backend.NewMemory(maxBytes)}
}

var _ interface {
	Backend
	Reader
	RangeReader
	Creator
	AnyCreator
	Cleaner
} = (*Dir)(nil)

var _ interface {
	Backend
	Reader
	RangeReader
	Creator
	AnyCreator
	Cleaner
} = (*Memory)(nil)
