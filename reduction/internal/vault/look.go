// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Compares content with a store, and finds results that were read from it, by any tool:
// these are not stored again.

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/cloudwego/eino/adk/filesystem"
)

// compareSize is how much of stored content is held in memory during a comparison.
const compareSize = 64 << 10

// Missing reports whether an error says that there is no file at p. The type of an
// error decides, not its text, which may speak of a host or a key. Only Eino's
// store in memory, whose errors have no type, is known by its words.
func Missing(err error, p string) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err != nil
	}
	return err.Error() == "file not found: "+Clean(p)
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
	return guard(ctx, func() (int64, error) {
		content, size, err := s.ranges.ReadRange(ctx, p, 0, 0)
		if err != nil {
			return 0, err
		}
		return size, content.Close()
	})
}

// text is whole content, from a store that has no windows.
func (s *Store) text(ctx context.Context, p string) (string, error) {
	return guard(ctx, func() (string, error) {
		got, err := s.reader.Read(ctx, &filesystem.ReadRequest{FilePath: p})
		if err != nil || got == nil {
			return "", err
		}
		return got.Content, nil
	})
}

// look reports whether a part of stored content is as expected. If the store cannot tell,
// it returns false.
func (s *Store) look(ctx context.Context, p string, length int64, right func(content io.Reader, size int64) bool) bool {
	if !s.Readable() {
		return false
	}
	ok, err := guard(ctx, func() (bool, error) {
		r, size, err := s.ReadRange(ctx, p, 0, length)
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
	return s.look(ctx, p, -1, func(r io.Reader, size int64) bool { return size == int64(len(content)) && equal(r, content) })
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

// knownAs returns the first of paths where this process wrote content of this fingerprint,
// and where it still exists as far as that can be checked.
func (s *Store) knownAs(ctx context.Context, sum fingerprint, paths []string) string {
	for _, p := range paths {
		known, used := s.claims.known(s.claimName(ctx, p))
		if used && known.set && known == sum && s.still(ctx, p, sum) {
			return p
		}
	}
	return ""
}

// still reports whether a name has content of this fingerprint. A store may have dropped
// it; one that cannot be asked is trusted.
func (s *Store) still(ctx context.Context, p string, sum fingerprint) bool {
	return !s.Readable() || s.look(ctx, p, -1, func(r io.Reader, size int64) bool {
		if size != int64(sum.size) {
			return false
		}
		var h maphash.Hash
		h.SetSeed(seed)
		n, err := io.Copy(&h, r)
		return err == nil && n == size && h.Sum64() == sum.hash
	})
}

const (
	needleSize    = 256 // bytes of a piece that are searched for first
	maxCandidates = 32  // places that are compared
)

// contains reports whether content is the whole or a part of the file stored under a name.
// If it cannot tell, it returns false.
func (s *Store) contains(ctx context.Context, p, part string) bool {
	if s.ranges == nil && s.reader != nil {
		text, err := s.text(ctx, p)
		return err == nil && strings.Contains(text, part)
	}
	return s.look(ctx, p, -1, func(r io.Reader, size int64) bool {
		if size < int64(len(part)) {
			return false
		}
		for i, at := range places(r, part[:min(len(part), needleSize)]) {
			if i == maxCandidates || s.matches(ctx, p, at, part) {
				return i < maxCandidates
			}
		}
		return false
	})
}

// matches reports whether part is at an offset.
func (s *Store) matches(ctx context.Context, p string, at int64, part string) bool {
	r, _, err := s.ranges.ReadRange(ctx, p, at, int64(len(part)))
	if err != nil {
		return false
	}
	defer r.Close()
	return equal(r, part)
}

// places yields, numbered, the offsets of needle in a stream.
func places(r io.Reader, needle string) iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		var held []byte // the possible start of a needle, and the latest bytes
		var base int64  // the offset of held
		buf := make([]byte, compareSize)
		for count := 0; ; {
			n, err := io.ReadFull(r, buf)
			held = append(held, buf[:n]...)
			at := 0
			for {
				i := bytes.Index(held[at:], []byte(needle))
				if i < 0 {
					break
				}
				if !yield(count, base+int64(at+i)) {
					return
				}
				count++
				at += i + 1
			}
			keep := min(len(held), len(needle)-1)
			base += int64(len(held) - keep)
			held = append(held[:0], held[len(held)-keep:]...)
			if err != nil {
				return
			}
		}
	}
}

// Begins reports whether stored content begins with text.
func (s *Store) Begins(ctx context.Context, filePath, text string) bool {
	return s.look(ctx, filePath, int64(len(text)), func(r io.Reader, _ int64) bool { return equal(r, text) })
}

// Piece returns length bytes of stored content from an offset on, or fewer at its end.
func (s *Store) Piece(ctx context.Context, filePath string, offset int64, length int) (string, error) {
	return guard(ctx, func() (string, error) {
		r, _, err := s.ReadRange(ctx, filePath, offset, int64(length))
		if err != nil {
			return "", err
		}
		defer r.Close()
		text, err := io.ReadAll(io.LimitReader(r, int64(length)))
		return string(text), err
	})
}

// ReadRange is that of [backend.RangeReader], also for a store that has only whole
// content.
func (s *Store) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	if s.ranges != nil {
		return s.ranges.ReadRange(ctx, filePath, offset, length)
	}
	text, err := s.text(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	size := int64(len(text))
	from := min(max(offset, 0), size)
	to := size
	if length >= 0 {
		to = min(size, from+length)
	}
	return io.NopCloser(strings.NewReader(text[from:to])), size, nil
}

// Recorded returns the size of what this process stored under a path. used is false
// if it stored nothing there, size negative if it does not know what.
func (s *Store) Recorded(ctx context.Context, filePath string) (size int, used bool) {
	known, used := s.claims.known(s.claimName(ctx, filePath))
	if !known.set {
		return -1, used
	}
	return known.size, used
}

// maxMentions is how many stored paths are looked for in the arguments of a call.
const maxMentions = 8

// Mentions returns the paths of stored results that the arguments of a call name,
// as far as they have default names.
func Mentions(root, args string) (out []string) {
	args = strings.ReplaceAll(args, `\/`, "/")
	for _, dir := range []string{TruncDir, ClearDir} {
		prefix := path.Join(root, dir) + "/"
		for rest := args; len(out) < maxMentions; {
			_, after, ok := strings.Cut(rest, prefix)
			if !ok {
				break
			}
			if n := nameLength(after); n > 0 {
				out = append(out, prefix+after[:n])
			}
			rest = after
		}
	}
	return out
}

// nameLength is how many bytes at the start of s can be part of a file's name.
func nameLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.:-=", r))
	})
	if n < 0 {
		return len(s)
	}
	return n
}

// ReadBack returns the path, out of those that args mention, of the file that
// content was read from; empty if it is not known to have been.
func (s *Store) ReadBack(ctx context.Context, root, args, content string) string {
	if s == nil || content == "" || !strings.Contains(args, path.Base(root)) {
		return ""
	}
	paths := Mentions(root, args)
	if len(paths) == 0 {
		return ""
	}
	if p := s.knownAs(ctx, fingerprintOf(content), paths); p != "" {
		return p
	}
	for _, p := range paths {
		if s.contains(ctx, p, content) {
			return p
		}
	}
	return ""
}
