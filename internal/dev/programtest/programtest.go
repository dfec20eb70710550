// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package programtest has an interpreter for tests of programs.
package programtest

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/einolean/einolean/programs"
)

// Programs runs programs that are Go functions, by the text that names them.
type Programs map[string]func(*Program)

// Start starts one of them.
func (g Programs) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Program{program: p, calls: make(chan struct{}), results: make(chan map[int]programs.Result), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		<-r.results
		g[p.Code](r)
	}()
	r.enter(nil)
	return r, nil
}

// Program is one of them.
type Program struct {
	program  programs.Program
	state    programs.State
	count    int
	calls    chan struct{}
	results  chan map[int]programs.Result
	ended    chan struct{}
	isClosed bool
}

// State is where it is.
func (r *Program) State() programs.State { return r.state }

func (r *Program) enter(results map[int]programs.Result) {
	r.state.Calls = nil
	r.results <- results
	select {
	case <-r.calls:
	case <-r.ended:
	}
}

// Resume goes on with it.
func (r *Program) Resume(ctx context.Context, results []programs.Result) error {
	byNumber := map[int]programs.Result{}
	for _, x := range results {
		byNumber[x.Number] = x
	}
	r.enter(byNumber)
	return ctx.Err()
}

// Close ends it.
func (r *Program) Close() {
	if !r.isClosed {
		r.isClosed = true
		close(r.results)
	}
	if len(r.state.Calls) > 0 {
		r.state.Calls, r.state.Error = nil, "closed"
	}
}

// Call makes calls at the same time, of tools with arguments.
func (r *Program) Call(calls ...string) (results []programs.Result) {
	var asked []programs.Call
	for _, c := range calls {
		r.count++
		name, args, _ := strings.Cut(c, " ")
		asked = append(asked, programs.Call{Number: r.count, Tool: name, Arguments: args})
	}
	r.state.Calls = asked
	r.calls <- struct{}{}
	got, ok := <-r.results
	if !ok {
		runtime.Goexit()
	}
	for _, c := range asked {
		results = append(results, got[c.Number])
	}
	return results
}

// Print prints a line.
func (r *Program) Print(v ...any) { r.state.Printed += fmt.Sprintln(v...) }
