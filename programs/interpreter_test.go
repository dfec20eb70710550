// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/einolean/einolean/programs"
)

// goPrograms runs programs that are Go functions, by the text that names them.
type goPrograms map[string]func(*goProgram)

func (g goPrograms) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &goProgram{program: p, asks: make(chan struct{}), goes: make(chan map[int]programs.Result), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		<-r.goes
		g[p.Code](r)
	}()
	r.enter(nil)
	return r, nil
}

// goProgram is one of them.
type goProgram struct {
	program programs.Program
	state   programs.State
	count   int
	asks    chan struct{}
	goes    chan map[int]programs.Result
	done    chan struct{}
	closed  bool
}

func (r *goProgram) State() programs.State { return r.state }

func (r *goProgram) enter(results map[int]programs.Result) {
	r.state.Calls = nil
	r.goes <- results
	select {
	case <-r.asks:
	case <-r.done:
	}
}

func (r *goProgram) Resume(ctx context.Context, results []programs.Result) error {
	byNumber := map[int]programs.Result{}
	for _, x := range results {
		byNumber[x.Number] = x
	}
	r.enter(byNumber)
	return ctx.Err()
}

func (r *goProgram) Close() {
	if !r.closed {
		r.closed = true
		close(r.goes)
	}
	if len(r.state.Calls) > 0 {
		r.state.Calls, r.state.Error = nil, "closed"
	}
}

// call makes calls at the same time, of tools with arguments.
func (r *goProgram) call(calls ...string) (results []programs.Result) {
	var asked []programs.Call
	for _, c := range calls {
		r.count++
		name, args, _ := strings.Cut(c, " ")
		asked = append(asked, programs.Call{Number: r.count, Tool: name, Arguments: args})
	}
	r.state.Calls = asked
	r.asks <- struct{}{}
	got, ok := <-r.goes
	if !ok {
		runtime.Goexit()
	}
	for _, c := range asked {
		results = append(results, got[c.Number])
	}
	return results
}

func (r *goProgram) print(v ...any) { r.state.Printed += fmt.Sprintln(v...) }
