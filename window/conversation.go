// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"
	"strings"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/toolnames"
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
}

// heard is what events said.
type heard struct {
	outputs map[uint64]output // by the hash of the call ID
	paths   map[uint64]bool   // hashes of those that notices name
	loaded  map[uint64]bool   // of the names of tools that events reported as loaded
	hidden  Hidden            // according to events about the catalogue
	pending []einolean.Event
}

// newest is what the next call is compared with.
type newest struct {
	previous map[string]*recorded // the newest call of each agent
	fit      calibration
}

// written is what readers of the log know.
type written struct {
	logged map[int]string // the questions of the runs in the log; nil before its first line
	losses int            // of the log, when logged was made
}

// output is the outcome of a tool call's result, according to events.
type output struct {
	rule   string // "cut", "cleared", "referred" or "read"; "" of a program whose output is whole
	bytes  int    // that the tool returned
	path   string // as it may be kept
	stored bool
	read   *programRead
}

// programRead is what the calls of a program returned to it.
type programRead struct {
	tokens int
	calls  []einolean.ProgramCalls // as they may be kept
}

// most outputs, paths, tools, runs and waiting events of one conversation that are kept.
const most = 10_000

// Approximate bytes of memory, without strings.
const (
	conversationCost = 2048
	callCost         = 1800
	runCost          = 96
	outputCost       = 128
	noteCost         = 48
	markCost         = 32
	eventCost        = 320
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

// reads reports whether a call reads stored content back: an event said so, or the call
// names a path from a notice.
func (v *conversation) reads(p *said.Part) bool {
	return v.outputs[p.ID].rule == "read" || slices.ContainsFunc(p.Named, func(path uint64) bool { return v.paths[path] })
}

// classify finds out what a piece is. Helps are the calls so far that only einolean needs,
// by the hash of their ID; the results of programs are known as such if the run has any.
func (v *conversation) classify(p *piece, helps map[uint64]bool, programs bool) {
	switch p.Kind {
	case said.Tool:
		p.category, p.help = p.base, p.base == HelpTools
		if p.base == OwnTools && v.loaded[v.c.cfg.hash(p.Tool)] {
			p.category = LoadedTools
		}
	case said.Call:
		p.category, p.help = Assistant, said.Searches(p.Tool) || v.reads(p.Part)
		helps[p.ID] = p.help
	case said.Result:
		if p.Notice.Path != "" {
			v.remember(v.paths, p.Notice.Named)
		}
		p.category = v.category(p, helps[p.ID], programs && p.Tool == toolnames.Run)
		p.help = p.category == Found || p.category == Page
	default:
		p.category = talk(p)
		p.help = p.category == Reminder || p.category == Found
	}
}

// category returns the category of a result; help is true if only einolean needed its
// call, program if a program may have returned it.
func (v *conversation) category(p *piece, help, program bool) Category {
	o := v.outputs[p.ID]
	switch {
	case o.rule == "referred", p.Notice.Rule == "cleared":
		return ResultCleared
	case p.Notice.Rule == "cut":
		return ResultCut
	case help && said.Searches(p.Tool):
		return Found
	case help, o.rule == "read":
		return Page
	case (program || o.read != nil) && p.Label == "":
		return Program
	}
	return Result
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

// wait keeps an event for the next call.
func (v *conversation) wait(e einolean.Event) {
	if len(v.pending) < most {
		v.pending = append(v.pending, e)
		v.grow(eventSize(e))
	}
}

// note records what an event says about results and tools; kept is the event as it may
// be kept.
func (v *conversation) note(e, kept einolean.Event) {
	switch e.Kind {
	case einolean.KindCatalogChanged:
		if e.Tools != nil {
			v.hidden = Hidden{Tools: e.Tools.AddedCount, Tokens: int(e.Tools.Tokens)}
		}
	case einolean.KindToolsLoaded, einolean.KindToolsPrefetched:
		if e.Tools != nil {
			for _, name := range e.Tools.Added {
				v.remember(v.loaded, v.c.cfg.hash(name))
			}
			v.version++
		}
	case einolean.KindResultCut:
		v.became("cut", e, kept)
	case einolean.KindResultCleared:
		v.became("cleared", e, kept)
	case einolean.KindResultReferred:
		v.became("referred", e, kept)
	case einolean.KindResultRead:
		v.became("read", e, kept)
	case einolean.KindProgramEnded:
		v.ran(e, kept)
	}
}

// remember adds to a set.
func (v *conversation) remember(set map[uint64]bool, hash uint64) {
	if !set[hash] && len(set) < most {
		set[hash] = true
		v.grow(noteCost)
	}
}

func (v *conversation) became(rule string, e, kept einolean.Event) {
	if e.Output == nil || e.CallID == "" {
		return
	}
	call := v.c.cfg.hash(e.CallID)
	old, known := v.outputs[call]
	if !known && len(v.outputs) >= most || rule == "read" && old.rule != "" { // a page that was cut or cleared is no longer a page
		return
	}
	now := output{rule: rule, bytes: e.Output.Before.Bytes, path: kept.Output.Path, stored: e.Output.Path != "", read: old.read}
	if old.rule == "cut" { // the tool returned an even longer one
		now.bytes = max(now.bytes, old.bytes)
		if !now.stored {
			now.path, now.stored = old.path, old.stored
		}
	}
	v.learn(e.CallID, now)
}

// ran records what a program read.
func (v *conversation) ran(e, kept einolean.Event) {
	now, known := v.outputs[v.c.cfg.hash(e.CallID)]
	if e.Output == nil || e.Program == nil || e.CallID == "" || !known && len(v.outputs) >= most {
		return
	}
	now.read = &programRead{tokens: int(e.Output.Before.Tokens), calls: kept.Program.Calls}
	v.learn(e.CallID, now)
}

// learn notes the outcome of a call's result.
func (v *conversation) learn(callID string, now output) {
	call := v.c.cfg.hash(callID)
	if old, known := v.outputs[call]; known {
		v.grow(-old.size())
	}
	v.outputs[call] = now
	v.grow(now.size())
	if v.book.find(v.c.cfg.hash("result "+callID+" ")) != nil { // it says something of a part that is known
		v.version++
	}
}

func (o output) size() int64 {
	n := int64(outputCost + len(o.path))
	if o.read != nil {
		n += 48
		for _, c := range o.read.calls {
			n += int64(40 + len(c.Tool))
		}
	}
	return n
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
	clear(v.outputs)
	clear(v.paths)
	clear(v.loaded)
	v.pending = nil
	for _, r := range v.calls {
		r.resize()
	}
	v.grow(v.size() - v.bytes)
}

// size counts all that is kept anew.
func (v *conversation) size() int64 {
	n := conversationCost + int64(len(v.id)) + v.book.bytes + noteCost*int64(len(v.paths)+len(v.loaded))
	for _, r := range v.runs {
		n += runCost + int64(len(r.Question))
	}
	for _, r := range v.calls {
		n += r.size
	}
	for _, o := range v.outputs {
		n += o.size()
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

// eventSize is about how many bytes an event takes.
func eventSize(e einolean.Event) int64 {
	n := eventCost + len(e.Tool) + len(e.CallID) + len(e.Server)
	if e.Err != nil {
		n += len(e.Err.Error())
	}
	if s := e.Search; s != nil {
		n += 96 + len(s.Query) + len(s.Index)
		for _, h := range s.Hits {
			n += 64 + len(h.Name)
			for _, t := range h.Terms {
				n += 64 + len(t.Text) + len(t.Field) + len(t.Relation)
			}
		}
	}
	if t := e.Tools; t != nil {
		n += 128 + len(strings.Join(t.Added, "")) + 16*(len(t.Added)+len(t.Removed)) + len(strings.Join(t.Removed, ""))
	}
	if o := e.Output; o != nil {
		n += 112 + len(o.Path) + len(o.Reason) + len(o.Rule)
	}
	if p := e.Program; p != nil {
		n += 48
		for _, c := range p.Calls {
			n += 40 + len(c.Tool)
		}
	}
	if e.Pass != nil {
		n += 96 + 64*len(e.Pass.Kept)
	}
	return int64(n)
}

// snapshot copies a conversation, except for its texts. A call still in progress is
// unfinished.
func (v *conversation) snapshot() *Conversation {
	s := &Conversation{ID: v.id, Runs: slices.Clone(v.runs), Dropped: v.dropped, key: v.key, book: &book{slots: slices.Clone(v.book.slots)}}
	if v.earlier.Calls > 0 {
		earlier := v.earlier
		s.Earlier = &earlier
	}
	calls := make([]ModelCall, len(v.calls))
	s.Calls = make([]*ModelCall, len(v.calls))
	for i, r := range v.calls {
		calls[i] = *r.ModelCall
		calls[i].Unfinished = calls[i].Unfinished || !r.ended
		calls[i].in = s.book
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
