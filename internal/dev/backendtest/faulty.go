// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

// Op is the kind of a call to a store.
type Op string

// The kinds of calls.
const (
	OpWrite     Op = "write"
	OpCreate    Op = "create"
	OpRead      Op = "read"
	OpReadRange Op = "read range"
	OpDelete    Op = "delete"
)

// Call is one call to a [Faulty] store.
type Call struct {
	Op Op
	// N counts the calls of this kind, from 1.
	N int
	// Path is the file path, or the directory of OpDelete.
	Path string
}

// Mode is how a call goes wrong.
type Mode int

// The modes. "What was taken" is the first Fault.After bytes of the content.
const (
	// OK passes the call on.
	OK Mode = iota
	// Fail takes what is to be taken, keeps nothing, and returns ErrInjected.
	Fail
	// Short keeps what was taken and returns io.ErrShortWrite; a read returns what
	// was taken and io.ErrUnexpectedEOF.
	Short
	// Torn keeps or returns what was taken and reports success: a store that lies.
	Torn
	// Late passes the call on and reports ErrInjected though it succeeded.
	Late
	// Hang takes what is to be taken, waits until the context ends and returns its
	// error.
	Hang
	// Slow waits for Fault.Gate to be closed, or for the context's end, and then
	// passes the call on.
	Slow
	// Panic takes what is to be taken and panics.
	Panic
	// Exit takes what is to be taken and ends its goroutine, as a test's FailNow does.
	Exit
)

// Fault is what happens to one call. The zero value lets it pass.
type Fault struct {
	Mode Mode
	// After is how many bytes of the content are taken first.
	After int64
	// Gate holds a Slow call up until it is closed. If nil, until the context ends.
	Gate <-chan struct{}
}

// Plan decides what happens to a call. It may be called concurrently.
type Plan func(Call) Fault

// Nth lets the nth call of a kind, counted from 1, go wrong, and no other.
func Nth(op Op, n int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Op == op && c.N == n {
			return f
		}
		return Fault{}
	}
}

// Every lets all calls of the given kinds go wrong; without kinds, every call.
func Every(f Fault, ops ...Op) Plan {
	return func(c Call) Fault {
		if len(ops) == 0 || slices.Contains(ops, c.Op) {
			return f
		}
		return Fault{}
	}
}

// action is a call that a fault may happen to.
type action struct {
	pass       func() error // the whole call
	part       func() error // the call with what was taken only
	takeOnly   func()       // taking alone; nil where that has no effect
	shortError error        // what a short call returns; nil: nothing
}

func (fault Fault) apply(ctx context.Context, a action) error {
	switch fault.Mode {
	case Short, Torn:
		err := a.part()
		if err == nil && fault.Mode == Short {
			err = a.shortError
		}
		return err
	case Late:
		return errors.Join(a.pass(), ErrInjected)
	case Slow:
		return errors.Join(wait(ctx, fault.Gate), a.pass())
	case OK:
		return a.pass()
	}
	if a.takeOnly != nil {
		a.takeOnly()
	}
	switch fault.Mode {
	case Hang:
		<-ctx.Done()
		return ctx.Err()
	case Panic:
		panic(ErrInjected)
	case Exit:
		runtime.Goexit()
	}
	return ErrInjected
}

// wait returns when gate is closed or the context ends.
func wait(ctx context.Context, gate <-chan struct{}) error {
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ErrInjected is the error of a [Faulty] store. Its text must never reach a model.
var ErrInjected = errors.New("injected fault: device /dev/secret-volume is full")

// FullStore is a store with all capabilities, such as [backend.Memory].
type FullStore interface {
	store.Backend
	store.Reader
	store.RangeReader
	store.Creator
	backend.FirstFreeCreator
	store.Cleaner
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
func NewFaulty(kept FullStore, plan Plan) *Faulty {
	if plan == nil {
		plan = Every(Fault{})
	}
	return &Faulty{store: kept, plan: plan, count: make(map[Op]int)}
}

// WriteOnly is the same store with nothing but Write, as Eino asks for.
func (f *Faulty) WriteOnly() store.Backend { return struct{ store.Backend }{f} }

// ReadWrite is the same store with Write and Read, as Eino's file systems.
func (f *Faulty) ReadWrite() interface {
	store.Backend
	store.Reader
} {
	return struct {
		store.Backend
		store.Reader
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

// record records a call and asks the plan.
func (f *Faulty) record(op Op, path string) Fault {
	f.mu.Lock()
	f.count[op]++
	c := Call{Op: op, N: f.count[op], Path: path}
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	return f.plan(c)
}

// Write implements [store.Backend].
func (f *Faulty) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	fault := f.record(OpWrite, req.FilePath)
	taken := req.Content[:min(fault.After, int64(len(req.Content)))]
	return fault.apply(ctx, action{
		pass: func() error { return f.store.Write(ctx, req) },
		part: func() error {
			return f.store.Write(ctx, &filesystem.WriteRequest{FilePath: req.FilePath, Content: taken})
		},
		shortError: io.ErrShortWrite,
	})
}

// Create implements [store.Creator].
func (f *Faulty) Create(ctx context.Context, filePath string, content io.Reader) error {
	fault := f.record(OpCreate, filePath)
	taken := io.LimitReader(content, fault.After)
	return fault.apply(ctx, action{
		pass:       func() error { return f.store.Create(ctx, filePath, content) },
		part:       func() error { return f.store.Create(ctx, filePath, taken) },
		takeOnly:   func() { _, _ = io.Copy(io.Discard, taken) },
		shortError: io.ErrShortWrite,
	})
}

// CreateFirstFree implements [backend.FirstFreeCreator]. It is a call of OpCreate with an empty
// path.
func (f *Faulty) CreateFirstFree(
	ctx context.Context, names func(attempt int) string, content io.Reader,
) (filePath string, err error) {
	fault := f.record(OpCreate, "")
	taken := io.LimitReader(content, fault.After)
	create := func(content io.Reader) (err error) {
		filePath, err = f.store.CreateFirstFree(ctx, names, content)
		return err
	}
	err = fault.apply(ctx, action{
		pass:       func() error { return create(content) },
		part:       func() error { return create(taken) },
		takeOnly:   func() { _, _ = io.Copy(io.Discard, taken) },
		shortError: io.ErrShortWrite,
	})
	return filePath, err
}

// Read implements [store.Reader]. A partial read returns the first bytes.
func (f *Faulty) Read(ctx context.Context, req *filesystem.ReadRequest) (got *filesystem.FileContent, err error) {
	fault := f.record(OpRead, req.FilePath)
	read := func() (err error) {
		got, err = f.store.Read(ctx, req)
		return err
	}
	err = fault.apply(ctx, action{
		pass: read,
		part: func() error {
			if err := read(); err != nil {
				return err
			}
			got = &filesystem.FileContent{Content: got.Content[:min(fault.After, int64(len(got.Content)))]}
			return nil
		},
		shortError: io.ErrUnexpectedEOF,
	})
	return got, err
}

// ReadRange implements [store.RangeReader]. The faults Short and Torn happen
// while the content is read; the others at once.
func (f *Faulty) ReadRange(
	ctx context.Context, filePath string, offset, length int64,
) (content io.ReadCloser, size int64, err error) {
	fault := f.record(OpReadRange, filePath)
	open := func() (err error) {
		content, size, err = f.store.ReadRange(ctx, filePath, offset, length)
		return err
	}
	err = fault.apply(ctx, action{
		pass: open,
		part: func() error {
			if err := open(); err != nil {
				return err
			}
			content = &cutContent{Closer: content, reader: io.LimitReader(content, fault.After), mode: fault.Mode}
			return nil
		},
	})
	return content, size, err
}

// cutContent ends early: with an error, or as if that were all.
type cutContent struct {
	io.Closer
	reader io.Reader
	mode   Mode
}

func (c *cutContent) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	if errors.Is(err, io.EOF) && c.mode == Short {
		err = ErrInjected
	}
	return n, err
}

// MarkUsed implements [store.Cleaner].
func (f *Faulty) MarkUsed(ctx context.Context, filePaths ...string) error {
	return f.store.MarkUsed(ctx, filePaths...)
}

// DeleteUnused implements [store.Cleaner].
func (f *Faulty) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	fault := f.record(OpDelete, dir)
	err = fault.apply(ctx, action{
		pass: func() (err error) {
			files, bytes, err = f.store.DeleteUnused(ctx, dir, since)
			return err
		},
		part: func() error { return nil },
	})
	return files, bytes, err
}

// Stored implements [store.Cleaner].
func (f *Faulty) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	return f.store.Stored(ctx, dir)
}
