// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

// An upload is bound to one name from its start, and the content comes only once, so what was sent
// is also kept until it is known that the name was still free: in memory, then in a temporary file,
// and where there is no room for one, as a temporary object.

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// spoolMemory is how much of content is kept in memory, in bytes.
	spoolMemory = 1 << 20

	// tempPrefix starts the names of temporary files and objects.
	tempPrefix = ".leanctx-"
)

// errNoRoom says that content cannot be kept on this machine.
var errNoRoom = errors.New("no room for a temporary file")

// CreateAny makes an object under the first free name.
func (o objects) CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	n := &naming{names: names}
	for taken := true; taken; {
		if !n.next() {
			return "", fs.ErrExist
		}
		var err error
		if taken, err = o.exists(ctx, n.name); err != nil {
			return "", err
		}
	}
	s := &spool{src: content, tempDir: o.tempDir}
	defer s.close()
	err := o.saveAny(ctx, n, s.again)
	if errors.Is(err, errNoRoom) {
		err = o.saveThroughBucket(ctx, n, s)
	}
	if err != nil {
		return "", err
	}
	return n.name, nil
}

// saveAny stores what again returns under the current name, or the next one that is free.
func (o objects) saveAny(ctx context.Context, n *naming, again func() io.Reader) error {
	for {
		err := o.save(ctx, n.name, again(), onlyIfFree())
		if !taken(err) {
			return err
		}
		if !n.next() {
			return errors.Join(fs.ErrExist, err)
		}
	}
}

// saveThroughBucket stores content under a name that nobody else uses, and from there
// under one that is free.
func (o objects) saveThroughBucket(ctx context.Context, n *naming, s *spool) error {
	temp := path.Join(path.Dir(n.name), tempPrefix+rand.Text())
	if err := o.save(ctx, temp, s.rest(), &blob.WriterOptions{}); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		_, _ = o.delete(ctx, temp)
	}()
	var open io.Closer
	again := func() io.Reader {
		content, _, err := o.ReadRange(ctx, temp, 0, -1)
		if err != nil {
			return failing{err}
		}
		open = content
		return closing{content}
	}
	err := o.saveAny(ctx, n, again)
	if open != nil {
		_ = open.Close()
	}
	return err
}

// taken reports whether an error says that a name is taken.
func taken(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, fs.ErrExist) || gcerrors.Code(err) == gcerrors.AlreadyExists || refused(err) || conflict(err)
}

// onlyIfFree are the options of a write that must not replace anything.
func onlyIfFree() *blob.WriterOptions {
	return &blob.WriterOptions{IfNotExist: true, Metadata: map[string]string{markKey: rand.Text()}}
}

// failing is content that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// closing is content that is closed at its end.
type closing struct{ io.ReadCloser }

func (c closing) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil {
		_ = c.Close()
	}
	return n, err
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

// again returns a reader of the content from its start. Only the last one may be used.
func (s *spool) again() io.Reader {
	if s.pending != nil {
		return failing{errNoRoom}
	}
	return io.MultiReader(s.kept(), s)
}

// rest returns a reader of the content from its start, which keeps nothing.
func (s *spool) rest() io.Reader {
	return io.MultiReader(s.kept(), bytes.NewReader(s.pending), s.src)
}

func (s *spool) kept() io.Reader {
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
