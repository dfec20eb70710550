// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The stores that come with the package, the names that the interfaces of a store have here too, a
// store as the Appender of Eino v0.10, and a store as one tenant sees it: its own files, and a limit
// on how much it may store.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/vault"
)

// Backend is where content is kept: see [einolean.Backend], which has the whole contract.
type Backend = einolean.Backend

// Reader is a Backend that reads lines: see [einolean.Reader].
type Reader = einolean.Reader

// RangeReader is a Backend that reads a part of a file: see [einolean.RangeReader].
type RangeReader = einolean.RangeReader

// Creator is a Backend that takes streams: see [einolean.Creator].
type Creator = einolean.Creator

// AnyCreator is a Backend that takes streams under one of several names: see
// [einolean.AnyCreator].
type AnyCreator = einolean.AnyCreator

// Cleaner is a Backend that can delete what is unused: see [einolean.Cleaner].
type Cleaner = einolean.Cleaner

// DirBackend is a store in a directory of this machine. It must be made with
// [NewDirBackend], and is safe for concurrent use by any number of goroutines and
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
// Two promises need more than every system gives: on a file system without hard
// links, a Create by two processes at once may let the later one win, and a file
// that another process writes again while DeleteUnused looks at it may be
// deleted. The time of a file is that of its last use.
//
// DeleteUnused also removes empty directories below dir, and incomplete files that a crash
// left behind and that have not grown for an hour, whatever since is; these do not count.
// After Close every method returns an error; what ReadRange returned before can still be
// read.
type DirBackend struct{ dir }

type dir = *backend.Dir

// NewDirBackend opens a store in the directory dir of this machine, and makes the
// directory, with its parents, if it is missing. Nothing in it is deleted unless
// DeleteUnused is called. Close the store when it is no longer used.
func NewDirBackend(dir string) (*DirBackend, error) {
	d, err := backend.NewDir(dir)
	if err != nil {
		return nil, err
	}
	return &DirBackend{d}, nil
}

// MemoryBackend is a store in memory, up to a number of bytes. When new content does
// not fit, the files written longest ago are dropped, and reading them reports that
// they do not exist. Nothing survives the process. It must be made with
// [NewMemoryBackend], and is safe for concurrent use. It implements every optional
// interface of a [Backend].
type MemoryBackend struct{ memory }

type memory = *backend.Memory

// NewMemoryBackend returns an empty store bounded to maxBytes of content, paths and 128
// bytes for each file. If maxBytes is zero or less, it is 256 MiB. Content that alone
// exceeds the bound is refused and displaces nothing. Streamed content does not count
// until it is complete.
func NewMemoryBackend(maxBytes int64) *MemoryBackend {
	return &MemoryBackend{backend.NewMemory(maxBytes)}
}

// NewAppender returns a store as the Appender of Eino v0.10, to which commands and agents in the
// background write what they output while they run: OutputStore of Eino's middlewares.
//
//	output, err := reduction.NewAppender[filesystem.AppendRequest](store)
//
// Eino v0.9 has no AppendRequest, so the type is named here. The store is a [DirBackend], a
// [MemoryBackend], or a [Scoped] one of these. After a crash a file may end in a part of what was
// added last.
func NewAppender[R ~struct{ FilePath, Content string }](b Backend) (interface {
	Append(context.Context, *R) error
}, error) {
	if _, ok := vault.Innermost(b).(backend.Appender); !ok {
		return nil, fmt.Errorf("reduction: a store of type %T cannot add to files", b)
	}
	return appender[R]{b}, nil
}

type appender[R ~struct{ FilePath, Content string }] struct{ store Backend }

// Append adds to the end of a file, and makes it if it is missing.
func (a appender[R]) Append(ctx context.Context, req *R) error {
	if req == nil {
		return errors.New("reduction: appending nothing")
	}
	r := struct{ FilePath, Content string }(*req)
	return appendTo(ctx, a.store, r.FilePath, r.Content)
}

func appendTo(ctx context.Context, b Backend, filePath, content string) error {
	if w, ok := b.(vault.Wrapper); ok {
		return w.AppendTo(ctx, filePath, content)
	}
	return backend.Append(ctx, b.(backend.Appender), filePath, content)
}

// Scope says to whom the content of a store belongs.
type Scope struct {
	// Key returns whom the context belongs to, such as "acme/42" for a tenant and a
	// conversation. It is required, and must return the same key for the same context.
	// Different keys never share a file, whatever they contain, even on file systems that
	// ignore case. If Key returns an error or an empty key, or panics, nothing is stored
	// or read. It must be safe for concurrent use.
	Key func(ctx context.Context) (string, error)

	// MaxBytes is how many bytes of content one key may have in the store. A write above
	// that fails: the result stays in the conversation, and OnEvent gets an event. If the
	// store is a [Cleaner], existing content counts too, also that of the levels below the
	// key, and so does content that other processes write at the same time, after a minute
	// at the latest. A negative value allows nothing. If zero, there is no limit.
	MaxBytes int64
}

// Scoped returns b as seen from one scope: every path is stored below the scope's
// key and read only from there. Models see paths without the key. Give one scoped
// store to everything that shares results: [Config], toolsearch.Config, [NewReadTool].
//
// The key is the first directory of a path in b, and each "/" in it makes a level: what
// "acme/42" stores is below the directory "acme/42", and so below "acme". A level of
// lower-case letters, digits and "_.:-", at most 128 of them, is its own name there; every
// other one is escaped. From the sixth level on, the rest of a key is one level.
//
// The result implements the interfaces that b implements, and Reader where b is a
// [RangeReader]. As a [Cleaner] it marks, counts and deletes what the key of its context
// has stored, and the levels below that key. If b is nil, the result is nil. Scoped stores
// may be nested.
func Scoped(b Backend, s Scope) Backend {
	if b == nil {
		return nil
	}
	out := &scoped{inner: b, key: s.Key}
	out.reader, _ = b.(Reader)
	out.ranges, _ = b.(RangeReader)
	out.creator, _ = b.(Creator)
	out.any, _ = b.(AnyCreator)
	out.cleaner, _ = b.(Cleaner)
	out.quota = quota{most: s.MaxBytes, cleaner: out.cleaner}
	switch {
	case out.ranges != nil:
		return out.withRanges()
	case out.reader != nil:
		return out.withReader()
	}
	return out.writeOnly()
}

// scoped is a store below the key of a scope. It has every method; what it may be used for
// is what its inner store can do. It is safe for concurrent use.
type scoped struct {
	inner Backend
	key   func(context.Context) (string, error)
	quota quota

	// The optional interfaces of inner, nil if it lacks one.
	reader  Reader
	ranges  RangeReader
	creator Creator
	any     AnyCreator
	cleaner Cleaner
}

// Write implements [Backend].
func (s *scoped) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	dirs, path, err := s.place(ctx, req.FilePath)
	if err != nil {
		return err
	}
	below := *req
	below.FilePath = path
	after := func(int64) int64 { return int64(len(req.Content)) }
	return s.within(ctx, dirs, path, after, func() error { return s.inner.Write(ctx, &below) })
}

// AppendTo adds to the end of a file, if the scope has room.
func (s *scoped) AppendTo(ctx context.Context, filePath, content string) error {
	dirs, path, err := s.place(ctx, filePath)
	if err != nil {
		return err
	}
	after := func(before int64) int64 { return before + int64(len(content)) }
	return s.within(ctx, dirs, path, after, func() error { return appendTo(ctx, s.inner, path, content) })
}

// sizeOf is the size of a file in the inner store, and whether that is known. A file that is missing
// has none.
func (s *scoped) sizeOf(ctx context.Context, path string) (size int64, known bool) {
	switch {
	case s.ranges != nil:
		content, size, err := s.ranges.ReadRange(ctx, path, 0, 0)
		if err != nil {
			return 0, errors.Is(err, fs.ErrNotExist)
		}
		_ = content.Close()
		return size, true
	case s.reader != nil:
		got, err := s.reader.Read(ctx, &filesystem.ReadRequest{FilePath: path})
		if err != nil || got == nil {
			return 0, errors.Is(err, fs.ErrNotExist)
		}
		return int64(len(got.Content)), true
	}
	s.quota.mu.Lock()
	defer s.quota.mu.Unlock()
	return s.quota.sizes[maphash.String(sizeSeed, path)], false
}

var (
	errNoScope    = errors.New("reduction: Scope.Key is nil")
	errEmptyScope = errors.New("reduction: Scope.Key returned an empty key")
)

// path returns the path in the inner store.
func (s *scoped) path(ctx context.Context, filePath string) (string, error) {
	_, path, err := s.place(ctx, filePath)
	return path, err
}

// place returns the directories of the scope, and the path in the inner store.
func (s *scoped) place(ctx context.Context, filePath string) (dirs []string, path string, err error) {
	if dirs, err = s.dirs(ctx); err != nil {
		return nil, "", err
	}
	path, err = below(dirs, filePath)
	return dirs, path, err
}

const (
	// maxLevels bounds the levels of a key: with a longer path, a store would refuse all.
	maxLevels = 6

	// filesDir is the directory of the files of a key that has several levels. No level has
	// this name, and in the path of a file it is written with one more "=". So no file of
	// "acme", which is in acme, can be one of "acme/42", which are in acme/42/=files.
	filesDir = "=files"
)

// dirs returns the directories of the scope's key in the inner store.
func (s *scoped) dirs(ctx context.Context) ([]string, error) {
	if s.key == nil {
		return nil, errNoScope
	}
	key, err := safe.Value("Scope.Key", func() (string, error) { return s.key(ctx) })
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist):
		// Hide the error's kind: without the key, nothing is known of the file.
		return nil, fmt.Errorf("reduction: finding the scope: %v", err)
	case err != nil:
		return nil, fmt.Errorf("reduction: finding the scope: %w", err)
	case key == "":
		return nil, errEmptyScope
	}
	dirs := strings.SplitN(key, "/", maxLevels)
	for i, level := range dirs {
		dirs[i] = backend.Directory(level)
	}
	return dirs, nil
}

// whole is the directory of everything that belongs to a key, and to the levels below it.
func whole(dirs []string) string { return "/" + strings.Join(dirs, "/") }

// below returns where a path of a scope is, and refuses one outside it.
func below(dirs []string, filePath string) (string, error) {
	name, err := backend.Name(filePath)
	if err != nil {
		return "", fmt.Errorf("reduction: path %q in a scope: %w", filePath, err)
	}
	if strings.Contains(name, filesDir) {
		name = escapedFiles(name)
	}
	if len(dirs) > 1 {
		name = filesDir + "/" + name
	}
	return whole(dirs) + "/" + name, nil
}

// escapedFiles is a path in which no element is filesDir.
func escapedFiles(name string) string {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		if strings.TrimRight(e, "=") == filesDir {
			elements[i] += "="
		}
	}
	return strings.Join(elements, "/")
}

// Innermost implements [vault.Wrapper].
func (s *scoped) Innermost() einolean.Backend { return vault.Innermost(s.inner) }

// InnermostPath returns where a path is in the innermost store.
func (s *scoped) InnermostPath(ctx context.Context, filePath string) (string, error) {
	path, err := s.path(ctx, filePath)
	if err != nil {
		return "", err
	}
	return vault.InnermostPath(ctx, s.inner, path)
}

// Read implements [Reader].
func (s *scoped) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	if s.reader == nil {
		content, _, err := s.ReadRange(ctx, req.FilePath, 0, -1)
		if err != nil {
			return nil, err
		}
		text, err := backend.Lines(content, req)
		return &filesystem.FileContent{Content: text}, cmp.Or(err, content.Close())
	}
	path, err := s.path(ctx, req.FilePath)
	if err != nil {
		return nil, err
	}
	below := *req
	below.FilePath = path
	return s.reader.Read(ctx, &below)
}

// ReadRange implements [RangeReader].
func (s *scoped) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	path, err := s.path(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	return s.ranges.ReadRange(ctx, path, offset, length)
}

// Create implements [Creator].
func (s *scoped) Create(ctx context.Context, filePath string, content io.Reader) error {
	if s.creator == nil {
		names := func(attempt int) string { return filePath[:len(filePath)*max(0, 1-attempt)] }
		_, err := s.CreateAny(ctx, names, content)
		return err
	}
	dirs, path, err := s.place(ctx, filePath)
	if err != nil {
		return err
	}
	counted, done, err := s.counting(ctx, dirs, content)
	if err != nil {
		return err
	}
	stored := false
	defer func() { done(stored) }()
	err = s.creator.Create(ctx, path, counted)
	stored = err == nil
	return err
}

// CreateAny implements [AnyCreator].
func (s *scoped) CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	dirs, err := s.dirs(ctx)
	if err != nil {
		return "", err
	}
	counted, done, err := s.counting(ctx, dirs, content)
	if err != nil {
		return "", err
	}
	stored := false
	defer func() { done(stored) }()
	shown := make(map[string]string) // the names without the key
	var bad error
	path, err := s.any.CreateAny(ctx, func(attempt int) (path string) {
		name := names(attempt)
		if name == "" {
			return ""
		}
		if path, bad = below(dirs, name); bad == nil {
			shown[path] = name
		}
		return path
	}, counted)
	stored = err == nil
	switch {
	case bad != nil:
		return "", bad
	case err != nil:
		return "", err
	}
	return shown[path], nil
}

// MarkUsed implements [Cleaner].
func (s *scoped) MarkUsed(ctx context.Context, filePaths ...string) error {
	dirs, err := s.dirs(ctx)
	if err != nil {
		return err
	}
	paths := make([]string, 0, len(filePaths))
	for _, p := range filePaths {
		path, err := below(dirs, p)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return s.cleaner.MarkUsed(ctx, paths...)
}

// DeleteUnused implements [Cleaner].
func (s *scoped) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	path, err := s.belowDir(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	return s.cleaner.DeleteUnused(ctx, path, since)
}

// Stored implements [Cleaner].
func (s *scoped) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	path, err := s.belowDir(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	return s.cleaner.Stored(ctx, path)
}

// belowDir is path for a directory. That of the scope itself has the levels below its key.
func (s *scoped) belowDir(ctx context.Context, dir string) (string, error) {
	name, err := backend.DirName(dir)
	if err != nil {
		return "", fmt.Errorf("reduction: directory %q in a scope: %w", dir, err)
	}
	dirs, err := s.dirs(ctx)
	if err != nil {
		return "", err
	}
	if name == "" {
		return whole(dirs), nil
	}
	return below(dirs, name)
}

// writeOnly returns a store with the optional interfaces of an inner one that cannot be read,
// as callers find them by type assertions.
func (s *scoped) writeOnly() Backend {
	type store interface {
		Backend
		vault.Wrapper
	}
	switch [3]bool{s.creator != nil || s.any != nil, s.any != nil, s.cleaner != nil} {
	case [3]bool{false, false, true}:
		return struct {
			store
			Cleaner
		}{s, s}
	case [3]bool{true, false, false}:
		return struct {
			store
			Creator
		}{s, s}
	case [3]bool{true, false, true}:
		return struct {
			store
			Creator
			Cleaner
		}{s, s, s}
	case [3]bool{true, true, false}:
		return struct {
			store
			Creator
			AnyCreator
		}{s, s, s}
	case [3]bool{true, true, true}:
		return struct {
			store
			Creator
			AnyCreator
			Cleaner
		}{s, s, s, s}
	}
	return struct{ store }{s}
}

// withReader is writeOnly for an inner store that is a [Reader] and no [RangeReader].
func (s *scoped) withReader() Backend {
	type store interface {
		Backend
		vault.Wrapper
		Reader
	}
	switch [3]bool{s.creator != nil || s.any != nil, s.any != nil, s.cleaner != nil} {
	case [3]bool{false, false, true}:
		return struct {
			store
			Cleaner
		}{s, s}
	case [3]bool{true, false, false}:
		return struct {
			store
			Creator
		}{s, s}
	case [3]bool{true, false, true}:
		return struct {
			store
			Creator
			Cleaner
		}{s, s, s}
	case [3]bool{true, true, false}:
		return struct {
			store
			Creator
			AnyCreator
		}{s, s, s}
	case [3]bool{true, true, true}:
		return struct {
			store
			Creator
			AnyCreator
			Cleaner
		}{s, s, s, s}
	}
	return struct{ store }{s}
}

// withRanges is writeOnly for an inner store that is a [RangeReader].
func (s *scoped) withRanges() Backend {
	type store interface {
		Backend
		vault.Wrapper
		Reader
		RangeReader
	}
	switch [3]bool{s.creator != nil || s.any != nil, s.any != nil, s.cleaner != nil} {
	case [3]bool{false, false, true}:
		return struct {
			store
			Cleaner
		}{s, s}
	case [3]bool{true, false, false}:
		return struct {
			store
			Creator
		}{s, s}
	case [3]bool{true, false, true}:
		return struct {
			store
			Creator
			Cleaner
		}{s, s, s}
	case [3]bool{true, true, false}:
		return struct {
			store
			Creator
			AnyCreator
		}{s, s, s}
	case [3]bool{true, true, true}:
		return struct {
			store
			Creator
			AnyCreator
			Cleaner
		}{s, s, s, s}
	}
	return struct{ store }{s}
}
