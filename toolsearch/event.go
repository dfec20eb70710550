// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The events for OnEvent: changes and totals, never what stayed the same.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// The bounds of an event's parts.
const (
	maxEventNames = 20
	maxEventHits  = 10
	maxEventTerms = 5    // hits with terms
	maxEventQuery = 1000 // bytes
	maxEventErrs  = 5
)

// report reports what a model call shows.
func (h *hooks[M]) report(ctx context.Context, c *catalog, last turn.Record, out turn.Turn) {
	if c.cfg.OnEvent == nil {
		return
	}
	emitCatalog(ctx, h.run)
	if !last.All {
		c.emitVisible(ctx, last, out)
	}
	t := &h.transcript
	if e := t.forUsers.report; e != nil && t.forUsers.calls == t.facts.ModelCalls && h.run.isNew(ctx, "prefetched "+digest(e.Search.Query)) {
		c.emit(ctx, *e)
	}
}

// emitCatalog reports the catalogue at the start of a run, and what changed in it since.
func emitCatalog(ctx context.Context, r *run) {
	c := r.catalog()
	names := c.names()
	tokens, sum := c.measure()
	if !r.isNew(ctx, catalogLine+sum) {
		return
	}
	r.update(ctx, func(last *turn.Record) {
		last.Reported = slices.DeleteFunc(slices.Clone(last.Reported), func(line string) bool {
			return strings.HasPrefix(line, catalogLine) && line != catalogLine+sum
		})
	})
	added, removed := difference(names, r.reported), difference(r.reported, names)
	if len(r.reported) > 0 {
		tokens = c.tokensOf(added)
	}
	r.reported = names
	c.emit(ctx, einolean.Event{Kind: einolean.KindCatalogChanged, Tools: &einolean.ToolChange{
		Added: head(added), AddedCount: len(added), Removed: head(removed), RemovedCount: len(removed), Tokens: tokens,
	}})
}

// emitLate reports, once in a run, tools that joined it and cannot be called before the next.
func emitLate(ctx context.Context, r *run) {
	if r.slots == nil || !r.slots.KeepsNames() || r.cfg.OnEvent == nil {
		return
	}
	var late []string
	for e := range r.catalog().All() {
		if !r.slots.IsBound(e.Info.Name) {
			late = append(late, e.Info.Name)
		}
	}
	if len(late) > 0 && r.isNew(ctx, "late") {
		r.emit(ctx, einolean.Event{
			Kind: einolean.KindToolRefused, Tool: late[0],
			Err: fmt.Errorf("toolsearch: %d tools joined while the run was under way, and this version of Eino keeps the names of its tools: they can be called from the next run on", len(late)),
		})
	}
}

// emitRefused reports a Source's tool whose name is taken, once in a run.
func emitRefused(ctx context.Context, r *run, s *settings, name string) {
	if r.isNew(ctx, "refused "+name) {
		s.emit(ctx, einolean.Event{Kind: einolean.KindToolRefused, Tool: name, Err: fmt.Errorf("toolsearch: Source: another tool has the name %q", name)})
	}
}

// emitVisible reports tools that became visible or hidden since the last model call. If there was
// none, a run begins with the tools of an earlier one.
func (c *catalog) emitVisible(ctx context.Context, last turn.Record, out turn.Turn) {
	before, now, repeat := last.Visible, out.Record.Visible, !last.Began
	if added := difference(now, before); len(added) > 0 {
		change := &einolean.ToolChange{Added: head(added), AddedCount: len(added), Tokens: c.tokensOf(added)}
		if repeat {
			change.Reason = "history"
		}
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolsLoaded, Repeat: repeat, Tools: change})
	}
	if unloaded := difference(before, now); len(unloaded) > 0 {
		change := &einolean.ToolChange{Removed: head(unloaded), RemovedCount: len(unloaded), Tokens: c.tokensOf(unloaded)}
		if len(difference(unloaded, out.Unused)) == 0 {
			change.Reason = "unused"
		}
		c.emit(ctx, einolean.Event{Kind: einolean.KindToolsUnloaded, Tools: change})
	}
}

// emitNotHidden reports at the first model call of a run, by a flag in the context that the settings
// are the key of, that later handlers added tools which are marked to be hidden. r is nil where there
// is nothing to hide.
func emitNotHidden(ctx context.Context, s *settings, r *run, infos []*schema.ToolInfo) {
	by := s
	if r != nil {
		by = r.catalog().settings
	}
	done, _ := ctx.Value(s).(*atomic.Bool)
	if done == nil || done.Swap(true) || r != nil && !r.isNew(ctx, "not hidden") {
		return
	}
	var names []string
	var tokens int64
	for _, t := range infos {
		if t != nil && isMarked(t) && (r == nil || r.catalog().Lookup(t.Name) == nil) {
			names = append(names, t.Name)
			tokens += (&hidden.Tool{Info: t}).Tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	by.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsNotHidden, Tools: &einolean.ToolChange{Added: head(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, which stay visible: put this one after them"),
	})
}

// searchReport collects what happens during one search. Nil collects nothing.
type searchReport struct {
	start time.Time

	mu        sync.Mutex
	indexName string
	fallback  bool
	failed    []error
}

// reporting returns a context that collects a report of a search, if there is an OnEvent.
func reporting(ctx context.Context, cfg *Config) (context.Context, *searchReport) {
	if cfg.OnEvent == nil {
		return ctx, nil
	}
	r := &searchReport{start: time.Now()}
	return hidden.OnFailure(context.WithValue(ctx, reportKey, r), r.fail), r
}

func reportOf(ctx context.Context) *searchReport {
	s, _ := ctx.Value(reportKey).(*searchReport)
	return s
}

// fail notes that an index, or a part of one, failed.
func (s *searchReport) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < maxEventErrs {
		s.failed = append(s.failed, err)
	}
}

// answered notes the index that answered.
func (s *searchReport) answered(x index.Index, fallback bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexName = indexName(x)
	s.fallback = s.fallback || fallback
}

// emitSearched reports a search that was answered.
func emitSearched(ctx context.Context, by *run, r *searchReport, query string, hits []einolean.Hit) {
	if r == nil {
		return
	}
	r.mu.Lock()
	index, fallback, failed := r.indexName, r.fallback, slices.Clone(r.failed)
	r.mu.Unlock()
	id := callID(ctx)
	if len(failed) > 0 {
		by.emit(ctx, einolean.Event{Kind: einolean.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
	}
	by.emit(ctx, einolean.Event{Kind: einolean.KindToolsSearched, CallID: id, Search: &einolean.Search{
		Query: display.Start(query, maxEventQuery), Index: index, Took: time.Since(r.start), Fallback: fallback, Hits: hits,
	}})
}

// head is a copy of the first names, for an event; nil for none.
func head(names []string) []string {
	return append([]string(nil), names[:min(len(names), maxEventNames)]...)
}

func indexName(x index.Index) string { return strings.TrimPrefix(fmt.Sprintf("%T", x), "*") }
