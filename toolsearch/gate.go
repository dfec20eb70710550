// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The gate: whether a call to a hidden tool may run, and the answer if it may not.

import (
	"context"

	"github.com/leanctx/leanctx"
)

// gate reports whether a call must not run, and the answer to it. A call to a tool that
// is not loaded is answered with the tool's schema. With that call in the history the
// tool counts as loaded, and the model can repeat the call at once.
func (r *run) gate(ctx context.Context, e *entry) (answer string, stop bool) {
	// A tool of the same name may have replaced it meanwhile.
	t := r.turn()
	if e = t.group.cat.lookup(e.info.Name); e == nil {
		return "", false // not a run of ours
	}
	if !t.allowed(ctx, e, PhaseCall) {
		t.emitDeniedCall(ctx, e, PhaseCall)
		return r.noSuchTool(ctx, e.info.Name), true
	}
	r.notes.reach(callID(ctx), e.info.Name)
	if t.group.ungated() || ctx.Value(passedKey{}) == e.info.Name || r.agent.direct[e.info.Name] || r.notes.sees(ctx, e.info.Name) {
		return "", false
	}
	if !t.allowed(ctx, e, PhaseLoad) || !t.allowed(ctx, e, PhaseActive) {
		t.emitDeniedCall(ctx, e, PhaseLoad, PhaseActive)
		return r.noSuchTool(ctx, e.info.Name), true
	}
	t.group.owner(e).emit(ctx, leanctx.Event{Kind: leanctx.KindCallGated, Tool: e.info.Name, CallID: callID(ctx)})
	text := "gate"
	if t.group.settings.rules.neverLoads {
		text = "gate-call"
	}
	return render(text, e.schemaHint("")), true
}

// emitDeniedCall reports a call to a tool that a phase denies.
func (t *turn) emitDeniedCall(ctx context.Context, e *entry, phases ...Phase) {
	owner := t.group.owner(e)
	if owner.cfg.OnEvent == nil || owner.cfg.Filter == nil {
		return
	}
	for _, phase := range phases {
		if v := t.verdict(ctx, e, phase); !v.ok {
			owner.emit(ctx, leanctx.Event{
				Kind: leanctx.KindToolsDenied, Tool: e.info.Name, CallID: callID(ctx), Err: v.err,
				Tools: &leanctx.ToolChange{Added: []string{e.info.Name}, AddedCount: 1, Tokens: e.tokens(), Phase: string(phase)},
			})
			return
		}
	}
}

// passedKey marks a context in which call_tool has let a call through.
type passedKey struct{}

// schemaHint is the part of an answer that describes a tool's schema.
func (e *entry) schemaHint(reason string) promptData {
	text, shortened := e.shownParameters()
	return promptData{Name: e.info.Name, Reason: reason, Schema: text, Shortened: shortened}
}

// noSuchTool is the answer to a call of an unknown tool, or of one that the caller may
// not know of. If the caller knows the tool, the answer is that it may not use it.
func (r *run) noSuchTool(ctx context.Context, name string) string {
	r.notes.refuse(callID(ctx))
	t := r.turn()
	if t.mayKnow(ctx, name) {
		return render("not-allowed", promptData{Name: name})
	}
	near := t.group.cat.near(name, maxSuggestions, func(e *entry) bool {
		return e.info.Name != name && t.loadableBySearch(ctx, e) && t.nameable(ctx, e)
	})
	return render("no-such-tool", promptData{Name: name, Near: near})
}
