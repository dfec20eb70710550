// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The tool lists of a model call, by functions of their input alone.

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// toolLists is all that the lists of a model call depend on.
type toolLists struct {
	record     turn.Record // of the last model call
	follows    bool        // that one was in this process: the lists are as it left them
	catalog    *catalog
	own        map[string]*schema.ToolInfo           // the agent's own tools, by name
	said       *turn.Facts                           // what the conversation says
	prefetched turn.Names                            // tools that the messages of users loaded
	may        func(*hidden.Tool, ...Phase) bool     // the Filter allows all of the phases
	sources    interface{ isGone(name string) bool } // a Source had the tool
	stale      turn.Names                            // names of tools whose definition has changed since the last model call

	infos, deferred []*schema.ToolInfo
}

// input is what decides which hidden tools a model call shows.
func (in toolLists) input() turn.Input {
	c := in.catalog
	d := turn.Input{
		Record: in.record, Facts: in.said, Pins: c.pins, Loads: !c.cfg.Protocol.neverLoads(), UnloadAfter: c.cfg.UnloadAfter,
		Has: func(name string) bool { return c.Lookup(name) != nil },
		May: func(name string) bool { return in.may(c.Lookup(name), PhaseLoad, PhaseActive) },
	}
	if most := c.cfg.MaxTools; most > 0 && !c.rules.native {
		d.MaxTools, d.Own = most, len(in.ownInfos())
	}
	if in.record.All {
		d.All = in.allTools()
	}
	return d
}

// hiddenTokens is the size of the definitions that hiding leaves out. It stops counting above
// most.
func (in toolLists) hiddenTokens(most int64) (n int64) {
	for e := range in.catalog.All() {
		if n > most {
			break
		}
		if !slices.Contains(in.catalog.pins, e.Info.Name) && in.may(e, PhaseSearch, PhaseLoad, PhaseActive) {
			n += e.Tokens()
		}
	}
	return n
}

// allTools are the tools of a run that hides none.
func (in toolLists) allTools() (names []string) {
	for e := range in.catalog.All() {
		if in.may(e, PhaseSearch, PhaseLoad, PhaseActive) {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

// lists returns the lists for this model call, tools and deferred ones: the agent's own tools as
// they are, then the loaded ones in the order of loading. The list only grows at its end, and a
// provider's prompt cache holds.
func (in toolLists) lists(visible []string) (_, _ []*schema.ToolInfo) {
	show := make([]*hidden.Tool, len(visible))
	for i, name := range visible {
		show[i] = in.catalog.Lookup(name)
	}
	infos, deferred := in.infos, in.deferred
	switch {
	case in.record.All:
		if !in.follows || len(in.stale) > 0 || !in.shows(show) {
			infos = in.rebuildList(show)
		}
		return infos, without(deferred, in.catalog)
	case in.catalog.rules.native:
		show = in.inFull(show)
		infos = in.rebuildList(show)
		if in.catalog.rules.deferAll {
			deferred = in.deferredTools(show)
		}
	case !in.follows || len(in.stale) > 0 || !in.shows(show):
		infos = in.rebuildList(show)
	}
	return infos, deferred
}

// shows reports whether a list already ends with exactly the hidden tools to show.
func (in toolLists) shows(show []*hidden.Tool) bool {
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
			if in.catalog.Lookup(t.Name) != nil || slots.IsName(t.Name) || in.sources.isGone(t.Name) {
				return false
			}
		case t.Name != show[i-own].Info.Name, t == show[i-own].Info:
			return false
		}
	}
	return own >= 0
}

// rebuildList rebuilds the tool list. Loaded tools are copies: a handler that edits one edits
// only this run's. Copies from earlier calls of the run are kept, with those edits, but not
// copies from before a resume: the tool may have changed.
func (in toolLists) rebuildList(show []*hidden.Tool) []*schema.ToolInfo {
	next := in.ownInfos()
	kept := map[string]*schema.ToolInfo{}
	if in.follows {
		for _, t := range in.infos {
			if t != nil && in.catalog.Lookup(t.Name) != nil && in.catalog.Lookup(t.Name).Info != t && !in.stale[t.Name] {
				kept[t.Name] = t
			}
		}
	}
	for _, e := range show {
		if t := kept[e.Info.Name]; t != nil {
			next = append(next, t)
			continue
		}
		info := in.catalog.shallowOf(e)
		if in.record.All {
			info = toolschema.ShallowInfo(e.Safe)
		}
		next = append(next, toolschema.WithOwnParams(info))
	}
	return next
}

// ownInfos returns the tools of a list that are not hidden. Never nil: Eino replaces a nil list
// by the list of all tools. In native mode, it leaves out the search tool as well.
func (in toolLists) ownInfos() []*schema.ToolInfo {
	next := make([]*schema.ToolInfo, 0, 8)
	for _, t := range in.infos {
		switch {
		case t == nil, in.catalog.Lookup(t.Name) != nil, slots.IsName(t.Name), in.sources.isGone(t.Name):
		case !in.follows && in.own[t.Name] == nil && slices.Contains(in.record.Visible, t.Name): // seen before a resume, and no longer there
		case in.catalog.rules.native && t.Name == toolnames.Search, in.record.All && in.catalog.usesMetaName(t.Name):
		default:
			next = append(next, t)
		}
	}
	return next
}

// inFull are the tools that a native model call must show in full, because nothing in the
// history shows them to the provider: a search of another kind loaded them, or a call did. The
// provider knows the tools that it loaded itself.
func (in toolLists) inFull(show []*hidden.Tool) []*hidden.Tool {
	v := in.said
	c := in.catalog.rules
	return slices.DeleteFunc(slices.Clone(show), func(e *hidden.Tool) bool {
		name := e.Info.Name
		switch {
		case slices.Contains(in.catalog.pins, name):
			return false
		case in.prefetched[name]:
			return v.Natively[name]
		}
		return c.name == "" || v.Natively[name] || !c.clientRuns && !v.Textually[name]
	})
}

// deferredTools is the list of deferred tools: those of others, and all hidden tools that are
// not shown in full.
func (in toolLists) deferredTools(show []*hidden.Tool) []*schema.ToolInfo {
	v, next := in.said, without(in.deferred, in.catalog)
	for e := range in.catalog.All() {
		inFull := slices.Contains(show, e)
		if !inFull && (v.Natively[e.Info.Name] || in.catalog.rules.deferAll && in.may(e, PhaseSearch, PhaseLoad, PhaseActive)) {
			next = append(next, in.catalog.shallowOf(e))
		}
	}
	return next
}

// without returns a list without the hidden tools; nil if none are left.
func without(infos []*schema.ToolInfo, c *catalog) []*schema.ToolInfo {
	var next []*schema.ToolInfo
	for _, t := range infos {
		if t != nil && c.Lookup(t.Name) == nil {
			next = append(next, t)
		}
	}
	return next
}
