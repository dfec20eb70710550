// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The hidden tools of an agent: found by name, with their indexes.

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/recent"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/told"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// catalog is the hidden tools of an agent. It is immutable and safe for concurrent use.
type catalog struct {
	found.Tools // all of them: their names are unique
	*catalogs
	parts
	changes    bool               // there is a Source: tools may come and go
	filtered   bool               // there is a Filter
	duplicates problems           // names of dynamic tools that the agent's own hidden tools have too
	refused    []string           // names of the Source's tools that another tool already has
	plan       func() *slots.Plan // of the slots that an agent gets
	has        func(string) bool  // there is a tool of the name
	*shared
}

// parts are what the tools of a catalogue come from beside the dynamic ones.
type parts struct {
	owned *hidden.Set // tools that the agent's own list gave up
	set   *hidden.Set // of the Source
}

// shared is what catalogues of tools that look the same have in common. Each function works once.
type shared struct {
	pins []string // names of the tools to show always

	names    func() []string                   // of all tools, in their order; read only
	measure  func() (tokens int64, sum string) // of all definitions in tokens, and the key that tells catalogues apart
	reminder func() string                     // with all names
}

// newCatalog makes a catalogue. It shares what like has computed, if that is not nil.
func newCatalog(by *catalogs, of parts, like *catalog) *catalog {
	c := &catalog{Tools: found.Tools{Set: by.dynamic}, catalogs: by, parts: of, changes: by.cfg.Source != nil, filtered: by.cfg.Filter != nil}
	for name := range c.takenOf(of.owned, nil) {
		c.duplicates.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own hidden tool (%T)", name, c.Lookup(name).Value, of.owned.Lookup(name).Value)
	}
	c.Set = c.With(of.owned)
	mine := of.set
	if taken := c.takenOf(mine, by.metaNames); len(taken) > 0 {
		mine = mine.Filter(func(e *hidden.Tool) bool {
			if taken[e.Info.Name] {
				c.refused = append(c.refused, e.Info.Name)
			}
			return !taken[e.Info.Name]
		})
	}
	c.Set = c.With(mine)
	c.has = func(name string) bool { return c.Lookup(name) != nil }
	c.plan = sync.OnceValue(func() *slots.Plan { return slots.NewPlan(c.slotted(), c.Len(), c.changes) })
	if like != nil {
		c.Ranks, c.shared = like.Ranks, like.shared
		return c
	}
	c.Ranks, c.shared = found.NewRanks(c.Set), &shared{}
	c.names = sync.OnceValue(func() []string {
		names := make([]string, 0, c.Len())
		for e := range c.All() {
			names = append(names, e.Info.Name)
		}
		return names
	})
	c.measure = sync.OnceValues(c.measureAll)
	c.reminder = sync.OnceValue(func() string { return told.List(c.names(), "") })
	for e := range c.All() {
		if defers, said := e.Info.Extra["defer_loading"].(bool); said && !defers || toolnames.Match(c.cfg.AlwaysVisible, e.Info.Name) {
			c.pins = append(c.pins, e.Info.Name)
		}
	}
	return c
}

// takenOf returns the names of a set that other tools have, or that are among some names. It
// asks the larger side for those of the smaller one.
func (c *catalog) takenOf(s *hidden.Set, names []string) (taken turn.Names) {
	for _, name := range names {
		if s.Lookup(name) != nil {
			taken.Add(name)
		}
	}
	less, more := s, c.Set
	if more.Len() < less.Len() {
		less, more = more, less
	}
	for e := range less.All() {
		if more.Lookup(e.Info.Name) != nil {
			taken.Add(e.Info.Name)
		}
	}
	return taken
}

// slotted are the tools for which an agent gets slots.
func (c *catalog) slotted() iter.Seq[slots.Tool] {
	return func(yield func(slots.Tool) bool) {
		for e := range c.All() {
			if !yield(slots.Tool{Name: e.Info.Name, Desc: e.Info.Desc, Tool: e.Value}) {
				return
			}
		}
	}
}

func (c *catalog) measureAll() (tokens int64, sum string) {
	var all strings.Builder
	for e := range c.All() {
		tokens += e.Tokens()
		fmt.Fprintf(&all, "%q %q %s\n", e.Info.Name, e.Info.Desc, e.Parameters())
	}
	return tokens, hidden.Digest(all.String())
}

// tokensOf is the size of the definitions of some tools.
func (c *catalog) tokensOf(names []string) (n int64) {
	for _, name := range names {
		if e := c.Lookup(name); e != nil {
			n += e.Tokens()
		}
	}
	return n
}

// hiddenTokens is the size of the definitions that hiding leaves out, of tools that may be shown. It
// stops counting above most.
func (c *catalog) hiddenTokens(may func(*hidden.Tool) bool, most int64) (n int64) {
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
func (c *catalog) isFixed(name string) bool {
	return c.dynamic.Lookup(name) != nil || c.owned.Lookup(name) != nil
}

// usesMetaName reports whether one of the search tools has the name.
func (c *catalog) usesMetaName(name string) bool {
	return slices.Contains(c.metaNames, name)
}

// maxCatalogs bounds what an instance remembers when every run brings other tools.
const maxCatalogs = 64

// catalogs are those of an instance, so that it indexes tools once.
type catalogs struct {
	*settings

	mu    sync.Mutex
	known recent.Map[parts, *catalog]
	// sets are one of those that look the same: the first of a size, since comparing means reading
	// every schema, and others by their sum.
	sets recent.Map[any, *hidden.Set]
}

func newCatalogs(s *settings) *catalogs {
	return &catalogs{settings: s, known: recent.Map[parts, *catalog]{Most: maxCatalogs}, sets: recent.Map[any, *hidden.Set]{Most: 2 * maxCatalogs}}
}

// find returns the catalogue of a run. If its tools look the same as those of an earlier one, it shares
// their names and indexes: only the first run with such tools makes their indexes. If an index cannot be
// made, the next run tries again; with tools that come and go, it does not fail the run.
func (b *catalogs) find(ctx context.Context, of parts) (*catalog, error) {
	c := b.withParts(of)
	c.Make(ctx, c.cfg.NewIndex) // without the lock: others need not wait
	if err := c.Err(); err != nil && !c.changes {
		return nil, fieldError("NewIndex", "%w", err)
	}
	return c, nil
}

// withParts is find without the indexes.
func (b *catalogs) withParts(of parts) *catalog {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.known.Get(of); ok && c.Err() == nil {
		return c
	}
	alike := parts{b.like(of.owned, true), b.like(of.set, false)}
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
func (b *catalogs) like(s *hidden.Set, isOfRun bool) *hidden.Set {
	if s.Len() == 0 {
		return nil
	}
	key := any(s.Len())
	first, seen := b.sets.Get(key)
	if seen && first != s && first.Sum() != s.Sum() {
		key = s.Sum()
		first, seen = b.sets.Get(key)
	}
	if !seen {
		if first = s; isOfRun {
			first = s.Detached()
		}
		b.sets.Put(key, first)
	}
	return first
}
