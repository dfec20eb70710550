// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a model call shows, decided by functions of their input alone: which hidden tools, and the
// tool lists.

import (
	"cmp"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/slots"
)

// record is what a run has told and shown the model, as far as its next model call depends on
// it. It is plain data, kept as JSON under the one key that this package has in a run.
type record struct {
	Began    bool     `json:"began,omitempty"`    // there was a model call
	Visible  []string `json:"visible,omitempty"`  // names of the hidden tools that the last one showed
	Idle     []int    `json:"idle,omitempty"`     // model calls since the last use of each, with UnloadAfter
	All      bool     `json:"all,omitempty"`      // the run hides nothing, by HideAbove
	Bound    []string `json:"bound,omitempty"`    // names that slots stood for in the last round of calls
	Reported []string `json:"reported,omitempty"` // what OnEvent was told, by the lines of event.go
}

// recordKey is the key of the record among the values that Eino keeps for a run.
const recordKey = "__einolean_toolsearch__"

// turnInput is all that the tools of a model call depend on.
type turnInput struct {
	signs   bool   // the agent has programs
	record  record // of the last model call
	follows bool   // that one was in this process: the lists are as it left them
	catalog *catalog
	own     map[string]*schema.ToolInfo           // the agent's own tools, by name
	said    *evidence                             // what the conversation says
	may     func(*entry, ...Phase) bool           // the Filter allows all of the phases
	sources interface{ isGone(name string) bool } // a Source had the tool
	stale   stringSet                             // names of tools whose definition has changed since the last model call

	infos, deferred []*schema.ToolInfo
}

// turnOutput is which hidden tools a model call shows, and the record of it.
type turnOutput struct {
	record record
	show   []*entry // their names are in the record
	unused []string // names of the tools that were not used for too long, or longest
}

// takeTurn decides which tools a model call shows. It changes nothing of its input. The lists follow
// from it and from the conversation, once that has the form that suits the provider.
func takeTurn(in turnInput) turnOutput {
	show, idle, unused := in.chooseTools()
	out := turnOutput{record: in.record, show: show[:0], unused: unused}
	var over []string
	if most := in.catalog.settings.cfg.MaxTools; most > 0 && !in.catalog.settings.rules.native && !in.record.All {
		over = in.leastUsed(show, idle, most)
	}
	out.record.Began, out.record.Visible, out.record.Idle = true, make([]string, 0, len(show)), nil
	for i, e := range show {
		if slices.Contains(over, e.info.Name) {
			out.unused = append(out.unused, e.info.Name)
			continue
		}
		out.show, out.record.Visible = append(out.show, e), append(out.record.Visible, e.info.Name)
		if in.catalog.settings.cfg.UnloadAfter > 0 {
			out.record.Idle = append(out.record.Idle, idle[i])
		}
	}
	return out
}

// leastUsed are the names of the loaded tools that were used longest ago and that make the list
// longer than the provider takes.
func (in turnInput) leastUsed(show []*entry, idle []int, most int) (names []string) {
	all, _ := in.lists(show)
	var places []int
	for i, e := range show {
		if !slices.Contains(in.catalog.pins, e.info.Name) {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(idle[b], idle[a]) })
	for _, i := range places[:min(max(0, len(all)-most), len(places))] {
		names = append(names, show[i].info.Name)
	}
	return names
}

// hiddenTokens is the size of the definitions that hiding leaves out. It stops counting above
// most.
func (in turnInput) hiddenTokens(most int64) (n int64) {
	for e := range in.catalog.entries() {
		if n > most {
			break
		}
		if !slices.Contains(in.catalog.pins, e.info.Name) && in.may(e, PhaseSearch, PhaseLoad, PhaseActive) {
			n += e.tokens()
		}
	}
	return n
}

// chooseTools chooses the tools to show: those always visible, those shown before and still in
// use, then new ones; idle are the model calls since the last use of each. unused are those that were
// not used for too long.
func (in turnInput) chooseTools() (show []*entry, idle []int, unused []string) {
	if in.record.All {
		show = in.allTools()
		return show, make([]int, len(show)), nil
	}
	before, v, limit := in.record.Visible, in.said, in.catalog.settings.cfg.UnloadAfter
	done := make(map[string]bool, len(before)+len(v.order))
	add := func(e *entry, since int) {
		if in.may(e, PhaseLoad, PhaseActive) {
			show, idle = append(show, e), append(idle, since)
		}
	}
	consider := func(name string, since int) {
		e := in.catalog.lookup(name)
		if e == nil || done[name] {
			return
		}
		done[name] = true
		if last, said := v.last[name]; said {
			since = v.modelCalls - last
		}
		if limit > 0 && since >= limit {
			unused = append(unused, name)
		} else {
			add(e, since)
		}
	}
	for _, name := range in.catalog.pins {
		done[name] = true
		add(in.catalog.lookup(name), 0)
	}
	if in.catalog.settings.cfg.Protocol.neverLoads() {
		return show, idle, nil
	}
	for i, name := range before {
		since := 0
		if i < len(in.record.Idle) {
			since = in.record.Idle[i]
		}
		consider(name, since+1)
	}
	for _, name := range v.order {
		consider(name, 0)
	}
	return show, idle, unused
}

// allTools are the tools of a run that hides none.
func (in turnInput) allTools() (show []*entry) {
	for e := range in.catalog.entries() {
		if in.may(e, PhaseSearch, PhaseLoad, PhaseActive) {
			show = append(show, e)
		}
	}
	return show
}

// lists returns the lists for this model call, tools and deferred ones: the agent's own tools as
// they are, then the loaded ones in the order of loading. The list only grows at its end, and a
// provider's prompt cache holds.
func (in turnInput) lists(show []*entry) (_, _ []*schema.ToolInfo) {
	infos, deferred := in.infos, in.deferred
	switch {
	case in.record.All:
		if !in.follows || len(in.stale) > 0 || !in.shows(show) {
			infos = in.rebuildList(show)
		}
		return infos, without(deferred, in.catalog)
	case in.catalog.settings.rules.native:
		show = in.inFull(show)
		infos = in.rebuildList(show)
		if in.catalog.settings.rules.deferAll {
			deferred = in.deferredTools(show)
		}
	case !in.follows || len(in.stale) > 0 || !in.shows(show):
		infos = in.rebuildList(show)
	}
	return infos, deferred
}

// hasVanished reports whether a name is that of a tool that the model saw before a resume, and that
// no longer exists.
func (in turnInput) hasVanished(name string) bool {
	return !in.follows && in.catalog.lookup(name) == nil && in.own[name] == nil && slices.Contains(in.record.Visible, name)
}

// shows reports whether a list already ends with exactly the hidden tools to show.
func (in turnInput) shows(show []*entry) bool {
	infos := in.infos
	if infos == nil {
		return false
	}
	own := len(infos) - len(show)
	for i, t := range infos {
		switch {
		case t == nil:
			return false
		case i < own:
			if in.catalog.lookup(t.Name) != nil || slots.IsName(t.Name) || in.sources.isGone(t.Name) {
				return false
			}
		case t.Name != show[i-own].info.Name, t == show[i-own].info:
			return false
		}
	}
	return own >= 0
}

// rebuildList rebuilds the tool list. Loaded tools are copies: a handler that edits one edits
// only this run's. Copies from earlier calls of the run are kept, with those edits, but not
// copies from before a resume: the tool may have changed.
func (in turnInput) rebuildList(show []*entry) []*schema.ToolInfo {
	next := in.ownInfos()
	kept := map[string]*schema.ToolInfo{}
	if in.follows {
		for _, t := range in.infos {
			if t != nil && in.catalog.lookup(t.Name) != nil && in.catalog.lookup(t.Name).info != t && !in.stale[t.Name] {
				kept[t.Name] = t
			}
		}
	}
	for _, e := range show {
		if t := kept[e.info.Name]; t != nil {
			next = append(next, t)
			continue
		}
		next = append(next, in.infoFor(e))
	}
	return next
}

// infoFor is a copy of a tool's info as the list of this run has it.
func (in turnInput) infoFor(e *entry) *schema.ToolInfo {
	if in.record.All {
		return withOwnParams(shallowInfo(e.safe))
	}
	return in.catalog.infoOf(e)
}

// ownInfos returns the tools of a list that are not hidden. Never nil: Eino replaces a nil list
// by the list of all tools. In native mode, it leaves out the search tool as well.
func (in turnInput) ownInfos() []*schema.ToolInfo {
	next := make([]*schema.ToolInfo, 0, 8)
	for _, t := range in.infos {
		switch {
		case t == nil, in.catalog.lookup(t.Name) != nil, in.hasVanished(t.Name), slots.IsName(t.Name), in.sources.isGone(t.Name):
		case in.catalog.settings.rules.native && t.Name == toolnames.Search, in.record.All && in.catalog.usesMetaName(t.Name):
		default:
			next = append(next, t)
		}
	}
	return next
}

// inFull are the tools that a native model call must show in full, because nothing in the
// history shows them to the provider: a search of another kind loaded them, or a call did. The
// provider knows the tools that it loaded itself.
func (in turnInput) inFull(show []*entry) []*entry {
	v := in.said
	c := in.catalog.settings.rules
	return slices.DeleteFunc(slices.Clone(show), func(e *entry) bool {
		name := e.info.Name
		switch {
		case slices.Contains(in.catalog.pins, name):
			return false
		case v.prefetched[name]:
			return v.natively[name]
		}
		return c.name == "" || v.natively[name] || !c.clientRuns && !v.textually[name]
	})
}

// deferredTools is the list of deferred tools: those of others, and all hidden tools that are
// not shown in full.
func (in turnInput) deferredTools(show []*entry) []*schema.ToolInfo {
	v, next := in.said, without(in.deferred, in.catalog)
	for e := range in.catalog.entries() {
		inFull := slices.Contains(show, e)
		if !inFull && (v.natively[e.info.Name] || in.catalog.settings.rules.deferAll && in.may(e, PhaseSearch, PhaseLoad, PhaseActive)) {
			next = append(next, in.catalog.shallowOf(e))
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
