// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The interface to the interpreter, programs in memory, and the results of programs.

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/programs/internal/journal"
)

// Interpreter runs the programs that a model writes. The module programs/javascript has one;
// einoleantest.TestInterpreter holds every implementation to what is said here. It must be safe
// for concurrent use, and a program must reach nothing but its own memory and what it is given.
type Interpreter interface {
	// Start starts a program and returns when it waits for calls or has ended. Errors of the program
	// are in its State. Start returns an error only if ctx ended or the interpreter cannot be used.
	Start(ctx context.Context, p Program) (Run, error)
}

// Program is what a model wrote, and all that its outcome may depend on besides the results of
// its calls: the same Program with the same results prints the same.
type Program struct {
	// Code is the text as the model wrote it.
	Code string
	// Seed is the seed of the program's random numbers.
	Seed string
	// Time is the start time of the program's clock.
	Time time.Time
}

// Run is a program that has begun. One goroutine uses it at a time.
type Run interface {
	// State says what the program waits for, or how it ended.
	State() State
	// Resume gives the program the results of all calls that it waits for, in any order, and
	// returns when it waits again or has ended. Its error is that of Start.
	Resume(ctx context.Context, results []Result) error
	// Close releases the program's memory. It may be called more than once, and State may be called
	// afterwards.
	Close()
}

// State is where a program is. It belongs to the caller.
type State struct {
	// Calls are what the program waits for, in the order in which it made them. If there are
	// none, it has ended.
	Calls []Call
	// Printed is everything that it has printed so far, within the interpreter's limit.
	Printed string
	// Returned is what it returned: text as it is, everything else as JSON; "" if nothing.
	Returned string
	// Error says why it ended before its end, where, and what to write instead; "" if it did not.
	Error string
	// Notes are further things that its author should know, such as a forgotten await.
	Notes []string
}

// Call is one call that a program waits for: of a tool, or of stored(path).
type Call struct {
	// Number counts the calls of the program from 1.
	Number int
	// Tool is the name that the program wrote; "" for stored(path).
	Tool string
	// Arguments is a JSON object. Numbers with an absolute value of 2^53 or more may have lost
	// precision and are written with an exponent (9.007199254740992e+15); BigInts are written in full;
	// Infinity is written as 1e+999. If the program did not pass exactly one object, Arguments is a
	// JSON array of what it passed, and the tool does not run.
	Arguments string
	// Path is the argument of stored(path).
	Path string
	// Line is where in the program the call is, from 1; 0 if that is not known.
	Line int
}

// Result is how a call ended.
type Result struct {
	// Number is that of the call.
	Number int
	// Text is the result. If it is JSON, the program receives its value, with integers exact and
	// decimals as the nearest double; otherwise it receives a string.
	Text string
	// Failed rejects the call's promise with Text.
	Failed bool
}

// program is one program of a message, with what this process knows of it.
type program struct {
	saved        *journal.Kept
	process      Run
	answers      map[int]journal.Answer
	pending      []Call // calls without an answer, for the next program turn
	isOutOfTurns bool
	failure      string // error of the interpreter
}

func newProgram(k *journal.Kept) *program {
	return &program{saved: k, answers: map[int]journal.Answer{}}
}

// processes are the programs in memory between two batches of calls. A timer closes them: Eino
// calls no hook when a run ends by an error or an interrupt.
type processes struct {
	mu    sync.Mutex
	runs  map[string]*program // by their ids
	timer *time.Timer
}

func (l *processes) closeAll() {
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
	}
	runs := slices.Collect(maps.Values(l.runs))
	clear(l.runs)
	l.mu.Unlock()
	closeAll(runs)
}

// remove returns a program that is resumed now, or nil. The caller closes it.
func (l *processes) remove(id string) *program {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.runs[id]
	delete(l.runs, id)
	return p
}

// add stores a program until its next batch, at most for idleAfter.
func (l *processes) add(p *program) {
	if p.process == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[p.saved.ID] = p
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(idleAfter, l.closeAll)
}

func closeAll(list []*program) {
	for _, p := range list {
		p.close()
	}
}

// close frees the memory of a program. It recovers from panics: on the timer's goroutine, one would
// end the process.
func (p *program) close() {
	if p.process != nil {
		_ = safe.Call("Interpreter", func() error { p.process.Close(); return nil })
	}
}

// state returns the state of a program. A program whose interpreter panics has ended.
func (p *program) state() State {
	if p.process == nil {
		return State{Error: p.failure}
	}
	s, err := safe.Value("Interpreter", func() (State, error) { return p.process.State(), nil })
	if err != nil {
		s = State{Error: safe.ErrorText(err)}
	}
	return s
}

// finish closes a program and returns its final state.
func (p *program) finish() State {
	p.close()
	return p.state()
}

// fail ends a program whose interpreter returned an error. It returns ctx's error, if any.
func (p *program) fail(ctx context.Context, err error) error {
	p.close()
	p.process, p.pending, p.failure = nil, nil, safe.ErrorText(err)
	return ctx.Err()
}

// start starts a program, or takes it from memory.
func (p *program) start(ctx context.Context, in Interpreter, live *processes) (err error) {
	if old := live.remove(p.saved.ID); old != nil {
		p.process = old.process
		maps.Copy(p.answers, old.answers)
		return nil
	}
	start := Program{Code: p.saved.Code, Seed: p.saved.Seed, Time: time.UnixMilli(p.saved.At)}
	p.process, err = safe.Value("Interpreter", func() (Run, error) { return in.Start(ctx, start) })
	if err == nil && safe.IsNil(p.process) {
		err = errNoRun
	}
	if err != nil {
		p.process = nil
		return p.fail(ctx, err)
	}
	return nil
}

var errNoRun = errors.New("the interpreter did not start the program")

// advance resumes a program until it has ended or waits for calls without an answer. reply answers
// a call without a tool, or returns it for the next program turn.
func (p *program) advance(ctx context.Context, reply func(Call) (Call, *journal.Answer)) error {
	for p.process != nil {
		results := p.results(reply)
		if len(results) == 0 || len(p.pending) > 0 {
			return nil
		}
		if err := safe.Call("Interpreter", func() error { return p.process.Resume(ctx, results) }); err != nil {
			return p.fail(ctx, err)
		}
	}
	return nil
}

// results returns the results for the calls of the current state, and sets p.pending to the calls
// without one.
func (p *program) results(reply func(Call) (Call, *journal.Answer)) (results []Result) {
	p.pending = nil
	for _, c := range p.state().Calls {
		a, ok := p.answers[c.Number]
		if !ok {
			call, answer := reply(c)
			if answer == nil {
				p.pending = append(p.pending, call)
				continue
			}
			a = *answer
			p.answers[c.Number] = a
		}
		results = append(results, resultOf(a))
	}
	return results
}

func resultOf(a journal.Answer) Result {
	return Result{Number: a.Number, Text: a.Text, Failed: a.Failed}
}

// modelOutput ends a program and returns the result of its run_code call.
func modelOutput(ctx context.Context, c *Config, p *program) string {
	end := p.finish()
	counts, last, failed := countsOf(p)
	lines := []string{strings.TrimSuffix(end.Printed, "\n"), end.Returned}
	switch {
	case p.isOutOfTurns:
		lines = append(lines, render("turns", promptData{Limit: c.maxModelCalls(), AtOnce: len(p.answers) > p.saved.Rounds}))
	case end.Error != "":
		lines = append(lines, render("error", promptData{Reason: end.Error}))
	case end.Printed == "" && end.Returned == "":
		shape := ""
		if last != "" {
			shape = toolschema.Shape(last)
		}
		lines = append(lines, render("silent", promptData{Name: failed.Tool, Signature: excerpt(failed.Text), Reason: shape}))
	}
	for _, note := range end.Notes {
		lines = append(lines, render("note", promptData{Reason: note}))
	}
	hasFailed := p.isOutOfTurns || end.Error != "" || failed.Failed
	if hasFailed || end.Printed == "" && end.Returned == "" {
		lines = append(lines, countsText(counts, failed.Failed))
	}
	text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	emitEnded(ctx, c, p, text, einolean.Program{Calls: counts, Rounds: p.saved.Rounds, Failed: end.Error != "" || p.isOutOfTurns})
	return text
}

// countsOf counts the calls of a program by tool. It also returns the last successful result and
// the last failed answer.
func countsOf(p *program) (counts []einolean.ProgramCalls, last string, failed journal.Answer) {
	for _, n := range slices.Sorted(maps.Keys(p.answers)) {
		a := p.answers[n]
		i := slices.IndexFunc(counts, func(c einolean.ProgramCalls) bool { return c.Tool == a.Tool })
		if i < 0 {
			i, counts = len(counts), append(counts, einolean.ProgramCalls{Tool: a.Tool})
		}
		counts[i].Calls++
		counts[i].Bytes += len(a.Text)
		if a.Failed {
			counts[i].Failed++
			failed = a
		} else {
			last = a.Text
		}
	}
	return counts, last, failed
}

// countsText describes the counts to the model.
func countsText(counts []einolean.ProgramCalls, hasFailedCall bool) string {
	var words []string
	for _, c := range counts {
		if c.Tool != "" {
			words = append(words, render("count", promptData{Name: c.Tool, Total: c.Calls, Limit: c.Failed}))
		}
	}
	if len(words) == 0 {
		return render("none", promptData{})
	}
	return render("calls", promptData{Words: words, Failed: hasFailedCall})
}

// emitEnded emits the event of a program that ended.
func emitEnded(ctx context.Context, c *Config, p *program, text string, summary einolean.Program) {
	var results einolean.Size
	for _, a := range p.answers {
		results.Bytes += len(a.Text)
		results.Tokens += int64(tokens.Of(a.Text))
	}
	summary.Calls = summary.Calls[:min(len(summary.Calls), maxEventTools)]
	c.emit(ctx, einolean.Event{Kind: einolean.KindProgramEnded, Tool: toolnames.Run, CallID: p.saved.ID, Program: &summary, Output: &einolean.OutputChange{
		Before: results,
		After:  einolean.Size{Bytes: len(text), Tokens: int64(tokens.Of(text))},
		Rule:   "program",
	}})
}
