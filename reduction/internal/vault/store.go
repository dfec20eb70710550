// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Writes finished content to a store.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/safe"
)

var (
	errTaken = errors.New("the name holds something else")
	errShort = errors.New("the store kept only a part of the content")
	errAsked = errors.New("the store says that it kept the content, and cannot be read to check")
	errPath  = errors.New("the path cannot be shown to a model")
)

// Store is a Backend with its optional interfaces, nil where it lacks one.
type Store struct {
	backend backend.Backend
	creator backend.Creator
	any     backend.AnyCreator
	ranges  backend.RangeReader
	reader  backend.Reader
	claims  *claims

	// byWrite reports that whole content is better written than created: a store in memory
	// then keeps it without a copy, and no other process can change it.
	byWrite bool
}

// Backend returns the Backend of the store.
func (s *Store) Backend() backend.Backend { return s.backend }

// Same reports whether two stores keep their content in one place.
func (s *Store) Same(other *Store) bool { return s.claims == other.claims }

func newStore(b backend.Backend) *Store {
	s := &Store{backend: b}
	s.creator, _ = b.(backend.Creator)
	s.any, _ = b.(backend.AnyCreator)
	s.ranges, _ = b.(backend.RangeReader)
	s.reader, _ = b.(backend.Reader)
	s.claims = allClaims.of(Innermost(b), s.Readable())
	return s
}

// claimName returns the name of a path in the claims: its name in the innermost store,
// since scopes of one store share its claims.
func (s *Store) claimName(ctx context.Context, p string) string {
	full, err := InnermostPath(ctx, s.backend, p)
	if err != nil {
		full = "\x00" + p // nothing can be stored there
	}
	return Clean(full)
}

// MarkUsed notes that files are in use, where the store is a [backend.Cleaner], and at most
// once an hour for each. That it fails ends nothing.
func (s *Store) MarkUsed(ctx context.Context, paths []string) {
	cleaner, ok := Innermost(s.backend).(backend.Cleaner)
	if !ok {
		return
	}
	var used []string
	for _, p := range paths {
		full, err := InnermostPath(ctx, s.backend, p)
		if err == nil && s.claims.markUsed(Clean(full), time.Now()) {
			used = append(used, full)
		}
	}
	if len(used) > 0 {
		_, _ = guard(ctx, func() (struct{}, error) { return struct{}{}, cleaner.MarkUsed(ctx, used...) })
	}
}

// Cleans reports whether the store knows what is used.
func (s *Store) Cleans() bool {
	_, ok := Innermost(s.backend).(backend.Cleaner)
	return ok
}

// Readable reports whether content can be read back.
func (s *Store) Readable() bool { return s.ranges != nil || s.reader != nil }

// maxHashed is the size in bytes up to which content is always identified by its hash. For
// larger content, hashing would cost more than the rest of the work, mostly in vain: it is
// hashed only if its name is taken. An unreadable store may therefore hold the same content
// twice.
const maxHashed = 64 << 10

// Vault stores content for one middleware. It is safe for concurrent use.
type Vault struct {
	showable func(filePath string) bool
	inMemory func(b backend.Backend) bool

	mu     sync.Mutex
	stores []*Store // each once
}

// New returns a vault without a store. showable reports whether a path can be shown
// to a model; no other is used. inMemory reports whether a Backend keeps content in
// the memory of this process.
func New(showable func(filePath string) bool, inMemory func(b backend.Backend) bool) *Vault {
	return &Vault{showable: showable, inMemory: inMemory}
}

// Stores returns the stores that were opened, each once.
func (v *Vault) Stores() []*Store { return v.stores }

// Open returns the store of a Backend, nil for none. It must not be called while
// anything is stored.
func (v *Vault) Open(b backend.Backend) *Store {
	if b == nil {
		return nil
	}
	s := newStore(b)
	s.byWrite = v.inMemory(Innermost(b))
	_, wrapped := b.(Wrapper)
	for _, known := range v.stores {
		if known.claims == s.claims && (!wrapped || known.backend == b) {
			return known
		}
	}
	v.stores = append(v.stores, s)
	return s
}

// Note records paths that a conversation shows: what they hold stays.
func (v *Vault) Note(ctx context.Context, paths map[string]bool) {
	for _, s := range v.stores {
		_, wrapped := s.backend.(Wrapper)
		for name := range paths {
			if wrapped {
				name = s.claimName(ctx, name)
			}
			s.claims.note(name)
		}
	}
}

// Save stores content where at says, or beside it if that place holds something
// else, and returns the path. existed says that it was there already. With errAsked
// there is a path as well.
func (v *Vault) Save(ctx context.Context, s *Store, at Place, content string) (filePath string, existed bool, err error) {
	sum := fingerprint{}
	if len(content) <= maxHashed {
		sum = fingerprintOf(content)
	}
	hash := func() string { return SumOf(content) }
	for n := range at.tries() {
		p := at.candidate(n, hash)
		if !v.showable(p) {
			return "", false, fmt.Errorf("reduction: storing %q: %w", p, errPath)
		}
		if n > 0 && !sum.set {
			sum = fingerprintOf(content)
		}
		existed, err := v.saveAs(ctx, s, p, pending{content: content, sum: sum, unique: n > 0, fixed: at.Fixed})
		if err == nil {
			if existed {
				s.MarkUsed(ctx, []string{p})
			}
			return p, existed, nil
		}
		if errors.Is(err, errAsked) {
			return p, false, fmt.Errorf("reduction: storing %q: %w", p, err)
		}
		if !errors.Is(err, errTaken) {
			return "", false, fmt.Errorf("reduction: storing %q: %w", p, err)
		}
	}
	return "", false, fmt.Errorf("reduction: storing %q: %w", at.Path, errTaken)
}

// pending is content to be stored.
type pending struct {
	content string
	sum     fingerprint
	unique  bool // the name is made for it
	fixed   bool // the name is the user's
}

// saveAs stores content under one name, or returns errTaken.
func (v *Vault) saveAs(ctx context.Context, s *Store, p string, c pending) (existed bool, err error) {
	name := s.claimName(ctx, p)
	if !c.unique && !c.fixed && !s.Readable() && s.creator == nil && s.claims.mayHaveForgotten(name) {
		return false, errTaken
	}
	own, elsewhere := v.take(ctx, s, p, c.sum)
	if elsewhere {
		return false, errTaken
	}
	if !own {
		if s.Holds(ctx, p, c.content) {
			return true, nil // the name is known to hold content, which is the same
		}
		return false, errTaken
	}
	if err = v.others(ctx, s, p, c.content); err == nil {
		existed, err = s.put(ctx, p, c)
	}
	switch {
	case err == nil, errors.Is(err, errAsked):
		s.claims.finish(name, c.sum, true)
	case errors.Is(err, errTaken):
		s.claims.finish(name, c.sum, false)
	default:
		// The content is uncertain now: an abandoned call may still be writing.
		s.claims.finish(name, fingerprint{}, ctx.Err() != nil)
	}
	return existed, err
}

// take claims a name in s, unless it is known to hold something else there or in another
// store of the same middleware: a tool that reads from all of them must find the same
// content under a name.
func (v *Vault) take(ctx context.Context, s *Store, p string, sum fingerprint) (own, elsewhere bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, other := range v.stores {
		if known, used := other.claims.known(other.claimName(ctx, p)); other != s && used && (known != sum || !known.set) {
			return false, true
		}
	}
	return s.claims.take(s.claimName(ctx, p), sum), false
}

// others looks for other content under the name in the other stores.
func (v *Vault) others(ctx context.Context, s *Store, p, content string) error {
	for _, other := range v.stores {
		if other == s || !other.Readable() {
			continue
		}
		if size, err := other.Size(ctx, p); err == nil && (size != int64(len(content)) || !other.Holds(ctx, p, content)) {
			return errTaken
		}
	}
	return nil
}

// put writes content that may already be there, and checks the result as far as possible.
func (s *Store) put(ctx context.Context, p string, c pending) (existed bool, err error) {
	content := c.content
	switch {
	case s.creator != nil && !s.byWrite:
		err = s.create(ctx, p, strings.NewReader(content))
		if errors.Is(err, fs.ErrExist) {
			if s.Holds(ctx, p, content) {
				return true, nil
			}
			return false, errTaken
		}
	case s.Readable() && s.exists(ctx, p, c.unique):
		if s.Holds(ctx, p, content) {
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

func (s *Store) create(ctx context.Context, p string, content io.Reader) error {
	_, err := guard(ctx, func() (none struct{}, err error) {
		return none, s.creator.Create(ctx, p, content)
	})
	return err
}

func (s *Store) write(ctx context.Context, p, content string) error {
	_, err := guard(ctx, func() (none struct{}, err error) {
		return none, s.backend.Write(ctx, &filesystem.WriteRequest{FilePath: p, Content: content})
	})
	return err
}

// check verifies that a store kept everything. If it cannot tell, the error is errAsked: a
// caller that still has the content need not rely on the store.
func (s *Store) check(ctx context.Context, p string, size int64) error {
	if s.ranges == nil {
		return nil
	}
	got, err := s.Size(ctx, p)
	switch {
	case Missing(err, p):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errAsked, err)
	case got != size:
		return errShort
	}
	return nil
}

// guard runs a call to a Backend. A panic becomes an error. When the context ends, guard
// returns without waiting for the call.
func guard[T any](ctx context.Context, call func() (T, error)) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	if ctx.Done() == nil {
		return safe.Value("the store", call)
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := safe.Value("the store", call)
		done <- outcome{value, err}
	}()
	select {
	case v := <-done:
		return v.value, v.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// Wrapper is a store that keeps what it is given in another one.
type Wrapper interface {
	// Innermost returns the store that is wrapped, through all wrappers.
	Innermost() backend.Backend
	// InnermostPath returns where a path is in it.
	InnermostPath(ctx context.Context, filePath string) (string, error)
}

// Innermost returns the store that b keeps its content in. Two stores with the same
// innermost one share names.
func Innermost(b backend.Backend) backend.Backend {
	if w, ok := b.(Wrapper); ok {
		return w.Innermost()
	}
	return b
}

// InnermostPath returns what a path of b is called in its innermost store.
func InnermostPath(ctx context.Context, b backend.Backend, filePath string) (string, error) {
	if w, ok := b.(Wrapper); ok {
		return w.InnermostPath(ctx, filePath)
	}
	return filePath, nil
}
