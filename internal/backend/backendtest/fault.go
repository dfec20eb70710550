// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"runtime"
	"slices"
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
	pass  func() error // the whole call
	part  func() error // the call with what was taken only
	take  func()       // taking alone; nil where that has no effect
	short error        // what a short call returns; nil: nothing
}

func (fault Fault) run(ctx context.Context, a action) error {
	switch fault.Mode {
	case Short, Torn:
		err := a.part()
		if err == nil && fault.Mode == Short {
			err = a.short
		}
		return err
	case Late:
		return errors.Join(a.pass(), ErrInjected)
	case Slow:
		return errors.Join(wait(ctx, fault.Gate), a.pass())
	case OK:
		return a.pass()
	}
	if a.take != nil {
		a.take()
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
