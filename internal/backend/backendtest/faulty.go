// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/leanctx/leanctx"
)

// ErrInjected is the error of a [Faulty] store. Its text must never reach a model.
var ErrInjected = errors.New("injected fault: device /dev/secret-volume is full")

// FullStore is a store with all capabilities, such as [backend.Memory].
type FullStore interface {
	leanctx.Backend
	leanctx.Reader
	leanctx.RangeReader
	leanctx.Creator
	leanctx.AnyCreator
	leanctx.Cleaner
}

// Faulty passes calls on to another store, except those that its plan lets go
// wrong. It has all capabilities; [Faulty.WriteOnly] and the like hide some. It is safe
// for concurrent use.
type Faulty struct {
	store FullStore
	plan  Plan

	mu    sync.Mutex
	calls []Call
	count map[Op]int
}

var _ FullStore = (*Faulty)(nil)

// NewFaulty returns a store over another one. A nil plan lets every call pass.
func NewFaulty(store FullStore, plan Plan) *Faulty {
	if plan == nil {
		plan = Every(Fault{})
	}
	return &Faulty{store: store, plan: plan, count: make(map[Op]int)}
}

// WriteOnly is the same store with nothing but Write, as Eino asks for.
func (f *Faulty) WriteOnly() leanctx.Backend { return struct{ leanctx.Backend }{f} }

// ReadWrite is the same store with Write and Read, as Eino's file systems.
func (f *Faulty) ReadWrite() interface {
	leanctx.Backend
	leanctx.Reader
} {
	return struct {
		leanctx.Backend
		leanctx.Reader
	}{f, f}
}

// Calls returns what was asked of the store so far, in order.
func (f *Faulty) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Call(nil), f.calls...)
}

// Count says how many calls of a kind there were.
func (f *Faulty) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[op]
}

// next records a call and asks the plan.
func (f *Faulty) next(op Op, path string) Fault {
	f.mu.Lock()
	f.count[op]++
	c := Call{Op: op, N: f.count[op], Path: path}
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	return f.plan(c)
}

// Write implements [leanctx.Backend].
func (f *Faulty) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	fault := f.next(OpWrite, req.FilePath)
	taken := req.Content[:min(fault.After, int64(len(req.Content)))]
	return fault.run(ctx, action{
		pass: func() error { return f.store.Write(ctx, req) },
		part: func() error {
			return f.store.Write(ctx, &filesystem.WriteRequest{FilePath: req.FilePath, Content: taken})
		},
		short: io.ErrShortWrite,
	})
}

// Create implements [leanctx.Creator].
func (f *Faulty) Create(ctx context.Context, filePath string, content io.Reader) error {
	fault := f.next(OpCreate, filePath)
	taken := io.LimitReader(content, fault.After)
	return fault.run(ctx, action{
		pass:  func() error { return f.store.Create(ctx, filePath, content) },
		part:  func() error { return f.store.Create(ctx, filePath, taken) },
		take:  func() { _, _ = io.Copy(io.Discard, taken) },
		short: io.ErrShortWrite,
	})
}

// CreateAny implements [leanctx.AnyCreator]. It is a call of OpCreate with an empty
// path.
func (f *Faulty) CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (filePath string, err error) {
	fault := f.next(OpCreate, "")
	taken := io.LimitReader(content, fault.After)
	create := func(content io.Reader) (err error) {
		filePath, err = f.store.CreateAny(ctx, names, content)
		return err
	}
	err = fault.run(ctx, action{
		pass:  func() error { return create(content) },
		part:  func() error { return create(taken) },
		take:  func() { _, _ = io.Copy(io.Discard, taken) },
		short: io.ErrShortWrite,
	})
	return filePath, err
}

// Read implements [leanctx.Reader]. A partial read returns the first bytes.
func (f *Faulty) Read(ctx context.Context, req *filesystem.ReadRequest) (got *filesystem.FileContent, err error) {
	fault := f.next(OpRead, req.FilePath)
	read := func() (err error) {
		got, err = f.store.Read(ctx, req)
		return err
	}
	err = fault.run(ctx, action{
		pass: read,
		part: func() error {
			if err := read(); err != nil {
				return err
			}
			got = &filesystem.FileContent{Content: got.Content[:min(fault.After, int64(len(got.Content)))]}
			return nil
		},
		short: io.ErrUnexpectedEOF,
	})
	return got, err
}

// ReadRange implements [leanctx.RangeReader]. The faults Short and Torn happen
// while the content is read; the others at once.
func (f *Faulty) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	fault := f.next(OpReadRange, filePath)
	open := func() (err error) {
		content, size, err = f.store.ReadRange(ctx, filePath, offset, length)
		return err
	}
	err = fault.run(ctx, action{
		pass: open,
		part: func() error {
			if err := open(); err != nil {
				return err
			}
			content = &cutContent{Closer: content, rest: io.LimitReader(content, fault.After), mode: fault.Mode}
			return nil
		},
	})
	return content, size, err
}

// cutContent ends early: with an error, or as if that were all.
type cutContent struct {
	io.Closer
	rest io.Reader
	mode Mode
}

func (c *cutContent) Read(p []byte) (int, error) {
	n, err := c.rest.Read(p)
	if errors.Is(err, io.EOF) && c.mode == Short {
		err = ErrInjected
	}
	return n, err
}

// MarkUsed implements [leanctx.Cleaner].
func (f *Faulty) MarkUsed(ctx context.Context, filePaths ...string) error {
	return f.store.MarkUsed(ctx, filePaths...)
}

// DeleteUnused implements [leanctx.Cleaner].
func (f *Faulty) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	fault := f.next(OpDelete, dir)
	err = fault.run(ctx, action{
		pass: func() (err error) {
			files, bytes, err = f.store.DeleteUnused(ctx, dir, since)
			return err
		},
		part: func() error { return nil },
	})
	return files, bytes, err
}

// Stored implements [leanctx.Cleaner].
func (f *Faulty) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	return f.store.Stored(ctx, dir)
}
