// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file asks the user's Filter: at most once per tool, phase and model call, and
// taking an error or a panic for a no.

import (
	"context"
	"sync"
)

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
