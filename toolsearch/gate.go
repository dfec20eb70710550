// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file decides whether a call to a hidden tool may run.

import (
	"context"

	"github.com/cloudwego/eino/compose"

	"github.com/leanctx/leanctx"
)

// gate reports whether a call must not run, and what the model is told instead. A call
// to a tool that is not loaded gets the tool's schema: with that call in the history the
// tool counts as loaded, so that the model can repeat the call at once.
func gate(ctx context.Context, e *entry) (answer string, stop bool) {
	r := runOf(ctx)
	if r == nil || r.group.cat.byName[e.info.Name] != e {
		return "", false // not a run of ours
	}
	if !r.allowed(ctx, e, PhaseCall) {
		r.tellDeniedCall(ctx, e, PhaseCall)
		return r.noSuchTool(ctx, e.info.Name), true
	}
	r.reach(compose.GetToolCallID(ctx), e.info.Name)
	if r.ungated() || ctx.Value(proxyKey{}) == e || r.direct[e.info.Name] || r.sees(ctx, e.info.Name) {
		return "", false
	}
	if !r.allowed(ctx, e, PhaseLoad) || !r.allowed(ctx, e, PhaseActive) {
		r.tellDeniedCall(ctx, e, PhaseLoad, PhaseActive)
		return r.noSuchTool(ctx, e.info.Name), true
	}
	r.group.owner(e).emit(ctx, leanctx.Event{Kind: leanctx.KindCallGated, Tool: e.info.Name, CallID: compose.GetToolCallID(ctx)})
	text := "gate"
	if r.group.contract.neverLoads {
		text = "gate-call"
	}
	return say(text, e.schemaHint("")), true
}

// ungated reports whether the gate is open: by the user's choice, because the provider
// loads tools where we cannot see it, or because the tool list never shows them.
func (r *run) ungated() bool {
	return r.group.cfg.AllowUnloadedCalls || r.group.contract.providerLoads
}

// noSuchTool is the answer to a call of a tool that does not exist, or that the caller
// may not know of; one that it knows of it may not use.
func (r *run) noSuchTool(ctx context.Context, name string) string {
	r.refuse(compose.GetToolCallID(ctx))
	if r.denied(ctx, name) {
		return say("not-allowed", hint{Name: name})
	}
	near := r.group.cat.near(name, maxSuggestions, func(e *entry) bool {
		return e.info.Name != name && r.loadable(ctx, e) && r.nameable(ctx, e)
	})
	return say("no-such-tool", hint{Name: name, Near: near})
}

// findable reports whether a search may return a tool.
func (r *run) findable(ctx context.Context, e *entry) bool {
	return r.allowed(ctx, e, PhaseSearch)
}
