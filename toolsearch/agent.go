// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The tools of all instances in an agent, joined, and the agent's own among them.

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// group is the tools of all instances in one agent. The settings of the first instance hold
// for all, but those of ofEachInstance. Immutable.
type group struct {
	*settings
	members        []member
	cat            *catalog
	owners         map[*entry]*settings // entries of members other than the first
	duplicates     problems             // names that several members gave a tool
	refused        []string             // names of sources' tools that another tool has already
	byMessagesOnly bool                 // what is visible depends on the messages alone
	like           *group               // the one whose indexes this one has; nil: its own

	pinOnce sync.Once
	pinned  []*entry

	measureOnce sync.Once
	names       []string
	tokens      int64
	sum         string

	plainOnce sync.Once
	plainKept plainList
}

// member is what one instance brings to an agent, besides its dynamic tools.
type member struct {
	*settings
	owned []*entry // tools that the agent's own list gave up
	set   *ToolSet // of its Source
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

// isUnfiltered reports whether every tool may be used by everybody.
func (g *group) isUnfiltered() bool {
	return !slices.ContainsFunc(g.members, func(m member) bool { return m.cfg.Filter != nil })
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

// hasSource reports whether tools may come and go.
func hasSource(members []member) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.cfg.Source != nil })
}

// groupCache remembers the groups that start with an instance, so that the runs after the
// first build no index.
type groupCache struct {
	mu     sync.Mutex
	groups recent[string, *group]
}

// maxGroups bounds the cache where every run brings other tools.
const maxGroups = 64

func (c *groupCache) get(key string, build func() (*group, error)) (*group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.groups.get(key); ok {
		return g, nil
	}
	g, err := build()
	if err == nil {
		c.groups.most = maxGroups
		c.groups.put(key, g)
	}
	return g, err
}

// groupOf makes the group of members. Entries that the agent's own list gave up are of one
// run, and so may be the tools of a set: what is remembered for other runs is a group of
// tools which look the same, from which the run's own takes the indexes alone.
func groupOf(ctx context.Context, members []member) (*group, error) {
	owns := slices.ContainsFunc(members, func(m member) bool { return len(m.owned) > 0 })
	build := func() (*group, error) { return likeGroup(ctx, members, owns) }
	if owns {
		return build()
	}
	return members[0].joined.get(identityKey(members), build)
}

// identityKey is the same for members with the same sets.
func identityKey(members []member) string {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "%p %p ", m.settings, m.set)
	}
	return b.String()
}

// alikeGroups remembers groups by what their tools look like. To say that takes reading
// every schema, so the first of its size is only looked at when there is a second.
type alikeGroups struct {
	mu     sync.Mutex
	first  recent[string, *group] // by size
	groups recent[string, *group] // by definitions
}

// likeGroup makes a group with the indexes of one that looks the same.
func likeGroup(ctx context.Context, members []member, owns bool) (*group, error) {
	if !owns && slices.ContainsFunc(members, func(m member) bool { return m.set != nil && m.set.differs }) {
		return newGroup(ctx, members, nil) // its indexes share what is the same
	}
	like, err := members[0].alike.get(ctx, members)
	if err != nil || !owns && slices.EqualFunc(like.members, members, func(a, b member) bool { return a.set == b.set }) {
		return like, err
	}
	return newGroup(ctx, members, like)
}

func (c *alikeGroups) get(ctx context.Context, members []member) (*group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first.most, c.groups.most = maxGroups, maxGroups
	size := sizeKey(members)
	first, seen := c.first.get(size)
	if !seen {
		g, err := newGroup(ctx, copied(members), nil)
		if err == nil {
			c.first.put(size, g)
		}
		return g, err
	}
	if first != nil {
		if key, known := definitionKey(first.members); known {
			c.groups.put(key, first)
		}
		c.first.put(size, nil)
	}
	key, known := definitionKey(members)
	if g, ok := c.groups.get(key); known && ok {
		return g, nil
	}
	g, err := newGroup(ctx, copied(members), nil)
	if err == nil && known {
		c.groups.put(key, g)
	}
	return g, err
}

// sizeKey is the same for members whose tools may look the same.
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

// definitionKey is the same for members whose tools look the same to an index; ok is false
// where that cannot be told.
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

// newGroup makes a group; its indexes are those of one like it, if there is one.
func newGroup(ctx context.Context, members []member, like *group) (*group, error) {
	lead := members[0].settings
	g := &group{settings: lead, members: members, owners: map[*entry]*settings{}, like: like, byMessagesOnly: lead.cfg.UnloadAfter == 0}
	var all []*entry
	for _, m := range members {
		g.byMessagesOnly = g.byMessagesOnly && m.cfg.Filter == nil
		mine := append(append([]*entry(nil), m.entries...), m.owned...)
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
		g.cat.words, g.cat.index, g.cat.sure = like.cat.words, like.cat.index, like.cat.sure
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
func (g *group) takenOf(s *ToolSet) (taken set) {
	if s.len() == 0 {
		return nil
	}
	take := func(name string) {
		if s.lookup(name) != nil {
			taken.add(name)
		}
	}
	for _, m := range g.metaTools() {
		take(m.name)
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

// ownTool is one of the agent's own tools.
type ownTool struct {
	at   int // its place in the agent's list
	tool tool.BaseTool
	info *schema.ToolInfo
}

// joined is what an instance makes of an agent.
type joined struct {
	group *group
	tools []tool.BaseTool
	own   map[string]bool // names of the agent's own tools
	slots *slots          // nil: no instance has a Source
}

// join adds an instance to an agent with these tools. Nil means that there is nothing to do.
func join(ctx context.Context, s *settings, tools []tool.BaseTool) (*joined, error) {
	old := groupIn(tools)
	members := []member{{settings: s}}
	if old != nil {
		if old.hasMember(s) {
			return nil, nil // the same instance twice hides nothing twice
		}
		members = append(slices.Clone(old.members), member{settings: s})
		if err := s.agreesWith(old.settings); err != nil {
			return nil, err
		}
	}
	own := ownTools(ctx, tools)
	deferred, err := s.pick(own)
	if err != nil {
		return nil, err
	}
	j := &joined{own: map[string]bool{}}
	me := &members[len(members)-1]
	for _, o := range deferred {
		e, err := newEntry(o.tool, o.info)
		if err != nil {
			return nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		me.owned = append(me.owned, e)
	}
	for _, o := range own {
		j.own[o.info.Name] = true
	}
	if j.group, err = groupOf(ctx, members); err != nil || j.group.cat.len() == 0 && !hasSource(members) {
		return nil, err
	}
	if err := j.group.rules.supports(); err != nil {
		return nil, err
	}
	if err := clashes(j.group, own, deferred); err != nil {
		return nil, err
	}
	if hasSource(members) {
		j.slots = slotsIn(tools)
	}
	j.tools = j.group.toolList(tools, deferred, s, j.slots)
	return j, nil
}

// agreesWith reports where a later instance in one agent contradicts the first: each setting
// that holds for all is zero in it, or equal.
func (s *settings) agreesWith(lead *settings) error {
	var differ []string
	mine, first := reflect.ValueOf(&s.given).Elem(), reflect.ValueOf(&lead.given).Elem()
	for i := range mine.NumField() {
		name := mine.Type().Field(i).Name
		if slices.Contains(ofEachInstance, name) || mine.Field(i).IsZero() || isEqual(mine.Field(i), first.Field(i)) {
			continue
		}
		differ = append(differ, fmt.Sprintf("%s (%s, and %s in the first)", name, valueText(mine.Field(i)), valueText(first.Field(i))))
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("toolsearch: an agent has several instances, and a later one has other settings than the first: %s: leave them out of the later one, or give them the values of the first",
		strings.Join(differ, ", "))
}

// ofEachInstance are the fields of Config that belong to each instance in an agent.
var ofEachInstance = []string{"DynamicTools", "Source", "SearchableTools", "DeferMarkedTools", "AlwaysVisible", "Filter", "OnEvent"}

// isEqual compares the values of one field. Two functions are equal where they are one
// function: whether two calls that made them agree cannot be told.
func isEqual(a, b reflect.Value) bool {
	if a.Kind() == reflect.Func {
		return !b.IsNil() && *(*uintptr)(a.Addr().UnsafePointer()) == *(*uintptr)(b.Addr().UnsafePointer())
	}
	return a.Comparable() && b.Comparable() && a.Equal(b)
}

// valueText names a setting in an error: what a Backend or a model holds is not for logs.
func valueText(v reflect.Value) string {
	switch {
	case v.IsZero():
		return "not set"
	case v.Kind() == reflect.Interface:
		return fmt.Sprintf("a %T", v.Interface())
	case v.Kind() == reflect.Func:
		return "a function"
	}
	return fmt.Sprintf("%v", v.Interface())
}

// groupIn finds the group that an earlier instance made for this run.
func groupIn(tools []tool.BaseTool) *group {
	for _, t := range tools {
		if m, ok := t.(metaMarker); ok {
			return m.madeFor()
		}
	}
	return nil
}

// ownTools are the tools of a list that neither this package's search tools nor hidden
// ones are. Tools whose Info fails are left to Eino, which reports them.
func ownTools(ctx context.Context, tools []tool.BaseTool) []ownTool {
	var own []ownTool
	for i, t := range tools {
		if _, meta := t.(metaMarker); meta {
			continue
		}
		if _, hidden := t.(guarded); hidden {
			continue
		}
		if _, isSlot := t.(slotMarker); isSlot {
			continue
		}
		if info, err := readInfo(ctx, t); err == nil {
			own = append(own, ownTool{i, t, info})
		}
	}
	return own
}

// pick chooses the agent's own tools that this instance hides.
func (s *settings) pick(own []ownTool) ([]ownTool, error) {
	missing := map[string]bool{}
	for _, name := range s.cfg.SearchableTools {
		missing[name] = true
	}
	var picked []ownTool
	for _, o := range own {
		if isNamed(s.cfg.SearchableTools, o.info.Name) || s.cfg.DeferMarkedTools && isMarked(o.info) {
			picked = append(picked, o)
		}
		delete(missing, o.info.Name)
	}
	var unknown []string
	for _, name := range s.cfg.SearchableTools {
		if missing[name] && !strings.HasSuffix(name, "*") {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	if len(unknown) > 0 {
		wrong := problems{}
		wrong.add("SearchableTools", "the agent does not have the tools %s (handlers that add tools must come before this one)", strings.Join(unknown, ", "))
		return nil, wrong.err()
	}
	return picked, nil
}

// isMarked reports whether a tool asks to be hidden.
func isMarked(info *schema.ToolInfo) bool {
	marked, _ := info.Extra["defer_loading"].(bool)
	return marked
}

// clashes refuses names that two tools would share.
func clashes(g *group, own, deferred []ownTool) error {
	hidden := map[int]bool{}
	for _, d := range deferred {
		hidden[d.at] = true
	}
	var wrong problems
	wrong = append(wrong, g.duplicates...)
	for _, o := range own {
		if hidden[o.at] {
			continue
		}
		if e := g.cat.lookup(o.info.Name); e != nil {
			wrong.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own tool %q (%T): %s", e.info.Name, unwrap(e.tool), o.info.Name, o.tool, renaming(o.tool))
		}
		if g.usesMetaName(o.info.Name) {
			wrong.add("", "the agent's own tool %q (%T) has the name of the search tool %q", o.info.Name, o.tool, o.info.Name)
		}
	}
	return wrong.err()
}

// renaming says how the names of two tools can be told apart. The tool that package
// reduction adds knows the field that sets its name.
func renaming(own tool.BaseTool) string {
	if n, ok := own.(interface{ NamedBy() string }); ok {
		return "set " + n.NamedBy() + " to a name that no other tool has"
	}
	return "give one of them another name"
}

// toolList is the agent's list with deferred tools guarded, and the search tools, the
// instance's dynamic tools and the slots for those of sources added.
func (g *group) toolList(tools []tool.BaseTool, deferred []ownTool, s *settings, live *slots) []tool.BaseTool {
	metas := g.metaTools()
	next := make([]tool.BaseTool, 0, len(tools)+len(metas)+len(s.entries))
	placed := false
	hidden := map[int]ownTool{}
	for _, d := range deferred {
		hidden[d.at] = d
	}
	for i, t := range tools {
		if _, isSlot := t.(slotMarker); isSlot {
			continue
		}
		if _, old := t.(metaMarker); old {
			if !placed {
				next, placed = appendMetas(next, metas, live), true
			}
			continue
		}
		if d, ok := hidden[i]; ok {
			t = g.cat.lookup(d.info.Name).tool
		}
		next = append(next, t)
	}
	if !placed {
		next = appendMetas(next, metas, live)
	}
	for _, e := range s.entries {
		next = append(next, e.tool)
	}
	return live.appendTo(next)
}
