// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// A Backend: what it can do, and what is asked of it.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/store"
)

// Store is a Backend with its optional interfaces, nil where it lacks one.
type Store struct {
	Backend store.Backend
	creator store.Creator
	any     store.AnyCreator
	ranges  store.RangeReader
	reader  store.Reader
	Cleaner store.Cleaner
	known   *nameRegistry // of the vault

	mu     sync.Mutex
	marked map[uint64]time.Time // when names were last marked as used
}

// Same reports whether two stores are one Backend.
func (s *Store) Same(other *Store) bool { return hasIdentity(s.Backend) && s.Backend == other.Backend }

// Readable reports whether content can be read back.
func (s *Store) Readable() bool { return s.ranges != nil || s.reader != nil }

// key identifies a path by what it is called in the innermost store, which differs for each scope.
func (s *Store) key(ctx context.Context, p string) uint64 {
	full, err := backend.InnermostPath(ctx, s.Backend, p)
	if err != nil {
		full = "\x00" + p // nothing can be stored there
	}
	return maphash.String(seed, Clean(full))
}

// MarkUsed notes that files are in use, where the store is a [store.Cleaner], and at most
// once an hour for each, unless it fails.
func (s *Store) MarkUsed(ctx context.Context, paths []string) error {
	if s.Cleaner == nil {
		return nil
	}
	var used []string
	var keys []uint64
	for _, p := range paths {
		if key := s.key(ctx, p); s.markNow(key, time.Now()) {
			used, keys = append(used, p), append(keys, key)
		}
	}
	if len(used) == 0 {
		return nil
	}
	_, err := callBackend(ctx, func() (struct{}, error) { return struct{}{}, s.Cleaner.MarkUsed(ctx, used...) })
	if err == nil || errors.Is(err, fs.ErrInvalid) { // a history may name what no file can be called
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.marked, key)
	}
	return fmt.Errorf("reduction: marking %d files as used: %w", len(used), err)
}

// markNow reports whether it is time to record that a name is in use.
func (s *Store) markNow(key uint64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.marked[key]) < backend.UseInterval {
		return false
	}
	if s.marked == nil || len(s.marked) >= maxKnown {
		s.marked = make(map[uint64]time.Time)
	}
	s.marked[key] = now
	return true
}

// put writes content that may already be there, and checks the result as far as possible.
func (s *Store) put(ctx context.Context, p string, content string, unique bool) (existed bool, err error) {
	if s.creator != nil {
		err = s.create(ctx, p, backend.NewText(content))
	} else {
		err = s.write(ctx, p, content, unique)
	}
	if errors.Is(err, fs.ErrExist) && !s.Readable() && unique {
		// Only this content has the name, but a write that failed may have left a part of it.
		err = s.write(ctx, p, content, unique)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		if s.Holds(ctx, p, content) {
			return true, nil
		}
		return false, errTaken
	case err != nil:
		return false, err
	}
	return false, s.check(ctx, p, int64(len(content)))
}

func (s *Store) create(ctx context.Context, p string, content io.Reader) error {
	_, err := callBackend(ctx, func() (none struct{}, err error) {
		return none, s.creator.Create(ctx, p, content)
	})
	return err
}

// write writes content, unless the store can be read and has something there: the error is
// then fs.ErrExist.
func (s *Store) write(ctx context.Context, p string, content string, unique bool) error {
	_, err := callBackend(ctx, func() (none struct{}, err error) {
		if s.Readable() {
			at := placeOf(s.Backend, s.key(ctx, p))
			if !pendingWrites.acquire(at, &content, false) {
				return none, errTaken
			}
			defer pendingWrites.finish(at, anything, false)
			if s.exists(ctx, p, unique) {
				return none, fs.ErrExist
			}
		}
		return none, s.Backend.Write(ctx, &filesystem.WriteRequest{FilePath: p, Content: content})
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
		return fmt.Errorf("%w: %w", errUnverified, err)
	case got != size:
		return errShort
	}
	return nil
}

// guard runs a call to a Backend, which may panic, end its goroutine, or return only long
// after the context has ended. Within a batch, whose goroutine is waited for, it runs the
// call right there.
func callBackend[T any](ctx context.Context, call func() (value T, err error)) (value T, err error) {
	if ctx.Value((*batch)(nil)) == nil {
		return safe.Wait(ctx, "the store", call)
	}
	if err := ctx.Err(); err != nil {
		return value, err
	}
	return safe.Value("the store", call)
}

// exists reports whether something may be there. A store that cannot tell means yes,
// except for a name made for one content: nothing else can be there. This keeps stores
// usable whose errors have no type.
func (s *Store) exists(ctx context.Context, p string, unique bool) bool {
	_, err := s.Size(ctx, p)
	return err == nil || !unique && !Missing(err, p)
}

// Size is the size of a stored content in bytes.
func (s *Store) Size(ctx context.Context, p string) (int64, error) {
	if s.ranges == nil {
		text, err := s.text(ctx, p)
		return int64(len(text)), err
	}
	return callBackend(ctx, func() (int64, error) {
		content, size, err := s.ranges.ReadRange(ctx, p, 0, 0)
		if err != nil {
			return 0, err
		}
		return size, content.Close()
	})
}

// text is whole content, from a store that has no windows.
func (s *Store) text(ctx context.Context, p string) (string, error) {
	return callBackend(ctx, func() (string, error) {
		got, err := s.reader.Read(ctx, &filesystem.ReadRequest{FilePath: p})
		switch {
		case err != nil:
			return "", err
		case got == nil:
			return "", errNothing
		}
		return got.Content, nil
	})
}

// look reports whether stored content is as expected. If the store cannot tell, it returns
// false.
func (s *Store) verifyContent(ctx context.Context, p string, right func(content io.Reader, size int64) bool) bool {
	if !s.Readable() {
		return false
	}
	ok, err := callBackend(ctx, func() (bool, error) {
		r, size, err := s.ReadRange(ctx, p, 0, -1)
		if err != nil {
			return false, err
		}
		defer r.Close()
		return right(r, size), nil
	})
	return err == nil && ok
}

// Holds reports whether the store has exactly this content under a name. Where
// it cannot tell, it has not.
func (s *Store) Holds(ctx context.Context, p, content string) bool {
	return s.verifyContent(ctx, p, func(r io.Reader, size int64) bool { return size == int64(len(content)) && equal(r, content) })
}

// holding returns the first of paths that has content of this fingerprint. If a store cannot
// be asked, the vault must have written it.
func (s *Store) findContent(ctx context.Context, is fingerprint, paths []string) string {
	for _, p := range paths {
		if !s.Readable() {
			if known, _ := s.known.of(s.key(ctx, p)); known == is {
				return p
			}
			continue
		}
		if s.verifyContent(ctx, p, func(r io.Reader, size int64) bool {
			var h maphash.Hash
			h.SetSeed(seed)
			if size != int64(is.size) {
				return false
			}
			n, err := io.Copy(&h, r)
			return err == nil && n == size && h.Sum64() == is.hash
		}) {
			return p
		}
	}
	return ""
}

// contains reports whether content is the whole or a part of the file stored under a name.
// If it cannot tell, it returns false.
func (s *Store) contains(ctx context.Context, p, part string) bool {
	return s.verifyContent(ctx, p, func(r io.Reader, size int64) bool { return size >= int64(len(part)) && streamContains(r, part) })
}

// Piece returns length bytes of stored content from an offset on, or fewer at its end.
func (s *Store) ReadAt(ctx context.Context, filePath string, offset int64, length int) (string, error) {
	return callBackend(ctx, func() (string, error) {
		r, _, err := s.ReadRange(ctx, filePath, offset, int64(length))
		if err != nil {
			return "", err
		}
		defer r.Close()
		text, err := io.ReadAll(io.LimitReader(r, int64(length)))
		return string(text), err
	})
}

// ReadRange is that of [store.RangeReader], also for a store that has only whole
// content.
func (s *Store) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	if s.ranges != nil {
		return s.ranges.ReadRange(ctx, filePath, offset, length)
	}
	text, err := s.text(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	window, size := backend.Window(text, max(offset, 0), length)
	return window, size, nil
}

// Recorded returns the size of what the vault stored under a path. used is false if it
// stored nothing there and no conversation named it, size negative if it does not know
// what.
func (s *Store) KnownSize(ctx context.Context, filePath string) (size int, used bool) {
	is, used := s.known.of(s.key(ctx, filePath))
	return is.size, used
}

// ReadBack returns the path, out of those that args mention, of the file that
// content was read from; empty if it is not known to have been.
func (s *Store) ReadBack(ctx context.Context, root, args, content string) string {
	if s == nil || content == "" || !strings.Contains(args, path.Base(root)) {
		return ""
	}
	paths := PathsIn(root, args)
	if !s.Readable() && len(paths) > 0 {
		if p := s.findContent(ctx, fingerprintOf(content), paths); p != "" {
			return p
		}
		mark := "-" + SumOf(content)
		paths = slices.DeleteFunc(paths, func(p string) bool { return !strings.HasSuffix(p, mark) })
	}
	for _, p := range paths {
		if !s.Readable() || s.contains(ctx, p, content) {
			return p
		}
	}
	return ""
}

// Plan returns where content goes, and the path if that is certain already: in a store that can only
// write, each name has the hash of its content.
func (s *Store) Plan(at Place, content string) (planned Place, filePath string, certain bool) {
	if s.Readable() || at.Fixed {
		return at, at.Path, at.Fixed
	}
	at.named, _ = s.candidateName(at, 0, &content)
	return at, at.named, true
}

// nth returns the nth name that content may get, empty if there is no other one; unique says that it
// is made for the content. A store that cannot be read cannot tell whether a name is free, so there
// a name is always made for its content. That of a stream, nil, is not known yet, and another process
// may take the name meanwhile: a store that can finish under another name then loses nothing, and in
// others the name is random.
func (s *Store) candidateName(at Place, n int, content *string) (name string, unique bool) {
	last := maxTries
	switch {
	case at.Fixed:
		last = 1
	case !s.Readable():
		n, last = n+1, 2
	case content == nil && s.any == nil:
		n, last = n+1, maxTries+1
	}
	switch {
	case n >= last:
		return "", false
	case n == 0:
		return at.Path, false
	}
	if at.named != "" {
		return at.named, true
	}
	sum := randomSuffix()
	if content != nil {
		sum = SumOf(*content)
	}
	if name = at.Path + "-" + sum; n > 1 {
		name += "-" + string(rune('0'+n))
	}
	return name, true
}

// compareSize is how much of stored content is held in memory during a comparison.
const compareSize = 64 << 10

// Missing reports whether an error says that there is no file at p. The type of an
// error decides, not its text, which may speak of a host or a key. Only Eino's
// store in memory, whose errors have no type, is known by its words.
func Missing(err error, p string) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err != nil
	}
	name, ok := strings.CutPrefix(err.Error(), "file not found: ")
	return ok && name == Clean(p)
}

// equal compares a stream with content, a piece at a time.
func equal(r io.Reader, content string) bool {
	buf := make([]byte, compareSize)
	for {
		n, err := io.ReadFull(r, buf)
		if n > len(content) || string(buf[:n]) != content[:n] {
			return false
		}
		content = content[n:]
		if err != nil {
			return content == "" && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
		}
	}
}

// within looks for a part of a stream, and holds three times as much of it.
func streamContains(r io.Reader, part string) bool {
	needle := []byte(part)
	held := make([]byte, 0, 2*len(part)+compareSize) // the possible start of it, and the latest bytes
	for {
		n, err := io.ReadFull(r, held[len(held):len(held)+len(part)+compareSize])
		if held = held[:len(held)+n]; bytes.Contains(held, needle) {
			return true
		}
		if err != nil {
			return false
		}
		held = held[:copy(held, held[len(held)-len(part)+1:])]
	}
}
