// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The tools of a run, which come and go with Config.Source.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// runTools is the tools of a run: the agent's own, and the hidden ones, which come and go with a Source.
type runTools struct {
	current  atomic.Pointer[toolCatalog] // in this model call
	ownInfos map[string]*schema.ToolInfo // the agent's own that are not hidden, by name
	slots    *slots.Slots                // for calls of the hidden tools; nil outside an agent
	source   sourceState

	mu          sync.Mutex
	sourceNames toolnames.Set // names that the Source had in this run, or according to the history
	calledNames toolnames.Set // names that the history called before this run: of tools, or aliases of them
}

// catalog returns the hidden tools of this model call.
func (t *runTools) catalog() *toolCatalog { return t.current.Load() }

// wasRemoved reports whether a Source had a tool of the name, and has it no longer.
func (t *runTools) wasRemoved(name string) bool {
	t.mu.Lock()
	wasKnown := t.sourceNames[name]
	t.mu.Unlock()
	return wasKnown && t.ownInfos[name] == nil && !t.catalog().tools.Has(name)
}

// markKnown records that a Source had a tool. Once the tool is removed, calls of it get an answer.
func (t *runTools) markKnown(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sourceNames.Add(name)
}

// markCalled records a name that the history calls.
func (t *runTools) markCalled(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calledNames.Add(name)
}

// mayBeMissing reports whether an unknown name may be that of a tool which the Source lacks for now. If the Source
// failed in this run, any name may be. If it only had no tools, the names that the history called may be.
func (t *runTools) mayBeMissing(name string) bool {
	failed, wasEmpty := t.source.failures()
	t.mu.Lock()
	defer t.mu.Unlock()
	return failed || wasEmpty && t.calledNames[name]
}

// checkLaterTools adds the tools of later handlers to the agent's own; the list of the first model call has them. It
// rejects a name that is taken: which of the two tools Eino runs would depend on the order of the handlers.
func (t *runTools) checkLaterTools(infos []*schema.ToolInfo) error {
	if !slices.ContainsFunc(infos, slots.IsUnused) {
		return nil // not a list of this run: there is no agent, or it is from a checkpoint of Eino's own package
	}
	c, errs, seen := t.catalog(), problems(nil), toolnames.Set(nil)
	for _, info := range infos {
		if info == nil || slots.IsUnusedName(info.Name) {
			continue
		}
		isOurs := c.hasSearchTool(info.Name)
		if c.isFixed(info.Name) || seen[info.Name] {
			errs.add("", "a handler after this one added a tool named %q, which is the name of a hidden tool or of the "+
				"search tool: rename one of them (the tool that package reduction adds: set ReadFileToolName)", info.Name)
		}
		if isOurs {
			seen.Add(info.Name)
		} else {
			t.ownInfos[info.Name] = info
		}
	}
	return errors.Join(errs...)
}

// addLaterTools adds the tools of later handlers to the agent's own, in a run that was resumed. The list of its first
// model call has them beside the hidden tools that the last call showed.
func (t *runTools) addLaterTools(infos []*schema.ToolInfo, visible []string) {
	c := t.catalog()
	for _, info := range infos {
		switch {
		case info == nil, t.ownInfos[info.Name] != nil, slots.IsUnusedName(info.Name):
		case c.hasSearchTool(info.Name), c.isFixed(info.Name), slices.Contains(visible, info.Name):
		default:
			t.ownInfos[info.Name] = info
		}
	}
}

// refresh asks the Source, if there is one, for its current tools, and reports whether these have changed.
func (t *runTools) refresh(ctx context.Context, state *runstate.SavedState) bool {
	s, old := &t.source, t.catalog()
	s.staleNames = nil
	if !old.hasSource {
		return false
	}
	next := old.key
	if next.sourceTools = t.usableSet(ctx, state); next.sourceTools == old.key.sourceTools {
		return false
	}
	now, _ := old.cache.find(ctx, next) // with a Source it does not fail
	t.current.Store(now)
	t.markRemoved(ctx, state, old)
	t.emitUnbindable(ctx, state)
	for _, name := range now.refusedNames {
		now.emitRefused(ctx, state, name)
	}
	return true
}

// usableSet returns the set of the Source without tools whose names the agent uses.
func (t *runTools) usableSet(ctx context.Context, state *runstate.SavedState) *catalog.Set {
	s, own := &t.source, t.ownInfos
	set := s.list(ctx, t.catalog().settings)
	if s.usableSet != nil && s.lastSet == set && s.ownCount == len(own) {
		return s.usableSet
	}
	isTaken := false
	for name := range own {
		if set.Has(name) {
			isTaken = true
			t.catalog().emitRefused(ctx, state, name)
		}
	}
	s.lastSet, s.usableSet, s.ownCount = set, set, len(own)
	if isTaken {
		s.usableSet = set.Filter(func(e *catalog.Tool) bool { return own[e.Info.Name] == nil })
	}
	return s.usableSet
}

// markRemoved records tools of the Source that no longer exist, and visible ones whose definition has changed.
func (t *runTools) markRemoved(ctx context.Context, state *runstate.SavedState, old *toolCatalog) {
	now := t.catalog()
	for e := range old.key.sourceTools.All() {
		if !now.tools.Has(e.Info.Name) {
			t.markKnown(e.Info.Name)
		}
	}
	last, isOfThisProcess := state.Snapshot(ctx)
	if !isOfThisProcess {
		return // a resumed run builds its list anew
	}
	for _, name := range last.Visible {
		before, after := old.tools.Lookup(name), now.tools.Lookup(name)
		if before != nil && after != nil && before != after && before.Definition() != after.Definition() {
			t.source.staleNames.Add(name)
		}
	}
}

// emitUnbindable reports, once in a run, tools that joined it and can only be called in the next one.
func (t *runTools) emitUnbindable(ctx context.Context, state *runstate.SavedState) {
	c := t.catalog()
	if t.slots == nil || c.settings.cfg.OnEvent == nil {
		return
	}
	if names := t.slots.UnbindableTools(c.tools.Set); len(names) > 0 && state.MarkReported(ctx, "late") {
		c.settings.emit(ctx, einolean.Event{
			Kind: einolean.KindToolRefused, Tool: names[0],
			Err: fmt.Errorf("toolsearch: %d tools joined while the run was under way, and this version of Eino keeps the "+
				"names of its tools: they can be called from the next run on", len(names)),
		})
	}
}

// sourceState is what a run knows of its Source.
type sourceState struct {
	listings   runstate.Sources // of the Source, and of those that it combines
	staleNames toolnames.Set    // tools that the model sees, whose definition has changed

	lastSet   *catalog.Set // as the Source returned it last
	usableSet *catalog.Set // what the run uses of it
	ownCount  int          // how many own tools the agent had then

	mu        sync.Mutex
	err       error // of the last listing
	hasFailed bool  // it returned an error in this run
	wasEmpty  bool  // it had no tools at some time in this run
}

// failures reports whether the Source failed, or had no tools, at any time in this run.
func (s *sourceState) failures() (failed, wasEmpty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasFailed, s.wasEmpty
}

// isDown reports whether the Source failed when it was last asked.
func (s *sourceState) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// missingServers returns the servers whose tools the Source lacked when it was last asked.
func (s *sourceState) missingServers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return missingServersIn(s.err)
}

// missingServersIn returns the servers that an error names, in all errors that it joins.
func missingServersIn(err error) (servers []string) {
	if m, ok := err.(*toolset.Missing); ok {
		return m.Servers
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return missingServersIn(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range err.Unwrap() {
			servers = append(servers, missingServersIn(e)...)
		}
	}
	return servers
}

// sourceTimeout is how long a model call waits for the Source.
const sourceTimeout = 2 * time.Second

// list asks the Source of an instance for its tools.
func (s *sourceState) list(ctx context.Context, owner *settings) *catalog.Set {
	source := owner.cfg.Source
	if set, ok := source.(*toolset.Set); ok {
		return (*catalog.Set)(set)
	}
	timed, cancel := context.WithTimeout(s.listings.NewContext(ctx), sourceTimeout)
	defer cancel()
	set, err := s.listings.List(timed, owner, fmt.Sprintf("Tools of %T", source), func() (*catalog.Set, error) {
		set, err := source.Tools(timed)
		return (*catalog.Set)(set), err
	})
	s.mu.Lock()
	lastErr := s.err
	s.err = err
	s.hasFailed, s.wasEmpty = s.hasFailed || err != nil, s.wasEmpty || set.Len() == 0
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil && lastErr == nil {
		owner.emit(ctx, einolean.Event{Kind: einolean.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", err)})
	}
	return set
}
