// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file streams content line by line, in bounded memory.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// maxPiece is the longest line that is looked at as a whole.
	maxPiece = 8 << 20
	// pieceOverlap is how much of a piece of a longer line the next one repeats, so
	// that a match across the cut is in one of them.
	pieceOverlap = 64 << 10
)

// piece is a line without its newline, or a part of a very long one.
type piece struct {
	number int64  // of the line, from 1
	start  int64  // where text begins in the content
	text   []byte // valid until the next piece
	head   bool   // begins where the line begins
	tail   bool   // ends where the line ends
	joined bool   // begins with the end of the piece before
	shared int    // how much of its end the next piece begins with
}

func (p piece) end() int64  { return p.start + int64(len(p.text)) }
func (p piece) whole() bool { return p.head && p.tail }

// doubts reports whether a match, in a text of n bytes, touches a cut in a line and
// may match only because of the cut, while the piece on the other side of the cut
// holds it too and can tell.
func (p piece) doubts(m []int, n int) bool {
	return p.joined && m[0] == 0 || m[1] == n && m[0] > n-p.shared
}

// scanner yields the pieces of content in order.
type scanner struct {
	r      *bufio.Reader
	buf    []byte // what a piece that is not in r's buffer as a whole is put together in
	number int64
	start  int64
	head   bool
	carry  int // how much of the end of buf the next piece begins with
	max    int
	keep   int
}

func newScanner(content io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(content, bufferSize), number: 1, head: true, max: maxPiece, keep: pieceOverlap}
}

// next returns the next piece. At the end of the content the error is io.EOF.
func (s *scanner) next() (piece, error) {
	kept := copy(s.buf, s.buf[len(s.buf)-s.carry:])
	s.buf, s.carry = s.buf[:kept], 0
	for {
		part, err := s.r.ReadSlice('\n')
		switch {
		case err == nil && len(s.buf) == 0:
			return s.line(part), nil
		case err == nil:
			s.buf = append(s.buf, part...)
			return s.line(s.buf), nil
		case errors.Is(err, io.EOF):
			s.buf = append(s.buf, part...)
			if len(s.buf) == kept {
				return piece{}, io.EOF
			}
			return s.line(s.buf), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return piece{}, err
		}
		if s.buf = append(s.buf, part...); len(s.buf) >= s.max {
			return s.cut(), nil
		}
	}
}

// line ends a line with text, which holds its newline if it has one.
func (s *scanner) line(text []byte) piece {
	p := piece{number: s.number, start: s.start, text: bytes.TrimSuffix(text, []byte{'\n'}), head: s.head, tail: true, joined: !s.head}
	s.number++
	s.start += int64(len(text))
	s.head = true
	return p
}

// cut ends a piece inside a line.
func (s *scanner) cut() piece {
	p := piece{number: s.number, start: s.start, text: s.buf, head: s.head, joined: !s.head, shared: s.keep}
	s.carry = s.keep
	s.start = p.end() - int64(s.keep)
	s.head = false
	return p
}
