// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Reads stored content piecemeal, to compare it or to find something in it.

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"strings"
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

const (
	needleSize    = 256 // bytes of a piece that are searched for first
	maxCandidates = 32  // places that are compared
)

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
