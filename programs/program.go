// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The seam to the engine that runs programs; programs while they are alive, how they go on, and what
// the model reads of them in the end.

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
	// Start begins a program, and returns when it waits for calls or has ended. Whatever is
	// wrong with the program is part of its state. The error is ctx's, or says that the
	// interpreter itself cannot be used.
	Start(ctx context.Context, p Program) (Run, error)
}

// Program is what a model wrote, and all that its outcome may depend on besides the results of
// its calls: the same Program with the same results prints the same.
type Program struct {
	// Code is the text as the model wrote it.
	Code string
	// Seed is what its random numbers follow from.
	Seed string
	// Time is what its clock begins with.
	Time time.Time
}

// Run is a program that has begun. One goroutine uses it at a time.
type Run interface {
	// State says what the program waits for, or how it ended.
	State() State
	// Resume gives the program the results of all calls that it waits for, in any order, and
	// returns when it waits again or has ended. Its error is that of Start.
	Resume(ctx context.Context, results []Result) error
	// Close gives the memory back. Closing twice is allowed; State keeps what it said.
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
	// Arguments is a JSON object. A number that may have been rounded, of 2^53 and more, is written
	// with an exponent; an integer beyond that is written digit by digit. If the program passed
	// anything else, it is a list of what it passed, and the tool does not run.
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
	// Text is the result. JSON is its value in the program: an integer digit by digit, a decimal as
	// the nearest double. Anything else is a string.
	Text string
	// Failed rejects the call's promise with Text.
	Failed bool
}

// program is one program, as far as this process knows it.
type program struct {
	*journal.SavedProgram
	run     Run
	answers map[int]journal.Answer
	waits   []Call // those that tools must answer
	noTurns bool
	broken  string // why the interpreter could not run it on
}

func newProgram(k *journal.SavedProgram) *program {
	return &program{SavedProgram: k, answers: map[int]journal.Answer{}}
}

// idleAfter is how long a program keeps its memory while its calls run.
const idleAfter = 30 * time.Second

// live keeps programs alive between batches. They are closed when nobody can go on with them: Eino
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

// take takes a program that goes on now: nobody else closes it.
func (l *processes) take(id string) *program {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.runs[id]
	delete(l.runs, id)
	return p
}

// keep keeps a program for its next batch, for a while.
func (l *processes) keep(p *program) {
	if p.run == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[p.ID] = p
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

// close gives the memory of a program back. A panic in it, on a timer's goroutine, would end the process.
func (p *program) close() {
	if p.run != nil {
		_ = safe.Call("Interpreter", func() error { p.run.Close(); return nil })
	}
}

// state is where a program is. One whose interpreter panics has ended.
func (p *program) state() State {
	if p.run == nil {
		return State{Error: p.broken}
	}
	s, err := safe.Value("Interpreter", func() (State, error) { return p.run.State(), nil })
	if err != nil {
		s = State{Error: safe.ErrorText(err)}
	}
	return s
}

// end closes a program, and says how it ended.
func (p *program) end() State {
	p.close()
	return p.state()
}

// breaks ends a program whose interpreter failed. The error is ctx's.
func (p *program) breaks(ctx context.Context, err error) error {
	p.close()
	p.run, p.waits, p.broken = nil, nil, safe.ErrorText(err)
	return ctx.Err()
}

// begin begins a program, or takes it as it was left.
func (p *program) begin(ctx context.Context, in Interpreter, of *processes) (err error) {
	if was := of.take(p.ID); was != nil {
		p.run = was.run
		maps.Copy(p.answers, was.answers)
		return nil
	}
	start := Program{Code: p.Code, Seed: p.Seed, Time: time.UnixMilli(p.At)}
	p.run, err = safe.Value("Interpreter", func() (Run, error) { return in.Start(ctx, start) })
	if err == nil && safe.IsNil(p.run) {
		err = errNoRun
	}
	if err != nil {
		p.run = nil
		return p.breaks(ctx, err)
	}
	return nil
}

var errNoRun = errors.New("the interpreter did not start the program")

// advance runs a program on as far as answers reach. reply answers a call that needs no tool; it
// returns the call as it goes out otherwise.
func (p *program) advance(ctx context.Context, reply func(Call) (Call, *journal.Answer)) error {
	for p.run != nil {
		results := p.results(reply)
		if len(results) == 0 || len(p.waits) > 0 {
			return nil
		}
		if err := safe.Call("Interpreter", func() error { return p.run.Resume(ctx, results) }); err != nil {
			return p.breaks(ctx, err)
		}
	}
	return nil
}

// results are those of the calls that a program waits for; p.waits are the calls without one.
func (p *program) results(reply func(Call) (Call, *journal.Answer)) (results []Result) {
	p.waits = nil
	for _, c := range p.state().Calls {
		a, ok := p.answers[c.Number]
		if !ok {
			out, said := reply(c)
			if said == nil {
				p.waits = append(p.waits, out)
				continue
			}
			a = *said
			p.answers[c.Number] = a
		}
		results = append(results, resultOf(a))
	}
	return results
}

func resultOf(a journal.Answer) Result {
	return Result{Number: a.Number, Text: a.Text, Failed: a.Failed}
}

// outcome ends a program, and says what the model reads of it.
func outcome(ctx context.Context, s *Config, p *program) string {
	end := p.end()
	counts, last, failed := countsOf(p)
	lines := []string{strings.TrimSuffix(end.Printed, "\n"), end.Returned}
	switch {
	case p.noTurns:
		lines = append(lines, say("turns", data{Limit: s.maxTurns()}))
	case end.Error != "":
		lines = append(lines, say("error", data{Reason: end.Error}))
	case end.Printed == "" && end.Returned == "":
		shape := ""
		if last != "" {
			shape = toolschema.Shape(last)
		}
		lines = append(lines, say("silent", data{Name: failed.Tool, Signature: clipped(failed.Text), Reason: shape}))
	}
	for _, note := range end.Notes {
		lines = append(lines, say("note", data{Reason: note}))
	}
	lines = append(lines, countsText(counts))
	text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	ended(ctx, s, p, text, einolean.Program{Calls: counts, Rounds: p.Rounds, Failed: end.Error != "" || p.noTurns})
	return text
}

// countsOf are the calls of a program by tool, with the result of the last one that did not fail, and the last one
// that did.
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

// countsText says which calls ran.
func countsText(counts []einolean.ProgramCalls) string {
	var words []string
	for _, c := range counts {
		if c.Tool != "" {
			words = append(words, say("count", data{Name: c.Tool, Total: c.Calls, Limit: c.Failed}))
		}
	}
	if len(words) == 0 {
		return say("none", data{})
	}
	return say("calls", data{Words: words})
}

// ended tells OnEvent of a program that has ended.
func ended(ctx context.Context, s *Config, p *program, text string, did einolean.Program) {
	const most = 20
	var read einolean.Size
	for _, a := range p.answers {
		read.Bytes += len(a.Text)
		read.Tokens += int64(tokens.Of(a.Text))
	}
	did.Calls = did.Calls[:min(len(did.Calls), most)]
	s.emit(ctx, einolean.Event{Kind: einolean.KindProgramEnded, Tool: toolnames.Run, CallID: p.ID, Program: &did, Output: &einolean.OutputChange{
		Before: read,
		After:  einolean.Size{Bytes: len(text), Tokens: int64(tokens.Of(text))},
		Rule:   "program",
	}})
}
