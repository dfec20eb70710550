// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// One program, from its start to its end.

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

// run is a program that has begun.
type run struct {
	interpreter *interpreter // keeps the engine alive
	words       words
	code        string
	start       programs.Program
	settled     [][]programs.Result // by round
	answered    []programs.Result   // of this round, whose other calls have not ended
	queue       []programs.Call     // calls of this round that follow those of the state
	machine     *machine            // nil after the end, and while the program waits if it lost it
	state       programs.State
	used        time.Duration // of computing
	rounds      int
	calls       int
}

// State implements programs.Run.
func (r *run) State() programs.State {
	s := r.state
	s.Calls, s.Notes = slices.Clone(s.Calls), slices.Clone(s.Notes)
	return s
}

// Close implements programs.Run.
func (r *run) Close() {
	r.interpreter.waiting.take(r)
	if len(r.state.Calls) > 0 {
		r.end(r.words["stopped.closed"])
	}
	r.drop()
}

// drop gives the memory back.
func (r *run) drop() {
	if r.machine != nil {
		r.machine.close()
		r.machine = nil
	}
}

// returns finds programs that may be the body of a function. All others are scripts, which may end
// with an expression whose value is theirs.
var returns = regexp.MustCompile(`\breturn\b`)

// begin runs the program until it first waits or ends.
func (r *run) begin(ctx context.Context) error {
	limits, p := r.interpreter.limits, r.start
	e, err := r.interpreter.engine()
	if err != nil {
		return err
	}
	return r.compute(ctx, func(ctx context.Context) error {
		m, err := e.start(ctx, settings{p.Time.UnixMilli(), seedOf(p.Seed), limits.Output, limits.Calls, r.words})
		if err != nil {
			return err
		}
		r.machine = m
		value, thrown, err := m.evaluate(ctx, r.code, programName, evalAsync)
		if err != nil {
			return err
		}
		if thrown == "" {
			_, err = m.ask(ctx, "completion", value)
			return err
		}
		if returns.MatchString(r.code) { // what a script cannot, a function can
			thrown = ""
		}
		return r.function(ctx, thrown)
	})
}

// function begins the program as the body of a function. If it does not compile, what it lacks is
// what was thrown when it was read as a script, if it was.
func (r *run) function(ctx context.Context, thrown string) error {
	code, err := r.machine.string(ctx, r.code)
	if err != nil {
		return err
	}
	_, err = r.machine.ask(ctx, "function", code)
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
	r.end(r.words.unread(r.code, first, line-above, r.reads(ctx)))
	return nil
}

// reads tries whether a program can be read, without running it.
func (r *run) reads(ctx context.Context) func(code string) bool {
	return func(code string) bool {
		text, err := r.machine.string(ctx, code)
		if err != nil {
			return false
		}
		answer, err := r.machine.ask(ctx, "reads", text)
		return err == nil && answer != ""
	}
}

// stackLine finds the line of an error in its stack. The body of a function begins linesAbove
// lines further down.
var stackLine = regexp.MustCompile(`<(?:input|program)>:(\d+)`)

const linesAbove = 2

func seedOf(s string) (seed [4]int32) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	g := rand.New(rand.NewPCG(h.Sum64(), uint64(len(s))))
	for i := range seed {
		seed[i] = int32(g.Uint32())
	}
	return seed
}

// Resume implements programs.Run.
func (r *run) Resume(ctx context.Context, results []programs.Result) error {
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
	if r.answered = append(r.answered, results...); len(r.queue) > 0 {
		r.ask(r.queue)
		return nil
	}
	r.interpreter.waiting.take(r)
	r.settled, r.answered = append(r.settled, r.answered), nil
	if err := r.goOn(ctx); err != nil {
		return err
	}
	r.interpreter.waiting.add(r)
	return nil
}

// goOn settles the last round. A program that lost its machine runs again up to there.
func (r *run) goOn(ctx context.Context) error {
	todo := r.settled[len(r.settled)-1:]
	if r.machine == nil {
		todo, r.used, r.rounds, r.calls = r.settled, 0, 0, 0
		if err := r.begin(ctx); err != nil {
			return err
		}
	}
	for _, round := range todo {
		if r.machine == nil {
			return nil // it has ended
		}
		if err := r.compute(ctx, func(ctx context.Context) error { return r.settleAll(ctx, round) }); err != nil {
			return err
		}
	}
	return nil
}

// ask shows as many calls as may run at the same time.
func (r *run) ask(calls []programs.Call) {
	n := min(len(calls), r.interpreter.limits.Parallel)
	r.state.Calls, r.queue = calls[:n:n], calls[n:]
}

func (r *run) settleAll(ctx context.Context, results []programs.Result) error {
	for _, result := range results {
		if err := r.settle(ctx, result); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) settle(ctx context.Context, result programs.Result) error {
	op, text := "reject", result.Text
	if !result.Failed {
		op = "settle"
		if hasLong(text) {
			op = "settle exactly"
		}
	}
	number, err := r.machine.call(ctx, "JS_NewNumber", r.machine.ctx, uint64FromFloat(float64(result.Number)))
	if err != nil {
		return err
	}
	value, err := r.machine.string(ctx, text)
	if err != nil {
		return err
	}
	_, err = r.machine.ask(ctx, op, number, value)
	return err
}

// compute runs a step of the program and whatever then can go on, on the clock. What ends the
// program is in its state; the error is of ctx, or of the machine itself.
func (r *run) compute(ctx context.Context, step func(context.Context) error) error {
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return ctx.Err()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	used := threadTime()
	go endAfter(inner, cancel, used, r.interpreter.limits.Time-r.used)
	err := step(inner)
	if err == nil && r.state.Error == "" {
		err = r.machine.jobs(inner)
	}
	if err == nil && r.state.Error == "" {
		err = r.read(inner)
	}
	r.used += used()
	return r.conclude(ctx, err)
}

// endAfter cancels a context when a thread has computed for so long. On a busy machine that takes
// longer than the clock says.
func endAfter(ctx context.Context, cancel context.CancelFunc, used func() time.Duration, limit time.Duration) {
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

// conclude turns whatever stopped the machine into the program's state.
func (r *run) conclude(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	limits := r.interpreter.limits
	var exit *sys.ExitError
	switch {
	case r.used >= limits.Time, errors.As(err, &exit):
		r.end(r.words.say("stopped.time", limits.Time))
	case err == nil:
	case r.machine == nil: // it could not even be made
		return fmt.Errorf("javascript: starting a machine: %w", err)
	case strings.Contains(err.Error(), "stack"):
		r.end(r.words["stopped.stack"])
	default: // out of memory, or the trap that follows from it
		r.end(r.words.say("stopped.memory", limits.Memory>>20))
	}
	r.keepOutput()
	if len(r.state.Calls) == 0 {
		r.drop()
	}
	return nil
}

// keepOutput copies what was printed, which can be read whatever happened to the machine.
func (r *run) keepOutput() {
	if r.machine == nil {
		return
	}
	text, cut := r.machine.printed()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "")
	}
	if cut {
		text = strings.TrimSuffix(text, "\n") + "\n" + r.words.say("cut", r.interpreter.limits.Output)
	}
	r.state.Printed = text
}

// report is what the prelude says of the program.
type report struct {
	Calls []struct {
		Number, Line          int
		Tool, Arguments, Path string
	} `json:"calls"`
	Waits           int  `json:"waits"`
	Ended, OK, Over bool // Over: more calls than are allowed
	Doubtful        bool // something was undefined, or no number
	Returned, Error string
	Line            int
	Notes           []string
}

// read takes the program's state from the machine.
func (r *run) read(ctx context.Context) error {
	text, err := r.machine.ask(ctx, "state")
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
	r.ask(calls)
	limits := r.interpreter.limits
	switch {
	case s.Over:
		r.end(r.words.say("stopped.calls", limits.Calls))
	case len(r.state.Calls) > 0:
		if r.rounds++; r.rounds > limits.Rounds {
			r.end(r.words.say("stopped.rounds", limits.Rounds))
		}
	case !s.Ended:
		r.end(r.words["stopped.waiting"])
	case s.OK:
		r.state.Returned = s.Returned
		if len(s.Returned) >= limits.Output {
			r.state.Returned = strings.ToValidUTF8(s.Returned[:limits.Output], "") + "\n" + r.words.say("cut", limits.Output)
		}
	case strings.HasPrefix(s.Error, "InternalError: out of memory"):
		r.end(r.words.say("stopped.memory", limits.Memory>>20))
	default:
		r.end(r.words.mended(r.code, s.Error, s.Line, r.reads(ctx)))
	}
	return nil
}

// notes are those of the prelude, and what the text of the program tells.
func (r *run) notes(s report) []string {
	r.calls += len(s.Calls)
	if !s.Ended || s.Waits > 0 {
		return s.Notes
	}
	if s.Doubtful && forIn.MatchString(mask(r.code)) {
		s.Notes = append(s.Notes, r.words["mend.forIn"])
	}
	if s.OK && s.Returned == "" && r.calls == 0 {
		if name := uncalled(r.code, false); name != "" {
			s.Notes = append(s.Notes, r.words.say("uncalledFunction", name))
		}
	}
	return s.Notes
}

// end ends the program before its end.
func (r *run) end(why string) { r.state.Calls, r.queue, r.state.Error = nil, nil, why }

func uint64FromFloat(f float64) uint64 { return math.Float64bits(f) }
