// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Whether a run hides its tools at all: few are cheaper to show than to search. A run that
// shows them all is like one without this package.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// hiding is whether a run hides its tools, by HideAbove. A run begins to hide when tools
// join; it never stops, since that would change the tool list and so the provider's prompt
// cache once more. It belongs to the hooks.
type hiding struct {
	known bool   // whether the run hides is decided
	off   bool   // it shows all tools
	by    *group // whose tools decided it
	shown set    // names that the model saw before the run began to hide; they stay
}

// decideHiding decides whether the run hides its tools. searched reports whether the
// conversation holds a search. began is true when the run showed all tools until now.
func (r *run) decideHiding(ctx context.Context, searched func() bool) (began bool) {
	h, most := &r.hiding, int64(r.group().cfg.HideAbove)
	if !h.known {
		h.resume(ctx)
	}
	first := !h.known
	if !first && (!h.off || h.by == r.group() && h.by.isUnfiltered()) {
		return false
	}
	tokens := r.hiddenTokens(ctx, most)
	h.known, h.by, h.off = true, r.group(), tokens <= most
	if first {
		// A conversation that was searched goes on like that until much less is hidden.
		h.off = h.off && (tokens <= most-most/5 || !searched())
		setRunLocal(ctx, showsAllKey, h.off)
		return false
	}
	if h.off {
		return false
	}
	names, _ := r.notes.lastVisible(ctx)
	h.keepShown(names)
	setRunLocal(ctx, shownKey, slices.Clone(names))
	setRunLocal(ctx, showsAllKey, false)
	r.decided = decision{}
	return true
}

// resume takes over what was decided before a checkpoint.
func (h *hiding) resume(ctx context.Context) {
	if h.off, h.known, _ = runLocal[bool](ctx, showsAllKey); h.known && !h.off {
		names, _, _ := runLocal[[]string](ctx, shownKey)
		h.keepShown(names)
	}
}

func (h *hiding) keepShown(names []string) {
	for _, name := range names {
		h.shown.add(name)
	}
}

// inPlace reports whether tools keep their places in the tool list, as those of the agent do.
func (h *hiding) inPlace() bool { return h.off || len(h.shown) > 0 }

// isUnfiltered reports whether every tool may be used by everybody.
func (g *group) isUnfiltered() bool {
	return !slices.ContainsFunc(g.members, func(m member) bool { return m.cfg.Filter != nil })
}

// hiddenTokens is the size of the definitions that hiding would leave out; of more than
// most, only that it is more.
func (r *run) hiddenTokens(ctx context.Context, most int64) (n int64) {
	for e := range r.group().cat.entries() {
		if n > most {
			break
		}
		if !r.group().isPin(e) && r.isPlain(ctx, e) {
			n += e.tokens()
		}
	}
	return n
}

// isPlain reports whether a tool may be shown without being searched for.
func (r *run) isPlain(ctx context.Context, e *entry) bool {
	return r.turn().findable(ctx, e) && r.turn().showable(ctx, e)
}

// withAll adds to the tools that a model call shows all others that it may show.
func (r *run) withAll(ctx context.Context, show []visibleTool) (all []visibleTool) {
	shown := make(map[*entry]bool, len(show))
	for _, s := range show {
		shown[s.entry] = true
	}
	for e := range r.group().cat.entries() {
		if shown[e] || r.isPlain(ctx, e) {
			all = append(all, visibleTool{entry: e})
		}
	}
	return all
}

// listInPlace makes the tool list of a run that shows all tools, or did: what is in the list
// keeps its place, and what joins comes last. Without a change, it returns the same list.
func (r *run) listInPlace(infos []*schema.ToolInfo, show visibleSet) []*schema.ToolInfo {
	shown := make(map[string]*entry, len(show.tools))
	for _, s := range show.tools {
		shown[s.entry.info.Name] = s.entry
	}
	next, listed := make([]*schema.ToolInfo, 0, len(infos)+len(show.tools)), set{}
	for _, t := range infos {
		if t == nil || isSlotName(t.Name) || show.gone[t.Name] || r.isGone(t.Name) {
			continue
		}
		if t = r.inPlace(t, shown[t.Name], show.known); t != nil {
			listed.add(t.Name)
			next = append(next, t)
		}
	}
	next = append(next, r.unlistedTools(listed, show)...)
	if infos != nil && slices.Equal(next, infos) {
		return infos
	}
	return next
}

// inPlace is what stands in place of a tool in the list; nil if nothing does. e is the
// hidden tool of its name, if it is shown. Copies are kept within a run.
func (r *run) inPlace(t *schema.ToolInfo, e *entry, known bool) *schema.ToolInfo {
	hidden := r.group().cat.lookup(t.Name)
	switch {
	case hidden != nil && e == nil, r.group().usesMetaName(t.Name) && (r.hiding.off || r.group().rules.native):
		return nil
	case e != nil && (!known || t == e.info || r.live.stale[t.Name]):
		return r.infoFor(e)
	}
	return t
}

// unlistedTools are the tools that a list lacks: search tools, and then those to show.
func (r *run) unlistedTools(listed set, show visibleSet) (infos []*schema.ToolInfo) {
	if !r.hiding.off && !r.group().rules.native {
		for _, m := range r.group().metaTools() {
			if !listed[m.name] {
				infos = append(infos, m.info())
			}
		}
	}
	for _, s := range show.tools {
		if !listed[s.entry.info.Name] && !r.wasTakenOut(s.entry) {
			infos = append(infos, r.infoFor(s.entry))
		}
	}
	return infos
}

// wasTakenOut reports whether a tool that is missing from the list was there: another
// handler took it out.
func (r *run) wasTakenOut(e *entry) bool {
	return r.hiding.off && r.agent.size > 0 && !r.group().isLive(e) && r.group().owner(e).cfg.Filter == nil
}

// infoFor is a copy of a tool's info as the list of this run has it.
func (r *run) infoFor(e *entry) *schema.ToolInfo {
	if !r.hiding.off {
		return r.group().infoOf(e)
	}
	own := shallowInfo(e.safe)
	own.ParamsOneOf = copyParams(own.ParamsOneOf)
	return own
}

// decideHiding decides whether the run hides its tools, before the messages are read.
func (t *transcript[M]) decideHiding(ctx context.Context, msgs []M) {
	searched := func() bool { return slices.ContainsFunc(msgs, t.isSearch) }
	if t.run.decideHiding(ctx, searched) {
		t.forget()
	}
}

// isSearch reports whether a message holds a search for tools, ours or the provider's.
func (t *transcript[M]) isSearch(msg M) bool {
	v := t.codec.View(msg)
	return v.Hosted || slices.ContainsFunc(v.Calls, func(c wire.Call) bool {
		return c.Marked || toolnames.IsSearchTool(c.Name) && c.Name != toolnames.Call && !t.run.agent.own[c.Name]
	})
}

// unsearching is a model that does not get the search tool of the run.
type unsearching[M adk.MessageType] struct{ model.BaseModel[M] }

// Generate calls the model.
func (u unsearching[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	return u.BaseModel.Generate(ctx, input, append(slices.Clip(opts), model.WithToolSearchTool(nil))...)
}

// Stream calls the model.
func (u unsearching[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return u.BaseModel.Stream(ctx, input, append(slices.Clip(opts), model.WithToolSearchTool(nil))...)
}
