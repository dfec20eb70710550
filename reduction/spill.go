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
	"slices"
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
	at = s.forStream(at)
	err := error(errTaken)
	for n := 0; n < at.tries() && errors.Is(err, errTaken); n++ {
		var f *spill
		if f, err = o.begin(ctx, s, at, n); err == nil {
			if err = f.start(start); err == nil {
				return f, nil
			}
		}
	}
	return nil, err
}

// begin claims a name for a stream, whose content nobody knows yet, so that any
// file that is there is another one.
func (o *offloader) begin(ctx context.Context, s *store, at spot, n int) (*spill, error) {
	p := at.candidate(n, anySum)
	if !showable(p) {
		return nil, errPath
	}
	if own, _ := o.take(ctx, s, p, fingerprint{}); !own {
		return nil, errTaken
	}
	for _, other := range o.stores {
		if other.readable() && other.exists(ctx, p, n > 0) {
			s.ledger.finish(s.claimName(ctx, p), fingerprint{}, false)
			return nil, errTaken
		}
	}
	return newSpill(ctx, o, s, at, p), nil
}

// forStream is where a stream can go. Its name is chosen before its content is
// there, and another process may take it meanwhile. A store that can finish under
// another name then loses nothing; in any other one the name is this process's own.
func (s *store) forStream(at spot) spot {
	at.alone = s.creator != nil && s.any == nil && !at.fixed
	return at
}

// spill is a sink over a store that takes streams. The store runs on a goroutine
// of its own, which ends with commit or abort, or with the context.
type spill struct {
	ctx   context.Context
	o     *offloader
	s     *store
	at    spot
	first string // the name that was chosen
	path  string // where the content is, once it is there

	pipe *io.PipeWriter
	buf  *bufio.Writer
	done chan outcome
	stop func() bool // releases the watch on the context

	hash  maphash.Hash
	size  int
	err   error
	ended bool
}

// outcome is where a store has put a stream.
type outcome struct {
	path string
	err  error
}

func newSpill(ctx context.Context, o *offloader, s *store, at spot, p string) *spill {
	r, w := io.Pipe()
	f := &spill{ctx: ctx, o: o, s: s, at: at, first: p, path: p, pipe: w, buf: bufio.NewWriterSize(w, spillBuffer), done: make(chan outcome, 1)}
	f.hash.SetSeed(seed)
	f.stop = context.AfterFunc(ctx, func() { r.CloseWithError(context.Cause(ctx)) })
	go func() {
		got, err := f.create(ctx, r)
		// Whoever writes must not wait for a store that has stopped reading.
		r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		f.done <- outcome{got, err}
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
	if result.err == nil {
		f.path = result.path
	}
	return result.err
}

// create makes the file under the first name or, if that is taken by the time the content is
// there, under a name that nobody else chooses. It returns the name.
func (f *spill) create(ctx context.Context, content io.Reader) (string, error) {
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
func (f *spill) name(n int) string {
	if n == 0 {
		return f.first
	}
	return f.at.candidate(1, anySum)
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
	if f.path != f.first { // somebody else has the first name
		f.o.take(f.ctx, f.s, f.path, print)
		f.s.ledger.finish(f.s.claimName(f.ctx, f.first), fingerprint{}, true)
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
	p, _, err := w.o.save(w.ctx, w.s, w.at, content)
	return p, err
}

func (w *whole) abort() {}
