// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// A store as one tenant sees it: which files are its own, and how much it may store.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// Scope says to whom the content of a store belongs.
type Scope struct {
	// Key returns the owner of what the context is about, such as "acme/42" for a
	// tenant and a conversation. It is required, and must return the same key for
	// the same context. Different keys never share a file, whatever they contain and also
	// where a file system ignores case. If Key returns an error or an empty key, or
	// panics, nothing is stored or read. It must be safe for concurrent use.
	Key func(ctx context.Context) (string, error)

	// MaxBytes is how many bytes of content one key may have in the store. A write above
	// that fails, so that the result stays in the conversation and OnEvent is told. What
	// is there already counts if the store is a [Cleaner], and what other processes write
	// at the same time, after a minute at the latest. A negative one allows nothing. If
	// zero, there is no limit.
	MaxBytes int64
}

// Scoped returns b as seen from one scope: every path is stored below the scope's
// key and read only from there. Models see paths without the key. Give one scoped
// store to everything that shares results: [Config], toolsearch.Config, [NewReadTool].
//
// The key is the first directory of a path in b. A key of lower-case letters,
// digits and "_.:-", at most 128 of them, is its own name there; every other one is
// escaped.
//
// The result implements the interfaces that b implements, except [Cleaner]: delete
// through b. If b is nil, the result is nil. Scoped stores may be nested.
func Scoped(b Backend, s Scope) Backend {
	if b == nil {
		return nil
	}
	base := &scoped{inner: b, key: s.Key}
	if s.MaxBytes != 0 {
		base.quota = &quota{most: s.MaxBytes}
	}
	reader, reads := b.(Reader)
	ranges, hasRanges := b.(RangeReader)
	creator, creates := b.(Creator)
	free, createsAny := b.(AnyCreator)
	return withPowers(base, powers{
		reads: reads, hasRanges: hasRanges, creates: creates, createsAny: createsAny,
		reader:  scopedReader{base, reader},
		ranges:  scopedRanges{base, ranges},
		creator: scopedCreator{base, creator},
		free:    scopedAny{base, free},
	})
}

// scoped is a store below the key of a scope, with no method but Write.
type scoped struct {
	inner Backend
	key   func(context.Context) (string, error)
	quota *quota // nil: no limit
}

// Write implements [Backend].
func (s *scoped) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	path, err := s.path(ctx, req.FilePath)
	if err != nil {
		return err
	}
	below := *req
	below.FilePath = path
	return s.within(ctx, int64(len(req.Content)), func() error { return s.inner.Write(ctx, &below) })
}

var (
	errNoScope    = errors.New("reduction: Scope.Key is nil")
	errEmptyScope = errors.New("reduction: Scope.Key returned an empty key")
)

// path returns where a path is in the inner store.
func (s *scoped) path(ctx context.Context, filePath string) (string, error) {
	dir, err := s.dir(ctx)
	if err != nil {
		return "", err
	}
	return below(dir, filePath)
}

// dir returns the directory of the scope in the inner store.
func (s *scoped) dir(ctx context.Context) (string, error) {
	if s.key == nil {
		return "", errNoScope
	}
	key, err := safe.Value("Scope.Key", func() (string, error) { return s.key(ctx) })
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist):
		// Whether a file exists is not known, whatever the key was read from.
		return "", fmt.Errorf("reduction: finding the scope: %v", err)
	case err != nil:
		return "", fmt.Errorf("reduction: finding the scope: %w", err)
	case key == "":
		return "", errEmptyScope
	}
	return "/" + backend.Directory(key), nil
}

// below returns where a path is below a directory, and refuses one that leaves it.
func below(dir, filePath string) (string, error) {
	name, err := backend.Name(filePath)
	if err != nil {
		return "", fmt.Errorf("reduction: path %q in a scope: %w", filePath, err)
	}
	return dir + "/" + name, nil
}

var _ vault.Wrapper = (*scoped)(nil)

// Innermost implements [vault.Wrapper].
func (s *scoped) Innermost() backend.Backend { return vault.Innermost(s.inner) }

// InnermostPath returns where a path is in the innermost store.
func (s *scoped) InnermostPath(ctx context.Context, filePath string) (string, error) {
	path, err := s.path(ctx, filePath)
	if err != nil {
		return "", err
	}
	return vault.InnermostPath(ctx, s.inner, path)
}

type scopedReader struct {
	base  *scoped
	inner Reader
}

// Read implements [Reader].
func (s scopedReader) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	path, err := s.base.path(ctx, req.FilePath)
	if err != nil {
		return nil, err
	}
	below := *req
	below.FilePath = path
	return s.inner.Read(ctx, &below)
}

type scopedRanges struct {
	base  *scoped
	inner RangeReader
}

// ReadRange implements [RangeReader].
func (s scopedRanges) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	path, err := s.base.path(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	return s.inner.ReadRange(ctx, path, offset, length)
}

type scopedCreator struct {
	base  *scoped
	inner Creator
}

// Create implements [Creator].
func (s scopedCreator) Create(ctx context.Context, filePath string, content io.Reader) error {
	path, err := s.base.path(ctx, filePath)
	if err != nil {
		return err
	}
	counted, done, err := s.base.counting(ctx, content)
	if err != nil {
		return err
	}
	err = s.inner.Create(ctx, path, counted)
	done(err)
	return err
}

type scopedAny struct {
	base  *scoped
	inner AnyCreator
}

// CreateAny implements [AnyCreator].
func (s scopedAny) CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	dir, err := s.base.dir(ctx)
	if err != nil {
		return "", err
	}
	counted, done, err := s.base.counting(ctx, content)
	if err != nil {
		return "", err
	}
	shown := make(map[string]string) // the names without the key
	var bad error
	path, err := s.inner.CreateAny(ctx, func(attempt int) (path string) {
		name := names(attempt)
		if name == "" {
			return ""
		}
		if path, bad = below(dir, name); bad == nil {
			shown[path] = name
		}
		return path
	}, counted)
	done(err)
	switch {
	case bad != nil:
		return "", bad
	case err != nil:
		return "", err
	}
	return shown[path], nil
}

// powers are the optional interfaces of a scoped store and which of them it has.
type powers struct {
	reads, hasRanges, creates, createsAny bool

	reader  scopedReader
	ranges  scopedRanges
	creator scopedCreator
	free    scopedAny
}

// withPowers returns a store that has exactly these interfaces, as callers find them by
// type assertions.
func withPowers(b *scoped, p powers) Backend {
	if p.reads {
		return withReader(b, p)
	}
	switch [3]bool{p.hasRanges, p.creates, p.createsAny} {
	case [3]bool{false, false, true}:
		return &struct {
			*scoped
			scopedAny
		}{b, p.free}
	case [3]bool{false, true, false}:
		return &struct {
			*scoped
			scopedCreator
		}{b, p.creator}
	case [3]bool{false, true, true}:
		return &struct {
			*scoped
			scopedCreator
			scopedAny
		}{b, p.creator, p.free}
	case [3]bool{true, false, false}:
		return &struct {
			*scoped
			scopedRanges
		}{b, p.ranges}
	case [3]bool{true, false, true}:
		return &struct {
			*scoped
			scopedRanges
			scopedAny
		}{b, p.ranges, p.free}
	case [3]bool{true, true, false}:
		return &struct {
			*scoped
			scopedRanges
			scopedCreator
		}{b, p.ranges, p.creator}
	case [3]bool{true, true, true}:
		return &struct {
			*scoped
			scopedRanges
			scopedCreator
			scopedAny
		}{b, p.ranges, p.creator, p.free}
	}
	return b
}

// withReader is withPowers for a store that is a [Reader].
func withReader(b *scoped, p powers) Backend {
	switch [3]bool{p.hasRanges, p.creates, p.createsAny} {
	case [3]bool{false, false, true}:
		return &struct {
			*scoped
			scopedReader
			scopedAny
		}{b, p.reader, p.free}
	case [3]bool{false, true, false}:
		return &struct {
			*scoped
			scopedReader
			scopedCreator
		}{b, p.reader, p.creator}
	case [3]bool{false, true, true}:
		return &struct {
			*scoped
			scopedReader
			scopedCreator
			scopedAny
		}{b, p.reader, p.creator, p.free}
	case [3]bool{true, false, false}:
		return &struct {
			*scoped
			scopedReader
			scopedRanges
		}{b, p.reader, p.ranges}
	case [3]bool{true, false, true}:
		return &struct {
			*scoped
			scopedReader
			scopedRanges
			scopedAny
		}{b, p.reader, p.ranges, p.free}
	case [3]bool{true, true, false}:
		return &struct {
			*scoped
			scopedReader
			scopedRanges
			scopedCreator
		}{b, p.reader, p.ranges, p.creator}
	case [3]bool{true, true, true}:
		return &struct {
			*scoped
			scopedReader
			scopedRanges
			scopedCreator
			scopedAny
		}{b, p.reader, p.ranges, p.creator, p.free}
	}
	return &struct {
		*scoped
		scopedReader
	}{b, p.reader}
}

var errScopeFull = errors.New("reduction: the scope has as many bytes as Scope.MaxBytes allows")

// recount is how long what was counted of a scope is believed: others may write there,
// and what nobody uses is deleted.
const recount = time.Minute

// maxScopes bounds how many scopes are remembered.
const maxScopes = 1 << 15

// quota is how many bytes each scope of a store has. It is safe for concurrent use.
type quota struct {
	most int64

	mu   sync.Mutex
	used map[string]*usage // by directory
}

// usage is what one scope has.
type usage struct {
	mu      sync.Mutex
	bytes   int64 // what is being written included
	counted time.Time
}

// of returns the usage of a directory.
func (q *quota) of(dir string) *usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.used[dir]
	if u == nil {
		if q.used == nil || len(q.used) >= maxScopes {
			q.used = make(map[string]*usage)
		}
		u = &usage{}
		q.used[dir] = u
	}
	return u
}

// countStored counts what a scope has, if that was not done just now.
func (s *scoped) countStored(ctx context.Context, dir string, u *usage) {
	cleaner, ok := vault.Innermost(s.inner).(backend.Cleaner)
	if !ok || time.Since(u.counted) < recount {
		return
	}
	full, err := vault.InnermostPath(ctx, s.inner, dir)
	if err != nil {
		return
	}
	if _, bytes, err := cleaner.Stored(ctx, full); err == nil {
		u.bytes, u.counted = bytes, time.Now()
	}
}

// take takes room for some bytes of the scope, and reports whether there is any.
func (s *scoped) take(ctx context.Context, u *usage, dir string, bytes int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	s.countStored(ctx, dir, u)
	if bytes > s.quota.most-u.bytes {
		return false
	}
	u.bytes += bytes
	return true
}

func (u *usage) give(bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes = max(0, u.bytes-bytes)
}

// within calls write if the scope has room for some bytes.
func (s *scoped) within(ctx context.Context, bytes int64, write func() error) error {
	if s.quota == nil {
		return write()
	}
	dir, err := s.dir(ctx)
	if err != nil {
		return err
	}
	u := s.quota.of(dir)
	if !s.take(ctx, u, dir, bytes) {
		return errScopeFull
	}
	if err = write(); err != nil {
		u.give(bytes)
	}
	return err
}

// counting returns content that fails where the scope is full. done says how it ended.
func (s *scoped) counting(ctx context.Context, content io.Reader) (counted io.Reader, done func(error), err error) {
	if s.quota == nil {
		return content, func(error) {}, nil
	}
	dir, err := s.dir(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := &countedContent{ctx: ctx, from: content, scope: s, dir: dir, of: s.quota.of(dir)}
	return c, func(err error) {
		if err != nil {
			c.of.give(c.taken)
		}
	}, nil
}

// countedContent is content of which each piece takes room when it is read.
type countedContent struct {
	ctx   context.Context
	from  io.Reader
	scope *scoped
	dir   string
	of    *usage
	taken int64
}

func (c *countedContent) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 && !c.scope.take(c.ctx, c.of, c.dir, int64(n)) {
		return 0, errScopeFull
	}
	c.taken += int64(n)
	return n, err
}
