// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

// A store as one tenant sees it: its own files, and a limit on how much it may store.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/warn"
)

// Scope says to whom the content of a store belongs.
type Scope struct {
	// Key returns whom the context belongs to, such as "acme/42" for a tenant and a
	// conversation. It is required, and must return the same key for the same context.
	// Different keys never share a file, whatever they contain, even on file systems that
	// ignore case. If Key returns an error or an empty key, or panics, nothing is stored
	// or read, and a warning goes to slog.Default, at most once a minute. It must be safe
	// for concurrent use.
	Key func(ctx context.Context) (string, error)

	// MaxBytes is how many bytes of content one key may have in the store. A write above
	// that fails: the result stays in the conversation, and OnEvent gets an event. If the
	// store is a [Cleaner], existing content counts too, also that of the levels below the
	// key, and so does content that other processes write at the same time, after a minute
	// at the latest. In any other store, only what this process writes counts, and Scoped
	// warns in slog.Default. The error of a full scope names the scope, the limit and the
	// sizes. A negative value allows nothing. If zero, there is no limit.
	MaxBytes int64
}

// Scoped returns b as seen from one scope: every path is stored below the scope's
// key and read only from there. Models see paths without the key. Give one scoped
// store to everything that shares results: reduction.Config, toolsearch.Config, reduction.NewReadTool.
//
// The key is the first directory of a path in b, and each "/" in it makes a level: what
// "acme/42" stores is below the directory "acme/42", and so below "acme". A level of
// lower-case letters, digits and "_.:-", at most 128 of them, is its own name there; every
// other one is escaped. From the sixth level on, the rest of a key is one level.
//
// The result can do what b can, as [As] says, and is a [Reader] where b is a [RangeReader].
// As a [Cleaner] it marks, counts and deletes what the key of its context has stored, and
// the levels below that key. If b is nil, the result is nil. Scoped stores may be nested.
func Scoped(b Backend, s Scope) Backend {
	if b == nil {
		return nil
	}
	out := &scoped{inner: b, key: s.Key}
	out.reader, _ = As[Reader](b)
	out.ranges, _ = As[RangeReader](b)
	out.creator, _ = As[Creator](b)
	out.firstFreeCreator, _ = As[backend.FirstFreeCreator](b)
	out.cleaner, _ = As[Cleaner](b)
	out.quota = quota{maxBytes: s.MaxBytes, cleaner: out.cleaner}
	if s.MaxBytes != 0 && out.cleaner == nil {
		warn.Send(context.Background(), slog.LevelWarn, "scope_not_counted", warn.Text(
			"store: Scoped: MaxBytes counts only what this process writes: the store cannot count (store.Cleaner)"))
	}
	return out
}

// supports reports whether the inner store has the optional interface that ability points to. It is true for other
// types.
func (s *scoped) supports(ability any) bool {
	switch ability.(type) {
	case *Reader:
		return s.reader != nil || s.ranges != nil
	case *RangeReader:
		return s.ranges != nil
	case *Creator:
		return s.creator != nil || s.firstFreeCreator != nil
	case *backend.FirstFreeCreator:
		return s.firstFreeCreator != nil
	case *Cleaner:
		return s.cleaner != nil
	}
	return true
}

// errNotImplemented says that the inner store lacks an optional interface. A type assertion on the scoped store does not show
// this.
var errNotImplemented = fmt.Errorf(
	"store: Scoped: the wrapped store does not implement this (store.As tells which interfaces it has): %w", errors.ErrUnsupported)

// scoped is a store below the key of a scope. It has every method; what it may be used for
// is what its inner store can do. It is safe for concurrent use.
type scoped struct {
	inner Backend
	key   func(context.Context) (string, error)
	quota quota
	abilities
}

// abilities are the optional interfaces of a store, nil if it lacks one. Scoped fills them, and supports
// has a case for each.
type abilities struct {
	reader           Reader
	ranges           RangeReader
	creator          Creator
	firstFreeCreator backend.FirstFreeCreator
	cleaner          Cleaner
}

// Write implements [Backend].
func (s *scoped) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	dirs, path, err := s.place(ctx, req.FilePath)
	if err != nil {
		return err
	}
	below := *req
	below.FilePath = path
	return s.writeWithinQuota(ctx, dirs, path, int64(len(req.Content)), func() error { return s.inner.Write(ctx, &below) })
}

// sizeOf returns the size of a file in the inner store. known is false if it cannot be determined. A missing file has
// size 0.
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
	q := &s.quota
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sizes[maphash.String(sizeSeed, path)], false
}

// writeWithinQuota calls write if the scope has room. size is that of the file after the write.
func (s *scoped) writeWithinQuota(ctx context.Context, dirs []string, path string, size int64, write func() error) error {
	if s.quota.maxBytes == 0 {
		return write()
	}
	free, err := s.quota.files.Take(ctx, path)
	if err != nil {
		return err
	}
	defer free()
	b, err := s.quota.newReservation(ctx, dirs)
	if err != nil {
		return err
	}
	grows := int64(0)
	defer func() { b.release(grows) }()
	var before int64
	for measured := false; !measured; {
		b.measure()
		before, _ = s.sizeOf(ctx, path)
		if measured, err = b.reserve(size, before); err != nil {
			return err
		}
	}
	if err = write(); err == nil {
		grows = size - before
		s.quota.recordSize(path, size)
	} else if now, known := s.sizeOf(ctx, path); known {
		grows = now - before // the store may have the old content or the new
	}
	return err
}

// counting returns content that fails when the scope is full. done must be called when it ended.
func (s *scoped) counting(ctx context.Context, dirs []string, content io.Reader) (counted io.Reader, done func(stored bool), err error) {
	if s.quota.maxBytes == 0 {
		return content, func(bool) {}, nil
	}
	b, err := s.quota.newReservation(ctx, dirs)
	if err != nil {
		return nil, nil, err
	}
	return io.TeeReader(content, b), func(stored bool) {
		if stored {
			b.release(b.grows)
			return
		}
		b.measure() // the store keeps all or nothing, and has nothing
		b.release(0)
	}, nil
}

var (
	errNoScope    = errors.New("store: Scope.Key is nil")
	errEmptyScope = errors.New("store: Scope.Key returned an empty key")
)

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
	if (err != nil || key == "") && ctx.Err() == nil {
		warn.Send(ctx, slog.LevelWarn, "scope_key_failed", warn.Text(
			"store: Scope.Key: nothing is stored or read: "+cmp.Or(safe.ErrorText(err), "the key is empty")))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist):
		// Hide the error's kind: without the key, nothing is known of the file.
		return nil, fmt.Errorf("store: finding the scope: %v", err)
	case err != nil:
		return nil, fmt.Errorf("store: finding the scope: %w", err)
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
		return "", fmt.Errorf("store: path %q in a scope: %w", filePath, err)
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

// Innermost implements [backend.Wrapper].
func (s *scoped) Innermost() any { return backend.Innermost(s.inner) }

// InnermostPath implements [backend.Wrapper].
func (s *scoped) InnermostPath(ctx context.Context, filePath string) (string, error) {
	path, err := s.path(ctx, filePath)
	if err != nil {
		return "", err
	}
	return backend.InnermostPath(ctx, s.inner, path)
}

// Read implements [Reader].
func (s *scoped) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	if !s.supports((*Reader)(nil)) {
		return nil, errNotImplemented
	}
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
	if s.ranges == nil {
		return nil, 0, errNotImplemented
	}
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
		_, err := s.CreateFirstFree(ctx, names, content)
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

// CreateFirstFree implements [backend.FirstFreeCreator].
func (s *scoped) CreateFirstFree(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	if s.firstFreeCreator == nil {
		return "", errNotImplemented
	}
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
	path, err := s.firstFreeCreator.CreateFirstFree(ctx, func(attempt int) (path string) {
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
	if s.cleaner == nil {
		return errNotImplemented
	}
	dirs, err := s.dirs(ctx)
	if err != nil {
		return err
	}
	paths := make([]string, 0, len(filePaths))
	var failure error
	for _, p := range filePaths {
		path, bad := below(dirs, p)
		if failure = cmp.Or(failure, bad); bad == nil {
			paths = append(paths, path)
		}
	}
	return cmp.Or(s.cleaner.MarkUsed(ctx, paths...), failure)
}

// DeleteUnused implements [Cleaner].
func (s *scoped) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	if s.cleaner == nil {
		return 0, 0, errNotImplemented
	}
	path, err := s.belowDir(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer s.quota.recount(strings.TrimSuffix(path, "/"))
	return s.cleaner.DeleteUnused(ctx, path, since)
}

// Stored implements [Cleaner].
func (s *scoped) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	if s.cleaner == nil {
		return 0, 0, errNotImplemented
	}
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
		return "", fmt.Errorf("store: directory %q in a scope: %w", dir, err)
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
