// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// How much one scope may store.

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

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

// count counts what a scope has, if that was not done just now.
func (s *scoped) count(ctx context.Context, dir string, u *usage) {
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
	s.count(ctx, dir, u)
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

// counting returns a content that fails where the scope is full. done says how it ended.
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

// countedContent is a content of which each piece takes room when it is read.
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
