// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file joins the instances in one agent, and the tools that the agent's own list
// gives up, into one run.

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// ownTool is one of the agent's own tools.
type ownTool struct {
	at   int // its place in the agent's list
	tool tool.BaseTool
	info *schema.ToolInfo
}

// join adds an instance to a run. A nil run means that there is nothing to do.
func join(ctx context.Context, s *settings, rc *adk.ChatModelAgentContext) (*run, *adk.ChatModelAgentContext, error) {
	old := groupIn(rc.Tools)
	members := []*settings{s}
	if old != nil {
		if old.has(s) {
			return nil, nil, nil // the same instance twice hides nothing twice
		}
		members = append(append([]*settings(nil), old.members...), s)
		if err := s.agreesWith(old.settings); err != nil {
			return nil, nil, err
		}
	}
	own := ownTools(ctx, rc.Tools)
	g, deferred, err := s.joinWith(ctx, old, members, own)
	if err != nil || len(g.cat.entries) == 0 {
		return nil, nil, err
	}
	if err := g.contract.supports(); err != nil {
		return nil, nil, err
	}
	if err := clashes(g, own, deferred); err != nil {
		return nil, nil, err
	}
	r := &run{group: g, own: map[string]bool{}, direct: rc.ReturnDirectly}
	for _, o := range own {
		r.own[o.info.Name] = true
	}
	next := *rc
	next.Tools = r.toolList(rc.Tools, deferred, s)
	r.size = len(next.Tools)
	if g.contract.searchTool {
		next.ToolSearchTool = g.metaTools()[0].info()
	}
	return r, &next, nil
}

// agreesWith reports where two instances in one agent contradict each other.
func (s *settings) agreesWith(lead *settings) error {
	if s.cfg.Protocol != lead.cfg.Protocol {
		return fmt.Errorf("toolsearch: two instances in one agent have the protocols %v and %v: give them the same", lead.cfg.Protocol, s.cfg.Protocol)
	}
	if s.contract.name != lead.contract.name || s.contract.native != lead.contract.native {
		return fmt.Errorf("toolsearch: two instances in one agent have the native contracts %q and %q: give them the same", lead.contract.name, s.contract.name)
	}
	return nil
}

// groupIn finds the group that an earlier instance made for this run.
func groupIn(tools []tool.BaseTool) *group {
	for _, t := range tools {
		if m, ok := t.(metaMarker); ok {
			return m.groupOf()
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

// joinWith makes the group of the members. The tools that earlier instances took from the
// agent's own list are hidden already and stay theirs.
func (s *settings) joinWith(ctx context.Context, old *group, members []*settings, own []ownTool) (*group, []ownTool, error) {
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
	g, err := joinGroup(ctx, members, owned)
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
	wrong = append(wrong, g.twice...)
	for _, o := range own {
		if hidden[o.at] {
			continue
		}
		if e := g.cat.byName[o.info.Name]; e != nil {
			wrong.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own tool %q (%T)", e.info.Name, unwrap(e.tool), o.info.Name, o.tool)
		}
		if g.usesMetaName(o.info.Name) {
			wrong.add("", "the agent's own tool %q (%T) has the name of the search tool %q", o.info.Name, o.tool, o.info.Name)
		}
	}
	return wrong.err()
}

// findTwice says which names several instances have given a tool.
func (g *group) findTwice() {
	for _, e := range g.cat.entries {
		if last := g.cat.byName[e.info.Name]; last != e {
			g.twice.add("DynamicTools", "dynamic tool %q (%T) and dynamic tool %q (%T) of another instance have the same name", e.info.Name, unwrap(e.tool), e.info.Name, unwrap(last.tool))
		}
	}
}

// meet looks at the tools that handlers behind this one added, which the list of the first
// model call shows. A name that is taken is refused: which of two tools Eino runs would
// depend on the order of the handlers.
func (r *run) meet(infos []*schema.ToolInfo) error {
	if r.size == 0 || len(infos) <= r.size || r.called() {
		return nil
	}
	var wrong problems
	seen := make(set, len(infos))
	for _, t := range infos {
		if t == nil {
			continue
		}
		ours := r.group.cat.byName[t.Name] != nil || r.group.usesMetaName(t.Name)
		if ours && seen[t.Name] {
			wrong.add("", "a handler behind this one added a tool named %q, which is the name of a hidden tool or of the search tool", t.Name)
		}
		if seen[t.Name] = true; !ours {
			r.own[t.Name] = true
		}
	}
	return wrong.err()
}

// toolList is the agent's list with deferred tools guarded, and the search tools and the
// instance's dynamic tools added.
func (r *run) toolList(tools []tool.BaseTool, deferred []ownTool, s *settings) []tool.BaseTool {
	metas := r.group.metaTools()
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
			t = r.group.cat.byName[d.info.Name].tool
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
