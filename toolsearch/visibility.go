// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The hidden tools that a model call shows, and the tool lists that show them.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
)

// visibleTool is a hidden tool that this model call shows.
type visibleTool struct {
	entry *entry
	idle  int // model calls since its last evidence
}

// visibleSet is what a model call shows.
type visibleSet struct {
	tools    []visibleTool
	names    []string
	follows  bool      // it follows another model call of this run
	vanished stringSet // tools that the model saw before a resume, and that no longer exist
}

func (s visibleSet) has(name string) bool { return slices.Contains(s.names, name) }

// visibility decides which hidden tools each model call of a run shows. It belongs to the
// hooks.
type visibility struct {
	hiding hiding
	last   decision // for the model call before
}

// visibleTools chooses the hidden tools that a model call shows.
func (s *visibility) visibleTools(ctx context.Context, r *run, v *evidence) visibleSet {
	before, known := r.notes.lastVisible(ctx)
	if known && s.last.holds(r.group(), before, v.order) {
		r.notes.show(before)
		return s.last.visibleSet
	}
	idle := lastIdle(ctx, r.group(), len(before))
	tools, unused := s.chooseTools(ctx, r.turn(), v, before, idle)
	if s.hiding.showsAll {
		tools = r.turn().withAll(ctx, tools)
	}
	names := make([]string, len(tools))
	for i, x := range tools {
		names[i] = x.entry.info.Name
	}
	show := visibleSet{tools: tools, names: names, follows: r.notes.shownInProcess() != nil}
	if !show.follows {
		show.vanished = r.vanished(before)
	}
	if !s.hiding.showsAll {
		r.group().emitVisible(ctx, before, names, unused, !known)
	}
	r.notes.show(names)
	if !known || !slices.Equal(before, names) {
		setRunLocal(ctx, visibleKey, names)
	}
	saveIdle(ctx, r.group(), tools)
	if r.group().settings.cfg.UnloadAfter == 0 && r.group().isUnfiltered() { // the result depends on the messages alone
		s.last = decision{visibleSet{tools: tools, names: names, follows: true}, r.group(), v.order}
	}
	return show
}

// chooseTools chooses the tools to show: those always visible, those shown before and still in
// use, then new ones. unused are those that were not used for too long.
func (s *visibility) chooseTools(ctx context.Context, t *turn, v *evidence, before []string, idle []int) (show []visibleTool, unused []string) {
	done := make(map[string]bool, len(before)+len(v.order))
	consider := func(name string, idle int) {
		e := t.group.cat.lookup(name)
		if e == nil || done[name] {
			return
		}
		done[name] = true
		if _, said := v.last[name]; said {
			idle = v.idle(name)
		}
		if limit := t.group.settings.cfg.UnloadAfter; limit > 0 && idle >= limit {
			unused = append(unused, name)
			return
		}
		if t.showable(ctx, e) {
			show = append(show, visibleTool{e, idle})
		}
	}
	for _, e := range t.group.pins() {
		done[e.info.Name] = true
		if t.showable(ctx, e) {
			show = append(show, visibleTool{e, 0})
		}
	}
	never := t.group.settings.rules.neverLoads
	for i, name := range before {
		if !never || s.hiding.staying[name] {
			consider(name, idle[i]+1)
		}
	}
	if never {
		return show, nil
	}
	for _, name := range v.order {
		consider(name, 0)
	}
	return show, unused
}

// withAll adds to the tools of a model call all others that it may show.
func (t *turn) withAll(ctx context.Context, show []visibleTool) (all []visibleTool) {
	shown := make(map[*entry]bool, len(show))
	for _, s := range show {
		shown[s.entry] = true
	}
	for e := range t.group.cat.entries() {
		if shown[e] || t.showableAtOnce(ctx, e) {
			all = append(all, visibleTool{entry: e})
		}
	}
	return all
}

// vanished are the tools that the model saw and that no longer exist.
func (r *run) vanished(names []string) (gone stringSet) {
	for _, name := range names {
		if r.group().cat.lookup(name) == nil && !r.agent.own[name] {
			gone.add(name)
		}
	}
	return gone
}

// lastIdle is how long the n tools of the last model call had not been used by then.
func lastIdle(ctx context.Context, g *group, n int) (idle []int) {
	if g.settings.cfg.UnloadAfter > 0 {
		idle, _, _ = runLocal[[]int](ctx, idleKey)
	}
	if len(idle) < n {
		idle = append(slices.Clone(idle), make([]int, n-len(idle))...)
	}
	return idle
}

// saveIdle saves for the next model call how long tools have not been used.
func saveIdle(ctx context.Context, g *group, tools []visibleTool) {
	if g.settings.cfg.UnloadAfter == 0 || len(tools) == 0 {
		return
	}
	idle := make([]int, len(tools))
	for i, x := range tools {
		idle[i] = x.idle
	}
	setRunLocal(ctx, idleKey, idle)
}

// decision is the result of the last model call, and its inputs.
type decision struct {
	visibleSet
	group *group
	order []string
}

// holds reports whether nothing has changed since. Both lists only ever grow or are rebuilt, so
// a list at the same address with the same length is unchanged.
func (d decision) holds(g *group, before, order []string) bool {
	return d.names != nil && d.group == g && isSame(before, d.names) && isSame(order, d.order)
}

func isSame(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// toolLists makes the tool lists of a model call: the agent's own tools as they are, then the
// loaded ones in the order of loading. The list only grows at its end, and a provider's prompt
// cache holds.
type toolLists struct {
	run    *run
	group  *group
	hiding *hiding
	stale  stringSet // names of tools whose definition has changed since the last model call
	show   visibleSet
}

// renew returns the lists for this model call: tools, and deferred ones.
func (l toolLists) renew(ctx context.Context, v *evidence, infos, deferred []*schema.ToolInfo) (_, _ []*schema.ToolInfo) {
	switch {
	case l.hiding.showsAll:
		return l.listInPlace(infos), without(deferred, l.group.cat)
	case l.group.settings.rules.native:
		l.show = visibleSet{tools: l.inFull(v), follows: l.show.follows, vanished: l.show.vanished}
		infos = l.rebuildList(infos)
		if l.group.settings.rules.deferAll {
			deferred = l.deferredTools(ctx, deferred, v)
		}
	case !l.show.follows || l.hiding.inPlace() || len(l.stale) > 0 || !l.shows(infos):
		infos = l.rebuildList(infos)
	}
	return infos, deferred
}

// shows reports whether a list already ends with exactly the hidden tools to show.
func (l toolLists) shows(infos []*schema.ToolInfo) bool {
	if infos == nil {
		return false
	}
	names := l.show.names
	own := len(infos) - len(names)
	for i, t := range infos {
		switch {
		case t == nil:
			return false
		case i < own:
			if l.group.cat.lookup(t.Name) != nil || isSlotName(t.Name) || l.run.isGone(t.Name) {
				return false
			}
		case t.Name != names[i-own], t == l.group.cat.lookup(t.Name).info:
			return false
		}
	}
	return own >= 0
}

// rebuildList rebuilds the tool list. Loaded tools are copies: a handler that edits one edits
// only this run's. Copies from earlier calls of the run are kept, with those edits, but not
// copies from before a resume: the tool may have changed.
func (l toolLists) rebuildList(infos []*schema.ToolInfo) []*schema.ToolInfo {
	if l.hiding.inPlace() {
		return l.listInPlace(infos)
	}
	next := l.ownInfos(infos)
	kept := map[string]*schema.ToolInfo{}
	if l.show.follows {
		for _, t := range infos {
			if t != nil && l.group.cat.lookup(t.Name) != nil && l.group.cat.lookup(t.Name).info != t && !l.stale[t.Name] {
				kept[t.Name] = t
			}
		}
	}
	for _, s := range l.show.tools {
		if t := kept[s.entry.info.Name]; t != nil {
			next = append(next, t)
			continue
		}
		next = append(next, l.group.infoOf(s.entry))
	}
	return next
}

// ownInfos returns the tools of a list that are not hidden. Never nil: Eino replaces a nil list
// by the list of all tools. In native mode, it leaves out the search tool as well.
func (l toolLists) ownInfos(infos []*schema.ToolInfo) []*schema.ToolInfo {
	next := make([]*schema.ToolInfo, 0, 8)
	for _, t := range infos {
		switch {
		case t == nil, l.group.cat.lookup(t.Name) != nil, l.show.vanished[t.Name], isSlotName(t.Name), l.run.isGone(t.Name):
		case l.group.settings.rules.native && t.Name == toolnames.Search:
		default:
			next = append(next, t)
		}
	}
	return next
}

// listInPlace makes the tool list of a run that shows all tools, or did: tools in the list keep
// their places, and new ones come last. Without a change, it returns the same list.
func (l toolLists) listInPlace(infos []*schema.ToolInfo) []*schema.ToolInfo {
	shown := make(map[string]*entry, len(l.show.tools))
	for _, s := range l.show.tools {
		shown[s.entry.info.Name] = s.entry
	}
	next, listed := make([]*schema.ToolInfo, 0, len(infos)+len(l.show.tools)), stringSet{}
	for _, t := range infos {
		if t == nil || isSlotName(t.Name) || l.show.vanished[t.Name] || l.run.isGone(t.Name) {
			continue
		}
		if t = l.inPlace(t, shown[t.Name]); t != nil {
			listed.add(t.Name)
			next = append(next, t)
		}
	}
	next = append(next, l.unlistedTools(listed)...)
	if infos != nil && slices.Equal(next, infos) {
		return infos
	}
	return next
}

// inPlace returns the replacement of a tool in the list; nil if it is removed. e is the hidden
// tool of its name, if it is shown. Copies are kept within a run.
func (l toolLists) inPlace(t *schema.ToolInfo, e *entry) *schema.ToolInfo {
	hidden := l.group.cat.lookup(t.Name)
	switch {
	case hidden != nil && e == nil, l.group.usesMetaName(t.Name) && (l.hiding.showsAll || l.group.settings.rules.native):
		return nil
	case e != nil && (!l.show.follows || t == e.info || l.stale[t.Name]):
		return l.infoFor(e)
	}
	return t
}

// unlistedTools are the tools missing from a list: search tools, then those to show.
func (l toolLists) unlistedTools(listed stringSet) (infos []*schema.ToolInfo) {
	if !l.hiding.showsAll && !l.group.settings.rules.native {
		for _, m := range l.group.metaTools() {
			if !listed[m.name] {
				infos = append(infos, m.info())
			}
		}
	}
	for _, s := range l.show.tools {
		if !listed[s.entry.info.Name] && !l.wasTakenOut(s.entry) {
			infos = append(infos, l.infoFor(s.entry))
		}
	}
	return infos
}

// wasTakenOut reports whether a tool that is missing from the list was in it before: another
// handler removed it.
func (l toolLists) wasTakenOut(e *entry) bool {
	return l.hiding.showsAll && l.run.agent.size > 0 && !l.group.isLive(e) && l.group.owner(e).cfg.Filter == nil
}

// infoFor is a copy of a tool's info as the list of this run has it.
func (l toolLists) infoFor(e *entry) *schema.ToolInfo {
	if !l.hiding.showsAll {
		return l.group.infoOf(e)
	}
	return copyInfo(e.safe)
}

// inFull are the tools that a native model call must show in full, because nothing in the
// history shows them to the provider: a search of another kind loaded them, or a call did. The
// provider knows the tools that it loaded itself.
func (l toolLists) inFull(v *evidence) []visibleTool {
	c := l.group.settings.rules
	return slices.DeleteFunc(slices.Clone(l.show.tools), func(s visibleTool) bool {
		name := s.entry.info.Name
		switch {
		case l.group.isPin(s.entry), l.hiding.staying[name] && !v.natively[name]:
			return false
		case v.prefetched.names[name]:
			return v.natively[name]
		}
		return c.name == "" || v.natively[name] || !c.clientRuns && !v.textually[name]
	})
}

// deferredTools is the list of deferred tools: those of others, and all hidden tools that are
// not shown in full.
func (l toolLists) deferredTools(ctx context.Context, infos []*schema.ToolInfo, v *evidence) []*schema.ToolInfo {
	next := without(infos, l.group.cat)
	for e := range l.group.cat.entries() {
		inFull := slices.ContainsFunc(l.show.tools, func(s visibleTool) bool { return s.entry == e })
		if !inFull && (v.natively[e.info.Name] || l.run.turn().defers(ctx, e)) {
			next = append(next, l.group.shallowOf(e))
		}
	}
	return next
}

// without returns a list without the hidden tools; nil if none are left.
func without(infos []*schema.ToolInfo, c *catalog) []*schema.ToolInfo {
	var next []*schema.ToolInfo
	for _, t := range infos {
		if t != nil && c.lookup(t.Name) == nil {
			next = append(next, t)
		}
	}
	return next
}

// noteShownByOthers adds hidden tools that a later handler showed in this model call: the model
// has seen them, so it may call them, and they stay.
func noteShownByOthers(ctx context.Context, r *run, infos []*schema.ToolInfo) {
	before, known := r.notes.lastVisible(ctx)
	if r.group().settings.rules.native || !known {
		return
	}
	names := before
	for _, t := range infos {
		if t != nil && r.group().cat.lookup(t.Name) != nil && !slices.Contains(before, t.Name) {
			names = append(slices.Clip(names), t.Name)
		}
	}
	if len(names) == len(before) {
		return
	}
	r.notes.showAlso(names)
	setRunLocal(ctx, visibleKey, names)
}
