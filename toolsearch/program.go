// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Programs: the seam to the engine that runs them, and programs as turns of the model. The calls that a
// program waits for become the calls of the agent, and when it has ended, one call of run_code and its
// result take their place.

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// Interpreter runs the programs that a model writes. The module toolsearch/javascript has one;
// einoleantest.TestInterpreter holds every implementation to what is said here. It must be safe
// for concurrent use, and a program must reach nothing but its own memory and what it is given.
type Interpreter interface {
	// Start begins a program, and returns when it waits for calls or has ended. Whatever is
	// wrong with the program is part of its state. The error is ctx's, or says that the
	// interpreter itself cannot be used.
	Start(ctx context.Context, p Program) (ProgramRun, error)
}

// Program is what a model wrote, and all that its outcome may depend on besides the results of
// its calls: the same Program with the same results prints the same.
type Program struct {
	// Code is the text as the model wrote it.
	Code string
	// Seed is what its random numbers follow from, such as the id of the call.
	Seed string
	// Time is what its clock begins with.
	Time time.Time
}

// ProgramRun is a program that has begun. One goroutine uses it at a time.
type ProgramRun interface {
	// State says what the program waits for, or how it ended.
	State() ProgramState
	// Resume gives the program the results of all calls that it waits for, in any order, and
	// returns when it waits again or has ended. Its error is that of Start.
	Resume(ctx context.Context, results []ProgramResult) error
	// Close gives the memory back. Closing twice is allowed; State keeps what it said.
	Close()
}

// ProgramState is where a program is. It belongs to the caller.
type ProgramState struct {
	// Calls are what the program waits for, in the order in which it made them. If there are
	// none, it has ended.
	Calls []ProgramCall
	// Printed is everything that it has printed so far, within the interpreter's limit.
	Printed string
	// Returned is what it returned: text as it is, everything else as JSON; "" if nothing.
	Returned string
	// Error says why it ended before its end, where, and what to write instead; "" if it did not.
	Error string
	// Notes are further things that its author should know, such as a forgotten await.
	Notes []string
}

// ProgramCall is one call that a program waits for: of a tool, or of stored(path).
type ProgramCall struct {
	// Number counts the calls of the program from 1.
	Number int
	// Tool is the name that the program wrote; "" for stored(path).
	Tool string
	// Arguments is a JSON object. A number that may have been rounded, of 2^53 and more, is written
	// with an exponent; an integer beyond that is written digit by digit. If the program passed anything else, it is a list of what it
	// passed, and the tool does not run.
	Arguments string
	// Path is the argument of stored(path).
	Path string
	// Line is where in the program the call is, from 1; 0 if that is not known.
	Line int
}

// ProgramResult is how a call ended.
type ProgramResult struct {
	// Number is that of the call.
	Number int
	// Text is the result. JSON is its value in the program: an integer digit by digit, a decimal as
	// the nearest double. Anything else is a string.
	Text string
	// Failed rejects the call's promise with Text.
	Failed bool
}

// The keys of the journal: each batch, and the calls that are made now. A value is encoded whenever
// it is set, so batches have keys of their own.
const (
	batchKey = "__einolean_toolsearch_program__batch_"
	askedKey = "__einolean_toolsearch_program__asked"
)

func init() {
	schema.RegisterName[*programBatch[*schema.Message]]("einolean_toolsearch_program_batch")
	schema.RegisterName[*programBatch[*schema.AgenticMessage]]("einolean_toolsearch_program_batch_agentic")
}

// programBatch is what one turn brought: answers to calls of programs by their id, and the
// messages with the results of the other calls of the model's message. The first one also has that
// message.
type programBatch[M adk.MessageType] struct {
	Head    M
	At      int64 // when Head was first seen, in Unix milliseconds
	Answers map[string]programAnswer
	Direct  map[string]M
}

// addLost answers the calls whose results are no longer there: they were made, and are not made
// again.
func (b *programBatch[M]) addLost(asked []string, list []*program) {
	text := render("program-lost", promptData{})
	for _, id := range asked {
		if outer, number, ok := outerOf(id); ok && b.Answers[id].Number == 0 && isProgram(list, outer) {
			b.Answers[id] = programAnswer{ProgramResult: ProgramResult{Number: number, Text: text, Failed: true}}
		}
	}
}

// programAnswer is the answer to a call of a program.
type programAnswer struct {
	ProgramResult
	Tool string // "" for stored(path)
}

// programs are those of one run. Eino calls the hooks one after another.
type programs[M adk.MessageType] struct {
	interpreter Interpreter
	run         *run
	live        *liveRuns
	pending     M // the virtual answer of the model call that begins; nil if a model is asked
	head        M // of the journal, whole; nil if another process wrote it
}

// idleAfter is how long a program keeps its memory while its calls run.
const idleAfter = 30 * time.Second

// liveRuns keep programs alive between batches. They are closed when nobody can go on with them:
// Eino calls no hook when a run ends by an error or an interrupt.
type liveRuns struct {
	mu    sync.Mutex
	runs  map[string]*program // by the id of the run_code call
	timer *time.Timer
}

func newPrograms[M adk.MessageType](in Interpreter, r *run) *programs[M] {
	p := &programs[M]{interpreter: in, run: r, live: &liveRuns{runs: map[string]*program{}}}
	runtime.AddCleanup(p, (*liveRuns).closeAll, p.live)
	return p
}

func (l *liveRuns) closeAll() {
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
func (l *liveRuns) take(id string) *program {
	l.mu.Lock()
	defer l.mu.Unlock()
	pr := l.runs[id]
	delete(l.runs, id)
	return pr
}

// keep keeps a program for its next batch, for a while.
func (l *liveRuns) keep(pr *program) {
	if pr.run == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[pr.call.ID] = pr
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(idleAfter, l.closeAll)
}

// Now implements virtual.Turns.
func (p *programs[M]) Now() bool { return p.pending != *new(M) }

// Inner implements virtual.Turns.
func (p *programs[M]) Inner(ctx context.Context, callID string) bool {
	if _, _, ok := outerOf(callID); !ok {
		return false
	}
	asked := runLocal[[]string](ctx, askedKey)
	return slices.Contains(asked, callID)
}

// innerID is the id of a call that a program makes.
func innerID(id string, number int) string { return id + "." + strconv.Itoa(number) }

// outerOf splits the id of a call that a program made.
func outerOf(id string) (outer string, number int, ok bool) {
	at := strings.LastIndexByte(id, '.')
	if at < 0 {
		return "", 0, false
	}
	number, err := strconv.Atoi(id[at+1:])
	return id[:at], number, err == nil && number > 0
}

// program is one program of the message under way, and what it waits for.
type program struct {
	call    wire.Call
	code    string
	run     ProgramRun
	answers map[int]programAnswer
	waits   []ProgramCall // those that tools must answer
	noTurns bool
	broken  string // why the interpreter could not run it on
}

// advance runs a program on as far as the answers reach. New answers that need no tool go into
// the batch.
func (p *programs[M]) advance(ctx context.Context, pr *program, at int64, batch map[string]programAnswer) (err error) {
	if live := p.live.take(pr.call.ID); live != nil {
		pr.run = live.run
		maps.Copy(pr.answers, live.answers)
	} else {
		start := Program{Code: pr.code, Seed: pr.call.ID, Time: time.UnixMilli(at)}
		pr.run, err = safe.Value("Interpreter", func() (ProgramRun, error) { return p.interpreter.Start(ctx, start) })
		if err != nil || safe.IsNil(pr.run) {
			return pr.breaks(ctx, err)
		}
	}
	for {
		results := p.answers(ctx, pr, batch)
		if len(results) == 0 || len(pr.waits) > 0 {
			return nil
		}
		if err := safe.Call("Interpreter", func() error { return pr.run.Resume(ctx, results) }); err != nil {
			pr.close()
			return pr.breaks(ctx, err)
		}
	}
}

func closeAll(list []*program) {
	for _, pr := range list {
		pr.close()
	}
}

// close gives the memory of a program back. A panic in it, on a timer's goroutine, would end the process.
func (pr *program) close() {
	if pr.run != nil {
		_ = safe.Call("Interpreter", func() error { pr.run.Close(); return nil })
	}
}

// state is where a program is. One whose interpreter panics has ended.
func (pr *program) state() ProgramState {
	s, err := safe.Value("Interpreter", func() (ProgramState, error) { return pr.run.State(), nil })
	if err != nil {
		s.Error = safe.ErrorText(err)
	}
	return s
}

// breaks ends a program whose interpreter failed. The error is ctx's.
func (pr *program) breaks(ctx context.Context, err error) error {
	pr.run, pr.waits, pr.broken = nil, nil, safe.ErrorText(err)
	return ctx.Err()
}

// answers are those to the calls that a program waits for; pr.waits are the calls without one.
func (p *programs[M]) answers(ctx context.Context, pr *program, batch map[string]programAnswer) (results []ProgramResult) {
	pr.waits = nil
	for _, c := range pr.state().Calls {
		a, ok := pr.answers[c.Number]
		if a.Tool == "" { // there is no answer, or none is left
			c = plainCall(ctx, p.run, c)
			a.Tool = c.Tool
		}
		if !ok {
			if a.ProgramResult, ok = answerCall(ctx, p.run, c); ok {
				a.Number = c.Number
				batch[innerID(pr.call.ID, c.Number)] = a
			}
		}
		if ok {
			pr.answers[c.Number] = a
		} else {
			pr.waits = append(pr.waits, c)
		}
		results = append(results, a.ProgramResult)
	}
	return results
}

// programsOf are the run_code calls of a message, and the message with ids that tell its calls apart;
// without such a call, the message itself.
func programsOf[M adk.MessageType](msg M) (head M, list []*program) {
	head = wire.Apart(msg)
	for _, c := range wire.ViewOf(head).Calls {
		if c.Name == toolnames.Run {
			list = append(list, &program{call: c, code: codeIn(lenient.Decode(c.Args)), answers: map[int]programAnswer{}})
		}
	}
	if len(list) == 0 {
		return msg, nil
	}
	return head, list
}

// mostTools is how many different tools programs call at once: each takes a slot. The others come
// in the next turn.
const mostTools = 32

// inner are calls that a program waits for, as calls of the agent, of at most so many tools.
func (pr *program) inner(tools int) (calls []wire.Call) {
	called := stringSet{}
	for _, c := range pr.waits {
		if called.add(c.Tool); len(called) > max(1, tools) {
			break
		}
		calls = append(calls, wire.Call{ID: innerID(pr.call.ID, c.Number), Name: c.Tool, Args: c.Arguments})
	}
	return calls
}

// unfold puts the calls that programs wait for in the place of run_code in the model's last
// message. A program that waits for nothing stays, and the tool run_code answers it.
func (p *programs[M]) unfold(ctx context.Context, msgs []M) ([]M, error) {
	last := len(msgs) - 1
	if last < 0 {
		return msgs, nil
	}
	p.run.update(ctx, func(next *record) { next.Turns++ })
	if p.pending != *new(M) { // this is a virtual answer
		p.pending = *new(M)
		return msgs, p.ask(ctx, msgs[last])
	}
	at, batch, waits := time.Now().UnixMilli(), map[string]programAnswer{}, map[string][]wire.Call{}
	head, list := programsOf(msgs[last])
	if len(list) == 0 {
		return msgs, nil
	}
	for _, pr := range list {
		if err := p.advance(ctx, pr, at, batch); err != nil {
			closeAll(list)
			return nil, err
		}
		if len(pr.waits) > 0 {
			waits[pr.call.ID] = pr.inner(mostTools / len(list))
		}
		p.live.keep(pr)
	}
	next := slices.Clone(msgs)
	next[last] = head
	if len(waits) == 0 {
		return next, nil
	}
	p.head = head
	if err := p.keepBatch(ctx, 0, &programBatch[M]{Head: storable(head), At: at, Answers: batch}); err != nil {
		return nil, err
	}
	next[last] = wire.Replace(head, func(c wire.Call) []wire.Call { return waits[c.ID] })
	return next, p.ask(ctx, next[last])
}

// ask notes which calls are made now: none of them is ever made again.
func (p *programs[M]) ask(ctx context.Context, msg M) error {
	var ids []string
	for _, c := range wire.ViewOf(msg).Calls {
		ids = append(ids, c.ID)
	}
	return adk.SetRunLocalValue(ctx, askedKey, ids)
}

func (p *programs[M]) keepBatch(ctx context.Context, n int, b *programBatch[M]) error {
	for id, msg := range b.Direct {
		b.Direct[id] = storable(msg)
	}
	return adk.SetRunLocalValue(ctx, batchKey+strconv.Itoa(n), b)
}

// storable returns a message with only what a checkpoint can hold in its Extra and those of its
// parts. A run whose messages hold more has no checkpoints, but its programs run.
func storable[M adk.MessageType](msg M) M {
	extra := message.Extra(msg)
	if kept := encodable(extra); len(kept) < len(extra) {
		msg = message.WithExtra(msg, kept)
	}
	return message.Edit(msg, func(p message.Part) (message.Part, bool) {
		extra := p.Extra()
		kept := encodable(extra)
		return p.WithExtra(kept), len(kept) < len(extra)
	})
}

// journal returns what the batches so far have brought, and how many there are: none without
// programs under way.
func (p *programs[M]) journal(ctx context.Context) (all programBatch[M], n int) {
	all = programBatch[M]{Answers: map[string]programAnswer{}, Direct: map[string]M{}}
	for ; ; n++ {
		b := runLocal[*programBatch[M]](ctx, batchKey+strconv.Itoa(n))
		if b == nil {
			return all, n
		}
		if n == 0 {
			all.Head, all.At = b.Head, b.At
		}
		maps.Copy(all.Answers, b.Answers)
		maps.Copy(all.Direct, b.Direct)
	}
}

// Settle goes on with the programs under way when their calls have been answered. The messages
// of the batch leave the conversation; virtual says that the programs wait again, so that no
// model is asked. When all have ended, the model's message and one result for each of its calls
// take their place.
func (p *programs[M]) Settle(ctx context.Context, msgs []M) (next []M, virtual bool, err error) {
	p.pending = *new(M)
	all, n := p.journal(ctx)
	if n == 0 {
		return msgs, false, nil
	}
	_, list := programsOf(all.Head)
	asked := runLocal[[]string](ctx, askedKey)
	batch := &programBatch[M]{Answers: map[string]programAnswer{}, Direct: map[string]M{}}
	before, rest := msgs, []M(nil)
	if len(asked) > 0 {
		before, rest = p.collect(ctx, msgs, list, batch)
		batch.addLost(asked, list)
		maps.Copy(all.Answers, batch.Answers)
		maps.Copy(all.Direct, batch.Direct)
	}
	calls, err := p.goOn(ctx, list, all.At, all.Answers, batch.Answers)
	if err != nil {
		return nil, false, err
	}
	if len(asked) > 0 {
		if err := p.keepBatch(ctx, n, batch); err != nil {
			closeAll(list)
			return nil, false, err
		}
	}
	if len(calls) > 0 {
		for _, pr := range list {
			p.live.keep(pr)
		}
		p.pending = wire.Calling[M](calls)
		return append(slices.Clip(before), rest...), true, adk.SetRunLocalValue(ctx, askedKey, []string{})
	}
	folded, err := p.fold(ctx, cmp.Or(p.head, all.Head), list, all, n)
	if err != nil {
		return nil, false, err
	}
	next = append(slices.Clip(before), folded...)
	return append(next, rest...), false, p.forget(ctx, n+1)
}

// isProgram reports whether an id is that of a program's run_code call.
func isProgram(list []*program, id string) bool {
	return slices.ContainsFunc(list, func(pr *program) bool { return pr.call.ID == id })
}

// isInner reports whether an id is that of a call that one of the programs made.
func isInner(list []*program, id string) bool {
	outer, _, ok := outerOf(id)
	return ok && isProgram(list, outer)
}

// collect takes the results of the last batch out of the conversation: what stands before the
// message that called them, and what other handlers put behind it.
func (p *programs[M]) collect(ctx context.Context, msgs []M, list []*program, batch *programBatch[M]) (before, rest []M) {
	from := len(msgs) - 1
	for ; from >= 0; from-- {
		if slices.ContainsFunc(wire.ViewOf(msgs[from]).Calls, func(c wire.Call) bool { return isInner(list, c.ID) }) {
			break
		}
	}
	if from < 0 { // another handler has replaced the conversation, results and all
		return msgs, nil
	}
	waited := map[string]string{}
	for _, c := range wire.ViewOf(msgs[from]).Calls {
		waited[c.ID] = c.Name
	}
	for _, msg := range msgs[from+1:] {
		results := wire.ViewOf(msg).Results
		if len(results) == 0 {
			rest = append(rest, msg)
		}
		for _, r := range results {
			if _, number, _ := outerOf(r.ID); isInner(list, r.ID) {
				text := r.Text
				if len(r.Media) > 0 {
					text = strings.TrimPrefix(text+"\n"+render("program-media", promptData{Words: r.Media}), "\n")
				}
				batch.Answers[r.ID] = programAnswer{ProgramResult{Number: number, Text: text, Failed: virtual.Failed(ctx, r.ID)}, waited[r.ID]}
			} else if waited[r.ID] != "" {
				batch.Direct[r.ID] = msg
			}
		}
	}
	return msgs[:from], rest
}

// goOn runs all programs on, and returns the calls that they wait for next.
func (p *programs[M]) goOn(ctx context.Context, list []*program, at int64, answers, batch map[string]programAnswer) (calls []wire.Call, err error) {
	for _, pr := range list {
		for id, a := range answers {
			if outer, _, ok := outerOf(id); ok && outer == pr.call.ID {
				pr.answers[a.Number] = a
			}
		}
		if err := p.advance(ctx, pr, at, batch); err != nil {
			closeAll(list)
			return nil, err
		}
		calls = append(calls, pr.inner(mostTools/len(list))...)
	}
	if len(calls) > 0 && turnsLeft(ctx, p.run) < 1 {
		for _, pr := range list {
			pr.noTurns, pr.waits = len(pr.waits) > 0, nil
		}
		return nil, nil
	}
	return calls, nil
}

// fold is the model's message and a result for each of its calls.
func (p *programs[M]) fold(ctx context.Context, head M, list []*program, all programBatch[M], rounds int) ([]M, error) {
	out := []M{head}
	done := map[string]bool{}
	for _, c := range wire.ViewOf(head).Calls {
		if m, ok := all.Direct[c.ID]; ok {
			if !done[c.ID] {
				out = append(out, m)
			}
			for _, r := range wire.ViewOf(m).Results { // several in one message
				done[r.ID] = true
			}
			continue
		}
		i := slices.IndexFunc(list, func(pr *program) bool { return pr.call.ID == c.ID })
		if i < 0 { // another handler has replaced the conversation, and its result with it
			out = append(out, wire.Answering[M](c.ID, c.Name, render("program-lost", promptData{})))
			continue
		}
		msg := wire.Answering[M](c.ID, toolnames.Run, outcome(ctx, p.run, list[i], rounds))
		adk.EnsureMessageID(msg)
		out = append(out, msg)
		if err := adkrun.SendMessage(ctx, message.Event(msg, toolnames.Run)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// end closes a program, and says how it ended.
func (pr *program) end() ProgramState {
	if pr.run == nil {
		return ProgramState{Error: pr.broken}
	}
	pr.close()
	return pr.state()
}

// counts are its calls by tool, with the result of the last one that did not fail, and the last one
// that did.
func (pr *program) counts() (counts []einolean.ProgramCalls, last string, failed programAnswer) {
	for _, n := range slices.Sorted(maps.Keys(pr.answers)) {
		a := pr.answers[n]
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

// alone runs a program that waits for no calls, for the tool run_code.
func (p *programs[M]) alone(ctx context.Context, callID, code string) (string, error) {
	pr := &program{call: wire.Call{ID: callID}, code: code, answers: map[int]programAnswer{}}
	if err := p.advance(ctx, pr, time.Now().UnixMilli(), map[string]programAnswer{}); err != nil {
		return "", err
	}
	return outcome(ctx, p.run, pr, 0), nil
}

// forget deletes the journal.
func (p *programs[M]) forget(ctx context.Context, batches int) error {
	for n := range batches {
		_ = adk.DeleteRunLocalValue(ctx, batchKey+strconv.Itoa(n))
	}
	return adk.DeleteRunLocalValue(ctx, askedKey)
}

// mended is a history that a caller rebuilt from the events of a run, mended: see rebuilt. It is the
// same slice if there is nothing to mend.
func mended[M adk.MessageType](msgs []M) []M {
	runs := func(msg M) bool {
		for p := message.Parts(msg); p.Next(); {
			if p.Kind == message.Call && p.Name() == toolnames.Run {
				return true
			}
		}
		return false
	}
	if !slices.ContainsFunc(msgs, runs) {
		return msgs
	}
	h := rebuilt[M]{results: map[string]int{}}
	for _, msg := range msgs {
		h.add(msg)
	}
	h.answer()
	if !h.isChanged {
		return msgs
	}
	return slices.DeleteFunc(h.next, func(msg M) bool { return msg == *new(M) })
}

// rebuilt is a history without the calls that programs made, and with one result for each program.
type rebuilt[M adk.MessageType] struct {
	next      []M
	head      int            // where in next the last message of a model with calls stands
	list      []*program     // its programs
	results   map[string]int // where in next their results stand
	isChanged bool
}

// add adds the next message. If a program has several results, the last one is its own: the others
// are of a handler, such as Eino's patchtoolcalls, that did not look behind the calls of programs.
func (h *rebuilt[M]) add(msg M) {
	kept := wire.Without(msg, func(id string) bool { return isInner(h.list, id) })
	if kept == *new(M) {
		h.isChanged = true
		return
	}
	view := wire.ViewOf(kept)
	if len(view.Calls) > 0 {
		h.answer()
		h.head = len(h.next)
		kept, h.list = programsOf(kept)
	}
	h.isChanged = h.isChanged || kept != msg
	for _, r := range view.Results {
		if !isProgram(h.list, r.ID) {
			continue
		}
		if i, ok := h.results[r.ID]; ok && i < len(h.next) {
			h.next[i] = wire.Without(h.next[i], func(id string) bool { return id == r.ID })
			h.isChanged = true
		}
		h.results[r.ID] = len(h.next)
	}
	h.next = append(h.next, kept)
}

// answer answers the programs that their run did not finish, where nothing else has.
func (h *rebuilt[M]) answer() {
	at := h.head
	for _, pr := range h.list {
		if _, ok := h.results[pr.call.ID]; !ok {
			at++
			h.next = slices.Insert(h.next, at, wire.Answering[M](pr.call.ID, toolnames.Run, render("program-unfinished", promptData{})))
			h.isChanged = true
		}
	}
	h.list = nil
	clear(h.results)
}

// virtualModel is the model of a virtual turn: no model is asked.
type virtualModel[M adk.MessageType] struct{ pending M }

func (v virtualModel[M]) Generate(context.Context, []M, ...model.Option) (M, error) {
	return v.pending, nil
}

func (v virtualModel[M]) Stream(context.Context, []M, ...model.Option) (*schema.StreamReader[M], error) {
	return schema.StreamReaderFromArray([]M{v.pending}), nil
}

// codeIn is the program in the arguments of run_code, under any name that models give it, or as bare
// text.
func codeIn(a lenient.Arguments) string {
	return strings.Join(textsOf(a, "code", "script", "program", "source", "javascript"), "\n")
}
