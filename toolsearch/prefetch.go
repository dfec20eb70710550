// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Tools that are loaded for what a user says, before the model is called.

import (
	"context"
	"slices"
	"time"

	"github.com/leanctx/leanctx"
)

const (
	// The most that is loaded in a conversation, counted from its first message: so a longer
	// one loads the same first.
	maxPrefetched       = 50 // tools
	maxPrefetchMessages = 64

	// sureEnough is the confidence in the best result from which on tools are loaded. It is
	// low: a tool that is not needed costs some hundred tokens, and one that is missing a
	// model call.
	sureEnough = 0.02
)

// prefetched is what the messages of users loaded.
type prefetched struct {
	messages int
	tools    set
	last     *leanctx.Event // for the last message, until the model answers it
}

// prefetch loads the tools that a user's message most likely needs.
func (v *evidence) prefetch(ctx context.Context, text string, r *run) {
	g, p := r.group(), &v.prefetched
	if g.cfg.Prefetch == 0 || r.hiding.off || p.messages == maxPrefetchMessages {
		return
	}
	p.messages++
	p.last = nil
	began := time.Now()
	found, err := r.searcher(r.turn().loadable).likely(ctx, firstWords(text, maxWords), g.cfg.Prefetch)
	if err != nil {
		return
	}
	f := searchResult{}
	for _, x := range found {
		if len(p.tools) < maxPrefetched || p.tools[x.entry.info.Name] {
			f.found = append(f.found, x)
			p.tools.add(x.entry.info.Name)
			v.use(x.entry.info.Name, r)
		}
	}
	names := f.names()
	if g.cfg.OnEvent == nil || len(names) == 0 {
		return
	}
	p.last = &leanctx.Event{
		Kind:   leanctx.KindToolsPrefetched,
		Tools:  &leanctx.ToolChange{Added: head(names), AddedCount: len(names), Tokens: g.tokensOf(names)},
		Search: &leanctx.Search{Query: clippedQuery(text), Index: indexName(g.cat.index), Took: time.Since(began), Hits: f.hits()},
	}
}

// likely returns at most that many tools that a text probably asks for, best first; none
// if it is not clear that it asks for any.
func (s searcher) likely(ctx context.Context, text string, most int) ([]found, error) {
	if text == "" {
		return nil, nil
	}
	ranked, err := s.rank(ctx, text, ranking{limit: most})
	sure := slices.ContainsFunc(ranked.found, func(x found) bool { return x.confidence >= sureEnough })
	if err != nil || !sure {
		return nil, err
	}
	return ranked.found, nil
}

// emitPrefetched reports what was loaded for the message that the model is about to answer.
func (r *run) emitPrefetched(ctx context.Context, v *evidence) {
	if e := v.prefetched.last; e != nil && r.reported.first(ctx, "prefetched "+digest(e.Search.Query)) {
		r.group().emit(ctx, *e)
	}
}
