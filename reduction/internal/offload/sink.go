// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// Streams, stored while they arrive.

import (
	"bufio"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// streamBuffer is how many bytes of a stream are collected before they are passed to the store.
const streamBuffer = 64 << 10

// Sink takes the text of a stream. It reports no error before Commit, so that a stream is read to its end whatever
// the store does.
type Sink interface {
	// Write takes the next piece of text.
	Write(text string)
	// Commit completes the file and returns its path. If one of the files at possibleCopies is known to have the same
	// content, it returns that path, and no file is created.
	Commit(possibleCopies []string) (string, error)
	// Abort ends the sink without a file, unless Commit was called. It leaves nothing running.
	Abort()
}

// Stream returns a Sink for a stream, of which start has already arrived. If the store accepts streams, the file is
// created at once. For any other store the content is held in memory until Commit. If no path can be used, Commit
// returns the error.
func (o *Offloader) Stream(ctx context.Context, s *Store, at Place, start []string) Sink {
	ctx = WithPass(ctx)
	if s.creator == nil {
		return &bufferedWriter{writer: writer{ctx, o, s, at}, texts: start}
	}
	err := errTaken
	for n := 0; errors.Is(err, errTaken); n++ {
		name, unique := s.candidateName(at, n, nil)
		if name == "" {
			break
		}
		var w *streamWriter
		if w, err = o.beginStream(ctx, s, at, name, unique); err == nil {
			if err = w.writeStart(start); err == nil {
				return w
			}
		}
	}
	return &bufferedWriter{err: err}
}

// beginStream acquires a path for a stream and starts to write there. The content is still unknown, so an existing
// file always counts as different.
func (o *Offloader) beginStream(ctx context.Context, s *Store, at Place, p string, unique bool) (*streamWriter, error) {
	if !o.Showable(p) {
		return nil, errPath
	}
	key := s.key(ctx, p)
	if !o.names.acquire(key, nil, false) {
		return nil, errTaken
	}
	for _, other := range o.Stores {
		if other.Readable() && other.exists(ctx, p, unique) {
			o.names.release(key, unknownContent, false)
			return nil, errTaken
		}
	}
	r, w := io.Pipe()
	f := &streamWriter{
		writer: writer{ctx, o, s, at}, firstPath: p, storedPath: p,
		pipe: w, buf: bufio.NewWriterSize(w, streamBuffer), createErr: make(chan error, 1),
	}
	f.hash.SetSeed(hashSeed)
	f.stop = context.AfterFunc(ctx, func() { r.CloseWithError(context.Cause(ctx)) })
	go func() {
		storedPath, err := f.create(ctx, r)
		// A writer must not wait for a store that has stopped reading.
		r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		if err == nil {
			f.storedPath = storedPath
		}
		f.createErr <- err
	}()
	return f, nil
}

// writer holds what all sinks need: the store, and the place for the content.
type writer struct {
	ctx       context.Context
	offloader *Offloader
	store     *Store
	place     Place
}

// streamWriter is a Sink for a store that accepts streams. The store reads from a pipe on a goroutine of its own, which
// ends with Commit, with Abort, or with the context.
type streamWriter struct {
	writer
	firstPath  string // the path that was acquired
	storedPath string // where the store put the content

	pipe      *io.PipeWriter
	buf       *bufio.Writer
	createErr chan error  // receives the result of the store; storedPath is valid then
	stop      func() bool // stops waiting for the end of the context

	hash     maphash.Hash
	size     int
	err      error
	isClosed bool
}

// writeStart passes on the text that has already arrived. It returns errTaken if the store refuses the path.
func (w *streamWriter) writeStart(texts []string) error {
	for _, t := range texts {
		w.Write(t)
	}
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	if w.err != nil && errors.Is(w.err, fs.ErrExist) {
		w.Abort()
		return errTaken
	}
	return nil
}

func (w *streamWriter) Write(text string) {
	_, _ = w.hash.WriteString(text)
	w.size += len(text)
	if w.err == nil {
		_, w.err = w.buf.WriteString(text)
	}
}

func (w *streamWriter) Commit(possibleCopies []string) (string, error) {
	// The first path was free, so it has no copy.
	others := slices.DeleteFunc(slices.Clone(possibleCopies), func(p string) bool { return p == w.firstPath })
	if p := w.store.findContent(w.ctx, fingerprint{w.hash.Sum64(), w.size}, others); p != "" {
		w.Abort()
		return p, nil
	}
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	if err := w.closePipe(w.err); w.err == nil {
		w.err = err
	}
	if w.err == nil {
		w.err = ignoreUnverified(w.store.check(w.ctx, w.storedPath, int64(w.size)))
	}
	w.releaseNames(w.err == nil)
	if w.err != nil {
		return "", w.err
	}
	return w.storedPath, nil
}

// ignoreUnverified drops the error that a store could not be asked for the content. Nobody else has the whole stream.
func ignoreUnverified(err error) error {
	if errors.Is(err, errUnverified) {
		return nil
	}
	return err
}

func (w *streamWriter) Abort() {
	if !w.isClosed {
		w.err = w.closePipe(errors.New("given up"))
		w.releaseNames(false)
	}
}

// closePipe closes the pipe, with an error if there is one, and waits for the store.
func (w *streamWriter) closePipe(err error) error {
	w.isClosed = true
	_ = w.pipe.CloseWithError(err) // nil becomes io.EOF
	err = <-w.createErr
	w.stop()
	return err
}

// create creates the file at the first path. If that is taken by the time the content has arrived, the store may use a
// random path instead. create returns the path that was used.
func (w *streamWriter) create(ctx context.Context, content io.Reader) (string, error) {
	if w.store.firstFreeCreator == nil {
		return w.firstPath, w.store.create(ctx, w.firstPath, content)
	}
	return call(ctx, w.store, func(ctx context.Context) (string, error) {
		var candidates []string
		got, err := w.store.firstFreeCreator.CreateFirstFree(ctx, func(n int) string {
			if n >= maxTries {
				return ""
			}
			name := w.firstPath
			if n > 0 {
				name = withSuffix(w.place.Path, randomSum(), 1)
			}
			candidates = append(candidates, name)
			return name
		}, observed(ctx, content))
		if err == nil && !slices.Contains(candidates, got) {
			err = errPath
		}
		return got, err
	})
}

// releaseNames ends the writing to the acquired paths.
func (w *streamWriter) releaseNames(stored bool) {
	content := fingerprint{w.hash.Sum64(), w.size}
	if !stored && mayStillWrite(w.ctx, w.err) {
		content, stored = unknownContent, true // an abandoned call may still be writing
	}
	if w.storedPath != w.firstPath { // another writer has the first path
		w.offloader.names.acquire(w.store.key(w.ctx, w.storedPath), nil, true)
		w.offloader.names.release(w.store.key(w.ctx, w.firstPath), unknownContent, true)
	}
	w.offloader.names.release(w.store.key(w.ctx, w.storedPath), content, stored)
}

// bufferedWriter is a Sink for a store that accepts only complete content. With an error it accepts nothing.
type bufferedWriter struct {
	writer
	texts []string
	err   error // the error of Commit
}

func (w *bufferedWriter) Write(text string) {
	if w.err == nil {
		w.texts = append(w.texts, text)
	}
}

func (w *bufferedWriter) Commit(possibleCopies []string) (string, error) {
	if w.err != nil {
		return "", w.err
	}
	content := strings.Join(w.texts, "")
	w.texts = nil
	if p := w.store.findContent(w.ctx, fingerprintOf(content), possibleCopies); p != "" {
		return p, nil
	}
	saved := w.offloader.Save(w.ctx, Item{w.store, w.place, content})
	return saved.Path, ignoreUnverified(saved.Err)
}

func (w *bufferedWriter) Abort() {}
