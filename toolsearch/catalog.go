// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The hidden tools: those of a catalogue by name, and those of all instances in an agent by the
// instance that they belong to.

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/cloudwego/eino/schema"
)

// catalog is the hidden tools of an agent. It is immutable and safe for concurrent use.
type catalog struct {
	fixed     []*entry          // the dynamic tools, and those that the agent gave up
	byName    map[string]*entry // of these
	sets      []*ToolSet        // those of sources; no two of all these tools have the same name
	wordIndex wordIndex         // for suggestions, and the answer when the index fails
	index     Index
	sure      bm25Index // for the confidence of what another index found
}

// lookup returns the tool of a name; nil if there is none.
func (c *catalog) lookup(name string) *entry {
	if e := c.byName[name]; e != nil {
		return e
	}
	for _, s := range c.sets {
		if e := s.lookup(name); e != nil {
			return e
		}
	}
	return nil
}

// resolve finds the tool that a model means by a name: the name itself, or, if only one
// tool comes into question, the name in another case or with other separators. Only tools
// that may be found come into question; nil if there is none.
func (c *catalog) resolve(name string, may func(*entry) bool) *entry {
	for _, n := range []string{name, unescapeName(name)} {
		if e := c.lookup(n); e != nil && may(e) {
			return e
		}
	}
	if doc, ok := c.wordIndex.index().Resolve(name, func(doc int) bool { return may(c.entryAt(doc)) }); ok {
		return c.entryAt(doc)
	}
	return nil
}

// entryAt is the tool at a position of the index.
func (c *catalog) entryAt(doc int) *entry { return c.lookup(c.wordIndex.index().Name(doc)) }

// near returns the names closest to one that does not exist, of those that may be found.
func (c *catalog) near(name string, limit int, may func(*entry) bool) []string {
	for ask := 4 * limit; ; ask = 0 {
		var names []string
		docs := c.wordIndex.index().Suggest(name, ask)
		for _, doc := range docs {
			if e := c.entryAt(doc); len(names) < limit && len(e.info.Name) <= maxNearBytes && may(e) {
				names = append(names, e.info.Name)
			}
		}
		if len(names) == limit || len(docs) < ask || ask == 0 {
			return names
		}
	}
}

// entries iterates over the tools in their order.
func (c *catalog) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range c.fixed {
			if !yield(e) {
				return
			}
		}
		for _, s := range c.sets {
			for e := range s.entries() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

func (c *catalog) len() int {
	n := len(c.fixed)
	for _, s := range c.sets {
		n += s.len()
	}
	return n
}

func (c *catalog) infos() []*schema.ToolInfo {
	infos := make([]*schema.ToolInfo, 0, c.len())
	for _, e := range c.fixed {
		infos = append(infos, e.info)
	}
	for _, s := range c.sets {
		infos = s.appendInfos(infos)
	}
	return infos
}

// indexBy makes the indexes of the catalogue.
func (c *catalog) indexBy(ctx context.Context, f IndexFunc, live bool) error {
	settle(c.fixed, nil)
	var all selection
	all.add(c.fixed...)
	for _, s := range c.sets {
		all.addSet(s)
	}
	c.wordIndex = newWords(all)
	c.index, c.sure = keywordIndex{c.wordIndex}, newBM25(all)
	return c.makeIndex(ctx, f, all, live)
}

// makeIndex makes the index of the catalogue. Where tools come and go, one that cannot be
// made ends nothing: the specified score answers, and each search says why.
func (c *catalog) makeIndex(ctx context.Context, f IndexFunc, all selection, live bool) error {
	if f == nil || c.len() == 0 {
		return nil
	}
	if reflect.ValueOf(f).Pointer() == reflect.ValueOf(BM25Index).Pointer() { // it needs no list of a hundred thousand tools for one that changed
		c.index = c.sure
		return nil
	}
	infos := c.infos()
	x, err := makeIndex(withSelection(ctx, infos, all), f, infos)
	switch {
	case err == nil:
		c.index = x
	case live:
		c.index = brokenIndex{err}
	default:
		return fieldError("NewIndex", "%w", err)
	}
	return nil
}

// brokenIndex takes the place of an index that could not be made.
type brokenIndex struct{ err error }

func (b brokenIndex) Search(context.Context, Query) ([]Result, error) { return nil, b.err }

// group is the tools of all instances in one agent. The settings of the first instance hold
// for all, but those of ofEachInstance. Immutable.
type group struct {
	settings   *settings
	members    []member
	cat        *catalog
	owners     map[*entry]*settings // entries of members other than the first
	duplicates problems             // names that several members gave a tool
	refused    []string             // names of sources' tools that another tool has already
	like       *group               // the one whose indexes this one has; nil: its own

	pinOnce sync.Once
	pinned  []*entry

	nameOnce     sync.Once
	names        []string
	measureOnce  sync.Once
	tokens       int64
	sum          string
	reminderOnce sync.Once
	reminderText string
}

// member is what one instance brings to an agent, besides its dynamic tools.
type member struct {
	settings *settings
	owned    []*entry // tools that the agent's own list gave up
	set      *ToolSet // of its Source
}

// newGroup makes a group; its indexes are those of one like it, if there is one.
func newGroup(ctx context.Context, members []member, like *group) (*group, error) {
	lead := members[0].settings
	g := &group{settings: lead, members: members, owners: map[*entry]*settings{}, like: like}
	var all []*entry
	for _, m := range members {
		mine := append(append([]*entry(nil), m.settings.entries...), m.owned...)
		if m.settings != lead {
			for _, e := range mine {
				g.owners[e] = m.settings
			}
		}
		all = append(all, mine...)
	}
	g.cat = &catalog{fixed: all, byName: lead.byName}
	if len(all) != len(lead.entries) {
		g.cat.byName = g.nameAll(all)
	}
	g.takeSets()
	if like != nil {
		g.cat.wordIndex, g.cat.index, g.cat.sure = like.cat.wordIndex, like.cat.index, like.cat.sure
		return g, nil
	}
	return g, g.cat.indexBy(ctx, lead.cfg.NewIndex, hasSource(members))
}

// nameAll returns the tools by their names. That two have the same one is a mistake.
func (g *group) nameAll(all []*entry) map[string]*entry {
	byName := make(map[string]*entry, len(all))
	for _, e := range all {
		if first := byName[e.info.Name]; first != nil {
			g.duplicates.add("DynamicTools", "dynamic tool %q (%T) and dynamic tool %q (%T) of another instance have the same name", e.info.Name, unwrap(first.tool), e.info.Name, unwrap(e.tool))
		}
		byName[e.info.Name] = e
	}
	return byName
}

// takeSets adds the tools of sources to the catalogue. One whose name another tool has
// already is refused.
func (g *group) takeSets() {
	for _, m := range g.members {
		taken := g.takenOf(m.set)
		mine := m.set
		if len(taken) > 0 {
			mine = m.set.filtered(func(e *entry) bool {
				if taken[e.info.Name] {
					g.refused = append(g.refused, e.info.Name)
				}
				return !taken[e.info.Name]
			})
		}
		if mine.len() == 0 {
			continue
		}
		g.cat.sets = append(g.cat.sets, mine)
		if m.settings != g.settings {
			for e := range mine.entries() {
				g.owners[e] = m.settings
			}
		}
	}
}

// takenOf returns the names of a set that other tools have. It asks the larger side for
// those of the smaller one.
func (g *group) takenOf(s *ToolSet) (taken stringSet) {
	if s.len() == 0 {
		return nil
	}
	take := func(name string) {
		if s.lookup(name) != nil {
			taken.add(name)
		}
	}
	for _, name := range g.settings.cfg.Protocol.toolNames() {
		take(name)
	}
	if g.cat.len() <= s.len() {
		for e := range g.cat.entries() {
			take(e.info.Name)
		}
		return taken
	}
	for e := range s.entries() {
		if g.cat.lookup(e.info.Name) != nil {
			taken.add(e.info.Name)
		}
	}
	return taken
}

// owner is the instance that a tool belongs to; its Filter decides.
func (g *group) owner(e *entry) *settings {
	if s := g.owners[e]; s != nil {
		return s
	}
	return g.settings
}

func (g *group) hasMember(s *settings) bool {
	return slices.ContainsFunc(g.members, func(m member) bool { return m.settings == s })
}

// hasSource reports whether tools may come and go.
func hasSource(members []member) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.settings.cfg.Source != nil })
}

// isUnfiltered reports whether every tool may be used by everybody.
func (g *group) isUnfiltered() bool {
	return !slices.ContainsFunc(g.members, func(m member) bool { return m.settings.cfg.Filter != nil })
}

// allNames are the names of all tools, in the order of the catalogue. Runs share the slice, and
// nobody changes it.
func (g *group) allNames() []string {
	if g.like != nil {
		return g.like.allNames()
	}
	g.nameOnce.Do(func() {
		g.names = make([]string, 0, g.cat.len())
		for e := range g.cat.entries() {
			g.names = append(g.names, e.info.Name)
		}
	})
	return g.names
}

// pins are the tools to show always, in the order of the catalogue.
func (g *group) pins() []*entry {
	g.pinOnce.Do(func() {
		for e := range g.cat.entries() {
			if g.isPin(e) {
				g.pinned = append(g.pinned, e)
			}
		}
	})
	return g.pinned
}

func (g *group) isPin(e *entry) bool {
	defers, said := e.info.Extra["defer_loading"].(bool)
	return said && !defers || isNamed(g.owner(e).cfg.AlwaysVisible, e.info.Name)
}

// isLive reports whether a tool is one of a Source, which the agent does not list.
func (g *group) isLive(e *entry) bool {
	return slices.ContainsFunc(g.members, func(m member) bool { return m.set.lookup(e.info.Name) == e })
}

// usesMetaName reports whether one of the group's search tools has the name.
func (g *group) usesMetaName(name string) bool {
	return slices.Contains(g.settings.cfg.Protocol.toolNames(), name)
}

// ungated reports whether the gate is open: by the user's choice, because the provider
// loads tools where we cannot see it, or because the tool list never shows them.
func (g *group) ungated() bool {
	return g.settings.cfg.AllowUnloadedCalls || g.settings.rules.providerLoads
}

// infoOf is a copy of a tool's info in the form that goes to the model.
func (g *group) infoOf(e *entry) *schema.ToolInfo { return withOwnParams(g.shallowOf(e)) }

// shallowOf is infoOf with the schema of the tool itself, for lists of all hidden tools.
func (g *group) shallowOf(e *entry) *schema.ToolInfo {
	if g.settings.rules.name == "" {
		return shallowInfo(e.safe)
	}
	return e.native()
}
