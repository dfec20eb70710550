// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Tools that come and go: the sources of a run are asked, and their sets become its group.

import (
	"context"
	"fmt"
	"time"

	"github.com/leanctx/leanctx"
)

// sourceTimeout is how long a Source may take that sets no bound of its own.
const sourceTimeout = 2 * time.Second

// live is what a run knows of tools that come and go. It belongs to the hooks.
type live struct {
	asked   map[*settings]asked
	failing map[*settings]bool // the Source failed the last time
	had     set                // names that sources had in this run, or by what the history says
	listed  []string           // the tools that OnEvent was told of
	stale   set                // names of tools that the model sees, whose definition has changed
}

// asked is what a Source returned, and what the run makes of it.
type asked struct {
	set, usable *ToolSet
	own         int // how many tools the agent had of its own
}

// refresh asks the sources for the tools of this moment. It reports whether there are other
// ones than before.
func (r *run) refresh(ctx context.Context) bool {
	old := r.group()
	if !hasSource(old.members) {
		return false
	}
	r.live.stale = nil
	next := make([]member, len(old.members))
	changed := false
	for i, m := range old.members {
		next[i] = m
		if m.cfg.Source == nil {
			continue
		}
		next[i].set = r.usable(ctx, m.settings, r.ask(ctx, m.settings))
		changed = changed || next[i].set != m.set
	}
	if !changed {
		return false
	}
	g, err := groupOf(ctx, next)
	if err != nil { // only by an index, which is no error where tools come and go
		return false
	}
	r.now.Store(&turn{group: g, reported: &r.reported})
	r.decided = decision{}
	r.noteGone(old, g)
	for _, name := range g.refused {
		r.refuseTool(ctx, g.settings, name)
	}
	return true
}

// ask asks the Source of an instance. On an error, and while it has not answered an earlier
// question, the run keeps the set it had.
func (r *run) ask(ctx context.Context, s *settings) *ToolSet {
	if set, ok := s.cfg.Source.(*ToolSet); ok {
		return set
	}
	memory, at := memoryOf(ctx), partOf{&s.source, 0}
	within, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	answer := make(chan sourceAnswer, 1)
	memory.ask(within, at, s.cfg.Source, answer)
	a := wait(within, answer)
	if a.err == nil {
		r.live.failing[s] = false
		return a.set
	}
	if a.set == nil {
		a.set = r.live.asked[s].set
	}
	if ctx.Err() == nil && !r.live.failing[s] {
		r.live.failing[s] = true
		s.emit(ctx, leanctx.Event{Kind: leanctx.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", a.err)})
	}
	return a.set
}

// usable is a set without tools whose name the agent has already.
func (r *run) usable(ctx context.Context, s *settings, set *ToolSet) *ToolSet {
	last := r.live.asked[s]
	if last.set == set && last.own == len(r.agent.own) {
		return last.usable
	}
	taken := false
	for name := range r.agent.own {
		if set.lookup(name) != nil {
			taken = true
			r.refuseTool(ctx, s, name)
		}
	}
	usable := set
	if taken {
		usable = set.filtered(func(e *entry) bool { return !r.agent.own[e.info.Name] })
	}
	r.live.asked[s] = asked{set, usable, len(r.agent.own)}
	return usable
}

// refuseTool reports a tool of a Source whose name another tool has, once in a run.
func (r *run) refuseTool(ctx context.Context, s *settings, name string) {
	if s.cfg.OnEvent != nil && r.reported.first(ctx, "refused "+name) {
		s.emit(ctx, leanctx.Event{Kind: leanctx.KindToolRefused, Tool: name, Err: fmt.Errorf("toolsearch: Source: another tool has the name %q", name)})
	}
}

// noteGone notes the tools of sources that no longer exist, so that a call of one is answered,
// and those that the model sees and that are others now.
func (r *run) noteGone(old, now *group) {
	for i, m := range old.members {
		came := now.members[i].set.beside(m.set)
		for e := range m.set.beside(now.members[i].set).all() {
			if came.lookup(e.info.Name) == nil && now.cat.lookup(e.info.Name) == nil {
				r.live.had.add(e.info.Name)
			}
		}
	}
	for _, name := range r.notes.shown() { // of this process: a resumed run lists all anew
		before, after := old.cat.lookup(name), now.cat.lookup(name)
		if before != nil && after != nil && before != after && before.definition() != after.definition() {
			r.live.stale.add(name)
		}
	}
}

// isGone reports whether a name is that of a tool that a Source had.
func (r *run) isGone(name string) bool {
	return r.live.had[name] && r.group().cat.lookup(name) == nil && !r.agent.own[name]
}
