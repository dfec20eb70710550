// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package memory has what a run remembers, for its hooks and its tool calls, which run at once: the record of what
// it showed and told, which survives a checkpoint; what became of calls; what its sources listed; and, for one
// model call, what a filter said. Each has a lock of its own, and is ready as its zero value.
package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// Record is what a run has shown and told, as Eino keeps it for a resume.
type Record struct {
	depth int // of Eino's address of the agent; whatever is deeper is in the run

	mu        sync.Mutex
	kept      turn.Record
	isRead    bool // it was looked for where Eino keeps it
	isChanged bool // it is not yet as Eino keeps it
	isByHand  bool // the hooks are called outside a run: no call has an id
	isShown   bool // the last model call was in this process
}

// recordKey is the key of the record among the values that Eino keeps for a run.
const recordKey = "__einolean_toolsearch__"

// Begin notes where the agent of the run is.
func (r *Record) Begin(ctx context.Context) { r.depth = len(compose.GetCurrentAddress(ctx)) }

// read must be called with the lock held. Before the first node of a run there is no state of
// this run, but there may be one of an agent that runs this one.
func (r *Record) read(ctx context.Context) *turn.Record {
	if r.isRead {
		return &r.kept
	}
	if r.isByHand = !r.isInRun(ctx); r.isByHand {
		return &r.kept
	}
	r.isRead = true
	kept, _, _ := adk.GetRunLocalValue(ctx, recordKey) // it fails outside a run
	text, _ := kept.(string)
	var was turn.Record
	if json.Unmarshal([]byte(text), &was) == nil && was.Began {
		r.kept = was
	}
	return &r.kept
}

func (r *Record) isInRun(ctx context.Context) bool {
	return len(compose.GetCurrentAddress(ctx)) > r.depth
}

// Save hands the record to Eino, if it has changed. Hooks call it.
func (r *Record) Save(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isChanged || !r.isInRun(ctx) {
		return
	}
	r.isChanged = false
	if text, err := json.Marshal(r.kept); err == nil {
		_ = adk.SetRunLocalValue(ctx, recordKey, string(text)) // it fails outside a run, where nothing resumes
	}
}

// Now is a copy of the record, and whether it is of a model call in this process.
func (r *Record) Now(ctx context.Context) (last turn.Record, isShown bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.read(ctx), r.isShown
}

// Update changes the record.
func (r *Record) Update(ctx context.Context, change func(*turn.Record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r.read(ctx))
	r.isChanged = true
}

// Show notes which tools a model call shows.
func (r *Record) Show(ctx context.Context, next turn.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.read(ctx)
	if !last.Began || !slices.Equal(last.Visible, next.Visible) || !slices.Equal(last.Idle, next.Idle) {
		last.Began, last.Visible, last.Idle, r.isChanged = true, next.Visible, next.Idle, true
	}
	r.isShown = true
}

// ByHand reports whether the hooks are called outside a run.
func (r *Record) ByHand() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isByHand
}

// IsNew reports whether something has not been reported in this run, and notes that it is.
func (r *Record) IsNew(ctx context.Context, line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.read(ctx)
	if slices.Contains(last.Reported, line) {
		return false
	}
	last.Reported, r.isChanged = append(slices.Clip(last.Reported), line), true
	return true
}

// Calls are what became of the tool calls of a run.
type Calls struct {
	mu       sync.Mutex
	round    int             // model calls so far
	notes    map[string]note // by id
	returned turn.Names      // names that searches since the last model call returned, if each may be returned once
}

// note is what was noted of the last call with an id.
type note struct {
	turn.Note
	round int // that it was made in
}

// Note adds to the note of a call. A call without an id leaves nothing: it cannot be told from
// others.
func (c *Calls) Note(id string, more turn.Note) {
	if id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notes == nil {
		c.notes = map[string]note{}
	}
	was := c.notes[id]
	if was.round != c.round { // of another call: ids may repeat
		was = note{round: c.round}
	}
	was.Note = turn.Note{Tool: cmp.Or(more.Tool, was.Tool), Loaded: append(was.Loaded, more.Loaded...), IsOurs: was.IsOurs || more.IsOurs, Refused: was.Refused || more.Refused}
	c.notes[id] = was
}

// Noted is what was noted of a call; the zero value if nothing was.
func (c *Calls) Noted(id string) turn.Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, known := c.notes[id]
	n.IsLast = known && n.round == c.round
	return n.Note
}

// ReturnsFirst reports whether no other search since the last model call has returned a tool,
// and notes that this one does.
func (c *Calls) ReturnsFirst(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.returned[name]
	c.returned.Add(name)
	return first
}

// Answered begins a model call, which reads what the calls so far returned.
func (c *Calls) Answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	c.returned = nil
}

// Permits are what a filter says in one model call. Each question is asked once, and concurrent callers wait
// for the one answer.
type Permits[Q comparable] struct {
	Ask func(context.Context, Q) (bool, error)

	mu       sync.Mutex
	verdicts map[Q]*safe.Once[bool]
}

// AskAgain starts a new model call, which asks the filter again.
func (p *Permits[Q]) AskAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdicts = nil
}

// Verdict returns what the filter says to one question. An error means no.
func (p *Permits[Q]) Verdict(ctx context.Context, use Q) (bool, error) {
	p.mu.Lock()
	if p.verdicts == nil {
		p.verdicts = map[Q]*safe.Once[bool]{}
	}
	v := p.verdicts[use]
	if v == nil {
		v = &safe.Once[bool]{}
		p.verdicts[use] = v
	}
	p.mu.Unlock()
	ok, err := v.Get("Filter", func() (bool, error) { return p.Ask(ctx, use) })
	return ok && err == nil, err
}

// Sources are what the sources of a run listed last: a source may answer each user differently. Each is known
// by a key: who asks it, and as which of several.
type Sources struct {
	mu    sync.Mutex
	known map[any]*listing
}

// listing is the state of one source.
type listing struct {
	last *hidden.Set // that it returned
	busy bool        // it has not answered yet, and is not asked again until it has
}

type sourcesKey struct{}

// SourcesIn are those of the run of a context; outside a run, none that was ever asked.
func SourcesIn(ctx context.Context) *Sources {
	if s, _ := ctx.Value(sourcesKey{}).(*Sources); s != nil {
		return s
	}
	return &Sources{}
}

// With is a context of the run.
func (s *Sources) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, sourcesKey{}, s)
}

// locked is for what goroutines share.
func (s *Sources) locked(key any, do func(*listing)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[any]*listing{}
	}
	if s.known[key] == nil {
		s.known[key] = &listing{}
	}
	do(s.known[key])
}

// errBusy is the answer of a source that has not answered its last question.
var errBusy = errors.New("it has not answered since it was last asked")

// List asks a source for its tools, for as long as ctx lasts, and keeps them. A source may panic; one that
// goes on is left to finish, and not asked meanwhile. If it returns none beside an error, or has not answered
// in time, they are those that it returned last in the run, if only after it was waited for.
func (s *Sources) List(ctx context.Context, key any, what string, tools func() (*hidden.Set, error)) (*hidden.Set, error) {
	set, err := safe.Wait(ctx, what, func() (*hidden.Set, error) {
		var wasBusy bool
		if s.locked(key, func(l *listing) { wasBusy, l.busy = l.busy, true }); wasBusy {
			return nil, errBusy
		}
		defer s.locked(key, func(l *listing) { l.busy = false })
		set, err := tools()
		if set != nil || err == nil {
			s.locked(key, func(l *listing) { l.last = set })
		}
		return set, err
	})
	if err != nil && err == ctx.Err() {
		err = fmt.Errorf("it has not answered: %w", context.Cause(ctx))
	}
	if err != nil && set == nil {
		s.locked(key, func(l *listing) { set = l.last })
	}
	return set, err
}
