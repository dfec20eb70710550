// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/window/internal/said"
)

// conversation is the record of one conversation. The collector's mutex guards it.
type conversation struct {
	c       *Collector
	id, key string
	bytes   int64 // approximately, of all that follows
	gone    bool
	book    book
	version int // counts what makes parts of earlier calls other than they were

	history
	heard
	newest
	written
}

// history is what a conversation has of its runs and calls.
type history struct {
	runs     []Run
	lastRun  int
	calls    []*recorded
	lastCall int
	earlier  Totals // of the calls before
	dropped  int
	pending  []einolean.Event // since the last call
}

// newest is what the next call is compared with.
type newest struct {
	previous map[string]*recorded // the newest call of each agent
	fit      calibration
}

// written is what readers of the log know of a conversation.
type written struct {
	logged map[int]string // the questions of the runs in the log; nil before its first line
	losses int            // of the log, when logged was made
}

// newConversation returns the record of a conversation that begins.
func newConversation(c *Collector, id string) *conversation {
	v := &conversation{c: c, id: id, key: rand.Text()[:12], newest: newest{previous: map[string]*recorded{}}}
	v.book.textless = c.cfg.Texts == TextsNone
	v.heard = newHeard(c.cfg.hash, v.grow)
	v.grow(conversationCost + int64(len(id)))
	return v
}

// Approximate bytes of memory, without strings.
const (
	conversationCost = 2048
	runCost          = 96
	markCost         = 32
)

// grow counts bytes that are kept in addition.
func (v *conversation) grow(bytes int64) {
	if v.gone {
		return
	}
	v.bytes += bytes
	v.c.kept += bytes
}

// begin adds a run.
func (v *conversation) begin(at time.Time) (n int) {
	v.lastRun++
	v.runs = append(v.runs, Run{N: v.lastRun, Start: at})
	v.grow(runCost)
	if len(v.runs) > most {
		v.dropRun()
	}
	return v.lastRun
}

// ask sets the question of a run, if it has none.
func (v *conversation) ask(run int, question string) {
	i, known := slices.BinarySearchFunc(v.runs, run, func(r Run, n int) int { return r.N - n })
	if known && v.runs[i].Question == "" && question != "" {
		v.runs = slices.Clone(v.runs) // snapshots share the old ones
		v.runs[i].Question = question
		v.grow(int64(len(question)))
	}
}

// asked reports whether a run has its question.
func (v *conversation) asked(run int) bool {
	i, known := slices.BinarySearchFunc(v.runs, run, func(r Run, n int) int { return r.N - n })
	return !known || v.runs[i].Question != ""
}

// hear takes what an event says; kept is the event as it may be kept.
func (v *conversation) hear(e, kept einolean.Event) {
	isNew := v.heard.note(e, kept)
	if isNew && (e.Output == nil || v.book.find(v.c.cfg.hash("result "+e.CallID+" ")) != nil) { // of a result that is no part yet it changes nothing
		v.version++
	}
}

// wait keeps an event for the next call.
func (v *conversation) wait(e einolean.Event) {
	if len(v.pending) < most {
		v.pending = append(v.pending, e)
		v.grow(eventSize(e))
	}
}

// settled is how many pieces of a request from the start on are still what the conversation made of
// them in its last call.
func (v *conversation) settled(q *request) int {
	if q.made != (made{v.key, v.lastCall, v.version}) {
		return 0
	}
	return q.same
}

// ready finds out the category of each piece of a request, and reports whether everything that is new
// in the conversation has passed the door. The collector's mutex is held.
func (v *conversation) ready(r *run, q *request) bool {
	ready := q.done || q.asked == "" || v.asked(r.n)
	from := v.settled(q)
	helps := map[uint64]bool{} // calls that only einolean needs, by the hash of their ID
	for i := range q.pieces[:from] {
		if p := &q.pieces[i]; p.Kind == said.Call {
			helps[p.ID] = p.help
		}
	}
	for i := from; i < len(q.pieces); i++ {
		p := &q.pieces[i]
		v.classify(p, helps, r.programs)
		p.known = v.book.has(p, v.lastCall)
		ready = ready && (p.known || p.done)
	}
	return ready
}

// record adds a call with its request. The collector's mutex is held. What it returns tells that
// the call before has ended, and must run when the mutex is released.
func (v *conversation) record(r *recorded, of *run, q *request) (tell func()) {
	were := v.book.bytes + v.marks()
	for _, e := range v.pending {
		were += eventSize(e)
	}
	settled := v.settled(q)
	v.lastCall++
	v.ask(of.n, q.question)
	r.join(v, of, q, settled)
	tell = func() {}
	before := v.previous[r.Agent]
	if len(v.previous) > 64 { // names of agents that are new each time
		clear(v.previous)
	}
	if r.follow(before) {
		tell = before.tell()
	}
	if before != nil {
		before.marks = nil
	}
	v.previous[r.Agent] = r
	v.calls = append(v.calls, r)
	r.resize()
	v.grow(v.book.bytes + v.marks() - were)
	return tell
}

// dropParts drops everything of a call but its figures.
func (v *conversation) dropParts(r *recorded) {
	if v.gone || r.slim {
		return
	}
	next := v.calls[len(v.calls)-1].N + 1
	for _, later := range v.calls {
		if !later.slim && later.N > r.N {
			next = later.N
			break
		}
	}
	v.version++
	before := v.book.bytes
	v.book.drop(r.places, r.N, next)
	v.grow(v.book.bytes - before)
	v.dropped++
	r.thin()
}

// dropCall drops the oldest call, and adds its figures to the earlier ones.
func (v *conversation) dropCall() {
	r := v.calls[0]
	v.earlier.add(r.ModelCall)
	v.calls[0] = nil
	v.calls = v.calls[1:]
	v.dropped--
	v.grow(-r.size)
	r.size = 0
}

func (v *conversation) dropRun() {
	delete(v.logged, v.runs[0].N)
	v.grow(-runCost - int64(len(v.runs[0].Question)))
	v.runs = v.runs[1:]
}

// dropRuns drops the runs whose calls are gone.
func (v *conversation) dropRuns() {
	first := v.lastRun
	if len(v.calls) > 0 {
		first = v.calls[0].Run
	}
	for len(v.runs) > 1 && v.runs[0].N < first {
		v.dropRun()
	}
}

// forgetNotes drops what is known about results and tools, and what waits.
func (v *conversation) forgetNotes() {
	v.version++
	for len(v.runs) > 1 {
		v.dropRun()
	}
	for _, r := range v.previous {
		r.marks = nil
	}
	clear(v.previous)
	v.heard.forget()
	v.pending = nil
	for _, r := range v.calls {
		r.resize()
	}
	v.grow(v.size() - v.bytes)
}

// size counts all that is kept anew.
func (v *conversation) size() int64 {
	n := conversationCost + int64(len(v.id)) + v.book.bytes + v.heard.size()
	for _, r := range v.runs {
		n += runCost + int64(len(r.Question))
	}
	for _, r := range v.calls {
		n += r.size
	}
	for _, e := range v.pending {
		n += eventSize(e)
	}
	return n + v.marks()
}

// marks counts what is kept of the newest calls for comparison.
func (v *conversation) marks() (n int64) {
	for _, r := range v.previous {
		n += markCost * int64(len(r.marks))
	}
	return n
}

// snapshot copies a conversation, except for its texts.
func (v *conversation) snapshot() *Conversation {
	s := &Conversation{ID: v.id, Runs: slices.Clone(v.runs), Dropped: v.dropped, key: v.key, book: &book{slots: slices.Clone(v.book.slots)}}
	if v.earlier.Calls > 0 {
		earlier := v.earlier
		s.Earlier = &earlier
	}
	calls := make([]ModelCall, len(v.calls))
	s.Calls = make([]*ModelCall, len(v.calls))
	for i, r := range v.calls {
		calls[i] = r.snapshot(s.book)
		s.Calls[i] = &calls[i]
	}
	return s
}

// lines returns the lines of a call for the log, after those that it depends on.
func (v *conversation) lines(r *recorded) (all []line) {
	if losses := v.c.log.known(); v.logged == nil || v.losses != losses {
		if v.logged == nil {
			all = append(all, line{Schema: schemaName, Of: v.key, Conversation: &Conversation{ID: v.id}})
		}
		v.logged, v.losses = map[int]string{}, losses
		for i := range v.book.slots {
			v.book.slots[i].logged = nil
		}
	}
	for _, run := range v.runs {
		if said, known := v.logged[run.N]; run.N == r.Run && (!known || said != run.Question) {
			v.logged[run.N] = run.Question
			all = append(all, line{Of: v.key, Run: &run})
		}
	}
	v.book.each(r.slots, func(_ int, s *slot) {
		k := s.in(r.N)
		if s.logged == nil || s.logged.hash != k.hash || s.logged.Category != k.Category {
			s.logged = k
			all = append(all, partLine(v.key, s.id, k, k.text))
		}
	})
	done := *r.ModelCall
	return append(all, callLine(v.key, &done))
}
