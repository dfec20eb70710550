// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The hidden tools: those of an agent, found by name, with their indexes; those that an instance knows; and those
// of a run, whose Source lets them come and go.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/lru"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/search"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/visibility"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// catalog is the hidden tools of an agent. It is immutable and safe for concurrent use.
type toolCatalog struct {
	search.Tools // all of them: their names are unique
	*catalogCache
	catalogKey
	changes bool               // there is a Source: tools may come and go
	refused []string           // names of the Source's tools that another tool already has
	plan    func() *slots.Plan // of the slots that an agent gets
	*shared
}

// parts are what the tools of a catalogue come from beside the dynamic ones.
type catalogKey struct {
	owned *catalog.Set // tools that the agent's own list gave up
	set   *catalog.Set // of the Source
}

// shared is what catalogues of tools that look the same have in common. Each function works once.
type shared struct {
	pins []string // names of the tools to show always

	names    func() []string                   // of all tools, in their order; read only
	measure  func() (tokens int64, sum string) // of all definitions in tokens, and the key that tells catalogues apart
	reminder func() string                     // with all names
}

// newCatalog makes a catalogue. It shares what like has computed, if that is not nil.
func newCatalog(by *catalogCache, of catalogKey, like *toolCatalog) *toolCatalog {
	c := &toolCatalog{Tools: search.Tools{Set: by.dynamic}, catalogCache: by, catalogKey: of, changes: by.cfg.Source != nil}
	c.Set = c.With(of.owned)
	c.Set = c.With(of.set.Filter(func(e *catalog.Tool) bool {
		isTaken := c.Has(e.Info.Name) || c.usesMetaName(e.Info.Name)
		if isTaken {
			c.refused = append(c.refused, e.Info.Name)
		}
		return !isTaken
	}))
	c.plan = sync.OnceValue(func() *slots.Plan { return slots.NewPlan(c.Set, c.changes) })
	if like != nil {
		c.Indexes, c.shared = like.Indexes, like.shared
		return c
	}
	c.Indexes, c.shared = search.NewIndexes(c.Set), &shared{}
	c.names = sync.OnceValue(func() []string {
		names := make([]string, 0, c.Len())
		for e := range c.All() {
			names = append(names, e.Info.Name)
		}
		return names
	})
	c.measure = sync.OnceValues(c.measureAll)
	c.reminder = sync.OnceValue(func() string { return history.FormatList(c.names(), "") })
	for e := range c.All() {
		if defers, said := e.Info.Extra["defer_loading"].(bool); said && !defers || toolnames.Match(c.cfg.AlwaysVisible, e.Info.Name) {
			c.pins = append(c.pins, e.Info.Name)
		}
	}
	return c
}

func (c *toolCatalog) measureAll() (tokens int64, sum string) {
	var all strings.Builder
	for e := range c.All() {
		tokens += e.Tokens()
		fmt.Fprintf(&all, "%q %q %s\n", e.Info.Name, e.Info.Desc, e.Parameters())
	}
	return tokens, catalog.Digest(all.String())
}

// tokensOf is the size of the definitions of some tools.
func (c *toolCatalog) tokensOf(names []string) (n int64) {
	for _, name := range names {
		if e := c.Lookup(name); e != nil {
			n += e.Tokens()
		}
	}
	return n
}

// hiddenTokens is the size of the definitions that hiding leaves out, of tools that may be shown. It
// stops counting above most.
func (c *toolCatalog) hiddenTokens(may func(*catalog.Tool) bool, most int64) (n int64) {
	for e := range c.All() {
		if n > most {
			break
		}
		if !slices.Contains(c.pins, e.Info.Name) && may(e) {
			n += e.Tokens()
		}
	}
	return n
}

// isFixed reports whether a name is that of a tool that no Source has.
func (c *toolCatalog) isFixed(name string) bool {
	return c.dynamic.Has(name) || c.owned.Has(name)
}

// usesMetaName reports whether one of the search tools has the name.
func (c *toolCatalog) usesMetaName(name string) bool {
	return slices.Contains(c.searchTools, name)
}

// clashes refuses names that a tool of the agent's own shares with another.
func (c *toolCatalog) clashes(tools []tool.BaseTool, own []*schema.ToolInfo) error {
	var wrong problems
	for e := range c.owned.All() {
		if d := c.dynamic.Lookup(e.Info.Name); d != nil {
			wrong.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own hidden tool (%T)", d.Info.Name, d.Value, e.Value)
		}
	}
	for i, info := range own {
		if info == nil || c.hides(info) {
			continue
		}
		if e := c.Lookup(info.Name); e != nil {
			wrong.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own tool %q (%T): %s", e.Info.Name, e.Value, info.Name, tools[i], renameHint(tools[i]))
		}
		if c.usesMetaName(info.Name) {
			wrong.add("", "the agent's own tool %q (%T) has the name of the search tool %q", info.Name, tools[i], info.Name)
		}
	}
	return errors.Join(wrong...)
}

// renaming says how to give two tools different names. The tool that package reduction adds
// knows the field that sets its name.
func renameHint(own tool.BaseTool) string {
	if n, ok := own.(interface{ NamedBy() string }); ok {
		return "set " + n.NamedBy() + " to a name that no other tool has"
	}
	return "give one of them another name"
}

// catalogLine begins the line of Record.Reported that tells which catalogue was reported.
const catalogLine = "catalog "

// emitCatalog reports the catalogue at the start of a run, and what changed in it since. listed are its
// tools as they were reported last; it returns them as they are now.
func (c *toolCatalog) emitCatalog(ctx context.Context, said *runstate.SavedState, listed []string) []string {
	names := c.names()
	tokens, sum := c.measure()
	if !said.MarkReported(ctx, catalogLine+sum) {
		return listed
	}
	said.Update(ctx, func(last *runstate.State) {
		last.Reported = slices.DeleteFunc(slices.Clone(last.Reported), func(line string) bool {
			return strings.HasPrefix(line, catalogLine) && line != catalogLine+sum
		})
	})
	change := c.changeOf(toolnames.Difference(names, listed), toolnames.Difference(listed, names))
	if len(listed) == 0 {
		change.Tokens = tokens
	}
	c.emit(ctx, einolean.Event{Kind: einolean.KindCatalogChanged, Tools: change})
	return names
}

// emitVisible reports tools that became visible or hidden since the last model call. If there was
// none, a run begins with the tools of an earlier one.
func (c *toolCatalog) emitVisible(ctx context.Context, last runstate.State, out visibility.Selection) {
	before, now, repeat := last.Visible, out.State.Visible, !last.HadModelCall
	if added := toolnames.Difference(now, before); len(added) > 0 {
		change := c.changeOf(added, nil)
		if repeat {
			change.Reason = "history"
		}
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolsLoaded, Repeat: repeat, Tools: change})
	}
	if unloaded := toolnames.Difference(before, now); len(unloaded) > 0 {
		change := c.changeOf(nil, unloaded)
		if len(toolnames.Difference(unloaded, out.Unused)) == 0 {
			change.Reason = "unused"
		}
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolsUnloaded, Tools: change})
	}
}

// emitRefused reports a Source's tool whose name is taken, once in a run.
func (c *toolCatalog) emitRefused(ctx context.Context, said *runstate.SavedState, name string) {
	if said.MarkReported(ctx, "refused "+name) {
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolRefused, Tool: name, Err: fmt.Errorf("toolsearch: Source: another tool has the name %q", name)})
	}
}

// changeOf is what an event says of tools that came, or else of some that went.
func (c *toolCatalog) changeOf(added, removed []string) *einolean.ToolChange {
	sized := added
	if len(added) == 0 {
		sized = removed
	}
	return &einolean.ToolChange{
		Added: firstNames(added), AddedCount: len(added), Removed: firstNames(removed), RemovedCount: len(removed), Tokens: c.tokensOf(sized),
	}
}

// maxEventNames is the most names in an event.
const maxEventNames = 20

// head is a copy of the first names, for an event; nil for none.
func firstNames(names []string) []string {
	return append([]string(nil), names[:min(len(names), maxEventNames)]...)
}

// maxCatalogs bounds what an instance remembers when every run brings other tools.
const maxCatalogs = 64

// catalogs are those of an instance, so that it indexes tools once.
type catalogCache struct {
	*settings

	mu    sync.Mutex
	known lru.Map[catalogKey, *toolCatalog]
	// sets are one of those that look the same: the first of a size, since comparing means reading
	// every schema, and others by their sum.
	sets lru.Map[any, *catalog.Set]
}

func newCatalogs(s *settings) *catalogCache {
	return &catalogCache{settings: s, known: lru.Map[catalogKey, *toolCatalog]{Most: maxCatalogs}, sets: lru.Map[any, *catalog.Set]{Most: 2 * maxCatalogs}}
}

// find returns the catalogue of a run. If its tools look the same as those of an earlier one, it shares
// their names and indexes: only the first run with such tools makes their indexes. If an index cannot be
// made, the next run tries again; with tools that come and go, it does not fail the run.
func (b *catalogCache) find(ctx context.Context, of catalogKey) (*toolCatalog, error) {
	c := b.withParts(of)
	c.BuildIndex(ctx, c.cfg.NewIndex) // without the lock: others need not wait
	if err := c.Err(); err != nil && !c.changes {
		return nil, fieldError("NewIndex", "%w", err)
	}
	return c, nil
}

// withParts is find without the indexes.
func (b *catalogCache) withParts(of catalogKey) *toolCatalog {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.known.Get(of); ok && c.Err() == nil {
		return c
	}
	alike := catalogKey{b.canonicalSet(of.owned, true), b.canonicalSet(of.set, false)}
	first, ok := b.known.Get(alike)
	if !ok || first.Err() != nil {
		first = newCatalog(b, alike, nil)
		b.known.Put(alike, first)
	}
	if alike == of {
		return first
	}
	c := newCatalog(b, of, first)
	if of.owned.Len() == 0 { // else it is of one run
		b.known.Put(of, c)
	}
	return c
}

// like returns the first set that looks the same, or a copy of it that keeps nothing of a run.
func (b *catalogCache) canonicalSet(s *catalog.Set, isOfRun bool) *catalog.Set {
	if s.Len() == 0 {
		return nil
	}
	key := any(s.Len())
	first, seen := b.sets.Get(key)
	if seen && first != s && first.Fingerprint() != s.Fingerprint() {
		key = s.Fingerprint()
		first, seen = b.sets.Get(key)
	}
	if !seen {
		if first = s; isOfRun {
			first = s.Detach()
		}
		b.sets.Put(key, first)
	}
	return first
}

// tools are those of a run's agent: its own, and the hidden ones, which come and go with a Source.
type tools struct {
	hidden atomic.Pointer[toolCatalog] // in this model call
	own    map[string]*schema.ToolInfo // the agent's own, by name
	slots  *slots.Slots                // that stand for the hidden ones; nil outside of an agent
	source sources

	mu     sync.Mutex
	had    toolnames.Set // names that the Source had in this run, or according to the history
	called toolnames.Set // names that the history called before this run: of tools, or aliases of them
}

// catalog is the hidden tools of this model call.
func (t *tools) catalog() *toolCatalog { return t.hidden.Load() }

// isGone reports whether a name is that of a tool that a Source had.
func (t *tools) wasRemoved(name string) bool {
	t.mu.Lock()
	had := t.had[name]
	t.mu.Unlock()
	return had && t.own[name] == nil && !t.catalog().Has(name)
}

// noteHad notes a tool of a Source: later calls of it get an answer.
func (t *tools) markKnown(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.had.Add(name)
}

// noteCalled notes a name that the history calls.
func (t *tools) noteCalled(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.called.Add(name)
}

// mayBeMissing reports whether an unknown name may be that of a tool which the Source lacks for now. If it
// failed in this run, any name may be. If it only had no tools, these are the names that the history called.
func (t *tools) mayBeMissing(name string) bool {
	failed, wasEmpty := t.source.failures()
	t.mu.Lock()
	defer t.mu.Unlock()
	return failed || wasEmpty && t.called[name]
}

// checkLater checks the tools that later handlers added, which the list of the first model call
// shows. It refuses a name that is taken: which of the two tools Eino runs would depend on the order
// of the handlers.
func (t *tools) checkLaterTools(infos []*schema.ToolInfo) error {
	if !slices.ContainsFunc(infos, func(t *schema.ToolInfo) bool { return t != nil && slots.IsName(t.Name) }) {
		return nil // it is not of this run: there is no agent, or it is a list from a checkpoint of Eino's own package
	}
	c, wrong, seen := t.catalog(), problems(nil), toolnames.Set(nil)
	for _, info := range infos {
		if info == nil || slots.IsName(info.Name) {
			continue
		}
		isOurs := c.usesMetaName(info.Name)
		if c.isFixed(info.Name) || seen[info.Name] {
			wrong.add("", "a handler after this one added a tool named %q, which is the name of a hidden tool or of the search tool: rename one of them (the tool that package reduction adds: set ReadFileToolName)", info.Name)
		}
		if isOurs {
			seen.Add(info.Name)
		} else {
			t.own[info.Name] = info
		}
	}
	return errors.Join(wrong...)
}

// noteLater notes the tools that later handlers added, in a run that was resumed: the list of its first model call
// has them beside the hidden tools that the last one showed.
func (t *tools) noteLater(infos []*schema.ToolInfo, shown []string) {
	c := t.catalog()
	for _, info := range infos {
		if info != nil && t.own[info.Name] == nil && !slots.IsName(info.Name) && !c.usesMetaName(info.Name) && !c.isFixed(info.Name) && !slices.Contains(shown, info.Name) {
			t.own[info.Name] = info
		}
	}
}

// refresh asks the Source, if there is one, for its current tools, and reports whether these have changed.
func (t *tools) refresh(ctx context.Context, said *runstate.SavedState) bool {
	s, old := &t.source, t.catalog()
	s.stale = nil
	if !old.changes {
		return false
	}
	next := old.catalogKey
	if next.set = t.usableSet(ctx, said); next.set == old.set {
		return false
	}
	now, err := old.find(ctx, next)
	if err != nil { // only by an index, which is not an error when tools come and go
		return false
	}
	t.hidden.Store(now)
	t.noteGone(ctx, said, old)
	t.emitLate(ctx, said)
	for _, name := range now.refused {
		now.emitRefused(ctx, said, name)
	}
	return true
}

// usableSet returns the set of the Source without tools whose names the agent uses.
func (t *tools) usableSet(ctx context.Context, said *runstate.SavedState) *catalog.Set {
	s, own := &t.source, t.own
	set := s.setOf(ctx, t.catalog().settings)
	if s.usable != nil && s.set == set && s.own == len(own) {
		return s.usable
	}
	taken := false
	for name := range own {
		if set.Has(name) {
			taken = true
			t.catalog().emitRefused(ctx, said, name)
		}
	}
	s.set, s.usable, s.own = set, set, len(own)
	if taken {
		s.usable = set.Filter(func(e *catalog.Tool) bool { return own[e.Info.Name] == nil })
	}
	return s.usable
}

// noteGone notes tools of sources that no longer exist, and visible ones whose definition has
// changed.
func (t *tools) noteGone(ctx context.Context, said *runstate.SavedState, old *toolCatalog) {
	now := t.catalog()
	for e := range old.set.All() {
		if !now.Has(e.Info.Name) {
			t.markKnown(e.Info.Name)
		}
	}
	last, isShown := said.Snapshot(ctx)
	if !isShown {
		return // a resumed run lists all again
	}
	for _, name := range last.Visible {
		before, after := old.Lookup(name), now.Lookup(name)
		if before != nil && after != nil && before != after && before.Definition() != after.Definition() {
			t.source.stale.Add(name)
		}
	}
}

// emitLate reports, once in a run, tools that joined it and cannot be called before the next.
func (t *tools) emitLate(ctx context.Context, said *runstate.SavedState) {
	c := t.catalog()
	if t.slots == nil || c.cfg.OnEvent == nil {
		return
	}
	if late := t.slots.UnbindableTools(c.Set); len(late) > 0 && said.MarkReported(ctx, "late") {
		c.emit(ctx, einolean.Event{
			Kind: einolean.KindToolRefused, Tool: late[0],
			Err: fmt.Errorf("toolsearch: %d tools joined while the run was under way, and this version of Eino keeps the names of its tools: they can be called from the next run on", len(late)),
		})
	}
}

// sources is what a run knows of its Source, and of those that this one asks.
type sources struct {
	known runstate.Sources
	stale toolnames.Set // names of tools that the model sees, whose definition has changed

	set, usable *catalog.Set // what it returned last, and what the run uses of it
	own         int          // how many of its own tools the agent had then

	mu       sync.Mutex
	err      error // of the last time
	failed   bool  // it returned an error in this run
	wasEmpty bool  // it had no tools at a time in this run
}

// failures reports whether the Source failed, or had no tools, at any time in this run.
func (s *sources) failures() (failed, wasEmpty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed, s.wasEmpty
}

// isDown reports whether the Source failed when it was last asked.
func (s *sources) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
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

// setOf asks the Source of an instance.
func (s *sources) setOf(ctx context.Context, owner *settings) *catalog.Set {
	of := owner.cfg.Source
	if set, ok := of.(*toolset.Set); ok {
		return (*catalog.Set)(set)
	}
	within, cancel := context.WithTimeout(s.known.With(ctx), sourceTimeout)
	defer cancel()
	set, err := s.known.List(within, owner, fmt.Sprintf("Tools of %T", of), func() (*catalog.Set, error) {
		set, err := of.Tools(within)
		return (*catalog.Set)(set), err
	})
	s.mu.Lock()
	was := s.err
	s.err = err
	s.failed, s.wasEmpty = s.failed || err != nil, s.wasEmpty || set.Len() == 0
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil && was == nil {
		owner.emit(ctx, einolean.Event{Kind: einolean.KindSourceFailed, Err: fmt.Errorf("toolsearch: Source: %w", err)})
	}
	return set
}
