// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the search tool in native mode, and the tool lists of a native model call.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// nativeTool is the search tool in native mode: its results are the provider's.
type nativeTool struct{ t *metaTool }

func (n nativeTool) groupOf() *group { return n.t.group }

// Info describes the tool.
func (n nativeTool) Info(ctx context.Context) (*schema.ToolInfo, error) { return n.t.Info(ctx) }

// InvokableRun answers a search with the infos of the found tools.
func (n nativeTool) InvokableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, a := n.t.run(ctx), decodeArguments(argumentText(args))
	f, err := r.find(ctx, queriesOf(a), a.number(limitKeys...), r.loadable, nameSize)
	if err != nil {
		return nil, err
	}
	c := r.group.contract
	text, fresh := f.hint(), f.found
	if c.newOnly {
		fresh = r.reserve(ctx, f.found)
	}
	if len(fresh) == 0 && len(f.found) > 0 {
		text = strings.TrimSpace(say("already-loaded", hint{Words: f.names()}) + " " + text)
	}
	if len(fresh) == 0 && (c.emptyAsText || c.name == "" && text != "") {
		return textResult(text), nil
	}
	infos := make([]*schema.ToolInfo, len(fresh))
	names := make([]string, len(fresh))
	for i, x := range fresh {
		infos[i], names[i] = r.infoOf(x.entry), x.entry.info.Name
	}
	r.answer(compose.GetToolCallID(ctx), names) // an empty answer is ours too
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}

// reserve keeps those tools that no result in the conversation has returned, and no other
// search of this turn is about to return.
func (r *run) reserve(ctx context.Context, list []found) []found {
	loaded := r.loadedFunc(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []found
	for _, x := range list {
		name := x.entry.info.Name
		if loaded != nil && loaded(name) || r.reserved[name] {
			continue
		}
		if r.reserved == nil {
			r.reserved = map[string]bool{}
		}
		r.reserved[name] = true
		fresh = append(fresh, x)
	}
	return fresh
}

// emptyNote says what to do after a search that found nothing, where the provider's form of
// a result has no room for it.
func (r *run) emptyNote(ctx context.Context, c *call) string {
	a := decodeArguments(c.args)
	f, err := r.look(ctx, queriesOf(a), a.number(limitKeys...), r.loadable)
	if text := f.hint(); err == nil && text != "" {
		return text
	}
	return say("no-match", hint{Listed: r.lists(ctx)})
}

// infoOf is a copy of a tool's info in the form that goes to the model.
func (r *run) infoOf(e *entry) *schema.ToolInfo {
	own := r.shallowOf(e)
	own.ParamsOneOf = copyParams(own.ParamsOneOf)
	return own
}

// shallowOf is infoOf with the schema of the tool itself, for lists of all hidden tools.
func (r *run) shallowOf(e *entry) *schema.ToolInfo {
	if r.group.contract.name == "" {
		return shallowInfo(e.safe)
	}
	return e.native()
}

// noParams takes the place of no parameters at all, which some adapters cannot send.
func noParams() *schema.ParamsOneOf {
	return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})
}

// native is a copy of the info that may be deferred: providers refuse a deferred tool that
// is also a place to cache up to.
func (e *entry) native() *schema.ToolInfo {
	own := shallowInfo(e.safe)
	if own.ParamsOneOf == nil {
		own.ParamsOneOf = noParams()
	}
	for _, key := range cacheKeys {
		delete(own.Extra, key)
	}
	return own
}

// cacheKeys are the keys of ToolInfo.Extra under which the claude and the agenticclaude
// adapter keep a cache breakpoint.
var cacheKeys = []string{"_eino_claude_breakpoint", "_eino_claude_breakpoint_ttl", "_agenticclaude_cache_control_ttl"}

// plainly are the tools that a native model call must show in full, because nothing in the
// history shows them to the provider: they were loaded by a search of another kind, or by
// being called. What the provider loaded by itself is its own affair.
func (r *run) plainly(v *evidence, show showing) []shownTool {
	c := r.group.contract
	if c.name == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(show.tools), func(s shownTool) bool {
		name := s.entry.info.Name
		return v.natively[name] || !c.clientRuns && !v.textually[name]
	})
}

// deferred is the list of deferred tools: what others put there, and all hidden tools that
// are not shown in full.
func (r *run) deferred(ctx context.Context, infos []*schema.ToolInfo, v *evidence, plain []shownTool) []*schema.ToolInfo {
	next := without(infos, r.group.cat)
	for _, e := range r.group.cat.entries {
		inFull := slices.ContainsFunc(plain, func(s shownTool) bool { return s.entry == e })
		if !inFull && (v.natively[e.info.Name] || r.defers(ctx, e)) {
			next = append(next, r.shallowOf(e))
		}
	}
	return next
}

// defers reports whether a tool may go out as a deferred one. Deferred ones are in the
// provider's hands: what may not be seen now does not get there.
func (r *run) defers(ctx context.Context, e *entry) bool {
	return r.group.contract.deferAll && r.loadable(ctx, e) && r.allowed(ctx, e, PhaseActive)
}
