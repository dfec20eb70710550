// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The tools of a run, and what it knows of its Source, whose tools come and go.

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// tools are those of a run's agent: its own, and the hidden ones, which come and go with a Source.
type tools struct {
	start  *catalog                    // at the start of the run
	hidden atomic.Pointer[catalog]     // in this model call
	own    map[string]*schema.ToolInfo // the agent's own, by name
	size   int                         // of the agent's list, with ours; 0 outside of an agent
	source sources

	mu  sync.Mutex
	had turn.Names // names that the Source had in this run, or according to the history
}

// catalog is the hidden tools of this model call.
func (t *tools) catalog() *catalog { return t.hidden.Load() }

// isGone reports whether a name is that of a tool that a Source had.
func (t *tools) isGone(name string) bool {
	t.mu.Lock()
	had := t.had[name]
	t.mu.Unlock()
	return had && t.own[name] == nil && t.catalog().Lookup(name) == nil
}

// noteHad notes a tool of a Source: later calls of it get an answer.
func (t *tools) noteHad(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.had.Add(name)
}

// checkLater checks the tools that later handlers added, which the list of the first model call
// shows. It refuses a name that is taken: which of the two tools Eino runs would depend on the order
// of the handlers.
func (t *tools) checkLater(infos []*schema.ToolInfo) error {
	if t.size == 0 || len(infos) <= t.size {
		return nil
	}
	c, wrong := t.catalog(), problems(nil)
	seen := make(turn.Names, len(infos))
	for _, info := range infos {
		if info == nil || slots.IsName(info.Name) {
			continue
		}
		isOurs := c.usesMetaName(info.Name)
		if c.isFixed(info.Name) || isOurs && seen[info.Name] {
			wrong.add("", "a handler after this one added a tool named %q, which is the name of a hidden tool or of the search tool: rename one of them (the tool that package reduction adds: set ReadFileToolName)", info.Name)
		}
		if seen[info.Name] = true; !isOurs {
			t.own[info.Name] = info
		}
	}
	return wrong.err()
}

// sources is what a run knows of its Source, and of those that this one asks.
type sources struct {
	asked hidden.Asked
	stale turn.Names // names of tools that the model sees, whose definition has changed

	set, usable *hidden.Set // what it returned last, and what the run uses of it
	own         int         // how many of its own tools the agent had then

	mu  sync.Mutex
	err error // of the last time
}

// missing are the servers whose tools the Source lacked when it was last asked.
func (s *sources) missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return missingIn(s.err)
}

// missingIn are the servers that an error names, in all that it joins.
func missingIn(err error) (servers []string) {
	if m, ok := err.(*toolset.Missing); ok {
		return m.Servers
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return missingIn(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range err.Unwrap() {
			servers = append(servers, missingIn(e)...)
		}
	}
	return servers
}

// sourceTimeout is the time limit of a Source that sets none.
const sourceTimeout = 2 * time.Second

// refresh asks the Source of a run for its current tools, and reports whether these have changed.
func (s *sources) refresh(ctx context.Context, r *run) bool {
	old := r.catalog()
	s.stale = nil
	next := old.parts
	if next.set = s.usableSet(ctx, r); next.set == old.set {
		return false
	}
	now, err := old.find(ctx, next)
	if err != nil { // only by an index, which is not an error when tools come and go
		return false
	}
	r.hidden.Store(now)
	s.noteGone(ctx, r, old, now)
	emitLate(ctx, r)
	for _, name := range now.refused {
		emitRefused(ctx, r, name)
	}
	return true
}

// usableSet returns the set of a run's Source without tools whose names the agent uses.
func (s *sources) usableSet(ctx context.Context, r *run) *hidden.Set {
	set, own := s.setOf(ctx, r.settings), r.own
	if s.usable != nil && s.set == set && s.own == len(own) {
		return s.usable
	}
	taken := false
	for name := range own {
		if set.Lookup(name) != nil {
			taken = true
			emitRefused(ctx, r, name)
		}
	}
	s.set, s.usable, s.own = set, set, len(own)
	if taken {
		s.usable = set.Filter(func(e *hidden.Tool) bool { return own[e.Info.Name] == nil })
	}
	return s.usable
}

// setOf asks the Source of an instance.
func (s *sources) setOf(ctx context.Context, owner *settings) *hidden.Set {
	of := owner.cfg.Source
	if set, ok := of.(*toolset.Set); ok {
		return (*hidden.Set)(set)
	}
	within, cancel := context.WithTimeout(s.asked.In(ctx), sourceTimeout)
	defer cancel()
	set, err := s.asked.Ask(within, owner, fmt.Sprintf("Tools of %T", of), func() (*hidden.Set, error) {
		set, err := of.Tools(within)
		return (*hidden.Set)(set), err
	})
	s.mu.Lock()
	was := s.err
	s.err = err
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil && was == nil {
		owner.emit(ctx, einolean.Event{Kind: einolean.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", err)})
	}
	return set
}

// noteGone notes tools of sources that no longer exist, and visible ones whose definition has
// changed.
func (s *sources) noteGone(ctx context.Context, r *run, old, now *catalog) {
	for e := range old.set.All() {
		if now.Lookup(e.Info.Name) == nil {
			r.noteHad(e.Info.Name)
		}
	}
	last, isShown := r.Now(ctx)
	if !isShown {
		return // a resumed run lists all again
	}
	for _, name := range last.Visible {
		before, after := old.Lookup(name), now.Lookup(name)
		if before != nil && after != nil && before != after && before.Definition() != after.Definition() {
			s.stale.Add(name)
		}
	}
}

// emitLate reports, once in a run, tools that joined it and cannot be called before the next.
func emitLate(ctx context.Context, r *run) {
	if r.slots == nil || !r.slots.KeepsNames() || r.cfg.OnEvent == nil {
		return
	}
	var late []string
	for e := range r.catalog().All() {
		if !r.slots.IsBound(e.Info.Name) {
			late = append(late, e.Info.Name)
		}
	}
	if len(late) > 0 && r.IsNew(ctx, "late") {
		r.emit(ctx, einolean.Event{
			Kind: einolean.KindToolRefused, Tool: late[0],
			Err: fmt.Errorf("toolsearch: %d tools joined while the run was under way, and this version of Eino keeps the names of its tools: they can be called from the next run on", len(late)),
		})
	}
}

// emitRefused reports a Source's tool whose name is taken, once in a run.
func emitRefused(ctx context.Context, r *run, name string) {
	if r.IsNew(ctx, "refused "+name) {
		r.emit(ctx, einolean.Event{Kind: einolean.KindToolRefused, Tool: name, Err: fmt.Errorf("toolsearch: Source: another tool has the name %q", name)})
	}
}
