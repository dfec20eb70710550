// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// Call is all that the tool lists of a model call depend on.
type Call struct {
	Rules  Rules
	Tools  *hidden.Set // those that are hidden
	Pins   []string    // names of those that are always shown
	Search []string    // names of the search tools

	Record     turn.Record // of the last model call
	Follows    bool        // that one was in this process: the lists are as it left them
	Facts      *turn.Facts
	Prefetched turn.Names // tools that the messages of users loaded
	Stale      turn.Names // tools whose definition has changed since the last model call

	Others map[string]*schema.ToolInfo // the agent's own tools, by name
	Gone   func(name string) bool      // a Source had the tool
	May    func(*hidden.Tool) bool     // the tool may be deferred, if the rules say that all are

	Infos, Deferred []*schema.ToolInfo // as they came
}

// Lists returns the lists for a model call that shows these tools, and the deferred ones: the agent's
// own tools as they are, then the loaded ones in the order of loading. The list only grows at its end,
// and a provider's prompt cache holds.
func Lists(c Call, visible []string) (infos, deferred []*schema.ToolInfo) {
	show := make([]*hidden.Tool, len(visible))
	for i, name := range visible {
		show[i] = c.Tools.Lookup(name)
	}
	infos, deferred = c.Infos, c.Deferred
	switch {
	case c.Record.All:
		deferred = Without(deferred, c.Tools)
	case c.Rules.Native:
		show = c.inFull(show)
		if c.Rules.DeferAll {
			deferred = c.deferredTools(show)
		}
		return c.rebuilt(show), deferred
	}
	if !c.Follows || len(c.Stale) > 0 || !c.shows(show) {
		infos = c.rebuilt(show)
	}
	return infos, deferred
}

// shows reports whether a list already ends with exactly the hidden tools to show.
func (c Call) shows(show []*hidden.Tool) bool {
	if c.Infos == nil {
		return false
	}
	own := len(c.Infos) - len(show)
	for i, t := range c.Infos {
		switch {
		case t == nil:
			return false
		case i < own:
			if c.Tools.Has(t.Name) || slots.IsName(t.Name) || c.Gone(t.Name) {
				return false
			}
		case t.Name != show[i-own].Info.Name, t == show[i-own].Info:
			return false
		}
	}
	return own >= 0
}

// rebuilt is the list made anew. Loaded tools are copies: a handler that edits one edits only this
// run's. Copies from earlier calls of the run are kept, with those edits, but not copies from before a
// resume: the tool may have changed.
func (c Call) rebuilt(show []*hidden.Tool) []*schema.ToolInfo {
	next := c.Own()
	kept := map[string]*schema.ToolInfo{}
	if c.Follows {
		for _, t := range c.Infos {
			if t == nil || c.Stale[t.Name] {
				continue
			}
			if e := c.Tools.Lookup(t.Name); e != nil && e.Info != t {
				kept[t.Name] = t
			}
		}
	}
	rules := c.Rules
	if c.Record.All {
		rules = Plain
	}
	for _, e := range show {
		t := kept[e.Info.Name]
		if t == nil {
			t = rules.Info(e)
		}
		next = append(next, t)
	}
	return next
}

// Own are the tools of the list that are not hidden. Never nil: Eino replaces a nil list by the list
// of all tools. With a provider's own search, it leaves out the search tool as well.
func (c Call) Own() []*schema.ToolInfo {
	next := make([]*schema.ToolInfo, 0, 8)
	for _, t := range c.Infos {
		switch {
		case t == nil, c.Tools.Has(t.Name), slots.IsName(t.Name), c.Gone(t.Name):
		case !c.Follows && c.Others[t.Name] == nil && slices.Contains(c.Record.Visible, t.Name): // seen before a resume, and no longer there
		case c.Rules.Native && t.Name == toolnames.Search, c.Record.All && slices.Contains(c.Search, t.Name):
		default:
			next = append(next, t)
		}
	}
	return next
}

// inFull are the tools that a call with a provider's own search must show in full, because nothing in
// the history shows them to the provider: a search of another kind loaded them, or a call did. The
// provider knows the tools that it loaded itself.
func (c Call) inFull(show []*hidden.Tool) []*hidden.Tool {
	said := c.Facts
	return slices.DeleteFunc(slices.Clone(show), func(e *hidden.Tool) bool {
		name := e.Info.Name
		switch {
		case slices.Contains(c.Pins, name):
			return false
		case c.Prefetched[name]:
			return said.Natively[name]
		}
		return c.Rules.Adapter == "" || said.Natively[name] || !c.Rules.ClientRuns && !said.Textually[name]
	})
}

// deferredTools are the deferred tools of others, and all hidden tools that are not shown in full.
func (c Call) deferredTools(show []*hidden.Tool) []*schema.ToolInfo {
	next := Without(c.Deferred, c.Tools)
	for e := range c.Tools.All() {
		if !slices.Contains(show, e) && (c.Facts.Natively[e.Info.Name] || c.May(e)) {
			next = append(next, c.Rules.shallow(e))
		}
	}
	return next
}

// Without returns a list without the hidden tools; nil if none are left.
func Without(infos []*schema.ToolInfo, tools *hidden.Set) []*schema.ToolInfo {
	var next []*schema.ToolInfo
	for _, t := range infos {
		if t != nil && !tools.Has(t.Name) {
			next = append(next, t)
		}
	}
	return next
}

// Info is a copy of a tool's info in the form that goes to the model.
func (r Rules) Info(e *hidden.Tool) *schema.ToolInfo { return toolschema.WithOwnParams(r.shallow(e)) }

// shallow is Info with the schema of the tool itself, for lists of all hidden tools.
func (r Rules) shallow(e *hidden.Tool) *schema.ToolInfo {
	if r.Adapter == "" {
		return toolschema.ShallowInfo(e.Safe)
	}
	return deferrable(e)
}

// deferrable is a copy of a tool's info that may be deferred: providers refuse a deferred tool that
// is also a place to cache up to.
func deferrable(e *hidden.Tool) *schema.ToolInfo {
	dup := toolschema.ShallowInfo(e.Safe)
	if dup.ParamsOneOf == nil {
		dup.ParamsOneOf = noParams()
	}
	for _, key := range cacheKeys {
		delete(dup.Extra, key)
	}
	return dup
}

// noParams replaces missing parameters, which some adapters cannot send.
func noParams() *schema.ParamsOneOf {
	return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})
}

// cacheKeys are the keys of ToolInfo.Extra under which the claude and the agenticclaude adapter keep a
// cache breakpoint.
var cacheKeys = []string{"_eino_claude_breakpoint", "_eino_claude_breakpoint_ttl", "_agenticclaude_cache_control_ttl"}
