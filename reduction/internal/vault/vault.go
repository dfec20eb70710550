// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Stores content for one middleware: finished, or while it arrives.

import (
	"context"
	"errors"

	"github.com/leanctx/leanctx"
)

var (
	errTaken = errors.New("the name holds something else")
	errShort = errors.New("the store kept only a part of the content")
	errAsked = errors.New("the store says that it kept the content, and cannot be read to check")
	errPath  = errors.New("the path cannot be shown to a model")

	errNothing = errors.New("the store returned neither content nor an error")
)

// Vault stores content for one middleware. It is safe for concurrent use.
type Vault struct {
	showable func(filePath string) bool
	stores   []*Store // each once
	known    known
}

// New returns a vault without a store. showable reports whether a path can be shown
// to a model; no other is used.
func New(showable func(filePath string) bool) *Vault { return &Vault{showable: showable} }

// Stores returns the stores that were opened, each once.
func (v *Vault) Stores() []*Store { return v.stores }

// Open returns the store of a Backend, nil for none. It must not be called while
// anything is stored.
func (v *Vault) Open(b leanctx.Backend) *Store {
	if b == nil {
		return nil
	}
	s := &Store{backend: b, known: &v.known}
	for _, other := range v.stores {
		if other.Same(s) {
			return other
		}
	}
	s.creator, _ = b.(leanctx.Creator)
	s.any, _ = b.(leanctx.AnyCreator)
	s.ranges, _ = b.(leanctx.RangeReader)
	s.reader, _ = b.(leanctx.Reader)
	s.cleaner, _ = b.(leanctx.Cleaner)
	v.stores = append(v.stores, s)
	return s
}

// Note records paths that a conversation shows: what they hold stays.
func (v *Vault) Note(ctx context.Context, paths map[string]bool) {
	for _, s := range v.stores {
		for name := range paths {
			v.known.note(s.innerName(ctx, name))
		}
	}
}

// Save stores an item where it should go, or beside it if that place holds something else.
func (v *Vault) Save(ctx context.Context, item Item) (got Saved) {
	names := item.Store.namesFor(item.At)
	for n := range names.tries {
		unique := false
		got.Path, unique = names.nth(n, item.Content, SumOf)
		if !v.showable(got.Path) {
			got.Err = errPath
			break
		}
		got.Existed, got.Err = v.saveAs(ctx, item.Store, got.Path, item.Content, unique)
		if !errors.Is(got.Err, errTaken) {
			break
		}
	}
	switch {
	case errors.Is(got.Err, errAsked):
		return Saved{Path: got.Path, Err: failed(item, got.Err)}
	case got.Err != nil:
		return Saved{Err: failed(item, got.Err)}
	case got.Existed:
		item.Store.MarkUsed(ctx, []string{got.Path})
	}
	return got
}

// saveAs stores content under one name, or returns errTaken. unique says that the name is made
// for the content.
func (v *Vault) saveAs(ctx context.Context, s *Store, p string, content string, unique bool) (existed bool, err error) {
	name := s.innerName(ctx, p)
	own := unique || !s.Readable() && s.holding(ctx, fingerprintOf(content), []string{p}) != ""
	if !v.known.take(name, &content, own) {
		if s.Holds(ctx, p, content) {
			return true, nil // the name is known to hold content, which is the same
		}
		return false, errTaken
	}
	err = errExited // unless the calls to the store return
	defer func() {
		switch {
		case err != nil && !errors.Is(err, errAsked): // once the context has ended, a store may still be writing
			v.known.finish(name, fingerprint{}, -1, ctx.Err() != nil && !errors.Is(err, errTaken))
		case s.Readable():
			v.known.finish(name, fingerprint{}, len(content), true)
		default:
			v.known.finish(name, fingerprintOf(content), len(content), true)
		}
	}()
	if err := v.others(ctx, s, p, content); err != nil {
		return false, err
	}
	return s.put(ctx, p, content, unique)
}

// others looks for other content under the name in the other stores: a tool that reads from
// all of them must find the same content under a name.
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

// Stream returns a Sink for a stream of which start has arrived. In a store that
// takes streams the file is begun now; for any other one the content is held
// until Commit. If nothing takes the stream, Commit says so.
func (v *Vault) Stream(ctx context.Context, s *Store, at Place, start []string) Sink {
	if s.creator == nil {
		return &bufferedWriter{v: v, ctx: ctx, s: s, at: at, texts: start}
	}
	names, err := s.namesForStream(at), error(errTaken)
	for n := 0; n < names.tries && errors.Is(err, errTaken); n++ {
		var f *streamWriter
		if f, err = v.begin(ctx, s, names, n); err == nil {
			if err = f.start(start); err == nil {
				return f
			}
		}
	}
	return failedWriter{err}
}

// begin takes a name for a stream. Its content is still unknown, so any existing file
// counts as different.
func (v *Vault) begin(ctx context.Context, s *Store, names names, n int) (*streamWriter, error) {
	p, unique := names.nth(n, "", anySum)
	if !v.showable(p) {
		return nil, errPath
	}
	name := s.innerName(ctx, p)
	if !v.known.take(name, nil, false) {
		return nil, errTaken
	}
	for _, other := range v.stores {
		if other.Readable() && other.exists(ctx, p, unique) {
			v.known.finish(name, fingerprint{}, -1, false)
			return nil, errTaken
		}
	}
	return newStreamWriter(ctx, v, s, names, p), nil
}
