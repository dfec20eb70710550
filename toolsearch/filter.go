// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The Filter, which is asked at most once per tool, phase and model call; an error or a
// panic means no.

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
//	up to HideAbove         PhaseSearch, PhaseLoad and PhaseActive, in every model call
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

// turn is what holds from one model call to the next: the hidden tools, and what the
// Filter says of them. It is safe for concurrent use.
type turn struct {
	group    *group
	reported *reported

	mu       sync.Mutex
	verdicts map[verdictKey]*verdict
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

// begin starts a new model call: the Filter is asked again.
func (t *turn) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.verdicts = nil
}

// allowed reports whether a tool may be used for a phase in this model call.
func (t *turn) allowed(ctx context.Context, e *entry, phase Phase) bool {
	return t.group.owner(e).cfg.Filter == nil || t.verdict(ctx, e, phase).ok
}

// verdict is what the Filter of a tool's owner says in this model call.
func (t *turn) verdict(ctx context.Context, e *entry, phase Phase) *verdict {
	owner, key := t.group.owner(e), verdictKey{e, phase}
	v := t.verdictOf(key)
	v.once.Do(func() {
		v.ok, v.err = owner.callFilter(ctx, FilterRequest{Tool: e.info, Phase: phase})
		if owner.cfg.OnEvent != nil && phase != PhaseCall {
			t.reported.note(ctx, key, v)
		}
	})
	return v
}

func (t *turn) verdictOf(k verdictKey) *verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdicts == nil {
		t.verdicts = map[verdictKey]*verdict{}
	}
	v := t.verdicts[k]
	if v == nil {
		v = &verdict{}
		t.verdicts[k] = v
	}
	return v
}

// loadable reports whether a search that loads may return a tool.
func (t *turn) loadable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseSearch) && t.allowed(ctx, e, PhaseLoad)
}

// findable reports whether a search may return a tool.
func (t *turn) findable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseSearch)
}

// showable reports whether a loaded tool may be in the tool list of this model call.
func (t *turn) showable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseLoad) && t.allowed(ctx, e, PhaseActive)
}

// showableAtOnce reports whether a tool may be shown without being searched for.
func (t *turn) showableAtOnce(ctx context.Context, e *entry) bool {
	return t.findable(ctx, e) && t.showable(ctx, e)
}

// defers reports whether a tool may go out as a deferred one. Deferred ones are in the
// provider's hands: what may not be seen now does not get there.
func (t *turn) defers(ctx context.Context, e *entry) bool {
	return t.group.rules.deferAll && t.loadable(ctx, e) && t.allowed(ctx, e, PhaseActive)
}

// callable reports whether call_tool may run a tool.
func (t *turn) callable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseLoad) && t.allowed(ctx, e, PhaseCall)
}

// mayLoad reports whether load_tool may load a tool: its name can come from the list as well
// as from a search.
func (t *turn) mayLoad(ctx context.Context, e *entry) bool { return t.allowed(ctx, e, PhaseLoad) }

// nameable reports whether a hint may name a tool that nobody asked for by its name.
func (t *turn) nameable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseList) && t.allowed(ctx, e, PhaseSearch)
}

// denied reports whether the model may have seen the name of a tool, so that it is told
// that it may not use it.
func (t *turn) denied(ctx context.Context, name string) bool {
	e := t.group.cat.lookup(name)
	return e != nil && t.group.owner(e).cfg.Filter != nil && (t.allowed(ctx, e, PhaseSearch) || t.allowed(ctx, e, PhaseList))
}

// lists reports whether there is a list of names that a hint can point to.
func (t *turn) lists(ctx context.Context) bool {
	for e := range t.group.cat.entries() {
		if t.allowed(ctx, e, PhaseList) {
			return true
		}
	}
	return false
}

// listable are the names that the model may be told of now, in the order of the catalogue.
// Nobody changes the slice.
func (t *turn) listable(ctx context.Context) (names []string) {
	if t.group.isUnfiltered() {
		return t.group.plain().names
	}
	for e := range t.group.cat.entries() {
		if t.allowed(ctx, e, PhaseList) {
			names = append(names, e.info.Name)
		}
	}
	return names
}
