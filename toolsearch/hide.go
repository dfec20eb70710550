// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Whether a run hides its tools at all: a few are cheaper to show than to search. A run that
// shows them all behaves as if this package were absent.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// hiding records whether a run hides its tools, by HideAbove. A run may begin to hide when
// tools join but never stops, since that would change the tool list, and with it the
// provider's prompt cache, a second time. It belongs to the hooks.
type hiding struct {
	decided  bool      // whether the run hides is decided
	showsAll bool      // it hides none
	by       *group    // whose tools the decision covers
	staying  stringSet // names that the model saw before the run began to hide; they stay
}

// decide decides whether the run hides its tools. visible are the tools that the model saw in
// its last call; searched reports whether the conversation holds a search. began is true if
// the run showed all tools until now.
func (h *hiding) decide(ctx context.Context, t *turn, visible []string, searched func() bool) (began bool) {
	most := int64(t.group.settings.cfg.HideAbove)
	if !h.decided {
		h.resume(ctx)
	}
	first := !h.decided
	if !first && (!h.showsAll || h.by == t.group && h.by.isUnfiltered()) {
		return false
	}
	tokens := t.hiddenTokens(ctx, most)
	h.decided, h.by, h.showsAll = true, t.group, tokens <= most
	if first {
		// After a search, a conversation keeps hiding until far fewer tokens are hidden.
		h.showsAll = h.showsAll && (tokens <= most-most/5 || !searched())
		setRunLocal(ctx, showsAllKey, h.showsAll)
		return false
	}
	if h.showsAll {
		return false
	}
	h.keep(visible)
	setRunLocal(ctx, shownKey, slices.Clone(visible))
	setRunLocal(ctx, showsAllKey, false)
	return true
}

// resume restores the decision from before a checkpoint.
func (h *hiding) resume(ctx context.Context) {
	if h.showsAll, h.decided, _ = runLocal[bool](ctx, showsAllKey); h.decided && !h.showsAll {
		names, _, _ := runLocal[[]string](ctx, shownKey)
		h.keep(names)
	}
}

func (h *hiding) keep(names []string) {
	for _, name := range names {
		h.staying.add(name)
	}
}

// inPlace reports whether tools keep their places in the tool list, as those of the agent do.
func (h *hiding) inPlace() bool { return h.showsAll || len(h.staying) > 0 }

// hiddenTokens is the size of the definitions that hiding leaves out. It stops counting above
// most.
func (t *turn) hiddenTokens(ctx context.Context, most int64) (n int64) {
	for e := range t.group.cat.entries() {
		if n > most {
			break
		}
		if !t.group.isPin(e) && t.showableAtOnce(ctx, e) {
			n += e.tokens()
		}
	}
	return n
}

// isSearch reports whether a message holds a search for tools, ours or the provider's.
func (t *transcript[M]) isSearch(msg M) bool {
	v := t.codec.View(msg)
	return v.Hosted || slices.ContainsFunc(v.Calls, func(c wire.Call) bool {
		return c.Marked || toolnames.IsSearchTool(c.Name) && c.Name != toolnames.Call && !t.run.agent.own[c.Name]
	})
}

// unsearching is a model that does not get the run's search tool.
type unsearching[M adk.MessageType] struct{ model.BaseModel[M] }

// Generate calls the model.
func (u unsearching[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	return u.BaseModel.Generate(ctx, input, append(slices.Clip(opts), model.WithToolSearchTool(nil))...)
}

// Stream calls the model.
func (u unsearching[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return u.BaseModel.Stream(ctx, input, append(slices.Clip(opts), model.WithToolSearchTool(nil))...)
}
