// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// How a run asks its sources before each model call, and makes its group from their sets.

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leanctx/leanctx"
)

// sourceTimeout is the time limit of a Source that sets none.
const sourceTimeout = 2 * time.Second

// sources is what a run knows about tools that come and go. It belongs to the hooks.
type sources struct {
	asked   map[*settings]sourceSet
	failing map[*settings]bool // the Source failed the last time
	stale   stringSet          // names of tools that the model sees, whose definition has changed
}

// sourceSet is a set that a Source returned, and the run's tools from it.
type sourceSet struct {
	set, usable *ToolSet
	own         int // how many of its own tools the agent had
}

// refresh asks the sources for their current tools, and reports whether these have changed.
func (s *sources) refresh(ctx context.Context, r *run) bool {
	old := r.group()
	if !hasSource(old.members) {
		return false
	}
	s.stale = nil
	next := make([]member, len(old.members))
	changed := false
	for i, m := range old.members {
		next[i] = m
		if m.settings.cfg.Source == nil {
			continue
		}
		next[i].set = s.usableSet(ctx, r, m.settings)
		changed = changed || next[i].set != m.set
	}
	if !changed {
		return false
	}
	g, err := groupOf(ctx, next)
	if err != nil { // only by an index, which is not an error when tools come and go
		return false
	}
	r.setGroup(g)
	s.noteGone(&r.notes, old, g)
	for _, name := range g.refused {
		r.reported.emitRefused(ctx, g.settings, name)
	}
	return true
}

// usableSet returns the set of an instance's Source without tools whose names the agent uses.
func (s *sources) usableSet(ctx context.Context, r *run, owner *settings) *ToolSet {
	set, own, last := s.ask(ctx, owner), r.agent.own, s.asked[owner]
	if last.set == set && last.own == len(own) {
		return last.usable
	}
	taken := false
	for name := range own {
		if set.lookup(name) != nil {
			taken = true
			r.reported.emitRefused(ctx, owner, name)
		}
	}
	usable := set
	if taken {
		usable = set.filtered(func(e *entry) bool { return !own[e.info.Name] })
	}
	if s.asked == nil {
		s.asked = map[*settings]sourceSet{}
	}
	s.asked[owner] = sourceSet{set, usable, len(own)}
	return usable
}

// ask asks the Source of an instance. On an error, or while an earlier question is unanswered,
// the run keeps the set it had.
func (s *sources) ask(ctx context.Context, owner *settings) *ToolSet {
	if set, ok := owner.cfg.Source.(*ToolSet); ok {
		return set
	}
	memory, at := memoryOf(ctx), sourceID{owner, 0}
	within, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	answer := make(chan sourceAnswer, 1)
	memory.ask(within, at, owner.cfg.Source, answer)
	a := wait(within, answer)
	if a.err == nil {
		delete(s.failing, owner)
		return a.set
	}
	if a.set == nil {
		a.set = s.asked[owner].set
	}
	if ctx.Err() == nil && !s.failing[owner] {
		if s.failing == nil {
			s.failing = map[*settings]bool{}
		}
		s.failing[owner] = true
		owner.emit(ctx, leanctx.Event{Kind: leanctx.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", a.err)})
	}
	return a.set
}

// noteGone notes tools of sources that no longer exist, and visible ones whose definition has
// changed.
func (s *sources) noteGone(n *notes, old, now *group) {
	for i, m := range old.members {
		came := now.members[i].set.beside(m.set)
		for e := range m.set.beside(now.members[i].set).entries() {
			if came.lookup(e.info.Name) == nil && now.cat.lookup(e.info.Name) == nil {
				n.noteHad(e.info.Name)
			}
		}
	}
	for _, name := range n.shownInProcess() { // of this process: a resumed run lists all again
		before, after := old.cat.lookup(name), now.cat.lookup(name)
		if before != nil && after != nil && before != after && before.definition() != after.definition() {
			s.stale.add(name)
		}
	}
}

// missing returns the servers whose tools are unavailable now, each once.
func (g *group) missing(ctx context.Context) (servers []string) {
	for _, m := range g.members {
		for _, name := range missingFrom(ctx, m.settings.cfg.Source) {
			if name != "" && !slices.Contains(servers, name) {
				servers = append(servers, name)
			}
		}
	}
	return servers
}
