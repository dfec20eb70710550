// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The Filter: its phases, which uses of a tool need which phases, and its verdicts in a model call.

import (
	"context"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

// Phase is the use that a Filter decides about. Each use of a tool needs these phases:
//
//	the list of names       PhaseList
//	names in hints          PhaseList and PhaseSearch, and those of the answer they stand in
//	search_tools            PhaseSearch
//	tool_search, select:    PhaseSearch and PhaseLoad
//	load_tool               PhaseLoad
//	native, deferred tools  PhaseSearch, PhaseLoad and PhaseActive
//	the tool list           PhaseLoad and PhaseActive, in every model call
//	up to MinTokensToHide         PhaseSearch, PhaseLoad and PhaseActive, in every model call
//	call_tool               PhaseLoad and PhaseCall
//	SearchCall, direct call PhaseLoad and PhaseCall, as for call_tool
//	a call, loaded          PhaseCall
//	a call, not loaded      PhaseCall, PhaseLoad and PhaseActive: it loads the tool
//	a call of a program     PhaseLoad and PhaseCall, with FilterRequest.InProgram
//
// A direct call is one by the tool's own name. Under SearchCall it runs if its arguments fit the
// schema, and is answered with the schema otherwise: no tool is loaded.
//
// A direct call of a tool that is not loaded runs at once, and needs only PhaseCall, if
// Config.AllowUnloadedCalls is set, if the provider loads tools by itself, or if the
// result of the tool ends the run (ReturnDirectly).
//
// If the model may have seen a name, because PhaseList or PhaseSearch allows it, and
// another phase denies the tool, the answer is "you may not use it". If both deny a
// tool, the answer is that for a tool that does not exist. A program always reads
// that the tool does not exist.
type Phase string

const (
	// PhaseList asks whether the tool's name may stand in the list of hidden tools and in hints.
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
	// InProgram says that a program calls the tool, so that its result may go to another
	// tool without a model seeing it. Only PhaseLoad and PhaseCall are asked with it.
	InProgram bool
}

// Filter says whether a tool may be used for a phase. An error or a panic means no. It
// is asked each question, which is a FilterRequest, at most once per model call, with the
// run's context, and must be safe for concurrent use. Each batch of calls of a program
// counts as a model call. The table at Phase says which use of a tool asks for which
// phases. A tool that is denied in every phase shows up nowhere: not in names, counts,
// hints or suggestions; a call to it is answered like a call to a tool that does not
// exist.
type Filter func(ctx context.Context, req FilterRequest) (bool, error)

// phases are the phases of one use of a tool, in the order in which the Filter is asked.
type phases []FilterRequest

// The uses in the table at Phase.
var (
	phasesList       = phases{{Phase: PhaseList}}
	phasesHint       = phases{{Phase: PhaseList}, {Phase: PhaseSearch}} // in addition to those of the answer with the hint
	phasesSearch     = phases{{Phase: PhaseSearch}}
	phasesFind       = phases{{Phase: PhaseSearch}, {Phase: PhaseLoad}} // by a search that loads what it finds
	phasesLoad       = phases{{Phase: PhaseLoad}}
	phasesUnsearched = phases{{Phase: PhaseSearch}, {Phase: PhaseLoad}, {Phase: PhaseActive}} // without a search
	phasesShow       = phases{{Phase: PhaseLoad}, {Phase: PhaseActive}}
	phasesCall       = phases{{Phase: PhaseCall}}
	phasesCallTool   = phases{{Phase: PhaseLoad}, {Phase: PhaseCall}}

	phasesProgram = phases{{Phase: PhaseLoad, InProgram: true}, {Phase: PhaseCall, InProgram: true}}
)

// filterCache has the verdicts of the Filter in one model call. Without a Filter, everything is allowed.
type filterCache struct {
	cache runstate.FilterCache[FilterRequest]
}

// reset begins a new model call.
func (f *filterCache) reset() { f.cache.Reset() }

// firstDenied returns the first phase that is denied for a tool, with the Filter's error; "" if all are allowed.
func (f *filterCache) firstDenied(ctx context.Context, e *catalog.Tool, phases phases) (Phase, error) {
	if f.cache.Filter == nil {
		return "", nil
	}
	for _, req := range phases {
		req.Tool = e.Info
		if ok, err := f.cache.Verdict(ctx, req); !ok {
			return req.Phase, err
		}
	}
	return "", nil
}

// allows reports whether all of the phases are allowed for a tool.
func (f *filterCache) allows(ctx context.Context, e *catalog.Tool, phases phases) bool {
	phase, _ := f.firstDenied(ctx, e, phases)
	return phase == ""
}

// predicate returns a function that reports whether all of the phases are allowed for a tool.
func (f *filterCache) predicate(ctx context.Context, phases phases) func(*catalog.Tool) bool {
	return func(e *catalog.Tool) bool { return f.allows(ctx, e, phases) }
}

// mayReveal reports whether the model may have seen the name of a tool, so that an answer may say that the tool exists
// but is not allowed.
func (f *filterCache) mayReveal(ctx context.Context, e *catalog.Tool) bool {
	return f.cache.Filter != nil && (f.allows(ctx, e, phasesSearch) || f.allows(ctx, e, phasesList))
}
