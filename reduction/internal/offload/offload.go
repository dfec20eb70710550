// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package offload stores content in Backends. It is the only package of reduction that calls a Backend, and trusts
// none: a Backend may fail, hang, panic or store only a part.
//
// No content is overwritten by other content. A store that can be read is asked what a path holds. If the path holds
// something else, the content is stored under the path with the hash of the content as its suffix. In a store that can
// only write, every path has this suffix, so nothing need be known about other middlewares, processes or machines.
package offload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

var (
	errTaken      = errors.New("the name holds something else")
	errShort      = errors.New("the store kept only a part of the content")
	errUnverified = errors.New("the store says that it kept the content, and cannot be read to check")
	errPath       = errors.New("the path cannot be shown to a model")
	errNoContent  = errors.New("the store returned neither content nor an error")
	errExited     = errors.New("the store ended its goroutine")
)

// Offloader stores content for one middleware. It is safe for concurrent use.
type Offloader struct {
	Showable func(filePath string) bool // reports whether a path can be shown to a model; others are not used
	Timeout  time.Duration              // how long a store may make no progress; zero: any time
	Stores   []*Store                   // the opened stores, each once
	names    nameRegistry
}

// Open returns the store of a Backend, nil for no Backend. It must not be called while anything is stored.
func (o *Offloader) Open(b store.Backend) *Store {
	if b == nil {
		return nil
	}
	s := &Store{Backend: b, names: &o.names, timeout: o.Timeout}
	for _, other := range o.Stores {
		if other.IsSameBackend(s) {
			return other
		}
	}
	s.creator, _ = store.As[store.Creator](b)
	s.firstFreeCreator, _ = store.As[backend.FirstFreeCreator](b)
	s.ranges, _ = store.As[store.RangeReader](b)
	s.reader, _ = store.As[store.Reader](b)
	s.Cleaner, _ = store.As[store.Cleaner](b)
	o.Stores = append(o.Stores, s)
	return s
}

// ReservePaths records paths that a history names. Their content is never overwritten.
func (o *Offloader) ReservePaths(ctx context.Context, paths []string) {
	for _, s := range o.Stores {
		for _, name := range paths {
			o.names.reserve(s.key(ctx, name))
		}
	}
}

// Item is content to store.
type Item struct {
	Store   *Store
	At      Place
	Content string
}

// Place is where content should be stored.
type Place struct {
	// Path is the preferred path.
	Path string
	// Fixed says that no other path may be used.
	Fixed bool
	// uniquePath is the path that the content gets, if its hash is part of every path. Plan sets it.
	uniquePath string
}

// SaveResult is the result for an Item. Existed says that the content was already stored. With an error, there is a Path
// only if the store accepted the content and cannot be asked for it.
type SaveResult struct {
	Path    string
	Existed bool
	Err     error
}

// Save stores an item under its path, or under the path with a suffix if the path holds something else.
func (o *Offloader) Save(ctx context.Context, item Item) (result SaveResult) {
	ctx = WithPass(ctx)
	result.Err = errTaken
	for n := 0; errors.Is(result.Err, errTaken); n++ {
		name, unique := item.Store.candidateName(item.At, n, &item.Content)
		if name == "" {
			break
		}
		if result.Path, result.Err = name, errPath; o.Showable(name) {
			result.Existed, result.Err = o.saveAs(ctx, item.Store, name, item.Content, unique)
		}
	}
	switch {
	case errors.Is(result.Err, errUnverified):
		return SaveResult{Path: result.Path, Err: saveError(item, result.Err)}
	case result.Err != nil:
		return SaveResult{Err: saveError(item, result.Err)}
	case result.Existed:
		_ = item.Store.MarkUsed(ctx, []string{result.Path}) // on failure the next run marks it: its history names the path
	}
	return result
}

// saveAs stores content under one path. It returns errTaken if the path holds something else. unique says that the
// path contains the hash of the content.
func (o *Offloader) saveAs(
	ctx context.Context, s *Store, p, content string, unique bool,
) (existed bool, err error) {
	key := s.key(ctx, p)
	ownsName := unique || !s.Readable() && s.findContent(ctx, fingerprintOf(content), []string{p}) != ""
	if !o.names.acquire(key, &content, ownsName) {
		if s.Holds(ctx, p, content) {
			return true, nil // the same content
		}
		return false, errTaken
	}
	err = errExited // remains if a call to the store ends the goroutine
	defer func() {
		switch {
		case err != nil && !errors.Is(err, errUnverified):
			o.names.release(key, unknownContent, mayStillWrite(ctx, err) && !errors.Is(err, errTaken))
		case s.Readable():
			o.names.release(key, fingerprint{size: len(content)}, true)
		default:
			o.names.release(key, fingerprintOf(content), true)
		}
	}()
	// The read tool reads from all stores, so a path must have the same content in each of them.
	for _, other := range o.Stores {
		if other == s || !other.Readable() {
			continue
		}
		if size, err := other.Size(ctx, p); err == nil && (size != int64(len(content)) || !other.Holds(ctx, p, content)) {
			return false, errTaken
		}
	}
	return s.writeChecked(ctx, p, content, unique)
}

// saveError is the error of an item that could not be stored.
func saveError(item Item, err error) error {
	return fmt.Errorf("reduction: storing %q: %w", item.At.Path, err)
}
