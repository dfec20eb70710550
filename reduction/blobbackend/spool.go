// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

// An upload is bound to one name from its start, and the content comes only once, so what was sent
// is also kept until it is known that the name was still free: in memory, then in a temporary file,
// and where there is no room for one, as a temporary object.

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// spoolMemory is how much of content is kept in memory, in bytes.
	spoolMemory = 1 << 20

	// tempPrefix starts the names of temporary files and objects.
	tempPrefix = ".einolean-"
)

// errNoRoom says that content cannot be kept on this machine.
var errNoRoom = errors.New("no room for a temporary file")

// isNameTaken reports whether an error says that a name is taken.
func isNameTaken(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, fs.ErrExist) || gcerrors.Code(err) == gcerrors.AlreadyExists || refused(err) || conflict(err)
}

// onlyIfFree are the options of a write that must not replace anything.
func onlyIfFree() *blob.WriterOptions {
	return &blob.WriterOptions{IfNotExist: true, Metadata: map[string]string{markKey: rand.Text()}}
}

// naming goes through the names that content may have.
type naming struct {
	names   func(attempt int) string
	attempt int
	name    string // the current one
}

func (n *naming) next() bool {
	name := n.names(n.attempt)
	n.attempt++
	if name == "" {
		return false
	}
	n.name = name
	return true
}

// spool is content that can be read several times, though it comes only once.
type spool struct {
	src     io.Reader
	tempDir string // of the temporary file; empty: the system's

	start   []byte   // what came first
	file    *os.File // what came then; nil: nothing
	size    int64    // of file
	pending []byte   // what came last and could not be kept
}

// reopen returns a reader of the content from its start. Only the last one may be used.
func (s *spool) reopen() (io.ReadCloser, error) {
	if s.pending != nil {
		return nil, errNoRoom
	}
	return io.NopCloser(io.MultiReader(s.buffered(), s)), nil
}

// rest returns a reader of the content from its start, which keeps nothing.
func (s *spool) rest() io.Reader {
	return io.MultiReader(s.buffered(), bytes.NewReader(s.pending), s.src)
}

func (s *spool) buffered() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.start)
	}
	return io.MultiReader(bytes.NewReader(s.start), io.NewSectionReader(s.file, 0, s.size))
}

// Read reads what has not come yet, and keeps it.
func (s *spool) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	if n > 0 && !s.keep(p[:n]) {
		s.pending = bytes.Clone(p[:n])
		return 0, errNoRoom
	}
	return n, err
}

// keep keeps a piece and reports whether there was room.
func (s *spool) keep(piece []byte) bool {
	if s.file == nil && len(s.start)+len(piece) <= spoolMemory {
		s.start = append(s.start, piece...)
		return true
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.tempDir, tempPrefix+"*")
		if err != nil {
			return false
		}
		s.file = f
		_ = os.Remove(f.Name()) // where an open file can be removed, a crash leaves nothing
	}
	if _, err := s.file.WriteAt(piece, s.size); err != nil {
		return false
	}
	s.size += int64(len(piece))
	return true
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
