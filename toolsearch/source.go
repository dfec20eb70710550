// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a run knows of its Source, whose tools come and go.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/toolset"
)

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

// refresh asks the sources for their current tools, and reports whether these have changed.
func (s *sources) refresh(ctx context.Context, r *run) bool {
	old := r.catalog()
	s.stale = nil
	next := old.parts
	if next.set = s.usableSet(ctx, r, next.settings); next.set == old.set {
		return false
	}
	g, err := catalogOf(ctx, next)
	if err != nil { // only by an index, which is not an error when tools come and go
		return false
	}
	r.hidden.Store(g)
	s.noteGone(ctx, r, old, g)
	emitLate(ctx, r)
	for _, name := range g.refused {
		emitRefused(ctx, r, g.settings, name)
	}
	return true
}

// usableSet returns the set of an instance's Source without tools whose names the agent uses.
func (s *sources) usableSet(ctx context.Context, r *run, owner *settings) *hidden.Set {
	set, own := s.setOf(ctx, owner), r.own
	if s.usable != nil && s.set == set && s.own == len(own) {
		return s.usable
	}
	taken := false
	for name := range own {
		if set.Lookup(name) != nil {
			taken = true
			emitRefused(ctx, r, owner, name)
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
	last, isShown := r.now(ctx)
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
