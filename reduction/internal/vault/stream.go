// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Writes streams to a store while they arrive.

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

// streamBuffer is how much is collected before it goes to the store.
const streamBuffer = 64 << 10

// Sink takes the text of a stream. Nothing that goes wrong shows before Commit,
// so that a stream is read to its end whatever the store does.
type Sink interface {
	// Write takes the next piece.
	Write(text string)
	// Commit completes the file and returns its path. If one of the files at same
	// is known to hold what arrived, it is that path, and no file is made.
	Commit(same []string) (string, error)
	// Abort gives up, unless Commit was called. It leaves nothing running.
	Abort()
}

// failedWriter is the sink of a stream that nothing accepts.
type failedWriter struct{ err error }

func (failedWriter) Write(string) {}

func (w failedWriter) Commit([]string) (string, error) { return "", w.err }

func (failedWriter) Abort() {}

// streamWriter is a Sink over a store that accepts streams. The store runs on a goroutine of
// its own, which ends with Commit or Abort, or with the context.
type streamWriter struct {
	ctx   context.Context
	v     *Vault
	s     *Store
	names names
	first string // the name that was chosen
	path  string // where the content is, once it is there

	pipe *io.PipeWriter
	buf  *bufio.Writer
	done chan error  // the path is known then
	stop func() bool // releases the watch on the context

	hash  maphash.Hash
	size  int
	err   error
	ended bool
}

func newStreamWriter(ctx context.Context, v *Vault, s *Store, names names, p string) *streamWriter {
	r, w := io.Pipe()
	f := &streamWriter{ctx: ctx, v: v, s: s, names: names, first: p, path: p, pipe: w, buf: bufio.NewWriterSize(w, streamBuffer), done: make(chan error, 1)}
	f.hash.SetSeed(seed)
	f.stop = context.AfterFunc(ctx, func() { r.CloseWithError(context.Cause(ctx)) })
	go func() {
		got, err := f.create(ctx, r)
		// A writer must not wait for a store that has stopped reading.
		r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		if err == nil {
			f.path = got
		}
		f.done <- err
	}()
	return f
}

// start passes on what has already arrived, and so finds out whether the store has refused
// the name.
func (f *streamWriter) start(texts []string) error {
	for _, t := range texts {
		f.Write(t)
	}
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	if f.err != nil && errors.Is(f.err, fs.ErrExist) {
		f.Abort()
		return errTaken
	}
	return nil
}

func (f *streamWriter) Write(text string) {
	_, _ = f.hash.WriteString(text)
	f.size += len(text)
	if f.err == nil {
		_, f.err = f.buf.WriteString(text)
	}
}

func (f *streamWriter) Commit(same []string) (string, error) {
	// The first name was free, so the store need not be asked for it.
	others := slices.DeleteFunc(slices.Clone(same), func(p string) bool { return p == f.first })
	if p := f.s.holding(f.ctx, f.is(), others); p != "" {
		f.Abort()
		return p, nil
	}
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	if err := f.end(f.err); f.err == nil {
		f.err = err
	}
	if f.err == nil {
		f.err = believed(f.s.check(f.ctx, f.path, int64(f.size)))
	}
	f.release(f.err == nil)
	if f.err != nil {
		return "", f.err
	}
	return f.path, nil
}

// believed drops the error that a store could not be asked for its content: nobody else has
// the whole stream.
func believed(err error) error {
	if errors.Is(err, errAsked) {
		return nil
	}
	return err
}

func (f *streamWriter) Abort() {
	if !f.ended {
		_ = f.end(errors.New("given up"))
		f.release(false)
	}
}

// end closes the pipe, with an error if there is one, and waits for the store.
func (f *streamWriter) end(err error) error {
	f.ended = true
	_ = f.pipe.CloseWithError(err) // nil becomes io.EOF
	err = <-f.done
	f.stop()
	return err
}

// create makes the file under the first name or, if that is taken by the time the content
// has arrived, under a name unique to this process. It returns the name.
func (f *streamWriter) create(ctx context.Context, content io.Reader) (string, error) {
	if f.s.any == nil {
		return f.first, f.s.create(ctx, f.first, content)
	}
	return guard(ctx, func() (string, error) {
		var chosen []string
		got, err := f.s.any.CreateAny(ctx, func(n int) string {
			if n >= maxTries {
				return ""
			}
			chosen = append(chosen, f.name(n))
			return chosen[n]
		}, content)
		if err == nil && !slices.Contains(chosen, got) {
			err = errPath
		}
		return got, err
	})
}

// name is the nth choice at the end. The first one was made when the stream began.
func (f *streamWriter) name(n int) string {
	if n == 0 {
		return f.first
	}
	name, _ := f.names.nth(max(0, 1-f.names.first), "", anySum)
	return name
}

func (f *streamWriter) is() fingerprint { return fingerprint{f.hash.Sum64(), f.size} }

// release ends the claim on the name.
func (f *streamWriter) release(stored bool) {
	size := f.size
	if !stored && f.ctx.Err() != nil {
		size, stored = -1, true // an abandoned call may still write
	}
	if f.path != f.first { // another writer has the first name
		f.v.known.take(f.s.innerName(f.ctx, f.path), nil, true)
		f.v.known.finish(f.s.innerName(f.ctx, f.first), fingerprint{}, -1, true)
	}
	f.v.known.finish(f.s.innerName(f.ctx, f.path), f.is(), size, stored)
}

// bufferedWriter is a Sink over a store that accepts only whole content.
type bufferedWriter struct {
	v     *Vault
	ctx   context.Context
	s     *Store
	at    Place
	texts []string
}

func (w *bufferedWriter) Write(text string) { w.texts = append(w.texts, text) }

func (w *bufferedWriter) Commit(same []string) (string, error) {
	content := strings.Join(w.texts, "")
	w.texts = nil
	if p := w.s.holding(w.ctx, fingerprintOf(content), same); p != "" {
		return p, nil
	}
	got := w.v.Save(w.ctx, Item{w.s, w.at, content})
	return got.Path, believed(got.Err)
}

func (w *bufferedWriter) Abort() {}
