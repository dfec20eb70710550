// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// The execution of one program.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/sys"

	"github.com/einolean/einolean/programs"
)

// execution is a program that has started.
type execution struct {
	interpreter  *interpreter // keeps the engine alive
	texts        texts
	code         string
	program      programs.Program
	batches      [][]programs.Result // results, by batch
	batchResults []programs.Result   // results of the current batch so far
	queue        []programs.Call     // calls of the current batch that do not run yet
	machine      *machine            // nil after the end, and if the program lost its memory while it waits
	state        programs.State
	computed     time.Duration // CPU time
	batchCount   int
	singleCount  int // batches of one call
	callCount    int
}

// State implements programs.Run.
func (r *execution) State() programs.State {
	s := r.state
	s.Calls, s.Notes = slices.Clone(s.Calls), slices.Clone(s.Notes)
	return s
}

// Close implements programs.Run.
func (r *execution) Close() {
	r.interpreter.waiting.remove(r)
	if len(r.state.Calls) > 0 {
		r.stop(r.texts["stopped.closed"])
	}
	r.dropMachine()
}

// dropMachine frees the memory.
func (r *execution) dropMachine() {
	if r.machine != nil {
		r.machine.close()
		r.machine = nil
	}
}

// returnKeyword finds programs that may be the body of a function. All others are scripts: the
// value of the last expression is what they return.
var returnKeyword = regexp.MustCompile(`\breturn\b`)

// startProgram runs the program until it waits for the first time or ends.
func (r *execution) startProgram(ctx context.Context) error {
	limits, p := r.interpreter.limits, r.program
	e, err := r.interpreter.engine()
	if err != nil {
		return err
	}
	return r.compute(ctx, func(ctx context.Context) error {
		m, err := e.newMachine(ctx, programSettings{p.Time.UnixMilli(), seedFrom(p.Seed), limits.forPrelude(), r.texts})
		if err != nil {
			return err
		}
		r.machine = m
		value, thrown, err := m.evaluate(ctx, r.code, programName, evalAsync)
		if err != nil {
			return err
		}
		if thrown == "" {
			_, err = m.dispatch(ctx, "completion", value)
			return err
		}
		if returnKeyword.MatchString(r.code) { // only a function may return
			thrown = ""
		}
		return r.startFunction(ctx, thrown)
	})
}

// startFunction starts the program as the body of a function. If that does not compile, the error
// is the one that it had as a script, if any.
func (r *execution) startFunction(ctx context.Context, thrown string) error {
	code, err := r.machine.newString(ctx, r.code)
	if err != nil {
		return err
	}
	_, err = r.machine.dispatch(ctx, "function", code)
	if err == nil || !strings.HasPrefix(err.Error(), "SyntaxError") {
		return err
	}
	above := 0
	if thrown == "" {
		thrown, above = err.Error(), linesAbove
	}
	first, stack, _ := strings.Cut(thrown, "\n")
	line := 0
	if m := stackLine.FindStringSubmatch(stack); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	r.stop(r.texts.syntaxErrorText(r.code, first, line-above, r.compiles(ctx)))
	return nil
}

// compiles returns a function that reports whether a program compiles, without running it.
func (r *execution) compiles(ctx context.Context) func(code string) bool {
	return func(code string) bool {
		text, err := r.machine.newString(ctx, code)
		if err != nil {
			return false
		}
		answer, err := r.machine.dispatch(ctx, "reads", text)
		return err == nil && answer != ""
	}
}

// stackLine finds the line of an error in its stack. In the body of a function, linesAbove lines
// precede the program.
var stackLine = regexp.MustCompile(`<(?:input|program)>:(\d+)`)

const linesAbove = 2

func seedFrom(s string) (seed [4]int32) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	g := rand.New(rand.NewPCG(h.Sum64(), uint64(len(s))))
	for i := range seed {
		seed[i] = int32(g.Uint32())
	}
	return seed
}

// Resume implements programs.Run.
func (r *execution) Resume(ctx context.Context, results []programs.Result) error {
	if len(r.state.Calls) == 0 {
		return errors.New("javascript: the program has ended")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	results = slices.Clone(results)
	slices.SortFunc(results, func(a, b programs.Result) int { return a.Number - b.Number })
	if !slices.EqualFunc(results, r.state.Calls, func(a programs.Result, b programs.Call) bool { return a.Number == b.Number }) {
		return errors.New("javascript: the results are not those of the calls that the program waits for")
	}
	if r.batchResults = append(r.batchResults, results...); len(r.queue) > 0 {
		r.offerCalls(r.queue)
		return nil
	}
	r.interpreter.waiting.remove(r)
	r.batches, r.batchResults = append(r.batches, r.batchResults), nil
	if err := r.replayBatches(ctx); err != nil {
		return err
	}
	r.interpreter.waiting.add(r)
	return nil
}

// replayBatches resumes with the last batch. A program that lost its machine starts again and gets
// the results of all batches.
func (r *execution) replayBatches(ctx context.Context) error {
	todo := r.batches[len(r.batches)-1:]
	if r.machine == nil {
		todo, r.computed, r.batchCount, r.singleCount, r.callCount = r.batches, 0, 0, 0, 0
		if err := r.startProgram(ctx); err != nil {
			return err
		}
	}
	for _, batch := range todo {
		if r.machine == nil {
			return nil // it has ended
		}
		if err := r.compute(ctx, func(ctx context.Context) error { return r.settleBatch(ctx, batch) }); err != nil {
			return err
		}
	}
	return nil
}

// offerCalls puts at most Limits.MaxConcurrentCalls calls into the state, and queues the others.
func (r *execution) offerCalls(calls []programs.Call) {
	n := min(len(calls), r.interpreter.limits.MaxConcurrentCalls)
	r.state.Calls, r.queue = calls[:n:n], calls[n:]
}

func (r *execution) settleBatch(ctx context.Context, results []programs.Result) error {
	for _, result := range results {
		if err := r.settleCall(ctx, result); err != nil {
			return err
		}
	}
	return nil
}

func (r *execution) settleCall(ctx context.Context, result programs.Result) error {
	op, text := "reject", result.Text
	if !result.Failed {
		op = "settle"
		if hasLargeNumber(text) {
			op = "settle exactly"
		}
	}
	number, err := r.machine.call(ctx, "JS_NewNumber", r.machine.ctx, uint64FromFloat(float64(result.Number)))
	if err != nil {
		return err
	}
	value, err := r.machine.newString(ctx, text)
	if err != nil {
		return err
	}
	_, err = r.machine.dispatch(ctx, op, number, value)
	return err
}

// compute runs a step of the program and all jobs that follow from it, within Limits.Time. The
// state holds what ended the program. The error is of ctx, or of the machine itself.
func (r *execution) compute(ctx context.Context, step func(context.Context) error) error {
	select {
	case processors <- struct{}{}:
		defer func() { <-processors }()
	case <-ctx.Done():
		return ctx.Err()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	runtime.LockOSThread() // for the thread clock
	defer runtime.UnlockOSThread()
	used := startThreadClock()
	go cancelAfter(inner, cancel, used, r.interpreter.limits.Time-r.computed)
	err := step(inner)
	if err == nil && r.state.Error == "" {
		err = r.machine.runJobs(inner)
	}
	if err == nil && r.state.Error == "" {
		err = r.readState(inner)
	}
	r.computed += used()
	return r.conclude(ctx, err)
}

// cancelAfter cancels a context when a thread has used its limit of CPU time. On a busy machine,
// that takes longer than the clock says.
func cancelAfter(ctx context.Context, cancel context.CancelFunc, used func() time.Duration, limit time.Duration) {
	for left := limit; left > 0; left = limit - used() {
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
	cancel()
}

// conclude turns the error that stopped the machine into the program's state.
func (r *execution) conclude(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	limits := r.interpreter.limits
	var exit *sys.ExitError
	switch {
	case r.computed >= limits.Time, errors.As(err, &exit):
		r.stop(r.texts.format("stopped.time", limits.Time))
	case err == nil:
	case r.machine == nil: // it could not be created
		return fmt.Errorf("javascript: starting a machine: %w", err)
	case strings.Contains(err.Error(), "stack"):
		r.stop(r.texts["stopped.stack"])
	default: // out of memory, or the trap that follows from it
		r.stop(r.texts.format("stopped.memory", limits.Memory>>20))
	}
	r.saveOutput()
	if len(r.state.Calls) == 0 {
		r.dropMachine()
	}
	return nil
}

// saveOutput copies what was printed from the machine, which also works on one that was stopped.
func (r *execution) saveOutput() {
	if r.machine == nil {
		return
	}
	text, cut := r.machine.readOutput()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "")
	}
	if cut {
		text = strings.TrimSuffix(text, "\n") + "\n" + r.texts.format("cut", r.interpreter.limits.Output)
	}
	r.state.Printed = text
}

// report is the state of the program according to the prelude.
type report struct {
	Calls []struct {
		Number, Line          int
		Tool, Arguments, Path string
	} `json:"calls"`
	OpenCalls       int    `json:"waits"`
	Ended, OK, Over bool   // Over: more calls than are allowed
	Doubtful        bool   // something was undefined, or no number
	Shapes          string // what the calls returned, if the program is doubtful
	Returned, Error string
	Line            int
	Notes           []string
}

// readState reads the program's state from the machine.
func (r *execution) readState(ctx context.Context) error {
	text, err := r.machine.dispatch(ctx, "state")
	if err != nil {
		return err
	}
	var s report
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return fmt.Errorf("the state: %w", err)
	}
	r.state.Notes = r.notes(s)
	var calls []programs.Call
	for _, c := range s.Calls {
		calls = append(calls, programs.Call{Number: c.Number, Tool: c.Tool, Arguments: c.Arguments, Path: c.Path, Line: c.Line})
	}
	r.offerCalls(calls)
	limits := r.interpreter.limits
	switch {
	case s.Over:
		r.stop(r.texts.format("stopped.calls", limits.Calls))
	case len(r.state.Calls) > 0:
		r.countBatch(len(s.Calls))
	case !s.Ended:
		r.stop(r.texts["stopped.waiting"])
	case s.OK:
		r.state.Returned = s.Returned
		if len(s.Returned) >= limits.Output {
			r.state.Returned = strings.ToValidUTF8(s.Returned[:limits.Output], "") + "\n" + r.texts.format("cut", limits.Output)
		}
	case strings.HasPrefix(s.Error, "InternalError: out of memory"):
		r.stop(r.texts.format("stopped.memory", limits.Memory>>20))
	default:
		r.stop(r.texts.runtimeErrorText(r.code, s.Error, s.Line, r.compiles(ctx)))
	}
	return nil
}

// countBatch counts a round of calls, and stops a program that exceeds Limits.MaxBatches. Only one that
// mostly waits for single calls is told to make them at the same time.
func (r *execution) countBatch(calls int) {
	r.batchCount++
	if calls == 1 {
		r.singleCount++
	}
	limit := r.interpreter.limits.MaxBatches
	switch {
	case r.batchCount <= limit:
	case 2*r.singleCount > r.batchCount:
		r.stop(r.texts.format("stopped.rounds", limit))
	default:
		r.stop(r.texts.format("stopped.batches", limit))
	}
}

// notes returns the notes of the prelude, and those that follow from the program's text.
func (r *execution) notes(s report) []string {
	r.callCount += len(s.Calls)
	if !s.Ended || s.OpenCalls > 0 {
		return s.Notes
	}
	if s.Doubtful && forIn.MatchString(mask(r.code)) {
		s.Notes = append(s.Notes, r.texts["mend.forIn"])
	}
	if fields := missingFields(mask(r.code), s.Shapes); fields != "" {
		s.Notes = append(s.Notes, r.texts.format("field", fields))
	}
	if s.OK && s.Returned == "" && r.callCount == 0 {
		if name := uncalledFunction(r.code, false); name != "" {
			s.Notes = append(s.Notes, r.texts.format("uncalledFunction", name))
		}
	}
	return s.Notes
}

// stop ends the program with an error.
func (r *execution) stop(reason string) { r.state.Calls, r.queue, r.state.Error = nil, nil, reason }

func uint64FromFloat(f float64) uint64 { return math.Float64bits(f) }
