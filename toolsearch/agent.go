// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What an agent is to its runs: the tools of all instances in it, joined, and its own.

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
)

// agent is what a run's agent is.
type agent struct {
	start  *group          // as the run began
	own    map[string]bool // names of its own tools
	size   int             // its tools with ours; 0 outside of an agent
	direct map[string]bool // tools whose result ends the run; Eino's own map
	slots  *slots          // nil: there is no Source
}

// ownTool is one of the agent's own tools.
type ownTool struct {
	at   int // its place in the agent's list
	tool tool.BaseTool
	info *schema.ToolInfo
}

// join adds an instance to an agent with these tools, and returns its next ones. A nil agent
// means that there is nothing to do.
func join(ctx context.Context, s *settings, tools []tool.BaseTool) (*agent, []tool.BaseTool, error) {
	old := groupIn(tools)
	members := []member{{settings: s}}
	if old != nil {
		if old.hasMember(s) {
			return nil, nil, nil // the same instance twice hides nothing twice
		}
		members = append(slices.Clone(old.members), member{settings: s})
		if err := s.agreesWith(old.settings); err != nil {
			return nil, nil, err
		}
	}
	own := ownTools(ctx, tools)
	picked, err := s.pick(own)
	if err != nil {
		return nil, nil, err
	}
	a := &agent{own: map[string]bool{}}
	me := &members[len(members)-1]
	for _, o := range picked {
		e, err := newEntry(o.tool, o.info)
		if err != nil {
			return nil, nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		me.owned = append(me.owned, e)
	}
	for _, o := range own {
		a.own[o.info.Name] = true
	}
	if a.start, err = groupOf(ctx, members); err != nil || a.start.cat.len() == 0 && !hasSource(members) {
		return nil, nil, err
	}
	if err := a.start.settings.rules.err; err != nil {
		return nil, nil, fmt.Errorf("toolsearch: %w", err)
	}
	if err := clashes(a.start, own, picked); err != nil {
		return nil, nil, err
	}
	if hasSource(members) {
		a.slots = slotsIn(tools)
	}
	next := a.listTools(tools, picked, s)
	a.size = len(next)
	return a, next, nil
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
		switch t.(type) {
		case metaMarker, guarded, slotMarker:
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
	var picked []ownTool
	for _, o := range own {
		if isNamed(s.cfg.SearchableTools, o.info.Name) || s.cfg.DeferMarkedTools && isMarked(o.info) {
			picked = append(picked, o)
		}
	}
	var unknown []string
	for _, name := range s.cfg.SearchableTools {
		isIts := func(o ownTool) bool { return o.info.Name == name }
		if !strings.HasSuffix(name, "*") && !slices.ContainsFunc(own, isIts) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	if len(unknown) > 0 {
		return nil, fieldError("SearchableTools", "the agent does not have the tools %s (handlers that add tools must come before this one)", strings.Join(unknown, ", "))
	}
	return picked, nil
}

// clashes refuses names that two tools would share.
func clashes(g *group, own, picked []ownTool) error {
	hidden := map[int]bool{}
	for _, d := range picked {
		hidden[d.at] = true
	}
	wrong := slices.Clone(g.duplicates)
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

// checkLaterTools looks at the tools that handlers after this one added, which the list of
// the first model call shows. A name that is taken is refused: which of two tools Eino runs
// would depend on the order of the handlers.
func (a *agent) checkLaterTools(g *group, infos []*schema.ToolInfo) error {
	if a.size == 0 || len(infos) <= a.size {
		return nil
	}
	var wrong problems
	seen := make(stringSet, len(infos))
	for _, t := range infos {
		if t == nil || isSlotName(t.Name) {
			continue
		}
		e := g.cat.lookup(t.Name)
		listed := e != nil && !g.isLive(e) || g.usesMetaName(t.Name)
		if listed && seen[t.Name] {
			wrong.add("", "a handler after this one added a tool named %q, which is the name of a hidden tool or of the search tool", t.Name)
		}
		if seen[t.Name] = true; !listed {
			a.own[t.Name] = true
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

// listTools returns the agent's list with deferred tools guarded, and the search tools, the
// instance's dynamic tools and the slots for those of sources added.
func (a *agent) listTools(tools []tool.BaseTool, picked []ownTool, s *settings) []tool.BaseTool {
	metas := a.start.metaTools()
	next := make([]tool.BaseTool, 0, len(tools)+len(metas)+len(s.entries))
	placed := false
	hidden := map[int]ownTool{}
	for _, d := range picked {
		hidden[d.at] = d
	}
	for i, t := range tools {
		switch t.(type) {
		case slotMarker:
			continue
		case metaMarker:
			if !placed {
				next, placed = appendMetas(next, metas, a.slots), true
			}
			continue
		}
		if d, ok := hidden[i]; ok {
			t = a.start.cat.lookup(d.info.Name).tool
		}
		next = append(next, t)
	}
	if !placed {
		next = appendMetas(next, metas, a.slots)
	}
	for _, e := range s.entries {
		next = append(next, e.tool)
	}
	return a.slots.appendTo(next)
}

func appendMetas(tools []tool.BaseTool, metas []*metaTool, slots *slots) []tool.BaseTool {
	for _, m := range metas {
		// Where the provider searches, the tool is not shown; a model that copies an older
		// call of it from the history gets an answer all the same.
		switch {
		case m.group.settings.rules.native && m.group.settings.rules.clientRuns:
			tools = append(tools, nativeTool{m})
		case m.name == toolnames.Call && slots != nil:
			tools = append(tools,
				callSlot[string, string]{plainCall{m, plainForm}, slots, false},
				callSlot[*schema.ToolArgument, *schema.ToolResult]{enhancedCall{m, enhancedForm}, slots, true})
		case m.name == toolnames.Call:
			tools = append(tools, newCallTool(m))
		default:
			tools = append(tools, m)
		}
	}
	return tools
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
	var sets strings.Builder
	for _, m := range members {
		fmt.Fprintf(&sets, "%p %p ", m.settings, m.set)
	}
	return members[0].settings.joined.get(sets.String(), build)
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
	like, err := members[0].settings.alike.get(ctx, members)
	if err != nil || !owns && slices.EqualFunc(like.members, members, func(a, b member) bool { return a.set == b.set }) {
		return like, err
	}
	return newGroup(ctx, members, like)
}

func (c *alikeGroups) get(ctx context.Context, members []member) (*group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// recent is a map that forgets what was not used for longest.
type recent[K comparable, V any] struct {
	most  int // if zero, defaults to maxGroups
	clock int64
	all   map[K]*recentValue[V]
}

type recentValue[V any] struct {
	value V
	used  int64
}

func (r *recent[K, V]) get(key K) (value V, ok bool) {
	v := r.all[key]
	if v == nil {
		return value, false
	}
	r.clock++
	v.used = r.clock
	return v.value, true
}

func (r *recent[K, V]) put(key K, value V) {
	if r.all == nil {
		r.all = map[K]*recentValue[V]{}
	}
	r.clock++
	r.all[key] = &recentValue[V]{value, r.clock}
	if len(r.all) <= cmp.Or(r.most, maxGroups) {
		return
	}
	oldest, at := r.clock, key
	for k, v := range r.all {
		if v.used < oldest {
			oldest, at = v.used, k
		}
	}
	delete(r.all, at)
}
