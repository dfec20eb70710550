// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package javascript runs the programs that a model writes in an agent with package programs:
// QuickJS-NG, compiled to WebAssembly, in the runtime wazero. It needs no C compiler and
// starts no process.
//
// A program reaches nothing but its own memory: there is no host function at all. It leaves
// its calls in a queue, which the host reads between two steps, and gets their results as
// strings. It has no files, network, timers, modules or clock. Its memory, its time of
// computing, its calls and its output are limited by [Limits].
//
// wazero compiles WebAssembly on amd64 and arm64, and interprets it elsewhere, which is ten to
// a hundred times slower.
package javascript

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/programs"
)

// Limits bound a program. A field that is zero has its default. What a program has printed
// before it meets a limit is kept, and its answer says which limit it was.
type Limits struct {
	// Memory is the most that a program may take, in bytes. If zero, defaults to 64 MB; the
	// least is 8 MB.
	Memory int64
	// Time is how long a program may compute, waiting for calls not counted, and on Linux neither
	// waiting for a processor. If zero, defaults to 2 seconds.
	Time time.Duration
	// Calls is the largest number of calls. If zero, defaults to 200.
	Calls int
	// Rounds is how often a program may wait for calls, those that it makes at the same time
	// counting as one. If zero, defaults to 15.
	Rounds int
	// Parallel is how many calls of a program run at the same time; the others follow when these
	// have ended, and count as one round with them. If zero, defaults to 50.
	Parallel int
	// Together is how many bytes the programs of one interpreter may hold while they wait for
	// calls. Beyond that, those that wait longest lose their memory: when their results are there,
	// they run again from their beginning, and no call is made again. If zero, defaults to 256 MB.
	Together int64
	// Output is the most that a program may print, and the most of what it returns, in bytes.
	// If zero, defaults to 20,000.
	Output int
}

const (
	leastMemory = 8 << 20
	mostMemory  = 4 << 30
	mostOutput  = 1 << 20
)

func (l Limits) orDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = 64 << 20
	}
	if l.Time == 0 {
		l.Time = 2 * time.Second
	}
	if l.Calls == 0 {
		l.Calls = 200
	}
	if l.Rounds == 0 {
		l.Rounds = 15
	}
	if l.Parallel == 0 {
		l.Parallel = 50
	}
	if l.Together == 0 {
		l.Together = 256 << 20
	}
	if l.Output == 0 {
		l.Output = 20_000
	}
	return l
}

// check returns everything that is wrong.
func (l Limits) check() error {
	var wrong []error
	bad := func(field, problem string) {
		wrong = append(wrong, &einolean.FieldError{Package: "javascript", Field: "Limits." + field, Err: errors.New(problem)})
	}
	if l.Memory < leastMemory || l.Memory > mostMemory {
		bad("Memory", "must be from 8 MB to 4 GB")
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{"Time", int64(l.Time)}, {"Calls", int64(l.Calls)}, {"Rounds", int64(l.Rounds)}, {"Parallel", int64(l.Parallel)}, {"Together", l.Together}} {
		if f.value < 0 {
			bad(f.name, "must not be negative")
		}
	}
	if l.Output < 0 || l.Output > mostOutput {
		bad("Output", "must be from 0 to 1 MB")
	}
	return errors.Join(wrong...)
}

// New returns an interpreter for programs.Config.Interpreter. It is safe for concurrent use;
// as many programs compute at the same time as there are processors, and the others wait
// without their time running. The first program of a process takes half a second longer, which
// compiles the interpreter. If a limit is impossible, every Start fails with a
// *einolean.FieldError for each.
func New(limits Limits) programs.Interpreter {
	limits = limits.orDefaults()
	in := &interpreter{limits: limits, waiting: waiting{most: limits.Together}}
	in.engine = sync.OnceValues(func() (*engine, error) {
		if err := limits.check(); err != nil {
			return nil, err
		}
		e, err := newEngine(limits.Memory)
		if err == nil {
			runtime.AddCleanup(in, func(e *engine) { _ = e.runtime.Close(context.Background()) }, e)
		}
		return e, err
	})
	return in
}

type interpreter struct {
	limits  Limits
	engine  func() (*engine, error)
	waiting waiting
}

// Check is what is wrong with the limits, for whoever wants to know before a program starts.
func (in *interpreter) Check() error { return in.limits.check() }

// turns lets as many programs compute as there are processors.
var turns = make(chan struct{}, runtime.GOMAXPROCS(0))

// Start implements programs.Interpreter.
func (in *interpreter) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := in.engine(); err != nil {
		return nil, err
	}
	r := &run{interpreter: in, words: currentWords(), code: clean(p.Code), start: p}
	if err := r.begin(ctx); err != nil {
		r.Close()
		return nil, err
	}
	in.waiting.add(r)
	return r, nil
}
