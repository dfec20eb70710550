// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the Filter, and asks it: at most once per tool, phase and model call,
// taking an error or a panic for a no.

import (
	"context"
	"sync"

	"github.com/cloudwego/eino/schema"
)

// Phase says what a Filter is asked for. Each way to a tool asks for these:
//
//	the reminder            PhaseList
//	names in hints          PhaseList and PhaseSearch, besides those of the answer they stand in
//	search_tools            PhaseSearch
//	tool_search, select:    PhaseSearch and PhaseLoad
//	load_tool               PhaseLoad
//	native, deferred tools  PhaseSearch, PhaseLoad and PhaseActive
//	the tool list           PhaseLoad and PhaseActive, in every model call
//	call_tool               PhaseLoad and PhaseCall
//	a call, loaded          PhaseCall
//	a call, not loaded      PhaseCall, PhaseLoad and PhaseActive: it loads the tool
//
// A name that the model may have seen, because PhaseList or PhaseSearch allows it, is
// answered "you may not use it" where another phase denies it. A tool that both deny is
// answered like one that does not exist.
type Phase string

const (
	// PhaseList asks whether the tool's name may stand in the reminder and in hints.
	PhaseList Phase = "list"
	// PhaseSearch asks whether a search may find the tool.
	PhaseSearch Phase = "search"
	// PhaseLoad asks whether the tool may be loaded.
	PhaseLoad Phase = "load"
	// PhaseActive asks whether a loaded tool is visible in this model call.
	PhaseActive Phase = "active"
	// PhaseCall asks whether a call to the tool may run.
	PhaseCall Phase = "call"
)

// FilterRequest is one question to a Filter.
type FilterRequest struct {
	// Tool is the tool in question. Read only.
	Tool *schema.ToolInfo
	// Phase is what it is about to be used for.
	Phase Phase
}

// Filter says whether a tool may be used for a phase. An error or a panic means no.
// It is asked at most once per tool, phase and model call, with the context of the
// run, and must be safe for concurrent use. Phase says which way to a tool asks what. A
// tool that is denied in every phase shows up nowhere: not in names, counts, hints or
// suggestions; a call to it is answered like a call to a tool that does not exist.
type Filter func(ctx context.Context, req FilterRequest) (bool, error)

// verdicts remembers what the Filter said since the last model call.
type verdicts struct {
	mu   sync.Mutex
	said map[verdictKey]*verdict
}

type verdictKey struct {
	entry *entry
	phase Phase
}

// verdict is asked for once; others who want it meanwhile wait.
type verdict struct {
	once sync.Once
	ok   bool
	err  error
}

// forget starts a new model call.
func (v *verdicts) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = nil
}

func (v *verdicts) of(k verdictKey) *verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.said == nil {
		v.said = map[verdictKey]*verdict{}
	}
	d := v.said[k]
	if d == nil {
		d = &verdict{}
		v.said[k] = d
	}
	return d
}

// allowed reports whether a tool may be used for a phase in this model call.
func (r *run) allowed(ctx context.Context, e *entry, phase Phase) bool {
	return r.group.owner(e).cfg.Filter == nil || r.verdict(ctx, e, phase).ok
}

// verdict is what the Filter of a tool's owner says in this model call.
func (r *run) verdict(ctx context.Context, e *entry, phase Phase) *verdict {
	owner, key := r.group.owner(e), verdictKey{e, phase}
	v := r.verdicts.of(key)
	v.once.Do(func() {
		v.ok, v.err = owner.callFilter(ctx, FilterRequest{Tool: e.info, Phase: phase})
		if owner.cfg.OnEvent != nil && phase != PhaseCall {
			r.reported.note(ctx, key, v)
		}
	})
	return v
}

// loadable reports whether a search that loads may return a tool.
func (r *run) loadable(ctx context.Context, e *entry) bool {
	return r.allowed(ctx, e, PhaseSearch) && r.allowed(ctx, e, PhaseLoad)
}

// findable reports whether a search may return a tool.
func (r *run) findable(ctx context.Context, e *entry) bool {
	return r.allowed(ctx, e, PhaseSearch)
}

// callable reports whether call_tool may run a tool.
func (r *run) callable(ctx context.Context, e *entry) bool {
	return r.allowed(ctx, e, PhaseLoad) && r.allowed(ctx, e, PhaseCall)
}

// mayLoad reports whether load_tool may load a tool: its name can come from the list as well
// as from a search.
func (r *run) mayLoad(ctx context.Context, e *entry) bool { return r.allowed(ctx, e, PhaseLoad) }

// nameable reports whether a hint may name a tool that nobody asked for by its name.
func (r *run) nameable(ctx context.Context, e *entry) bool {
	return r.allowed(ctx, e, PhaseList) && r.allowed(ctx, e, PhaseSearch)
}

// denied reports whether the model may have seen the name of a tool, so that it is told
// that it may not use it.
func (r *run) denied(ctx context.Context, name string) bool {
	e := r.group.cat.byName[name]
	return e != nil && r.group.owner(e).cfg.Filter != nil && (r.allowed(ctx, e, PhaseSearch) || r.allowed(ctx, e, PhaseList))
}

// lists reports whether there is a list of names that a hint can point to.
func (r *run) lists(ctx context.Context) bool {
	for _, e := range r.group.cat.entries {
		if r.allowed(ctx, e, PhaseList) {
			return true
		}
	}
	return false
}
