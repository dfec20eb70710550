// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The tools of all instances in an agent, joined, and the agent's own among them.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// group is the tools of all instances in one agent, and the tools that the agent's own
// list gave up to them. The settings of the first instance hold for all. Immutable.
type group struct {
	*settings
	members        []*settings
	cat            *catalog
	owned          map[*settings][]*entry // tools that the agent's own list gave up
	owners         map[*entry]*settings   // entries of members other than the first
	duplicates     problems               // names that several members gave a tool
	byMessagesOnly bool                   // what is visible depends on the messages alone
	like           *group                 // the one whose indexes this one has; nil: its own

	measureOnce sync.Once
	names       []string
	tokens      int64
	sum         string

	reminderOnce sync.Once
	reminderText string
}

// owner is the instance that a tool belongs to; its Filter decides.
func (g *group) owner(e *entry) *settings {
	if s := g.owners[e]; s != nil {
		return s
	}
	return g.settings
}

func (g *group) has(s *settings) bool { return slices.Contains(g.members, s) }

// joinCache remembers the groups that start with an instance, so that the runs after the
// first build no index. The key names the members and what the agent's own tools are.
type joinCache struct {
	mu     sync.Mutex
	groups map[string]*group
}

// maxJoined bounds the cache where every run brings other tools.
const maxJoined = 16

func (j *joinCache) get(key string, build func() (*group, error)) (*group, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if g := j.groups[key]; g != nil {
		return g, nil
	}
	g, err := build()
	if err != nil {
		return nil, err
	}
	if j.groups == nil || len(j.groups) >= maxJoined {
		j.groups = map[string]*group{}
	}
	j.groups[key] = g
	return g, nil
}

// groupOf makes the group of members and extra entries, which the last member brought.
// Those are of one run: what is remembered for other runs is a group of copies of their
// infos, from which the run's own takes the indexes alone.
func groupOf(ctx context.Context, members []*settings, owned map[*settings][]*entry) (*group, error) {
	key, known := joinKey(members, owned)
	build := func() (*group, error) {
		copies := map[*settings][]*entry{}
		for m, entries := range owned {
			for _, e := range entries {
				copies[m] = append(copies[m], &entry{info: copyInfo(e.info)})
			}
		}
		return newGroup(ctx, members, copies, nil)
	}
	like, err := (*group)(nil), error(nil)
	if known {
		like, err = members[0].joined.get(key, build)
	} else {
		like, err = build()
	}
	if err != nil || len(owned) == 0 {
		return like, err
	}
	return newGroup(ctx, members, owned, like)
}

// joinKey is the same for groups whose tools look the same to an index; ok is false where
// that cannot be told.
func joinKey(members []*settings, owned map[*settings][]*entry) (key string, ok bool) {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "%p", m)
		for _, e := range owned[m] {
			extra, plain := plainText(e.info.Extra)
			if !plain {
				return "", false
			}
			fmt.Fprintf(&b, "|%q %q %s %s", e.info.Name, e.info.Desc, e.parameters(), extra)
		}
	}
	return b.String(), true
}

// newGroup makes a group; its indexes are those of one like it, if there is one.
func newGroup(ctx context.Context, members []*settings, owned map[*settings][]*entry, like *group) (*group, error) {
	lead := members[0]
	g := &group{settings: lead, members: members, owned: owned, owners: map[*entry]*settings{}, like: like, byMessagesOnly: lead.cfg.UnloadAfter == 0}
	var all []*entry
	for _, m := range members {
		g.byMessagesOnly = g.byMessagesOnly && m.cfg.Filter == nil
		mine := append(append([]*entry(nil), m.entries...), owned[m]...)
		for _, e := range mine {
			if m != lead {
				g.owners[e] = m
			}
		}
		all = append(all, mine...)
	}
	if like != nil {
		g.cat = like.cat.with(all)
	} else {
		cat, err := newCatalog(ctx, all, lead)
		if err != nil {
			return nil, err
		}
		g.cat = cat
	}
	g.findDuplicates()
	return g, nil
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
}

// join adds an instance to an agent with these tools. Nil means that there is nothing to do.
func join(ctx context.Context, s *settings, tools []tool.BaseTool) (*joined, error) {
	old := groupIn(tools)
	members := []*settings{s}
	if old != nil {
		if old.has(s) {
			return nil, nil // the same instance twice hides nothing twice
		}
		members = append(append([]*settings(nil), old.members...), s)
		if err := s.agreesWith(old.settings); err != nil {
			return nil, err
		}
	}
	own := ownTools(ctx, tools)
	g, deferred, err := s.extend(ctx, old, members, own)
	if err != nil || len(g.cat.entries) == 0 {
		return nil, err
	}
	if err := g.rules.supports(); err != nil {
		return nil, err
	}
	if err := clashes(g, own, deferred); err != nil {
		return nil, err
	}
	j := &joined{group: g, tools: g.toolList(tools, deferred, s), own: map[string]bool{}}
	for _, o := range own {
		j.own[o.info.Name] = true
	}
	return j, nil
}

// agreesWith reports where two instances in one agent contradict each other.
func (s *settings) agreesWith(lead *settings) error {
	if s.cfg.Protocol != lead.cfg.Protocol {
		return fmt.Errorf("toolsearch: two instances in one agent have the protocols %v and %v: give them the same", lead.cfg.Protocol, s.cfg.Protocol)
	}
	if s.rules.name != lead.rules.name || s.rules.native != lead.rules.native {
		return fmt.Errorf("toolsearch: two instances in one agent have the native adapters %q and %q: give them the same", lead.rules.name, s.rules.name)
	}
	return nil
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
		if info, err := readInfo(ctx, t); err == nil {
			own = append(own, ownTool{i, t, info})
		}
	}
	return own
}

// extend makes the group of the members. The tools that earlier instances took from the
// agent's own list are hidden already and stay theirs.
func (s *settings) extend(ctx context.Context, old *group, members []*settings, own []ownTool) (*group, []ownTool, error) {
	deferred, err := s.pick(own)
	if err != nil {
		return nil, nil, err
	}
	owned := map[*settings][]*entry{}
	if old != nil {
		for m, entries := range old.owned {
			owned[m] = entries
		}
	}
	for _, o := range deferred {
		e, err := newEntry(o.tool, o.info)
		if err != nil {
			return nil, nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		owned[s] = append(owned[s], e)
	}
	g, err := groupOf(ctx, members, owned)
	return g, deferred, err
}

// pick chooses the agent's own tools that this instance hides.
func (s *settings) pick(own []ownTool) ([]ownTool, error) {
	missing := map[string]bool{}
	for _, name := range s.cfg.SearchableTools {
		missing[name] = true
	}
	var picked []ownTool
	for _, o := range own {
		marked, _ := o.info.Extra["defer_loading"].(bool)
		if missing[o.info.Name] || marked && s.cfg.DeferMarkedTools {
			picked = append(picked, o)
		}
		delete(missing, o.info.Name)
	}
	var unknown []string
	for _, name := range s.cfg.SearchableTools {
		if missing[name] {
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
		if e := g.cat.byName[o.info.Name]; e != nil {
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

// findDuplicates says which names several instances have given a tool.
func (g *group) findDuplicates() {
	for _, e := range g.cat.entries {
		if last := g.cat.byName[e.info.Name]; last != e {
			g.duplicates.add("DynamicTools", "dynamic tool %q (%T) and dynamic tool %q (%T) of another instance have the same name", e.info.Name, unwrap(e.tool), e.info.Name, unwrap(last.tool))
		}
	}
}

// toolList is the agent's list with deferred tools guarded, and the search tools and the
// instance's dynamic tools added.
func (g *group) toolList(tools []tool.BaseTool, deferred []ownTool, s *settings) []tool.BaseTool {
	metas := g.metaTools()
	next := make([]tool.BaseTool, 0, len(tools)+len(metas)+len(s.entries))
	placed := false
	hidden := map[int]ownTool{}
	for _, d := range deferred {
		hidden[d.at] = d
	}
	for i, t := range tools {
		if _, old := t.(metaMarker); old {
			if !placed {
				next, placed = appendMetas(next, metas), true
			}
			continue
		}
		if d, ok := hidden[i]; ok {
			t = g.cat.byName[d.info.Name].tool
		}
		next = append(next, t)
	}
	if !placed {
		next = appendMetas(next, metas)
	}
	for _, e := range s.entries {
		next = append(next, e.tool)
	}
	return next
}

// guarded is a tool that is hidden already.
type guarded interface{ original() tool.BaseTool }

func unwrap(t tool.BaseTool) tool.BaseTool {
	if g, ok := t.(guarded); ok {
		return g.original()
	}
	return t
}
