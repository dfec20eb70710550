// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package javascript runs the programs that a model writes in an agent with package programs:
// QuickJS-NG, compiled to WebAssembly, in the runtime wazero. It needs no C compiler and
// starts no process.
//
// A program has access only to its own memory: there are no host functions. It puts its calls
// into a queue, which the host reads between two steps, and gets their results as strings. It
// has no files, network, timers, modules or clock. [Limits] bounds its memory, its computing
// time, its calls and its output.
//
// wazero compiles WebAssembly on amd64 and arm64, and interprets it elsewhere, which is ten to
// a hundred times slower.
package javascript

import (
	"context"
	"runtime"
	"sync"

	"github.com/einolean/einolean/programs"
)

// New returns an interpreter for programs.Config.Interpreter. It is safe for concurrent use. As
// many programs compute at the same time as there are processors; for the others, waiting does
// not count as computing. The first program of a process takes half a second longer, which
// compiles the interpreter. If a limit is invalid, every Start fails with a *einolean.FieldError
// for each.
func New(limits Limits) programs.Interpreter {
	limits = limits.orDefaults()
	in := &interpreter{limits: limits, waiting: waitingList{maxBytes: limits.MaxTotalMemory}}
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
	waiting waitingList
}

// Check returns all mistakes of the limits. programs.New calls it.
func (in *interpreter) Check() error { return in.limits.check() }

// processors limits how many programs compute at the same time to the number of processors.
var processors = make(chan struct{}, runtime.GOMAXPROCS(0))

// Start implements programs.Interpreter.
func (in *interpreter) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := in.engine(); err != nil {
		return nil, err
	}
	r := &execution{interpreter: in, texts: currentTexts(), code: cleanCode(p.Code), program: p}
	if err := r.startProgram(ctx); err != nil {
		r.Close()
		return nil, err
	}
	in.waiting.add(r)
	return r, nil
}
