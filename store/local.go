// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"io"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
)

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
type Dir struct{ files *backend.Dir }

// NewDir opens a store in the directory dir of this machine, and makes the
// directory, with its parents, if it is missing. Nothing in it is deleted unless
// DeleteUnused is called. Close the store when it is no longer used.
func NewDir(dir string) (*Dir, error) {
	files, err := backend.NewDir(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{files}, nil
}

// Write stores req.Content under req.FilePath and replaces what was there, as [Backend] says.
func (d *Dir) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return d.files.Write(ctx, req)
}

// Create stores a stream under a name that is free, as [Creator] says. It holds 64 KiB of content.
func (d *Dir) Create(ctx context.Context, filePath string, content io.Reader) error {
	return d.files.Create(ctx, filePath, content)
}

// CreateFirstFree is Create under the first of names(0), names(1), … that is free, and returns that
// name. It reads content once: if another writer takes the name meanwhile, the next one is tried. All
// names must lie in one directory. An empty name ends them; if none was free, the error is one for
// which errors.Is(err, fs.ErrExist) is true. On failure nothing is left under any name.
//
// The middlewares use it for streams in preference to Create. So a type that embeds a Dir and changes
// what is stored has to declare this method too.
func (d *Dir) CreateFirstFree(
	ctx context.Context, names func(attempt int) string, content io.Reader,
) (filePath string, err error) {
	return d.files.CreateFirstFree(ctx, names, content)
}

// Read returns lines of a file, as [Reader] says. It holds no more than what it returns.
func (d *Dir) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return d.files.Read(ctx, req)
}

// ReadRange returns a part of a file and the size of the whole file, as [RangeReader] says. The caller
// closes content.
func (d *Dir) ReadRange(
	ctx context.Context, filePath string, offset, length int64,
) (content io.ReadCloser, size int64, err error) {
	return d.files.ReadRange(ctx, filePath, offset, length)
}

// MarkUsed notes that files are in use, as [Cleaner] says. It records this at most once an hour.
func (d *Dir) MarkUsed(ctx context.Context, filePaths ...string) error {
	return d.files.MarkUsed(ctx, filePaths...)
}

// DeleteUnused deletes the files below dir that were last used before since, as [Cleaner] says. Files
// that are used while it runs stay, within the limits that [Dir] names.
func (d *Dir) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	return d.files.DeleteUnused(ctx, dir, since)
}

// Stored returns the number of files below dir and their size in bytes. It reads the whole directory.
func (d *Dir) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	return d.files.Stored(ctx, dir)
}

// Close releases the directory. Afterwards every method returns an error; what ReadRange returned
// before can still be read.
func (d *Dir) Close() error { return d.files.Close() }

// Memory is a store in memory, up to a number of bytes. When new content does
// not fit, the files written longest ago are dropped, and reading them reports that
// they do not exist. Nothing survives the process. It must be made with
// [NewMemory], and is safe for concurrent use. It implements every optional
// interface of a [Backend].
type Memory struct{ files *backend.Memory }

// NewMemory returns an empty store bounded to maxBytes of content, paths and 128
// bytes for each file. If maxBytes is zero or less, it is 256 MiB. Content that alone
// exceeds the bound is refused and displaces nothing. Streamed content does not count
// until it is complete.
func NewMemory(maxBytes int64) *Memory {
	return &Memory{backend.NewMemory(maxBytes)}
}

// Write stores req.Content under req.FilePath and replaces what was there, as [Backend] says. Content
// is not copied.
func (m *Memory) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return m.files.Write(ctx, req)
}

// Create stores a stream under a name that is free, as [Creator] says.
func (m *Memory) Create(ctx context.Context, filePath string, content io.Reader) error {
	return m.files.Create(ctx, filePath, content)
}

// CreateFirstFree is Create under the first name that is free: see [Dir.CreateFirstFree].
func (m *Memory) CreateFirstFree(
	ctx context.Context, names func(attempt int) string, content io.Reader,
) (filePath string, err error) {
	return m.files.CreateFirstFree(ctx, names, content)
}

// Read returns lines of a file, as [Reader] says.
func (m *Memory) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return m.files.Read(ctx, req)
}

// ReadRange returns a part of a file and the size of the whole file, as [RangeReader] says.
func (m *Memory) ReadRange(
	ctx context.Context, filePath string, offset, length int64,
) (content io.ReadCloser, size int64, err error) {
	return m.files.ReadRange(ctx, filePath, offset, length)
}

// MarkUsed notes that files are in use, as [Cleaner] says.
func (m *Memory) MarkUsed(ctx context.Context, filePaths ...string) error {
	return m.files.MarkUsed(ctx, filePaths...)
}

// DeleteUnused deletes the files below dir that were last used before since, as [Cleaner] says.
func (m *Memory) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	return m.files.DeleteUnused(ctx, dir, since)
}

// Stored returns the number of files below dir and their size in bytes.
func (m *Memory) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	return m.files.Stored(ctx, dir)
}

// allAbilities are the interfaces that both stores implement.
type allAbilities interface {
	Backend
	Reader
	RangeReader
	Creator
	Cleaner
	backend.FirstFreeCreator
}

var (
	_ allAbilities = (*Dir)(nil)
	_ allAbilities = (*Memory)(nil)
)
