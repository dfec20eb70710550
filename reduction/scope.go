// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// A store as one tenant sees it: its own files, and a limit on how much it may store.

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
	// Key returns whom the context belongs to, such as "acme/42" for a tenant and a
	// conversation. It is required, and must return the same key for the same context.
	// Different keys never share a file, whatever they contain, even on file systems that
	// ignore case. If Key returns an error or an empty key, or panics, nothing is stored
	// or read. It must be safe for concurrent use.
	Key func(ctx context.Context) (string, error)

	// MaxBytes is how many bytes of content one key may have in the store. A write above
	// that fails: the result stays in the conversation, and OnEvent gets an event. If the
	// store is a [Cleaner], existing content counts too, and so does content that other
	// processes write at the same time, after a minute at the latest. A negative value
	// allows nothing. If zero, there is no limit.
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
	base.reader, _ = b.(Reader)
	base.ranges, _ = b.(RangeReader)
	base.creator, _ = b.(Creator)
	base.free, _ = b.(AnyCreator)
	if base.reader != nil {
		return base.withReader()
	}
	return base.withoutReader()
}

// scoped is a store below the key of a scope, with no method but Write.
type scoped struct {
	inner Backend
	key   func(context.Context) (string, error)
	quota *quota // nil: no limit

	// The optional interfaces of inner, nil if it lacks one.
	reader  Reader
	ranges  RangeReader
	creator Creator
	free    AnyCreator
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

// path returns the path in the inner store.
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
		// Hide the error's kind: without the key, nothing is known of the file.
		return "", fmt.Errorf("reduction: finding the scope: %v", err)
	case err != nil:
		return "", fmt.Errorf("reduction: finding the scope: %w", err)
	case key == "":
		return "", errEmptyScope
	}
	return "/" + backend.Directory(key), nil
}

// below returns a path relative to a directory, and refuses one outside it.
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

// Each optional interface is a type of its own: a store can then have any combination of
// them.
type (
	scopedReader  scoped
	scopedRanges  scoped
	scopedCreator scoped
	scopedAny     scoped
)

// Read implements [Reader].
func (s *scopedReader) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	path, err := (*scoped)(s).path(ctx, req.FilePath)
	if err != nil {
		return nil, err
	}
	below := *req
	below.FilePath = path
	return s.reader.Read(ctx, &below)
}

// ReadRange implements [RangeReader].
func (s *scopedRanges) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	path, err := (*scoped)(s).path(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	return s.ranges.ReadRange(ctx, path, offset, length)
}

// Create implements [Creator].
func (s *scopedCreator) Create(ctx context.Context, filePath string, content io.Reader) error {
	path, err := (*scoped)(s).path(ctx, filePath)
	if err != nil {
		return err
	}
	counted, done, err := (*scoped)(s).counting(ctx, content)
	if err != nil {
		return err
	}
	err = s.creator.Create(ctx, path, counted)
	done(err)
	return err
}

// CreateAny implements [AnyCreator].
func (s *scopedAny) CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	dir, err := (*scoped)(s).dir(ctx)
	if err != nil {
		return "", err
	}
	counted, done, err := (*scoped)(s).counting(ctx, content)
	if err != nil {
		return "", err
	}
	shown := make(map[string]string) // the names without the key
	var bad error
	path, err := s.free.CreateAny(ctx, func(attempt int) (path string) {
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

// withoutReader returns a store that has exactly the optional interfaces of the inner one, as
// callers find them by type assertions. The inner one is no [Reader].
func (s *scoped) withoutReader() Backend {
	switch [3]bool{s.ranges != nil, s.creator != nil, s.free != nil} {
	case [3]bool{false, false, true}:
		return &struct {
			*scoped
			*scopedAny
		}{s, (*scopedAny)(s)}
	case [3]bool{false, true, false}:
		return &struct {
			*scoped
			*scopedCreator
		}{s, (*scopedCreator)(s)}
	case [3]bool{false, true, true}:
		return &struct {
			*scoped
			*scopedCreator
			*scopedAny
		}{s, (*scopedCreator)(s), (*scopedAny)(s)}
	case [3]bool{true, false, false}:
		return &struct {
			*scoped
			*scopedRanges
		}{s, (*scopedRanges)(s)}
	case [3]bool{true, false, true}:
		return &struct {
			*scoped
			*scopedRanges
			*scopedAny
		}{s, (*scopedRanges)(s), (*scopedAny)(s)}
	case [3]bool{true, true, false}:
		return &struct {
			*scoped
			*scopedRanges
			*scopedCreator
		}{s, (*scopedRanges)(s), (*scopedCreator)(s)}
	case [3]bool{true, true, true}:
		return &struct {
			*scoped
			*scopedRanges
			*scopedCreator
			*scopedAny
		}{s, (*scopedRanges)(s), (*scopedCreator)(s), (*scopedAny)(s)}
	}
	return s
}

// withReader is withoutReader for an inner store that is a [Reader].
func (s *scoped) withReader() Backend {
	switch [3]bool{s.ranges != nil, s.creator != nil, s.free != nil} {
	case [3]bool{false, false, true}:
		return &struct {
			*scoped
			*scopedReader
			*scopedAny
		}{s, (*scopedReader)(s), (*scopedAny)(s)}
	case [3]bool{false, true, false}:
		return &struct {
			*scoped
			*scopedReader
			*scopedCreator
		}{s, (*scopedReader)(s), (*scopedCreator)(s)}
	case [3]bool{false, true, true}:
		return &struct {
			*scoped
			*scopedReader
			*scopedCreator
			*scopedAny
		}{s, (*scopedReader)(s), (*scopedCreator)(s), (*scopedAny)(s)}
	case [3]bool{true, false, false}:
		return &struct {
			*scoped
			*scopedReader
			*scopedRanges
		}{s, (*scopedReader)(s), (*scopedRanges)(s)}
	case [3]bool{true, false, true}:
		return &struct {
			*scoped
			*scopedReader
			*scopedRanges
			*scopedAny
		}{s, (*scopedReader)(s), (*scopedRanges)(s), (*scopedAny)(s)}
	case [3]bool{true, true, false}:
		return &struct {
			*scoped
			*scopedReader
			*scopedRanges
			*scopedCreator
		}{s, (*scopedReader)(s), (*scopedRanges)(s), (*scopedCreator)(s)}
	case [3]bool{true, true, true}:
		return &struct {
			*scoped
			*scopedReader
			*scopedRanges
			*scopedCreator
			*scopedAny
		}{s, (*scopedReader)(s), (*scopedRanges)(s), (*scopedCreator)(s), (*scopedAny)(s)}
	}
	return &struct {
		*scoped
		*scopedReader
	}{s, (*scopedReader)(s)}
}

var errScopeFull = errors.New("reduction: the scope has reached Scope.MaxBytes")

// recount is how long the count of a scope stays valid: others may write there, and unused
// files are deleted.
const recount = time.Minute

// maxScopes bounds the scopes that are remembered.
const maxScopes = 1 << 15

// quota limits the bytes in each scope of a store. It is safe for concurrent use.
type quota struct {
	most int64

	mu   sync.Mutex
	used map[string]*usage // by directory
}

// usage is the count of one scope.
type usage struct {
	mu      sync.Mutex
	bytes   int64 // includes files being written
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

// countStored counts the files of a scope, unless that was done recently.
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

// take reserves bytes of the scope, and reports whether there is room.
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

// within calls write if the scope has room for the bytes.
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

// counting returns content that fails when the scope is full. done reports how it ended.
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

// countedContent is content that reserves room for each piece as it is read.
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
