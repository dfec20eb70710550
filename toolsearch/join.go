// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// How an instance joins an agent when a run starts: its tools, those of other instances, and
// the agent's own.

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
)

// ownTool is one of the agent's own tools.
type ownTool struct {
	at   int // its place in the agent's list
	tool tool.BaseTool
	info *schema.ToolInfo
}

// joined is an agent that an instance has joined.
type joined struct {
	agent agent
	tools []tool.BaseTool // its next ones
	slots *slots          // among them; nil: there is no Source
}

// join adds an instance to an agent with these tools. It returns nil if there is nothing to
// do.
func join(ctx context.Context, me member, tools []tool.BaseTool) (*joined, error) {
	s, members := me.settings, []member{}
	if old := groupIn(tools); old != nil {
		if old.hasMember(s) {
			return nil, nil // the same instance twice hides its tools once
		}
		members = slices.Clone(old.members)
		if err := s.agreesWith(old.settings); err != nil {
			return nil, err
		}
	}
	own := ownTools(ctx, tools)
	picked, err := s.pick(own)
	if err != nil {
		return nil, err
	}
	a := agent{own: map[string]bool{}}
	for _, o := range picked {
		e, err := newEntry(o.tool, o.info)
		if err != nil {
			return nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		me.owned = append(me.owned, e)
	}
	for _, o := range own {
		a.own[o.info.Name] = true
	}
	members = append(members, me)
	if a.start, err = groupOf(ctx, members); err != nil || a.start.cat.len() == 0 && !hasSource(members) {
		return nil, err
	}
	if err := a.start.settings.rules.err; err != nil {
		return nil, fmt.Errorf("toolsearch: %w", err)
	}
	if err := clashes(a.start, own, picked); err != nil {
		return nil, err
	}
	j := &joined{agent: a}
	if j.agent.live = hasSource(members); j.agent.live {
		j.slots = slotsIn(tools)
	}
	j.tools = j.listTools(tools, picked, s)
	j.agent.size = len(j.tools)
	return j, nil
}

// agreesWith reports how a later instance in one agent contradicts the first: each shared
// setting must be zero in it, or equal.
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

// ofEachInstance are the fields of Config that each instance in an agent has for itself.
var ofEachInstance = []string{"DynamicTools", "Source", "SearchableTools", "DeferMarkedTools", "AlwaysVisible", "Filter", "OnEvent"}

// isEqual compares the values of one field. Functions are equal only if they are the same
// value: whether two closures behave alike is unknown.
func isEqual(a, b reflect.Value) bool {
	if a.Kind() == reflect.Func {
		return !b.IsNil() && *(*uintptr)(a.Addr().UnsafePointer()) == *(*uintptr)(b.Addr().UnsafePointer())
	}
	return a.Comparable() && b.Comparable() && a.Equal(b)
}

// valueText names a setting in an error. The contents of a Backend or a model do not belong
// in logs.
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

// ownTools are the tools of a list that are neither search tools of this package nor hidden.
// A tool whose Info fails is left to Eino, which reports it.
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

// checkLaterTools checks the tools that later handlers added, which the list of the first
// model call shows. It refuses a name that is taken: which of the two tools Eino runs would
// depend on the order of the handlers.
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

// renaming says how to give two tools different names. The tool that package reduction adds
// knows the field that sets its name.
func renaming(own tool.BaseTool) string {
	if n, ok := own.(interface{ NamedBy() string }); ok {
		return "set " + n.NamedBy() + " to a name that no other tool has"
	}
	return "give one of them another name"
}

// listTools returns the agent's list with deferred tools guarded, and adds the search tools,
// the instance's dynamic tools and the slots for tools of sources.
func (j *joined) listTools(tools []tool.BaseTool, picked []ownTool, s *settings) []tool.BaseTool {
	metas := j.agent.start.metaTools()
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
				next, placed = appendMetas(next, metas, j.slots), true
			}
			continue
		}
		if d, ok := hidden[i]; ok {
			t = j.agent.start.cat.lookup(d.info.Name).tool
		}
		next = append(next, t)
	}
	if !placed {
		next = appendMetas(next, metas, j.slots)
	}
	for _, e := range s.entries {
		next = append(next, e.tool)
	}
	return j.slots.appendTo(next)
}

func appendMetas(tools []tool.BaseTool, metas []*metaTool, slots *slots) []tool.BaseTool {
	for _, m := range metas {
		// With provider-side search the tool is not shown, but a model that copies an older
		// call of it from the history still gets an answer.
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
