// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file stores a stream while it arrives.

import (
	"bufio"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"strings"
)

// spillBuffer is how much is collected before it is handed to the store.
const spillBuffer = 64 << 10

// sink takes the text of a stream. Nothing that goes wrong shows before commit,
// so that a stream is read to its end whatever the store does.
type sink interface {
	// write takes the next piece.
	write(text string)
	// commit completes the file and returns its path. If one of the files at same
	// is known to hold what arrived, it is that path, and no file is made.
	commit(same []string) (string, error)
	// abort gives up, unless commit was called. It leaves nothing running.
	abort()
}

// open returns a sink for a stream of which start has arrived. In a store that
// takes streams the file is begun now; for any other one the content is held
// until commit.
func (o *offloader) open(ctx context.Context, s *store, at spot, start []string) (sink, error) {
	if s.creator == nil {
		return &whole{o: o, ctx: ctx, s: s, at: at, texts: start}, nil
	}
	err := error(errTaken)
	for n := 0; n < at.tries() && errors.Is(err, errTaken); n++ {
		p := at.candidate(n, anySum)
		var f *spill
		if f, err = o.begin(ctx, s, p, n > 0); err == nil {
			if err = f.start(start); err == nil {
				return f, nil
			}
		}
	}
	return nil, err
}

// begin claims a name for a stream, whose content nobody knows yet, so that any
// file that is there is another one.
func (o *offloader) begin(ctx context.Context, s *store, p string, unique bool) (*spill, error) {
	if !showable(p) {
		return nil, errPath
	}
	if own, _ := o.take(ctx, s, p, fingerprint{}); !own {
		return nil, errTaken
	}
	for _, other := range o.stores {
		if other.readable() && other.exists(ctx, p, unique) {
			s.ledger.finish(s.claimName(ctx, p), fingerprint{}, false)
			return nil, errTaken
		}
	}
	return newSpill(ctx, s, p), nil
}

// spill is a sink over a store that takes streams. The store runs on a goroutine
// of its own, which ends with commit or abort, or with the context.
type spill struct {
	ctx  context.Context
	s    *store
	path string

	pipe *io.PipeWriter
	buf  *bufio.Writer
	done chan error
	stop func() bool // releases the watch on the context

	hash  maphash.Hash
	size  int
	err   error
	ended bool
}

func newSpill(ctx context.Context, s *store, p string) *spill {
	r, w := io.Pipe()
	f := &spill{ctx: ctx, s: s, path: p, pipe: w, buf: bufio.NewWriterSize(w, spillBuffer), done: make(chan error, 1)}
	f.hash.SetSeed(seed)
	f.stop = context.AfterFunc(ctx, func() { r.CloseWithError(context.Cause(ctx)) })
	go func() {
		err := s.create(ctx, p, r)
		// Whoever writes must not wait for a store that has stopped reading.
		r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		f.done <- err
	}()
	return f
}

// start hands over what had arrived before, and so finds out whether the store
// has refused the name.
func (f *spill) start(texts []string) error {
	for _, t := range texts {
		f.write(t)
	}
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	if f.err != nil && errors.Is(f.err, fs.ErrExist) {
		f.abort()
		return errTaken
	}
	return nil
}

func (f *spill) write(text string) {
	_, _ = f.hash.WriteString(text)
	f.size += len(text)
	if f.err == nil {
		_, f.err = f.buf.WriteString(text)
	}
}

func (f *spill) commit(same []string) (string, error) {
	if p := f.s.knownAs(f.ctx, f.print(), same); p != "" {
		f.abort()
		return p, nil
	}
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	if err := f.end(f.err); f.err == nil {
		f.err = err
	}
	if f.err == nil {
		f.err = f.s.check(f.ctx, f.path, int64(f.size))
	}
	f.release(f.err == nil)
	if f.err != nil {
		return "", f.err
	}
	return f.path, nil
}

func (f *spill) abort() {
	if !f.ended {
		_ = f.end(errors.New("given up"))
		f.release(false)
	}
}

// end closes the pipe, with an error if there is one, and waits for the store.
func (f *spill) end(err error) error {
	f.ended = true
	_ = f.pipe.CloseWithError(err) // a nil error is io.EOF
	result := <-f.done
	f.stop()
	return result
}

func (f *spill) print() fingerprint {
	return fingerprint{hash: f.hash.Sum64(), size: f.size, set: true}
}

// release ends the claim on the name.
func (f *spill) release(stored bool) {
	print := f.print()
	if !stored && f.ctx.Err() != nil {
		print, stored = fingerprint{}, true // an abandoned call may still write
	}
	f.s.ledger.finish(f.s.claimName(f.ctx, f.path), print, stored)
}

// whole is a sink over a store that takes only whole contents.
type whole struct {
	o     *offloader
	ctx   context.Context
	s     *store
	at    spot
	texts []string
}

func (w *whole) write(text string) { w.texts = append(w.texts, text) }

func (w *whole) commit(same []string) (string, error) {
	content := strings.Join(w.texts, "")
	w.texts = nil
	if p := w.s.knownAs(w.ctx, fingerprintOf(content), same); p != "" {
		return p, nil
	}
	for _, p := range same {
		if w.s.holds(w.ctx, p, content) {
			return p, nil
		}
	}
	return w.o.save(w.ctx, w.s, w.at, content)
}

func (w *whole) abort() {}
