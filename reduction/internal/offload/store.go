// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// Access to one Backend, through the optional interfaces that it has.

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
	"github.com/einolean/einolean/store"
)

// maxMarked bounds the names that a Store remembers as marked.
const maxMarked = 1 << 15

// Store is a Backend with its optional interfaces, nil where it lacks one.
type Store struct {
	Backend          store.Backend
	creator          store.Creator
	firstFreeCreator backend.FirstFreeCreator
	ranges           store.RangeReader
	reader           store.Reader
	Cleaner          store.Cleaner
	names            *nameRegistry // shared with all stores of the Offloader
	timeout          time.Duration // of a call without progress; zero: none

	mu         sync.Mutex
	lastMarked map[uint64]time.Time // when names were last marked as used
}

// IsSameBackend reports whether two stores are one Backend.
func (s *Store) IsSameBackend(other *Store) bool {
	return hasIdentity(s.Backend) && s.Backend == other.Backend
}

// Readable reports whether content can be read back.
func (s *Store) Readable() bool { return s.ranges != nil || s.reader != nil }

// key identifies a path by its name in the innermost store, which differs for each scope.
func (s *Store) key(ctx context.Context, p string) uint64 {
	full, err := backend.InnermostPath(ctx, s.Backend, p)
	if err != nil {
		full = "\x00" + p // nothing can be stored there
	}
	return maphash.String(hashSeed, Clean(full))
}

// MarkUsed marks files as used, if the store is a [store.Cleaner]. Each file is marked at most once an hour, unless
// marking fails.
func (s *Store) MarkUsed(ctx context.Context, paths []string) error {
	if s.Cleaner == nil {
		return nil
	}
	var used []string
	var keys []uint64
	for _, p := range paths {
		if key := s.key(ctx, p); s.recordMark(key, time.Now()) {
			used, keys = append(used, p), append(keys, key)
		}
	}
	if len(used) == 0 {
		return nil
	}
	_, err := call(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		return none, s.Cleaner.MarkUsed(ctx, used...)
	})
	if err == nil || errors.Is(err, fs.ErrInvalid) { // a history may contain invalid paths
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.lastMarked, key)
	}
	return fmt.Errorf("reduction: marking %d files as used: %w", len(used), err)
}

// recordMark records that a name is marked as used. It returns false if that was done a short time ago.
func (s *Store) recordMark(key uint64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.lastMarked[key]) < backend.UseInterval {
		return false
	}
	if s.lastMarked == nil || len(s.lastMarked) >= maxMarked {
		s.lastMarked = make(map[uint64]time.Time)
	}
	s.lastMarked[key] = now
	return true
}

// writeChecked writes content that may already be stored, and checks the result as far as possible.
func (s *Store) writeChecked(ctx context.Context, p string, content string, unique bool) (existed bool, err error) {
	if s.creator != nil {
		err = s.create(ctx, p, backend.NewText(content))
	} else {
		err = s.write(ctx, p, content, unique)
	}
	if errors.Is(err, fs.ErrExist) && !s.Readable() && unique {
		// Only this content has the path, but an earlier write that failed may have left a part of it.
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
	_, err := call(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		return none, s.creator.Create(ctx, p, observed(ctx, content))
	})
	return err
}

// write writes content. If the store can be read and has something at the path, write returns fs.ErrExist.
func (s *Store) write(ctx context.Context, p string, content string, unique bool) error {
	_, err := call(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		if s.Readable() {
			at := placeOf(s.Backend, s.key(ctx, p))
			if !pendingWrites.acquire(at, &content, false) {
				return none, errTaken
			}
			defer pendingWrites.release(at, unknownContent, false)
			if s.exists(ctx, p, unique) {
				return none, fs.ErrExist
			}
		}
		return none, s.Backend.Write(ctx, &filesystem.WriteRequest{FilePath: p, Content: content})
	})
	return err
}

// check verifies the size of stored content. If the store cannot be asked, check returns errUnverified: a caller that
// still has the content need not rely on the store.
func (s *Store) check(ctx context.Context, p string, size int64) error {
	if s.ranges == nil {
		return nil
	}
	got, err := s.Size(ctx, p)
	switch {
	case IsMissing(err, p):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errUnverified, err)
	case got != size:
		return errShort
	}
	return nil
}

// exists reports whether something may be stored at a path. If the store cannot tell, the answer is yes, unless the path
// is unique to one content: nothing else can have it. So stores whose errors have no type remain usable.
func (s *Store) exists(ctx context.Context, p string, unique bool) bool {
	_, err := s.Size(ctx, p)
	return err == nil || !unique && !IsMissing(err, p)
}

// Size returns the size of stored content in bytes.
func (s *Store) Size(ctx context.Context, p string) (int64, error) {
	if s.ranges == nil {
		text, err := s.readAll(ctx, p)
		return int64(len(text)), err
	}
	return call(ctx, s, func(ctx context.Context) (int64, error) {
		content, size, err := s.ranges.ReadRange(ctx, p, 0, 0)
		if err != nil {
			return 0, err
		}
		return size, content.Close()
	})
}

// readAll returns complete content, from a store that cannot read ranges.
func (s *Store) readAll(ctx context.Context, p string) (string, error) {
	return call(ctx, s, func(ctx context.Context) (string, error) {
		got, err := s.reader.Read(ctx, &filesystem.ReadRequest{FilePath: p})
		switch {
		case err != nil:
			return "", err
		case got == nil:
			return "", errNoContent
		}
		return got.Content, nil
	})
}

// verifyContent reports whether stored content is accepted by isExpected. It is false if the content cannot be read.
func (s *Store) verifyContent(ctx context.Context, p string, isExpected func(content io.Reader, size int64) bool) bool {
	if !s.Readable() {
		return false
	}
	ok, err := call(ctx, s, func(ctx context.Context) (bool, error) {
		r, size, err := s.ReadRange(ctx, p, 0, -1)
		if err != nil {
			return false, err
		}
		defer r.Close()
		return isExpected(r, size), nil
	})
	return err == nil && ok
}

// Holds reports whether a path holds exactly this content. It is false if the content cannot be read.
func (s *Store) Holds(ctx context.Context, p, content string) bool {
	return s.verifyContent(ctx, p, func(r io.Reader, size int64) bool {
		return size == int64(len(content)) && equalContent(r, content)
	})
}

// findContent returns the first of paths whose content has this fingerprint, empty if there is none. In a store that
// cannot be read, it finds only content that the Offloader has written.
func (s *Store) findContent(ctx context.Context, content fingerprint, paths []string) string {
	for _, p := range paths {
		if !s.Readable() {
			if known, _ := s.names.lookup(s.key(ctx, p)); known == content {
				return p
			}
			continue
		}
		if s.verifyContent(ctx, p, func(r io.Reader, size int64) bool {
			var h maphash.Hash
			h.SetSeed(hashSeed)
			if size != int64(content.size) {
				return false
			}
			n, err := io.Copy(&h, r)
			return err == nil && n == size && h.Sum64() == content.hash
		}) {
			return p
		}
	}
	return ""
}

// contains reports whether the file at a path contains part. It is false if the file cannot be read.
func (s *Store) contains(ctx context.Context, p, part string) bool {
	return s.verifyContent(ctx, p, func(r io.Reader, size int64) bool {
		return size >= int64(len(part)) && streamContains(r, part)
	})
}

// ReadAt returns length bytes of stored content from an offset on, or fewer at the end of the content.
func (s *Store) ReadAt(ctx context.Context, filePath string, offset int64, length int) (string, error) {
	return call(ctx, s, func(ctx context.Context) (string, error) {
		r, _, err := s.ReadRange(ctx, filePath, offset, int64(length))
		if err != nil {
			return "", err
		}
		defer r.Close()
		text, err := io.ReadAll(io.LimitReader(r, int64(length)))
		return string(text), err
	})
}

// ReadRange implements [store.RangeReader], also for a store that can only read complete content.
func (s *Store) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	switch {
	case s.ranges == nil:
	case s.timeout > 0 && watchdogFrom(ctx) == nil:
		return s.openPatiently(ctx, filePath, offset, length)
	default:
		return s.ranges.ReadRange(ctx, filePath, offset, length)
	}
	text, err := s.readAll(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	window, size := backend.Window(text, max(offset, 0), length)
	return window, size, nil
}

// KnownSize returns the size of what the Offloader stored at a path, negative if it is unknown. used is false if nothing
// was stored there and no history contains the path.
func (s *Store) KnownSize(ctx context.Context, filePath string) (size int, used bool) {
	content, used := s.names.lookup(s.key(ctx, filePath))
	return content.size, used
}

// ReadBack returns the path of the file that content was read from, out of the paths in args. It is empty if no file is
// known to contain the content.
func (s *Store) ReadBack(ctx context.Context, root, args, content string) string {
	if s == nil || content == "" || !strings.Contains(args, path.Base(root)) {
		return ""
	}
	paths := PathsIn(root, args)
	if !s.Readable() && len(paths) > 0 {
		if p := s.findContent(ctx, fingerprintOf(content), paths); p != "" {
			return p
		}
		suffix := withSuffix("", SumOf(content), 1)
		paths = slices.DeleteFunc(paths, func(p string) bool { return !strings.HasSuffix(p, suffix) })
	}
	for _, p := range paths {
		if !s.Readable() || s.contains(ctx, p, content) {
			return p
		}
	}
	return ""
}

// Plan returns the place where content will be stored and its path. certain says that no other path will be used: in a
// store that can only write, every path contains the hash of its content.
func (s *Store) Plan(at Place, content string) (planned Place, filePath string, certain bool) {
	if s.Readable() || at.Fixed {
		return at, at.Path, at.Fixed
	}
	at.uniquePath, _ = s.candidateName(at, 0, &content)
	return at, at.uniquePath, true
}

// maxTries bounds the paths that are tried for one content. The second path contains the hash of the content, so only an
// attacker can have taken it.
const maxTries = 4

// candidateName returns the path to try in attempt n, empty if there is none left. unique says that the path contains the
// hash of the content, or a random one.
//
// A store that cannot be read cannot tell whether a path is free, so there every path has a hash. The content of a stream
// is nil, as it is not known yet, and another process may take the path meanwhile. A store that can finish under another
// path then loses nothing. In other stores the path of a stream has a random hash.
func (s *Store) candidateName(at Place, n int, content *string) (name string, unique bool) {
	last := maxTries
	switch {
	case at.Fixed:
		last = 1
	case !s.Readable():
		n, last = n+1, 2
	case content == nil && s.firstFreeCreator == nil:
		n, last = n+1, maxTries+1
	}
	switch {
	case n >= last:
		return "", false
	case n == 0:
		return at.Path, false
	}
	if at.uniquePath != "" {
		return at.uniquePath, true
	}
	sum := randomSum()
	if content != nil {
		sum = SumOf(*content)
	}
	return withSuffix(at.Path, sum, n), true
}

// compareSize is how many bytes of stored content are held in memory during a comparison.
const compareSize = 64 << 10

// IsMissing reports whether an error says that there is no file at p. The type of the error decides, not its text, which
// may mention a host or a key. Only the error of Eino's store in memory, which has no type, is known by its text.
func IsMissing(err error, p string) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err != nil
	}
	name, ok := strings.CutPrefix(err.Error(), "file not found: ")
	return ok && name == Clean(p)
}

// equalContent compares a stream with content, in pieces.
func equalContent(r io.Reader, content string) bool {
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

// streamContains reports whether a stream contains part. It holds three times the length of part in memory.
func streamContains(r io.Reader, part string) bool {
	needle := []byte(part)
	held := make([]byte, 0, 2*len(part)+compareSize) // the possible start of part, and the latest bytes
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
