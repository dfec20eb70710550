// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The events for OnEvent: changes and totals, never what stayed the same.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/safe"
)

// emit hands an event to OnEvent.
func (s *settings) emit(ctx context.Context, ev leanctx.Event) {
	if s.cfg.OnEvent == nil {
		return
	}
	ev.Time = time.Now()
	_ = safe.Call("OnEvent", func() error { s.cfg.OnEvent(ctx, ev); return nil })
}

// The bounds of an event's parts.
const (
	maxEventNames = 20
	maxEventHits  = 10
	maxEventTerms = 5 // hits with terms
	maxEventQuery = 1000
	maxEventErrs  = 5

	// maxDeniedSets is how many changed sets one model call reports; others wait for the next.
	// With the events for loaded and unloaded tools, that makes at most four.
	maxDeniedSets = 2
)

// reported is what the events of a run have reported already. It survives a checkpoint as
// a run-local value: a resumed run repeats nothing.
type reported struct {
	mu      sync.Mutex
	isRead  bool            // the run-local value has been read
	done    map[string]bool // reports made, by the keys below
	pending map[verdictKey]error

	names []string // the tools of the catalogue as it was reported last; the hooks' own
}

type verdictKey struct {
	entry *entry
	phase Phase
}

func (k verdictKey) line() string { return "denied " + string(k.phase) + " " + k.entry.info.Name }

const (
	catalogLine = "catalog " // and what tells catalogues apart
	storeLine   = "store"
)

// restore must be called with the lock held.
func (d *reported) restore(ctx context.Context) {
	if d.isRead {
		return
	}
	d.isRead, d.done, d.pending = true, map[string]bool{}, map[verdictKey]error{}
	lines, _, _ := runLocal[[]string](ctx, reportedKey)
	for _, line := range lines {
		d.done[line] = true
	}
}

// save must be called with the lock held.
func (d *reported) save(ctx context.Context) {
	lines := slices.AppendSeq(make([]string, 0, len(d.done)), maps.Keys(d.done))
	slices.Sort(lines)
	setRunLocal(ctx, reportedKey, lines)
}

// isNew reports whether something has not been reported in this run, and notes that it is.
func (d *reported) isNew(ctx context.Context, line string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restore(ctx)
	if d.done[line] {
		return false
	}
	d.done[line] = true
	d.save(ctx)
	return true
}

// noteVerdict records the Filter's verdict on a tool, and the change if there is one.
func (d *reported) noteVerdict(ctx context.Context, k verdictKey, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restore(ctx)
	if ok == d.done[k.line()] {
		d.pending[k] = err
	} else {
		delete(d.pending, k)
	}
}

// takeChanges removes the changes of one owner's tools in one phase. The names are in the order
// of the catalogue.
func (d *reported) takeChanges(g *group, owner *settings, phase Phase) (denied, allowed []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == 0 {
		return nil, nil, nil
	}
	for e := range g.cat.entries() {
		k := verdictKey{e, phase}
		why, changed := d.pending[k]
		if !changed || g.owner(e) != owner {
			continue
		}
		delete(d.pending, k)
		if name, line := e.info.Name, k.line(); d.done[line] {
			allowed = append(allowed, name)
			delete(d.done, line)
		} else {
			denied = append(denied, name)
			d.done[line] = true
		}
		if err == nil {
			err = why
		}
	}
	return denied, allowed, err
}

// emitCatalog reports the catalogue at the start of a run, and what changed in it since.
func (d *reported) emitCatalog(ctx context.Context, g *group) {
	if g.settings.cfg.OnEvent == nil {
		return
	}
	names := g.cat.names()
	tokens, sum := g.cat.measure()
	if !d.isNewCatalog(ctx, sum) {
		return
	}
	added, removed := difference(names, d.names), difference(d.names, names)
	if len(d.names) > 0 {
		tokens = g.cat.tokensOf(added)
	}
	d.names = names
	g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindCatalogChanged, Tools: &leanctx.ToolChange{
		Added: head(added), AddedCount: len(added), Removed: head(removed), RemovedCount: len(removed), Tokens: tokens,
	}})
}

// emitRefused reports a Source's tool whose name is taken, once in a run.
func (d *reported) emitRefused(ctx context.Context, s *settings, name string) {
	if s.cfg.OnEvent != nil && d.isNew(ctx, "refused "+name) {
		s.emit(ctx, leanctx.Event{Kind: leanctx.KindToolRefused, Tool: name, Err: fmt.Errorf("toolsearch: Source: another tool has the name %q", name)})
	}
}

// isNewCatalog reports whether the catalogue differs from the one reported last.
func (d *reported) isNewCatalog(ctx context.Context, digest string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restore(ctx)
	if d.done[catalogLine+digest] {
		return false
	}
	maps.DeleteFunc(d.done, func(line string, _ bool) bool { return strings.HasPrefix(line, catalogLine) })
	d.done[catalogLine+digest] = true
	d.save(ctx)
	return true
}

// emitVisible reports tools that became visible or hidden. repeat says that a run begins with
// the tools of an earlier one; unused are those that were not used for too long.
func (g *group) emitVisible(ctx context.Context, before, now, unused []string, repeat bool) {
	if g.settings.cfg.OnEvent == nil || slices.Equal(before, now) {
		return
	}
	if added := difference(now, before); len(added) > 0 {
		c := &leanctx.ToolChange{Added: head(added), AddedCount: len(added), Tokens: g.cat.tokensOf(added)}
		if repeat {
			c.Reason = "history"
		}
		g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsLoaded, Repeat: repeat, Tools: c})
	}
	if unloaded := difference(before, now); len(unloaded) > 0 {
		c := &leanctx.ToolChange{Removed: head(unloaded), RemovedCount: len(unloaded), Tokens: g.cat.tokensOf(unloaded)}
		if len(difference(unloaded, unused)) == 0 {
			c.Reason = "unused"
		}
		g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsUnloaded, Tools: c})
	}
}

// emitNotHidden reports at the first model call of a run that later handlers added tools
// which are marked to be hidden. g is nil where the instances have nothing to hide.
func (s *settings) emitNotHidden(ctx context.Context, g *group, infos []*schema.ToolInfo) {
	if s.cfg.OnEvent == nil || !s.cfg.DeferMarkedTools {
		return
	}
	if done, _, err := runLocal[bool](ctx, notHiddenKey); done || err != nil {
		return
	}
	setRunLocal(ctx, notHiddenKey, true)
	var names []string
	var tokens int64
	for _, t := range infos {
		if t == nil || !isMarked(t) {
			continue
		}
		if g == nil || g.cat.lookup(t.Name) == nil {
			names = append(names, t.Name)
			tokens += (&entry{info: t}).tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	s.emit(ctx, leanctx.Event{
		Kind: leanctx.KindToolsNotHidden, Tools: &leanctx.ToolChange{Added: head(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, which stay visible: put this one after them"),
	})
}

// emitDenied reports the sets of denied tools that changed since the last model call.
func (d *reported) emitDenied(ctx context.Context, g *group) {
	changed := false
	for _, m := range g.members {
		if m.settings.cfg.OnEvent == nil || m.settings.cfg.Filter == nil {
			continue
		}
		sets := 0
		for _, phase := range []Phase{PhaseList, PhaseSearch, PhaseLoad, PhaseActive} {
			if sets == maxDeniedSets {
				break
			}
			denied, allowed, err := d.takeChanges(g, m.settings, phase)
			if len(denied)+len(allowed) == 0 {
				continue
			}
			sets, changed = sets+1, true
			m.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsDenied, Err: err, Tools: &leanctx.ToolChange{
				Added: head(denied), AddedCount: len(denied), Removed: head(allowed), RemovedCount: len(allowed),
				Tokens: g.cat.tokensOf(denied) + g.cat.tokensOf(allowed), Phase: string(phase),
			}})
		}
	}
	if changed {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.save(ctx)
	}
}

// searchReport collects what happens during one search. Nil collects nothing.
type searchReport struct {
	start time.Time

	mu        sync.Mutex
	indexName string
	fallback  bool
	failed    []error
}

type searchReportKey struct{}

// reporting returns a context that collects a report of a search, if there is an OnEvent.
func (s *settings) reporting(ctx context.Context) (context.Context, *searchReport) {
	if s.cfg.OnEvent == nil {
		return ctx, nil
	}
	r := &searchReport{start: time.Now()}
	return context.WithValue(ctx, searchReportKey{}, r), r
}

func reportOf(ctx context.Context) *searchReport {
	s, _ := ctx.Value(searchReportKey{}).(*searchReport)
	return s
}

// fail notes that an index, or a part of one, failed.
func (s *searchReport) fail(err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < maxEventErrs {
		s.failed = append(s.failed, err)
	}
}

// answered notes the index that answered.
func (s *searchReport) answered(x Index, fallback bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexName = indexName(x)
	s.fallback = s.fallback || fallback
}

// emitSearched reports a search that was answered.
func (s *settings) emitSearched(ctx context.Context, r *searchReport, query string, hits []leanctx.Hit) {
	if r == nil {
		return
	}
	r.mu.Lock()
	index, fallback, failed := r.indexName, r.fallback, slices.Clone(r.failed)
	r.mu.Unlock()
	id := callID(ctx)
	if len(failed) > 0 {
		s.emit(ctx, leanctx.Event{Kind: leanctx.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
	}
	s.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsSearched, CallID: id, Search: &leanctx.Search{
		Query: clippedQuery(query), Index: index, Took: time.Since(r.start), Fallback: fallback, Hits: hits,
	}})
}

// head is a copy of the first names, for an event; nil for none.
func head(names []string) []string {
	return append([]string(nil), names[:min(len(names), maxEventNames)]...)
}

func clippedQuery(query string) string {
	if len(query) > maxEventQuery {
		return strings.ToValidUTF8(query[:maxEventQuery], "")
	}
	return query
}

func indexName(x Index) string { return strings.TrimPrefix(fmt.Sprintf("%T", x), "*") }
