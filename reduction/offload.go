// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file stores content. It is the only one that calls a Backend, and it
// trusts none: a Backend may fail, hang, panic or store only a part.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/leanctx/leanctx/internal/backend"
)

var (
	errTaken     = errors.New("the name holds something else")
	errShort     = errors.New("the store kept only a part of the content")
	errNoBackend = errors.New("no backend for offload")
	errPath      = errors.New("the path cannot be shown to a model")
)

// store is a Backend with the powers it has, nil where it has not.
type store struct {
	backend backend.Backend
	creator backend.Creator
	any     backend.AnyCreator
	ranges  backend.RangeReader
	reader  backend.Reader
	ledger  *ledger

	// byWrite says that a whole content is better written than created: a store in
	// memory then keeps it without a copy, and what it has no other process can
	// change.
	byWrite bool
}

func newStore(b Backend) *store {
	s := &store{backend: b}
	s.creator, _ = b.(backend.Creator)
	s.any, _ = b.(backend.AnyCreator)
	s.ranges, _ = b.(backend.RangeReader)
	s.reader, _ = b.(backend.Reader)
	s.byWrite = inMemory(innermost(b))
	s.ledger = allLedgers.of(innermost(b), s.readable())
	return s
}

// claimName is what the ledger calls a path: its name in the innermost store, so that
// scopes that share a store share its claims.
func (s *store) claimName(ctx context.Context, p string) string {
	full, err := innermostPath(ctx, s.backend, p)
	if err != nil {
		full = "\x00" + p // nothing can be stored there
	}
	return nameKey(full)
}

func (s *store) readable() bool { return s.ranges != nil || s.reader != nil }

// maxHashed is the size in bytes up to which a content is always told apart by its
// hash. Hashing a larger one would cost more than the rest of the work, and mostly
// for nothing: it is hashed when its name turns out to be taken. In a store that
// cannot be read the same content may so be there twice.
const maxHashed = 64 << 10

// offloader stores content for one middleware. It is safe for concurrent use.
type offloader struct {
	mu     sync.Mutex
	stores []*store // each once
}

// storeFor returns the store of a Backend, nil for none.
func (o *offloader) storeFor(b Backend) *store {
	if b == nil {
		return nil
	}
	s := newStore(b)
	_, wrapped := b.(wrapper)
	for _, known := range o.stores {
		if known.ledger == s.ledger && (!wrapped || known.backend == b) {
			return known
		}
	}
	o.stores = append(o.stores, s)
	return s
}

// note records paths that a conversation shows: what they hold stays.
func (o *offloader) note(ctx context.Context, paths map[string]bool) {
	for _, s := range o.stores {
		_, wrapped := s.backend.(wrapper)
		for name := range paths {
			if wrapped {
				name = s.claimName(ctx, name)
			}
			s.ledger.note(name)
		}
	}
}

// save stores content where at says, or beside it if that place holds something
// else, and returns the path. existed says that it was there already.
func (o *offloader) save(ctx context.Context, s *store, at spot, content string) (filePath string, existed bool, err error) {
	print := fingerprint{}
	if len(content) <= maxHashed {
		print = fingerprintOf(content)
	}
	sum := func() string { return sumOf(content) }
	for n := range at.tries() {
		p := at.candidate(n, sum)
		if !showable(p) {
			return "", false, fmt.Errorf("reduction: storing %q: %w", p, errPath)
		}
		if n > 0 && !print.set {
			print = fingerprintOf(content)
		}
		existed, err := o.saveAs(ctx, s, p, stored{content: content, print: print, unique: n > 0, fixed: at.fixed})
		if err == nil {
			return p, existed, nil
		}
		if !errors.Is(err, errTaken) {
			return "", false, fmt.Errorf("reduction: storing %q: %w", p, err)
		}
	}
	return "", false, fmt.Errorf("reduction: storing %q: %w", at.path, errTaken)
}

// stored is a content on its way.
type stored struct {
	content string
	print   fingerprint
	unique  bool // the name is made for it
	fixed   bool // the name is the user's
}

// saveAs stores a content under one name, or returns errTaken.
func (o *offloader) saveAs(ctx context.Context, s *store, p string, c stored) (existed bool, err error) {
	name := s.claimName(ctx, p)
	if !c.unique && !c.fixed && !s.readable() && s.creator == nil && s.ledger.mayHaveForgotten(name) {
		return false, errTaken
	}
	own, elsewhere := o.take(ctx, s, p, c.print)
	if elsewhere {
		return false, errTaken
	}
	if !own {
		if s.holds(ctx, p, c.content) {
			return true, nil // known to hold something, and it turned out to be this
		}
		return false, errTaken
	}
	if err = o.others(ctx, s, p, c.content); err == nil {
		existed, err = s.put(ctx, p, c)
	}
	switch {
	case err == nil:
		s.ledger.finish(name, c.print, true)
	case errors.Is(err, errTaken):
		s.ledger.finish(name, c.print, false)
	default:
		// What is there now is uncertain: an abandoned call may still be writing.
		s.ledger.finish(name, fingerprint{}, ctx.Err() != nil)
	}
	return existed, err
}

// take claims a name in s, unless it is known to hold something else there, or
// in another store of the same middleware: a tool that reads from all of them
// must find one content under a name.
func (o *offloader) take(ctx context.Context, s *store, p string, print fingerprint) (own, elsewhere bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, other := range o.stores {
		if known, used := other.ledger.known(other.claimName(ctx, p)); other != s && used && (known != print || !known.set) {
			return false, true
		}
	}
	return s.ledger.take(s.claimName(ctx, p), print), false
}

// others looks for something else under the name in the other stores.
func (o *offloader) others(ctx context.Context, s *store, p, content string) error {
	for _, other := range o.stores {
		if other == s || !other.readable() {
			continue
		}
		if size, err := other.size(ctx, p); err == nil && (size != int64(len(content)) || !other.holds(ctx, p, content)) {
			return errTaken
		}
	}
	return nil
}

// put writes a content that may already be there, and checks what can be checked.
func (s *store) put(ctx context.Context, p string, c stored) (existed bool, err error) {
	content := c.content
	switch {
	case s.creator != nil && !s.byWrite:
		err = s.create(ctx, p, strings.NewReader(content))
		if errors.Is(err, fs.ErrExist) {
			if s.holds(ctx, p, content) {
				return true, nil
			}
			return false, errTaken
		}
	case s.readable() && s.exists(ctx, p, c.unique):
		if s.holds(ctx, p, content) {
			return true, nil
		}
		return false, errTaken
	default:
		err = s.write(ctx, p, content)
	}
	if err != nil {
		return false, err
	}
	return false, s.check(ctx, p, int64(len(content)))
}

func (s *store) create(ctx context.Context, p string, content io.Reader) error {
	_, err := guard(ctx, func() (none struct{}, err error) {
		return none, s.creator.Create(ctx, p, content)
	})
	return err
}

func (s *store) write(ctx context.Context, p, content string) error {
	_, err := guard(ctx, func() (none struct{}, err error) {
		return none, s.backend.Write(ctx, &filesystem.WriteRequest{FilePath: p, Content: content})
	})
	return err
}

// check finds out whether a store that says it kept everything did.
func (s *store) check(ctx context.Context, p string, size int64) error {
	if s.ranges == nil {
		return nil
	}
	got, err := s.size(ctx, p)
	if err != nil {
		return err
	}
	if got != size {
		return errShort
	}
	return nil
}

// guard runs a call to a Backend. A panic is an error, and when the context ends
// the call is not waited for.
func guard[T any](ctx context.Context, call func() (T, error)) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	if ctx.Done() == nil {
		return recovered(call)
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := recovered(call)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

func recovered[T any](call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the store panicked: %v", p)
		}
	}()
	return call()
}
