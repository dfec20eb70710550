// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Sources of tools that come and go: the interface, the sources of this package, and a run's
// memory of them.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/recent"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// Source provides tools that are not known when New is called, that differ between users,
// or that change during a run. It must be safe for concurrent use.
//
// It is asked at the start of a run and before every model call, and its tools are offered
// in that call. So it should wait, for a bounded time, for a change that it knows is under
// way, and return when ctx is done. Returning the same set means that nothing changed, and
// costs nothing.
type Source interface {
	// Tools returns the current tools for the user of ctx; nil is no tools. On an error,
	// the run continues with the set returned beside it, or, if that is nil, with the
	// tools it had, and OnEvent gets an event. An error that wraps a *Missing says which
	// servers are down.
	Tools(ctx context.Context) (*ToolSet, error)
}

// Missing is an error beside a set: some servers do not answer, and the set lacks their tools. A
// search that finds nothing, or that names one of these servers, tells the model so.
type Missing struct {
	// Servers are their names.
	Servers []string
	// Err is why, if that is known.
	Err error
}

// Error names the servers.
func (m *Missing) Error() string {
	text := "no tools of " + strings.Join(m.Servers, ", ")
	if m.Err != nil {
		text += ": " + m.Err.Error()
	}
	return text
}

// Unwrap returns the reason.
func (m *Missing) Unwrap() error { return m.Err }

// missingIn are the servers that an error names, in all that it joins.
func missingIn(err error) (servers []string) {
	if m, ok := err.(*Missing); ok {
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

// NewSource returns a Source that calls list each time it is asked, and compares the result
// with the last set of the same key: see ToolSet.Update. key names the user whose tools
// these are. If key is nil, all users share one list. If key returns an error or an empty
// key, there are no tools. If list fails, the last set of the key stays.
//
// Both functions must be safe for concurrent use and should return when ctx is done. The
// sets of the 1,000 most recent keys are kept.
func NewSource(list func(context.Context) ([]tool.BaseTool, error), key func(context.Context) (string, error)) Source {
	return &listSource{list: list, key: key, sets: recent.Map[string, listing]{Most: maxKeys}}
}

// MultiSource asks all sources at once, and returns the Union of their sets in their order:
// of two tools with one name, that of the first source stays. A source that fails, or has
// not answered when ctx is done, keeps the set that it had in the run, and does not affect
// the others; the error beside the set names its place. Nil sources have no tools.
func MultiSource(sources ...Source) Source {
	m := &multiSource{sources: make([]Source, len(sources)), unions: recent.Map[string, []*ToolSet]{Most: maxKeys}}
	for i, s := range sources {
		if !safe.IsNil(s) {
			m.sources[i] = s
		}
	}
	return m
}

type listSource struct {
	list func(context.Context) ([]tool.BaseTool, error)
	key  func(context.Context) (string, error)

	mu   sync.Mutex
	asks int64
	sets recent.Map[string, listing]
}

// listing is the last list of a key.
type listing struct {
	ask int64 // its number: of two lists the one that began later is newer
	set *ToolSet
}

// maxKeys is how many users a Source remembers.
const maxKeys = 1000

// Tools lists the tools of the user of ctx.
func (s *listSource) Tools(ctx context.Context) (*ToolSet, error) {
	key, err := s.userOf(ctx)
	if err != nil {
		return &ToolSet{}, err
	}
	s.mu.Lock()
	s.asks++
	ask := s.asks
	s.mu.Unlock()
	if s.list == nil {
		return nil, errors.New("toolsearch: NewSource has no list function")
	}
	tools, err := safe.Value("toolsearch: the list function of NewSource", func() ([]tool.BaseTool, error) { return s.list(ctx) })
	s.mu.Lock()
	last, _ := s.sets.Get(key)
	s.mu.Unlock()
	if err != nil {
		return last.set, err
	}
	set, err := last.set.Update(ctx, tools...)
	if err != nil {
		return last.set, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, _ := s.sets.Get(key); now.ask < ask {
		s.sets.Put(key, listing{ask, set})
	}
	return set, nil
}

// userOf returns the key of the user whose tools are requested.
func (s *listSource) userOf(ctx context.Context) (string, error) {
	if s.key == nil {
		return "", nil
	}
	key, err := safe.Value("toolsearch: the key function of NewSource", func() (string, error) { return s.key(ctx) })
	if err == nil && key == "" {
		err = errors.New("toolsearch: the key function of NewSource returned an empty key")
	}
	return key, err
}

type multiSource struct {
	sources []Source

	mu     sync.Mutex
	unions recent.Map[string, []*ToolSet] // the sets, by their addresses, which are not reused meanwhile, and their union
}

// Tools asks all sources.
func (m *multiSource) Tools(ctx context.Context) (*ToolSet, error) {
	memory, sets, wrong := sourcesOf(ctx), make([]*ToolSet, len(m.sources)), make([]error, len(m.sources))
	var asking sync.WaitGroup
	for i, s := range m.sources {
		asking.Go(func() {
			if sets[i], wrong[i] = memory.ask(ctx, sourceID{m, i}, s); wrong[i] != nil {
				wrong[i] = fmt.Errorf("source %d: %w", i, wrong[i])
			}
		})
	}
	asking.Wait()
	return m.union(sets), errors.Join(wrong...)
}

// union returns the same set for the same parts.
func (m *multiSource) union(sets []*ToolSet) *ToolSet {
	var key strings.Builder
	for _, s := range sets {
		fmt.Fprintf(&key, "%p ", s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.unions.Get(key.String())
	if !ok {
		known = append(sets, Union(sets...))
		m.unions.Put(key.String(), known)
	}
	return known[len(sets)]
}

// sourceID identifies a source in a MultiSource, or the Source of an instance.
type sourceID struct {
	of any // *multiSource or *settings
	at int
}

// sources is what a run knows of its sources, since a source may answer each user differently.
type sources struct {
	mu    sync.Mutex
	known map[sourceID]*sourceState
	stale turn.Names // names of tools that the model sees, whose definition has changed
}

type sourceState struct {
	last *ToolSet // that it returned
	busy bool     // it has not answered yet, and is not asked again until it has

	// Of the Source of an instance: what the run uses.
	set, usable *ToolSet
	own         int   // how many of its own tools the agent had
	err         error // of the last time
}

// sourcesOf returns the sources of the run of ctx; outside a run, new ones.
func sourcesOf(ctx context.Context) *sources {
	if r := runOf(ctx); r != nil {
		return r.sources
	}
	return &sources{}
}

// state returns what is known of a source.
func (s *sources) state(at sourceID) (p *sourceState) {
	s.locked(at, func(known *sourceState) { p = known })
	return p
}

// locked is for what goroutines share.
func (s *sources) locked(at sourceID, do func(*sourceState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[sourceID]*sourceState{}
	}
	if s.known[at] == nil {
		s.known[at] = &sourceState{}
	}
	do(s.known[at])
}

// missing are the servers whose tools the sources lacked when they were last asked.
func (s *sources) missing() (servers []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.known {
		servers = append(servers, missingIn(p.err)...)
	}
	return servers
}

// errBusy is the answer of a source that has not answered its last question.
var errBusy = errors.New("it has not answered since it was last asked")

// oneAtATime asks a source, which may panic, for as long as ctx lasts. A source that goes on is left to
// finish, and not asked meanwhile.
func oneAtATime[T any](ctx context.Context, s *sources, at sourceID, what string, ask func() (T, error)) (T, error) {
	return safe.Wait(ctx, what, func() (answer T, err error) {
		var wasBusy bool
		if s.locked(at, func(p *sourceState) { wasBusy, p.busy = p.busy, true }); wasBusy {
			return answer, errBusy
		}
		defer s.locked(at, func(p *sourceState) { p.busy = false })
		return ask()
	})
}

// ask asks a source for its tools, and keeps them. If it returns none beside an error, or has not
// answered in time, they are those that it returned last in the run, if only after it was waited for.
func (s *sources) ask(ctx context.Context, at sourceID, of Source) (*ToolSet, error) {
	if set, isSet := of.(*ToolSet); isSet || of == nil {
		return set, nil
	}
	set, err := oneAtATime(ctx, s, at, fmt.Sprintf("Tools of %T", of), func() (*ToolSet, error) {
		set, err := of.Tools(ctx)
		if set != nil || err == nil {
			s.locked(at, func(p *sourceState) { p.last = set })
		}
		return set, err
	})
	if err != nil && err == ctx.Err() {
		err = fmt.Errorf("it has not answered: %w", context.Cause(ctx))
	}
	if err != nil && set == nil {
		s.locked(at, func(p *sourceState) { set = p.last })
	}
	return set, err
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
func (s *sources) usableSet(ctx context.Context, r *run, owner *settings) *ToolSet {
	p, set, own := s.state(sourceID{owner, 0}), s.setOf(ctx, owner), r.own
	if p.usable != nil && p.set == set && p.own == len(own) {
		return p.usable
	}
	taken := false
	for name := range own {
		if set.lookup(name) != nil {
			taken = true
			emitRefused(ctx, r, owner, name)
		}
	}
	p.set, p.usable, p.own = set, set, len(own)
	if taken {
		p.usable = set.filtered(func(e *entry) bool { return own[e.info.Name] == nil })
	}
	return p.usable
}

// setOf asks the Source of an instance.
func (s *sources) setOf(ctx context.Context, owner *settings) *ToolSet {
	if set, ok := owner.cfg.Source.(*ToolSet); ok {
		return set
	}
	at := sourceID{owner, 0}
	p := s.state(at)
	within, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	set, err := s.ask(within, at, owner.cfg.Source)
	was := p.err
	s.locked(at, func(p *sourceState) { p.err = err })
	if err != nil && ctx.Err() == nil && was == nil {
		owner.emit(ctx, einolean.Event{Kind: einolean.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", err)})
	}
	return set
}

// noteGone notes tools of sources that no longer exist, and visible ones whose definition has
// changed.
func (s *sources) noteGone(ctx context.Context, r *run, old, now *catalog) {
	for e := range old.set.entries() {
		if now.lookup(e.info.Name) == nil {
			r.noteHad(e.info.Name)
		}
	}
	last, isShown := r.now(ctx)
	if !isShown {
		return // a resumed run lists all again
	}
	for _, name := range last.Visible {
		before, after := old.lookup(name), now.lookup(name)
		if before != nil && after != nil && before != after && before.definition() != after.definition() {
			s.stale.Add(name)
		}
	}
}
