// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Which hidden tools a model call shows.

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
	tools []visibleTool
	names []string
	known bool // it follows on another model call of this run
	gone  set  // tools that the model saw before a resume, and that no longer exist
}

func (s visibleSet) has(name string) bool { return slices.Contains(s.names, name) }

// visibleTools chooses the hidden tools that a model call shows.
func (r *run) visibleTools(ctx context.Context, v *evidence) visibleSet {
	before, known := r.notes.lastVisible(ctx)
	if known && r.decided.holds(before, v.order) {
		r.notes.show(before)
		return r.decided.visibleSet
	}
	show, unused := r.loaded(ctx, v, before, r.lastIdle(ctx, len(before)))
	if r.hiding.off {
		show = r.withAll(ctx, show)
	}
	names := make([]string, len(show))
	for i, s := range show {
		names[i] = s.entry.info.Name
	}
	s := visibleSet{tools: show, names: names, known: r.notes.called()}
	if !s.known {
		s.gone = r.vanished(before)
	}
	if !r.hiding.off {
		r.emitVisible(ctx, before, names, unused, !known)
	}
	r.saveVisible(ctx, before, show, names, known)
	if r.group().byMessagesOnly {
		r.decided = decision{visibleSet{tools: show, names: names, known: true}, v.order}
	}
	return s
}

// vanished are those of the tools that the model saw which do not exist any more.
func (r *run) vanished(names []string) (gone set) {
	for _, name := range names {
		if r.group().cat.lookup(name) == nil && !r.agent.own[name] {
			gone.add(name)
		}
	}
	return gone
}

// decision is what the last model call showed, and what it was decided from.
type decision struct {
	visibleSet
	order []string
}

// holds reports whether nothing is new since. Both lists only ever grow or are rebuilt,
// so that a list which is the same in memory is the same.
func (d decision) holds(before, order []string) bool {
	return d.names != nil && isSame(before, d.names) && isSame(order, d.order)
}

func isSame(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// setToolLists sets the tool lists of a model call: the agent's own tools as they are, then the
// loaded ones in the order in which they were loaded, so that the list only grows at its
// end and a provider's prompt cache holds.
func (r *run) setToolLists(ctx context.Context, v *evidence, show visibleSet, infos, deferred *[]*schema.ToolInfo) {
	if r.hiding.off {
		*infos, *deferred = r.listInPlace(*infos, show), without(*deferred, r.group().cat)
		return
	}
	if r.group().rules.native {
		plain := r.inFull(v, show)
		*infos = r.rebuildList(*infos, visibleSet{tools: plain, known: show.known, gone: show.gone})
		if r.group().rules.deferAll {
			*deferred = r.deferred(ctx, *deferred, v, plain)
		}
		return
	}
	if !show.known || r.hiding.inPlace() || len(r.live.stale) > 0 || !r.shows(*infos, show.names) {
		*infos = r.rebuildList(*infos, show)
	}
}

// loaded are the tools to show: those that always are, those shown before that are still in
// use, then new ones. unused are those that were not used for too long.
func (r *run) loaded(ctx context.Context, v *evidence, before []string, idle []int) (show []visibleTool, unused []string) {
	done := make(map[string]bool, len(before)+len(v.order))
	consider := func(name string, idle int) {
		e := r.group().cat.lookup(name)
		if e == nil || done[name] {
			return
		}
		done[name] = true
		if _, said := v.last[name]; said {
			idle = v.idle(name)
		}
		if limit := r.group().cfg.UnloadAfter; limit > 0 && idle >= limit {
			unused = append(unused, name)
			return
		}
		if r.turn().showable(ctx, e) {
			show = append(show, visibleTool{e, idle})
		}
	}
	for _, e := range r.group().pins() {
		done[e.info.Name] = true
		if r.turn().showable(ctx, e) {
			show = append(show, visibleTool{e, 0})
		}
	}
	never := r.group().rules.neverLoads
	for i, name := range before {
		if !never || r.hiding.shown[name] {
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

// lastIdle is how long the n tools of the last model call had not been used by then.
func (r *run) lastIdle(ctx context.Context, n int) (idle []int) {
	if r.group().cfg.UnloadAfter > 0 {
		idle, _, _ = runLocal[[]int](ctx, idleKey)
	}
	if len(idle) < n {
		idle = append(slices.Clone(idle), make([]int, n-len(idle))...)
	}
	return idle
}

// saveVisible keeps what this model call shows for the gate, and for a resume.
func (r *run) saveVisible(ctx context.Context, before []string, show []visibleTool, names []string, known bool) {
	r.notes.show(names)
	if !known || !slices.Equal(before, names) {
		setRunLocal(ctx, visibleKey, names)
	}
	if r.group().cfg.UnloadAfter > 0 && len(show) > 0 {
		idle := make([]int, len(show))
		for i, s := range show {
			idle[i] = s.idle
		}
		setRunLocal(ctx, idleKey, idle)
	}
}

// noteShownByOthers adds those hidden tools that a later handler showed in this model call: the
// model has seen them, so that it may call them, and they stay.
func (r *run) noteShownByOthers(ctx context.Context, infos []*schema.ToolInfo) {
	before, known := r.notes.lastVisible(ctx)
	if r.group().rules.native || !known {
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

// shows reports whether a list already ends with exactly these hidden tools.
func (r *run) shows(infos []*schema.ToolInfo, names []string) bool {
	if infos == nil {
		return false
	}
	own := len(infos) - len(names)
	for i, t := range infos {
		switch {
		case t == nil:
			return false
		case i < own:
			if r.group().cat.lookup(t.Name) != nil || isSlotName(t.Name) || r.isGone(t.Name) {
				return false
			}
		case t.Name != names[i-own], t == r.group().cat.lookup(t.Name).info:
			return false
		}
	}
	return own >= 0
}

// rebuildList rebuilds the tool list. Loaded tools are copies, so that a handler that edits
// one edits this run's; a copy from an earlier call of the run is kept for that reason.
// A copy from before a resume is not: the tool may have changed.
func (r *run) rebuildList(infos []*schema.ToolInfo, show visibleSet) []*schema.ToolInfo {
	if r.hiding.inPlace() {
		return r.listInPlace(infos, show)
	}
	next := r.ownInfos(infos, show.gone)
	kept := map[string]*schema.ToolInfo{}
	if show.known {
		for _, t := range infos {
			if t != nil && r.group().cat.lookup(t.Name) != nil && r.group().cat.lookup(t.Name).info != t && !r.live.stale[t.Name] {
				kept[t.Name] = t
			}
		}
	}
	for _, s := range show.tools {
		if t := kept[s.entry.info.Name]; t != nil {
			next = append(next, t)
			continue
		}
		next = append(next, r.group().infoOf(s.entry))
	}
	return next
}

// ownInfos are the tools of a list that are not hidden ones. Never nil: Eino replaces a
// nil list by the list of all tools. In native mode the search tool is not one either.
func (r *run) ownInfos(infos []*schema.ToolInfo, gone set) []*schema.ToolInfo {
	next := make([]*schema.ToolInfo, 0, 8)
	for _, t := range infos {
		switch {
		case t == nil, r.group().cat.lookup(t.Name) != nil, gone[t.Name], isSlotName(t.Name), r.isGone(t.Name):
		case r.group().rules.native && t.Name == toolnames.Search:
		default:
			next = append(next, t)
		}
	}
	return next
}

// without is a list without the hidden tools; nil if nothing is left.
func without(infos []*schema.ToolInfo, c *catalog) []*schema.ToolInfo {
	var next []*schema.ToolInfo
	for _, t := range infos {
		if t != nil && c.lookup(t.Name) == nil {
			next = append(next, t)
		}
	}
	return next
}
