// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The hidden tools of an agent: the catalogue looks them up by name, and the group knows the
// instance that each belongs to.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch/internal/recent"
)

// catalog is the hidden tools of an agent. It is immutable and safe for concurrent use.
type catalog struct {
	fixed     []*entry          // the dynamic tools, and those that the agent gave up
	byName    map[string]*entry // of these
	sets      []*ToolSet        // of sources; all names in a catalogue are unique
	specified keywordIndex      // for suggestions, and the answer when the index fails
	index     Index
	rating    bm25Index // for the confidence of what another index found
	summary   *summary
}

// summary is computed from the tools of a catalogue on first use.
type summary struct {
	nameOnce     sync.Once
	names        []string
	measureOnce  sync.Once
	tokens       int64
	sum          string
	reminderOnce sync.Once
	reminder     string
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

// resolve finds the tool that a model means by a name: the name itself, or, if only one tool
// matches, the name in another case or with other separators. It considers only tools that may
// be found; nil if there is none.
func (c *catalog) resolve(name string, may func(*entry) bool) *entry {
	for _, n := range []string{name, unescapeName(name)} {
		if e := c.lookup(n); e != nil && may(e) {
			return e
		}
	}
	if doc, ok := c.specified.index().Resolve(name, func(doc int) bool { return may(c.entryAt(doc)) }); ok {
		return c.entryAt(doc)
	}
	return nil
}

// entryAt is the tool at a position of the index.
func (c *catalog) entryAt(doc int) *entry { return c.lookup(c.specified.index().Name(doc)) }

// near returns the names closest to an unknown one, among tools that may be found.
func (c *catalog) near(name string, limit int, may func(*entry) bool) []string {
	for ask := 4 * limit; ; ask = 0 {
		var names []string
		docs := c.specified.index().Suggest(name, ask)
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

// names are the names of all tools, in their order. Runs share the slice; it is read only.
func (c *catalog) names() []string {
	s := c.summary
	s.nameOnce.Do(func() {
		s.names = make([]string, 0, c.len())
		for e := range c.entries() {
			s.names = append(s.names, e.info.Name)
		}
	})
	return s.names
}

// measure returns the size of all definitions in tokens, and the key that tells catalogues
// apart.
func (c *catalog) measure() (tokens int64, sum string) {
	s := c.summary
	s.measureOnce.Do(func() {
		var all strings.Builder
		for e := range c.entries() {
			s.tokens += e.tokens()
			fmt.Fprintf(&all, "%q %q %s\n", e.info.Name, e.info.Desc, e.parameters())
		}
		s.sum = digest(all.String())
	})
	return s.tokens, s.sum
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// tokensOf is the size of the definitions of some tools.
func (c *catalog) tokensOf(names []string) (n int64) {
	for _, name := range names {
		if e := c.lookup(name); e != nil {
			n += e.tokens()
		}
	}
	return n
}

// share copies the results computed for a catalogue of tools that look the same.
func (c *catalog) share(like *catalog) {
	c.summary, c.specified, c.index, c.rating = like.summary, like.specified, like.index, like.rating
}

// indexBy makes the indexes of the catalogue.
func (c *catalog) indexBy(ctx context.Context, f IndexFunc, live bool) error {
	settle(c.fixed, nil)
	var all selection
	for _, e := range c.fixed {
		all.add(e.address)
	}
	for _, s := range c.sets {
		all.addSet(s)
	}
	c.specified, c.rating = newKeyword(all), newBM25(all)
	c.index = c.specified
	return c.makeIndex(ctx, f, all, live)
}

// makeIndex makes the index of the catalogue. With tools that come and go, an index that cannot
// be built does not fail the run: the specified score answers, and each search reports why.
func (c *catalog) makeIndex(ctx context.Context, f IndexFunc, all selection, live bool) error {
	if f == nil || c.len() == 0 {
		return nil
	}
	if reflect.ValueOf(f).Pointer() == reflect.ValueOf(BM25Index).Pointer() { // it needs no list of a hundred thousand tools for one that changed
		c.index = c.rating
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

// group is the tools of all instances in one agent. It is immutable. The settings of the first
// instance apply to all, except those in ofEachInstance.
type group struct {
	settings   *settings
	members    []member
	cat        *catalog
	owners     map[*entry]*settings // entries of members other than the first
	duplicates problems             // names that several members gave a tool
	refused    []string             // names of sources' tools that another tool already has

	pinOnce sync.Once
	pinned  []*entry
}

// member is what one instance contributes to an agent, besides its dynamic tools.
type member struct {
	settings *settings
	groups   *groupCache // the instance's, asked if it is the first
	owned    []*entry    // tools that the agent's own list gave up
	set      *ToolSet    // of its Source
}

// newGroup makes a group. It takes the indexes of like, if there is one.
func newGroup(ctx context.Context, members []member, like *group) (*group, error) {
	lead := members[0].settings
	g := &group{settings: lead, members: members, owners: map[*entry]*settings{}}
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
		g.cat.share(like.cat)
		return g, nil
	}
	g.cat.summary = &summary{}
	return g, g.cat.indexBy(ctx, lead.cfg.NewIndex, hasSource(members))
}

// nameAll returns the tools by their names. A duplicate name is an error.
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

// takeSets adds the tools of sources to the catalogue. It refuses those whose name is taken.
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

// owner returns the instance that a tool belongs to; its Filter decides.
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

// isUnfiltered reports whether no member has a Filter.
func (g *group) isUnfiltered() bool {
	return !slices.ContainsFunc(g.members, func(m member) bool { return m.settings.cfg.Filter != nil })
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

// groupOf makes the group of members, or finds it among those of earlier runs. Entries from the
// agent's own list belong to one run, and so may the tools of a set. The cache therefore holds
// a group of tools that look the same, and the run's own group takes only its indexes.
func groupOf(ctx context.Context, members []member) (*group, error) {
	cache := members[0].groups
	if slices.ContainsFunc(members, func(m member) bool { return len(m.owned) > 0 }) {
		like, err := cache.alike(ctx, members)
		if err != nil {
			return nil, err
		}
		return newGroup(ctx, members, like)
	}
	var key strings.Builder
	for _, m := range members {
		fmt.Fprintf(&key, "%p %p ", m.settings, m.set)
	}
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if g, ok := cache.groups.Get(key.String()); ok {
		return g, nil
	}
	g, err := cache.sharedGroup(ctx, members)
	if err == nil {
		cache.groups.Put(key.String(), g)
	}
	return g, err
}

// maxGroups bounds the cache when every run brings other tools.
const maxGroups = 64

// groupCache remembers the groups that start with an instance, to build indexes only in the
// first run. Comparing tools means reading every schema, so the first group of its size is
// compared only when there is a second.
type groupCache struct {
	mu     sync.Mutex
	groups *recent.Map[string, *group] // by what the members are

	alikeMu      sync.Mutex
	firstOfSize  *recent.Map[string, *group] // nil: it is among the others
	byDefinition *recent.Map[string, *group]
}

func newGroupCache() *groupCache {
	newMap := recent.New[string, *group]
	return &groupCache{groups: newMap(maxGroups), firstOfSize: newMap(maxGroups), byDefinition: newMap(maxGroups)}
}

// sharedGroup makes a group for members that other runs may also have.
func (c *groupCache) sharedGroup(ctx context.Context, members []member) (*group, error) {
	if slices.ContainsFunc(members, func(m member) bool { return m.set != nil && m.set.differs }) {
		return newGroup(ctx, members, nil) // its indexes share batches
	}
	like, err := c.alike(ctx, members)
	if err != nil || slices.EqualFunc(like.members, members, func(a, b member) bool { return a.set == b.set }) {
		return like, err
	}
	return newGroup(ctx, members, like)
}

// alike returns a group of tools that look the same to an index.
func (c *groupCache) alike(ctx context.Context, members []member) (*group, error) {
	c.alikeMu.Lock()
	defer c.alikeMu.Unlock()
	size := sizeKey(members)
	first, seen := c.firstOfSize.Get(size)
	if !seen {
		g, err := newGroup(ctx, copied(members), nil)
		if err == nil {
			c.firstOfSize.Put(size, g)
		}
		return g, err
	}
	if first != nil {
		if key, known := definitionKey(first.members); known {
			c.byDefinition.Put(key, first)
		}
		c.firstOfSize.Put(size, nil)
	}
	key, known := definitionKey(members)
	if g, ok := c.byDefinition.Get(key); known && ok {
		return g, nil
	}
	g, err := newGroup(ctx, copied(members), nil)
	if err == nil && known {
		c.byDefinition.Put(key, g)
	}
	return g, err
}

// sizeKey is equal for members whose tools may look the same.
func sizeKey(members []member) string {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "%p %d %d ", m.settings, len(m.owned), m.set.len())
	}
	return b.String()
}

// copied is members with copies of the infos of one run's own tools.
func copied(members []member) []member {
	next := slices.Clone(members)
	for i, m := range next {
		next[i].owned = nil
		for _, e := range m.owned {
			next[i].owned = append(next[i].owned, &entry{info: copyInfo(e.info)})
		}
	}
	return next
}

// definitionKey is equal for members whose tools look the same to an index; ok is false if they
// cannot be compared.
func definitionKey(members []member) (key string, ok bool) {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "%p", m.settings)
		for _, e := range m.owned {
			extra, plain := plainText(e.info.Extra)
			if !plain {
				return "", false
			}
			fmt.Fprintf(&b, "|%q %q %s %s", e.info.Name, e.info.Desc, e.parameters(), extra)
		}
		if m.set.len() > 0 {
			fmt.Fprintf(&b, "|%x", m.set.identity())
		}
	}
	return b.String(), true
}
