// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What slots ask of a run.

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// slotRun is a run as its slots see it.
type slotRun struct{ *run }

// slotted is a tool as slots see it.
func (e *entry) slotted() slots.Tool {
	return slots.Tool{Name: e.info.Name, Desc: e.info.Desc, Tool: e.tool, Type: e.typ()}
}

// Lookup says what a call is for.
func (r slotRun) Lookup(c wire.Call) (slots.Tool, slots.Kind) {
	hidden := r.catalog()
	isOurs := toolnames.IsSearchTool(c.Name) || c.Name == toolnames.Run
	known := r.own[c.Name] != nil || hidden.usesMetaName(c.Name)
	switch e := hidden.lookup(c.Name); {
	case isOurs && !known && e == nil:
		return slots.Tool{}, slots.Gone // of the protocol under which the history was written: it gets an answer
	case c.Name == toolnames.Call && r.callsEnhanced(c):
		return slots.Tool{}, slots.Enhanced
	case e != nil:
		return e.slotted(), slots.Hidden
	case r.isGone(c.Name):
		return slots.Tool{}, slots.Gone
	case known:
		return slots.Tool{}, slots.Other
	}
	return slots.Tool{}, slots.Unknown
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func (r slotRun) callsEnhanced(c wire.Call) bool {
	if !r.catalog().settings.cfg.Protocol.neverLoads() {
		return false
	}
	e := r.catalog().resolve(toolnames.Called(lenient.Decode(c.Args)), func(*entry) bool { return true })
	return e != nil && slots.IsEnhanced(e.tool)
}

// Names are the hidden tools, those that the model sees first.
func (r slotRun) Names(ctx context.Context) iter.Seq[string] {
	now, _ := r.now(ctx)
	return func(yield func(string) bool) {
		for _, name := range now.Visible {
			if r.catalog().lookup(name) != nil && !yield(name) {
				return
			}
		}
		for e := range r.catalog().entries() {
			if !yield(e.info.Name) {
				return
			}
		}
	}
}

// Admit decides about a call of a hidden tool.
func (r slotRun) Admit(ctx context.Context, name string) (answer string, stop bool) {
	return r.gate(ctx, r.catalog().lookup(name))
}

// Answer answers the call of a tool that is gone, or that got no slot.
func (r slotRun) Answer(ctx context.Context, name string, why slots.Kind) string {
	text, ok := map[slots.Kind]string{slots.TooMany: "too-many-tools", slots.Later: "from-next-run"}[why]
	if !ok {
		return r.noSuchTool(ctx, name)
	}
	r.note(callID(ctx), callNote{tool: name, refused: true})
	virtual.Fail(ctx, callID(ctx))
	return render(text, promptData{Name: cmp.Or(r.call(callID(ctx)).tool, name)})
}

// Kept are the names of calls in a checkpoint. Those of tools that no longer exist get an answer.
func (r slotRun) Kept(ctx context.Context, interrupted []wire.Call) (names []string, known bool) {
	kept, _ := r.now(ctx)
	for _, name := range kept.Bound {
		called := slices.ContainsFunc(interrupted, func(c wire.Call) bool { return c.Name == name })
		if r.catalog().lookup(name) == nil && (called || len(interrupted) == 0) {
			r.noteHad(name)
		}
	}
	return kept.Bound, kept.Began
}
